"""Conversions of arrays that may lie in GPU memory; CuPy is imported only if one does.

NumPy creates an array on the device of another one by ``np.zeros(shape, like=array)``.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

CUDA_IN_DLPACK = 2
"""The device type of CUDA in DLPack."""


def lies_on_gpu(array: object) -> bool:
    """Check whether an array, tensor or column of any library lies in the memory of a GPU."""
    if hasattr(array, "__cuda_array_interface__"):
        return True
    where = getattr(array, "__dlpack_device__", None)
    if where is None or isinstance(array, np.ndarray):
        return False
    try:
        return bool(where()[0] == CUDA_IN_DLPACK)
    except Exception:  # some text columns have the method but no memory to share
        return False


def as_cupy(array: object) -> Any:
    """Return a CuPy array that shares the memory of another one."""
    import cupy

    shares = hasattr(array, "__cuda_array_interface__")
    return cupy.asarray(array) if shares else cupy.from_dlpack(array)


def in_host_memory(array: Any) -> Any:
    """Return an array on a GPU as a NumPy array, and anything else unchanged."""
    is_numpy = type(array) is np.ndarray
    return as_cupy(array).get() if not is_numpy and lies_on_gpu(array) else array


def of_the_library_of(example: object, array: Any) -> Any:
    """Return ``array`` as a PyTorch tensor if ``example`` is one, and unchanged otherwise."""
    torch = sys.modules.get("torch")
    if torch is None or not lies_on_gpu(array) or not isinstance(example, torch.Tensor):
        return array
    return torch.from_dlpack(array)
