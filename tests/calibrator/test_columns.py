"""Columns of the libraries themselves: what is read, what is missing, what comes back."""

import datetime as dt
import decimal
import sys

import numpy as np
import pytest

import trueup as tu
from trueup.calibrator import Ends
from trueup.errors import InvalidArgument

RNG = np.random.default_rng(4)
NUMBERS = RNG.normal(size=60)
GAPS = [None if t % 7 == 3 else float(y) for t, y in enumerate(NUMBERS)]
WHOLE, HOLED = (tu.calibrate(y, tu.Median()).values for y in (NUMBERS, GAPS))


def library(name):
    """Return a library, or skip where it is not installed."""
    return pytest.importorskip(name, reason=f"{name} is not installed")


def series_of_pandas():
    """Return the library, and columns with what is said after them."""
    pd = library("pandas")
    index = pd.date_range("2026-01-01", periods=60)
    return pd, [
        (pd.Series(NUMBERS, index=index, name="load"), WHOLE),
        (pd.Series(GAPS, index=[0] * 60, dtype="Float64"), HOLED),
        (pd.Series(GAPS, dtype=object), HOLED),
        (pd.Series(NUMBERS, dtype="category"), WHOLE),
        (pd.Index(NUMBERS, name="load"), WHOLE),
    ]


def test_columns_of_pandas():
    """Nullable ones, objects, categories, any index; name and index come back."""
    pd, cases = series_of_pandas()
    for column, expected in cases:
        back = tu.calibrate(column, tu.Median()).forecasts
        assert type(back) is type(column)
        assert back.name == column.name
        assert back.to_numpy().tolist() == expected.tolist()
        if hasattr(column, "index"):
            pd.testing.assert_index_equal(back.index, column.index)
    both = tu.calibrate(cases[0][0], tu.Interval(0.8)).forecasts
    assert isinstance(both, Ends)
    assert both.lower.index is cases[0][0].index


def test_columns_of_polars():
    """With nulls, whole numbers, truth values; the name comes back."""
    pl = library("polars")
    cases = [(pl.Series("load", NUMBERS), WHOLE), (pl.Series("load", GAPS), HOLED)]
    for column, expected in cases:
        back = tu.calibrate(column, tu.Median()).forecasts
        assert isinstance(back, pl.Series)
        assert back.name == "load"
        assert back.to_list() == expected.tolist()
    for column in (pl.Series([1, 0, None] * 9), pl.Series([True, False, None] * 9)):
        same = tu.calibrate([1.0, 0.0, None] * 9, tu.Probability()).forecasts
        assert tu.calibrate(column, tu.Probability()).forecasts.to_list() == same


class Stream:
    """A column that can only be asked for an Arrow stream."""

    def __init__(self, column):
        self.column = column

    def __arrow_c_stream__(self, requested_schema=None):
        return self.column.__arrow_c_stream__(requested_schema)


def test_columns_of_pyarrow():
    """Arrays, chunks, nulls, streams without a library; chunks come back as such."""
    pa = library("pyarrow")
    chunks = pa.chunked_array([pa.array(GAPS[:9]), pa.array(GAPS[9:])])
    for column, expected, kind in (
        (pa.array(NUMBERS), WHOLE, pa.DoubleArray),
        (pa.array(GAPS), HOLED, pa.DoubleArray),
        (chunks, HOLED, pa.ChunkedArray),
        (Stream(chunks), HOLED, pa.DoubleArray),
    ):
        back = tu.calibrate(column, tu.Median()).forecasts
        assert isinstance(back, kind)
        assert back.to_pylist() == expected.tolist()
    truths = pa.array([True, False, None] * 9)
    same = tu.calibrate([1.0, 0.0, None] * 9, tu.Probability()).forecasts
    assert tu.calibrate(truths, tu.Probability()).forecasts.to_pylist() == same


def test_an_arrow_stream_needs_pyarrow(monkeypatch):
    """One sentence says what to install."""
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(InvalidArgument, match=r"which pyarrow reads; pip install pyarrow"):
        tu.calibrate(Stream(None), tu.Median())


def test_masked_and_odd_numbers_are_read():
    """What is masked is missing; decimals are numbers."""
    masked = np.ma.masked_array(NUMBERS, mask=[y is None for y in GAPS])
    decimals = [decimal.Decimal(repr(y)) for y in NUMBERS.tolist()]

    assert tu.calibrate(masked, tu.Median()).values.tolist() == HOLED.tolist()
    assert tu.calibrate(decimals, tu.Median()).values.tolist() == WHOLE.tolist()


@pytest.mark.parametrize(
    "wrong",
    [
        np.array([1.0, "2"], dtype=object),
        ["1", "2"],
        np.array(["2026-01-01"], dtype="datetime64[D]"),
        [dt.date(2026, 1, 1)],
        {1.0, 2.0},
        {"y": 1.0},
        (float(x) for x in range(3)),
        np.zeros((2, 2)),
        None,
        3.0,
    ],
    ids=repr,
)
def test_what_is_no_column_of_numbers_is_refused(wrong):
    """Text is never read as numbers, nor are dates."""
    with pytest.raises(InvalidArgument, match="outcomes must be"):
        tu.calibrate(wrong, tu.Median())


def columns_of_keys():
    """Return one column of keys in many kinds, where the libraries are there."""
    names = ["a", "b", "c"] * 20
    yield names
    yield np.array(names)
    for room, makers in (
        ("pandas", (lambda m: m.Series(names), lambda m: m.Series(names, dtype="category"))),
        ("polars", (lambda m: m.Series(names), lambda m: m.Series(names).cast(m.Categorical))),
        ("pyarrow", (lambda m: m.array(names), lambda m: m.chunked_array([names]))),
    ):
        module = sys.modules.get(room) or pytest.importorskip(room, reason=f"no {room}")
        yield from (make(module) for make in makers)


def test_a_panel_takes_keys_of_any_kind():
    """The same series with the same coins; columns of outcomes come back as given."""
    runs = [tu.Panel(tu.Median()).run(keys, NUMBERS).values.tolist() for keys in columns_of_keys()]

    assert all(run == runs[0] for run in runs)


def test_a_frame_with_a_key_column():
    """Its columns go in one by one, and the answer is a column of it."""
    pd = library("pandas")
    frame = pd.DataFrame({"shop": ["n", "s"] * 30, "sold": GAPS}, index=range(100, 160))
    panel = tu.Panel(tu.Quantile(0.9))
    frame["stock"] = panel.run(frame["shop"], frame["sold"]).forecasts

    assert frame["stock"].notna().all()
    assert panel.keys() == ("n", "s")
    assert panel.calibrator("n").report().missing == sum(y is None for y in GAPS[::2])


@pytest.mark.parametrize("missing", [None, float("nan"), np.datetime64("NaT", "s")], ids=repr)
def test_a_missing_key_is_refused(missing):
    """It would be a series for each row, or one for all of them."""
    panel = tu.Panel(tu.Median())
    for act in (
        lambda: panel.run(["a", missing], [1.0, 2.0]),
        lambda: panel.predict(["a", missing]),
    ):
        with pytest.raises(InvalidArgument, match="keys must not be missing"):
            act()

    assert len(panel) == 0


def test_numbers_of_numpy_are_the_keys_that_they_equal():
    """The same coin, and they can be saved."""
    panel, same = tu.Panel(tu.Median()), tu.Panel(tu.Median())
    panel.predict(np.array([3, 4]))
    same.run([3, 4], [None, None])

    assert panel.keys() == (3, 4)
    assert panel.calibrator(np.int64(3)).seed == same.calibrator(3).seed
    assert tu.Panel.from_bytes(panel.to_bytes()).keys() == (3, 4)


def test_of_several_forecasts_none_is_opened_if_one_is_wrong():
    """In a batch of keys too."""
    panel = tu.Panel(tu.Median())
    for wrong in ([1.0, "text"], [1.0, float("nan")]):
        with pytest.raises(InvalidArgument, match="forecast must be"):
            panel.predict(["a", "b"], wrong)
    with pytest.raises(InvalidArgument, match="keys must be names or whole numbers"):
        panel.predict(["a", ["b"]])

    assert len(panel) == 0


def test_the_frame_of_a_run_has_the_index_of_what_was_given():
    """And a row a round: outcome, raw, what was said and drawn, overruled or not."""
    pd = library("pandas")
    index = pd.date_range("2026-01-01", periods=60)
    run = tu.calibrate(pd.Series(GAPS, index=index), tu.Interval(0.8), weights=[1.0] * 60)
    frame = run.to_frame()

    assert frame.index.equals(index)
    assert list(frame) == [
        "outcome", "raw", "value_0", "value_1", "label_0", "label_1", "scale_0", "scale_1",
        "overruled", "guarded", "answered", "weight",
    ]  # fmt: skip
    assert frame["answered"].sum() == run.summary().scored
    assert tu.calibrate(GAPS, tu.Median()).to_frame().index.tolist() == list(range(60))
