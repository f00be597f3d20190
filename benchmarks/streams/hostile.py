"""The same rivals against outcome makers that answer to every forecast.

A rival forecasts the 90 % quantile of outcomes in [0, 1] with no forecast given; the outcome maker
sees the law of what it says, never the draw. So no number that is said for certain can be right
where the maker does not want it to be.
"""

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from ours import short

import trueup as tu
from trueup.adversaries import (
    Adversary,
    BinMajority,
    JustAbove,
    NearUniform,
    PotentialGreedy,
    SidePush,
    SignPreservation,
    View,
)
from trueup.baselines import (
    ACI,
    FACI,
    MVP,
    SAOCP,
    SFOGD,
    DecayingTracker,
    DtACI,
    IntegralTracker,
    InternalRegretGrid,
    QuantileTracker,
    ThresholdRival,
    TrailingWindow,
)
from trueup.engine import Engine
from trueup.metrics import binned_calibration_error, swap_regret
from trueup.protocols import FloatArray
from trueup.record import History, Recorder

LEVEL = 0.9
WANTED = tu.Quantile(LEVEL)
SIZES = (5_000, 100_000)
MAKERS: dict[str, type[Adversary]] = {
    "just above": JustAbove,
    "side push": SidePush,
    "bin majority": BinMajority,
    "potential greedy": PotentialGreedy,
    "near uniform": NearUniform,
    "sign preservation": SignPreservation,
}
SHOWN = ("just above", "side push")  # for all rivals; the others for swap regret by label
STRESSED, SEEDS = 20_000, 3


class Player(Protocol):
    """One that shows the law of what it will say, says it, and learns the outcome."""

    def law(self) -> tuple[FloatArray, FloatArray]:
        """Return what may be said, and with which probabilities."""
        ...

    def say(self) -> tuple[float, Any]:
        """Return what is said, and its label."""
        ...

    def learn(self, outcome: float) -> None:
        """Go on to the next round."""
        ...


class Plain:
    """A rival from practice."""

    def __init__(self, rival: ThresholdRival) -> None:
        self.rival = rival

    def law(self) -> tuple[FloatArray, FloatArray]:
        """Return the grid of internal regret, both ends of MVP's choice, else one number."""
        if isinstance(self.rival, InternalRegretGrid):
            shares = self.rival.probabilities()
            return np.linspace(0.0, 1.0, shares.size), shares
        if isinstance(self.rival, ShownMVP):
            places = self.rival.choices()
            return places, np.full(places.size, 1 / places.size)
        return np.clip([self.rival.predict()], 0.0, 1.0), np.ones(1)

    def say(self) -> tuple[float, Any]:
        """Return the threshold, inside [0, 1]."""
        said = min(max(self.rival.predict(), 0.0), 1.0)
        return said, said

    def learn(self, outcome: float) -> None:
        """Learn it."""
        self.rival.update(outcome)


class ShownMVP(MVP):
    """MVP that shows between which two thresholds its coin decides."""

    forced: float | None = None

    def _coin(self) -> float:
        return super()._coin() if self.forced is None else self.forced

    def choices(self) -> FloatArray:
        """Return the thresholds that may be said."""
        found = []
        for self.forced in (0.0, 1.0):
            found.append(self._chosen(self._pressures[0])[1])
        self.forced = None
        return np.unique(found)


class Ours:
    """The calibrator."""

    def __init__(self, seed: int, **settings: Any) -> None:
        self.calibrator = tu.Calibrator(WANTED, bounds=(0.0, 1.0), seed=seed, **settings)
        self.said: Any = None

    def law(self) -> tuple[FloatArray, FloatArray]:
        """Return the bins that may be drawn."""
        self.said = self.calibrator.predict()
        return np.array(self.said.support), np.array(self.said.probabilities)

    def say(self) -> tuple[float, Any]:
        """Return the number and the drawn bin."""
        return self.said.value, (self.said.label, self.said.scale)

    def learn(self, outcome: float) -> None:
        """Learn it."""
        self.calibrator.update(outcome)


class Guard:
    """The engine alone."""

    def __init__(self, seed: int) -> None:
        self.engine = Engine(seed=seed)
        self.said: Any = None

    def law(self) -> tuple[FloatArray, FloatArray]:
        """Return the bins that may be drawn."""
        self.said = self.engine.predict()
        return self.said.support, self.said.probabilities

    def say(self) -> tuple[float, Any]:
        """Return the drawn bin."""
        return self.said.value, self.said.value

    def learn(self, outcome: float) -> None:
        """Learn it."""
        self.engine.update(WANTED.loss(outcome))


PLAYERS: dict[str, Callable[[], Player]] = {
    "quantile tracker, step 0.02": lambda: Plain(QuantileTracker(LEVEL, step=0.02)),
    "quantile tracker": lambda: Plain(QuantileTracker(LEVEL)),
    "P + I": lambda: Plain(IntegralTracker(LEVEL, gain=1.0)),
    "decaying tracker": lambda: Plain(DecayingTracker(LEVEL)),
    "ACI": lambda: Plain(ACI(LEVEL)),
    "DtACI": lambda: Plain(DtACI(LEVEL)),
    "FACI": lambda: Plain(FACI(LEVEL)),
    "SF-OGD": lambda: Plain(SFOGD(LEVEL)),
    "SAOCP": lambda: Plain(SAOCP(LEVEL)),
    "trailing window": lambda: Plain(TrailingWindow(LEVEL)),
    "MVP": lambda: Plain(ShownMVP(LEVEL, buckets=40, resolution=800_000)),
    "internal regret": lambda: Plain(InternalRegretGrid(LEVEL)),
    "trueup, all on": lambda: Ours(1),
    "trueup, guard alone": lambda: Ours(1, steer=False, exact=True),
    "trueup's engine": lambda: Guard(1),
}


def played(
    player: Player, maker: str, rounds: int, seed: int
) -> tuple[FloatArray, FloatArray, list[Any]]:
    """Return what was said, the outcomes, and the labels."""
    adversary, empty = MAKERS[maker](WANTED), History(Recorder())  # type: ignore[call-arg]
    adversary.reset(rounds, seed)
    rng = np.random.default_rng(seed)
    said, outcomes, labels = np.empty(rounds), np.empty(rounds), []
    for t in range(rounds):
        support, shares = player.law()
        view = View(t, support, np.zeros(support.size), shares, 0.0, empty)
        loss: Any = adversary.law(view).sample(rng)
        said[t], label = player.say()
        outcomes[t] = loss.v
        labels.append(label)
        adversary.observe(float(said[t]), loss)
        player.learn(float(loss.v))
    return said, outcomes, labels


def game(name: str, maker: str, rounds: int) -> dict[str, Any]:
    """Return coverage and calibration error of one player."""
    said, outcomes, _ = played(PLAYERS[name](), maker, rounds, 1)
    said = np.clip(said, 0.0, 1.0)
    error = binned_calibration_error(said, outcomes, WANTED)
    return {
        "player": name,
        "maker": maker,
        "rounds": rounds,
        "coverage": short(float(np.mean(outcomes <= said))),
        "calibration": short(error.error),
        "perfect": short(error.perfect),
        "equal_widths": short(by_width(said, outcomes)),
    }


def by_width(said: FloatArray, outcomes: FloatArray) -> float:
    """Return the calibration error in 20 bins of equal width: kind to grids of close pairs."""
    place = np.minimum((said * 20).astype(int), 19)
    off = np.bincount(place, (outcomes <= said) - LEVEL)
    return float(np.abs(off).sum() / said.size)


def stressed(maker: str, seed: int) -> dict[str, Any]:
    """Return swap regret by label of the calibrator with everything on, and of the engine."""
    found: dict[str, Any] = {"maker": maker, "seed": seed, "rounds": STRESSED}
    players: dict[str, Player] = {"all on": Ours(seed), "engine": Guard(seed)}
    for name, player in players.items():
        said, outcomes, labels = played(player, maker, STRESSED, seed)
        said = np.clip(said, 0.0, 1.0)
        found[name] = short(swap_regret(said, outcomes, WANTED, by=np.array(labels)))
    return found
