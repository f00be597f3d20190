"""The engine against an adversary at the speed of compiled code.

The same game as `play`, for the adversaries of `SUITE`: those that do not look are turned into
arrays first, the adaptive ones run compiled. Where an adversary draws one number a round (or none),
a duel and `play` give the same bits.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from trueup import _validation as check
from trueup._kernels import _engine as kernels
from trueup._rounds import ADVERSARIES, LAWS
from trueup.adversaries import (
    Adversary,
    BadBin,
    BinMajority,
    ChangeOfWidth,
    Drift,
    GeneralConvex,
    Independent,
    JustAbove,
    Midpoint,
    NearUniform,
    PotentialGreedy,
    RegimeShift,
    RotatingBins,
    SidePush,
    SignPreservation,
)
from trueup.engine import Engine
from trueup.engine._arrays import sizes_of
from trueup.engine._losses import rows_of_outcomes
from trueup.errors import InvalidArgument
from trueup.losses import (
    Absolute,
    Huber,
    Linear,
    PiecewiseLinear,
    Pinball,
    Scaled,
    Squared,
)
from trueup.protocols import FloatArray, Loss, Property

__all__ = ["Duel", "duel", "losses_of"]

OFF_CENTRE = 0.37  # as in ChangeOfWidth

KINDS: dict[type, tuple[int, Callable[[Any], tuple[float, float]]]] = {
    SidePush: (kernels.SIDE_PUSH, lambda _: (0.0, 0.0)),
    BinMajority: (kernels.BIN_MAJORITY, lambda _: (0.0, 0.0)),
    JustAbove: (kernels.JUST_ABOVE, lambda _: (0.0, 0.0)),
    NearUniform: (kernels.NEAR_UNIFORM, lambda own: (own.epsilon, 0.0)),
    RotatingBins: (kernels.ROTATING_BINS, lambda own: (own.epsilon, float(own.places))),
    Midpoint: (kernels.MIDPOINT, lambda own: (float(own.moves), 0.0)),
    BadBin: (kernels.BAD_BIN, lambda _: (0.0, 0.0)),
    PotentialGreedy: (kernels.GREEDY, lambda _: (0.0, 0.0)),
    SignPreservation: (kernels.SIGN_PRESERVATION, lambda _: (0.0, 0.0)),
}


class Duel(NamedTuple):
    """A finished duel of T rounds."""

    forecasts: FloatArray  # what was said, shape (T,)
    labels: FloatArray  # the drawn bins, shape (T,)
    scales: FloatArray  # their scales, shape (T,)
    outcomes: FloatArray  # shape (T,); NaN where the losses are not those of one outcome
    losses: FloatArray  # for those, a row each as the kernels know them, shape (T or 0, 16)


def duel(
    engine: Engine, adversary: Adversary, rounds: int, *, seed: int = 0, late: int = 0
) -> Duel:
    """Run the engine against an adversary of `SUITE`, outcomes `late` rounds late.

    The adversary chooses in its own round, as always; only the engine learns later.

    Examples
    --------
    >>> from trueup.adversaries import SidePush
    >>> from trueup.metrics import swap_regret
    >>> from trueup import Median
    >>> game = duel(Engine(seed=1), SidePush(), 2_000)
    >>> swap_regret(game.forecasts, game.outcomes, Median()) < 2 * 2_000**0.5
    True
    """
    rounds = check.integer("rounds", rounds, at_least=1)
    seed = check.integer("seed", seed, at_least=0)
    late = check.integer("late", late, at_least=0)
    check.instance("engine", engine, Engine, "an Engine")
    check.instance("adversary", adversary, Adversary, "an adversary")
    tosses = np.random.default_rng((LAWS, seed)).random(rounds)
    none, outcomes = np.zeros((0, kernels.LOSS)), None
    if type(adversary) in KINDS:
        kind, settings = KINDS[type(adversary)]
        template = rows_of_outcomes(np.array([0.5]), *_wanted(adversary))
        rows, setting = none, settings(adversary)
    elif isinstance(adversary, GeneralConvex):
        rows, kind, setting = general_convex(rounds, seed), kernels.GIVEN, (0.0, 0.0)
        template = rows[:1].copy()
    else:
        outcomes = _oblivious(adversary, rounds, seed, tosses)
        rows = rows_of_outcomes(outcomes, *_wanted(adversary))
        kind, setting, template = kernels.GIVEN, (0.0, 0.0), rows[:1].copy()
    said, labels, seen = engine.play_against(
        kind, setting, template[0], rows, rounds, late, tosses, adversary.lipschitz
    )
    scales = sizes_of(labels[:, 0])
    if kind == kernels.GIVEN:
        seen = np.full(rounds, math.nan) if outcomes is None else outcomes
        rows = rows if outcomes is None else none
    return Duel(said, labels[:, 1] * scales, scales, seen, rows)


def _wanted(adversary: Adversary) -> tuple[Property, float]:
    """Return what an adversary's outcomes are outcomes of, and the steepest slope of its loss."""
    wanted: Property = getattr(adversary, "wanted", None)  # type: ignore[assignment]
    if wanted is None:
        raise InvalidArgument(
            f"adversary must be one of SUITE's kinds, got {adversary!r}; use play."
        )
    return wanted, adversary.lipschitz


def _oblivious(adversary: Adversary, rounds: int, seed: int, tosses: FloatArray) -> FloatArray:
    """Return the outcomes of an adversary that does not look at the forecasts."""
    steps = np.arange(rounds)
    if isinstance(adversary, Independent):
        law = adversary.outcomes
        return np.array([law.quantile_set(toss)[0] for toss in tosses.tolist()])
    if isinstance(adversary, RegimeShift):
        rng = np.random.default_rng((ADVERSARIES, seed))
        levels = rng.uniform(adversary.noise, 1 - adversary.noise, adversary.regimes)
        level = levels[steps * adversary.regimes // rounds]
        low, high = level - adversary.noise, level + adversary.noise
        return np.asarray(low + tosses * (high - low))
    if isinstance(adversary, Drift):
        turn = np.sin(2 * math.pi * adversary.waves * steps / rounds)
        level = 0.5 + (0.5 - adversary.noise) * turn
        low, high = np.maximum(level - adversary.noise, 0), np.minimum(level + adversary.noise, 1)
        return np.asarray(low + tosses * (high - low))
    if isinstance(adversary, ChangeOfWidth):
        kind = steps * adversary.stretches // rounds % 3
        tosses = tosses[np.maximum(np.cumsum(kind != 0) - 1, 0)]  # a certain outcome needs none
        two = np.where(tosses < 0.5, 0.1, 0.9)
        return np.where(kind == 0, OFF_CENTRE, np.where(kind == 1, two, tosses))
    raise InvalidArgument(f"adversary must be one of SUITE's kinds, got {adversary!r}; use play.")


def general_convex(rounds: int, seed: int) -> FloatArray:
    """Return random losses of seven kinds as rows, each divided by its Lipschitz constant."""
    rng = np.random.default_rng((ADVERSARIES, seed))
    rows = np.zeros((rounds, kernels.LOSS))
    kind, v, q = rng.integers(7, size=rounds), rng.random(rounds), rng.uniform(0.05, 0.95, rounds)
    sign = rng.choice([-1.0, 1.0], rounds)
    knots = np.sort(rng.uniform(0.01, 0.99, (rounds, 4)), axis=1)
    slopes = np.sort(rng.uniform(-1, 1, (rounds, 5)), axis=1)
    rows[:, kernels.OUTCOME] = np.where(kind <= 3, v, 0.0)
    rows[:, kernels.KIND] = np.array([0, 0, 1, 2, 0, 3, 3])[kind]
    rows[:, kernels.FIRST] = np.choose(kind, [-1.0, -q, 1.0, q, sign, 1.0, 4.0])
    rows[:, kernels.SECOND] = np.choose(kind, [1.0, 1 - q, 1.0, 0.0, sign, 0.0, 0.0])
    steepest = np.abs(slopes).max(axis=1)
    largest = np.maximum(q, 1 - q)
    rows[:, kernels.STEEPEST] = np.choose(kind, [1.0, largest, 2.0, q, 1.0, 1.0, steepest])
    hinge, kinked = kind == 5, kind == 6
    rows[hinge, kernels.KNOTS] = v[hinge]
    rows[hinge, kernels.SLOPES + 1] = 1.0
    rows[kinked, kernels.KNOTS : kernels.KNOTS + 4] = knots[kinked]
    rows[kinked, kernels.SLOPES : kernels.SLOPES + 5] = slopes[kinked]
    return rows


def losses_of(rows: FloatArray) -> list[Loss]:
    """Return rows of `general_convex` as losses, each divided by its Lipschitz constant."""
    makers: dict[float, Callable[[Any], Loss]] = {
        kernels.POINTED: _pointed,
        kernels.SQUARED: lambda row: Squared(row[kernels.OUTCOME]),
        kernels.HUBER: lambda row: Huber(row[kernels.OUTCOME], row[kernels.FIRST]),
        kernels.KINKED: _kinked,
    }
    return [Scaled(makers[row[0]](row), 1 / row[kernels.STEEPEST]) for row in rows]


def _pointed(row: FloatArray) -> Loss:
    if row[kernels.FIRST] == row[kernels.SECOND]:
        return Linear(row[kernels.FIRST])
    if row[kernels.SECOND] == 1.0:
        return Absolute(row[kernels.OUTCOME])
    return Pinball(row[kernels.OUTCOME], -row[kernels.FIRST])


def _kinked(row: FloatArray) -> Loss:
    count = int(row[kernels.FIRST])
    knots = row[kernels.KNOTS : kernels.KNOTS + count]
    return PiecewiseLinear(knots, row[kernels.SLOPES : kernels.SLOPES + count + 1])
