"""Several numbers in order: the lemma, what each level can lose, and that sorting loses more."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import trueup as tu
from calibrator.support import by_hand
from trueup._kernels import _order as kernels
from trueup.calibrator import Calibrator
from trueup.calibrator._order import Order
from trueup.calibrator._targets import templates_of

RATES = 0.5 * 0.25 ** np.arange(kernels.N_RATES)
ROUNDS = 3_000


def pinball(levels, said, outcome):
    """Return the loss of each level."""
    error = outcome - np.asarray(said)
    return np.maximum(levels * error, (levels - 1) * error)


def ordered(raw, weights):
    """Return the isotonic regression as the kernel has it."""
    issued = np.empty(len(raw))
    kernels.isotonic(np.array(raw, dtype=float), np.array(weights, dtype=float), issued)
    return issued


def max_min(raw, weights):
    """Return the isotonic regression by its formula: the largest least mean."""
    raw, weights, n = np.array(raw, dtype=float), np.array(weights, dtype=float), len(raw)

    def mean(i, k):
        return np.average(raw[i : k + 1], weights=weights[i : k + 1])

    return [max(min(mean(i, k) for k in range(j, n)) for i in range(j + 1)) for j in range(n)]


CASES = st.integers(1, 7).flatmap(
    lambda n: st.tuples(
        st.lists(st.floats(-10, 10), min_size=n, max_size=n),
        st.lists(st.floats(1e-6, 1), min_size=n, max_size=n),
        st.lists(st.floats(0.01, 0.99), min_size=n, max_size=n).map(sorted),
        st.floats(-12, 12),
    )
)


@settings(max_examples=400, deadline=None, derandomize=True)
@given(case=CASES)
def test_the_weighted_sum_of_losses_never_rises(case):
    """The lemma, whatever the outcome; the numbers are those of the formula and in order."""
    raw, weights, levels, outcome = (np.array(part) for part in case)
    issued = ordered(raw, weights)
    more = pinball(levels, issued, outcome) - pinball(levels, raw, outcome)

    assert np.all(np.diff(issued) >= 0)
    np.testing.assert_allclose(issued, max_min(raw, weights), atol=1e-9)
    assert weights @ more <= 1e-10
    assert np.abs(issued - raw).max() <= kernels.depth_of(raw) + 1e-12


def test_sorting_raises_a_weighted_sum():
    """The companion: sorting serves equal weights alone."""
    levels, weights, raw = np.array([0.4, 0.6]), np.array([0.01, 1.0]), np.array([1.0, 0.0])
    more = pinball(levels, np.sort(raw), 0.0) - pinball(levels, raw, 0.0)

    assert more.sum() <= 0
    assert weights @ more > 0.1


class Sorting(Order):
    """A broken order, that of equal weights for ever."""

    def ask(self, raw, waiting):
        moved = super().ask(raw, waiting)
        return moved and moved._replace(issued=np.sort(raw))


def hostile(order, levels, target, waiting_for=0):
    """Let the outcome that hurts one level most answer to numbers that cross in every round."""
    rng, waiting = np.random.default_rng(0), []
    for _ in range(ROUNDS):
        raw = np.sort(rng.uniform(size=levels.size))[::-1].tolist()
        moved = order.ask(raw, [entry[1] for entry in waiting])
        order.open(moved)
        places = [0.0, 1.0, *raw]
        more = [
            (pinball(levels, moved.issued, y) - pinball(levels, raw, y))[target] for y in places
        ]
        waiting.append((raw, moved, places[int(np.argmax(more))]))
        if len(waiting) > waiting_for:
            one, moved, outcome = waiting.pop(0)
            order.tell(moved, tuple(one), outcome, 1.0, certified=True, own=False)
        assert order.wealth.sum() <= 1 + 1e-9
        assert order.wealth.min() > 0
    return order.counts[:, kernels.MORE]


def allowed(rounds, levels, unit=1.0):
    """Return the bound of docs/theory/order.md with V at most the number of rounds."""
    mass = math.log(levels * kernels.N_RATES)
    return unit * float(np.min(mass / RATES + RATES * rounds))


@pytest.mark.parametrize("target", [0, 1, 2])
def test_no_level_pays_for_the_others(target):
    """Wealth never grows, so what a level loses by being moved is of order sqrt(T)."""
    levels = np.array([0.3, 0.5, 0.7])
    lost = hostile(Order(templates_of(tu.Quantiles(levels))), levels, target)

    assert lost.max() <= allowed(ROUNDS, 3)


def test_with_sorting_a_level_pays_in_every_round():
    """The companion: the same outcomes cost it a constant a round."""
    levels = np.array([0.3, 0.5, 0.7])
    order = Sorting(templates_of(tu.Quantiles(levels)))
    with pytest.raises(AssertionError):  # wealth grows without end
        hostile(order, levels, 2)
    plain = Sorting(templates_of(tu.Quantiles(levels)))
    plain.tell = lambda moved, raw, outcome, *_, **__: plain.counts.__setitem__(
        (slice(None), kernels.MORE),
        plain.counts[:, kernels.MORE]
        + pinball(levels, moved.issued, outcome)
        - pinball(levels, raw, outcome),
    )

    assert hostile(plain, levels, 2)[2] > 2 * allowed(ROUNDS, 3)


@pytest.mark.parametrize("late", [1, 10])
def test_late_outcomes_cost_a_level_little_more(late):
    """Stakes of open rounds are held back, so wealth stays positive and never grows."""
    levels = np.array([0.3, 0.7])
    lost = hostile(Order(templates_of(tu.Quantiles(levels))), levels, 1, late)

    assert lost.max() <= math.sqrt(1 + late) * allowed(ROUNDS, 2)


def test_a_deeper_crossing_begins_the_evidence_anew():
    """The unit is the deepest crossing rounded up to a power of 2; older stakes are void."""
    order = Order(templates_of(tu.Interval(0.8)))
    first = order.ask([1.0, 0.75], [])
    order.open(first)
    assert order.z[kernels.REACH] == 0.25
    order.tell(first, (1.0, 0.75), 9.0, 1.0, certified=True, own=False)
    changed = order.wealth.copy()
    assert changed[0, 0] != changed[1, 0]
    old = order.ask([1.0, 0.9], [])
    order.open(old)
    order.open(order.ask([5.0, 0.0], [old]))

    assert order.z[kernels.REACH] == 8.0
    assert np.all(order.wealth == 1 / 12)
    order.tell(old, (1.0, 0.9), 9.0, 1.0, certified=True, own=False)
    assert np.all(order.wealth == 1 / 12)


def crossing(seed):
    """Return noise under beliefs that know nothing, so that levels cross; and how it is run."""
    rng = np.random.default_rng(seed)
    outcomes = rng.uniform(size=300)
    outcomes[rng.uniform(size=300) < 0.05] = np.nan
    options = {
        "forecasts": rng.uniform(size=300),
        "known_at": np.arange(300) + rng.integers(1, 12, 300) if seed % 2 else None,
        "bounds": (0, 1) if seed % 3 else None,
        "steer": False,
        "overrule": None,
        "max_open": 5 if seed % 4 == 1 else None,
    }
    return outcomes, tu.Quantiles([0.4, 0.5, 0.6]), options


@pytest.mark.parametrize("seed", range(8))
def test_arrays_are_put_in_order_as_one_by_one(seed):
    """Values, evidence and what stays open, bit for bit; through bytes too."""
    outcomes, wanted, options = crossing(seed)
    run = tu.calibrate(outcomes, wanted, **options)
    calibrator, said = by_hand(outcomes, wanted, **options)
    again = Calibrator.from_bytes(run.calibrator.to_bytes())

    assert calibrator._order.crossed > 20
    assert run.values.tolist() == [list(f.value.values) for f in said]
    assert np.all(np.diff(run.values) >= 0)
    assert calibrator.to_bytes() == run.calibrator.to_bytes() == again.to_bytes()
    for number in calibrator.open:
        for each in (calibrator, run.calibrator, again):
            each.update(0.5, forecast=number)
    assert calibrator.to_bytes() == run.calibrator.to_bytes() == again.to_bytes()


def test_a_panel_puts_each_series_in_order_by_itself():
    """In parts of a frame too, with forecasts open in between."""
    outcomes, wanted, options = crossing(2)
    own, keys = options["forecasts"], np.tile([0, 1], 150)
    panels = [tu.Panel(wanted, steer=False, overrule=None) for _ in range(2)]
    whole = panels[0].run(keys, outcomes, forecasts=own).values
    parts = [
        panels[1].run(keys[rows], outcomes[rows], forecasts=own[rows]).values
        for rows in (slice(0, 101), slice(101, 300))
    ]

    assert np.concatenate(parts).tolist() == whole.tolist()
    assert panels[0].calibrator(0)._order.crossed > 5
    np.testing.assert_array_equal(
        panels[0].calibrator(0)._order.z, panels[1].calibrator(0)._order.z
    )


def test_what_being_moved_costs_is_counted_and_certified():
    """Level by level: the losses of what was issued less those of what each level would say."""
    outcomes, wanted, options = crossing(2)
    outcomes = np.nan_to_num(outcomes, nan=0.5)
    calibrator, said = by_hand(outcomes, wanted, **options)
    levels = np.array(wanted.levels)
    losses = np.mean(
        [pinball(levels, f.value.values, y) for f, y in zip(said, outcomes, strict=True)], axis=0
    )

    np.testing.assert_allclose(calibrator.report().score, losses)
    assert calibrator._order.counts[:, kernels.MORE].sum() < 0
