"""Bin rows on the GPU: bring numbers there piece by piece, and keep their codes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.cuda.device import encode_kernel, on_gpu, pinned, to_gpu
from pacboost.kernels.layout import LANE
from pacboost.kernels.runtime.threads import each_rows

BYTES_AT_ONCE = 64 * 2**20
"""What is copied to the GPU while it works on the piece before."""
MAX_TILE_BYTES = 40 * 1_024
MAX_ROWS_PER_TILE, MIN_ROWS_PER_TILE = 256, 32
GAP = 4
"""As in encode.cu."""
MAX_COLUMNS = MAX_TILE_BYTES // (MIN_ROWS_PER_TILE + GAP)

whole = np.int64
Rows = NDArray[np.intp]


class Layout(NamedTuple):
    """The cuts of all features (kernels/bins.py), and the lanes of their codes."""

    cuts: NDArray[np.float64]
    offsets: NDArray[np.int64]
    missing: int
    features: NDArray[np.int64]
    maps: NDArray[np.uint8]
    lanes: int

    @property
    def stride(self) -> int:
        """How many bytes the codes of a row take: the lanes, rounded up to words of four."""
        return -(-self.lanes // 4) * 4


def rows_per_tile(columns: int) -> int:
    """Return how many rows of codes fit into the memory of a block."""
    tile = MAX_ROWS_PER_TILE
    while tile > MIN_ROWS_PER_TILE and columns * (tile + GAP) > MAX_TILE_BYTES:
        tile //= 2
    return tile


class Encoder:
    """Turns pieces of rows into codes."""

    def __init__(self, layout: Layout) -> None:
        import cupy

        lanes_of, self.layout = layout.features[:, LANE], layout
        order = np.argsort(lanes_of, kind="stable")
        starts = np.searchsorted(lanes_of[order], np.arange(layout.lanes + 1))
        self._cuts, self._offsets = to_gpu(layout.cuts), to_gpu(layout.offsets)
        self._tables = [to_gpu(table) for table in (layout.features, layout.maps, starts, order)]
        self._clashes = cupy.zeros(len(layout.features), np.uint32)
        self._kernel = encode_kernel("encode")

    def write(self, part: Any, codes: Any) -> None:
        """Write the codes (rows, stride) of a piece."""
        columns, tile = part.shape[1], rows_per_tile(part.shape[1])
        row_step, column_step = (step // part.itemsize for step in part.strides)
        self._kernel((min(2_048, -(-len(part) // tile)),), (256,), (
            part, whole(part.itemsize), whole(row_step), whole(column_step), whole(len(part)),
            whole(columns), self._cuts, self._offsets, whole(self.layout.missing), *self._tables,
            whole(self.layout.lanes), whole(self.layout.stride), whole(tile), codes, self._clashes,
        ), shared_mem=columns * (tile + GAP))  # fmt: skip

    def clashing(self) -> NDArray[np.intp]:
        """Return the features that cannot share their lanes."""
        return np.flatnonzero(self._clashes.get())


def encode(values: Any, chosen: Rows | None, layout: Layout) -> tuple[Any, NDArray[np.intp]]:
    """Return the codes (rows, stride) of an array, or of some of its rows, on the GPU.

    Also give the features that cannot share their lanes.
    """
    import cupy

    count, encoder = len(values) if chosen is None else chosen.size, Encoder(layout)
    codes = cupy.empty((count, layout.stride), np.uint8)
    for first, part, stream in pieces(values, chosen):
        with stream:
            encoder.write(part, codes[first:])
    cupy.cuda.Device().synchronize()
    return codes, encoder.clashing()


def pieces(values: Any, chosen: Rows | None) -> Iterator[tuple[int, Any, Any]]:
    """Bring rows to the GPU; give the number of the first, the piece, and the stream to use.

    Pieces take turns on two streams, so that one is copied while the other is worked on.
    """
    import cupy

    count = len(values) if chosen is None else chosen.size
    at_once = max(1, BYTES_AT_ONCE // (values.itemsize * values.shape[1]))
    current = cupy.cuda.get_current_stream()
    current.synchronize()  # memory that is used again may still be written to
    if on_gpu(values):
        for first in range(0, count, at_once):
            own = slice(first, first + at_once)
            yield first, values[own] if chosen is None else values[to_gpu(chosen[own])], current
        return
    shape, kind = (min(at_once, max(1, count)), values.shape[1]), values.dtype
    sides = [
        (pinned(shape, kind), cupy.empty(shape, kind), cupy.cuda.Stream())
        for _ in range(1 if count <= at_once else 2)
    ]
    for turn, first in enumerate(range(0, count, at_once)):
        here, there, stream = sides[turn % len(sides)]
        stream.synchronize()
        size = min(at_once, count - first)
        copy_rows(values, chosen, first, here[:size])
        there[:size].set(here[:size], stream)
        yield first, there[:size], stream
    cupy.cuda.Device().synchronize()


def copy_rows(values: Any, chosen: Rows | None, first: int, out: Any) -> None:
    """Copy rows from ``first`` on, by several threads."""

    def task(start: int, stop: int) -> None:
        own = slice(first + start, first + stop)
        if chosen is None:
            np.copyto(out[start:stop], values[own])
        else:
            np.take(values, chosen[own], axis=0, out=out[start:stop], mode="clip")

    each_rows(task, len(out), width=out.shape[1])


def code_columns(
    codes: Any, features: NDArray[np.int64], most_rows: int
) -> Iterator[NDArray[np.uint8]]:
    """Return the codes of feature after feature back, in pieces of rows.

    Another thread may go through them: everything that loads modules is done before.
    """
    import cupy

    kernel = encode_kernel("codes_of_feature")
    size = max(1, min(most_rows, len(codes)))
    here, there = pinned((size,), np.uint8), cupy.empty(size, np.uint8)
    stream, lines = cupy.cuda.Stream(non_blocking=True), list(to_gpu(features))
    cupy.cuda.get_current_stream().synchronize()

    def pieces_of_columns() -> Iterator[NDArray[np.uint8]]:
        for line in lines:
            for first in range(0, len(codes), size):
                own = codes[first : first + size]
                with stream:
                    kernel((512,), (256,), (
                        own, whole(codes.shape[1]), whole(len(own)), line, there,
                    ))  # fmt: skip
                    there.get(stream, out=here)
                yield here[: len(own)]

    return pieces_of_columns()


# Quantiles of columns on a GPU: the values between which samples/cuts.py cuts.

LARGEST = np.finfo(np.float32).max

Floats = NDArray[np.float32]


def quantiles(
    values: Any, chosen: Rows | None, max_bins: int, tie: float
) -> tuple[NDArray[np.bool_], Floats, Floats, Floats]:
    """Sort all columns of the chosen rows of an array, and look at the places where to cut.

    A cut is wanted after every ``max_bins``-th part of the values that are not missing; ``tie`` is
    the share of all that may be missing to it. Returned are what ``cut_by_quantiles`` of
    samples/cuts.py takes.
    """
    import cupy

    columns = cupy.ascontiguousarray(_some_rows(values, chosen).T.astype(np.float32))
    columns = cupy.sort(cupy.clip(columns, -LARGEST, LARGEST), axis=1)  # missing ones are last
    steps = (columns[:, 1:] > columns[:, :-1]).sum(axis=1)
    seen = (columns.shape[1] - cupy.isnan(columns).sum(axis=1)).get().astype(np.float64)
    many = steps.get() >= max_bins  # a step lies between two distinct values
    places = _places(seen, max_bins, tie)
    low = cupy.take_along_axis(columns, to_gpu(places), axis=1)
    high = cupy.zeros(low.shape, np.float32)
    for j in np.flatnonzero(many).tolist():
        above = cupy.searchsorted(columns[j, : int(seen[j])], low[j], side="right")
        high[j] = columns[j, cupy.minimum(above, columns.shape[1] - 1)]
    low, high = low.get(), high.get()
    return many, low[:, :-1], high[:, :-1], low[:, -1]


def _some_rows(values: Any, chosen: Rows | None) -> Any:
    if chosen is None:
        return to_gpu(values)
    if on_gpu(values):
        return values[to_gpu(chosen)]
    part = np.empty((chosen.size, values.shape[1]), values.dtype)
    copy_rows(values, chosen, 0, part)
    return to_gpu(part)


def _places(seen: NDArray[np.float64], max_bins: int, tie: float) -> NDArray[np.int64]:
    """Return the places of values in sorted columns that the cuts come after, and of the medians.

    >>> _places(np.array([8.0]), 4, 1e-9)
    array([[1, 3, 5, 3]])
    """
    targets = seen[:, None] * np.arange(1, max_bins) / max_bins
    parts = np.concatenate([targets, seen[:, None] / 2], axis=1) - seen[:, None] * tie
    return np.maximum(np.ceil(parts), 1.0).astype(np.int64) - 1


# Hashes of rows in the memory of a GPU: the twin of kernels/hashing.py.


def rows_below(
    values: Any, chosen: Rows | None, columns: NDArray[np.int64], factors: NDArray[np.uint64],
    salt: int, limit: int,
) -> Rows:  # fmt: skip
    """Return the rows of which the hash of some columns is below a limit."""
    import cupy

    kernel, rows = encode_kernel("below_limit"), []
    tables = [to_gpu(table) for table in (columns, factors)]
    for first, part, stream in pieces(values, chosen):
        below = cupy.empty(len(part), np.bool_)
        row_step, column_step = (step // part.itemsize for step in part.strides)
        with stream:
            kernel((2_048,), (256,), (
                part, whole(part.itemsize), whole(row_step), whole(column_step), whole(len(part)),
                tables[0], whole(columns.size), tables[1], np.uint64(salt), np.uint64(limit), below,
            ))  # fmt: skip
            rows.append(first + cupy.flatnonzero(below).get())
    return np.concatenate(rows)
