"""Arrays of any library that may lie in the memory of a GPU; CuPy is imported only if one does.

NumPy makes arrays where another one lies: ``np.zeros(shape, like=array)``.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

CUDA_IN_DLPACK = 2
"""The number of CUDA among the devices of DLPack."""


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
    """Return an array in the memory of the CPU, wherever it is; anything else as it came."""
    plain = type(array) is np.ndarray
    return as_cupy(array).get() if not plain and lies_on_gpu(array) else array


def of_the_library_of(given: Any, found: Any) -> Any:
    """Return an array as the library of another one has them: a tensor if PyTorch made that.

    >>> of_the_library_of([1.0], np.ones(1))
    array([1.])
    """
    torch = sys.modules.get("torch")
    if torch is None or not lies_on_gpu(found) or not isinstance(given, torch.Tensor):
        return found
    return torch.from_dlpack(found)
