"""The cuts of features, laid out for the kernels that find values among them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.arrays import Floats, Wholes
from pacboost.kernels.device import gpu_in_use

if TYPE_CHECKING:
    from pacboost.kernels.cuda.device import Array


def pack(cuts: Sequence[Floats]) -> tuple[Floats, Wholes]:
    """Concatenate the cuts of the features; return them and the start and end of each feature.

    Each feature is padded with infinities to a power of two, as src/native/tree/bins.h asks: 2 if
    there is at most one cut, otherwise 256 or more.
    """
    # The search halves the width until one cut is left, so that it has no branch to predict. One
    # width for nearly all features is a constant of the kernel.
    widths = [2 if c.size <= 1 else max(256, 1 << int(c.size).bit_length()) for c in cuts]
    offsets = np.concatenate([[0], np.cumsum(widths)]).astype(np.int64)
    packed = np.full(offsets[-1], np.inf)
    for start, feature_cuts in zip(offsets[:-1], cuts, strict=True):
        packed[start : start + feature_cuts.size] = feature_cuts
    return packed, offsets


class PackedSteps(NamedTuple):
    """The step functions of a vote in joined arrays, which the kernel reads."""

    features: NDArray[np.int64]
    """The features that the functions depend on, ascending."""
    cuts: NDArray[np.float64]
    offsets: NDArray[np.int64]
    steps: NDArray[np.float64]
    missing: NDArray[np.float64]


def pack_steps(
    features: Iterable[int], cuts: Sequence[Floats], steps: Sequence[tuple[Floats, Floats]]
) -> PackedSteps:
    """Join step functions, given the cuts of each, its steps, and its step for missing values."""
    packed, offsets = pack(cuts)
    joined = np.zeros(packed.size)
    for start, (heights, _) in zip(offsets[:-1], steps, strict=True):
        joined[start : start + heights.size] = heights.reshape(-1)
    missing = np.array([of_missing[0] for _, of_missing in steps])
    return PackedSteps(np.array(list(features), dtype=np.int64), packed, offsets, joined, missing)


def quantiles_on_gpu(
    values: Array, chosen: NDArray[np.intp] | None, max_bins: int, tie: float
) -> tuple[NDArray[Any], ...] | None:
    """Find the values next to the cuts of all columns on a GPU; None if none is in use."""
    if not gpu_in_use():
        return None
    from pacboost.kernels.cuda.encode import quantiles

    return quantiles(values, chosen, max_bins, tie)
