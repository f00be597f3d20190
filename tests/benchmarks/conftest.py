"""The benchmark is a folder of scripts: they import each other by their plain names."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks" / "streams"))


@pytest.fixture(autouse=True, scope="package")
def uncompiled():
    """Run the twins as plain Python: these streams are short, and compiling takes longer."""
    import twins  # noqa: PLC0415 - from the folder above

    compiled = {name: kernel for name, kernel in vars(twins).items() if hasattr(kernel, "py_func")}
    for name, kernel in compiled.items():
        setattr(twins, name, kernel.py_func)
    yield
    for name, kernel in compiled.items():
        setattr(twins, name, kernel)
