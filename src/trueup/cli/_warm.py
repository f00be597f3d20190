"""The first run compiles: for the demo, on two cores at once.

A second process compiles one half of what is needed and leaves it in the compiler's cache, where
this one finds it. Nothing happens where it is there already.
"""

import subprocess
import sys
from pathlib import Path

import click

from trueup._kernels import _engine as kernels
from trueup.calibrator import Calibrator
from trueup.properties import Quantile

REST = """
from trueup import Auditor, Calibrator, Quantile
auditor = Auditor(Quantile(0.9))
auditor.add([0.5], [0.5])
auditor.result()
calibrator = Calibrator(Quantile(0.9))  # that has no range yet: it learns, but draws nothing
calibrator.predict()
calibrator.update(1.0)
"""


def warm() -> bool:
    """Compile what is not there; say whether that was so."""
    stats = getattr(kernels.ask, "stats", None)  # none where nothing is compiled
    folder = None if stats is None else stats.cache_path
    if folder is None or any(Path(folder).glob("_engine.ask-*.nbi")):
        return False
    click.echo("Compiling, this once ...", err=True)
    command = [sys.executable, "-c", REST]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL):  # noqa: S603 - this interpreter
        Calibrator(Quantile(0.9), bounds=(0.0, 1.0)).predict(0.5)
    return True
