"""Draw the picture in the README: a model breaks half way, what is issued stays calibrated."""

from pathlib import Path

import numpy as np

import trueup as tu
from trueup import report

TARGET = Path(__file__).resolve().parents[1] / "docs/pictures/calibration.svg"
ROUNDS = 8_000


def main() -> None:
    """Simulate, calibrate, draw."""
    rng = np.random.default_rng(7)
    load = 50 + 15 * np.sin(np.arange(ROUNDS) / 300) + rng.normal(0, 3, ROUNDS)
    noise = rng.gamma(4, 2, ROUNDS)
    noise[ROUNDS // 2 :] *= 1.6  # the world changes; the model does not notice
    model = load + 13.4  # the 90 % quantile, before
    run = tu.calibrate(load + noise, tu.Quantile(0.9), forecasts=model)
    figure = report.charts.calibration_over_time(report.digest_of(run).summary())
    TARGET.parent.mkdir(exist_ok=True)
    report.save(figure, TARGET, width=640)
    print(f"{TARGET}: {TARGET.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
