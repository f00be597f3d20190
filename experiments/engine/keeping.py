"""Finished work: under which name it is kept, and writing it at once."""

import hashlib
import sys
from pathlib import Path

import trueup

HERE = Path(__file__).resolve().parent
SOURCE = Path(trueup.__file__).parent


def fingerprint(script: str) -> str:
    """Return a hash of a script and of the library as far as it is loaded now.

    So old work does not pass for new, and what the script does not use may change. To be called
    before anything runs, when all that the script imports has been imported.
    """
    files = {Path(module.__file__) for module in list(sys.modules.values()) if is_ours(module)}
    content = b"".join(path.read_bytes() for path in sorted(files))
    content += (HERE / f"{script}.py").read_bytes() + (HERE / "games.py").read_bytes()
    return f"{script}-{hashlib.sha256(content).hexdigest()[:12]}"


def is_ours(module: object) -> bool:
    """Return whether a module is a file of the library."""
    file = getattr(module, "__file__", None)
    return bool(file) and SOURCE in Path(str(file)).parents


def write(path: Path, text: str) -> None:
    """Write a file at once, so that a stop in between leaves none or all of it."""
    part = path.with_suffix(".part")
    part.write_text(text)
    part.replace(path)
