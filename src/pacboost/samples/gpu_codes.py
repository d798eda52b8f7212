"""Codes of tables in the memory of a GPU, row by row: the same as samples/blocks.py lays out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.cuda import encode, launches
from pacboost.samples import blocks
from pacboost.samples.bins import Bins
from pacboost.sources.table import Table

ROWS_GIVEN_BACK_AT_ONCE = 32 * 2**20


class GpuCodes(NamedTuple):
    """Codes (rows, stride) on the GPU, and where each feature lies in them."""

    codes: Any
    lanes: int
    features: NDArray[np.int64]

    def columns(self) -> Iterator[NDArray[np.uint8]]:
        """Return the codes feature by feature, in pieces."""
        return encode.code_columns(self.codes, self.features, ROWS_GIVEN_BACK_AT_ONCE)


def gpu_codes(table: Table, bins: Bins, *, share: bool = True) -> GpuCodes:
    """Bring the codes of a table to the GPU; ``share``: features may share lanes."""
    blocks.refuse_long_codes(bins)
    given = table.in_place()
    if given is None or table.n_columns > encode.MOST_COLUMNS:
        laid = blocks.lay_out(table, bins, share=share)
        return GpuCodes(launches.codes_by_row(laid.words, laid.lanes), laid.lanes, laid.features)
    shared = blocks.sharing(table, bins) if share else []
    while True:
        layout = layout_of(bins, shared)
        codes, clashing = encode.encode(*given, layout)
        if not clashing.size:
            return GpuCodes(codes, layout.lanes, layout.features)
        shared = blocks.without(shared, set(clashing.tolist()))


def layout_of(bins: Bins, shared: list[blocks.Defaults]) -> encode.Layout:
    """Return what the GPU has to know of bins, and of features that share lanes."""
    features, lanes = blocks.places_of(bins, shared)
    maps = np.stack([blocks.lane_map(feature, bins.missing) for feature in features])
    return encode.Layout(*bins.packed, bins.missing, features, maps, lanes)
