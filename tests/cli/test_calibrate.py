"""`trueup calibrate` says what the library says, whatever the file, the blocks and the days."""

import gzip
import json
from datetime import UTC, datetime, timedelta

import duckdb
import numpy as np
import pytest

import trueup as tu
from cli.support import ROWS, calibrate, cell, column, numbers, read, sample, trueup_, write
from trueup.cli._job import Job, calibrate_file
from trueup.cli._options import Roles

START = datetime(2013, 1, 1, tzinfo=UTC)
PLAIN = Roles("y", "yhat")
SETTINGS = {"bounds": None, "exact": False, "seed": 0, "transform": None, "of": None, "steer": True}


@pytest.fixture
def known():
    """Return when outcomes are known, as rounds counted from 0; some after the end."""
    return np.arange(ROWS) + np.random.default_rng(5).integers(1, 30, ROWS)


def as_csv(path):
    """Write CSV."""
    sample(path)


def as_tsv(path):
    """Write cells with tabs between."""
    forecasts, outcomes = numbers()
    write(path, {"y": map(cell, outcomes), "yhat": map(cell, forecasts)}, delimiter="\t")


def as_lines(path):
    """Write a JSON object a row."""
    with path.open("w") as file:
        for forecast, outcome in zip(*numbers(), strict=True):
            y = None if np.isnan(outcome) else outcome
            file.write(json.dumps({"y": y, "yhat": forecast}) + "\n")


def as_gz(path):
    """Write CSV packed by gzip."""
    plain = path.with_name("plain.csv")
    sample(plain)
    path.write_bytes(gzip.compress(plain.read_bytes()))


def as_zst(path):
    """Write CSV packed by zstandard."""
    plain = path.with_name("plain.csv")
    sample(plain)
    with duckdb.connect() as database:
        database.execute(f"COPY (FROM read_csv('{plain}', all_varchar=true)) TO '{path}'"
                         " (FORMAT csv, COMPRESSION zstd)")  # fmt: skip


def as_parquet(path):
    """Write Parquet with columns of floats."""
    plain = path.with_name("plain.csv")
    sample(plain)
    with duckdb.connect() as database:
        database.execute(f"COPY (FROM read_csv('{plain}')) TO '{path}' (FORMAT parquet)")


FORMATS = {
    "a.csv": as_csv,
    "a.tsv": as_tsv,
    "a.jsonl": as_lines,
    "a.csv.gz": as_gz,
    "a.csv.zst": as_zst,
    "a.parquet": as_parquet,
}


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_gives_what_calibrate_says_bit_for_bit(name, tmp_path, capsys):
    """And the same numbers whichever format is written."""
    FORMATS[name](tmp_path / name)
    forecasts, outcomes = numbers()
    said = tu.calibrate(outcomes, tu.Quantile(0.9), forecasts=forecasts)

    assert calibrate(tmp_path / name, "-o", tmp_path / "out.csv") == 0
    assert (column(tmp_path / "out.csv") == said.values).all()
    assert (column(tmp_path / "out.csv", "calibrated_label") == said.labels).all()
    assert [row["calibrated_overruled"] for row in read(tmp_path / "out.csv")] == [
        str(flag) for flag in said.overruled
    ]
    assert calibrate(tmp_path / name, "-o", tmp_path / f"out-{name}") == 0
    assert calibrate(tmp_path / f"out-{name}", "--name", "again", "-o", tmp_path / "again.csv") == 0
    assert (column(tmp_path / "again.csv") == said.values).all()
    assert "without outcome" in capsys.readouterr().out


def test_parquet_columns_keep_their_types(tmp_path):
    """Those that were there; ours are floats, true and false."""
    as_parquet(tmp_path / "a.parquet")

    assert calibrate(tmp_path / "a.parquet", "-o", tmp_path / "b.parquet") == 0
    with duckdb.connect() as database:
        kinds = database.execute(f"DESCRIBE FROM '{tmp_path / 'b.parquet'}'").fetchall()
        first = database.execute(f"SELECT yhat FROM '{tmp_path / 'b.parquet'}'").fetchnumpy()
    assert [kind[1] for kind in kinds] == ["DOUBLE"] * 4 + ["BOOLEAN"] * 2
    assert (first["yhat"] == numbers()[0]).all()


TARGETS = {
    "plain": (tu.Quantile(0.9), PLAIN),
    "mean, no forecast": (tu.Mean(), Roles("y")),
    "interval in groups": (tu.Interval(0.8), Roles("y", "yhat", ("kind", "shop"))),
    "many series": (tu.Median(), Roles("y", "yhat", key="shop")),
    "late": (tu.Quantile(0.9), Roles("y", "yhat", known_at="row")),
    "late in groups": (tu.Quantiles([0.2, 0.7]), Roles("y", "yhat", ("kind",), known_at="row")),
    "late, many series": (
        tu.Median(),
        Roles("y", "yhat", key="shop", known_at="landed", time="left"),
    ),
}


@pytest.fixture
def table(tmp_path, known):
    """Write a table with all columns that a run may need."""
    times = [START + timedelta(minutes=7 * k) for k in range(ROWS)]
    early = np.random.default_rng(6).integers(0, 7, ROWS)  # minutes before the row that knows
    landed = [START + timedelta(minutes=int(m)) for m in 7 * known - early]
    sample(
        tmp_path / "a.csv",
        kind=["odd" if k % 3 else "even" for k in range(ROWS)],
        shop=["abc"[k % 3] for k in range(ROWS)],
        row=(known + 1).tolist(),
        left=[time.isoformat() for time in times],
        landed=[time.isoformat() for time in landed],
    )
    return tmp_path / "a.csv"


@pytest.mark.parametrize("name", TARGETS)
def test_answers_do_not_depend_on_the_blocks(name, table):
    """One row at a time, seven, or all at once."""
    wanted, roles = TARGETS[name]
    texts = []
    for block in (1, 7, None):
        out = table.with_name(f"out{block}.csv")
        job = Job(str(table), None, None, roles, wanted, SETTINGS, str(out), block=block)
        calibrate_file(job)
        texts.append(out.read_bytes())

    assert texts[0] == texts[1] == texts[2]


@pytest.mark.parametrize("name", TARGETS)
def test_a_state_continues_as_if_there_had_been_one_run(name, table):
    """Cut into three days; outcomes that wait are learned when their time has come."""
    wanted, roles = TARGETS[name]
    lines = table.read_text().splitlines(keepends=True)
    whole = table.with_name("whole.csv")
    calibrate_file(Job(str(table), None, None, roles, wanted, SETTINGS, str(whole)))
    days = []
    for first, last in ((1, 150), (150, 151), (151, ROWS + 1)):
        day = table.with_name("day.csv")
        part = lines[first:last]
        if roles.known_at == "row":  # counted in each file
            cells = [line.split(",") for line in part]
            part = [",".join([*c[:4], str(int(c[4]) - first + 1), *c[5:]]) for c in cells]
        day.write_text(lines[0] + "".join(part))
        out = table.with_name("out.csv")
        state = str(table.with_name("a.state"))
        calibrate_file(
            Job(str(day), None, None, roles, wanted, SETTINGS, str(out), state=state, force=True)
        )
        days += read(out)

    new = [key for key in days[0] if key.startswith("calibrated")]
    assert [[row[k] for k in new] for row in days] == [[row[k] for k in new] for row in read(whole)]


def test_late_outcomes_are_those_of_calibrate(table, known):
    """Row numbers and time stamps say the same, and what the library says for known_at."""
    forecasts, outcomes = numbers()
    said = tu.calibrate(outcomes, tu.Quantile(0.9), forecasts=forecasts, known_at=known)
    out = table.with_name("out.csv")

    assert calibrate(table, "--known-at", "row", "-o", out) == 0
    assert (column(out) == said.values).all()
    assert calibrate(table, "--known-at", "landed", "--time", "left", "-o", out, "--force") == 0
    assert (column(out) == said.values).all()
    now = tu.calibrate(outcomes, tu.Quantile(0.9), forecasts=forecasts)
    assert (now.values != said.values).any()  # it makes a difference


def test_many_series_are_those_of_a_panel(table, known):
    """With outcomes known at once and late."""
    forecasts, outcomes = numbers()
    shops = ["abc"[k % 3] for k in range(ROWS)]
    out = table.with_name("out.csv")
    for arguments, settings in (([], {}), (["--known-at", "row"], {"known_at": known})):
        said = tu.Panel(tu.Quantile(0.9)).run(shops, outcomes, forecasts=forecasts, **settings)

        assert calibrate(table, "--key", "shop", *arguments, "-o", out, "--force") == 0
        assert (column(out) == said.values).all()


def test_options_are_those_of_the_calibrator(table):
    """Bounds, grid values, seed, scale, what the forecasts are of, steering."""
    forecasts, outcomes = numbers()
    out = table.with_name("out.csv")
    arguments = ["--bounds", -10, 200, "--exact", "--seed", 7, "--of", "median", "--no-steer"]
    said = tu.calibrate(
        outcomes, tu.Quantile(0.9), forecasts=forecasts, bounds=(-10, 200), exact=True, seed=7,
        of=tu.Median(), steer=False,
    )  # fmt: skip

    assert calibrate(table, *arguments, "-o", out) == 0
    assert (column(out) == said.values).all()
    said = tu.calibrate(outcomes, tu.Quantile(0.9), forecasts=forecasts, transform="asinh")
    assert calibrate(table, "--transform", "asinh", "-o", out, "--force") == 0
    assert (column(out) == said.values).all()


@pytest.mark.parametrize(
    ("target", "names"),
    [
        (["--interval", 0.8], ["_lower", "_upper", "_lower_label", "_upper_label"]),
        (["--quantiles", "0.1,0.5"], ["_0.1", "_0.5", "_0.1_label", "_0.5_label"]),
        (["--expectile", 0.3], ["", "_label"]),
    ],
    ids=str,
)
def test_each_number_has_its_columns(target, names, table):
    """After those that were there, in a fixed order."""
    out = table.with_name("out.csv")

    assert calibrate(table, "--name", "new", "-o", out, target=target) == 0
    added = [f"new{name}" for name in [*names, "_overruled", "_guarded"]]
    assert list(read(out)[0]) == ["y", "yhat", "kind", "shop", "row", "left", "landed", *added]


def test_cells_stay_the_text_that_they_were(tmp_path):
    """Quotes, lines, zeros in front and behind; objects keep their text to the letter."""
    odd = ['a "b"', "x\ny", "007", "1.50", "", "ü, ö"] * 2
    write(tmp_path / "a.csv", {"y": ["1.0"] * 12, "yhat": ["+1e0"] * 12, "odd": odd})

    assert calibrate(tmp_path / "a.csv", "-o", tmp_path / "b.csv") == 0
    assert [row["odd"] for row in read(tmp_path / "b.csv")] == odd
    assert {row["yhat"] for row in read(tmp_path / "b.csv")} == {"+1e0"}
    lines = ['{ "y":1.50,"yhat" : 2,"x":{"ü": [1,2]} }'] * 3
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    assert calibrate(tmp_path / "a.jsonl", "-o", tmp_path / "b.jsonl") == 0
    for line in (tmp_path / "b.jsonl").read_text().splitlines():
        assert line.startswith(lines[0][:-2] + ", ")
        assert json.loads(line)["x"] == {"ü": [1, 2]}


def test_the_summary_counts_and_is_json_for_programs(table, capsys):
    """Missing outcomes are counted; the scores are those of the library."""
    forecasts, outcomes = numbers()
    run = tu.calibrate(outcomes, tu.Quantile(0.9), forecasts=forecasts)
    report, there = run.summary(), ~np.isnan(outcomes)

    assert calibrate(table, "--json", "-o", table.with_name("out.csv")) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["rows"] == ROWS
    assert summary["missing"] == report.missing == int((~there).sum())
    assert summary["score"] == pytest.approx(report.score[0])
    assert summary["raw_score"] == pytest.approx(report.raw_score[0])
    assert summary["coverage"] == pytest.approx(np.mean((outcomes <= run.values)[there]))
    assert summary["certificate"] == run.certificate


def test_a_header_without_rows_is_a_table(tmp_path, capsys):
    """An empty day: the new columns, no rows, exit code 0."""
    (tmp_path / "a.csv").write_text("y,yhat\n")

    assert calibrate(tmp_path / "a.csv", "-o", tmp_path / "b.csv") == 0
    assert (tmp_path / "b.csv").read_text().startswith("y,yhat,calibrated,")
    assert read(tmp_path / "b.csv") == []
    assert "0 rows" in capsys.readouterr().out


def test_one_row_is_enough(tmp_path):
    """The model's own number is passed on: nothing is known yet."""
    (tmp_path / "a.csv").write_text("y,yhat\n3,2.5")

    assert calibrate(tmp_path / "a.csv", "-o", tmp_path / "b.csv") == 0
    assert column(tmp_path / "b.csv").tolist() == [2.5]


def test_standard_output_gets_the_table_alone(tmp_path, capsys):
    """No summary in the way."""
    (tmp_path / "a.csv").write_text("y,yhat\n3,2.5\n")

    assert trueup_("calibrate", tmp_path / "a.csv", "--outcome", "y", "--mean") == 0
    out = capsys.readouterr()
    assert (
        out.out.splitlines()[0] == "y,yhat,calibrated,calibrated_label,calibrated_overruled,"
        "calibrated_guarded"
    )
    assert len(out.out.splitlines()) == 2
    assert out.err == ""
