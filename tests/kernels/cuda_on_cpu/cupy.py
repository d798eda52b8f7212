"""As much of CuPy as we use, by NumPy; kernels are run on the CPU (cuda_on_cpu.h).

Whoever has this folder on the path imports it in place of CuPy.
"""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from threading import Lock
from types import SimpleNamespace
from typing import Any

import numpy as np

LIBRARIES = Path(os.environ.get("PACBOOST_CUDA_ON_CPU", "."))
"""Where the compiled kernels are: encode.so and others."""
MOST_BLOCKS = 512
"""Kernels that are launched with more pass over rows in steps, and may be launched with fewer."""
WHOLES, FLOATS = 24, 8
AT_WORK = Lock()
"""The memory of a block is there once, so threads of Python take turns."""


class ndarray(np.ndarray):  # noqa: N801 (as in CuPy)
    """An array that says it is on a GPU."""

    __cuda_array_interface__: dict[str, Any] = {}  # noqa: RUF012

    @property
    def data(self) -> Any:
        return SimpleNamespace(ptr=self.ctypes.data)

    def __array_function__(self, function: Any, types: Any, given: Any, named: Any) -> Any:
        if function in (np.asarray, np.zeros, np.ones):  # with like=
            return globals()[function.__name__](*given, **named)
        return super().__array_function__(function, types, given, named)

    def get(self, stream: Any = None, out: Any = None) -> Any:
        if out is None:
            return np.array(self.view(np.ndarray))
        out[...] = self.view(np.ndarray)
        return out

    def set(self, numbers: Any, stream: Any = None) -> None:
        self.view(np.ndarray)[...] = numbers


def asarray(array: Any) -> Any:
    return array if isinstance(array, ndarray) else np.array(array).view(ndarray)


def ascontiguousarray(array: Any) -> Any:
    return np.ascontiguousarray(array).view(ndarray)


def empty(shape: Any, dtype: Any = np.float64) -> Any:
    return np.full(shape, 77, dtype).view(ndarray)  # whoever reads it without writing fails


def zeros(shape: Any, dtype: Any = np.float64) -> Any:
    return np.zeros(shape, dtype).view(ndarray)


def ones(shape: Any, dtype: Any = np.float64) -> Any:
    return np.ones(shape, dtype).view(ndarray)


isfinite, isinf, isnan, nonzero, flatnonzero = (
    np.isfinite, np.isinf, np.isnan, np.nonzero, np.flatnonzero,
)  # fmt: skip
clip, sort, minimum, searchsorted = np.clip, np.sort, np.minimum, np.searchsorted
take_along_axis = np.take_along_axis


class Stream:
    ptr = 0

    def __init__(self, **_options: Any) -> None:
        pass

    def synchronize(self) -> None:
        pass

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_problem: object) -> None:
        pass


class Event:
    def __init__(self, **_options: Any) -> None:
        pass

    def record(self, stream: Any) -> None:
        pass

    def synchronize(self) -> None:
        pass


class Device:
    id, compute_capability = 0, "90"
    attributes = {"MultiProcessorCount": 1}  # noqa: RUF012 (so that a tree is grown by one block)

    def synchronize(self) -> None:
        pass


runtime = SimpleNamespace(
    getDeviceCount=lambda: 1,
    memGetInfo=lambda: (2**30, 2**30),
    memcpyAsync=lambda to, source, size, *_rest: ctypes.memmove(to, source, size),
    memsetAsync=lambda to, value, size, *_rest: ctypes.memset(to, value, size),
)
cuda = SimpleNamespace(
    runtime=runtime, Stream=Stream, Event=Event, Device=Device, get_current_stream=Stream,
    alloc_pinned_memory=bytearray,
)  # fmt: skip


def get_default_memory_pool() -> Any:
    return SimpleNamespace(
        get_limit=lambda: 0, total_bytes=lambda: 0, free_bytes=lambda: 0, used_bytes=lambda: 0
    )


class Function:
    """A kernel of a library."""

    max_dynamic_shared_size_bytes = 0

    def __init__(self, library: Any, name: str) -> None:
        self._run, self._kernel = library.run_on_cpu, getattr(library, name)

    def __call__(self, grid: Any, block: Any, arguments: Any, shared_mem: int = 0) -> None:
        floats = [a for a in arguments if isinstance(a, float)]
        others = [a for a in arguments if not isinstance(a, float)]
        wholes = [a.ctypes.data if isinstance(a, ndarray) else int(a) for a in others]
        assert all(isinstance(a, ndarray | np.integer) for a in others), others
        given = (ctypes.c_int64 * WHOLES)(*[ctypes.c_int64(a).value for a in wholes])
        size = grid[0] if grid[0] < MOST_BLOCKS else 2
        kernel = ctypes.cast(self._kernel, ctypes.c_void_p)
        with AT_WORK:
            self._run(kernel, given, (ctypes.c_double * FLOATS)(*floats), size, block[0])


def library_of(code: str) -> Any:
    for path in sorted(LIBRARIES.glob("*.so")):
        if path.with_suffix(".first").read_text() == code.splitlines()[0]:
            return ctypes.CDLL(str(path))
    raise FileNotFoundError(f"no library for {code.splitlines()[0]}")


class RawModule:
    def __init__(self, code: str, options: Any) -> None:
        self._library = library_of(code)

    def get_function(self, name: str) -> Function:
        return Function(self._library, name)


class RawKernel(Function):
    def __init__(self, code: str, name: str, options: Any, **_more: Any) -> None:
        super().__init__(library_of(code), name)
