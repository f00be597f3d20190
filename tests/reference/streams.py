"""Streams of residuals that rivals are run on, and the run."""

import math

import numpy as np

WAVE = [abs(math.sin(0.7 * t)) * (1 + t / 200) for t in range(1, 401)]
_RNG = np.random.default_rng(8)
STREAMS = {
    "wave": WAVE,
    "normal": _RNG.normal(size=300).tolist(),
    "wider": np.abs(_RNG.normal(size=300) * np.where(np.arange(300) < 150, 1, 5)).tolist(),
    "few values": _RNG.integers(0, 4, 300).astype(float).tolist(),
    "constant": [2.0] * 120,
    "zero": [0.0] * 60,
    "falling": [100.0 - t for t in range(200)],
    "rising": [t**1.5 for t in range(200)],
}


def issued(rival, residuals):
    """Return what a rival says before each residual."""
    said = []
    for residual in residuals:
        said.append(rival.predict())
        rival.update(residual)
    return said


def golden(rival, residuals=WAVE):
    """Return what it says at steps 25, 50, 200 and 400, to six digits, and its coverage."""
    said = issued(rival, residuals)
    covered = sum(
        residual <= threshold for residual, threshold in zip(residuals, said, strict=True)
    )
    return [round(said[step - 1], 6) for step in (25, 50, 200, 400)], covered / len(residuals)
