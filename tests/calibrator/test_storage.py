"""Saved calibrators: they go on bit for bit, and what is damaged is never read."""

import copy
import json
import os
import pickle
import pickletools
from pathlib import Path

import numpy as np
import pytest

import trueup as tu
from calibrator.support import used
from trueup.calibrator import Calibrator, from_bytes, load, save, to_bytes
from trueup.errors import InvalidArgument, StateFormatError

WANTED = [
    tu.Mean(),
    tu.Median(),
    tu.Quantile(0.975),
    tu.Expectile(0.3),
    tu.Interval(0.8),
    tu.Interval(0.8, side="upper"),
    tu.Quantiles([0.1, 0.5, 0.9]),
    tu.Probability(),
]
SETTINGS = [
    {},
    {"bounds": (-3, 3.5), "exact": True, "overrule": None},
    {"seed": 11, "steer": False, "window": 20, "c": 0.5, "max_open": 5},
]


def grown(wanted, **settings):
    """Return a calibrator with evidence, groups, forecasts given up and forecasts open."""
    if isinstance(wanted, tu.Probability):
        settings.pop("bounds", None)
    calibrator, rng = tu.Calibrator(wanted, **settings), np.random.default_rng(1)
    for t in range(150):
        groups = ("all", t % 3) if t % 2 else ("one",)
        forecast = calibrator.predict(float(rng.normal()) if t % 4 else None, groups=groups)
        outcome = float(rng.integers(2)) if t % 50 else None
        if t % 7 and forecast.id in calibrator.open:
            calibrator.update(outcome, forecast=forecast)
    return calibrator


def go_on(calibrator):
    """Return what is said in the rounds that follow, old forecasts being answered on the way."""
    rng, said = np.random.default_rng(2), []
    for t in range(120):
        forecast = calibrator.predict(float(rng.normal()), groups=("all", t % 4))
        said.append(forecast)
        calibrator.update(float(rng.integers(2)), forecast=forecast)
        if calibrator.open and t % 5 == 0:
            calibrator.update(float(rng.integers(2)), forecast=calibrator.open[0])
    return said, calibrator.certificate(), calibrator.group_report()


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("wanted", WANTED, ids=repr)
def test_what_is_loaded_goes_on_bit_for_bit(wanted, settings):
    """With open forecasts, groups, expired ids and several levels; its bytes are the same."""
    calibrator = grown(wanted, **settings)
    data = calibrator.to_bytes()
    again = Calibrator.from_bytes(data)

    assert again.to_bytes() == data
    assert again.wanted == wanted
    assert again.settings() == calibrator.settings()
    assert again.open == calibrator.open
    assert repr(again.report()._replace(nbytes=0)) == repr(calibrator.report()._replace(nbytes=0))
    assert go_on(again) == go_on(calibrator)
    assert again.to_bytes() == calibrator.to_bytes()


def test_what_was_not_saved_does_differ():
    """The companion: without the evidence the same rounds are forecast otherwise."""
    calibrator = grown(tu.Median())

    assert go_on(calibrator.clone())[0] != go_on(calibrator)[0]


@pytest.mark.parametrize("wanted", WANTED, ids=repr)
def test_files_pickles_and_copies_go_on_too(wanted, tmp_path):
    """All ways out of memory are the same bytes."""
    calibrator = grown(wanted)
    calibrator.save(tmp_path / "one")
    save(calibrator, str(tmp_path / "two"))
    copies = [
        tu.load(tmp_path / "one"),
        Calibrator.load(tmp_path / "two", wanted, seed=0),
        load(tmp_path / "one", exact=False),
        pickle.loads(pickle.dumps(calibrator)),
        copy.deepcopy(calibrator),
        from_bytes(to_bytes(calibrator)),
    ]

    assert (tmp_path / "one").read_bytes() == calibrator.to_bytes()
    assert {each.to_bytes() for each in copies} == {calibrator.to_bytes()}
    expected = go_on(calibrator)
    assert all(go_on(each) == expected for each in copies)


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickle_holds_bytes_and_names_one_class(protocol):
    """No class of the inside is named, so that the inside may change."""
    data = pickle.dumps(grown(tu.Interval(0.8)), protocol=protocol)
    texts, named = [], set()
    for code, value, _ in pickletools.genops(data):
        if code.name == "GLOBAL":
            named.add(tuple(value.split(" ")))
        elif code.name == "STACK_GLOBAL":
            named.add(tuple(texts[-2:]))
        elif isinstance(value, str):
            texts.append(value)
    rooms = {room for room, _ in named if room.startswith("trueup")}

    assert {name for room, name in named if room.startswith("trueup")} == {"Calibrator"}
    assert len(rooms) == 1
    assert not any("numpy" in room for room, _ in named)


def test_saving_between_all_rounds_changes_nothing():
    """A calibrator that lives in bytes says the same as one that was never saved."""
    rng = np.random.default_rng(3)
    stays, data = tu.Calibrator(tu.Interval(0.8)), tu.Calibrator(tu.Interval(0.8)).to_bytes()
    for _ in range(150):
        raw, outcome = float(rng.normal()), float(rng.normal())
        moves = Calibrator.from_bytes(data)
        assert moves.predict(raw) == stays.predict(raw)
        moves = Calibrator.from_bytes(moves.to_bytes())
        moves.update(outcome)
        stays.update(outcome)
        data = moves.to_bytes()
    assert data == stays.to_bytes()


@pytest.mark.parametrize(
    "settings",
    [
        {"seed": np.int64(4)},
        {"window": np.int32(16)},
        {"bounds": (np.float64(0), np.int64(4))},
        {"bounds": np.array([0.0, 4.0])},
        {"bounds": [0, 4]},
        {"exact": np.True_},
        {"c": np.float32(0.5)},
    ],
    ids=str,
)
def test_numbers_of_numpy_can_be_saved(settings):
    """Settings may be of any kind of number."""
    calibrator = tu.Calibrator(tu.Median(), **settings)
    calibrator.predict(1.0)
    again = Calibrator.from_bytes(calibrator.to_bytes())

    again.update(1.0)
    calibrator.update(1.0)
    assert again.predict() == calibrator.predict()


# --- crashes -----------------------------------------------------------------------------------


class Crash(Exception):
    """The machine stops here."""


@pytest.mark.parametrize("where", ["os.fsync", "pathlib.Path.replace"])
def test_a_crash_leaves_the_old_file_whole(where, tmp_path, monkeypatch):
    """And no half-written one beside it."""
    path, calibrator = tmp_path / "state", grown(tu.Median())
    calibrator.save(path)
    old = path.read_bytes()
    used(calibrator)

    def crash(*_):
        raise Crash

    with monkeypatch.context() as patch:
        patch.setattr(where, crash)
        with pytest.raises(Crash):
            calibrator.save(path)
    assert path.read_bytes() == old
    assert list(tmp_path.iterdir()) == [path]
    calibrator.save(path)
    assert path.read_bytes() == calibrator.to_bytes() != old


def test_the_new_file_is_on_the_disk_before_it_takes_the_place_of_the_old(tmp_path, monkeypatch):
    """Written, flushed, synchronised, then renamed: in this order."""
    path, calibrator, order = tmp_path / "state", grown(tu.Median()), []
    sync, replace = os.fsync, Path.replace
    monkeypatch.setattr("os.fsync", lambda handle: (order.append("sync"), sync(handle)))
    monkeypatch.setattr(
        "pathlib.Path.replace",
        lambda self, target: (order.append(self.read_bytes()), replace(self, target))[1],
    )
    calibrator.save(path)

    assert order == ["sync", calibrator.to_bytes()]


# --- what is not what it should be -------------------------------------------------------------


def test_damage_at_any_byte_is_found():
    """One bit of any byte, and every length that is too short or too long."""
    calibrator = tu.Calibrator(tu.Median(), window=8)
    for t in range(4):
        calibrator.predict(float(t), groups=["g"])
    calibrator.update(2.0, forecast=1)
    calibrator.update(3.0, forecast=0)
    data = calibrator.to_bytes()
    for place in range(len(data)):
        for bit in (1, 128):
            broken = bytearray(data)
            broken[place] ^= bit
            with pytest.raises(StateFormatError):
                Calibrator.from_bytes(bytes(broken))
    for wrong in [*(data[:end] for end in range(0, len(data), 7)), data + b"\0", b"", b"x" * 99]:
        with pytest.raises(StateFormatError, match=r"no calibrator of trueup|damaged or cut off"):
            Calibrator.from_bytes(wrong)


@pytest.mark.parametrize("wrong", ["text", None, 3, bytearray(b"trueupCA"), ["a"]], ids=repr)
def test_what_are_no_bytes_is_no_state(wrong):
    """One sentence says so."""
    with pytest.raises(StateFormatError, match="This is no calibrator of trueup"):
        Calibrator.from_bytes(wrong)


def test_a_file_of_a_newer_version_says_so(tmp_path):
    """Which version it has and which is read, and the name of the file."""
    data = bytearray(tu.Calibrator(tu.Median()).to_bytes())
    data[8] = 77
    path = tmp_path / "newer.state"
    path.write_bytes(bytes(data))

    with pytest.raises(StateFormatError, match=r"newer\.state: The calibrator has version 77; "):
        tu.load(path)


def test_the_state_of_an_engine_is_no_calibrator():
    """Files of the package's other objects are told apart."""
    engine = tu.Calibrator(tu.Median())._streams[0].engine
    with pytest.raises(StateFormatError, match="This is no calibrator"):
        Calibrator.from_bytes(engine.to_bytes())


def test_a_missing_file_is_an_error_of_the_system(tmp_path):
    """Not one of ours."""
    with pytest.raises(FileNotFoundError):
        tu.load(tmp_path / "nothing")


DIFFERENT = [
    ({"wanted": tu.Quantile(0.8)}, r"wanted is Quantile\(level=0\.9\) in what was stored"),
    ({"wanted": tu.Median()}, r"wanted is Quantile\(level=0\.9\) in what was stored"),
    ({"seed": 3}, "seed is 2 in what was stored, got 3"),
    ({"bounds": (0, 6)}, r"bounds is \(0, 5\) in what was stored, got \(0, 6\)"),
    ({"bounds": None}, "bounds is .* in what was stored, got None"),
    ({"exact": True}, "exact is False in what was stored, got True"),
    ({"steer": False}, "steer is True"),
    ({"overrule": None}, "overrule is 0.05"),
    ({"strict": True}, "strict is False"),
    ({"c": 0.5}, "c is 0.25"),
    ({"window": 64}, "window is 128"),
    ({"max_open": 4}, "max_open is None"),
    ({"max_groups": 4}, "max_groups is 1000"),
    ({"gamma": 0.1}, "There is no setting 'gamma'"),
]


@pytest.mark.parametrize(("given", "sentence"), DIFFERENT, ids=lambda part: str(part)[:30])
def test_another_configuration_than_the_stored_one_is_named(given, sentence, tmp_path):
    """The first difference, what was stored, and what was given."""
    tu.Calibrator(tu.Quantile(0.9), bounds=(0, 5), seed=2).save(tmp_path / "state")
    with pytest.raises(InvalidArgument, match=sentence):
        tu.load(tmp_path / "state", **given)
    same = {"wanted": tu.Quantile(0.9), "bounds": [0, 5], "seed": 2, "exact": False}
    assert tu.load(tmp_path / "state", **same).bounds == (0, 5)


@pytest.mark.parametrize("name", [("a", 1), True, 2.5], ids=repr)
def test_groups_that_cannot_be_written_are_named(name):
    """Text and whole numbers can; the calibrator itself goes on."""
    calibrator = tu.Calibrator(tu.Median())
    calibrator.predict(1.0, groups=[name])
    with pytest.raises(InvalidArgument, match="Only text and whole numbers can name"):
        calibrator.to_bytes()
    calibrator.update(1.0)
    assert calibrator.report().scored == 1


def test_the_text_of_the_format_is_json():
    """Readable without this package: settings, counts, groups."""
    data = grown(tu.Quantiles([0.1, 0.9])).to_bytes()
    start = data.index(b"{")
    text, _ = json.JSONDecoder().raw_decode(data[start:].decode("latin-1"))

    assert data.startswith(b"trueupCA")
    assert text["wanted"] == ["Quantiles", {"levels": [0.1, 0.9]}]
    assert text["groups"][0] == ["one", 1]
    assert text["issued"] == 150
