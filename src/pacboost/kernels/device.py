"""Whether there is a GPU, what is missing if not, and whether it is in use."""

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
CELLS_WORTH_A_GPU = 20_000_000
"""Rows times columns; on fewer, a fit on the CPU is done before the GPU has warmed up."""
CELLS_WORTH_SCORING = 2_000_000
"""Fewer cells are scored on the CPU sooner, also by device="cuda"."""
BYTES_A_ROW = 36
"""What a fit holds of a row of two classes besides its codes; 8 more where rows have weights."""
LEAST_CAPABILITY = 70
"""Compute capability 7.0 (Volta) and newer let blocks wait for each other without a risk."""

_in_use: ContextVar[dict[Any, Any] | None] = ContextVar("pacboost_cuda", default=None)
"""Where a GPU is in use: what the passes over rows have found, for those that come after them."""


@cache
def what_is_missing() -> str:
    """Return why no GPU can be used, or nothing if one can."""
    try:
        import cupy
    except ImportError:
        return "CuPy is not installed: pip install 'pacboost[cuda]'"
    try:
        if cupy.cuda.runtime.getDeviceCount() < 1:
            return "CUDA finds no GPU"
        capability = int(cupy.cuda.Device().compute_capability)
    except Exception as error:
        return f"CUDA does not work on this machine ({str(error).splitlines()[0]})"
    if capability < LEAST_CAPABILITY:
        return f"the GPU has compute capability {capability / 10}; 7.0 or newer is needed"
    return ""


def describe() -> str:
    """Name the GPU and its memory."""
    import cupy

    found = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)
    return f"{found['name'].decode()}, {found['totalGlobalMem'] / 2**30:.0f} GiB"


def use_gpu(device: Any, cells: int) -> bool:
    """Check whether a fit on so many rows times columns runs on the GPU.

    >>> use_gpu("cpu", 10**9), use_gpu("auto", 1_000)
    (False, False)
    """
    if device not in DEVICES:
        allowed = ", ".join(map(repr, DEVICES))
        raise ParameterError(f"device is {device!r}; it may be {allowed}")
    if device == "cpu" or (device == "auto" and cells < CELLS_WORTH_A_GPU):
        return False
    missing = what_is_missing()
    if missing and device in GPU:
        raise ParameterError(
            f"device is {device!r}, but {missing}. Set device='cpu', or 'auto' to use a GPU only "
            "where there is one"
        )
    return not missing


def predict_on_gpu(device: Any, X: Any) -> bool:
    """Check whether rows are scored on the GPU: where there is one, and the table is large.

    A model that was fitted on a GPU predicts without one, too.

    >>> predict_on_gpu("cuda", [[1.0, 2.0]])
    False
    """
    if device == "cpu":
        return False
    cells = math.prod(getattr(X, "shape", (0,)))
    worth = lies_on_gpu(X) or cells >= (
        CELLS_WORTH_A_GPU if device == "auto" else CELLS_WORTH_SCORING
    )
    return worth and not what_is_missing()


@contextmanager
def using_gpu(yes: bool, columns: int = 0) -> Iterator[None]:
    """Work on the GPU inside this block, or do not.

    If its memory does not suffice, an error says how many rows of so many columns would fit.
    """
    each = -(-columns // 4) * 4 + BYTES_A_ROW
    limited = limited_memory(each, columns, "set max_leaves lower") if yes else nullcontext()
    token = _in_use.set({} if yes else None)
    try:
        with limited:
            yield
    finally:
        _in_use.reset(token)


@contextmanager
def limited_memory(bytes_a_row: int, columns: int, advice: str) -> Iterator[None]:
    """If the memory of the GPU does not suffice, raise an error that says how many rows fit."""
    try:
        yield
    except Exception as error:
        if type(error).__name__ == "OutOfMemoryError":
            raise ParameterError(_too_large(bytes_a_row, columns, advice)) from error
        raise


def _too_large(bytes_a_row: int, columns: int, advice: str) -> str:
    import cupy

    cupy.get_default_memory_pool().free_all_blocks()
    free, total = cupy.cuda.runtime.memGetInfo()
    limit = cupy.get_default_memory_pool().get_limit() or free
    fits = min(free, limit) // bytes_a_row
    return (
        f"the memory of the GPU does not suffice: {free / 2**30:.1f} of {total / 2**30:.1f} GiB "
        f"are free, enough for about {fits:,} rows of {columns} columns. Give fewer rows, "
        f"{advice}, or set device='cpu'"
    )


def gpu_in_use() -> bool:
    """Check whether trees are grown on the GPU here."""
    return _in_use.get() is not None


def found_so_far() -> dict[Any, Any]:
    """Return what is kept until ``using_gpu`` ends."""
    found = _in_use.get()
    return {} if found is None else found
