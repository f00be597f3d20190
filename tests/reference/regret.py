"""Swap regret by its definition: group equal forecasts, and try every candidate for each group."""


def pseudo_swap_regret(mixtures, losses, candidates):
    """Return the swap regret of the laws said, for the best of the candidates in each group.

    For absolute losses the outcomes themselves are candidates enough: the best one is a median.
    """
    paid = sum(
        chance * loss.value(float(forecast))
        for mixture, loss in zip(mixtures, losses, strict=True)
        for forecast, chance in zip(mixture.support, mixture.probabilities, strict=True)
    )
    groups = {}
    for mixture, loss in zip(mixtures, losses, strict=True):
        at_candidates = loss.value(candidates)
        for forecast, chance in zip(mixture.support, mixture.probabilities, strict=True):
            groups[float(forecast)] = groups.get(float(forecast), 0.0) + chance * at_candidates
    return float(paid - sum(group.min() for group in groups.values()))


def swap_regret(forecasts, losses, candidates):
    """Return the swap regret of the forecasts drawn, for the best of the candidates."""
    regret = 0.0
    for forecast in set(forecasts):
        group = [loss for said, loss in zip(forecasts, losses, strict=True) if said == forecast]
        best = min(sum(loss.value(float(c)) for loss in group) for c in candidates)
        regret += sum(loss.value(forecast) for loss in group) - best
    return float(regret)


def squared_calibration_error(forecasts, outcomes):
    """Return the sum over forecasts of (times said) * (forecast - mean outcome)^2."""
    error = 0.0
    for forecast in set(forecasts):
        met = [y for said, y in zip(forecasts, outcomes, strict=True) if said == forecast]
        error += len(met) * (forecast - sum(met) / len(met)) ** 2
    return error
