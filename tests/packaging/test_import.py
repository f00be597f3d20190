"""`import trueup` is light, and the entrance script says what to do where venv is missing."""

import importlib.util
import json
import os
import subprocess
import sys
import venv
from importlib.machinery import SourceFileLoader
from pathlib import Path

import pytest

import trueup

ROOT = Path(__file__).resolve().parents[2]
HEAVY = {
    "altair",
    "duckdb",
    "highspy",
    "matplotlib",
    "narwhals",
    "numba",
    "pandas",
    "plotly",
    "polars",
    "pyarrow",
    "scipy",
    "starlette",
    "vl_convert",
}


def loaded_after(code):
    """Return the top-level modules loaded by code in a new interpreter."""
    listing = "print(json.dumps(sorted({m.split('.')[0] for m in sys.modules})))"
    command = f"import sys, json\n{code}\n{listing}"
    answer = subprocess.run(
        [sys.executable, "-c", command], capture_output=True, text=True, check=True
    )
    return set(json.loads(answer.stdout))


def test_import_trueup_loads_nothing_heavy():
    """No solver, compiler, plotting, web or dataframe code."""
    assert loaded_after("import trueup") & HEAVY == set()


def test_rooms_load_what_they_need_and_no_more():
    """The engine loads the compiler; a linear program loads HiGHS alone."""
    every = "import trueup as t\n[getattr(t, name) for name in t.__all__]"
    program = (
        "import trueup as t, numpy as np\nb = t.grid.MultiScaleBins(0.125)\n"
        "t.paper.solve_mixture(np.random.default_rng(0).uniform(size=(b.n_pairs, 4)) * b.live, b)"
    )

    assert loaded_after(every) & HEAVY <= {"numba", "scipy"}  # the engine's compiler may look
    assert loaded_after(program) & HEAVY == {"highspy"}


def test_rooms_are_reached_as_attributes_and_unknown_names_are_refused():
    """Lazy submodules behave like modules."""
    assert trueup.paper.EfficientPredictor.__name__ == "EfficientPredictor"
    assert "metrics" in dir(trueup)
    with pytest.raises(AttributeError, match="no attribute 'papers'"):
        _ = trueup.papers


@pytest.fixture
def entrance():
    """Return ./run as a module."""
    loader = SourceFileLoader("entrance", str(ROOT / "run"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("entrance", loader))
    loader.exec_module(module)
    return module


def test_a_missing_venv_is_answered_with_the_line_that_installs_it(entrance, monkeypatch):
    """As on a fresh Debian."""
    monkeypatch.setitem(sys.modules, "ensurepip", None)
    with pytest.raises(SystemExit, match=r"sudo apt install python3\.\d+-venv"):
        entrance.make_environment(fresh=False)


def test_a_folder_of_somebody_else_is_left_alone(entrance, monkeypatch, tmp_path):
    """A TRUEUP_VENV that is no environment is refused, and nothing in it is touched."""
    (tmp_path / "thesis.txt").write_text("mine")
    monkeypatch.setattr(entrance, "VENV", tmp_path)
    with pytest.raises(SystemExit, match="is a folder with something else in it"):
        entrance.make_environment(fresh=True)

    assert (tmp_path / "thesis.txt").read_text() == "mine"


def test_an_environment_that_was_there_before_is_used(entrance, monkeypatch, tmp_path):
    """As `python3 -m venv .venv` leaves it: its interpreter is a link to this one."""
    monkeypatch.setattr(venv.EnvBuilder, "_setup_pip", lambda self, context: None)  # takes seconds
    venv.EnvBuilder(symlinks=os.name != "nt").create(tmp_path)
    (tmp_path / "kept.txt").write_text("mine")
    monkeypatch.setattr(entrance, "VENV", tmp_path)
    monkeypatch.setattr(entrance, "PYTHON", tmp_path / entrance.BIN.name / "python")
    entrance.make_environment(fresh=False)

    assert (tmp_path / "kept.txt").read_text() == "mine"
    assert entrance.PYTHON.exists()


@pytest.mark.parametrize("key", ["version", "version_info"])
def test_an_environment_of_another_python_is_refused(entrance, monkeypatch, tmp_path, key):
    """And left as it is; tools differ in the key they write."""
    (tmp_path / "pyvenv.cfg").write_text(f"home = /usr/bin\n{key} = 3.6.15\n")
    monkeypatch.setattr(entrance, "VENV", tmp_path)
    with pytest.raises(SystemExit, match=r"is not of Python 3\.\d+; remove it or name another"):
        entrance.make_environment(fresh=False)

    assert [path.name for path in tmp_path.iterdir()] == ["pyvenv.cfg"]


def test_an_unknown_recipe_is_named_and_the_help_printed(entrance, capsys):
    """And exits with an error; asking for help does not."""
    with pytest.raises(SystemExit, match=r"There is no recipe 'nonsense'"):
        entrance.main(["nonsense"])
    with pytest.raises(SystemExit, match=r"Name an experiment: .*\bpaper\b"):
        entrance.main(["experiment", "nonsense"])
    entrance.main(["--help"])

    assert "./run demo" in capsys.readouterr().out
