"""How a kernel is compiled: without the interpreter's lock, cached beside its source."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numba

Function = TypeVar("Function", bound=Callable[..., object])


def kernel(function: Function) -> Function:
    """Compile at the first call for each combination of array types; later processes load it."""
    compiled: Function = numba.njit(nogil=True, cache=True, error_model="numpy")(function)
    return compiled


def cores() -> int:
    """The number of threads this process may use (joblib's workers set it for their children)."""
    return int(numba.config.NUMBA_NUM_THREADS)
