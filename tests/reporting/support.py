"""Runs to make reports of."""

import numpy as np

import trueup as tu
from trueup.report import Digest

HOSTILE = [
    "</script><script>document.title='owned'</script>",
    "<img src=x onerror=document.title='owned'>",
    '"; document.title="owned"; //',
    "${document.title='owned'} {{1}} \\u2028\u2028 \x00 <!-- & é",
    "datum['x'] = 1.5 [a].b",
]


def stream(rounds=3_000, seed=1):
    """Return outcomes and the forecasts of a model that is too low."""
    rng = np.random.default_rng(seed)
    model = rng.uniform(20, 60, rounds)
    return model + rng.exponential(10, rounds), model


def run_of(wanted=None, rounds=3_000, **settings):
    """Return a run over `stream`."""
    outcomes, model = stream(rounds)
    return tu.calibrate(outcomes, wanted or tu.Quantile(0.9), forecasts=model, **settings)


def columns_of(run):
    """Return what `Digest.add` takes of a run, by name."""
    return {
        "outcomes": run.outcomes, "issued": run.values, "raw": run.raw, "labels": run.labels,
        "scales": run.scales, "overruled": run.overruled,
    }  # fmt: skip


def digest_in_blocks(wanted, columns, cuts):
    """Return the digest of columns that come in blocks which end at `cuts`."""
    digest = Digest(wanted)
    rounds = len(columns["outcomes"])
    for start, end in zip([0, *cuts], [*cuts, rounds], strict=True):
        digest.add(**{name: column[start:end] for name, column in columns.items()})
    return digest


def same(first, second):
    """Whether two summaries are the same, bit for bit."""
    if isinstance(first, np.ndarray):
        return np.array_equal(first, second, equal_nan=first.dtype.kind == "f")
    if isinstance(first, tuple):
        return len(first) == len(second) and all(map(same, first, second))
    return first == second or (first != first and second != second)  # noqa: PLR0124 - NaN
