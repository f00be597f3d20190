"""Outcome makers to run forecasters against: oblivious and adaptive, all seeded.

An adversary answers each round with a law of the loss. It sees the mixture and all that happened
before, never the draw of the round: against one that sees the draw nobody can guarantee anything.
`SUITE` lists the standard ones. Anything with the methods of `Adversary` can be added.

| adversary | what it does |
|---|---|
| `Independent` | the same law every round: `bernoulli`, `uniform`, `beta`, `two_point` |
| `Midpoint` | an outcome in the middle between two of the forecaster's finest forecasts, may move |
| `BadBin` | uniform strictly between two neighbouring forecasts |
| `NearUniform` | two outcomes, the likelier one where the forecast is, the other 1/2 away |
| `RotatingBins` | the same around places that take turns |
| `SidePush` | 0 when the likeliest forecast is above 1/2, else 1 |
| `BinMajority` | the end to which the errors of each forecast so far point |
| `PotentialGreedy` | the outcome that the forecaster's own evidence would gain most from |
| `JustAbove` | just above the largest forecast while the median forecast is below 1/2, else 0 |
| `RegimeShift`, `Drift`, `ChangeOfWidth` | laws that change with time |
| `SignPreservation` | epochs that end when the forecaster is biased, then move to that side |
| `GeneralConvex` | losses of all kinds, divided by their Lipschitz constants |
| `Given` | a fixed sequence of losses |
"""

from trueup.adversaries._adaptive import (
    BinMajority,
    JustAbove,
    NearUniform,
    PotentialGreedy,
    SidePush,
    SignPreservation,
)
from trueup.adversaries._laws import FiniteLaw, Law, OutcomeLaw
from trueup.adversaries._oblivious import (
    BadBin,
    ChangeOfWidth,
    Drift,
    GeneralConvex,
    Given,
    Independent,
    Midpoint,
    RegimeShift,
    RotatingBins,
    bernoulli,
    beta,
    two_point,
    uniform,
)
from trueup.adversaries._protocol import Adversary, View
from trueup.properties import Quantile

SUITE: tuple[Adversary, ...] = (
    bernoulli(0.5),
    uniform(),
    beta(2, 5),
    two_point(0.3, 0.8, 0.5),
    Midpoint(),
    Midpoint(moves=20),
    BadBin(),
    NearUniform(),
    RotatingBins(),
    SidePush(),
    BinMajority(),
    PotentialGreedy(),
    JustAbove(),
    JustAbove(Quantile(0.9)),
    RegimeShift(),
    Drift(),
    ChangeOfWidth(),
    SignPreservation(),
    GeneralConvex(),
)

__all__ = [
    "SUITE",
    "Adversary",
    "BadBin",
    "BinMajority",
    "ChangeOfWidth",
    "Drift",
    "FiniteLaw",
    "GeneralConvex",
    "Given",
    "Independent",
    "JustAbove",
    "Law",
    "Midpoint",
    "NearUniform",
    "OutcomeLaw",
    "PotentialGreedy",
    "RegimeShift",
    "RotatingBins",
    "SidePush",
    "SignPreservation",
    "View",
    "bernoulli",
    "beta",
    "two_point",
    "uniform",
]
