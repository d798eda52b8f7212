"""Arrays of a checkpoint: of the kind and shape that the run has, or the checkpoint is refused.

Kernels do not check their indices, and rows that certify must stay those that the seed chose.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.samples.bins import Bins

Arrays = Mapping[str, NDArray[Any]]


def like(state: Arrays, name: str, own: NDArray[Any]) -> NDArray[Any]:
    """Give an array that has to look like one of the run.

    >>> like({"kinds": np.zeros(2, dtype=np.uint8)}, "kinds", np.ones(2, dtype=np.uint8)).tolist()
    [0, 0]
    """
    return of_kind(state, name, own.dtype, *own.shape)


def of_kind(state: Arrays, name: str, dtype: Any, *shape: int) -> NDArray[Any]:
    """Give an array of a type and shape; -1 stands for any length."""
    if name not in state:
        raise ValueError(f"it has no array {name!r}")
    found = state[name]
    same = len(shape) == found.ndim and all(
        wanted in (-1, size) for wanted, size in zip(shape, found.shape, strict=True)
    )
    if not same or found.dtype != np.dtype(dtype):
        raise ValueError(
            f"the array {name!r} is {found.dtype} of shape {found.shape}, and the run has "
            f"{np.dtype(dtype)} of shape {shape}"
        )
    return found


def check_rows(state: Arrays, bins: Bins, outputs: int) -> None:
    """Check codes, signs, labels and numbers of rows set apart."""
    rows = of_kind(state, "apart_rows", np.uint64, -1).size
    of_kind(state, "apart_ids", np.uint64, rows)
    codes = of_kind(state, "apart_codes", bins.dtype, len(bins.thresholds), rows)
    signs = of_kind(state, "apart_signs", np.int8, rows, outputs)
    if codes.size and int(codes.max()) > bins.missing:
        raise ValueError("a code of a row set apart is of no bin")
    if not (np.abs(signs) == 1).all():
        raise ValueError("signs of rows set apart are not -1 and +1")
    if (outputs > 1) != ("apart_labels" in state):
        raise ValueError("labels of rows set apart go with more than two classes only")
    if outputs > 1:
        labels = of_kind(state, "apart_labels", np.int64, rows)
        if labels.size and not 0 <= int(labels.min()) <= int(labels.max()) < outputs:
            raise ValueError("a label of a row set apart is of no class")
