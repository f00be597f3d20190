"""The benchmark on streams: what it reads and measures, and the whole of it on a tiny folder."""

import csv
import json

import numpy as np
import pytest
import report
import run
import scores
import summary
from streams import BadStream, Stream, Task, read

ROWS = 240


def table(path, columns):
    """Write columns as CSV."""
    with path.open("w", newline="") as lines:
        writer = csv.writer(lines)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


@pytest.fixture
def folder(tmp_path):
    """A folder with one stream of numbers, known late, and one of probabilities."""
    rng = np.random.default_rng(5)
    where = tmp_path / "folder"
    where.mkdir()
    y = np.round(rng.normal(20.0, 4.0, ROWS), 2)
    known_at = np.arange(1, ROWS + 1) + rng.integers(0, 9, ROWS)
    own = {"yhat": np.round(y + rng.normal(0, 2, ROWS), 2), "q05": np.full(ROWS, 13.0)}
    table(where / "loads.csv", {"t": range(ROWS), "y": y, "known_at": known_at, **own})
    shares = np.round(rng.uniform(0.05, 0.95, ROWS), 3)
    wins = (rng.uniform(size=ROWS) < shares).astype(int)
    table(where / "games.csv", {"y": wins, "prob": shares})
    return where


def test_a_row_may_use_what_is_known_and_nothing_else(folder):
    """By the definition of known_at, row by row."""
    stream = read(folder / "loads.csv")
    for row in range(ROWS):
        used = set(stream.order[: stream.known[row]].tolist())
        assert used == {i for i in range(ROWS) if stream.known_at[i] <= row}


def test_what_is_forecast_in_a_file(folder):
    """The model's own quantile goes before the point forecast, level by level."""
    loads, games = read(folder / "loads.csv"), read(folder / "games.csv", 150)
    tasks = {task.name: task for task in loads.tasks()}

    assert list(tasks) == [
        *(f"quantile {level:g}" for level in (0.05, 0.1, 0.5, 0.9, 0.95)),
        "interval 0.9",
        "mean",
    ]
    assert tasks["quantile 0.05"].own
    assert not tasks["quantile 0.9"].own
    assert tasks["quantile 0.9"].given is loads.point
    assert [task.name for task in games.tasks()] == ["probability"]
    assert len(games) == 150


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        ({"x": [1.0]}, "must have a column y"),
        ({"y": [1.0, "nan"]}, "y must be finite everywhere"),
        ({"y": [1.0, "high"]}, "y must be numbers"),
        ({"y": [1.0, 2.0], "known_at": [1, 1]}, "known_at must be after its own row"),
    ],
)
def test_a_file_that_is_no_stream_gets_a_sentence(tmp_path, columns, sentence):
    """Which file, which column, what must hold."""
    table(tmp_path / "bad.csv", columns)
    with pytest.raises(BadStream, match=sentence):
        read(tmp_path / "bad.csv")


def test_parquet_is_read_like_csv(folder, tmp_path):
    """By DuckDB and by pyarrow."""
    duckdb = pytest.importorskip("duckdb", reason="an optional reader")
    source, target = folder / "loads.csv", tmp_path / "loads.parquet"
    duckdb.read_csv(str(source)).write_parquet(str(target))
    plain, packed = read(source), read(target)

    for name, column in plain.columns.items():
        np.testing.assert_array_equal(packed.columns[name], column)
    np.testing.assert_array_equal(packed.known_at, plain.known_at)


def test_the_hardest_break_is_where_errors_jump():
    """Errors are 1, and 5 from row 1500 on."""
    y = np.concatenate([np.ones(1500), np.full(1000, 5.0)])
    stream = Stream("made", {"y": y, "yhat": np.zeros(2500)}, None, np.arange(1, 2501))

    assert stream.break_row == 1500


def measured(level, y, said):
    """Return the measures of quantile forecasts, the first hundred rows made up."""
    before = np.zeros(scores.FIRST)
    y, said = np.concatenate([before, y]), np.concatenate([before, said])
    stream = Stream("made", {"y": y}, None, np.arange(1, y.size + 1))
    return scores.measure(stream, Task("made", "quantile", level, "y", y, said), said, None, 0.0)


def test_calibration_in_two_groups():
    """Half too high, half too low: coverage is right and calibration is not."""
    y, said = np.tile([0.5, 1.5], 100), np.repeat([2.0, 1.0, 0.0], [50, 100, 50])
    found = measured(0.5, y, said)

    assert found["coverage"] == 0.5
    assert found["calibration"] == pytest.approx(0.25)
    assert found["worst100"] == 0.25
    assert found["worst500"] is None


def test_outcomes_on_a_quantile_count_for_the_better_side():
    """Nine of ten outcomes are 0: a quantile of 0 is right at every level up to 0.9."""
    y = np.tile([0.0] * 9 + [1.0], 30)
    for level, error in ((0.1, 0.0), (0.5, 0.0), (0.9, 0.0), (0.95, 0.05)):
        assert measured(level, y, np.zeros(300))["calibration"] == pytest.approx(error)


def test_the_best_shift_saves_what_a_constant_error_costs():
    """With forecasts always 1 too high all of the score is saved, with right ones nothing."""
    y = np.random.default_rng(1).normal(size=300)

    assert measured(0.5, y, y + 1.0)["swap"] == pytest.approx(1.0)
    assert measured(0.5, y, np.zeros(300) + np.median(y))["swap"] == pytest.approx(0.0, abs=0.01)


def test_the_whole_of_it_on_a_tiny_folder(folder, tmp_path, capsys):
    """It resumes, does again only what has changed, and writes page, tables and results."""
    places = ["--to", str(tmp_path / "page"), "--work", str(tmp_path / "work")]
    asked = [str(folder), "--plain", "--no-hostile", "--processes", "1", *places]
    run.main(asked)
    total = len(list((tmp_path / "work").iterdir()))
    assert f"{total} pieces, {total} to do" in capsys.readouterr().err

    run.main(asked)
    assert f"{total} pieces, 0 to do" in capsys.readouterr().err

    page = (tmp_path / "page" / "benchmarks.md").read_text()
    for section in ("Reached or not", "All methods", "Where we lose", "What each part does"):
        assert f"## {section}" in page
    for name in ("score", "calibration", "ranks"):
        assert (tmp_path / "page" / "tables" / f"{name}.md").exists()
    results = json.loads((tmp_path / "page" / "results.json").read_text())
    assert {task[0] for task in results["tasks"]} == {"loads", "games"}

    lines = (folder / "games.csv").read_text().splitlines()
    (folder / "games.csv").write_text("\n".join(lines[:-1]) + "\n")
    run.main(asked)
    assert f"{total} pieces, 0 to do" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        ({"y": range(90)}, "few.csv must have more than 100 rows, got 90"),
        ({"y": [0, 1] * 60}, "few.csv must have a forecast prob"),
    ],
)
def test_a_stream_that_cannot_be_measured_gets_a_sentence_first(tmp_path, columns, sentence):
    """Before anything is computed."""
    table(tmp_path / "few.csv", columns)
    with pytest.raises(SystemExit, match=sentence):
        run.main([str(tmp_path), "--work", str(tmp_path / "work")])


def test_the_page_in_the_repository_is_what_the_results_say():
    """Word for word; ./run streams --publish rewrites it."""
    results = json.loads((run.HERE / "results.json").read_text())
    text = report.page_text(
        summary.Summary(results), "../benchmarks/streams", ["scores", "plane", "hostile"]
    )

    assert text == (run.ROOT / "docs" / "benchmarks.md").read_text()


def test_a_stream_that_is_not_there_and_an_empty_folder_get_a_sentence(folder, tmp_path):
    """And nothing is computed."""
    with pytest.raises(SystemExit, match="There is no stream nobody in the folder"):
        run.main([str(folder), "--streams", "nobody", "--work", str(tmp_path / "work")])
    with pytest.raises(SystemExit, match=r"There is no .parquet or .csv file in"):
        run.main([str(tmp_path), "--work", str(tmp_path / "work")])
