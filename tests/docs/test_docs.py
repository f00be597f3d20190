"""The documents say what is so: names, numbers, links, and the table in the README."""

import importlib
import re
import subprocess
import sys
from pathlib import Path
from types import FunctionType

import pytest

import trueup
from trueup.paper import minimax, swap_regret_bound, truthful_swap_regret_bound

ROOT = Path(__file__).resolve().parents[2]
FUNCTIONS = (*trueup.FROM_CALIBRATOR, *trueup.FROM_AUDITOR)
ROOMS = [
    importlib.import_module(f"trueup.{name}")
    for name in (
        *(n for n in trueup.__all__ if n.islower() and n not in ("__version__", *FUNCTIONS)),
        "paper.minimax",
    )
]
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("experiments/*/README.md")]


def rows(page, first_cell):
    """Return the cells of the table rows of a page whose first cell fits the pattern."""
    lines = (ROOT / page).read_text().splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if "|" in line]
    return [row for row in cells if re.fullmatch(first_cell, row[0])]


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.__name__)
def test_every_public_name_has_a_status(room):
    """docs/status.md names each of them in code font."""
    status = (ROOT / "docs/status.md").read_text()
    missing = [name for name in room.__all__ if f"`{name}`" not in status]

    assert missing == []


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.__name__)
def test_every_public_thing_has_a_docstring(room):
    """Of more than a word."""
    for name in room.__all__:
        thing = getattr(room, name)
        if callable(thing) and isinstance(thing, type | FunctionType):
            assert thing.__doc__, name
            assert len(thing.__doc__.split()) > 2, name


def test_every_module_is_on_the_architecture_page():
    """By its path in the package, or by the folder of its room."""
    page = (ROOT / "docs/architecture.md").read_text()
    source = ROOT / "src/trueup"
    for path in source.rglob("*.py"):
        name = path.relative_to(source).as_posix()
        known = name in page or f"`{name.split('/')[0]}/`" in page or path.name == "__init__.py"
        assert known, name


def test_every_file_named_in_the_notation_exists():
    """The last column of the table."""
    for row in rows("docs/theory/notation.md", r"(?!paper|---).+"):
        for name in re.findall(r"`([\w/]+\.py)`", row[-1]):
            assert (ROOT / "src/trueup" / name).exists(), name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_and_cited_keys_lead_somewhere(page):
    """Relative links to files, [keys] to docs/references.bib."""
    text = page.read_text()
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", text):
        assert (page.parent / target).exists(), target
    keys = re.findall(r"@\w+\{(\w+),", (ROOT / "docs/references.bib").read_text())
    for key in re.findall(r"\[([a-z]+\d{4}[a-z]+)\]", text):
        assert key in keys, key


def power(text):
    """Return the number written 10^k."""
    base, exponent = text.split("^")
    return int(base) ** int(exponent)


def test_the_bounds_of_the_theory_pages_are_those_of_the_code():
    """Each number in the two tables is recomputed."""
    table = rows("docs/theory/theorem.md", r"10\^\d+")
    assert len(table) == 4
    for size, plain, master, _ in table:
        rounds = power(size)
        for text, experts in ((plain, "msmwc"), (master, "master")):
            share = swap_regret_bound(rounds, experts=experts) / rounds
            assert float(text.split()[0]) == pytest.approx(share, rel=0.03)
    table = rows("docs/theory/truthful.md", r"10\^\d+")
    assert len(table) == 4
    for size, text in table:
        share = truthful_swap_regret_bound(power(size), 0.05) / power(size)
        assert float(text) == pytest.approx(share, rel=0.1)


def test_the_small_games_of_the_theory_page_are_those_of_the_code():
    """Each value and ratio is recomputed."""
    table = rows("docs/theory/small-games.md", r"0, 1(/2, 1)?")
    assert len(table) == 7
    for forecasts, outcomes, size, value, ratio in table:
        points = [
            [{"0": 0.0, "1/2": 0.5, "1": 1.0}[x] for x in cell.split(", ")]
            for cell in (forecasts, outcomes)
        ]
        found = minimax.value(int(size), *points)
        assert float(value) == pytest.approx(found, abs=5e-7)
        assert float(ratio) == pytest.approx(found / int(size) ** 0.5, abs=5e-4)


def test_the_readme_shows_what_the_example_prints():
    """The same methods in the same order, the same numbers up to what a machine may change."""
    printed = subprocess.run(
        [sys.executable, ROOT / "examples/demo.py"], capture_output=True, text=True, check=True
    ).stdout

    def table(text):
        lines = re.findall(r"^(\S.*?) {2,}([\d. ]+)$", text, flags=re.MULTILINE)
        return {name: [float(x) for x in numbers.split()] for name, numbers in lines}

    shown, seen = table((ROOT / "README.md").read_text()), table(printed)
    shown = {name: row for name, row in shown.items() if not name.startswith("departure_delay")}

    assert list(shown) == list(seen)
    assert len(shown) == 4
    for name, numbers in shown.items():
        assert numbers[:3] == pytest.approx(seen[name][:3], abs=0.003)
        assert numbers[3] == pytest.approx(seen[name][3], rel=0.05, abs=1)
