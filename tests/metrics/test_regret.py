"""Regrets are exact: against slow twins, against other formulas, and where groups are labels."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import trueup as tu
from reference.best import best_constant, slow_swap_regret
from trueup.errors import InvalidArgument
from trueup.losses import (
    Absolute,
    AsymmetricSquared,
    Convex,
    Huber,
    Linear,
    PiecewiseLinear,
    Pinball,
    Scaled,
    Squared,
)
from trueup.metrics import (
    calibration_error,
    external_regret,
    pseudo_swap_regret,
    pseudo_swap_regret_by_group,
    swap_regret,
    swap_regret_by_group,
)
from trueup.record import Mixture, record_of

PROPERTIES = [tu.Mean(), tu.Median(), tu.Quantile(0.05), tu.Quantile(0.9), tu.Expectile(0.8)]


def random_losses(rng, count):
    """Return losses of every analytic kind."""
    kinds = [
        lambda v, q: Absolute(v),
        Pinball,
        lambda v, q: Squared(v),
        AsymmetricSquared,
        Huber,
        lambda v, q: Linear(q - v),
        lambda v, q: (
            PiecewiseLinear(sorted({v, q} - {0.0, 1.0}), [-1, 0.1, 2]) if v != q else Absolute(v)
        ),
        lambda v, q: Scaled(Huber(v, q), 3.0),
    ]
    return [
        kinds[rng.integers(len(kinds))](float(rng.uniform()), float(rng.uniform(0.05, 0.95)))
        for _ in range(count)
    ]


@pytest.mark.parametrize("wanted", PROPERTIES, ids=repr)
@pytest.mark.parametrize("ties", [True, False], ids=["ties", "no ties"])
def test_swap_regret_of_a_property_agrees_with_the_slow_twin(wanted, ties):
    """Ternary search on the summed losses of each group, with and without equal outcomes."""
    rng = np.random.default_rng(1)
    forecasts = rng.integers(0, 5, 120) / 4
    outcomes = rng.integers(0, 9, 120) / 8 if ties else rng.uniform(size=120)
    losses = [wanted.loss(float(y)) for y in outcomes]

    fast = swap_regret(forecasts, outcomes, wanted)

    assert fast == pytest.approx(slow_swap_regret(forecasts, losses), abs=1e-9)
    assert fast == pytest.approx(swap_regret(forecasts, losses), abs=1e-10)


@pytest.mark.parametrize("seed", range(10))
def test_swap_regret_of_mixed_losses_agrees_with_the_slow_twin(seed):
    """Losses of all kinds in the same groups."""
    rng = np.random.default_rng(seed)
    forecasts = rng.integers(0, 4, 60) / 3
    losses = random_losses(rng, 60)

    assert swap_regret(forecasts, losses) == pytest.approx(
        slow_swap_regret(forecasts, losses), abs=1e-9
    )


def test_functions_of_a_users_own_are_minimised_too():
    """Bisection on slopes gives what the pieces give."""
    rng = np.random.default_rng(2)
    forecasts = rng.integers(0, 3, 40) / 2
    losses = random_losses(rng, 40)
    own = [
        Convex(loss.value, loss.slopes, lipschitz=loss.lipschitz or 1.0) if k % 2 else loss
        for k, loss in enumerate(losses)
    ]

    assert swap_regret(forecasts, own) == pytest.approx(swap_regret(forecasts, losses), abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(
    data=st.lists(
        st.tuples(st.sampled_from([0.0, 0.3, 1.0]), st.floats(0, 1), st.floats(0.05, 0.95)),
        min_size=1,
        max_size=12,
    )
)
def test_the_minimiser_beats_every_other_constant(data):
    """Whatever the outcomes and levels: no grid point and no outcome does better."""
    forecasts = [p for p, _, _ in data]
    losses = [AsymmetricSquared(v, q) if q < 0.5 else Pinball(v, q) for _, v, q in data]
    result = swap_regret_by_group(forecasts, losses)
    candidates = np.unique([*np.linspace(0, 1, 101), *(v for _, v, _ in data)])
    for group, best in zip(result.groups, result.best, strict=True):
        members = [loss for p, loss in zip(forecasts, losses, strict=True) if p == group]
        own = sum(loss.value(float(best)) for loss in members)
        others = sum(loss.value(candidates) for loss in members)
        assert own <= others.min() + 1e-9


def test_labels_group_what_forecasts_do_not():
    """By label the comparator is one constant for every label; merging labels only lowers it."""
    forecasts = np.array([0.4, 0.6] * 50)
    outcomes = np.array([0.45, 0.55] * 50)
    one_label, two_labels = np.zeros(100), np.column_stack([forecasts, forecasts])

    assert swap_regret(forecasts, outcomes, tu.Median(), by=one_label) == pytest.approx(0.0)
    assert swap_regret(forecasts, outcomes, tu.Median(), by=two_labels) == pytest.approx(5.0)
    assert swap_regret(forecasts, outcomes, tu.Median()) == pytest.approx(5.0)
    assert swap_regret(forecasts, outcomes, tu.Median(), by=["a", "b"] * 50) == pytest.approx(5.0)


def test_calibration_error_is_the_sum_over_forecasts_of_suboptimality():
    """CAL_S by its definition, from the best constant of each empirical law."""
    rng = np.random.default_rng(3)
    forecasts, outcomes = rng.integers(0, 6, 300) / 5, rng.beta(2, 3, 300)
    for wanted in PROPERTIES:
        total = 0.0
        for p in np.unique(forecasts):
            seen = outcomes[forecasts == p]
            best = best_constant([wanted.loss(float(y)) for y in seen])
            subopt = np.mean(wanted.score(np.full(seen.size, p), seen)) - np.mean(
                wanted.score(np.full(seen.size, best), seen)
            )
            total += seen.size * subopt
        assert calibration_error(forecasts, outcomes, wanted) == pytest.approx(total, abs=1e-9)


def test_external_regret_compares_with_one_constant():
    """It may be negative, and swap regret is never below it."""
    rng = np.random.default_rng(4)
    forecasts, outcomes = rng.uniform(size=50), rng.uniform(size=50)
    for wanted in PROPERTIES:
        scores = wanted.score(forecasts, outcomes).sum()
        grid = np.linspace(0, 1, 2001)
        best = min(wanted.score(np.full(50, s), outcomes).sum() for s in [*grid, *outcomes])
        found = external_regret(forecasts, outcomes, wanted)
        assert found == pytest.approx(scores - best, abs=1e-4)
        assert swap_regret(forecasts, outcomes, wanted) >= found
    assert external_regret(outcomes, outcomes, tu.Median()) < 0


def test_pseudo_swap_regret_weighs_each_forecast_by_its_probability():
    """Against the sum written out, and equal to swap regret for point masses."""
    rng = np.random.default_rng(5)
    losses, mixtures = random_losses(rng, 30), []
    for _ in losses:
        support = np.unique(rng.integers(0, 5, 3)) / 4
        shares = rng.dirichlet(np.ones(support.size))
        mixtures.append(Mixture(support, 0.25 + 0 * support, shares, float(support[0])))
    found = pseudo_swap_regret_by_group(record_of(mixtures, losses))
    total = 0.0
    for b in np.arange(5) / 4:
        weights = [m.probabilities[m.support == b].sum() for m in mixtures]
        scaled = [Scaled(x, w) for x, w in zip(losses, weights, strict=True) if w > 0]
        best = best_constant(scaled)
        total += sum(loss.value(float(b)) - loss.value(best) for loss in scaled)
    points = [Mixture(np.array([m.value]), np.ones(1), np.ones(1), m.value) for m in mixtures]

    assert found.total == pytest.approx(total, abs=1e-9)
    assert found.counts.sum() == pytest.approx(30)
    assert pseudo_swap_regret(record_of(points, losses)) == pytest.approx(
        swap_regret([m.value for m in mixtures], losses), abs=1e-12
    )


def test_pseudo_swap_regret_takes_a_users_functions():
    """The slow way agrees with the fast one."""
    rng = np.random.default_rng(6)
    half, ends = np.array([0.5, 0.5]), np.array([0.25, 0.75])
    losses = random_losses(rng, 12)
    own = [Convex(x.value, x.slopes, lipschitz=x.lipschitz) for x in losses]
    mixtures = [Mixture(ends, half, half, 0.25)] * 12

    assert pseudo_swap_regret(record_of(mixtures, own)) == pytest.approx(
        pseudo_swap_regret(record_of(mixtures, losses)), abs=1e-9
    )


def test_a_record_brings_its_losses():
    """The same number as from its forecasts and losses."""
    half, ends = np.array([0.5, 0.5]), np.array([0.25, 0.75])
    losses = random_losses(np.random.default_rng(8), 9)
    record = record_of([Mixture(ends, half, half, 0.25)] * 9, losses)

    assert swap_regret(record) == swap_regret([0.25] * 9, losses)
    assert external_regret(record) == external_regret([0.25] * 9, losses)
    with pytest.raises(InvalidArgument, match="losses must be left out"):
        swap_regret(record, losses)


def test_the_outcomes_of_a_record_are_those_of_its_losses():
    """Where each loss has one."""
    half, ends = np.array([0.5, 0.5]), np.array([0.25, 0.75])
    mixture = Mixture(ends, half, half, 0.25)

    assert record_of([mixture] * 2, [Absolute(0.1), Squared(0.9)]).outcomes().tolist() == [0.1, 0.9]
    with pytest.raises(InvalidArgument, match="losses must be those of outcomes"):
        record_of([mixture], [Linear(1.0)]).outcomes()


def test_a_scaled_function_of_a_users_own_is_minimised():
    """Scaling twice changes nothing but the unit."""
    own = Convex(lambda p: (p - 0.3) ** 2, lambda p: 2 * (p - 0.3), lipschitz=2.0)

    assert swap_regret([0.5], [Scaled(Scaled(own, 0.5), 0.5)]) == pytest.approx(0.01, abs=1e-9)


def test_groups_of_different_units_do_not_disturb_each_other():
    """A group in units of 10^17 beside one in units of 1."""
    large, small = [Scaled(Absolute(0.3), 1e17)] * 3, [Absolute(0.2), Absolute(0.2), Absolute(0.9)]
    found = swap_regret_by_group([0.0] * 3 + [1.0] * 3, large + small)

    assert found.regrets[1] == swap_regret([1.0] * 3, small)


class Concave:
    """A loss of somebody's own that is none."""

    lipschitz = 1.0

    def value(self, forecast):
        return -np.abs(np.asarray(forecast) - 0.5)

    def slopes(self, forecast):
        side = -np.sign(np.asarray(forecast) - 0.5)
        return side, side


def test_a_wrong_minimiser_is_seen():
    """The mean instead of the median leaves regret behind on a skewed group."""
    outcomes = np.array([0.0, 0.0, 0.0, 0.9])
    true = swap_regret(np.full(4, 0.5), outcomes, tu.Median())
    with_mean = np.abs(outcomes - 0.5).sum() - np.abs(outcomes - outcomes.mean()).sum()

    assert true > with_mean + 0.1


def test_huge_records_stay_exact():
    """A million rounds of the same two forecasts: the sum is that of the quantiles."""
    outcomes = np.tile([0.1, 0.2, 0.3, 0.4], 250_000)
    found = swap_regret_by_group(np.full(outcomes.size, 0.9), outcomes, tu.Median())
    expected = np.abs(outcomes - 0.9).sum() - np.abs(outcomes - 0.2).sum()

    assert found.total == pytest.approx(expected, rel=1e-12)
    assert 0.2 - 1e-12 <= found.best[0] <= 0.3 + 1e-12


def test_nothing_forecast_is_no_regret():
    """An empty record has none."""
    assert swap_regret([], [], tu.Median()) == 0.0
    assert swap_regret([], []) == 0.0


BAD = [
    (([0.5], [math.nan], tu.Median()), {}, "outcomes must be finite, got nan at index 0"),
    (([0.5], [1.5], tu.Median()), {}, "outcomes must be inside the interval"),
    (([math.inf], [0.5], tu.Median()), {}, "forecasts must be finite"),
    (([-0.5], [0.5], tu.Median()), {}, "forecasts must be inside the interval"),
    (([0.5, 0.5], [0.5], tu.Median()), {}, "must have the same length"),
    (([0.5], [Absolute(0.5)] * 2), {}, "must have the same length"),
    (([0.5], [0.5]), {}, "loss must be a loss with value, slopes and lipschitz, got 0.5"),
    (([0.5], 0.5), {}, "losses must be a sequence of losses"),
    (([0.5], [Concave()]), {}, "slopes must be non-decreasing"),
    (([0.5], [0.5], tu.Median), {}, "property must be a property such as"),
    (([0.5], [0.5], "median"), {}, "property must be a property such as"),
    ((["0.5"], [0.5], tu.Median()), {}, "forecasts must be numbers, got"),
    (([0.5], [10**400], tu.Median()), {}, "outcomes must be numbers"),
    (([0.5, 0.5], [0.5, 0.5], tu.Median()), {"by": [None, 1]}, "by must be labels of one kind"),
    (([0.5], [0.5], tu.Median()), {"by": "label"}, "by must be 'forecast' or an array of labels"),
    (([0.5], [0.5], tu.Median()), {"by": [1, 2]}, "by must have one label per forecast"),
]


@pytest.mark.parametrize(("arguments", "options", "sentence"), BAD)
def test_bad_input_gets_one_sentence(arguments, options, sentence):
    """The error names the argument, the rule and what was got."""
    with pytest.raises(InvalidArgument, match=sentence):
        swap_regret(*arguments, **options)
