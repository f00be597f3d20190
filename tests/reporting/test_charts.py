"""Figures: each from a summary, drawn without a browser, in files and without the extra."""

import sys
from pathlib import Path

import numpy as np
import pytest

import trueup as tu
from reporting.support import HOSTILE, run_of, stream
from trueup.errors import InvalidArgument, MissingExtra
from trueup.report import Digest, charts, digest_of, save
from trueup.report._words import clean

RUN = run_of(rounds=2_500)
SUMMARY = digest_of(RUN, groups=[HOSTILE[t % 5] for t in range(2_500)]).summary(RUN.calibrator)


def rows_of(spec):
    """Return all rows of data in a figure."""
    inline = spec.get("data", {}).get("values", [])
    return [*inline, *(row for layer in spec.get("layer", []) for row in rows_of(layer))]


FIGURES = {name: getattr(charts, name) for name in charts.__all__ if name != "evidence"}


AUDIT = tu.audit(*stream(1_500), tu.Quantile(0.9))


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_can_be_drawn_and_saved(name, tmp_path):
    """As an SVG file that has marks in it, for every number."""
    path = save(FIGURES[name](SUMMARY), tmp_path / f"{name}.svg")
    text = path.read_text()

    assert text.startswith("<svg")
    assert text.count("<path") > 10
    assert list(tmp_path.iterdir()) == [path]


def test_the_evidence_of_an_audit_is_drawn():
    """On a scale of powers of ten, with the line that it has to pass."""
    rows = rows_of(charts.evidence(AUDIT).to_dict())

    assert [row["level"] for row in rows if "level" in row] == [pytest.approx(-np.log10(0.05))]
    assert len(rows) == 1 + AUDIT.curve.rows.size + AUDIT.restarted_curve.rows.size
    with pytest.raises(InvalidArgument, match="audit must be an Audit"):
        charts.evidence("audit")


def test_pictures_are_png_too(tmp_path):
    """By the ending of their name."""
    path = save(charts.reliability(SUMMARY), tmp_path / "a.png", scale=1)

    assert path.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_no_figure_has_more_than_a_few_thousand_points():
    """Of a long run too: the numbers are in the figure, not the rounds."""
    rounds = 70_000
    outcomes, model = stream(rounds)
    digest = Digest(tu.Quantile(0.9))
    digest.add(outcomes, model + 20, model, np.round(model), np.ones(rounds), groups=[1] * rounds)
    summary = digest.summary()
    for name, figure in FIGURES.items():
        assert 0 < len(rows_of(figure(summary).to_dict(validate=False))) <= 3_000, name


def test_dates_are_drawn_to_the_millisecond():
    """Though other numbers are cut to six digits."""
    digest = Digest(tu.Median())
    times = np.datetime64("2026-03-01T10:11:12.345") + np.arange(300) * np.timedelta64(7, "m")
    digest.add(np.arange(300.0), np.arange(300.0) / 7, times=times)
    rows = rows_of(charts.over_time(digest.summary()).to_dict())

    assert [row["x"] for row in rows] == times.astype("datetime64[ms]").astype(int).tolist()
    assert rows[10]["i0"] == 1.42857


def test_users_words_are_data_and_never_names_of_fields():
    """So no dot or bracket in them is read as a path, and no brace as code."""
    spec = charts.groups(SUMMARY).to_dict()

    assert {row["group"] for row in rows_of(spec)} == {clean(word) for word in HOSTILE}
    spec["data"] = {}
    assert not any(word[:8] in str(spec) for word in HOSTILE)


def test_what_is_not_there_is_no_figure():
    """One sentence says what was not given."""
    digest = Digest(tu.Median())
    digest.add([1.0, 2.0], [1.0, 2.0])
    bare = digest.summary()
    for name, message in (
        ("groups", "There are no groups"),
        ("bins", "There is no map of bins"),
        ("swap_regret", "There is no swap regret by label"),
    ):
        with pytest.raises(InvalidArgument, match=message):
            FIGURES[name](bare)
    with pytest.raises(InvalidArgument, match="number must be below 1, got 1"):
        charts.reliability(bare, 1)
    with pytest.raises(InvalidArgument, match="summary must be a Summary"):
        charts.over_time(digest)


def test_wrong_files_are_refused(tmp_path):
    """An ending that is no picture, a folder that is not there, a thing that is no figure."""
    figure = charts.reliability(SUMMARY)
    with pytest.raises(InvalidArgument, match=r"path must be a name that ends in \.png or \.svg"):
        save(figure, tmp_path / "a.pdf")
    with pytest.raises(InvalidArgument, match="path must be a place to write to"):
        save(figure, tmp_path / "no" / "a.svg")
    with pytest.raises(InvalidArgument, match="figure must be a figure"):
        save("figure", tmp_path / "a.svg")

    assert list(tmp_path.iterdir()) == []


def test_without_the_extra_the_error_is_the_command_that_installs_it(monkeypatch, tmp_path):
    """Summaries need nothing."""
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(MissingExtra, match=r"pip install 'trueup\[report\]'"):
        charts.reliability(digest_of(RUN).summary())
    monkeypatch.undo()
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(MissingExtra, match=r"pip install 'trueup\[report\]'"):
        save(charts.reliability(SUMMARY), tmp_path / "a.svg")


def test_the_picture_in_the_readme_is_small():
    """`./run picture` draws it."""
    root = Path(__file__).resolve().parents[2]

    assert "docs/pictures/calibration.svg" in (root / "README.md").read_text()
    assert (root / "docs/pictures/calibration.svg").stat().st_size < 150_000
