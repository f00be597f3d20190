"""Many series: each is the calibrator it would be alone, at rest as a few kilobytes."""

import pickle

import numpy as np
import pytest

import trueup as tu
from trueup.calibrator import Ends
from trueup.errors import InvalidArgument, StateFormatError, UnknownForecast

RNG = np.random.default_rng(0)
SERIES, ROUNDS = 30, 60
KEYS = np.tile(np.arange(SERIES), ROUNDS)
OUTCOMES = RNG.gamma(3, 2, SERIES * ROUNDS) * np.tile(RNG.uniform(0.5, 50, SERIES), ROUNDS)


def alone(panel, key, outcomes):
    """Return what a calibrator with the panel's seed of the key says."""
    calibrator = tu.Calibrator(panel.wanted, **panel.settings, seed=panel._seed_of(key))
    said = []
    for outcome in outcomes:
        said.append(calibrator.predict().value)
        calibrator.update(outcome)
    return said


@pytest.mark.parametrize("workers", [1, 3])
def test_each_series_is_what_it_would_be_alone(workers):
    """Whatever the number of threads."""
    panel = tu.Panel(tu.Quantile(0.9), workers=workers)
    run = panel.run(KEYS, OUTCOMES)

    for key in (0, 7, SERIES - 1):
        own = key == KEYS
        assert run.values[own].tolist() == alone(panel, key, OUTCOMES[own])


def test_frames_in_parts_and_rounds_one_by_one_go_on_bit_for_bit():
    """Half a frame, then the rest at once or key by key."""
    half = KEYS.size // 2
    whole = tu.Panel(tu.Median()).run(KEYS, OUTCOMES).values
    parts, steps = tu.Panel(tu.Median()), tu.Panel(tu.Median())
    first = parts.run(KEYS[:half], OUTCOMES[:half]).values
    rest = parts.run(KEYS[half:], OUTCOMES[half:]).values
    steps.run(KEYS[:half], OUTCOMES[:half])
    said = []
    for start in range(half, KEYS.size, SERIES):
        rows = slice(start, start + SERIES)
        said += [f.value for f in steps.predict(KEYS[rows].tolist())]
        steps.update(KEYS[rows].tolist(), OUTCOMES[rows])

    assert np.concatenate([first, rest]).tolist() == whole.tolist()
    assert said == rest.tolist()


def test_a_series_needs_less_than_four_kilobytes():
    """Of 100 points."""
    panel = tu.Panel(tu.Quantile(0.9))
    panel.run(np.tile(np.arange(20), 100), RNG.gamma(3, 2, 2_000))

    assert panel.nbytes < 4_000 * len(panel)


def test_saved_panels_go_on_bit_for_bit(tmp_path):
    """With forecasts open; through bytes, a file and pickle."""
    panel = tu.Panel(tu.Interval(0.8))
    panel.run(KEYS, OUTCOMES)
    panel.predict([3, "new"], [1.0, 2.0])
    panel.save(tmp_path / "panel.bin")
    copies = [
        tu.Panel.from_bytes(panel.to_bytes()),
        tu.Panel.load(tmp_path / "panel.bin", tu.Interval(0.8)),
        pickle.loads(pickle.dumps(panel)),
    ]
    runs = []
    for each in (panel, *copies):
        each.update(["new", 3], [5.0, 4.0])
        runs.append(each.run(KEYS[:90], OUTCOMES[:90]).values)

    for run in runs[1:]:
        np.testing.assert_array_equal(run, runs[0])
    data = panel.to_bytes()
    for wrong in (b"", data[:-1], data[:60] + b"x" + data[61:], b"trueupXX" + data[8:]):
        with pytest.raises(StateFormatError):
            tu.Panel.from_bytes(wrong)
    with pytest.raises(InvalidArgument, match="wanted is"):
        tu.Panel.from_bytes(data, tu.Median())


def test_late_outcomes_go_by_the_rows_of_the_frame():
    """An outcome known three rounds of all series later is what `calibrate` makes of it alone."""
    known = np.arange(KEYS.size) + 3 * SERIES
    panel = tu.Panel(tu.Median())
    run = panel.run(KEYS, OUTCOMES, known_at=np.minimum(known, KEYS.size + 1))
    own = KEYS == 4
    times = np.where(known[own] > KEYS.size, ROUNDS + 1, np.arange(ROUNDS) + 3)
    same = tu.calibrate(OUTCOMES[own], tu.Median(), known_at=times, seed=panel._seed_of(4))

    np.testing.assert_array_equal(run.values[own], same.values)
    assert panel.calibrator(4).open == same.calibrator.open != ()


def test_keys_of_any_kind_and_columns_come_back_as_given():
    """Text keys in a list, two numbers a row."""
    run = tu.Panel(tu.Interval(0.8)).run([f"s{k}" for k in KEYS], OUTCOMES.tolist())

    assert isinstance(run.forecasts, Ends)
    assert isinstance(run.forecasts.lower, list)
    assert run.values.shape == (KEYS.size, 2)
    assert np.all(run.values[:, 0] <= run.values[:, 1])


def test_two_series_do_not_share_a_coin():
    """Their seeds differ, and with the type of the key."""
    panel = tu.Panel(tu.Median())

    assert len({panel._seed_of(key) for key in (1, 2, "1", "2")}) == 4


def test_wrong_input_is_refused_and_changes_nothing():
    """One sentence each; of several answers none is learned if one is wrong."""
    panel = tu.Panel(tu.Median())
    panel.run(KEYS[:60], OUTCOMES[:60])
    panel.predict([0, 1])
    before = panel.to_bytes()
    for act, sentence in (
        (lambda: panel.run(KEYS[:5], OUTCOMES[:4]), "keys must be of length 4"),
        (lambda: panel.run(KEYS[:4], [1.0, 2.0, np.inf, 1.0]), "outcomes must be finite"),
        (lambda: panel.predict([0, 1], [1.0]), "forecasts must be of length 2"),
        (lambda: panel.update([0, 1], [1.0]), "must be 2 each"),
        (lambda: panel.update([0, 1], [1.0, "x"]), "outcome must be a number"),
        (lambda: tu.Panel(tu.Decision(abs, lipschitz=1.0)), "cannot forecast a Decision"),
        (lambda: tu.Panel(tu.Median(), workers=0), "workers must be at least 1"),
        (lambda: panel.calibrator("none"), "There is no series 'none'"),
    ):
        with pytest.raises(InvalidArgument, match=sentence):
            act()
    for keys, sentence in (([0, 5], "Exactly one"), ([0, "x"], "no series"), ([0, 0], "twice")):
        with pytest.raises(UnknownForecast, match=sentence):
            panel.update(keys, [1.0, 2.0])

    assert panel.to_bytes() == before
