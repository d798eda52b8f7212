"""Arrays on the GPU, and the .cu files, compiled once in a process; CuPy caches them on disk."""

from __future__ import annotations

import math
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

if TYPE_CHECKING:
    import cupy

    GpuArray: TypeAlias = cupy.ndarray
    Array: TypeAlias = NDArray[Any] | GpuArray  # in the memory of either device


def on_gpu(array: object) -> bool:
    """Check whether an array of NumPy or CuPy is in the GPU's memory.

    Only its type is checked, because CuPy takes microseconds to find out where an array is.
    """
    return hasattr(type(array), "__cuda_array_interface__")


def to_gpu(array: Array) -> GpuArray:
    """Return an array in the GPU's memory, in C order."""
    if on_gpu(array) and array.flags.c_contiguous:
        return array
    import cupy

    return cupy.ascontiguousarray(cupy.asarray(array))


def pinned(shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """Allocate an array in the CPU's memory that a GPU copies from and to at full speed."""
    import cupy

    size = math.prod(shape)
    # At least a byte: CUDA refuses to allocate none.
    memory = cupy.cuda.alloc_pinned_memory(max(1, size * np.dtype(dtype).itemsize))
    return np.frombuffer(memory, dtype, size).reshape(shape)


FOLDER = Path(__file__).parent
CORE = FOLDER if (FOLDER / "core").is_dir() else FOLDER.parents[2] / "native"
"""The folder that holds ``core``, the headers of the CPU's kernels: in a clone it is src/native."""
OPTIONS = ("--fmad=false", "--std=c++17", f"-I{FOLDER}", f"-I{CORE}")
"""Without fused multiply-adds, which round once where the CPU rounds twice."""


def source_of(file: str) -> str:
    """Return the text of a .cu file."""
    return (FOLDER / file).read_text(encoding="utf-8")


@cache
def _module(file: str) -> Any:
    import cupy

    return cupy.RawModule(code=source_of(file), options=OPTIONS)


@cache
def _kernel(file: str, name: str) -> Any:
    return _module(file).get_function(name)


row_kernel = partial(_kernel, "rows.cu")
"""Return a kernel that passes over rows."""
encode_kernel = partial(_kernel, "encode.cu")
"""Return a kernel that turns numbers into codes, or reads codes back."""
forest_kernel = partial(_kernel, "forest.cu")
"""Return a kernel that grows forests."""


@cache
def predict_kernel() -> Any:
    """Return the kernel that walks rows down trees."""
    import cupy

    return cupy.RawKernel(source_of("predict.cu"), "score", options=OPTIONS)


@cache
def tree_kernel() -> Any:
    """Return the kernel whose blocks grow a tree together."""
    import cupy

    # Its blocks wait for each other, which only a cooperative launch allows.
    code = source_of("grow_tree.cu")
    return cupy.RawKernel(code, "grow_tree", options=OPTIONS, enable_cooperative_groups=True)
