"""Codes laid out for trees: eight lanes of a row in one 64-bit word.

Features that are never away from their default together (the columns of a one-hot encoding) share
a lane, whose code encodes which of them it is and its bin. Covertype's 54 columns fit into 12
lanes this way, so a tree counts four times fewer cells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import ParameterError
from pacboost.kernels import layout
from pacboost.kernels.native import native
from pacboost.kernels.threads import each_rows
from pacboost.samples.bins import Bins, Codes
from pacboost.samples.coded_table import CodedTable
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.table import Table
from pacboost.sources.values import Values

MAX_ROWS_COMPARED = 20_000
"""Features that may share a lane are found on this many rows, and checked on all."""
ROWS_PER_TILE = 4_096
MAX_CODES_PER_LANE = 255
MAX_BINS_TO_SHARE = 200
"""Bins hold about equally many rows: a feature whose default has half of them has few bins."""
GROUPS_PER_COMPARISON = 128

Defaults = dict[int, int]
"""The default code of each feature that shares a lane."""


@dataclass(frozen=True, eq=False)
class Blocks:
    """All rows of a table as words (blocks, rows), and where each feature lies in them."""

    words: NDArray[np.uint64]
    lanes: int
    features: NDArray[np.int64]
    """A line for each feature, with the columns LANE to MONOTONE of kernels/layout.py."""
    on_gpu: ClassVar[bool] = False

    def columns(self) -> Iterator[NDArray[np.uint8]]:
        """Return the codes feature by feature, where none share a lane."""
        for lane in self.features[:, layout.LANE].tolist():
            yield (self.words[lane >> 3] >> np.uint64(8 * (lane & 7))).astype(np.uint8)


def lay_out(table: Table, bins: Bins, *, share: bool = True) -> Blocks:
    """Encode a table into words; with ``share``, features may share lanes."""

    def in_words(features: NDArray[np.int64], lanes: int) -> tuple[NDArray[np.uint64], set[int]]:
        words = np.zeros((max(1, -(-lanes // 8)), table.n_rows), dtype=np.uint64)
        return words, _fill(table, bins, features, words)

    return Blocks(*encode_without_clashes(table, bins, in_words, share=share))


def encode_without_clashes(
    table: Table, bins: Bins, coded: Callable[..., tuple[Any, set[int]]], *, share: bool
) -> tuple[Any, int, NDArray[np.int64]]:
    """Encode features into lanes until those that share one do not clash."""
    refuse_long_codes(bins)
    shared = sharing(table, bins) if share else []
    while True:
        features, lanes = places_of(bins, shared)
        codes, clashing = coded(features, lanes)
        if not clashing:
            return codes, lanes, features
        # a clash would give two rows the code of one: the features get lanes of their own, and all
        # is encoded again
        shared = [{j: d for j, d in group.items() if j not in clashing} for group in shared]


def refuse_long_codes(bins: Bins) -> None:
    """Raise if codes take more than a byte."""
    if bins.missing > MAX_CODES_PER_LANE:
        raise ParameterError(
            f"trees read codes of one byte, but {bins.missing + 1} are needed; "
            f"set max_bins to {MAX_CODES_PER_LANE} or less",
            parameter="max_bins",
        )


def sharing(table: Table, bins: Bins) -> list[Defaults]:
    """Group features of which, on some rows, at most one differs from its default."""
    if sum(_size(bins, j) <= MAX_BINS_TO_SHARE for j in range(table.n_columns)) < 2:
        return []
    step, stored_codes = max(1, table.n_rows // MAX_ROWS_COMPARED), _codes_of(table, bins)
    some = np.arange(0, table.n_rows, step)
    if stored_codes is None:
        rows = table.take(some)  # copying all columns of one array at once is faster
        one_array = table.in_place() is not None and not table.levels
        codes: Codes = bins.encode(ArrayTable(rows.rows()) if one_array else rows)
    else:
        codes = stored_codes[:, some]
    away: dict[int, NDArray[np.uint64]] = {}
    """Bits of rows, 64 in a word: with thousands of features each is compared with most others."""
    defaults: Defaults = {}
    distances: dict[int, int] = {}
    for j, column in enumerate(codes):
        counts = np.bincount(column, minlength=bins.missing + 1)
        if 2 * counts.max() > column.size and counts[bins.missing] == 0 and _size(bins, j) > 1:
            defaults[j] = int(counts.argmax())
            away[j] = _bits(column != defaults[j])
            distances[j] = column.size - int(counts.max())
    groups: list[Defaults] = []
    taken = np.zeros((len(away), -(-some.size // 64)), dtype=np.uint64)
    sizes = np.zeros(len(away), dtype=np.int64)
    place_of: dict[int, int] = {}
    for j in sorted(away, key=lambda j: (-distances[j], j)):
        # a feature that is rarely away fits everywhere in a sample: it is probably one of the
        # columns beside it, as in a one-hot encoding, and elsewhere all would be encoded again
        beside = [place_of[k] for k in (j - 1, j + 1) if k in place_of and distances[j] == 0]
        place = _first_free(
            taken[: len(groups)], sizes[: len(groups)], away[j], _size(bins, j), beside
        )
        if place == len(groups):
            groups.append({})
        groups[place][j], place_of[j] = defaults[j], place
        taken[place] |= away[j]
        sizes[place] += _size(bins, j) - 1
    return [group for group in groups if len(group) > 1]


def _bits(flags: NDArray[np.bool_]) -> NDArray[np.uint64]:
    words = np.zeros(8 * -(-flags.size // 64), dtype=np.uint8)
    packed = np.packbits(flags)
    words[: packed.size] = packed
    return words.view(np.uint64)


def _first_free(
    taken: NDArray[np.uint64], sizes: NDArray[np.int64], bits: NDArray[np.uint64], size: int,
    beside: list[int],
) -> int:  # fmt: skip
    """Return the first group with room for ``size`` codes and none of these bits, or a new one.

    The groups ``beside`` are tried first.
    """
    order = np.array([*beside, *range(len(sizes))], dtype=np.int64)
    roomy = order[sizes[order] + size <= MAX_CODES_PER_LANE]
    for start in range(0, roomy.size, GROUPS_PER_COMPARISON):
        some = roomy[start : start + GROUPS_PER_COMPARISON]
        free = ~(taken[some] & bits).any(axis=1)
        if free.any():
            return int(some[free.argmax()])
    return len(taken)


def places_of(bins: Bins, shared: list[Defaults]) -> tuple[NDArray[np.int64], int]:
    """Return the lane and codes of every feature (see ``Blocks``), and the number of lanes."""
    places = np.zeros((len(bins.thresholds), layout.FEATURE_COLUMNS), dtype=np.int64)
    places[:, layout.BINS] = [_size(bins, j) for j in range(len(bins.thresholds))]
    places[:, layout.CATEGORY] = bins.levels > 0
    places[:, layout.DEFAULT] = -1
    lane = 0
    for group in (group for group in shared if len(group) > 1):
        code = 1
        for j, default in group.items():
            columns = [layout.LANE, layout.BASE, layout.DEFAULT]
            places[j, columns] = lane, code, default
            code += _size(bins, j) - 1
        lane += 1
    for alone in np.flatnonzero(places[:, layout.DEFAULT] < 0):
        places[alone, layout.LANE] = lane
        lane += 1
    return places, lane


def _fill(
    table: Table, bins: Bins, features: NDArray[np.int64], words: NDArray[np.uint64]
) -> set[int]:
    """Encode every column into its lane; return features whose lane has a clash."""
    clashing: set[int] = set()
    stored_codes = _codes_of(table, bins)
    if stored_codes is not None:
        all_maps = np.stack([lane_map(feature, bins.missing) for feature in features])

        def lay(start: int, stop: int) -> None:
            clashes = np.zeros(len(features), dtype=np.int64)
            part = np.ascontiguousarray(stored_codes[:, start:stop])
            native.place(part, all_maps, features, words, start, stop, clashes)
            clashing.update(np.flatnonzero(clashes).tolist())

        each_rows(lay, table.n_rows)
        return clashing
    for first, values in table.blocks():
        lanes_of_block = features[first : first + values.shape[1]]
        maps = np.stack([lane_map(feature, bins.missing) for feature in lanes_of_block])

        def task(
            start: int,
            stop: int,
            values: Values = values,
            first: int = first,
            maps: NDArray[np.uint8] = maps,
        ) -> None:
            every = np.arange(first, first + values.shape[1])
            codes = np.empty((every.size, ROWS_PER_TILE), dtype=np.uint8)
            clashes = np.zeros(values.shape[1], dtype=np.int64)
            for tile in range(start, stop, ROWS_PER_TILE):
                end = min(tile + ROWS_PER_TILE, stop)
                part = values[tile:end]
                native.encode(part, first, every, *bins.packed, bins.missing, codes, 0)
                lanes_of_block = features[first : first + values.shape[1]]
                native.place(codes, maps, lanes_of_block, words, tile, end, clashes)
            clashing.update(int(first + j) for j in np.flatnonzero(clashes))

        each_rows(task, table.n_rows)
    return clashing


def _codes_of(table: Table, bins: Bins) -> NDArray[np.uint8] | None:
    if isinstance(table, CodedTable) and table.bins is bins:
        return np.asarray(table.codes, dtype=np.uint8)
    return None


def lane_map(feature: NDArray[np.int64], missing: int) -> NDArray[np.uint8]:
    """Return, for every code of a feature, the code in its lane.

    In a shared lane, 0 stands for the default of every feature, and no code for a missing value.
    """
    codes = np.arange(256)
    if feature[layout.DEFAULT] < 0:
        return codes.astype(np.uint8)
    mapped = feature[layout.BASE] + codes - (codes > feature[layout.DEFAULT])
    mapped[feature[layout.DEFAULT]] = 0
    mapped[missing] = layout.NO_PLACE
    clipped: NDArray[np.uint8] = np.clip(mapped, 0, 255).astype(np.uint8)
    return clipped


def _size(bins: Bins, feature: int) -> int:
    return int(bins.thresholds[feature].size) + 1
