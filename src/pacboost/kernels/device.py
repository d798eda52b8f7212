"""Find out whether a GPU is available, what is missing if not, and whether it is in use."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from functools import cache
from typing import Any

from pacboost.errors import ParameterError
from pacboost.numerics.memory import lies_on_gpu

GPU = ("cuda", "gpu")
DEVICES = ("cpu", *GPU, "auto")
MIN_CELLS_TO_FIT = 20_000_000
"""Rows times columns; on fewer, a fit on the CPU ends before the GPU has warmed up."""
MIN_CELLS_TO_SCORE = 2_000_000
"""Rows times columns; fewer cells are scored faster on the CPU, also with device="cuda"."""
BYTES_PER_ROW = 36
"""Memory of a row of two classes besides its codes; 8 bytes more if rows have weights."""
MIN_CAPABILITY = 70
"""Blocks can wait for each other safely from compute capability 7.0 (Volta) on."""

_in_use: ContextVar[dict[Any, Any] | None] = ContextVar("pacboost_cuda", default=None)
"""While a GPU is in use: the results of passes over rows that later ones can reuse."""


@cache
def what_is_missing() -> str:
    """Return why no GPU can be used; an empty string if one can."""
    try:
        import cupy
    except ImportError:
        return "CuPy is not installed: pip install 'pacboost[cuda]'"
    try:
        if cupy.cuda.runtime.getDeviceCount() < 1:
            return "CUDA finds no GPU"
        capability = int(cupy.cuda.Device().compute_capability)
    # CuPy has other errors for each library that is missing; whichever it is, the CPU is used.
    except Exception as error:
        return f"CUDA does not work on this machine ({str(error).splitlines()[0]})"
    if capability < MIN_CAPABILITY:
        return f"the GPU has compute capability {capability / 10}; 7.0 or newer is needed"
    return ""


def describe() -> str:
    """Return the name of the GPU and its memory."""
    import cupy

    properties = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)
    return f"{properties['name'].decode()}, {properties['totalGlobalMem'] / 2**30:.0f} GiB"


def use_gpu(device: object, cells: int) -> bool:
    """Check whether a fit on ``cells`` rows times columns runs on the GPU."""
    if device not in DEVICES:
        allowed = ", ".join(map(repr, DEVICES))
        raise ParameterError(f"device is {device!r}; it may be {allowed}", parameter="device")
    if device == "cpu" or (device == "auto" and cells < MIN_CELLS_TO_FIT):
        return False
    missing = what_is_missing()
    if missing and device in GPU:
        raise ParameterError(
            f"device is {device!r}, but {missing}. Set device to 'cpu', or 'auto' to use a GPU "
            "only if one is available",
            parameter="device",
        )
    return not missing


def predict_on_gpu(device: object, X: object) -> bool:
    """Check whether rows are scored on the GPU: if it is available and the table is large.

    A model that was fitted on a GPU also predicts without one.
    """
    if device == "cpu":
        return False
    cells = math.prod(getattr(X, "shape", (0,)))
    # Rows that are on the GPU would have to be copied back.
    is_large = lies_on_gpu(X) or cells >= (
        MIN_CELLS_TO_FIT if device == "auto" else MIN_CELLS_TO_SCORE
    )
    return is_large and not what_is_missing()


@contextmanager
def using_gpu(yes: bool, columns: int = 0) -> Iterator[None]:
    """Use the GPU inside this block, or not.

    If its memory does not suffice, the error says how many rows would fit.
    """
    bytes_per_row = -(-columns // 4) * 4 + BYTES_PER_ROW
    check = limited_memory(bytes_per_row, columns, "set max_leaves lower") if yes else nullcontext()
    token = _in_use.set({} if yes else None)
    try:
        with check:
            yield
    finally:
        _in_use.reset(token)


@contextmanager
def limited_memory(bytes_a_row: int, columns: int, advice: str) -> Iterator[None]:
    """If the memory of the GPU does not suffice, raise an error that says how many rows fit."""
    try:
        yield
    except Exception as error:
        # By name, since CuPy, which has the class, may not be installed.
        if type(error).__name__ == "OutOfMemoryError":
            raise ParameterError(
                _too_large(bytes_a_row, columns, advice), parameter="device"
            ) from error
        raise


def _too_large(bytes_a_row: int, columns: int, advice: str) -> str:
    import cupy

    # Memory that CuPy keeps for later is free for a smaller fit.
    cupy.get_default_memory_pool().free_all_blocks()
    free, total = cupy.cuda.runtime.memGetInfo()
    limit = cupy.get_default_memory_pool().get_limit() or free
    fits = min(free, limit) // bytes_a_row
    return (
        f"the memory of the GPU does not suffice: {free / 2**30:.1f} of {total / 2**30:.1f} GiB "
        f"are free, enough for about {fits:,} rows of {columns} columns. Give fewer rows, "
        f"{advice}, or set device to 'cpu'"
    )


def gpu_in_use() -> bool:
    """Check whether the GPU is in use here."""
    return _in_use.get() is not None


def stored_results() -> dict[Any, Any]:
    """Return the results that are stored until ``using_gpu`` ends."""
    results = _in_use.get()
    return {} if results is None else results
