"""The audit: a million rows, at once and late, with groups.

Target: a million rows in 5 s.
"""

import time

import numpy as np

import trueup as tu

ROWS = 10**6
RNG = np.random.default_rng(0)
OUTCOMES = RNG.normal(size=ROWS)
FORECASTS = RNG.normal(1.2816, 0.1, size=ROWS)
CASES = {
    "plain": {},
    "late by 24 rows": {"known_at": np.arange(ROWS) + 24},
    "with 20 groups": {"groups": RNG.integers(0, 20, ROWS)},
    "30 rows an outcome": {"same_outcome": np.arange(ROWS) // 30},
}


def main() -> None:
    """Print one line for each."""
    ninety = tu.Quantile(0.9)
    tu.audit(OUTCOMES[:100], FORECASTS[:100], ninety)  # compiled now
    for name, options in CASES.items():
        start = time.process_time()
        tu.audit(OUTCOMES, FORECASTS, ninety, **options)
        print(f"audit, 10^6 rows, {name:20} {time.process_time() - start:6.2f} s of processor time")


if __name__ == "__main__":
    main()
