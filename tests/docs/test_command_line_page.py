"""The guide's commands run and print what it shows; the reference is that of the commands."""

import gzip
import importlib.util
import re
import shlex
from pathlib import Path

import pytest

from trueup.cli import _demo
from trueup.cli._main import COMMANDS, run

ROOT = Path(__file__).resolve().parents[2]
GUIDE = (ROOT / "docs/guide/command-line.md").read_text()
SHOWN = [
    (lines[0], lines[1:])
    for block in re.findall(r"```\n(\$ .*?)```", GUIDE, flags=re.DOTALL)
    for part in block.split("$ ")[1:]
    for lines in [part.strip().split("\n")]
]


def shape(line):
    """Return a line without what differs: its numbers, and the room they take."""
    return re.sub(r"\s+", " ", re.sub(r"-?[\d,.]*\d", "#", line)).strip()


def test_the_guide_prints_what_the_commands_print(tmp_path, monkeypatch, capsys):
    """In their order; with fewer flights, so that numbers differ."""
    rows = gzip.decompress(_demo.SAMPLE.read_bytes()).splitlines(keepends=True)
    small = tmp_path / "small.csv.gz"
    small.write_bytes(gzip.compress(b"".join(rows[:1_501])))
    monkeypatch.setattr(_demo, "SAMPLE", small)
    monkeypatch.chdir(tmp_path)
    assert len(SHOWN) > 6
    for command, expected in SHOWN:
        program, *arguments = shlex.split(command.replace("--every 10000", "--every 500"))
        assert program == "trueup"
        code = run(arguments)
        out = capsys.readouterr()

        assert code == (2 if expected[0].startswith("Error") else 0), out.err
        printed = [shape(line) for line in (out.out + out.err).splitlines()]
        wanted = [shape(line) for line in expected]
        if wanted[-1] == "...":
            wanted, printed = wanted[:-1], printed[: len(wanted) - 1]
        if code == 0 and "calibrate" in command:  # which counts there are depends on the rows
            wanted, printed = wanted[1:], printed[1:]
        assert printed == wanted, command


@pytest.fixture(scope="module")
def reference():
    """Return the script that writes the reference."""
    spec = importlib.util.spec_from_file_location("reference", ROOT / "tools/reference.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_reference_is_current(reference):
    """If not: python tools/reference.py."""
    assert reference.TARGET.read_text() == reference.page()


def test_every_command_is_in_the_guide_and_has_examples():
    """And every option says what it is for."""
    for name in COMMANDS:
        assert f"| `trueup {name}` |" in GUIDE
        command = importlib.import_module(f"trueup.cli._{name}").command
        assert f"trueup {name}" in command.help
        options = [one for one in command.params if one.param_type_name == "option"]
        assert [one.name for one in options if not one.help] == []
