"""Find each value among the sorted cuts of its feature: to encode rows, and to score them.

A value's code is the number of cuts it lies above; one more code stands for missing values (NaN).
The cuts of the features are concatenated, each padded with infinities to a power of two: 2 if there
is at most one cut, otherwise 256 or more. The eight unrolled steps make this fast: they have no
branch, and a look-up takes 9 ns where an ordinary binary search takes 74 (one core, 255 bins).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.device import gpu_in_use
from pacboost.kernels.runtime import Cells, Floats, Wholes
from pacboost.kernels.runtime.jit import kernel, part_of_kernels, uncounted

if TYPE_CHECKING:
    from pacboost.kernels.cuda.device import Array

ROWS_PER_TILE = 256  # a tile of a C-ordered matrix stays in the second-level cache
HALF = np.uint64(128)  # of 256 cuts, the width of most features


def pack(cuts: Sequence[Floats]) -> tuple[Floats, Wholes]:
    """Concatenate the cuts of the features; return them and the start and end of each feature."""
    widths = [2 if c.size <= 1 else max(256, 1 << int(c.size).bit_length()) for c in cuts]
    offsets = np.concatenate([[0], np.cumsum(widths)]).astype(np.int64)
    packed = np.full(offsets[-1], np.inf)
    for start, feature_cuts in zip(offsets[:-1], cuts, strict=True):
        packed[start : start + feature_cuts.size] = feature_cuts
    return packed, offsets


def quantiles_on_gpu(
    values: Array, chosen: NDArray[np.intp] | None, max_bins: int, tie: float
) -> tuple[NDArray[Any], ...] | None:
    """Find the values next to the cuts of all columns on a GPU; None if none is in use."""
    if not gpu_in_use():
        return None
    from pacboost.kernels.cuda.encode import quantiles

    return quantiles(values, chosen, max_bins, tie)


@part_of_kernels
def rank(cuts: Floats, value: float, step: np.uint64) -> np.uint64:
    """Count the cuts below a value; ``step``, a power of 2, is half of the number of cuts.

    There is no branch, and LLVM unrolls the loop if the first step is a constant.
    """
    low = np.uint64(0)
    while step > 0:
        low += step * np.uint64(cuts[low + step - np.uint64(1)] < value)
        step >>= np.uint64(1)
    return low


@part_of_kernels
def write_ranks(cuts: Floats, column: NDArray[np.floating], out: Cells) -> None:
    """Write how many cuts lie below each value; the most common number of cuts is a constant."""
    if cuts.size == 256:
        for i in range(column.size):
            out[i] = rank(cuts, column[i], HALF)
    else:
        for i in range(column.size):
            out[i] = rank(cuts, column[i], np.uint64(cuts.size >> 1))


@uncounted
def encode(
    values: NDArray[np.floating], first: int, features: Wholes, cuts: Floats, offsets: Wholes,
    missing: int, codes: Cells, start: int,
) -> None:  # fmt: skip
    """Write the codes of some features, one line for each, from row ``start`` on.

    The columns of ``values`` are the features from ``first`` on.
    """
    for tile in range(0, values.shape[0], ROWS_PER_TILE):
        for j in range(features.size):
            column = values[tile : tile + ROWS_PER_TILE, features[j] - first]
            out = codes[j, start + tile : start + tile + ROWS_PER_TILE]
            feature_cuts = cuts[offsets[features[j]] : offsets[features[j] + 1]]
            if feature_cuts.size == 2:
                for i in range(column.size):
                    out[i] = feature_cuts[0] < column[i]
            else:
                write_ranks(feature_cuts, column, out)
            for i in range(column.size):  # separate, so that the loops above have no branches
                if np.isnan(column[i]):
                    out[i] = missing


@kernel
def encode_rows(
    values: NDArray[np.floating], rows: Wholes, cuts: Floats, offsets: Wholes, missing: int,
    codes: Cells,
) -> bool:  # fmt: skip
    """Write the codes of some rows of a matrix; return whether no value is infinite."""
    finite = True
    copied = np.empty((ROWS_PER_TILE, values.shape[1]), dtype=values.dtype)
    for tile in range(0, rows.size, ROWS_PER_TILE):
        tile_rows = rows[tile : tile + ROWS_PER_TILE]
        for i in range(tile_rows.size):
            for j in range(values.shape[1]):
                copied[i, j] = values[tile_rows[i], j]
        for j in range(codes.shape[0]):
            out = codes[j, tile : tile + ROWS_PER_TILE]
            write_ranks(cuts[offsets[j] : offsets[j + 1]], copied[: tile_rows.size, j], out)
            for i in range(tile_rows.size):
                if not np.isfinite(copied[i, j]):
                    out[i] = missing
                    finite = finite and np.isnan(copied[i, j])
    return finite


@kernel
def score(
    values: NDArray[np.floating], columns: Wholes, cuts: Floats, offsets: Wholes, steps: Floats,
    missing: Floats, scores: Floats,
) -> None:  # fmt: skip
    """Add to each row's score the step of its value, for some columns.

    ``steps`` are laid out like the cuts: a feature's k-th step is the one above k of its cuts.
    """
    for tile in range(0, values.shape[0], ROWS_PER_TILE):
        out = scores[tile : tile + ROWS_PER_TILE]
        for j in range(columns.size):
            column = values[tile : tile + ROWS_PER_TILE, columns[j]]
            feature_cuts = cuts[offsets[j] : offsets[j + 1]]
            heights = steps[offsets[j] : offsets[j + 1]]
            if feature_cuts.size == 256:
                for i in range(column.size):
                    out[i] += heights[rank(feature_cuts, column[i], HALF)]
            else:
                step = np.uint64(feature_cuts.size >> 1)
                for i in range(column.size):
                    out[i] += heights[rank(feature_cuts, column[i], step)]
            for i in range(column.size):
                if np.isnan(column[i]):
                    out[i] += missing[j] - heights[0]  # exact: see numerics/exact.py
