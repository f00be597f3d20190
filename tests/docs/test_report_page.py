"""The table of mistakes on the report's page: each sentence is what one gets."""

import re
import sys
from pathlib import Path

import pytest

import trueup as tu
from trueup.errors import TrueupError
from trueup.report import Digest, charts, save

PAGE = (Path(__file__).resolve().parents[2] / "docs/guide/report.md").read_text()
LINES = PAGE.split("| mistake | sentence |")[1]
TABLE = dict(re.findall(r"^\| (\w[^|]*?) \| (\w[^|]*?) \|$", LINES, flags=re.MULTILINE))


def figure():
    """Return the simplest figure."""
    digest = Digest(tu.Median())
    digest.add([1.0, 2.0], [1.5, 1.5])
    return charts.reliability(digest.summary())


MISTAKES = {
    "Altair is not installed": lambda monkeypatch: (
        monkeypatch.setitem(sys.modules, "altair", None),
        figure(),
    ),
    "a target without figures": lambda _: Digest("quantile"),
    "blocks of different shape": lambda _: Digest(tu.Interval(0.9)).add([1.0], [1.0]),
    "labels without scales": lambda _: Digest(tu.Mean()).add([1.0], [1.0], labels=[1.0]),
    "a picture of another kind": lambda _: save(figure(), "a.pdf"),
    "a place that cannot be written": lambda _: save(figure(), "/no/such/folder/a.svg"),
}


def test_the_table_has_every_mistake():
    """And no other."""
    assert set(TABLE) == set(MISTAKES)


@pytest.mark.parametrize("mistake", MISTAKES)
def test_the_sentence_in_the_table_is_what_one_gets(mistake, monkeypatch):
    """Or its beginning."""
    with pytest.raises(TrueupError) as error:
        MISTAKES[mistake](monkeypatch)

    assert str(error.value).startswith(TABLE[mistake])
