"""Seconds from the start of Python to the first forecast: kernels compiled before, and not.

Each is a new process with a cache folder of its own. What counts is processor time, imports and the
start of Python included; on an idle machine the wall clock, in brackets, says the same. Best of
three, once for the empty folder.
"""

import os
import resource
import subprocess
import sys
import tempfile
import time

FIRST = {
    "Engine": "from trueup.engine import Engine; Engine().predict()",
    "Calibrator": "import trueup as tu; tu.Calibrator(tu.Median(), bounds=(0, 1)).predict()",
    "numba alone": "import numba",
}
WARM, EMPTY = 0.8, 6.0


def seconds(code: str, cache: str) -> tuple[float, float]:
    """Return processor time and wall-clock time of a new process."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(  # noqa: S603 - this interpreter, the code above
        [sys.executable, "-c", code], check=True, env={**os.environ, "NUMBA_CACHE_DIR": cache}
    )
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall


def main() -> None:
    """Print two lines for each."""
    for name, code in FIRST.items():
        with tempfile.TemporaryDirectory() as cache:
            empty = seconds(code, cache)
            warm = min(seconds(code, cache) for _ in range(3))
        for kind, took, most in (("empty cache", empty, EMPTY), ("warm cache", warm, WARM)):
            verdict = f"at most {most} s  {'met' if took[0] <= most else 'MISSED'}"
            shown = f"{took[0]:6.2f} s ({took[1]:.2f} s)"
            print(f"first forecast, {name:12} {kind:12} {shown:20} {verdict}", flush=True)


if __name__ == "__main__":
    main()
