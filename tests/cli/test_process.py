"""The program as people meet it: pipes, Ctrl-C, two at once, large files, a quick --help."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import trueup as tu
from cli.support import (
    PROGRAM,
    SOURCE,
    calibrate,
    cell,
    finished,
    numbers,
    sample,
    started,
    trueup_,
)
from trueup.cli._main import COMMANDS

STREAM = ["calibrate", "-", "--outcome", "y", "--forecast", "yhat", "--median"]
FILE = ["--outcome", "y", "--forecast", "yhat", "--median"]

PEAK = """
import sys
from pathlib import Path
from trueup.cli._main import run
code = run(sys.argv[1:])
print(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0], file=sys.stderr)
sys.exit(code)
"""  # ru_maxrss of a child counts what its parent had


def lines(rows):
    """Return the lines of a table, the header first."""
    forecasts, outcomes = numbers(rows)
    body = [f"{cell(y)},{cell(x)}\n" for x, y in zip(forecasts, outcomes, strict=True)]
    return [line.encode() for line in ("y,yhat\n", *body)]


def test_help_does_without_numpy():
    """Of the program and of every command: nothing heavy is loaded."""
    code = (
        "import sys\nfrom trueup.cli._main import run\n"
        f"codes = [run(['--help']), *(run([name, '--help']) for name in {COMMANDS})]\n"
        "assert set(codes) == {0}, codes\n"
        "heavy = {'numpy', 'numba', 'duckdb', 'altair', 'scipy'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    environment = {**os.environ, "PYTHONPATH": SOURCE}
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False
    )

    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.count("Usage: trueup") == 1 + len(COMMANDS)
    assert "trueup calibrate data.csv" in answer.stdout


def test_each_line_is_answered_before_the_next_one_is_written(tmp_path):
    """Line by line as they come, then all the rest at once: the answers of one run."""
    table = lines(300)
    expected = tu.calibrate(numbers(300)[1], tu.Median(), forecasts=numbers(300)[0]).values
    process = started(*STREAM, cwd=tmp_path, stdin=subprocess.PIPE)
    process.stdin.write(table[0])
    process.stdin.flush()
    answers = [process.stdout.readline()]
    for line in table[1:6]:
        process.stdin.write(line)
        process.stdin.flush()
        answers.append(process.stdout.readline())  # waits for ever if nothing comes
    rest, err = process.communicate(b"".join(table[6:]), timeout=60)

    assert process.returncode == 0, err
    assert answers[0].startswith(b"y,yhat,calibrated,")
    said = [line.split(b",")[2] for line in (*answers[1:], *rest.splitlines())]
    assert [float(cell) for cell in said] == expected.tolist()
    assert err == b""


def test_a_stream_keeps_its_state_when_it_is_stopped_and_nobody_else_may_write_it(tmp_path):
    """After Ctrl-C the state has what was answered; while it runs, a second writer is refused."""
    table = lines(40)
    process = started(*STREAM, "--state", "a.state", cwd=tmp_path, stdin=subprocess.PIPE)
    process.stdin.write(b"".join(table[:21]))
    process.stdin.flush()
    first = [process.stdout.readline() for _ in range(21)]
    (tmp_path / "one.csv").write_bytes(b"".join(table[:2]))
    refused = trueup_("calibrate", tmp_path / "one.csv", *FILE, "--state", tmp_path / "a.state")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    code, second, _ = finished(
        *STREAM, "--state", "a.state", cwd=tmp_path, data=b"".join([table[0], *table[21:]])
    )

    assert refused == 2
    assert process.returncode == 130
    assert err.strip() == b"Interrupted."
    assert code == 0
    said = [line.split(b",")[2] for line in (*first[1:], *second.encode().splitlines()[1:])]
    expected = tu.calibrate(numbers(40)[1], tu.Median(), forecasts=numbers(40)[0]).values
    assert [float(cell) for cell in said] == expected.tolist()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.state", "one.csv"]


def test_a_wrong_line_of_a_stream_comes_after_the_answers_before_it(tmp_path):
    """However many lines arrive at once; the state has the good ones."""
    table = lines(5)
    code, out, err = finished(
        *STREAM, "--state", "a.state", cwd=tmp_path,
        data=b"".join([*table[:4], b"x,1\n", *table[4:]]),
    )  # fmt: skip

    assert code == 2
    assert len(out.splitlines()) == 4
    assert err == "Error: standard input, row 4 (line 5), column 'y': 'x' is not a number.\n"
    data = (tmp_path / "a.state").read_bytes()
    size = int.from_bytes(data[24:32], "little")
    assert json.loads(data[32 : 32 + size])["rows"] == 3


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_run_that_is_stopped_leaves_output_and_state(number, tmp_path):
    """In the middle of a file: what was there before is there, and no trace of what was not done."""
    sample(tmp_path / "a.csv", 50)
    state, out = tmp_path / "a.state", tmp_path / "out.csv"
    assert calibrate(tmp_path / "a.csv", "-o", out, "--state", state, target=["--median"]) == 0
    before = out.read_bytes(), state.read_bytes()
    os.mkfifo(tmp_path / "slow.csv")
    process = started(
        "calibrate", "slow.csv", *FILE, "-o", "out.csv", "--state", "a.state", "--force",
        cwd=tmp_path,
    )  # fmt: skip
    with (tmp_path / "slow.csv").open("wb", buffering=0) as pipe:
        pipe.write(b"".join(lines(2_000)[:1_500]))
        deadline = time.monotonic() + 60
        while not list(tmp_path.glob(".out.csv.*")) and time.monotonic() < deadline:
            time.sleep(0.01)
        process.send_signal(number)
        _, err = process.communicate(timeout=60)

    assert process.returncode == 128 + number, err
    assert (out.read_bytes(), state.read_bytes()) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "a.csv", "a.state", "out.csv", "slow.csv",
    ]  # fmt: skip


def test_a_large_file_streams_through_in_bounded_memory(tmp_path):
    """200,000 rows of 40 MB take little more memory than 2,000, and the answers are right."""
    forecasts, outcomes = numbers(200_000)
    note = "x" * 170
    cells = np.where(np.isnan(outcomes), "NA", outcomes.astype(str)).tolist()
    rows = [f"{y},{x},{note}\n" for y, x in zip(cells, forecasts.tolist(), strict=True)]
    peaks = {}
    for name, count in (("small", 2_000), ("large", 200_000)):
        (tmp_path / f"{name}.csv").write_text("y,yhat,note\n" + "".join(rows[:count]))
        arguments = ["calibrate", f"{name}.csv", *FILE, "-o", f"{name}-out.csv"]
        answer = subprocess.run(
            [sys.executable, "-c", PEAK, *arguments],
            capture_output=True, text=True, env={**os.environ, "PYTHONPATH": SOURCE}, cwd=tmp_path,
            check=True,
        )  # fmt: skip
        peaks[name] = int(answer.stderr) / 1024  # MB

    assert (tmp_path / "large.csv").stat().st_size > 40e6
    assert peaks["large"] - peaks["small"] < 25, peaks
    expected = tu.calibrate(outcomes, tu.Median(), forecasts=forecasts).values
    lines_ = (tmp_path / "large-out.csv").read_text().splitlines()[1:]
    assert [float(line.split(",")[3]) for line in lines_] == expected.tolist()


def test_a_reader_that_goes_away_is_no_crash(tmp_path):
    """As of `| head`: no traceback."""
    sample(tmp_path / "a.csv", 20_000)
    with started("calibrate", "a.csv", *FILE, cwd=tmp_path) as process:
        first = process.stdout.readline()
        process.stdout.close()
        err = process.stderr.read()

    assert first.startswith(b"y,yhat,calibrated")
    assert process.returncode == 1
    assert err == b""


def test_the_shell_can_complete(tmp_path):
    """The line in the guide prints a script."""
    environment = {**os.environ, "PYTHONPATH": SOURCE, "_TRUEUP_COMPLETE": "bash_source"}
    answer = subprocess.run(PROGRAM, capture_output=True, text=True, env=environment, check=False)

    assert "_trueup_completion" in answer.stdout


def test_a_crash_is_exit_code_1_with_a_traceback(tmp_path):
    """What nobody thought of is not hidden."""
    code = (
        "import sys\nimport trueup.cli._settings as s\n"
        "import trueup.cli._main as m\n"
        "m.settings_of = lambda commands: 1 / 0\nm.run(['watch'])"
    )
    environment = {**os.environ, "PYTHONPATH": SOURCE}
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False
    )

    assert answer.returncode == 1
    assert "ZeroDivisionError" in answer.stderr
