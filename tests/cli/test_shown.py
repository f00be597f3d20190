"""What demo, compare and watch print, and what a terminal shows while a command runs."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

import trueup as tu
from cli.support import calibrate, numbers, sample, trueup_, write
from trueup.cli import _live, _progress
from trueup.metrics import binned_calibration_error, worst_window_coverage

ROOT = Path(__file__).resolve().parents[2]


def compared(capsys, *arguments):
    """Return what `trueup compare --json` says, by name."""
    assert trueup_("compare", *arguments, "--json") == 0
    answer = json.loads(capsys.readouterr().out)
    return answer, {one["name"]: one for one in answer["scores"]}


def test_compare_scores_as_the_library_does(tmp_path, capsys):
    """Each forecast as it is, and what `calibrate` makes of it."""
    forecasts, outcomes = sample(tmp_path / "a.csv", 500)
    there = ~np.isnan(outcomes)
    said = tu.calibrate(outcomes, tu.Quantile(0.9), forecasts=forecasts).values
    answer, scores = compared(
        capsys, tmp_path / "a.csv", "--outcome", "y", "--forecast", "yhat", "--quantile", 0.9,
        "--window", 40,
    )  # fmt: skip

    assert (answer["rows"], answer["left_out"]) == (there.sum(), (~there).sum())
    low = min(np.nanmin(outcomes), forecasts.min(), said.min())
    width = max(np.nanmax(outcomes), forecasts.max(), said.max()) - low
    for name, values in (("yhat", forecasts), ("yhat, trued up", said)):
        p, y = values[there], outcomes[there]
        error = binned_calibration_error((p - low) / width, (y - low) / width, tu.Quantile(0.9))
        assert scores[name]["coverage"] == pytest.approx(np.mean(y <= p))
        loss = np.where(y > p, 0.9, 0.1) * np.abs(y - p)
        assert scores[name]["loss"] == pytest.approx(loss.mean())
        assert scores[name]["calibration_error"] == pytest.approx(error.error)
        worst = worst_window_coverage(p, y, 0.9, 40)
        assert scores[name]["worst_window"] == worst.coverage
    assert scores["yhat, trued up"]["swap_regret"] < scores["yhat"]["swap_regret"]


def test_errors_of_means_are_in_the_unit_of_the_outcomes(tmp_path, capsys):
    """A forecast that is 2 too high everywhere has a calibration error of 2, saves 4 by a swap."""
    rng = np.random.default_rng(3)
    truth = rng.uniform(0, 30, 3_000)
    outcomes = truth + rng.choice([-1.0, 1.0], 3_000)
    write(tmp_path / "a.csv", {"y": outcomes.tolist(), "high": (truth + 2).tolist()})
    arguments = [tmp_path / "a.csv", "--outcome", "y", "--forecast", "high"]
    _, means = compared(capsys, *arguments, "--mean")
    _, medians = compared(capsys, *arguments, "--median")

    assert means["high"]["calibration_error"] == pytest.approx(2, abs=0.1)
    assert means["high"]["swap_regret"] == pytest.approx(4, rel=0.1)
    assert medians["high"]["calibration_error"] == pytest.approx(0.5, abs=0.01)
    assert means["high, trued up"]["calibration_error"] < 0.4


def test_compare_takes_rows_that_all_have_and_one_number_alone(tmp_path, capsys):
    """Two forecasts with gaps of their own; intervals are refused."""
    _, outcomes = numbers(300)
    gaps = [["", "1.0"][k % 2] for k in range(300)]
    write(
        tmp_path / "a.csv",
        {"y": [str(y) for y in outcomes], "a": gaps, "b": ["2.0"] * 150 + ["NA"] * 150},
    )
    answer, scores = compared(
        capsys, tmp_path / "a.csv", "--outcome", "y", "--forecast", "a", "--forecast", "b", "--mean"
    )
    used = ~np.isnan(outcomes) & (np.arange(300) % 2 == 1) & (np.arange(300) < 150)

    assert answer["rows"] == used.sum()
    assert list(scores) == ["a", "a, trued up", "b", "b, trued up"]
    common = [tmp_path / "a.csv", "--outcome", "y", "--forecast", "a"]
    assert trueup_("compare", *common, "--interval", 0.9) == 2
    assert "compared for one number" in capsys.readouterr().err
    (tmp_path / "b.csv").write_text("y,a\n,1\n1,\n")
    assert trueup_("compare", tmp_path / "b.csv", *common[1:], "--mean") == 2
    assert "There is no row with an outcome and all forecasts." in capsys.readouterr().err


def test_watch_prints_a_line_every_so_many_rows(tmp_path, capsys):
    """And one at the end; the numbers are those of `calibrate`."""
    sample(tmp_path / "a.csv", 250)
    arguments = [tmp_path / "a.csv", "--outcome", "y", "--forecast", "yhat", "--quantile", 0.9]

    assert trueup_("watch", *arguments, "--every", 100) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[1] for line in lines] == ["100", "200", "250"]
    assert calibrate(tmp_path / "a.csv", "--json", "-o", tmp_path / "b.csv") == 0
    summary = json.loads(capsys.readouterr().out)
    assert f"coverage {summary['coverage']:.3f}" in lines[-1]
    assert f"certificate {summary['certificate'] / 250:.4g}" in lines[-1]


@pytest.mark.parametrize("late", [False, True])
def test_watch_has_the_evidence_of_an_audit(late, tmp_path, capsys):
    """Against the user's own forecasts, whenever outcomes were known."""
    later = [k + 2 + k % 7 for k in range(300)]
    forecasts, outcomes = sample(tmp_path / "a.csv", 300, later=later)
    known = {"known_at": np.array(later) - 1} if late else {}
    found = tu.audit(outcomes, forecasts, tu.Quantile(0.9), **known)
    arguments = ["--outcome", "y", "--forecast", "yhat", "--quantile", 0.9]
    arguments += ["--known-at", "later"] if late else []

    assert trueup_("watch", tmp_path / "a.csv", *arguments) == 0
    assert f"evidence 10^{found.log10_evidence:.1f}\n" in capsys.readouterr().out


def test_watch_draws_on_a_terminal(tmp_path, capsys, monkeypatch):
    """The same lines again and again in their place, the last one at the end."""
    sample(tmp_path / "a.csv", 1_050)
    monkeypatch.setattr(_live.Screen, "__init__", as_if_on_a_terminal)

    arguments = [tmp_path / "a.csv", "--outcome", "y", "--forecast", "yhat", "--quantile", 0.9]
    assert trueup_("watch", *arguments, "--every", 100) == 0
    out = capsys.readouterr().out
    last = out.rsplit("\x1b[7F", 1)[1]
    assert last.startswith("\x1b[2K1,050 rows, ")
    assert re.search(r"coverage +0\.\d+, lately 0\.\d+, should be 0\.9", last)
    assert re.search("[▁▂▃▄▅▆▇█]{10}\n", last)
    assert re.search(r"evidence +10\^[\d.]+ to 1 against your model", last)
    assert "overruled" in last


def as_if_on_a_terminal(screen):
    """Make a screen that draws, and at once."""
    screen.live, screen._drawn, screen._last = True, 0, 0.0


def test_progress_is_seen_on_a_terminal_and_nowhere_else(tmp_path, capsys, monkeypatch):
    """Rows, rate and time left; the line is wiped at the end."""
    sample(tmp_path / "a.csv", 500)

    assert calibrate(tmp_path / "a.csv", "-o", tmp_path / "b.csv") == 0
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(_progress, "EVERY", 0.0)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    assert calibrate(tmp_path / "a.csv", "-o", tmp_path / "b.csv", "--force") == 0
    err = capsys.readouterr().err
    assert re.search(r"\r500 rows, [\d,]+ a second, 100 %, 0:00:00 left", err)
    assert err.endswith(" \r")


def test_the_demo_shows_that_it_works_and_where_the_page_is(tmp_path, capsys, monkeypatch):
    """As the README says: the same table."""
    monkeypatch.chdir(tmp_path)

    assert trueup_("demo") == 0
    out = capsys.readouterr().out
    assert f"The page: {tmp_path.resolve() / 'trueup-demo.html'}" in out
    assert (tmp_path / "trueup-demo.html").stat().st_size < 2_000_000
    rows = re.findall(r"^departure_delay.*$", out, flags=re.MULTILINE)
    model, ours = ([float(x) for x in re.findall(r"[\d.]+", row)] for row in rows)
    assert abs(ours[1] - 0.9) < 0.02 < abs(model[1] - 0.9)
    for k in (0, 3, 5):  # loss, calibration error, swap regret
        assert ours[k] < model[k]
    shown = re.findall(r"^departure_delay.*$", (ROOT / "README.md").read_text(), flags=re.MULTILINE)
    assert len(shown) == 2
    for text, row in zip(shown, (model, ours), strict=True):
        assert [float(x) for x in re.findall(r"[\d.]+", text)] == pytest.approx(
            row, rel=0.02, abs=0.002
        )
    assert trueup_("demo", "--report", "trueup-demo.html") == 2
    assert "exists already" in capsys.readouterr().err


def test_a_report_is_written_with_the_table(tmp_path, capsys):
    """Of one series and of many; its absence of rows is no crash."""
    sample(tmp_path / "a.csv", 300, shop=["ab"[k % 2] for k in range(300)])
    page = tmp_path / "page.html"

    assert calibrate(tmp_path / "a.csv", "-o", tmp_path / "b.csv", "--report", page) == 0
    assert f"the page: {page}" in capsys.readouterr().out
    assert page.read_text().startswith("<!")
    before = page.read_bytes()
    assert calibrate(tmp_path / "a.csv", "-o", tmp_path / "c.csv", "--report", page) == 2
    assert not (tmp_path / "c.csv").exists()
    arguments = ["--key", "shop", "--report", page, "--force"]
    assert calibrate(tmp_path / "a.csv", "-o", tmp_path / "b.csv", *arguments) == 0
    assert page.read_bytes() != before
