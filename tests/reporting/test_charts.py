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


class Curve(tuple):
    """Evidence as an audit has it."""

    _fields = ("rows", "last", "lowest", "highest")
    rows = property(lambda self: np.arange(10))
    last = lowest = highest = property(lambda self: np.linspace(0, 3, 10))


class FakeAudit:
    """As much of an audit as a page needs."""

    verdict, alpha = "There is evidence against calibration.", 0.05
    curve = restarted_curve = Curve()


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
    spec = charts.evidence(FakeAudit()).to_dict()

    assert [row["level"] for row in rows_of(spec) if "level" in row] == [-np.log10(0.05)]
    assert len(rows_of(spec)) == 21


def test_pictures_are_png_too(tmp_path):
    """By the ending of their name."""
    path = save(charts.reliability(SUMMARY), tmp_path / "a.png", scale=1)

    assert path.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


@pytest.mark.parametrize("name", FIGURES)
def test_no_figure_has_more_than_a_few_thousand_points(name):
    """Of a long run too: the numbers are in the figure, not the rounds."""
    rounds = 70_000
    outcomes, model = stream(rounds)
    digest = Digest(tu.Quantile(0.9))
    digest.add(outcomes, model + 20, model, np.round(model), np.ones(rounds), groups=[1] * rounds)
    spec = FIGURES[name](digest.summary()).to_dict()

    assert 0 < len(rows_of(spec)) <= 3_000


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
