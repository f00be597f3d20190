"""Saying the belief's own number under the drawn label, while that costs nothing."""

import math

import numpy as np
import pytest

from engine.tools import clone
from reference.engine_refine import Refining
from trueup import Mean, Median, Quantile
from trueup._kernels import _engine as kernels
from trueup.engine import Engine
from trueup.losses import Absolute
from trueup.metrics import swap_regret

CAP = 1.5 / 0.05  # of the default engine


def allowed(rounds, cap=CAP, group=0):
    """Return what the sum of loss(said) - loss(label) is at most, from the wealth against it.

    A bettor's (1 + eta lam x) products are at least exp(eta X - psi(eta) V) times its share, and
    no wealth ever exceeds the cap.
    """
    rates = np.array([0.5 ** (2 * j + 1) for j in range(6)])
    psi = -np.log1p(-rates) - rates
    level = math.log(2 * 6 * (group + 1) * (group + 2) * cap)
    return float(((level + psi * rounds) / rates).min())


def points_at(kind, rng, label, outcome):
    """Return the point that a belief of some kind would say."""
    return {
        "right": outcome,
        "wrong": 0.0 if outcome > label else 1.0,
        "random": float(rng.uniform()),
        "label": label,
    }[kind]


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("kind", ["right", "wrong", "random", "label"])
def test_the_books_agree_in_every_round(seed, kind):
    """What is said and every bettor's wealth, with groups and late outcomes."""
    rng, engine = np.random.default_rng(seed), Engine(seed)
    cap = engine.state.f[kernels.REFINE_CAP] = 1.02
    books, waiting = Refining(cap), {}
    for _ in range(300):
        groups = (0,) if rng.uniform() < 0.5 else (1, 2)
        outcome = float(rng.choice([0.2, 0.25, 0.9]))
        bare = clone(engine).predict(groups=groups)
        point = points_at(kind, rng, bare.label, outcome)
        forecast = engine.open(point=point, groups=groups)
        share, said, _ = books.say(groups, forecast.label, forecast.scale, point)
        assert forecast.value == pytest.approx(said, abs=1e-12)
        assert abs(forecast.value - forecast.label) <= 2 * forecast.scale
        books.stake(forecast.round, groups, forecast.label, forecast.scale, point)
        p = min(
            max(point, forecast.label - 2 * forecast.scale), forecast.label + 2 * forecast.scale
        )
        waiting[forecast.round] = abs(p - outcome) - abs(forecast.label - outcome), outcome
        while len(waiting) > rng.integers(4):
            number = int(rng.choice(list(waiting)))
            difference, outcome = waiting.pop(number)
            engine.update(Absolute(outcome), number)
            books.pay(number, difference)
        for group in range(3):
            at = int(engine.state.i[kernels.AT_FGROUPS]) + kernels.GROUP * group
            if group < engine.state.i[kernels.GROUP_ROOM]:
                found = engine.state.f[at + kernels.GROUP_AGAINST : at + kernels.GROUP]
                known = books.bettors(group, "against") + books.bettors(group, "for")
                np.testing.assert_allclose(found, known, rtol=1e-9)
        assert engine.state.f[kernels.REFINE_MODEL] == pytest.approx(books.won, abs=1e-12)
    assert share == 1 or kind in ("wrong", "random")


def run_with(kind, rounds, **options):
    """Return an engine, its forecasts and the outcomes, with points of some kind."""
    engine, said, outcomes = Engine(seed=1, **options), [], []
    rng = np.random.default_rng(2)
    for number in range(rounds):
        outcome = 0.3 if number % 2 else 0.34
        point = points_at(kind, rng, engine.predict().label, outcome)
        said.append(engine.predict(point=point))
        outcomes.append(outcome)
        engine.update(Absolute(outcome))
    return engine, said, np.array(outcomes)


@pytest.mark.parametrize("kind", ["right", "wrong", "random"])
def test_refining_costs_little_even_if_it_is_always_wrong(kind):
    """The sum of loss(said) - loss(label) stays below what wealth allows at every time."""
    engine, said, outcomes = run_with(kind, 3_000)
    more = [abs(f.value - v) - abs(f.label - v) for f, v in zip(said, outcomes, strict=True)]
    sums = np.cumsum(more)

    assert all(total <= allowed(n) for n, total in enumerate(sums, start=1))
    assert engine.state.f[kernels.REFINED] == pytest.approx(sums[-1])
    if kind == "right":
        assert sums[-1] < -10
        assert engine.info().unrefined == 0
    else:
        assert engine.info().unrefined > 0


def cost_of_lies(rounds, cap=CAP):
    """Return what refining costs on coarse bins when the point is always on the wrong side."""
    engine, total = Engine(seed=1, c=1.0, horizon=16), 0.0
    engine.state.f[kernels.REFINE_CAP] = cap
    for _ in range(rounds):
        outcome = 0.0 if engine.predict().label <= 0.5 else 1.0
        forecast = engine.predict(point=1 - outcome)
        total += abs(forecast.value - outcome) - abs(forecast.label - outcome)
        engine.update(Absolute(outcome))
    return total


def test_the_worst_points_cost_no_more_than_is_allowed():
    """On coarse bins, where a point can be half of the interval off."""
    assert 10 < cost_of_lies(3_000) <= allowed(3_000)


def test_always_saying_the_point_is_ruinous():
    """The companion: without the cap the same points cost a constant in every round."""
    assert cost_of_lies(3_000, cap=1e300) > max(allowed(3_000), 0.2 * 3_000)


@pytest.mark.parametrize("wanted", [Median(), Quantile(0.8), Mean()], ids=repr)
def test_swap_regret_by_label_is_that_of_the_bins_and_the_differences(wanted):
    """An identity, to rounding; and the certificate is above both."""
    rng = np.random.default_rng(3)
    outcomes = rng.beta(2, 4, 2_000)
    for points in (rng.uniform(size=2_000), np.clip(outcomes + 0.02, 0, 1), outcomes):
        engine = Engine(seed=4)
        run = engine.play(outcomes, wanted, points=points)
        pairs = np.column_stack([run.labels, run.scales])
        bins = swap_regret(run.labels, outcomes, wanted, by=pairs)
        more = float(
            (wanted.score(run.forecasts, outcomes) - wanted.score(run.labels, outcomes)).sum()
        )

        steep = wanted.loss(0.5).lipschitz
        assert engine.state.f[kernels.REFINED] * steep == pytest.approx(more, abs=1e-9)
        assert best_by_pair(run.forecasts, outcomes, wanted, pairs) == pytest.approx(bins + more)
        assert bins + more <= engine.certificate() + 1e-9
        assert more / steep <= allowed(2_000)
        assert np.all(abs(run.forecasts - run.labels) <= 2 * run.scales)


def best_by_pair(said, outcomes, wanted, pairs):
    """Return what the best constant of each pair would have saved, which may be below 0."""
    total = 0.0
    for pair in np.unique(pairs, axis=0):
        own = (pairs == pair).all(axis=1)
        grid = np.unique(np.concatenate([outcomes[own], [outcomes[own].mean()]]))
        costs = [wanted.score(np.full(own.sum(), x), outcomes[own]).sum() for x in grid]
        total += wanted.score(said[own], outcomes[own]).sum() - min(costs)
    return total


def test_the_differences_of_a_label_count_for_it_in_its_group():
    """A certificate has them label by label, none below zero."""
    rng = np.random.default_rng(5)
    outcomes, groups = rng.uniform(size=1_000), rng.integers(3, size=1_000)
    engine, plain = Engine(seed=6), Engine(seed=6, refine=False)
    run = engine.play(outcomes, Median(), points=1 - outcomes, groups=groups)
    labels = plain.play(outcomes, Median(), points=1 - outcomes, groups=groups).labels
    assert run.labels.tolist() == labels.tolist()
    more = abs(run.forecasts - outcomes) - abs(run.labels - outcomes)
    for group in range(3):
        bins, scales, parts = plain.certificates(group)
        own = [(groups == group) & (run.labels == b) & (run.scales == r)
               for b, r in zip(bins, scales, strict=True)]  # fmt: skip
        total = sum(max(c + more[k].sum(), 0.0) for c, k in zip(parts, own, strict=True))

        assert engine.certificate(group) == pytest.approx(total)
        assert more[groups == group].sum() <= allowed((groups == group).sum(), group=group)


def test_without_refining_the_label_is_said():
    """Whatever the point; and the run is that of an engine that was given none."""
    rng = np.random.default_rng(7)
    outcomes = rng.uniform(size=300)
    plain, given = Engine(seed=8, refine=False), Engine(seed=8, refine=False)
    run = given.play(outcomes, Median(), points=rng.uniform(size=300))

    np.testing.assert_array_equal(run.forecasts, run.labels)
    np.testing.assert_array_equal(plain.play(outcomes, Median()).forecasts, run.forecasts)
    assert given.state.f[kernels.REFINED] == 0


def test_refining_leaves_the_labels_alone():
    """The same mixtures, draws and evidence with any points and with none."""
    rng = np.random.default_rng(9)
    outcomes = rng.uniform(size=500)
    runs = [
        Engine(seed=10).play(outcomes, Median(), points=points)
        for points in (None, outcomes, rng.uniform(size=500))
    ]

    for run in runs[1:]:
        np.testing.assert_array_equal(run.labels, runs[0].labels)
        np.testing.assert_array_equal(run.scales, runs[0].scales)


def test_lambda_in_between_leaves_wealth_as_it_is():
    """Beyond the cap lambda is B / (A + B): whatever the outcome, the sum of both does not move."""
    engine, said, _ = run_with("wrong", 2_000)
    between = [f for f in said if 0 < abs(f.value - f.label) < 2 * f.scale]
    point = 1.0
    for outcome in (0.0, 0.3, 1.0):
        copy = clone(engine)
        forecast = copy.predict(point=point)
        before = copy.state.f[kernels.REFINE_MODEL]
        copy.update(Absolute(outcome))
        assert copy.state.i[kernels.REFINE_MODE] == 0
        assert forecast.value != forecast.label
        assert copy.state.f[kernels.REFINE_MODEL] == pytest.approx(before, abs=1e-12)

    assert between
