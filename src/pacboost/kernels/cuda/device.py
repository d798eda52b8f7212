"""The GPU: whether there is one, what is missing if not, and arrays on it.

CuPy is imported only when a GPU is asked for.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import ParameterError

GPU = ("cuda", "gpu")
DEVICES = ("cpu", *GPU, "auto")
CELLS_WORTH_A_GPU = 20_000_000
"""Rows times columns; on fewer, a fit on the CPU is done before the GPU has warmed up."""
CELLS_WORTH_SCORING = 2_000_000
"""Fewer cells are scored on the CPU sooner, also by device="cuda"."""
BYTES_A_ROW = 36
"""What a fit holds of a row of two classes besides its codes; 8 more where rows have weights."""
CUDA_IN_DLPACK = 2
"""The number of CUDA among the devices of DLPack."""
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

    >>> predict_on_gpu("cuda", np.ones((1, 3)))
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


def on_gpu(array: Any) -> bool:
    """Check whether an array of ours is in the GPU's memory: it is NumPy's or CuPy's.

    Only its type is looked at, since CuPy takes microseconds to tell where an array lies.
    """
    return hasattr(type(array), "__cuda_array_interface__")


def flat(array: Any) -> Any:
    """Return an array in one dimension; on a GPU as it is, since kernels see no dimensions.

    >>> flat(np.ones((2, 1))).shape
    (2,)
    """
    return array if on_gpu(array) else array.reshape(-1)


def lies_on_gpu(array: Any) -> bool:
    """Check whether an array, a tensor or a column of anyone's lies in the memory of a GPU.

    >>> lies_on_gpu(np.ones(3)), lies_on_gpu([1.0, 2.0])
    (False, False)
    """
    if hasattr(array, "__cuda_array_interface__"):
        return True
    where = getattr(array, "__dlpack_device__", None)
    if where is None or isinstance(array, np.ndarray):
        return False
    try:
        return bool(where()[0] == CUDA_IN_DLPACK)
    except Exception:  # some columns of text have the method, and no memory to share
        return False


def as_cupy(array: Any) -> Any:
    """Return a CuPy array that shares the memory of another one."""
    import cupy

    shares = hasattr(array, "__cuda_array_interface__")
    return cupy.asarray(array) if shares else cupy.from_dlpack(array)


def in_host_memory(array: Any) -> Any:
    """Return labels, weights or answers in the memory of the CPU, wherever they are."""
    return as_cupy(array).get() if lies_on_gpu(array) else array


def of_the_library_of(given: Any, found: Any) -> Any:
    """Return an array as the library of another one has them: a tensor if PyTorch made that.

    >>> of_the_library_of([1.0], np.ones(1))
    array([1.])
    """
    torch = sys.modules.get("torch")
    if torch is None or not on_gpu(found) or not isinstance(given, torch.Tensor):
        return found
    return torch.from_dlpack(found)


def to_gpu(array: Any) -> Any:
    """Return an array in the GPU's memory, in C order."""
    if on_gpu(array) and array.flags.c_contiguous:
        return array
    import cupy

    return cupy.ascontiguousarray(cupy.asarray(array))


def zeros_on_gpu(shape: tuple[int, ...]) -> Any:
    """Return an array of zeros in the GPU's memory."""
    import cupy

    return cupy.zeros(shape)


def labels_at(classes: NDArray[Any], places: Any) -> Any:
    """Return the class at every place: numbers where the places are, others in the CPU's memory.

    >>> labels_at(np.array(["no", "yes"]), np.array([1, 0])).tolist()
    ['yes', 'no']
    """
    if on_gpu(places) and classes.dtype.kind in "biuf":
        return to_gpu(classes)[places]
    return classes[to_host(places)]


def pinned(shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """Reserve an array in the CPU's memory that a GPU copies from and to at full speed."""
    import cupy

    size = math.prod(shape)
    memory = cupy.cuda.alloc_pinned_memory(max(1, size * np.dtype(dtype).itemsize))
    return np.frombuffer(memory, dtype, size).reshape(shape)


def to_host(array: Any) -> Any:
    """Return an array in the memory of the CPU."""
    return array.get() if on_gpu(array) else np.asarray(array)


def copy_into(target: Any, source: Any) -> None:
    """Copy numbers into an array, wherever it is."""
    target[...] = to_gpu(source) if on_gpu(target) else source


# Compile the .cu files for the GPU at hand, once in a process; CuPy keeps them on disk.
#
# ``--fmad=false``: a fused multiply-add rounds once where the CPU rounds twice.

FOLDER = Path(__file__).parent
OPTIONS = ("--fmad=false", "--std=c++17", f"-I{FOLDER}")


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

    code = source_of("grow_tree.cu")
    return cupy.RawKernel(code, "grow_tree", options=OPTIONS, enable_cooperative_groups=True)
