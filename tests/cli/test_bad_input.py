"""What is wrong is said in one sentence with its place, and nothing is changed."""

import gzip
import json

import pytest

from cli.support import calibrate, finished, sample, trueup_, write
from trueup.cli import _state

HEAD = "t,y,yhat\n"
ROWS = "1,3.0,2.5\n2,4.0,3.5\n3,5.0,4.5\n"
BROKEN = {
    "an unknown column": ("t,y,yhatt\n1,2,3\n", [], "a.csv has no column 'yhat': did you mean 'yhatt'?"),
    "another separator": ("t;y;yhat\n1;2;3\n", [], "a.csv has no column 'y'; it has 't;y;yhat'. Its cells seem to be apart by ';': give --delimiter."),
    "a column twice": ("y,y,yhat\n1,2,3\n", [], "a.csv has 2 columns that are called 'y'."),
    "text in numbers": (HEAD + ROWS + "4,abc,1\n", [], "a.csv, row 4 (line 5), column 'y': 'abc' is not a number."),
    "text after a cell of two lines": ('t,y,yhat\n"a\nb",1,2\n\n4,1,x\n', [], "a.csv, row 2 (line 5), column 'yhat': 'x' is not a number."),
    "digits with a line between": (HEAD + "1,1_000,1\n", [], "a.csv, row 1 (line 2), column 'y': '1_000' is not a number."),
    "an infinite number": (HEAD + "1,inf,1\n", [], "a.csv, row 1 (line 2), column 'y': 'inf' is not a finite number."),
    "an empty file": ("", [], "a.csv is empty."),
    "a line cut off": (HEAD + ROWS + "4,5", [], "a.csv, row 4 (line 5): 2 cells where the header has 3."),
    "a quote cut off": (HEAD + ROWS + '4,5,"6', [], "a.csv, line 5: unexpected end of data."),
    "time that goes back": (HEAD + ROWS + "2.5,1,1\n", ["--time", "t"], "a.csv, row 4 (line 5), column 't': 2.5 is before the row above; sort the rows by time."),
    "no time": (HEAD + ROWS + ",1,1\n", ["--time", "t"], "a.csv, row 4 (line 5), column 't': there is no time."),
    "a time that is none": (HEAD + ROWS + "noon,1,1\n", ["--time", "t"], "a.csv, row 4 (line 5), column 't': 'noon' is no time; write 2013-01-31T17:05 or a number."),
    "times and numbers": (HEAD + ROWS + "2013-01-01,1,1\n", ["--time", "t"], "a.csv, row 4 (line 5), column 't': times and plain numbers are mixed."),
    "known before its own row": (HEAD + ROWS, ["--known-at", "t"], "a.csv, row 1 (line 2), column 't': must be a row after this one, got 1."),
    "known at no row": (HEAD + "2013-01-01,1,1\n", ["--known-at", "t"], "a.csv, row 1 (line 2), column 't': must be the number of a row; for times give --time too."),
    "not said when known": (HEAD + ",1,1\n", ["--known-at", "t"], "a.csv, row 1 (line 2), column 't': the outcome is there, but not when it was known."),
    "groups of series": (HEAD + ROWS, ["--key", "t", "--group", "t"], "--key and --group cannot go together: a series has no groups."),
    "two wishes": (HEAD + ROWS, ["--mean"], "Say what to forecast by exactly one of --quantile, --mean."),
    "a level outside": (HEAD + ROWS, ["--quantile", "90"], "level must be strictly between 0 and 1, got 90.0."),
    "bounds that fall": (HEAD + ROWS, ["--bounds", "5", "-1"], "bounds must be increasing, got (5.0, -1.0)."),
    "below 0 on a scale": (HEAD + "1,1,1\n2,-1,1\n", ["--transform", "log"], "a.csv, row 2 (line 3): outcomes must be above 0 for transform='log', got -1.0."),
    "a name that is taken": (HEAD + ROWS, ["--name", "t"], "a.csv has a column 't' already; give another --name."),
    "a property that is none": (HEAD + ROWS, ["--of", "mode"], "--of must be mean, median, quantile:LEVEL or expectile:LEVEL, got mode."),
}  # fmt: skip


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Work in an empty folder that has an older output and a state."""
    monkeypatch.chdir(tmp_path)
    sample("good.csv", 50)
    assert calibrate("good.csv", "-o", "out.csv", "--state", "a.state") == 0
    return tmp_path


def contents(folder):
    """Return all files of a folder, but the input."""
    return {
        path.name: path.read_bytes() for path in folder.iterdir() if not path.name.startswith("a.c")
    }


@pytest.mark.parametrize("name", BROKEN)
def test_broken_input_is_one_sentence_and_changes_nothing(name, here, capsys):
    """Exit code 2; the older output is there, and no trace of the new one."""
    text, arguments, sentence = BROKEN[name]
    (here / "a.csv").write_text(text)
    before = contents(here)
    capsys.readouterr()

    assert calibrate("a.csv", "-o", "out.csv", "--force", *arguments) == 2
    assert capsys.readouterr().err == f"Error: {sentence}\n"
    assert contents(here) == before


def test_bytes_that_are_not_utf_8_are_named_by_their_line(here, capsys):
    """Near the beginning and far behind it."""
    for rows in (3, 5_000):
        (here / "a.csv").write_bytes(HEAD.encode() + b"1,2,3\n" * rows + b"\xe9t\xe9,1,1\n")

        assert calibrate("a.csv", "-o", "out2.csv") == 2
        expected = f"a.csv, line {rows + 2}: the byte 0xe9 is not UTF-8; save the file as UTF-8."
        assert capsys.readouterr().err.endswith(f"Error: {expected}\n")


def test_a_packed_file_that_is_cut_off_is_refused(here, capsys):
    """Whole rows before the cut do not count."""
    write("b.csv", {"y": range(9_000), "yhat": range(9_000)})
    data = gzip.compress((here / "b.csv").read_bytes())
    (here / "a.csv.gz").write_bytes(data[: len(data) // 2])

    assert calibrate("a.csv.gz", "-o", "new.csv") == 2
    assert "a.csv.gz is cut off or damaged after line " in capsys.readouterr().err
    (here / "a.csv.gz").write_bytes(b"y,yhat\n1,2\n")
    assert calibrate("a.csv.gz", "-o", "new.csv") == 2
    assert "a.csv.gz is no gzip file" in capsys.readouterr().err
    (here / "a.parquet").write_bytes(data)
    assert calibrate("a.parquet", "-o", "new.csv") == 2
    assert "a.parquet cannot be read: " in capsys.readouterr().err
    assert not (here / "new.csv").exists()


def test_json_lines_are_checked(here, capsys):
    """A line that is no object, and a column that no object has."""
    (here / "a.jsonl").write_text('{"y": 1, "yhat": 2}\n\n[1]\n')
    assert calibrate("a.jsonl") == 2
    assert "a.jsonl, line 3: a JSON object must stand there, got [1]." in capsys.readouterr().err
    (here / "a.jsonl").write_text('{"y": 1, "yhat": 2}\n\n{"y": "x", "yhat": 2}\n')
    assert calibrate("a.jsonl") == 2
    assert "a.jsonl, row 2 (line 3), column 'y': 'x' is not a number." in capsys.readouterr().err


def test_probabilities_need_outcomes_of_0_and_1(here, capsys):
    """The row is named."""
    (here / "a.csv").write_text("y,yhat\n1,0.5\n0.5,0.5\n")

    assert calibrate("a.csv", target=["--probability"]) == 2
    assert "a.csv, row 2 (line 3): outcomes must be 0 or 1, got 0.5." in capsys.readouterr().err


def test_nothing_is_overwritten_unless_it_is_wished(here, capsys):
    """Neither the output nor the page."""
    before = (here / "out.csv").read_bytes()

    assert calibrate("good.csv", "-o", "out.csv", target=["--mean"]) == 2
    assert "out.csv exists already; give --force to overwrite it." in capsys.readouterr().err
    assert (here / "out.csv").read_bytes() == before
    assert calibrate("good.csv", "-o", "out.csv", "--force", target=["--mean"]) == 0
    assert (here / "out.csv").read_bytes() != before


def test_a_name_that_says_nothing_needs_a_format(here, capsys):
    """And with one it is read."""
    (here / "a.data").write_text(HEAD + ROWS)

    assert calibrate("a.data", "-o", "b.csv") == 2
    assert "a.data: its name does not say what it is" in capsys.readouterr().err
    assert calibrate("a.data", "--format", "csv", "-o", "b.csv") == 0
    (here / "a.csv").write_text((HEAD + ROWS).replace(",", ";"))
    assert calibrate("a.csv", "--delimiter", ";", "-o", "c.csv") == 0
    assert (here / "c.csv").read_text().startswith("t;y;yhat;calibrated;")


def test_changed_options_of_a_state_are_named(here, capsys):
    """All of them, with what they were; the state stays as it was."""
    before = contents(here)
    capsys.readouterr()
    arguments = ["--seed", 4, "--group", "y", "--bounds", 0, 90, "--state", "a.state"]

    assert calibrate("good.csv", *arguments, target=["--quantile", 0.8]) == 2
    assert capsys.readouterr().err == (
        "Error: a.state was made with other options: what is forecast was Quantile(level=0.9), now"
        " Quantile(level=0.8); --bounds was not given, now [0.0, 90.0]; --seed was 0, now 4;"
        " --group was not given, now ['y'].\n"
    )
    assert contents(here) == before


def test_a_table_is_learned_once(here, capsys):
    """A second time only if it is wished."""
    before = (here / "a.state").read_bytes()

    assert calibrate("good.csv", "-o", "new.csv", "--state", "a.state") == 2
    assert "a.state has learned good.csv already; give --force" in capsys.readouterr().err
    assert (here / "a.state").read_bytes() == before
    assert not (here / "new.csv").exists()
    assert calibrate("good.csv", "-o", "new.csv", "--state", "a.state", "--force") == 0
    assert (here / "a.state").read_bytes() != before


@pytest.mark.parametrize("at", [0, 10, 30, 200, -1])
def test_a_damaged_state_is_refused(at, here, capsys):
    """Any byte of it."""
    data = bytearray((here / "a.state").read_bytes())
    data[at] ^= 1
    (here / "a.state").write_bytes(data)

    assert calibrate("good.csv", "-o", "new.csv", "--state", "a.state") == 2
    assert "a.state" in capsys.readouterr().err
    assert (here / "a.state").read_bytes() == data


def test_a_crash_between_output_and_state_loses_nothing(here, monkeypatch):
    """The output is the new one, the state the old one; the same command makes both again."""
    sample("next.csv", 80)
    before = (here / "a.state").read_bytes()
    with monkeypatch.context() as patched:
        patched.setattr(_state, "write", lambda path, data: (_ for _ in ()).throw(MemoryError))
        with pytest.raises(MemoryError):
            calibrate("next.csv", "-o", "next-out.csv", "--state", "a.state")
    first = (here / "next-out.csv").read_bytes()

    assert (here / "a.state").read_bytes() == before
    assert calibrate("next.csv", "-o", "next-out.csv", "--state", "a.state", "--force") == 0
    assert (here / "next-out.csv").read_bytes() == first
    assert (here / "a.state").read_bytes() != before
    assert sorted(path.name for path in here.iterdir()) == [
        "a.state", "good.csv", "next-out.csv", "next.csv", "out.csv",
    ]  # fmt: skip


def test_a_disk_that_is_full_leaves_everything_as_it_was(here):
    """The output does not fit, and standard output neither; exit code 1, one sentence."""
    import resource  # noqa: PLC0415 - not everywhere

    sample("big.csv", 3_000)
    before = contents(here)
    arguments = ["--outcome", "y", "--forecast", "yhat", "--mean"]

    def small():
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))

    code, out, err = finished(
        "calibrate", "big.csv", *arguments, "-o", "out.csv", "--force", "--state", "b.state",
        cwd=here, preexec_fn=small,
    )  # fmt: skip
    assert (code, out, err) == (1, "", "Error: out.csv: File too large.\n")
    with open("/dev/full", "w") as full:  # noqa: PTH123 - a device
        code, _, err = finished("calibrate", "big.csv", *arguments, cwd=here, to=full)
    assert (code, err) == (1, "Error: standard output: No space left on device.\n")
    assert contents(here) == before


def test_an_extra_that_is_missing_names_the_command_that_installs_it(here, monkeypatch, capsys):
    """Parquet and the page; nothing else needs one."""
    monkeypatch.setitem(__import__("sys").modules, "duckdb", None)
    monkeypatch.setitem(__import__("sys").modules, "altair", None)
    (here / "a.parquet").write_bytes(b"PAR1")

    assert calibrate("a.parquet") == 2
    assert "pip install 'trueup[data]'" in capsys.readouterr().err
    assert calibrate("good.csv", "-o", "b.csv", "--report", "page.html") == 2
    assert "pip install 'trueup[report]'" in capsys.readouterr().err


def test_unknown_commands_and_options_suggest_the_nearest(capsys):
    """Exit code 2."""
    assert trueup_("calibrat", "a.csv") == 2
    assert "There is no command 'calibrat': did you mean 'calibrate'?" in capsys.readouterr().err
    assert trueup_("calibrate", "a.csv", "--outcom", "y") == 2
    assert "--outcome" in capsys.readouterr().err


def test_settings_come_from_files_and_the_environment(here, monkeypatch, capsys):
    """The command line goes first, then the environment, then trueup.toml, then pyproject.toml."""

    def seed_used(*arguments):
        state = here / "s.state"
        state.unlink(missing_ok=True)
        assert calibrate("good.csv", "-o", "s.csv", "--force", "--state", state, *arguments) == 0
        data = state.read_bytes()
        size = int.from_bytes(data[24:32], "little")
        return json.loads(data[32 : 32 + size])["options"]["--seed"]

    (here / "pyproject.toml").write_text("[tool.trueup]\nseed = 3\n")
    assert seed_used() == 3
    (here / "trueup.toml").write_text("seed = 4\n[calibrate]\nseed = 5\n[watch]\nseed = 6\n")
    assert seed_used() == 5
    monkeypatch.setenv("TRUEUP_SEED", "7")
    monkeypatch.setenv("TRUEUP_MEAN", "1")  # --quantile on the command line goes before it
    assert seed_used() == 7
    assert seed_used("--seed", 8) == 8
    capsys.readouterr()
    (here / "trueup.toml").write_text("sead = 4\n")
    assert calibrate("good.csv") == 2
    assert capsys.readouterr().err == "Error: There is no setting 'sead': did you mean 'seed'?\n"
    (here / "trueup.toml").write_text("[calibrat]\nseed = 4\n")
    assert calibrate("good.csv") == 2
    assert "'calibrat', which is no command: did you mean 'calibrate'?" in capsys.readouterr().err
    (here / "trueup.toml").write_text("seed =\n")
    assert calibrate("good.csv") == 2
    assert "trueup.toml cannot be read: " in capsys.readouterr().err
