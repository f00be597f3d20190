"""What tests of the engine do over and over: look, push, copy, and try every draw of a round."""

import math

import numpy as np

from reference.wealth import Point
from trueup._kernels import _engine as kernels
from trueup.engine import Engine
from trueup.engine._state import empty
from trueup.losses import Absolute


def pair_of(label, scale):
    """Return the whole numbers (level, place) of a bin and its scale."""
    return round(-math.log2(scale)), round(label / scale)


def mixture_of(forecast):
    """Return what could be drawn as a list of (level, place, share)."""
    return [
        (*pair_of(b, r), float(share))
        for b, r, share in zip(
            forecast.support, forecast.scales, forecast.probabilities, strict=True
        )
    ]


def parts(forecast):
    """Return all that a forecast says, to be compared."""
    names = ("value", "label", "scale", "round", "spacing", "followed", "overruled")
    arrays = (forecast.support, forecast.scales, forecast.probabilities)
    return [getattr(forecast, name) for name in names], [part.tolist() for part in arrays]


def numbers_of(run):
    """Return a number for each round that tells its pair from all others."""
    return run.labels - 4 * np.log2(run.scales)


def push(forecast):
    """Return the end that is farther from the likeliest bin."""
    return 0.0 if forecast.support[np.argmax(forecast.probabilities)] > 0.5 else 1.0


def all_outcomes(finest):
    """Return every grid point and the middle of every open cell."""
    return [k * 0.5 ** (finest + 1) for k in range(2 ** (finest + 1) + 1)]


def outcomes_at(forecast):
    """Return every place where a gain can change, and a point on either side of it."""
    half = forecast.spacing / 2
    places = {0.0, 1.0}
    for shift in (-2, 0, 2):
        for edge in forecast.support + shift * forecast.scales:
            places |= {float(x) for x in (edge - half, edge, edge + half) if 0 <= x <= 1}
    return sorted(places)


def laws(outcomes):
    """Return the certain laws of outcomes."""
    return [Point(v) for v in outcomes]


def clone(engine):
    """Return the same engine in memory of its own."""
    return Engine.from_bytes(engine.to_bytes())


def draws(engine, *args, **asked):
    """Return, for each pair that could be drawn, its probability and an engine that draws it."""
    found = []
    point = asked.get("point")
    engine.predict(*args, **asked)
    for n in range(int(engine.state.i[kernels.NEXT_SIZE])):
        share = float(engine.state.f[kernels.AT_NEXT_SHARES + n])
        if share > 0:
            copy = clone(engine)
            copy.predict(*args, **asked)
            copy.state.i[kernels.CHOSEN] = n
            kernels.refine(*copy.state, math.nan if point is None else point, copy.scratch[0])
            found.append((share, copy))
    return found


def growth(engine, outcomes, **asked):
    """Return the largest expected growth of wealth over outcomes, every draw being tried."""
    tried = draws(engine, **asked)
    before = engine.info().wealth
    found = []
    for outcome in outcomes:
        after = 0.0
        for share, copy in tried:
            one = clone(copy)
            one.predict(**asked)
            one.state.i[kernels.CHOSEN] = copy.state.i[kernels.CHOSEN]
            one.update(Absolute(outcome))
            after += share * one.info().wealth
        found.append(after / before - 1)
    return max(found)


def all_pairs(finest):
    """Return every pair (level, place) up to a spacing."""
    return [(level, place) for level in range(finest + 1) for place in range(2**level + 1)]


def with_rows(engine, pairs):
    """Give an engine rows for these pairs of group 0; return where their four weights stand."""
    larger = empty(len(pairs) + 8, 1, 2)
    kernels.transfer(*engine.state, *larger)
    engine._state = larger
    i, f = larger
    i[kernels.N_GROUPS], i[kernels.AT_NOW] = 1, 0
    rows = [kernels.new_row(i, f, 0, *pair) for pair in pairs]
    starts = int(i[kernels.AT_FROWS]) + kernels.ROW * np.array(rows) + kernels.WEIGHTS
    return starts[:, None] + np.arange(4)


def guarded(engine, finest):
    """Find the mixture of a round from weights put there by hand; return the forecast's parts.

    Those are levels, places and shares, and what the kernel says of its gain relative to wealth.
    """
    i, f = engine.state
    i[kernels.FINEST] = finest
    i[kernels.DID_REUSE : kernels.DID_STALL + 1] = 0
    size = kernels.recall(i, f, finest)
    size = i[kernels.NEXT_SIZE] = kernels.guard(i, f, size, *engine.scratch)
    table = i[kernels.AT_NEXT : kernels.AT_NEXT + 2 * size].reshape(size, 2)
    shares = f[kernels.AT_NEXT_SHARES : kernels.AT_NEXT_SHARES + size]
    return table.copy(), shares.copy(), float(f[kernels.GAIN])


def keep(engine):
    """Make the mixture just found the one to start from, as opening a round does."""
    i, f = engine.state
    size = i[kernels.SIZE] = int(i[kernels.NEXT_SIZE])
    i[kernels.AT_POOL : kernels.AT_POOL + 2 * size] = i[
        kernels.AT_NEXT : kernels.AT_NEXT + 2 * size
    ]
    f[kernels.AT_SHARES : kernels.AT_SHARES + size] = f[
        kernels.AT_NEXT_SHARES : kernels.AT_NEXT_SHARES + size
    ]


def rows(engine):
    """Return the rows of an engine: their whole numbers, and their numbers."""
    i, f = engine.state
    count, at, f_at = (int(i[k]) for k in (kernels.ROWS, kernels.AT_ROWS, kernels.AT_FROWS))
    whole = i[at : at + kernels.WHOLE_ROW * count].reshape(count, kernels.WHOLE_ROW)
    return whole, f[f_at : f_at + kernels.ROW * count].reshape(count, kernels.ROW)
