"""Encode and hash rows on the GPU, and find their quantiles; rows are copied there in parts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.cuda.device import encode_kernel, on_gpu, pinned, to_gpu
from pacboost.kernels.layout import LANE
from pacboost.kernels.threads import each_rows

if TYPE_CHECKING:
    from cupy.cuda import Stream

    from pacboost.kernels.cuda.device import Array, GpuArray

BYTES_PER_COPY = 64 * 2**20
"""Size of the parts; one is copied to the GPU while it works on the part before."""
MAX_TILE_BYTES = 40 * 1_024
MAX_ROWS_PER_TILE, MIN_ROWS_PER_TILE = 256, 32
GAP = 4
"""As in encode.cu."""
MAX_COLUMNS = MAX_TILE_BYTES // (MIN_ROWS_PER_TILE + GAP)

int64 = np.int64
Rows = NDArray[np.intp]
Floats = NDArray[np.float32]
MAX_FLOAT32 = np.finfo(np.float32).max


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
        """The size of the codes of a row in bytes: the lanes, rounded up to a multiple of four."""
        return -(-self.lanes // 4) * 4


def rows_per_tile(columns: int) -> int:
    """Return how many rows of codes fit into the memory of a block."""
    tile = MAX_ROWS_PER_TILE
    while tile > MIN_ROWS_PER_TILE and columns * (tile + GAP) > MAX_TILE_BYTES:
        tile //= 2
    return tile


class Encoder:
    """Encodes parts of the rows."""

    def __init__(self, layout: Layout) -> None:
        import cupy

        lanes_of, self.layout = layout.features[:, LANE], layout
        # A thread writes a whole lane, so features that share one are read together.
        order = np.argsort(lanes_of, kind="stable")
        starts = np.searchsorted(lanes_of[order], np.arange(layout.lanes + 1))
        self._cuts, self._offsets = to_gpu(layout.cuts), to_gpu(layout.offsets)
        self._tables = [to_gpu(table) for table in (layout.features, layout.maps, starts, order)]
        self._clashes = cupy.zeros(len(layout.features), np.uint32)
        self._kernel = encode_kernel("encode")

    def write(self, part: GpuArray, codes: GpuArray) -> None:
        """Write the codes (rows, stride) of a part of the rows."""
        columns, tile = part.shape[1], rows_per_tile(part.shape[1])
        row_step, column_step = (step // part.itemsize for step in part.strides)
        self._kernel((min(2_048, -(-len(part) // tile)),), (256,), (
            part, int64(part.itemsize), int64(row_step), int64(column_step), int64(len(part)),
            int64(columns), self._cuts, self._offsets, int64(self.layout.missing), *self._tables,
            int64(self.layout.lanes), int64(self.layout.stride), int64(tile), codes, self._clashes,
        ), shared_mem=columns * (tile + GAP))  # fmt: skip

    def clashing(self) -> NDArray[np.intp]:
        """Return the features that cannot share their lanes."""
        return np.flatnonzero(self._clashes.get())


def encode(values: Array, chosen: Rows | None, layout: Layout) -> tuple[GpuArray, NDArray[np.intp]]:
    """Return the codes (rows, stride) of an array, or of some of its rows, on the GPU.

    Also return the features that cannot share their lanes.
    """
    import cupy

    count, encoder = len(values) if chosen is None else chosen.size, Encoder(layout)
    codes = cupy.empty((count, layout.stride), np.uint8)
    for first, part, stream in pieces(values, chosen):
        with stream:
            encoder.write(part, codes[first:])
    # The streams of the parts are not those that later kernels run on.
    cupy.cuda.Device().synchronize()
    return codes, encoder.clashing()


def pieces(values: Array, chosen: Rows | None) -> Iterator[tuple[int, GpuArray, Stream]]:
    """Copy rows to the GPU; yield the number of the first, the part, and the stream to use.

    Parts alternate between two streams, so that one is copied while the GPU works on the other.
    """
    import cupy

    count = len(values) if chosen is None else chosen.size
    at_once = max(1, BYTES_PER_COPY // (values.itemsize * values.shape[1]))
    current = cupy.cuda.get_current_stream()
    current.synchronize()  # memory that is reused may still be written to
    if on_gpu(values):
        for first in range(0, count, at_once):
            part_rows = slice(first, first + at_once)
            part = values[part_rows] if chosen is None else values[to_gpu(chosen[part_rows])]
            yield first, part, current
        return
    shape, kind = (min(at_once, max(1, count)), values.shape[1]), values.dtype
    sides = [
        (pinned(shape, kind), cupy.empty(shape, kind), cupy.cuda.Stream())
        for _ in range(1 if count <= at_once else 2)
    ]
    for turn, first in enumerate(range(0, count, at_once)):
        here, there, stream = sides[turn % len(sides)]
        # Its memory is filled anew, so the copy of two parts ago must have ended.
        stream.synchronize()
        size = min(at_once, count - first)
        copy_rows(values, chosen, first, here[:size])
        there[:size].set(here[:size], stream)
        yield first, there[:size], stream
    cupy.cuda.Device().synchronize()


def copy_rows(values: Array, chosen: Rows | None, first: int, out: NDArray[Any]) -> None:
    """Copy rows from ``first`` on, by several threads."""

    def task(start: int, stop: int) -> None:
        part_rows = slice(first + start, first + stop)
        if chosen is None:
            np.copyto(out[start:stop], values[part_rows])
        else:
            np.take(values, chosen[part_rows], axis=0, out=out[start:stop], mode="clip")

    each_rows(task, len(out), width=out.shape[1])


def code_columns(
    codes: GpuArray, features: NDArray[np.int64], most_rows: int
) -> Iterator[NDArray[np.uint8]]:
    """Copy the codes back, feature by feature, in parts of at most ``most_rows`` rows.

    Another thread may iterate over them: everything that loads modules is done before.
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
                part = codes[first : first + size]
                with stream:
                    kernel((512,), (256,), (
                        part, int64(codes.shape[1]), int64(len(part)), line, there,
                    ))  # fmt: skip
                    there.get(stream, out=here)
                yield here[: len(part)]

    return pieces_of_columns()


def quantiles(
    values: Array, chosen: Rows | None, max_bins: int, tie: float
) -> tuple[NDArray[np.bool_], Floats, Floats, Floats]:
    """Return the values next to the quantiles of all columns, from the chosen rows of an array.

    There is a cut after every ``max_bins``-th part of the values that are not missing; ``tie`` is
    the relative tolerance. The result is the input of ``cut_by_quantiles`` of samples/cuts.py.
    """
    import cupy

    columns = cupy.ascontiguousarray(_some_rows(values, chosen).T.astype(np.float32))
    columns = cupy.sort(cupy.clip(columns, -MAX_FLOAT32, MAX_FLOAT32), axis=1)  # NaN is last
    steps = (columns[:, 1:] > columns[:, :-1]).sum(axis=1)
    n_present = (columns.shape[1] - cupy.isnan(columns).sum(axis=1)).get().astype(np.float64)
    many = steps.get() >= max_bins  # a step lies between two distinct values
    places = _places(n_present, max_bins, tie)
    low = cupy.take_along_axis(columns, to_gpu(places), axis=1)
    high = cupy.zeros(low.shape, np.float32)
    for j in np.flatnonzero(many).tolist():
        above = cupy.searchsorted(columns[j, : int(n_present[j])], low[j], side="right")
        high[j] = columns[j, cupy.minimum(above, columns.shape[1] - 1)]
    low, high = low.get(), high.get()
    return many, low[:, :-1], high[:, :-1], low[:, -1]


def _some_rows(values: Array, chosen: Rows | None) -> GpuArray:
    if chosen is None:
        return to_gpu(values)
    if on_gpu(values):
        return values[to_gpu(chosen)]
    part = np.empty((chosen.size, values.shape[1]), values.dtype)
    copy_rows(values, chosen, 0, part)
    return to_gpu(part)


def _places(n_present: NDArray[np.float64], max_bins: int, tie: float) -> NDArray[np.int64]:
    """Return the places in sorted columns of the values below each cut, and of the medians."""
    targets = n_present[:, None] * np.arange(1, max_bins) / max_bins
    parts = np.concatenate([targets, n_present[:, None] / 2], axis=1) - n_present[:, None] * tie
    return np.maximum(np.ceil(parts), 1.0).astype(np.int64) - 1


def rows_below(
    values: Array, chosen: Rows | None, columns: NDArray[np.int64], factors: NDArray[np.uint64],
    salt: int, limit: int,
) -> Rows:  # fmt: skip
    """Return the rows whose hash of some columns is below a limit, as core/row_hashes.cpp does."""
    import cupy

    kernel, rows = encode_kernel("below_limit"), []
    tables = [to_gpu(table) for table in (columns, factors)]
    for first, part, stream in pieces(values, chosen):
        below = cupy.empty(len(part), np.bool_)
        row_step, column_step = (step // part.itemsize for step in part.strides)
        with stream:
            kernel((2_048,), (256,), (
                part, int64(part.itemsize), int64(row_step), int64(column_step), int64(len(part)),
                tables[0], int64(columns.size), tables[1], np.uint64(salt), np.uint64(limit), below,
            ))  # fmt: skip
            rows.append(first + cupy.flatnonzero(below).get())
    return np.concatenate(rows)
