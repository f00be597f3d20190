"""What an audit says: what it finds, where and since when, and that it never depends on blocks."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

import trueup as tu
from trueup.auditor import Audit, Auditor
from trueup.errors import InvalidArgument

RNG = np.random.default_rng(11)
NOISE = RNG.normal(size=4_000)
GROUPS = np.maximum(RNG.integers(0, 8, 4_000), np.arange(4_000) // 100)  # new ones keep coming


def everything(answer):
    """All that an audit says, as text."""
    return json.dumps(answer.to_dict(), allow_nan=False)


# power


@pytest.mark.parametrize("wanted", [tu.Median(), tu.Quantile(0.9), tu.Quantile(0.02)])
@pytest.mark.parametrize(("shift", "direction"), [(0.3, "too high"), (-0.3, "too low")])
def test_a_bias_is_found_and_its_direction_named(wanted, shift, direction):
    """Three tenths of a standard deviation, within 4,000 rows."""
    level = getattr(wanted, "level", 0.5)
    place = float(np.quantile(np.random.default_rng(0).normal(size=10**6), level))
    right = tu.audit(NOISE, np.full(NOISE.size, place), wanted)
    wrong = tu.audit(NOISE, np.full(NOISE.size, place + shift), wanted)

    assert not right.rejected
    assert wrong.rejected
    assert wrong.evidence[0].direction == direction
    assert (wrong.evidence[0].got > level) == (shift > 0)


def test_means_probabilities_and_expectiles_are_found_too():
    """All with bounds; in units of the user."""
    said = np.full(4_000, 14.0)
    rain = 10 + 5 * np.clip(NOISE, -2, 2)
    for wanted in (tu.Mean(), tu.Expectile(0.5)):
        answer = tu.audit(rain, said, wanted, bounds=(0, 20))

        assert answer.rejected
        assert answer.evidence[0].direction == "too high"
    mean = tu.audit(rain, said, tu.Mean(), bounds=(0, 20)).evidence[0]
    yes = tu.audit(NOISE > 0, np.full(4_000, 0.4), tu.Probability()).evidence[0]

    assert (mean.wanted, mean.got) == pytest.approx((14, rain.mean()))
    assert (yes.direction, yes.wanted) == ("too low", pytest.approx(0.4))


def test_too_bold_forecasts_are_found_by_their_spread_and_regions():
    """Right on average, too high where they are high and too low where they are low."""
    place = RNG.normal(size=6_000)
    outcomes = place + RNG.normal(size=6_000)
    answer = tu.audit(outcomes, 1.4 * place, tu.Median())
    found = {item.where: item for item in answer.evidence}

    assert found["spread of the forecasts"].direction == "too extreme"
    assert found["all rows"].log10 < 0.5
    lowest, highest = (
        next(item for name, item in found.items() if name.endswith(end))
        for end in ("(eighth 1 of 8)", "(eighth 8 of 8)")
    )
    assert (lowest.direction, highest.direction) == ("too low", "too high")
    assert (lowest.low, highest.high) == (None, None)
    assert lowest.high < -1 < 1 < highest.low
    assert min(lowest.log10, highest.log10) > 2


def test_a_group_that_is_treated_badly_is_named():
    """One of ten, while all together look right."""
    groups = RNG.integers(0, 10, 4_000)
    outcomes = NOISE - np.where(groups == 3, 0.9, np.where(groups == 4, -0.9, 0.0))
    said = np.zeros(4_000)
    answer = tu.audit(outcomes, said, tu.Median(), groups=[f"g{g}" for g in groups])
    strongest = {item.where: item.direction for item in answer.evidence[:2]}
    one, other = answer.evidence[:2]

    assert answer.rejected
    assert min(one.log10, other.log10) > 5
    assert strongest == {"group g3": "too high", "group g4": "too low"}


@pytest.mark.parametrize(
    ("at", "late"), [(600, None), (2_000, None), (3_500, None), (600, 12), (2_000, 12)]
)
def test_a_break_is_dated(at, late):
    """A shift of one standard deviation, to within 20 rows, outcomes late or not."""
    said = np.where(np.arange(NOISE.size) < at, 0.0, 1.0)
    known = None if late is None else np.arange(NOISE.size) + late
    answer = tu.audit(NOISE, said, tu.Median(), known_at=known)

    assert answer.break_at is not None
    assert abs(answer.break_at.start - at) <= 20
    assert answer.break_at.direction == "too high"
    assert answer.crossed_at >= at
    assert f"from row {answer.break_at.start + 1:,} on" in answer.verdict


def test_what_was_wrong_from_the_start_has_no_break():
    """And neither has what is right."""
    assert tu.audit(NOISE, np.full(NOISE.size, 0.7), tu.Median()).break_at is None
    assert tu.audit(NOISE, np.zeros(NOISE.size), tu.Median()).break_at is None


def test_evidence_from_the_start_can_be_lost_while_restarts_find_the_break():
    """A long good past is a debt for those who play from the start."""
    said = np.where(np.arange(NOISE.size) < 3_800, 0.0, 1.5)
    answer = tu.audit(NOISE, said, tu.Median())

    assert answer.log10_restarted > answer.log10_start + 2


# what is saved


def test_saving_is_what_the_best_shift_saves():
    """Means that are off by a constant: its square."""
    outcomes = 10 + np.clip(NOISE, -4, 4)
    answer = tu.audit(outcomes, np.full(NOISE.size, 10.5), tu.Mean(), bounds=(0, 20))

    assert answer.saving.low < 0.25 < answer.saving.high
    assert answer.saving.high - answer.saving.low < 0.1
    assert answer.saving.loss == pytest.approx(1.25, abs=0.05)


def test_recalibrating_right_forecasts_saves_nothing():
    """Its price is not hidden: fitted rounds are not the ones compared."""
    place = RNG.normal(size=NOISE.size)
    answer = tu.audit(place + NOISE, place, tu.Median())

    assert answer.saving.saved < 0.001
    assert answer.saving.low < 0
    assert tu.audit(NOISE[:100], np.zeros(100), tu.Median()).saving is None


# the same however it arrives


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"known_at": np.arange(4_000) + RNG.integers(1, 30, 4_000)},
        {"groups": GROUPS},
        {"same_outcome": np.arange(4_000) // 9},
        {"same_outcome": np.arange(4_000) // 9, "known_at": (np.arange(4_000) // 9 + 1) * 9},
    ],
    ids=lambda options: " ".join(options) or "plain",
)
@pytest.mark.parametrize("wanted", [tu.Quantile(0.8), tu.Interval(0.8)])
def test_blocks_give_what_the_whole_gives(wanted, options):
    """To the last bit, with rows of any number in a block, missing ones among them."""
    outcomes = NOISE + 0.2
    outcomes[[5, 700]] = np.nan
    ends = np.column_stack([np.sin(np.arange(4_000)) - 1, np.sin(np.arange(4_000)) + 1])
    forecasts = ends if isinstance(wanted, tu.Interval) else ends[:, 1]
    whole = tu.audit(outcomes, forecasts, wanted, **options)
    auditor = Auditor(wanted)
    for start, stop in ((0, 1), (1, 64), (64, 64), (64, 700), (700, 2_999), (2_999, 4_000)):
        some = {name: column[start:stop] for name, column in options.items()}
        auditor.add(outcomes[start:stop], forecasts[start:stop], **some)
        auditor.result()  # looking changes nothing

    seen = auditor.result()

    assert auditor.log10_evidence == seen.log10_evidence
    if "groups" in options:  # their sums are added in another order when there is room for more
        for name in ("curve", "restarted_curve"):
            for a, b in zip(getattr(seen, name), getattr(whole, name), strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)
        assert seen.log10_peak == pytest.approx(whole.log10_peak)
        assert seen.evidence == whole.evidence
    else:
        assert everything(seen) == everything(whole)
    assert whole.rows == 3_998
    assert whole.missing == 2


def test_memory_is_bounded():
    """The sample and the curves do not grow with the stream."""
    auditor = Auditor(tu.Median())
    for _ in range(10):
        auditor.add(RNG.normal(size=10_000), np.zeros(10_000))

    assert len(auditor._sample.rows) <= 2**14
    assert auditor._total.curve.rows.size <= 1_024
    assert auditor.result().rows == 100_000


def test_the_curve_hides_no_extreme():
    """Its highest point is the peak, its last value the evidence now."""
    said = np.where(np.arange(NOISE.size) < 2_000, 1.0, 0.0)
    answer = tu.audit(NOISE, said, tu.Median())

    assert answer.curve.highest.max() == answer.log10_peak
    assert answer.curve.last[-1] == answer.log10_evidence
    assert answer.curve.rows[-1] == 4_000
    assert (np.diff(answer.curve.rows) > 0).all()
    assert (answer.curve.lowest <= answer.curve.highest).all()


# sharing and lateness


def test_shared_outcomes_that_come_back_withhold_the_claim():
    """Nobody says when they were known; with known_at they may be open together."""
    games = [1, 1, 2, 2, 1, 3]
    outcomes, said = [1, 1, 0, 0, 1, 0], [0.5] * 6
    apart = tu.audit(outcomes, said, tu.Probability(), same_outcome=games)
    known = tu.audit(outcomes, said, tu.Probability(), same_outcome=games, known_at=[6] * 6)
    after = tu.audit(
        outcomes, said, tu.Probability(), same_outcome=games, known_at=[3, 3, 4, 4, 6, 6]
    )

    assert (apart.valid, known.valid, after.valid) == (False, True, False)
    assert "lie apart" in apart.verdict
    assert "came after" in after.verdict


def test_without_validity_nothing_is_rejected():
    """However strong it looks at face value."""
    games = np.arange(2_000) % 50
    answer = tu.audit(np.ones(2_000), np.full(2_000, 0.2), tu.Probability(), same_outcome=games)

    assert answer.crossed_at is not None
    assert not answer.rejected
    assert answer.verdict.startswith("No valid claim")


def test_a_game_counts_once():
    """A thousand minutes of one game are one coin."""
    answer = tu.audit(
        np.ones(1_000), np.full(1_000, 0.1), tu.Probability(), same_outcome=[0] * 1_000
    )

    assert answer.log10_peak < 1
    assert not answer.rejected


def test_times_are_as_good_as_row_numbers():
    """Dates or numbers, known after so long."""
    said = np.where(np.arange(4_000) < 2_000, 0.0, 1.0)
    days = np.datetime64("2020-01-01") + np.arange(4_000).astype("timedelta64[D]")
    rows = tu.audit(NOISE, said, tu.Median(), known_at=np.arange(4_000) + 5)
    dated = tu.audit(NOISE, said, tu.Median(), times=days,
                     known_at=days + np.timedelta64(5, "D"))  # fmt: skip
    hours = tu.audit(NOISE, said, tu.Median(), times=np.arange(4_000) / 4,
                     known_at=np.arange(4_000) / 4 + 1.25)  # fmt: skip

    start = rows.break_at.start

    assert rows.break_at.since is None
    assert hours.break_at.since == start / 4
    assert dated.break_at.since == f"{days[start]}T00:00:00"
    assert dated.break_at.since in dated.verdict
    for other in (dated, hours):
        same = other.break_at._replace(since=None)
        assert everything(replace(other, break_at=same)) == everything(rows)


# the data object


def test_an_audit_is_plain_data():
    """JSON of finite numbers, a sentence, a short text."""
    answer = tu.audit(NOISE, np.full(NOISE.size, 2.0), tu.Quantile(0.5), alpha=0.01)
    data = json.loads(everything(answer))

    assert isinstance(answer, Audit)
    assert data["rejected"] is True
    assert data["verdict"] == answer.verdict
    assert answer.verdict.startswith("Evidence against calibration in 4,000 rows")
    assert "100 to 1 is needed" in answer.verdict
    assert len(str(answer).splitlines()) <= 8
    assert math.isfinite(answer.log10_peak)


def test_no_evidence_is_never_called_calibrated():
    """The verdict says what was not found."""
    answer = tu.audit(NOISE[:200], np.zeros(200), tu.Median())

    assert answer.verdict.startswith("No evidence against calibration in 200 rows")
    assert "calibrated" not in str(answer)


def test_nothing_at_all_is_no_evidence():
    """Empty columns, or only missing ones."""
    for outcomes in ([], [None, None]):
        answer = tu.audit(outcomes, np.zeros(len(outcomes)), tu.Median())

        assert (answer.rows, answer.log10_peak, answer.evidence) == (0, 0.0, ())
        assert answer.verdict.startswith("No evidence")
        json.loads(everything(answer))


def test_sure_forecasts_that_fail_are_evidence_and_no_error():
    """Probabilities of 0 and 1."""
    outcomes, said = np.tile([0.0, 1.0], 50), np.tile([1.0, 0.0], 50)

    assert tu.audit(outcomes, said, tu.Probability()).rejected
    assert not tu.audit(outcomes, 1 - said, tu.Probability()).rejected


def test_wealth_that_no_float_holds_is_still_counted():
    """Hundreds of decades up, then down again, then up."""
    said = np.repeat([3.0, -3.0, 0.0, 3.0], [3_000, 3_000, 4_000, 3_000])
    answer = tu.audit(np.tile(NOISE, 4)[:13_000], said, tu.Median())

    assert answer.log10_peak > 400
    assert np.isfinite(answer.curve.last).all()
    json.loads(everything(answer))


def test_columns_of_frames_are_taken():
    """pandas, lists, tuples of columns, named groups with gaps."""
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"y": NOISE, "a": NOISE * 0 - 1, "b": NOISE * 0 + 1})
    names = ["up" if x > 0 else None for x in NOISE]
    frame["g"] = names
    wanted = tu.Interval(0.6)
    one = tu.audit(frame.y, frame[["a", "b"]], wanted, groups=frame.g)
    two = tu.audit(list(frame.y), (frame.a, frame.b), wanted, groups=names)

    assert everything(one) == everything(two)
    assert any(item.where == "group up" for item in one.evidence)
    for library in ("polars", "pyarrow"):
        other = pytest.importorskip(library)
        table = other.table if library == "pyarrow" else other.DataFrame
        columns = table({"y": NOISE, "a": NOISE * 0 - 1, "b": NOISE * 0 + 1, "g": names})
        ends = (columns["a"], columns["b"])
        three = tu.audit(columns["y"], ends, wanted, groups=columns["g"])

        assert everything(three) == everything(one)
    gaps = tu.audit([0.0, 1.0], [0.5, 0.5], tu.Median(), groups=pd.array(["a", None], "string"))

    assert [item.rows for item in gaps.evidence if item.where == "group a"] == [1]


@pytest.mark.parametrize("scale", [1e-300, 1e140])
def test_any_scale_is_audited(scale):
    """And what cannot be written as a number is left out."""
    answer = tu.audit(NOISE * scale, np.full(4_000, scale), tu.Median())
    plain = tu.audit(NOISE, np.ones(4_000), tu.Median())
    far = tu.audit(np.clip(NOISE, -1, 1) * scale, np.zeros(4_000), tu.Mean(),
                   bounds=(-scale, scale))  # fmt: skip

    assert answer.log10_peak == plain.log10_peak
    assert answer.saving.saved == pytest.approx(plain.saving.saved * scale)
    json.loads(everything(answer))
    json.loads(everything(far))


# bad input


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([0.0], [0.0, 1.0], tu.Median()), {}, "outcomes and forecasts must have the same length"),
        ((["a"], [0.0], tu.Median()), {}, "outcomes must be numbers"),
        (([0.0], [np.inf], tu.Median()), {}, "forecasts must be finite or NaN"),
        (([0.0], [0.0], 0.5), {}, "property must be Mean()"),
        (([0.0], [0.0], tu.Mean()), {}, "bounds must be given for Mean"),
        (([0.0], [0.0], tu.Expectile(0.3)), {}, "bounds must be given for Expectile"),
        (([0.0], [0.0], tu.Mean()), {"bounds": (1, 0)}, "bounds must be two numbers"),
        (([0.0], [0.0], tu.Mean()), {"bounds": (-1e308, 1e308)}, "bounds must be closer"),
        (([3.0], [0.0], tu.Mean()), {"bounds": (0, 1)}, "outcomes must be inside [0, 1], got 3.0"),
        (([1.0], [3.0], tu.Mean()), {"bounds": (0, 1)}, "forecasts must be inside [0, 1], got 3.0"),
        (([0.0], [0.0], tu.Median()), {"bounds": (0, 1)}, "bounds must be left out for quantiles"),
        (([0.5], [0.0], tu.Probability()), {}, "outcomes must be 0 or 1, got 0.5 at index 0"),
        (([0.0], [0.0], tu.Median()), {"alpha": 1}, "alpha must be strictly between 0 and 1"),
        (([0.0], [0.0], tu.Median()), {"known_at": [0]}, "known_at must be after its own round"),
        (([0.0], [0.0], tu.Median()), {"known_at": [1.5]}, "known_at must be 1 whole numbers"),
        (([0.0] * 2, [0.0] * 2, tu.Median()), {"times": [2, 1]}, "times must never go back"),
        (([0.0], [0.0], tu.Median()), {"times": [1], "known_at": [1]}, "known_at must be after"),
        (([0.0], [0.0], tu.Median()), {"groups": "a"}, "groups must be a sequence of names"),
        (([0.0], [0.0], tu.Median()), {"groups": [{}]}, "groups must be names that hash"),
        (([0.0], [0.0], tu.Median()), {"same_outcome": []}, "same_outcome must be of length 1"),
        (([0.0], [0.0], tu.Interval(0.8)), {}, "forecasts must be of 2 columns"),
    ],
)
def test_bad_input_gets_one_sentence(arguments, options, message):
    """Which argument, what must hold, what was got."""
    with pytest.raises(InvalidArgument) as caught:
        tu.audit(*arguments, **options)

    assert message in str(caught.value)
    assert str(caught.value).count("\n") == 0


def test_bad_blocks_change_nothing():
    """After each of them the audit is what it was."""
    auditor = Auditor(tu.Probability())
    auditor.add([0, 1], [0.5, 0.5], groups=["a", "b"])
    before = everything(auditor.result())
    for outcomes, options in (
        ([0.5], {"groups": ["c"]}),
        ([1.0], {}),
        ([1.0], {"groups": ["c"], "known_at": [9]}),
        ([1.0], {"groups": [{}]}),
    ):
        with pytest.raises(InvalidArgument):
            auditor.add(outcomes, [0.5], **options)

        assert everything(auditor.result()) == before
    with pytest.raises(InvalidArgument, match="at most 10000 different"):
        auditor.add(np.zeros(10_000), np.full(10_000, 0.5), groups=np.arange(10_000) + 5)
