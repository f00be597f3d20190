"""The table of mistakes on the calibrator's page: each sentence is what one gets."""

import math
import re
from pathlib import Path

import numpy as np
import pytest

import trueup as tu
from trueup.errors import TrueupError

PAGE = (Path(__file__).resolve().parents[2] / "docs/guide/calibrator.md").read_text()
LINES = PAGE.split("| mistake | sentence |")[1]
TABLE = dict(re.findall(r"^\| (\w[^|]*?) \| (\w[^|]*?) \|$", LINES, flags=re.MULTILINE))
DAMAGED = tu.Calibrator(tu.Median()).to_bytes()
LATER = DAMAGED[:8] + np.array([2], dtype="<i8").tobytes() + DAMAGED[16:]


def opened(**settings):
    """Return a calibrator with one forecast open."""
    calibrator = tu.Calibrator(settings.pop("wanted", tu.Median()), **settings)
    calibrator.predict()
    return calibrator


def answered():
    """Return one whose only forecast has been answered."""
    calibrator = opened()
    calibrator.update(1.0)
    return calibrator


def crowded(**settings):
    """Return one with two forecasts made."""
    calibrator = opened(**settings)
    calibrator.predict()
    return calibrator


MISTAKES = {
    "an outcome that is no number": (opened, lambda c: c.update("x")),
    "an infinite outcome": (opened, lambda c: c.update(math.inf)),
    "an outcome outside the bounds, with `strict=True`": (
        lambda: opened(bounds=(0, 5), strict=True),
        lambda c: c.update(7.0),
    ),
    "a probability's outcome that is not 0 or 1": (
        lambda: opened(wanted=tu.Probability()),
        lambda c: c.update(0.5),
    ),
    "no or several forecasts open": (crowded, lambda c: c.update(1.0)),
    "a second answer": (answered, lambda c: c.update(1.0, forecast=0)),
    "a forecast given up": (
        lambda: crowded(max_open=1),
        lambda c: c.update(1.0, forecast=0),
    ),
    "an id never made": (opened, lambda c: c.update(1.0, forecast=9)),
    "a forecast that is text": (opened, lambda c: c.predict("x")),
    "a forecast that is not finite": (opened, lambda c: c.predict(math.nan)),
    "a number whose square is no float": (opened, lambda c: c.update(1e200)),
    "groups that are one text": (opened, lambda c: c.predict(groups="north")),
    "too many groups": (lambda: opened(max_groups=1), lambda c: c.predict(groups=("a", "b"))),
    "bounds that fall": (opened, lambda _: tu.Calibrator(tu.Median(), bounds=(5.0, 1.0))),
    "a weight outside (0, `max_weight`]": (opened, lambda c: c.update(1.0, weight=2.0)),
    "a number that the transform cannot take": (
        lambda: opened(transform="log"),
        lambda c: c.update(-1.0),
    ),
    "a Decision without bounds": (opened, lambda _: tu.Calibrator(tu.Decision(max))),
    "an unknown target": (opened, lambda _: tu.Calibrator("median")),
    "text or dates in a column": (opened, lambda _: tu.calibrate([1.0, "2"], tu.Median())),
    "a missing key of a `Panel`": (
        opened,
        lambda _: tu.Panel(tu.Median()).run([1.0, math.nan], [1.0, 2.0]),
    ),
    "arrays of different length": (
        opened,
        lambda _: tu.calibrate([1.0, 2.0], tu.Median(), forecasts=[1.0]),
    ),
    "known_at before its own round": (
        opened,
        lambda _: tu.calibrate([1.0, 2.0], tu.Median(), known_at=[0, 2]),
    ),
    "damaged state": (opened, lambda _: tu.Calibrator.from_bytes(DAMAGED[:-1])),
    "a state of a later version": (opened, lambda _: tu.Calibrator.from_bytes(LATER)),
}


def test_every_line_of_the_table_is_tried():
    """None is only written, none only tested."""
    assert set(TABLE) == set(MISTAKES)


@pytest.mark.parametrize("mistake", MISTAKES)
def test_the_sentence_is_the_one_on_the_page_and_nothing_changes(mistake):
    """The whole sentence, or its beginning where the page cuts it."""
    make, act = MISTAKES[mistake]
    calibrator = make()
    before = calibrator.to_bytes()
    with pytest.raises(TrueupError) as caught:
        act(calibrator)

    sentence = str(caught.value)
    assert sentence.startswith(TABLE[mistake])
    assert sentence.endswith(".")
    assert calibrator.to_bytes() == before
