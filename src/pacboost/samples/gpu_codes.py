"""Codes of a table in the memory of a GPU, row by row; samples/blocks.py assigns the lanes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.cuda import encode
from pacboost.samples.bins import Bins
from pacboost.samples.blocks import encode_without_clashes, lane_map, lay_out
from pacboost.sources.table import Table

MAX_ROWS_PER_COPY = 32 * 2**20


class GpuCodes(NamedTuple):
    """Codes (rows, stride) on the GPU, and where each feature lies in them."""

    codes: Any
    lanes: int
    features: NDArray[np.int64]

    @property
    def on_gpu(self) -> bool:
        return True

    def columns(self) -> Iterator[NDArray[np.uint8]]:
        """Return the codes feature by feature, in parts of at most ``MAX_ROWS_PER_COPY`` rows."""
        return encode.code_columns(self.codes, self.features, MAX_ROWS_PER_COPY)


def gpu_codes(table: Table, bins: Bins, *, share: bool = True) -> GpuCodes:
    """Bring the codes of a table to the GPU; ``share``: features may share lanes."""
    rows = table.in_place()
    if rows is None or table.n_columns > encode.MAX_COLUMNS:
        from pacboost.kernels.cuda.launches import codes_by_row

        blocks = lay_out(table, bins, share=share)
        codes = codes_by_row(blocks.words, blocks.lanes)
        return GpuCodes(codes, blocks.lanes, blocks.features)
    values, chosen = rows

    def on_gpu(features: NDArray[np.int64], lanes: int) -> tuple[Any, set[int]]:
        codes, clashing = encode.encode(values, chosen, layout_of(bins, features, lanes))
        return codes, set(clashing.tolist())

    return GpuCodes(*encode_without_clashes(table, bins, on_gpu, share=share))


def layout_of(bins: Bins, features: NDArray[np.int64], lanes: int) -> encode.Layout:
    """Return what the GPU needs to encode values: cuts, lanes, and the code of each bin."""
    maps = np.stack([lane_map(feature, bins.missing) for feature in features])
    return encode.Layout(*bins.packed, bins.missing, features, maps, lanes)
