"""What is promised, through the object people use, against outcomes that see every mixture."""

import math

import numpy as np
import pytest

import trueup as tu
from calibrator.support import (
    ROUNDS,
    RULES,
    flat,
    hidden,
    just_above,
    parts_of,
    plain_regret,
    play_against,
    regrets_of,
    side_push,
    unit_of,
)
from trueup.calibrator import Calibrator

SEEN = 2.5  # swap regret / sqrt(T) / width over these rules without beliefs, with room for seeds
SEEN_WITH_BELIEFS = 2.5  # the same where the rule sees what past errors make it believe
SEEN_WITH_OWN = 8.0  # the same where the user's model is followed for its own sake
ONE_NUMBER = [tu.Median(), tu.Quantile(0.9), tu.Mean(), tu.Expectile(0.8)]


def relative(calibrator, log, **options):
    """Return each number's swap regret over sqrt(T), in units of the range."""
    scale = unit_of(calibrator) * math.sqrt(len(log))
    return np.array(regrets_of(calibrator, log, **options)) / scale


def certified(calibrator, log):
    """Return whether the certificate is at least what swap regret is."""
    return sum(regrets_of(calibrator, log)) <= calibrator.certificate() * (1 + 1e-9) + 1e-9


class Frozen(Calibrator):
    """A broken calibrator that never learns."""

    def update(self, outcome, *, forecast=None):
        self.skip(forecast)


class Raw(Calibrator):
    """A broken calibrator that issues what the user's model says."""

    def predict(self, forecast=None, *, groups=()):
        own = float(forecast)
        said = super().predict(forecast, groups=groups)
        mixture = {"support": (own,), "probabilities": (1.0,)}
        return said._replace(value=own, label=own, scale=0.0, **mixture)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("exact", [False, True], ids=["refined", "exact"])
@pytest.mark.parametrize("wanted", ONE_NUMBER, ids=repr)
def test_swap_regret_stays_small_without_beliefs(wanted, exact, rule):
    """By label always, by what was said where grid values are issued."""
    calibrator = tu.Calibrator(wanted, bounds=(0, 500), seed=1, exact=exact, steer=False)
    log = play_against(calibrator, RULES[rule](0.0, 500.0))

    assert relative(calibrator, log).max() <= SEEN
    assert certified(calibrator, log)
    if exact:
        assert relative(calibrator, log, by="value").max() <= SEEN


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("exact", [False, True], ids=["refined", "exact"])
@pytest.mark.parametrize("wanted", ONE_NUMBER[:3], ids=repr)
def test_swap_regret_stays_small_with_beliefs_that_are_wrong(wanted, exact, rule):
    """Beliefs from past errors are exploited, each for as long as the guard lets them."""
    calibrator = tu.Calibrator(wanted, bounds=(0, 500), seed=1, exact=exact)
    log = play_against(calibrator, RULES[rule](0.0, 500.0))

    assert relative(calibrator, log).max() <= SEEN_WITH_BELIEFS
    assert certified(calibrator, log)
    if exact:
        assert relative(calibrator, log, by="value").max() <= SEEN_WITH_BELIEFS


@pytest.mark.parametrize("raw", ["constant", "noise", "far off"])
def test_swap_regret_stays_small_whatever_the_users_model_says(raw):
    """A model that knows nothing costs no more than the beliefs it leads to."""
    rng = np.random.default_rng(5)
    models = {
        "constant": lambda t: 250.0,
        "noise": lambda t: float(rng.uniform(0, 500)),
        "far off": lambda t: 1e6 * (-1) ** t,
    }
    for steer in (True, False):
        calibrator = tu.Calibrator(tu.Median(), bounds=(0, 500), seed=1, steer=steer)
        log = play_against(calibrator, side_push(0.0, 500.0), raw=models[raw])
        allowed = SEEN_WITH_BELIEFS if steer else SEEN_WITH_OWN
        assert relative(calibrator, log).max() <= allowed
        assert certified(calibrator, log)


def play_forgiving(wanted, rule, rounds):
    """Play with a broken steering whose licence forgets all that speaks against it."""
    from trueup._kernels import _engine as kernels  # noqa: PLC0415 - only these tests look inside

    calibrator, log = tu.Calibrator(wanted, bounds=(0, 500), seed=1), []
    for _ in range(rounds):
        forecast = calibrator.predict()
        log.append((forecast, rule(hidden(forecast))))
        calibrator.update(log[-1][1])
        memory = calibrator._streams[0].z
        memory[kernels.JUDGED : kernels.AT_SCALE_COSTS] = 0.0
        memory[kernels.AT_PENDING : kernels.FRACTIONS] = 0.0
    return calibrator, log


def test_a_steering_that_need_not_earn_being_followed_is_exploited():
    """The companion: the side push leads it through many bins."""
    broken, log = play_forgiving(tu.Median(), side_push(0.0, 500.0), ROUNDS)
    right = tu.Calibrator(tu.Median(), bounds=(0, 500), seed=1)
    same = relative(right, play_against(right, side_push(0.0, 500.0))).max()

    assert same < 1.0
    assert relative(broken, log).max() > 1.5 * same


def miscovered(log, level, cells=20):
    """Return by how much coverage is off in cells of what was said."""
    said = np.array([f.value for f, _ in log])
    below = np.array([y for _, y in log]) <= said
    cell = np.minimum((said / 500.0 * cells).astype(int), cells - 1)
    return np.abs(np.bincount(cell, below - level)).sum() / len(log)


def test_what_is_said_covers_where_outcomes_sit_just_above_it():
    """Being just above costs nothing, but it is not covered; trackers are off by half here."""
    rule = just_above(0.0, 500.0)
    right = play_against(tu.Calibrator(tu.Median(), bounds=(0, 500), seed=1), rule, 3 * ROUNDS)
    wrong = play_forgiving(tu.Median(), rule, ROUNDS)[1]

    assert miscovered(right[ROUNDS:], 0.5) < 0.05
    assert miscovered(wrong[ROUNDS // 2 :], 0.5) > 0.15


def test_regret_grows_like_the_square_root():
    """Sixteen times the rounds cost about four times the regret, beliefs included."""
    few, many = (
        np.mean(
            [
                sum(regrets_of(calibrator, play_against(calibrator, side_push(0.0, 1.0), rounds)))
                for calibrator in (
                    tu.Calibrator(tu.Median(), bounds=(0, 1), seed=seed) for seed in range(2)
                )
            ]
        )
        for rounds in (500, 8_000)
    )

    assert many / few < 8


@pytest.mark.parametrize("wanted", ONE_NUMBER, ids=repr)
def test_a_calibrator_that_never_learns_fails_the_same_check(wanted):
    """The companion: its regret grows in proportion to T, far above what is allowed."""
    frozen = Frozen(wanted, bounds=(0, 500), seed=1, steer=False)
    level = getattr(wanted, "level", 0.5)
    rule = (lambda _: 0.0) if level < 0.5 else (lambda _: 500.0)  # the side that costs more
    log = play_against(frozen, rule)

    assert relative(frozen, log).max() > SEEN
    assert not certified(frozen, log)


@pytest.mark.parametrize("rule", [side_push, lambda low, high: lambda _: high])
def test_issuing_the_raw_forecast_fails_the_same_check(rule):
    """The companion: what the model says is worse by a constant in every round."""
    raw = Raw(tu.Median(), bounds=(0, 500), seed=1)
    log = play_against(raw, rule(0.0, 500.0), raw=lambda t: 250.0)

    assert relative(raw, log).max() > SEEN_WITH_BELIEFS


@pytest.mark.parametrize("delay", [1, 10, 100])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("wanted", [tu.Median(), tu.Quantile(0.9), tu.Mean()], ids=repr)
def test_late_outcomes_cost_as_much_as_so_many_rounds_in_one(wanted, rule, delay):
    """With d + 1 open at once nobody can learn from more than one in d + 1 rounds."""
    calibrator = tu.Calibrator(wanted, bounds=(0, 500), seed=1, steer=False)
    log = play_against(calibrator, RULES[rule](0.0, 500.0), delay=delay)

    assert relative(calibrator, log).max() <= SEEN * math.sqrt(1 + delay)
    assert certified(calibrator, log)


@pytest.mark.parametrize("delay", [1, 10, 100])
def test_the_certificate_holds_with_beliefs_and_late_outcomes(delay):
    """For one number and for several."""
    for wanted in (tu.Median(), tu.Quantiles([0.1, 0.5, 0.9])):
        calibrator = tu.Calibrator(wanted, bounds=(0, 500), seed=1)
        log = play_against(calibrator, side_push(0.0, 500.0), 1_000, delay=delay)
        assert certified(calibrator, log)


def groups_of(t):
    """Return groups that overlap."""
    return ("all", f"third {t % 3}", "early" if t < ROUNDS // 4 else "late")


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("steer", [False, True], ids=["no belief", "beliefs"])
def test_every_group_keeps_its_own_guarantee(rule, steer):
    """Its swap regret over its own rounds stays small and below its certificate."""
    calibrator = tu.Calibrator(tu.Median(), bounds=(0, 500), seed=1, steer=steer)
    log = play_against(calibrator, RULES[rule](0.0, 500.0), groups=groups_of)
    allowed = (SEEN_WITH_BELIEFS if steer else SEEN) * 500.0 * math.sqrt(ROUNDS)
    for name, (rounds, certificate) in calibrator.group_report().items():
        own = [(f, y) for f, y in log if name in groups_of(f.id)]
        regret = sum(regrets_of(calibrator, own))
        assert rounds == len(own)
        assert regret <= allowed
        assert regret <= certificate * (1 + 1e-9)


def test_a_group_that_is_not_named_has_no_guarantee():
    """The companion: outcomes that differ by a hidden group leave it with linear regret."""
    outcomes = np.random.default_rng(3).uniform(size=ROUNDS)
    outcomes = (outcomes < np.where(np.arange(ROUNDS) % 2, 0.8, 0.2)).astype(float)
    regrets = []
    for groups in (lambda t: (), lambda t: (f"group {t % 2}",)):
        calibrator, log = tu.Calibrator(tu.Median(), bounds=(0, 1), seed=1, steer=False), []
        for t in range(ROUNDS):
            log.append((calibrator.predict(groups=groups(t)), float(outcomes[t])))
            calibrator.update(log[-1][1])
        regrets.append(max(sum(regrets_of(calibrator, log[k::2])) for k in (0, 1)))

    assert regrets[0] > SEEN * math.sqrt(ROUNDS)
    assert regrets[1] < SEEN * math.sqrt(ROUNDS)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("wanted", [tu.Interval(0.8), tu.Quantiles([0.1, 0.5, 0.9])], ids=repr)
def test_every_level_keeps_its_guarantee_as_issued(wanted, rule):
    """Numbers in order, each level by its own drawn bin; the certificate is above the sum."""
    for steer, allowed in ((False, SEEN), (True, SEEN_WITH_BELIEFS)):
        calibrator = tu.Calibrator(wanted, bounds=(0, 500), seed=1, steer=steer)
        log = play_against(calibrator, RULES[rule](0.0, 500.0), 2_000)
        assert relative(calibrator, log).max() <= allowed
        assert certified(calibrator, log)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("wanted", [tu.Median(), tu.Quantile(0.9), tu.Interval(0.8)], ids=repr)
def test_a_learnt_range_keeps_the_guarantee(wanted, rule):
    """In units of the range at the end."""
    calibrator = tu.Calibrator(wanted, seed=1, steer=False)
    log = play_against(calibrator, RULES[rule](0.0, 500.0))

    assert calibrator.report().high - calibrator.report().low <= 2_048
    assert relative(calibrator, log).max() <= SEEN
    assert certified(calibrator, log)


PREDICTABLE = {
    "alternating": np.tile([0.0, 1.0], ROUNDS // 2),
    "a wave": (np.sin(np.arange(ROUNDS) / 5) > 0).astype(float),
    "noise": np.random.default_rng(0).uniform(size=ROUNDS).round(),
}


@pytest.mark.parametrize("name", PREDICTABLE)
@pytest.mark.parametrize(
    "wanted",
    [tu.Median(), tu.Mean(), tu.Probability(), tu.Quantiles([0.1, 0.5, 0.9])],
    ids=repr,
)
def test_the_certificate_holds_label_by_label_where_refining_gains(wanted, name):
    """What is gained under one label pays for nothing under another."""
    bounds = None if isinstance(wanted, tu.Probability) else (0, 1)
    run = tu.calibrate(PREDICTABLE[name], wanted, bounds=bounds)

    assert run.swap_regret() <= run.certificate * (1 + 1e-9)


def test_the_bad_model_next_to_the_working_set_is_played_to_the_end():
    """Forecasts that always aim elsewhere never fill the mixture beyond its room."""
    from trueup._kernels import _engine as kernels  # noqa: PLC0415 - only this test looks inside

    outcomes = np.random.default_rng(0).uniform(size=ROUNDS)
    calibrator = tu.Calibrator(tu.Median(), bounds=(0, 1), steer=False)
    for t in range(ROUNDS):
        calibrator.predict(float(outcomes[t - 1]))
        state = calibrator._streams[0].engine.state.i
        assert state[kernels.SIZE] <= kernels.MOST_COLUMNS
        assert state[kernels.NEXT_SIZE] <= kernels.MOST_COLUMNS
        calibrator.update(float(outcomes[t]))
    assert calibrator.report().scored == ROUNDS


def test_the_plain_regret_agrees_with_the_metric():
    """Two ways to the same number, for the checks above."""
    rng = np.random.default_rng(7)
    said, outcomes = rng.integers(0, 5, 300) / 4, rng.uniform(size=300)
    for wanted in ONE_NUMBER:
        metric = tu.metrics.swap_regret(said, outcomes, wanted)
        assert plain_regret(wanted, said, outcomes, said.tolist()) == pytest.approx(metric)
    assert [flat(part.loss(0.5).v) for part in parts_of(tu.Interval(0.8))] == [[0.5], [0.5]]
    assert just_above(0.0, 1.0)(tu.Calibrator(tu.Median(), bounds=(0, 1)).predict()) >= 0.0
