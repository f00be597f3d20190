"""A digest: the same whatever the blocks, right in every number, small, and strict."""

import datetime as dt
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import trueup as tu
from reporting.support import columns_of, digest_in_blocks, run_of, same, stream
from trueup.errors import InvalidArgument
from trueup.metrics import decompose
from trueup.report import Digest, digest_of
from trueup.report._buckets import MOST
from trueup.report._sample import SIZE, hashed

RUN = run_of(rounds=2_500)
COLUMNS = columns_of(RUN) | {
    "groups": ["weekend" if t % 7 > 4 else "week" for t in range(2_500)],
    "times": np.datetime64("2026-01-01") + np.arange(2_500) * np.timedelta64(1, "h"),
}
WHOLE = digest_in_blocks(tu.Quantile(0.9), COLUMNS, []).summary(RUN.calibrator)


@settings(max_examples=8, deadline=None)
@given(st.lists(st.integers(0, 2_500), max_size=8).map(sorted))
def test_summaries_do_not_depend_on_how_blocks_are_cut(cuts):
    """Bit for bit, empty blocks included."""
    cut = digest_in_blocks(tu.Quantile(0.9), COLUMNS, cuts)

    assert same(cut.summary(RUN.calibrator), WHOLE)


def test_one_row_at_a_time_is_the_same_too():
    """As from a stream on standard input, with a look in the middle that changes nothing."""
    digest = Digest(tu.Quantile(0.9))
    for t in range(2_500):
        digest.add(**{name: column[t : t + 1] for name, column in COLUMNS.items()})
        if t == 1_300:
            digest.summary()

    assert same(digest.summary(RUN.calibrator), WHOLE)


def test_the_check_would_see_sums_that_depend_on_the_blocks():
    """A digest whose chunks end where blocks end is told apart."""

    class Careless(Digest):
        def add(self, *columns, **named):
            super().add(*columns, **named)
            start = self._start
            self._stages.take(start, self._buffer[: self._filled], self._members)
            self._filled, self._members = 0, []

    summaries = []
    for cuts in ([0], [7, 1_001, 1_700]):
        digest = Careless(tu.Quantile(0.9))
        rounds = len(COLUMNS["outcomes"])
        for start, end in zip(cuts, [*cuts[1:], rounds], strict=True):
            digest.add(**{name: column[start:end] for name, column in COLUMNS.items()})
        summaries.append(digest.summary())

    assert not same(*summaries)


def test_scores_are_those_of_plain_arithmetic():
    """Shares, means, losses and the three parts, before and after."""
    outcomes, wanted = RUN.outcomes, tu.Quantile(0.9)
    for said, score in ((RUN.values, WHOLE.numbers[0].issued), (RUN.raw, WHOLE.numbers[0].raw)):
        error = outcomes - said
        low, high = min(outcomes.min(), said.min()), max(outcomes.max(), said.max())
        parts = decompose((said - low) / (high - low), (outcomes - low) / (high - low), wanted)

        assert score.rounds == score.sampled == 2_500
        assert score.below == pytest.approx(np.mean(outcomes < said))
        assert score.upto == pytest.approx(np.mean(outcomes <= said))
        assert score.loss == pytest.approx(np.mean(np.maximum(0.9 * error, -0.1 * error)))
        assert score.miscalibration == pytest.approx(parts.miscalibration * (high - low))
        assert score.discrimination == pytest.approx(parts.discrimination * (high - low))
        assert score.uncertainty == pytest.approx(parts.uncertainty * (high - low))


@pytest.mark.parametrize("wanted", [tu.Mean(), tu.Median(), tu.Expectile(0.8)], ids=repr)
def test_every_property_has_its_own_loss(wanted):
    """On [0, 1] the mean loss is that of the property itself."""
    rng = np.random.default_rng(3)
    outcomes, said = rng.uniform(size=500), rng.uniform(size=500)
    digest = Digest(wanted)
    digest.add(outcomes, said)
    score = digest.summary().numbers[0].issued

    assert score.loss == pytest.approx(np.mean(wanted.score(said, outcomes)))


def test_bins_of_forecasts_hold_all_rounds_and_their_share_below():
    """Each bin is an interval of forecasts; its numbers are those of its rounds."""
    bands = WHOLE.numbers[0].by_forecast
    for k in range(bands.rounds.size):
        inside = (RUN.values >= bands.start[k]) & (RUN.values <= bands.end[k])
        assert bands.rounds[k] == inside.sum()
        assert bands.value[k] == pytest.approx(np.mean(RUN.outcomes[inside] <= RUN.values[inside]))
        assert bands.said[k] == pytest.approx(RUN.values[inside].mean())
    assert bands.rounds.sum() == 2_500
    assert bands.rounds.max() <= 1.5 * bands.rounds.min()


def test_no_extreme_is_lost_over_time():
    """One wild outcome among 60,000 is the largest of its stretch."""
    outcomes = np.random.default_rng(4).uniform(size=60_000)
    outcomes[31_234] = 99.0
    digest = Digest(tu.Median())
    digest.add(outcomes, np.full(60_000, 0.5))
    series = digest.summary().series

    assert len(series.start) <= MOST
    assert series.outcome.high.max() == 99.0
    stretch = int(series.outcome.high.argmax())
    assert series.start[stretch] <= 31_234 < series.start[stretch] + series.width
    assert series.outcome.low.min() == outcomes.min()


def test_tied_forecasts_are_right_on_both_sides():
    """A constant forecast of constant outcomes is their quantile of every level."""
    digest = Digest(tu.Quantile(0.3))
    digest.add([2.0] * 100, [2.0] * 100)
    one = digest.summary().numbers[0]

    assert (one.issued.below, one.issued.upto) == (0.0, 1.0)
    assert one.issued.error == 0.0
    assert one.by_forecast.outside == 0


def test_missing_outcomes_and_forecasts_are_left_out():
    """They are counted as rounds and nothing else."""
    digest = Digest(tu.Mean())
    digest.add([1.0, None, 3.0], [1.0, 2.0, float("nan")], raw=[None, 1.0, 2.0])
    summary = digest.summary()

    assert (summary.rounds, summary.answered) == (3, 2)
    assert summary.numbers[0].issued.rounds == 1
    assert summary.numbers[0].raw.rounds == 1


@pytest.mark.parametrize(
    ("wanted", "shape"),
    [(tu.Interval(0.8), 2), (tu.Quantiles([0.1, 0.5, 0.9]), 3), (tu.Interval(0.9, "upper"), 1)],
    ids=["interval", "levels", "one side"],
)
def test_several_numbers_each_have_their_own_figures(wanted, shape):
    """Shares below are those of each column; the point forecast is shown over time alone."""
    run = run_of(wanted, rounds=600)
    summary = digest_of(run).summary(run.calibrator)
    values = run.values.reshape(600, -1)

    assert len(summary.numbers) == shape
    for k, one in enumerate(summary.numbers):
        assert one.issued.below == pytest.approx(np.mean(run.outcomes < values[:, k]))
        assert (one.raw is None) == (shape > 1)
    assert len(summary.series.raw) == 1
    given = run.forecasts  # Ends or Levels are taken as they are
    digest = Digest(wanted)
    digest.add(run.outcomes, given)
    assert digest.summary().numbers[-1].issued == summary.numbers[-1].issued


def test_probabilities_are_compared_with_the_share_of_ones():
    """And a good one stays in its binomial bands."""
    rng = np.random.default_rng(5)
    said = rng.uniform(size=5_000)
    digest = Digest(tu.Probability())
    digest.add((rng.uniform(size=5_000) < said).astype(float), said)
    one = digest.summary().numbers[0]

    assert one.by_forecast.outside == one.by_time.outside == 0
    np.testing.assert_allclose(one.by_forecast.value, one.by_forecast.seen)
    assert one.issued.error < 2 * one.issued.chance


def test_groups_may_overlap_and_the_largest_are_shown():
    """Each with its own share below; beyond the room they share one."""
    outcomes, model = stream(400)
    names = [("all", "even" if t % 2 == 0 else "odd") for t in range(400)]
    digest = Digest(tu.Quantile(0.5))
    digest.add(outcomes, model + 7, groups=names)
    one = digest.summary().numbers[0]

    assert one.group_names == ("all", "even", "odd")
    assert one.by_group.rounds.tolist() == [400, 200, 200]
    assert one.by_group.value[1] == pytest.approx(np.mean(outcomes[::2] <= model[::2] + 7))

    many = Digest(tu.Median())
    many.add(np.arange(1_200.0), np.arange(1_200.0), groups=np.arange(1_200))
    summary = many.summary()
    assert summary.n_groups == 1_000
    assert summary.numbers[0].group_names[0] == "all further groups"
    assert summary.numbers[0].by_group.rounds[0] == 200


def test_a_block_without_groups_belongs_to_none():
    """Rounds after it keep their own."""
    digest = Digest(tu.Median())
    digest.add([1.0, 2.0], [1.5, 1.5], groups=["a", "b"])
    digest.add([1.0, 2.0], [1.5, 1.5])
    digest.add([1.0, 2.0], [1.5, 1.5], groups=["b", "b"])
    one = digest.summary().numbers[0]

    assert one.group_names == ("b", "a")
    assert one.by_group.rounds.tolist() == [3, 1]


TIMES = {
    "dates": np.array(["2026-01-01T00", "2026-01-01T06"], dtype="datetime64[h]"),
    "text": ["2026-01-01", "2026-01-01T06:00:00"],
    "with zones": ["2026-01-01T01:00+01:00", "2026-01-01T06:00Z"],
    "objects": [dt.datetime(2026, 1, 1), dt.datetime(2026, 1, 1, 6, tzinfo=dt.UTC)],  # noqa: DTZ001
}


@pytest.mark.parametrize("times", TIMES.values(), ids=TIMES)
def test_times_are_read_in_many_forms(times):
    """As seconds since 1970, UTC."""
    digest = Digest(tu.Median())
    digest.add([1.0, 2.0], [1.0, 2.0], times=times)
    summary = digest.summary()

    assert summary.dated
    assert np.diff(summary.series.time).tolist() == [6 * 3_600]
    assert summary.series.time[0] == dt.datetime(2026, 1, 1, tzinfo=dt.UTC).timestamp()


def test_numbers_as_times_stay_numbers():
    """No dates are made of them."""
    digest = Digest(tu.Median())
    digest.add([1.0, 2.0], [1.0, 2.0], times=[10, None])

    assert not digest.summary().dated


def test_the_sample_is_uniform_and_of_fixed_size():
    """Rows of every tenth of the stream are in it alike."""
    rounds = SIZE + 30_000
    digest = Digest(tu.Mean())
    digest.add(np.arange(float(rounds)), np.zeros(rounds))
    digest.summary()
    sample = digest._stages.sample
    counts = np.histogram(sample.rows[:, 0], 10, (0, digest._stages.buckets.used * 128))[0]

    assert sample.keys.size <= SIZE
    assert np.all(np.abs(counts[:-1] - counts[:-1].mean()) < 5 * np.sqrt(counts[:-1].mean()))
    assert np.unique(hashed(np.arange(10_000, dtype=np.uint64))).size == 10_000


def test_memory_does_not_grow_with_the_rounds():
    """The second half of a long stream adds little."""
    rng = np.random.default_rng(6)
    digest, peaks = Digest(tu.Quantile(0.9)), []
    tracemalloc.start()
    for _ in range(2):
        for _ in range(4):
            said = rng.normal(50, 9, 50_000)
            digest.add(said + rng.normal(size=50_000), said, said, np.round(said), np.ones(50_000))
        peaks.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()

    assert peaks[0] < 60e6
    assert peaks[1] < peaks[0] + 8e6


WRONG = {
    "no target": (lambda: Digest("quantile"), "wanted must be Mean"),
    "a decision": (lambda: Digest(tu.Decision(abs, lipschitz=1.0)), "wanted must be Mean"),
    "text as outcomes": (lambda: Digest(tu.Mean()).add("abc", [1.0]), "outcomes must be"),
    "lengths": (lambda: Digest(tu.Mean()).add([1.0], [1.0, 2.0]), "issued must be of shape (1,)"),
    "columns": (
        lambda: Digest(tu.Interval(0.9)).add([1.0], [1.0]),
        "issued must be of shape (1, 2), got (1, 1)",
    ),
    "infinite": (
        lambda: Digest(tu.Interval(0.9)).add([1.0], [[1.0, np.inf]]),
        "issued must be finite or NaN, got an infinite number at row 0",
    ),
    "labels alone": (
        lambda: Digest(tu.Mean()).add([1.0], [1.0], labels=[1.0]),
        "labels and scales must be given together",
    ),
    "one text as groups": (
        lambda: Digest(tu.Mean()).add([1.0], [1.0], groups="a"),
        "groups must be a group or a tuple",
    ),
    "groups of another length": (
        lambda: Digest(tu.Mean()).add([1.0], [1.0], groups=["a", "b"]),
        "groups must have 1 rows, got 2",
    ),
    "times that are none": (
        lambda: Digest(tu.Mean()).add([1.0], [1.0], times=["soon"]),
        "times must be numbers, dates or ISO texts",
    ),
    "a certificate below 0": (
        lambda: Digest(tu.Mean()).add([1.0], [1.0], certificate=-1.0),
        "certificate must be 0 or more",
    ),
    "another calibrator": (
        lambda: Digest(tu.Mean()).summary(tu.Calibrator(tu.Median())),
        "calibrator must be of Mean()",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said_in_one_sentence(name):
    """Which argument, what must hold, what was got."""
    call, message = WRONG[name]
    with pytest.raises(InvalidArgument) as error:
        call()

    assert message in str(error.value)


def test_a_refused_block_leaves_the_digest_as_it_was():
    """Nothing of it is counted, not even its groups."""
    digest = digest_in_blocks(tu.Quantile(0.9), COLUMNS, [])
    before = digest.summary(RUN.calibrator)
    block = {name: column[:1] for name, column in COLUMNS.items()} | {"groups": ["new"]}
    for wrong in ({"certificate": -1.0}, {"groups": [["x"], "y"]}, {"times": [1.0]}, {"raw": "x"}):
        with pytest.raises(InvalidArgument):
            digest.add(**(block | wrong))

    assert same(digest.summary(RUN.calibrator), before)
    digest.add(**block)
    assert digest.summary().n_groups == before.n_groups + 1
