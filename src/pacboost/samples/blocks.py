"""Codes laid out for trees: eight lanes of a row in one 64-bit word.

Features that are never away from their default together (the columns of a one-hot encoding) share
a lane: its code says which of them is, and where it stands. Covertype's 54 columns fit into 12
lanes so, and a tree has that much less to count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import ParameterError
from pacboost.kernels import bins as lookup
from pacboost.kernels import routing, split
from pacboost.kernels.cuda import encode, launches
from pacboost.kernels.runtime.threads import each_rows
from pacboost.samples.bins import Bins, Codes
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.levels import NO_LEVELS, Levels
from pacboost.sources.table import Table, Values

# A table that keeps codes alone: one byte a cell instead of four or eight.


class CodedTable(Table):
    """Rows known by their codes.

    A value comes back as one that has the same code, so every rule on these bins says of it what it
    would have said of the value itself.

    >>> bins = Bins((np.array([1.5, 2.5], dtype=np.float32),), np.array([1]))
    >>> table = CodedTable(np.array([[0, 1, 2, bins.missing]], dtype=np.uint8), bins)
    >>> table.rows()[:, 0].round(3).tolist()
    [1.5, 2.5, 2.5, nan]
    >>> bins.encode(table).tolist()
    [[0, 1, 2, 3]]
    """

    width = 64

    def __init__(
        self,
        codes: Codes,
        bins: Bins,
        names: tuple[str, ...] | None = None,
        levels: Levels = NO_LEVELS,
    ) -> None:
        self.codes, self.bins = codes, bins
        self.n_columns, self.n_rows = codes.shape
        self.names, self.levels = names, levels

    def block(self, first: int, last: int) -> Values:
        values = np.empty((last - first, self.n_rows), dtype=np.float32)
        for j in range(first, last):
            values[j - first] = self._representatives(j)[self.codes[j]]
        return values.T

    def _representatives(self, column: int) -> NDArray[np.float32]:
        """A threshold itself lies below it, so it has the code that it ends."""
        thresholds = self.bins.thresholds[column]
        values = np.full(self.bins.missing + 1, np.nan, dtype=np.float32)
        if self.bins.levels[column]:
            values[: thresholds.size + 1] = np.arange(thresholds.size + 1)
            return values
        values[: thresholds.size] = thresholds
        last = thresholds[-1] if thresholds.size else np.float32(0)
        values[thresholds.size] = np.nextafter(last, np.float32(np.inf))
        return values

    def take(self, rows: NDArray[np.intp] | NDArray[np.bool_]) -> CodedTable:
        return CodedTable(self.codes[:, rows], self.bins, self.names, self.levels)

    @classmethod
    def join(cls, parts: Sequence[CodedTable]) -> CodedTable:
        """Put tables with the same bins one below the other."""
        first = parts[0]
        codes: Codes = np.concatenate([part.codes for part in parts], axis=1)
        return cls(codes, first.bins, first.names, first.levels)


ROWS_LOOKED_AT = 20_000
"""Whether features can share a lane is guessed from so many rows, and checked on all."""
ROWS_PER_TILE = 4_096
MOST_CODES = 255
MOST_BINS_TO_SHARE = 200
"""Bins have about as many rows each: if one value has half of them, there are not many bins."""
GROUPS_AT_ONCE = 128

Defaults = dict[int, int]
"""The default code of each feature that shares a lane."""


@dataclass(frozen=True, eq=False)
class Blocks:
    """All rows of a table as words (blocks, rows), and where each feature lies in them."""

    words: NDArray[np.uint64]
    lanes: int
    features: NDArray[np.int64]
    """For each feature: lane, first code, bins, default code or -1, whether it is a category."""

    def columns(self) -> Iterator[NDArray[np.uint8]]:
        """Return the codes feature by feature, where none share a lane."""
        for lane in self.features[:, split.LANE].tolist():
            yield (self.words[lane >> 3] >> np.uint64(8 * (lane & 7))).astype(np.uint8)


def lay_out(table: Table, bins: Bins, *, share: bool = True) -> Blocks:
    """Encode a table into words; ``share``: features may share lanes."""

    def in_words(features: NDArray[np.int64], lanes: int) -> tuple[NDArray[np.uint64], set[int]]:
        words = np.zeros((max(1, -(-lanes // 8)), table.n_rows), dtype=np.uint64)
        return words, _fill(table, bins, features, words)

    return Blocks(*_without_clashes(table, bins, in_words, share=share))


def _without_clashes(
    table: Table, bins: Bins, coded: Callable[..., tuple[Any, set[int]]], *, share: bool
) -> tuple[Any, int, NDArray[np.int64]]:
    """Encode until no features clash that share a lane; return codes, lanes and features."""
    refuse_long_codes(bins)
    shared = sharing(table, bins) if share else []
    while True:
        features, lanes = places_of(bins, shared)
        codes, clashing = coded(features, lanes)
        if not clashing:
            return codes, lanes, features
        shared = [{j: d for j, d in group.items() if j not in clashing} for group in shared]


def refuse_long_codes(bins: Bins) -> None:
    """Raise if codes take more than a byte."""
    if bins.missing > MOST_CODES:
        raise ParameterError(
            f"trees read codes of one byte, but {bins.missing + 1} are needed; "
            f"set max_bins to {MOST_CODES} or less"
        )


def sharing(table: Table, bins: Bins) -> list[Defaults]:
    """Group features that, on some rows, are never away from their defaults together."""
    if sum(_size(bins, j) <= MOST_BINS_TO_SHARE for j in range(table.n_columns)) < 2:
        return []
    step, known = max(1, table.n_rows // ROWS_LOOKED_AT), _known(table, bins)
    some = np.arange(0, table.n_rows, step)
    if known is None:
        rows = table.take(some)  # of one array of floats, all columns are copied at once
        whole = table.in_place() is not None and not table.levels
        codes: Codes = bins.encode(ArrayTable(rows.rows()) if whole else rows)
    else:
        codes = known[:, some]
    away: dict[int, NDArray[np.uint64]] = {}
    """Bits of rows, 64 in a word: with thousands of features each is compared with most others."""
    defaults: Defaults = {}
    distances: dict[int, int] = {}
    for j, own in enumerate(codes):
        counts = np.bincount(own, minlength=bins.missing + 1)
        if 2 * counts.max() > own.size and counts[bins.missing] == 0 and _size(bins, j) > 1:
            defaults[j] = int(counts.argmax())
            away[j] = _bits(own != defaults[j])
            distances[j] = own.size - int(counts.max())
    groups: list[Defaults] = []
    taken = np.zeros((len(away), -(-some.size // 64)), dtype=np.uint64)
    sizes = np.zeros(len(away), dtype=np.int64)
    for j in sorted(away, key=lambda j: (-distances[j], j)):
        place = _first_free(taken[: len(groups)], sizes[: len(groups)], away[j], _size(bins, j))
        if place == len(groups):
            groups.append({})
        groups[place][j] = defaults[j]
        taken[place] |= away[j]
        sizes[place] += _size(bins, j) - 1
    return [group for group in groups if len(group) > 1]


def _bits(flags: NDArray[np.bool_]) -> NDArray[np.uint64]:
    words = np.zeros(8 * -(-flags.size // 64), dtype=np.uint8)
    packed = np.packbits(flags)
    words[: packed.size] = packed
    return words.view(np.uint64)


def _first_free(
    taken: NDArray[np.uint64], sizes: NDArray[np.int64], own: NDArray[np.uint64], size: int
) -> int:
    """Return first group that has room for so many codes and none of these bits, or the next."""
    roomy = np.flatnonzero(sizes + size <= MOST_CODES)
    for start in range(0, roomy.size, GROUPS_AT_ONCE):
        some = roomy[start : start + GROUPS_AT_ONCE]
        free = ~(taken[some] & own).any(axis=1)
        if free.any():
            return int(some[free.argmax()])
    return len(taken)


def places_of(bins: Bins, shared: list[Defaults]) -> tuple[NDArray[np.int64], int]:
    """Return every feature its lane and codes; also the number of lanes."""
    places = np.zeros((len(bins.thresholds), 6), dtype=np.int64)
    places[:, split.BINS] = [_size(bins, j) for j in range(len(bins.thresholds))]
    places[:, split.CATEGORY] = bins.levels > 0
    places[:, split.DEFAULT] = -1
    lane = 0
    for group in (group for group in shared if len(group) > 1):
        code = 1
        for j, default in group.items():
            columns = [split.LANE, split.BASE, split.DEFAULT]
            places[j, columns] = lane, code, default
            code += _size(bins, j) - 1
        lane += 1
    for alone in np.flatnonzero(places[:, split.DEFAULT] < 0):
        places[alone, split.LANE] = lane
        lane += 1
    return places, lane


def _fill(
    table: Table, bins: Bins, features: NDArray[np.int64], words: NDArray[np.uint64]
) -> set[int]:
    """Encode every column into its lane; give the features that cannot share theirs after all."""
    clashing: set[int] = set()
    known = _known(table, bins)
    if known is not None:
        all_maps = np.stack([lane_map(feature, bins.missing) for feature in features])

        def lay(start: int, stop: int) -> None:
            clashes = np.zeros(len(features), dtype=np.int64)
            own = np.ascontiguousarray(known[:, start:stop])
            routing.place(own, all_maps, features, words, start, stop, clashes)
            clashing.update(np.flatnonzero(clashes).tolist())

        each_rows(lay, table.n_rows)
        return clashing
    for first, values in table.blocks():
        own = features[first : first + values.shape[1]]
        maps = np.stack([lane_map(feature, bins.missing) for feature in own])

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
                lookup.encode(values[tile:end], first, every, *bins.packed, bins.missing, codes, 0)
                own = features[first : first + values.shape[1]]
                routing.place(codes, maps, own, words, tile, end, clashes)
            clashing.update(int(first + j) for j in np.flatnonzero(clashes))

        each_rows(task, table.n_rows)
    return clashing


def _known(table: Table, bins: Bins) -> NDArray[np.uint8] | None:
    if isinstance(table, CodedTable) and table.bins is bins:
        return np.asarray(table.codes, dtype=np.uint8)
    return None


def lane_map(feature: NDArray[np.int64], missing: int) -> NDArray[np.uint8]:
    """Return for every code of a feature which code it has in its lane.

    Where lanes are shared, 0 is every feature's default; a missing value has no place there.
    """
    codes = np.arange(256)
    if feature[split.DEFAULT] < 0:
        return codes.astype(np.uint8)
    mapped = feature[split.BASE] + codes - (codes > feature[split.DEFAULT])
    mapped[feature[split.DEFAULT]] = 0
    mapped[missing] = routing.NO_PLACE
    clipped: NDArray[np.uint8] = np.clip(mapped, 0, 255).astype(np.uint8)
    return clipped


def _size(bins: Bins, feature: int) -> int:
    return int(bins.thresholds[feature].size) + 1


# Codes of tables in the memory of a GPU, row by row: the same as samples/blocks.py lays out.

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
    rows = table.in_place()
    if rows is None or table.n_columns > encode.MOST_COLUMNS:
        laid = lay_out(table, bins, share=share)
        return GpuCodes(launches.codes_by_row(laid.words, laid.lanes), laid.lanes, laid.features)

    values, chosen = rows

    def on_gpu(features: NDArray[np.int64], lanes: int) -> tuple[Any, set[int]]:
        codes, clashing = encode.encode(values, chosen, layout_of(bins, features, lanes))
        return codes, set(clashing.tolist())

    return GpuCodes(*_without_clashes(table, bins, on_gpu, share=share))


def layout_of(bins: Bins, features: NDArray[np.int64], lanes: int) -> encode.Layout:
    """Return what the GPU has to know of bins, and of where features lie."""
    maps = np.stack([lane_map(feature, bins.missing) for feature in features])
    return encode.Layout(*bins.packed, bins.missing, features, maps, lanes)
