"""One decorator around the compiler.

No fast math: the guarantees are about sums of small signed terms, and a NaN must stay visible.
Where no folder can be written to, kernels are compiled anew in every process.
"""

from typing import Any

from numba import njit

OPTIONS: dict[str, Any] = {"error_model": "numpy", "nogil": True}


def compiled(function: Any) -> Any:
    """Compile a function of numbers and arrays."""
    try:
        return njit(cache=True, **OPTIONS)(function)
    except RuntimeError:  # no locator for a cache: read-only everywhere
        return njit(**OPTIONS)(function)
