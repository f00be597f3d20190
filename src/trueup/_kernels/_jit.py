"""One decorator around the compiler.

No fast math: the guarantees are about sums of small signed terms, and a NaN must stay visible.
No reference counts either: every call of one kernel by another would count up and down, atomically,
for each array, which is more than half of a round. So a kernel allocates nothing: it is given its
scratch, and copies stretches of an array number by number. (What needs memory does not compile.)
Where no folder can be written to, kernels are compiled anew in every process.
"""

from typing import Any

from numba import njit

OPTIONS: dict[str, Any] = {
    "error_model": "numpy",
    "nogil": True,
    "no_cfunc_wrapper": True,
    "_nrt": False,
}


def compiled(function: Any) -> Any:
    """Compile a function of numbers and arrays."""
    return _cached(function, OPTIONS)


def compiled_with_memory(function: Any) -> Any:
    """Compile a function that makes arrays of its own, off the path of a single round."""
    return _cached(function, OPTIONS | {"_nrt": True})


def _cached(function: Any, options: dict[str, Any]) -> Any:
    try:
        return njit(cache=True, **options)(function)
    except RuntimeError:  # no locator for a cache: read-only everywhere
        return njit(**options)(function)
