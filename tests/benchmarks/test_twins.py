"""The compiled twins of the rivals say what the rivals say."""

import numpy as np
import pytest
import rivals
import settings
import twins
from settings import FAMILIES

ROUNDS = 160
ENTRIES = [entry for family in FAMILIES.values() for entry in family()]


def residuals(kind):
    """Return residuals of either sign, distances, or few values."""
    rng = np.random.default_rng(3)
    if kind == "values":
        return rng.integers(-3, 6, ROUNDS).astype(float)
    drawn = rng.normal(0.0, 3.0, ROUNDS) * np.linspace(1.0, 4.0, ROUNDS)
    return np.abs(drawn) if kind == "distances" else drawn


@pytest.mark.parametrize("kind", ["signed", "distances", "values"])
@pytest.mark.parametrize("family", FAMILIES)
def test_a_twin_has_the_thresholds_of_its_rival(family, kind):
    """Every setting, at two levels; infinite where it is infinite."""
    level = 0.05 if kind == "distances" else 0.9
    seen = residuals(kind)
    for entry, fast in settings_of(family, seen, level):
        slow = rivals.thresholds(entry, seen, level, plain=True)
        np.testing.assert_allclose(fast, slow, rtol=1e-9, atol=1e-9, err_msg=str(entry[:2]))


def settings_of(family, seen, level):
    """Return the settings of a family and their thresholds, sorted together where they can be."""
    return list(rivals.all_thresholds(list(FAMILIES[family]()), seen, level))


def test_a_twin_that_forgets_a_step_is_found(monkeypatch):
    """The broken companion: a tracker whose misses count twice."""
    entry = next(e for e in ENTRIES if e.rival == "quantile tracker" and e.default)
    seen, right = residuals("signed"), twins.tracked
    monkeypatch.setattr(twins, "tracked", lambda *given: 2 * right(*given))
    fast = rivals.thresholds(entry, seen, 0.9, plain=False)

    assert not np.allclose(fast, rivals.thresholds(entry, seen, 0.9, plain=True))


def test_every_rival_has_one_default():
    """Names and settings are distinct, so that a grid counts once."""
    names = {entry.rival for entry in ENTRIES}
    for name in names:
        own = [entry for entry in ENTRIES if entry.rival == name]
        assert sum(entry.default for entry in own) == 1, name
        assert len({entry.setting for entry in own}) == len(own), name
    listed = [name for name, _, default, _ in settings.RECALIBRATORS if default]
    assert len(listed) == len(set(listed)) == 3


def test_the_mean_of_internal_regret_is_that_of_its_rival():
    """A level below 0 stands for the mean."""
    from trueup.baselines import InternalRegretGrid  # noqa: PLC0415

    seen = residuals("signed")
    known = settings.Known.of(seen)
    coins = settings.coins(ROUNDS + 1)
    fast = twins.regretless(seen, -1.0, coins, 10, known.low, known.high)
    rival, slow = InternalRegretGrid(low=known.low, high=known.high), []
    for residual in seen.tolist():
        slow.append(rival.predict())
        rival.update(residual)

    np.testing.assert_allclose(fast[:-1], slow, rtol=1e-9, atol=1e-9)
