"""Streams whose forecasts are right, and the wealth of an auditor."""

import numpy as np

from trueup._kernels import _audit as kernels
from trueup.auditor._state import copied


def wealth(auditor):
    """Return the wealth of each class, all outcomes known."""
    logs = []
    for state in auditor._states:
        out = np.empty((1, auditor._classes, 3))
        kernels.finish(copied(state), out)
        logs.append(out[0, :, 0])
    return np.exp(logs).mean(axis=0)


def alarmed(auditor):
    """Whether evidence ever reached 1/alpha, looked at before every round and at the end."""
    return auditor._crossed >= 0 or wealth(auditor).max() / auditor._classes >= 1 / auditor.alpha


def shared_coins(rng, rounds, length):
    """Uniform numbers, one for each `length` rounds, and when they are known."""
    block = np.arange(rounds) // length
    return rng.random(block[-1] + 1)[block], (block + 1) * length


def moving_sums(rng, rounds, length):
    """Normal numbers that depend on the last `length` - 1, and when they are known."""
    noise = rng.normal(size=rounds + length - 1)
    return np.convolve(noise, np.ones(length), "valid"), np.arange(rounds) + length
