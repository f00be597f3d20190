"""Kernels stay inside their arrays: a run in which the compiler checks every index."""

import os
import subprocess
import sys

RUN = """
import numpy as np

import trueup as tu
from trueup.adversaries import SUITE
from trueup.distributions import discrete
from trueup.engine import Engine
from trueup.replay import duel

for adversary in SUITE:
    duel(Engine(seed=1), adversary, 1_500, late=3)
rng = np.random.default_rng(0)
engine = Engine(seed=2, overrule=None)    # a new aim each round, and mixtures that are kept
for place in rng.uniform(size=400):
    engine.predict(discrete([float(place)], [1.0]))
    engine.update(tu.Median().loss(0.5))
outcomes = rng.standard_t(2, 1_500).cumsum()
for wanted in (tu.Interval(0.9), tu.Mean()):
    known = np.arange(1_500) + rng.integers(1, 40, 1_500)
    groups = [("all", "odd" if t % 2 else "even") for t in range(1_500)]
    tu.calibrate(outcomes, wanted, known_at=known, groups=groups)
tu.calibrate(outcomes, tu.Median(), forecasts=outcomes - 1.0, overrule=None)
several = [(t % 3, 3 + t % 4) for t in range(1_500)]
tu.audit(outcomes, outcomes - 1.0, tu.Median(), groups=several, known_at=known)
tu.Panel(tu.Median()).run(np.arange(1_500) % 7, outcomes)
print("inside")
"""


def test_no_kernel_writes_outside_its_arrays(tmp_path):
    """Adversaries, late outcomes, unused hints, groups, several levels, panels, audits."""
    checked = os.environ | {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path)}
    answer = subprocess.run(  # noqa: S603 - this interpreter on fixed code
        [sys.executable, "-c", RUN], env=checked, capture_output=True, text=True, check=False
    )

    assert answer.stderr == ""
    assert answer.stdout == "inside\n"
