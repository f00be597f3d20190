"""`trueup audit`: the same answer as the function, exit codes, and what is wrong with the input."""

import json

import numpy as np
import pytest

import trueup as tu
from cli.support import cell, finished, trueup_, write

ROWS = 1_500
RNG = np.random.default_rng(5)
PLACE = RNG.normal(size=ROWS)
OUTCOMES = PLACE + RNG.normal(size=ROWS)
OUTCOMES[[3, 900]] = np.nan
GAMES = np.arange(ROWS) // 30
WON = (RNG.random(GAMES[-1] + 1) < 0.5)[GAMES]
DAYS = np.datetime64("2020-01-01") + np.arange(ROWS).astype("timedelta64[D]")


@pytest.fixture
def table(tmp_path):
    """Write a table with forecasts that are right, that are not, and games."""
    columns = {
        "y": map(cell, OUTCOMES), "right": PLACE, "low": PLACE - 1, "high": PLACE + 1,
        "won": WON.astype(int), "prob": np.full(ROWS, 0.5), "game": GAMES,
        "day": DAYS, "known": DAYS + np.timedelta64(7, "D"), "row": np.arange(ROWS) + 8, "half": GAMES % 2,
    }  # fmt: skip
    return write(tmp_path / "a.csv", columns)


def audit(source, *arguments):
    """Run `trueup audit` in this process; return its exit code."""
    return trueup_("audit", source, *arguments)


@pytest.mark.parametrize(
    ("arguments", "whole"),
    [
        (["--forecast", "right", "--median"], lambda: tu.audit(OUTCOMES, PLACE, tu.Median())),
        (["--forecast", "low", "--forecast", "high", "--interval", "0.9", "--group", "half"],
         lambda: tu.audit(OUTCOMES, (PLACE - 1, PLACE + 1), tu.Interval(0.9),
                          groups=[(f"half={g % 2}",) for g in GAMES])),
        (["--forecast", "high", "--quantile", "0.9", "--time", "day", "--known-at", "known"],
         lambda: tu.audit(OUTCOMES, PLACE + 1, tu.Quantile(0.9), times=DAYS, known_at=DAYS + np.timedelta64(7, "D"))),
        (["--forecast", "high", "--quantile", "0.9", "--known-at", "row"],
         lambda: tu.audit(OUTCOMES, PLACE + 1, tu.Quantile(0.9), known_at=np.arange(ROWS) + 7)),
        (["--forecast", "right", "--mean", "--bounds", "-20", "20", "--alpha", "0.01"],
         lambda: tu.audit(OUTCOMES, PLACE, tu.Mean(), bounds=(-20, 20), alpha=0.01)),
    ],
    ids=["median", "interval and group", "times", "rows", "mean"],
)  # fmt: skip
def test_the_command_says_what_the_function_says(table, arguments, whole, capsys):
    """Every number of it, and the exit code."""
    expected = whole()
    code = audit(table, "--outcome", "y", *arguments, "--json")
    seen = json.loads(capsys.readouterr().out)

    assert seen == json.loads(json.dumps(expected.to_dict()))
    assert code == (3 if expected.rejected else 0)


def test_the_process_prints_the_verdict_and_exits_with_it(table, tmp_path):
    """0 without evidence, 3 with, through a pipe too; nothing on standard error."""
    game = ["--outcome", "won", "--forecast", "prob", "--probability"]
    once = finished("audit", "a.csv", *game, "--same-outcome", "game", cwd=tmp_path)
    naive = finished("audit", "-", *game, cwd=tmp_path, data=table.read_bytes())

    assert once[0] == 0, once
    assert once[1].startswith("No evidence against calibration in 1,500 rows")
    assert naive[0] == 3, naive
    assert naive[1].startswith("Evidence against calibration in 1,500 rows")
    assert once[2] == naive[2] == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--forecast", "right2", "--median"], "no column 'right2': did you mean 'right'?"),
        (["--forecast", "right"], "Say what to forecast by exactly one of --quantile"),
        (["--forecast", "right", "--interval", "0.9"], "give --forecast 2 times"),
        (["--forecast", "right", "--forecast", "low", "--median"], "give --forecast once"),
        (["--forecast", "right", "--mean"], "bounds must be given for Mean()"),
        (["--forecast", "right", "--mean", "--bounds", "-1", "1"], "column 'y': must be inside"),
        (["--forecast", "right", "--probability"], "row 1 (line 2), column 'y': must be 0 or 1"),
        (["--forecast", "right", "--median", "--alpha", "2"], "alpha must be strictly between"),
        (["--forecast", "right", "--median", "--same-outcome", "gane"], "did you mean 'game'?"),
        (["--forecast", "right", "--median", "--time", "known", "--known-at", "day"],
         "row 1 (line 2): the outcome was known when it was forecast."),
    ],
)  # fmt: skip
def test_wrong_input_is_exit_code_2_and_one_sentence(table, arguments, message, capsys):
    """With the row and the column, where there is one."""
    code = audit(table, "--outcome", "y", *arguments)
    said = capsys.readouterr()

    assert code == 2
    assert message in said.err
    assert said.out == ""


def test_broken_files_are_exit_code_2(tmp_path, capsys):
    """Text in numbers; nothing but a header is no evidence."""
    (tmp_path / "text.csv").write_text("y,yhat\n1,2\nx,3\n")
    (tmp_path / "header.csv").write_text("y,yhat\n")
    options = ["--outcome", "y", "--forecast", "yhat", "--median"]

    assert audit(tmp_path / "text.csv", *options) == 2
    assert "row 2 (line 3), column 'y': 'x' is not a number." in capsys.readouterr().err
    assert audit(tmp_path / "header.csv", *options) == 0
    assert capsys.readouterr().out.startswith("No evidence against calibration in 0 rows")
