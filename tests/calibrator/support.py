"""What several tests of the calibrator need: runs against rules, runs by hand, plain regrets."""

import math
from collections import defaultdict

import numpy as np

import trueup as tu
from trueup.calibrator import Ends, Levels

ROUNDS = 4_000


def flat(value):
    """Return the finite numbers of what was issued, as a list."""
    if isinstance(value, Levels):
        return list(value.values)
    if isinstance(value, Ends):
        return [end for end in value if math.isfinite(end)]
    return [value]


def uniform(seed, rounds, low=0.0, high=10.0):
    """Return outcomes without structure."""
    return np.random.default_rng(seed).uniform(low, high, rounds)


def feed(calibrator, outcomes, forecasts=None):
    """Predict and update in turn; return the forecasts."""
    said = []
    for t, outcome in enumerate(outcomes):
        said.append(calibrator.predict(None if forecasts is None else float(forecasts[t])))
        calibrator.update(float(outcome), forecast=said[-1])
    return said


def used(calibrator, seed=0, rounds=40, scale=1.0):
    """Return the calibrator after some rounds with forecasts, two of which are open."""
    rng = np.random.default_rng(seed)
    for _ in range(rounds):
        y = float(rng.normal() * scale)
        forecast = calibrator.predict(0.5 * y)
        binary = isinstance(calibrator.wanted, tu.Probability)
        calibrator.update(float(y > 0) if binary else y, forecast=forecast)
    calibrator.predict(0.3 * scale)
    calibrator.predict()
    return calibrator


def by_hand(outcomes, wanted, *, forecasts=None, known_at=None, groups=None, **settings):
    """Run arrays through `predict` and `update`; return the calibrator and its forecasts."""
    calibrator, rounds = tu.Calibrator(wanted, **settings), len(outcomes)
    due, said = defaultdict(list), []
    for t in range(rounds):
        due[t + 1 if known_at is None else int(known_at[t])].append(t)
    for t in range(rounds + 1):
        for past in due[t]:
            if past in calibrator.open:  # not given up
                calibrator.update(float(outcomes[past]), forecast=past)
        if t < rounds:
            own = None if forecasts is None or np.isnan(forecasts[t]) else float(forecasts[t])
            said.append(calibrator.predict(own, groups=() if groups is None else groups[t]))
    return calibrator, said


# --- rules that see the mixture, never the draw ----------------------------------------------


def mixture_of(forecast):
    """Return support and probabilities of the number in the middle."""
    support, shares = forecast.support, forecast.probabilities
    if isinstance(support[0], tuple):
        support, shares = support[len(support) // 2], shares[len(shares) // 2]
    return np.array(support), np.array(shares)


def hidden(forecast):
    """Return a forecast without all that tells what was drawn."""
    return forecast._replace(value=None, label=None, scale=None, overruled=None)


def side_push(low, high):
    """Return the rule: the end that is farther from the likeliest bin."""

    def rule(forecast):
        support, shares = mixture_of(forecast)
        return low if support[shares.argmax()] > (low + high) / 2 else high

    return rule


def just_above(low, high):
    """Return the rule: just above the largest bin while the median one is low, else the end."""

    def rule(forecast):
        support, shares = mixture_of(forecast)
        order = support.argsort()
        middle = support[order][np.searchsorted(shares[order].cumsum(), 0.5)]
        above = min(support.max() + 1e-9 * (high - low), high)
        return float(above) if middle < (low + high) / 2 else low

    return rule


RULES = {"side push": side_push, "just above": just_above}


def play_against(calibrator, rule, rounds=ROUNDS, *, delay=0, raw=None, groups=None):
    """Let a rule answer to each forecast, the outcome being told `delay` rounds later."""
    log, waiting = [], []
    for t in range(rounds):
        names = () if groups is None else groups(t)
        forecast = calibrator.predict(None if raw is None else raw(t), groups=names)
        log.append((forecast, rule(hidden(forecast))))
        waiting.append(log[-1])
        if len(waiting) > delay:
            calibrator.update(waiting[0][1], forecast=waiting.pop(0)[0])
    for forecast, outcome in waiting:
        calibrator.update(outcome, forecast=forecast)
    return log


# --- regrets in the user's units, by plain means -----------------------------------------------


def costs(wanted, said, outcomes):
    """Return the losses of numbers."""
    error = outcomes - said
    if isinstance(wanted, tu.Median):
        return np.abs(error)
    if isinstance(wanted, tu.Quantile):
        return np.where(error > 0, wanted.level, wanted.level - 1) * error
    level = wanted.level if isinstance(wanted, tu.Expectile) else None
    weight = 1.0 if level is None else np.where(error > 0, level, 1 - level)
    return weight * error**2


def best_constant(wanted, outcomes):
    """Return the constant with the least sum of losses."""
    if isinstance(wanted, tu.Median | tu.Quantile):
        level = 0.5 if isinstance(wanted, tu.Median) else wanted.level
        return np.sort(outcomes)[max(math.ceil(level * outcomes.size - 1e-9) - 1, 0)]
    place = outcomes.mean()
    for _ in range(200 if isinstance(wanted, tu.Expectile) else 0):
        weight = np.where(outcomes > place, wanted.level, 1 - wanted.level)
        place = (weight * outcomes).sum() / weight.sum()
    return place


def plain_regret(wanted, said, outcomes, keys):
    """Return the sum over keys of what the best constant would have saved, where it saves."""
    total, members = 0.0, defaultdict(list)
    for t, key in enumerate(keys):
        members[key].append(t)
    for rounds in members.values():
        own, y = np.array(said)[rounds], np.array(outcomes)[rounds]
        best = costs(wanted, best_constant(wanted, y), y).sum()
        total += max(costs(wanted, own, y).sum() - best, 0.0)
    return float(total)


def parts_of(wanted):
    """Return the property of each number of a target."""
    if hasattr(wanted, "levels"):
        return [tu.Quantile(level) for level in wanted.levels]
    return [tu.Mean() if isinstance(wanted, tu.Probability) else wanted]


def regrets_of(calibrator, log, *, by="label"):
    """Return the swap regret of each number over the rounds since the guarantee began."""
    since, report = calibrator.report().since, calibrator.report()
    rounds = [(f, y) for f, y in log if f.guarded and f.id >= since]
    outcomes = np.array([y for _, y in rounds])
    if calibrator.bounds is not None:
        outcomes = np.clip(outcomes, report.low, report.high)
    regrets = []
    for k, part in enumerate(parts_of(calibrator.wanted)):
        said = [flat(f.value)[k] for f, _ in rounds]
        label = [(np.atleast_1d(f.label)[k], np.atleast_1d(f.scale)[k]) for f, _ in rounds]
        regrets.append(plain_regret(part, said, outcomes, label if by == "label" else said))
    return regrets


def unit_of(calibrator):
    """Return the unit of regret: the width of the range, squared for squared losses."""
    report = calibrator.report()
    squared = isinstance(calibrator.wanted, tu.Mean | tu.Expectile | tu.Probability)
    return (report.high - report.low) ** (2 if squared else 1)
