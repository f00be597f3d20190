"""Saved runs go on bit for bit; what is wrong is refused with one sentence."""

import copy
import pickle

import numpy as np
import pytest

from engine.tools import clone, parts
from trueup import Mean, Median
from trueup._kernels import _engine as kernels
from trueup.distributions import discrete, uniform
from trueup.engine import Engine
from trueup.engine._state import VERSION
from trueup.errors import InvalidArgument, StateFormatError
from trueup.losses import Absolute, Convex

WAYS = {
    "pickle": lambda engine: pickle.loads(pickle.dumps(engine)),
    "bytes": clone,
    "copy": copy.deepcopy,
}
SETTINGS = [
    {},
    {"c": 1.0, "horizon": 300, "refine": False},
    {"schedule": "own", "overrule": None, "lipschitz": 1.5},
    {"overrule": 0.4},
]


def rounds_of(seed, count):
    """Return random rounds: what is asked, the outcome, and how late it is (or never)."""
    rng = np.random.default_rng(seed)
    rounds = []
    for _ in range(count):
        low = float(rng.uniform(0, 0.9))
        belief = [None, uniform(low, low + 0.1), discrete([low, 1.0], [0.5, 0.5])][rng.integers(3)]
        groups = tuple(sorted(rng.permutation(5)[: rng.integers(1, 4)].tolist()))
        asked = {"point": [None, low][rng.integers(2)], "groups": groups}
        late = int(rng.choice([0, 0, 1, 5, 20, -1]))
        rounds.append((belief, asked, Absolute(float(rng.choice([low, 0.3, 1.0]))), late))
    return rounds


def go_on(engine, rounds, start, stop):
    """Play some of the rounds, learning what is due; return all that was said."""
    said = []
    for now in range(start, stop):
        for earlier in range(max(now - 20, 0), now):
            loss, late = rounds[earlier][2:]
            if late > 0 and earlier + late == now:
                engine.update(loss, earlier)
            if late < 0 and earlier + 10 == now:
                engine.skip(earlier)
        belief, asked, loss, late = rounds[now]
        if late:
            said.append(parts(engine.open(belief, **asked)))
        else:
            said.append(parts(engine.predict(belief, **asked)))
            engine.update(loss)
    return said


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("options", SETTINGS, ids=repr)
def test_a_saved_run_goes_on_bit_for_bit(way, options):
    """In the middle of everything: open forecasts, groups, beliefs, points, any settings."""
    rounds, through = rounds_of(1, 400), Engine(seed=9, **options)
    first = Engine(seed=9, **options)
    whole = go_on(through, rounds, 0, 400)
    assert go_on(first, rounds, 0, 150) == whole[:150]
    assert first.info().open > 0
    saved = first.to_bytes()
    again = WAYS[way](first)
    assert repr(again) == repr(first)
    assert again.to_bytes() == saved == first.to_bytes()

    assert go_on(again, rounds, 150, 400) == whole[150:]
    assert again.info()._replace(nbytes=0) == through.info()._replace(nbytes=0)
    for group in range(5):
        assert again.wealth(group).tobytes() == through.wealth(group).tobytes()
        assert again.certificate(group) == through.certificate(group)


@pytest.mark.parametrize("expected", [False, True])
def test_saving_after_every_round_changes_nothing(expected):
    """One hundred rounds, each in an engine that has just been read."""
    plain = Engine(seed=2, expected=expected, c=1.0)
    saved = Engine(seed=2, expected=expected, c=1.0)
    for number in range(100):
        saved = clone(saved)
        assert parts(saved.predict()) == parts(plain.predict())
        loss = Absolute(float(number * 0.37 % 1))
        saved.update(loss)
        plain.update(loss)
    assert saved.info()._replace(nbytes=0) == plain.info()._replace(nbytes=0)


def test_a_state_that_lacks_the_working_set_goes_on_differently():
    """The companion: forgetting the mixture to start from is noticed."""
    outcomes = np.random.default_rng(3).beta(2, 5, 400)
    through, broken = Engine(seed=4), Engine(seed=4)
    said = through.play(outcomes, Median()).forecasts
    broken.play(outcomes[:200], Median())
    broken.state.i[kernels.SIZE] = 0

    assert (broken.play(outcomes[200:], Median()).forecasts != said[200:]).any()


def test_a_forecast_that_was_only_predicted_is_not_part_of_the_state():
    """A copy has to predict again; then it goes on alike."""
    engine = Engine(seed=5)
    before = engine.to_bytes()
    engine.predict(uniform(0.2, 0.3), groups=(2,))
    again = copy.deepcopy(engine)
    assert again.to_bytes() == before
    for each in (engine, again):
        each.predict(uniform(0.2, 0.3), groups=(2,))
        each.update(Absolute(0.3))

    assert again.to_bytes() == engine.to_bytes()


def some_bytes():
    """Return an engine in the middle of a run, as bytes."""
    engine = Engine(seed=6)
    go_on(engine, rounds_of(7, 60), 0, 60)
    return engine.to_bytes()


def test_truncated_states_are_refused():
    """At every length."""
    data = some_bytes()
    for length in [*range(200), *range(200, len(data), 97), len(data) - 1]:
        with pytest.raises(StateFormatError):
            Engine.from_bytes(data[:length])
    with pytest.raises(StateFormatError, match="damaged or cut off"):
        Engine.from_bytes(data + b"more")


def flipped(data, places):
    """Yield the data with one bit changed."""
    for place in places:
        changed = bytearray(data)
        changed[place] ^= 1 << (place % 8)
        yield bytes(changed)


def test_damaged_states_are_refused():
    """One bit anywhere before the settings at the end."""
    data = some_bytes()
    for changed in flipped(data, [*range(120), *range(120, len(data) - 16, 61)]):
        with pytest.raises(StateFormatError):
            Engine.from_bytes(changed)


def test_damaged_settings_are_refused():
    """One bit of the settings at the end."""
    data = some_bytes()
    for changed in flipped(data, range(len(data) - 16, len(data))):
        with pytest.raises(StateFormatError):
            Engine.from_bytes(changed)


def test_states_of_a_newer_version_are_refused():
    """By a sentence that names both versions; and what is no state by another."""
    data = bytearray(some_bytes())
    data[8:16] = (VERSION + 1).to_bytes(8, "little")
    with pytest.raises(
        StateFormatError, match=f"has version {VERSION + 1}; this trueup reads {VERSION}"
    ):
        Engine.from_bytes(bytes(data))
    with pytest.raises(StateFormatError, match="no engine state"):
        Engine.from_bytes(b"somebody else's file" * 9)
    with pytest.raises(InvalidArgument, match="data must be bytes"):
        Engine.from_bytes("text")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"seed": -1}, "seed must be at least 0, got -1"),
        ({"seed": 0.5}, "seed must be a whole number, got 0.5"),
        ({"c": 0.0}, "c must be above 0 and at most 1, got 0.0"),
        ({"c": 2.0}, "c must be above 0 and at most 1, got 2.0"),
        ({"c": float("nan")}, "c must be finite"),
        ({"horizon": 0}, "horizon must be at least 1, got 0"),
        ({"horizon": 1.5}, "horizon must be a whole number"),
        ({"lipschitz": 0.0}, "lipschitz must be above 0"),
        ({"schedule": "mine"}, "schedule must be 'shared' or 'own', got 'mine'"),
        ({"overrule": 0.0}, "overrule must be strictly between 0 and 1"),
        ({"overrule": 1.0}, "overrule must be strictly between 0 and 1"),
        ({"seed": 2**63}, "seed must be below"),
    ],
)
def test_bad_settings_are_refused(options, sentence):
    """With one sentence each."""
    with pytest.raises(InvalidArgument, match=sentence):
        Engine(**options)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda e: e.predict(point=1.5), "point must be inside the interval"),
        (lambda e: e.predict(point="x"), "point must be a number"),
        (lambda e: e.open(point=-1), "point must be inside the interval"),
        (lambda e: e.play([0.5, 1.5], Median()), "outcomes must be inside the interval"),
        (lambda e: e.play([[0.5]], Median()), "outcomes must be one-dimensional"),
        (lambda e: e.play([0.5], 3), "wanted must be Mean"),
        (lambda e: e.play([0.5], Mean()), r"give lipschitz=2\.0"),
        (lambda e: e.play([0.5], Median(), points=[0.5, 0.5]), "points must be of length 1"),
        (lambda e: e.play([0.5], Median(), points=[2.0]), "points must be inside"),
        (lambda e: e.play([0.5], Median(), known_at=[0]), "known_at must be after its own"),
        (lambda e: e.play([0.5], Median(), known_at=[1.5]), "known_at must be 1 whole numbers"),
        (lambda e: e.play([0.5], Median(), nodes=[0, 1]), "cdfs must be"),
        (lambda e: e.play([0.5], Median(), nodes=[0, 1], cdfs=[[1.0, 0.5]]), "cdfs must never"),
        (lambda e: e.play([0.5], Median(), nodes=[0.1, 1], cdfs=[[0.0, 1.0]]), "nodes must be"),
        (lambda e: e.play_losses([Absolute(0.5)], later=1), "There is no option 'later'"),
        (
            lambda e: e.play_losses([Convex(lambda p: 0.0, lambda p: 0.0, lipschitz=1.0)]),
            "losses must be of a kind that is compiled",
        ),
    ],
)
def test_bad_input_is_refused(call, sentence):
    """With one sentence each, and nothing has changed."""
    engine = Engine(seed=8)
    engine.play([0.5, 0.2], Median())
    before = engine.to_bytes()
    with pytest.raises(InvalidArgument, match=sentence):
        call(engine)

    assert engine.to_bytes() == before
