"""Forecast the 90 % quantile of outcomes that react to every forecast, and see who is calibrated.

While the forecast (for a mixture: its median) is below 1/2, the outcome is just above it, else 0.
Every method below ends with about the right coverage. The calibration error asks more: in each
group of similar forecasts, were 90 % of the outcomes at or below them?
"""

import numpy as np

import trueup as tu
from trueup.adversaries import JustAbove
from trueup.baselines import BlumMansour, SingleScale
from trueup.engine import Engine
from trueup.losses import Pinball
from trueup.metrics import binned_calibration_error, coverage, swap_regret
from trueup.protocols import Forecaster, Loss, Mixture
from trueup.replay import play

ROUNDS = 4_000
QUANTILE = tu.Quantile(0.9)
CLOSING = """
Calibration error: how far coverage is off, averaged over groups of similar forecasts; by chance:
what a perfect forecaster would show in these groups. Swap regret: what the best rule "whenever it
said A, use B" would have saved; 0.4 sqrt(T) = {floor:.0f} is the price of a fair coin."""


class Tracker:
    """The usual online method: a little up after a miss, a little down after a hit."""

    spacing = 0.02

    def __init__(self) -> None:
        self.forecast = 0.5

    def predict(self) -> Mixture:
        """Say one number, for certain."""
        said = np.array([self.forecast])
        return Mixture(said, np.array([self.spacing]), np.ones(1), self.forecast)

    def update(self, loss: Loss) -> None:
        """Follow the slope of the loss."""
        assert isinstance(loss, Pinball)  # noqa: S101 - the adversary below answers with these
        missed = loss.v > self.forecast
        step = self.spacing * (missed - (1 - loss.q))
        self.forecast = min(max(self.forecast + step, 0.0), 1.0)


def main() -> None:
    """Play and print."""
    forecasters: dict[str, Forecaster] = {
        "quantile tracker": Tracker(),
        "trueup's engine": Engine(seed=1),
        "Blum-Mansour on a grid": BlumMansour(ROUNDS, seed=1),
        "one scale, fast evidence": SingleScale(ROUNDS, seed=1),
    }
    print(f"The 90 % quantile against an outcome that reacts, {ROUNDS} rounds\n")
    print(f"{'':32}{'coverage':>9}{'calibration error':>19}{'by chance':>11}{'swap regret':>13}")
    for name, forecaster in forecasters.items():
        record = play(forecaster, JustAbove(QUANTILE), ROUNDS, seed=1)
        outcomes = record.outcomes()
        error = binned_calibration_error(record.forecasts, outcomes, QUANTILE)
        regret = swap_regret(record)
        covered = coverage(record.forecasts, outcomes)
        errors = f"{error.error:19.3f}{error.perfect:11.3f}"
        print(f"{name:32}{covered:9.3f}{errors}{regret:13.1f}")
    print(CLOSING.format(floor=0.4 * ROUNDS**0.5))


if __name__ == "__main__":
    main()
