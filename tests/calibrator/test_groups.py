"""Groups: they overlap, come into being when first seen, and are bounded in number."""

import numpy as np
import pytest

import trueup as tu
from calibrator.support import feed
from trueup.errors import InvalidArgument


def test_groups_overlap_and_come_into_being_when_first_seen():
    """In the order in which they were named, each with its own rounds."""
    calibrator = tu.Calibrator(tu.Median(), bounds=(0, 1))
    members = [("all",), ("all", "a"), (), ("b", "all", "b"), ("a",)]
    for names in members:
        calibrator.predict(0.5, groups=names)
        calibrator.update(0.25)
    report = calibrator.group_report()

    assert list(report) == ["all", "a", "b"]
    assert [rounds for rounds, _ in report.values()] == [3, 2, 1]
    for name, (_, certificate) in report.items():
        assert certificate == calibrator.certificate(name)


def test_the_order_of_names_in_a_round_does_not_matter():
    """Nor does naming one twice."""
    one, two = (tu.Calibrator(tu.Median(), bounds=(0, 1)) for _ in range(2))
    rng = np.random.default_rng(0)
    for _ in range(100):
        outcome = float(rng.uniform())
        forecasts = one.predict(groups=["a", "b"]), two.predict(groups=("a", "b", "a"))
        assert forecasts[0] == forecasts[1]
        one.update(outcome)
        two.update(outcome)


@pytest.mark.parametrize("make", [tuple, list, set, iter, dict.fromkeys, np.array])
def test_any_collection_of_names_will_do(make):
    """Also one that can be walked through once only."""
    calibrator = tu.Calibrator(tu.Median(), bounds=(0, 1))
    calibrator.predict(groups=make(["a", "b"]))
    calibrator.update(0.5)

    assert sorted(calibrator.group_report()) == ["a", "b"]


def test_no_more_groups_are_made_than_allowed():
    """The next one is refused; those that exist go on."""
    calibrator = tu.Calibrator(tu.Median(), bounds=(0, 1), max_groups=2)
    calibrator.predict(groups=["a", "b"])
    before = calibrator.to_bytes()
    for way in (calibrator.predict, calibrator.peek):
        with pytest.raises(InvalidArgument, match="max_groups=2 groups exist already"):
            way(groups=["a", "c"])
    assert calibrator.to_bytes() == before
    calibrator.update(0.5)
    calibrator.predict(groups=["b"])
    none = tu.Calibrator(tu.Median(), max_groups=0)
    none.predict()
    with pytest.raises(InvalidArgument, match="max_groups=0 groups exist already"):
        none.predict(groups=["a"])


def test_a_round_has_a_limited_number_of_groups():
    """Thirty-one are fine, thirty-two are not."""
    calibrator = tu.Calibrator(tu.Median(), bounds=(0, 1))
    names = [f"group {k}" for k in range(32)]
    calibrator.predict(groups=names[:31])
    calibrator.update(0.5)
    before = calibrator.to_bytes()

    with pytest.raises(InvalidArgument, match="groups must be fewer than 32 a round, got 32"):
        calibrator.predict(groups=names)
    assert calibrator.to_bytes() == before
    assert all(rounds == 1 for rounds, _ in calibrator.group_report().values())


def test_a_thousand_groups_can_be_told_apart():
    """Each keeps its own rounds, through growing and saving."""
    calibrator = tu.Calibrator(tu.Median(), bounds=(0, 1))
    for t in range(1_500):
        calibrator.predict(groups=[t % 1_000])
        calibrator.update(t % 2)
    again = tu.Calibrator.from_bytes(calibrator.to_bytes())

    for each in (calibrator, again):
        assert [rounds for rounds, _ in each.group_report().values()] == [2] * 500 + [1] * 500
    with pytest.raises(InvalidArgument, match="max_groups=1000"):
        calibrator.predict(groups=["one more"])


def test_the_certificate_of_an_unknown_group_is_refused():
    """There is none."""
    calibrator = tu.Calibrator(tu.Median(), bounds=(0, 1))
    feed(calibrator, [0.5, 0.25])
    with pytest.raises(InvalidArgument, match="There is no group 'x'"):
        calibrator.certificate("x")
