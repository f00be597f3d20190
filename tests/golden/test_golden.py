"""Stored states of every format are read by this version, and go on as they did when stored."""

import json

import pytest

from golden.make import FOLDER, MAKERS, READERS, VERSIONS, told

EXAMPLES = sorted(path.stem for path in FOLDER.glob("*.bin"))
MOST_BYTES = 20_000  # of one example: they stay in the repository for good


def recorded(name):
    """Return the stored bytes and what was said after them."""
    path = FOLDER / f"{name}.bin"
    return path.read_bytes(), json.loads(path.with_suffix(".json").read_text())


def test_there_is_one_example_of_each_format():
    """Of every version up to the one that is written now, and none besides."""
    wanted = {f"{kind}-{version}" for kind in MAKERS for version in range(1, VERSIONS[kind] + 1)}

    assert set(EXAMPLES) == wanted
    assert all((FOLDER / f"{name}.bin").stat().st_size < MOST_BYTES for name in EXAMPLES)


@pytest.mark.parametrize("name", [name for name in EXAMPLES if "steered" not in name])
def test_a_stored_state_goes_on_bit_for_bit(name):
    """What was open is answered, then forty more rounds, as recorded."""
    kind = name.split("-")[0]
    data, said = recorded(name)

    assert told(kind, READERS[kind](data)) == said


@pytest.mark.parametrize("name", [name for name in EXAMPLES if "steered" in name])
def test_a_steered_state_goes_on_as_far_as_machines_agree(name):
    """Steering takes exponentials, whose last bit differs between machines: its next forecast."""
    data, said = recorded(name)
    going = told("steered", READERS["steered"](data))[:3]

    assert [float.fromhex(x) for x in going] == pytest.approx(
        [float.fromhex(x) for x in said[:3]], rel=1e-9
    )


@pytest.mark.parametrize("kind", [kind for kind in MAKERS if kind != "steered"])
def test_the_examples_are_those_that_are_made_now(kind):
    """What is written today goes on as the example does; else decision 9 says what to do."""
    made = MAKERS[kind]().to_bytes()
    stored, said = recorded(f"{kind}-{VERSIONS[kind]}")

    assert stored[:16] == made[:16]  # magic word and version
    assert told(kind, READERS[kind](made)) == said


def test_an_example_that_is_another_state_would_be_seen():
    """The companion: without the evidence the same rounds are forecast otherwise."""
    data, said = recorded(f"calibrator-{VERSIONS['calibrator']}")
    fresh = READERS["calibrator"](data)
    fresh.reset()

    assert told("calibrator", fresh) != said
