"""Adversaries that do not look at what was forecast (but may know the forecaster's spacing)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from trueup import _validation as check
from trueup.adversaries._laws import FiniteLaw, Law, OutcomeLaw
from trueup.adversaries._protocol import Adversary, View
from trueup.distributions import Piecewise, discrete
from trueup.distributions import uniform as uniform_law
from trueup.errors import InvalidArgument
from trueup.losses import (
    Absolute,
    Huber,
    Linear,
    PiecewiseLinear,
    Pinball,
    Scaled,
    Squared,
    refuse_wrong,
)
from trueup.properties import Median
from trueup.protocols import FloatArray, Loss, Property

BETA_STEPS = 128
INSIDE = 1e-6  # of a gap, on either side
OFF_CENTRE = 0.37  # a place that is no grid point of any usual spacing


def gap_of(view: View, moved: int = 0) -> tuple[float, float]:
    """Return two neighbouring places of the forecaster's grid, some gaps on from 0.37.

    The grid is known by its spacing and by any forecast on it.
    """
    offset = view.likeliest() % view.spacing
    offset = 0.0 if view.spacing - offset < 1e-9 else offset
    gaps = max(int((1 - offset) / view.spacing + 1e-9), 1)
    start = offset + ((int(OFF_CENTRE * gaps) + moved) % gaps) * view.spacing
    return start, min(start + view.spacing, 1.0)


def point(outcome: float, wanted: Property) -> FiniteLaw:
    """Return the law of a certain outcome."""
    return FiniteLaw([wanted.loss(outcome)], [1.0])


@dataclass
class _OfProperty(Adversary):
    """An adversary whose losses are those of one property."""

    wanted: Property = field(default_factory=Median)

    def __post_init__(self) -> None:
        check.instance("wanted", self.wanted, Property, "a property such as Median()")

    @property
    def lipschitz(self) -> float:
        """That of the property's loss."""
        return self.wanted.loss(0.5).lipschitz


@dataclass
class Independent(_OfProperty):
    """Outcomes drawn from one distribution.

    >>> Independent(outcomes=discrete([0.0, 1.0], [0.5, 0.5]), name="coin")
    coin(Median())
    """

    outcomes: Any = field(default_factory=lambda: uniform_law(0.0, 1.0))
    name: str = "Independent"

    def __repr__(self) -> str:
        return f"{self.name}({self.wanted!r})"

    def law(self, view: View) -> Law:
        """Return the same law every round."""
        del view
        return OutcomeLaw(self.outcomes, self.wanted)


def bernoulli(probability: float, wanted: Property | None = None) -> Independent:
    """Return outcomes 1 with the given probability, else 0."""
    probability = check.unit("probability", probability)
    law = discrete([0.0, 1.0], [1 - probability, probability])
    return Independent(wanted or Median(), law, f"bernoulli({probability})")


def uniform(wanted: Property | None = None) -> Independent:
    """Return outcomes uniform on [0, 1]."""
    return Independent(wanted or Median(), uniform_law(0.0, 1.0), "uniform")


def beta(first: int, second: int, wanted: Property | None = None) -> Independent:
    """Return outcomes from a beta law with whole parameters, its density made constant in steps."""
    check.integer("first", first, at_least=1)
    check.integer("second", second, at_least=1)
    nodes = np.linspace(0.0, 1.0, BETA_STEPS + 1)
    total = first + second - 1
    terms = range(first, total + 1)  # Pr[beta <= x] = Pr[binomial(total, x) >= first]
    heights = sum(math.comb(total, j) * nodes**j * (1 - nodes) ** (total - j) for j in terms)
    climb = np.maximum.accumulate(np.minimum(np.asarray(heights), 1.0))
    climb[0], climb[-1] = 0.0, 1.0
    return Independent(
        wanted or Median(), Piecewise(nodes, climb, climb), f"beta({first}, {second})"
    )


def two_point(
    low: float, high: float, probability: float, wanted: Property | None = None
) -> Independent:
    """Return outcomes at `high` with the given probability, else at `low`."""
    probability = check.unit("probability", probability)
    law = discrete([low, high], [1 - probability, probability])
    return Independent(wanted or Median(), law, f"two_point({low}, {high}, {probability})")


@dataclass
class Midpoint(_OfProperty):
    """The outcome in the middle between two neighbouring finest forecasts: rounding at its worst.

    With `moves` it goes on to the next gap that many times in a run. Any forecaster on a grid of
    this spacing loses at least spacing / 2 in every round.
    """

    moves: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        check.integer("moves", self.moves, at_least=0)

    def law(self, view: View) -> Law:
        """Return the certain outcome in the middle of a gap."""
        start, end = gap_of(view, view.round * (self.moves + 1) // self.rounds)
        return point((start + end) / 2, self.wanted)


@dataclass
class BadBin(_OfProperty):
    """Uniform strictly between two neighbouring forecasts (the lemma on fixed bins)."""

    def law(self, view: View) -> Law:
        """Return the uniform law on one gap."""
        start, end = gap_of(view)
        margin = INSIDE * (end - start)
        return OutcomeLaw(uniform_law(start + margin, end - margin), self.wanted)


@dataclass
class RotatingBins(_OfProperty):
    """Two outcomes 1/2 apart around places that take turns: many bins, few rounds for each."""

    places: int = 8
    epsilon: float = 0.01

    def __post_init__(self) -> None:
        super().__post_init__()
        check.integer("places", self.places, at_least=1)
        check.unit("2 * epsilon", 2 * self.epsilon)

    def law(self, view: View) -> Law:
        """Return the near-uniform law on this round's pair."""
        low = (view.round % self.places) / (2 * self.places)
        outcomes = [self.wanted.loss(low), self.wanted.loss(low + 0.5)]
        return FiniteLaw(outcomes, [0.5 + self.epsilon, 0.5 - self.epsilon])


@dataclass
class RegimeShift(_OfProperty):
    """A level that jumps to a new place a few times, with noise around it."""

    regimes: int = 8
    noise: float = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        check.integer("regimes", self.regimes, at_least=1)
        check.open_unit("2 * noise", 2 * self.noise)

    def reset(self, rounds: int, seed: int) -> None:
        """Draw the levels."""
        super().reset(rounds, seed)
        self._levels = self.rng.uniform(self.noise, 1 - self.noise, self.regimes)

    def law(self, view: View) -> Law:
        """Return the uniform law around the level of this regime."""
        level = self._levels[view.round * self.regimes // self.rounds]
        return OutcomeLaw(uniform_law(level - self.noise, level + self.noise), self.wanted)


@dataclass
class Drift(_OfProperty):
    """A level that follows a wave, with noise around it."""

    waves: float = 3.0
    noise: float = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        check.finite("waves", self.waves)
        check.open_unit("2 * noise", 2 * self.noise)

    def law(self, view: View) -> Law:
        """Return the uniform law around the level of this round."""
        turn = math.sin(2 * math.pi * self.waves * view.round / self.rounds)
        level = 0.5 + (0.5 - self.noise) * turn
        start, end = max(level - self.noise, 0.0), min(level + self.noise, 1.0)
        return OutcomeLaw(uniform_law(start, end), self.wanted)


@dataclass
class ChangeOfWidth(_OfProperty):
    """In turn a certain outcome, two far ones and a uniform one: all scales are needed."""

    stretches: int = 12

    def __post_init__(self) -> None:
        super().__post_init__()
        check.integer("stretches", self.stretches, at_least=1)

    def law(self, view: View) -> Law:
        """Return the law of this stretch."""
        kind = (view.round * self.stretches // self.rounds) % 3
        if kind == 0:
            return point(OFF_CENTRE, self.wanted)
        if kind == 1:
            return FiniteLaw([self.wanted.loss(0.1), self.wanted.loss(0.9)], [0.5, 0.5])
        return OutcomeLaw(uniform_law(0.0, 1.0), self.wanted)


@dataclass
class GeneralConvex(Adversary):
    """Losses of all kinds, each divided by its Lipschitz constant; the law is one of three."""

    choices: int = 3

    def __post_init__(self) -> None:
        check.integer("choices", self.choices, at_least=1)

    def law(self, view: View) -> Law:
        """Return a uniform choice of a few new losses."""
        del view
        losses = [self._normalised() for _ in range(self.choices)]
        return FiniteLaw(losses, np.full(self.choices, 1 / self.choices))

    def _normalised(self) -> Loss:
        loss = self._any()
        return Scaled(loss, 1 / loss.lipschitz)

    def _any(self) -> Loss:
        v, q = float(self.rng.uniform()), float(self.rng.uniform(0.05, 0.95))
        kinds = (
            lambda: Absolute(v),
            lambda: Pinball(v, q),
            lambda: Squared(v),
            lambda: Huber(v, q),
            lambda: Linear(float(self.rng.choice([-1.0, 1.0]))),
            lambda: PiecewiseLinear([v], [0.0, 1.0]),  # a hinge
            self._kinked,
        )
        return kinds[int(self.rng.integers(len(kinds)))]()

    def _kinked(self) -> Loss:
        knots: FloatArray = np.unique(self.rng.uniform(0.01, 0.99, 4))
        return PiecewiseLinear(knots, np.sort(self.rng.uniform(-1, 1, knots.size + 1)))


@dataclass
class Given(Adversary):
    """A fixed sequence of losses."""

    losses: Sequence[Loss] = field(default_factory=tuple, repr=False)

    def __post_init__(self) -> None:
        for loss in self.losses:
            refuse_wrong(loss)

    @property
    def lipschitz(self) -> float:
        """The largest of the sequence."""
        return max((loss.lipschitz for loss in self.losses), default=1.0)

    def reset(self, rounds: int, seed: int) -> None:
        """Refuse a run longer than the sequence."""
        super().reset(rounds, seed)
        if rounds > len(self.losses):
            raise InvalidArgument(
                f"rounds must be at most the {len(self.losses)} losses given, got {rounds}."
            )

    def law(self, view: View) -> Law:
        """Return the loss whose turn it is."""
        return FiniteLaw([self.losses[view.round]], [1.0])
