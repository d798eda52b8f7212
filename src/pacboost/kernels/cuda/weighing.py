"""The pass over all rows that ends a round of LogitBoost, and its results.

It computes new weights and, in the same pass, the costs of the rows, the number of wrong ones and
the squares of their pulls. The loop asks for these one after the other, and gets them by ``known``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.cuda.device import pinned, row_kernel, to_gpu
from pacboost.kernels.device import stored_results
from pacboost.kernels.threads import ROWS_PER_SUM

if TYPE_CHECKING:
    from pacboost.kernels.cuda.device import Array, GpuArray

THREADS = 256
MAX_BLOCKS = 132 * 8
TILE, PARTS = 1_024, 64
"""Costs and squared pulls of a tile of rows are folded to this many parts: native/rounds/sums.h."""
TO_GPU, TO_HOST = 1, 2
"""CUDA's numbers for the directions of copies."""
COSTS, SQUARES, SUMS, ORIGIN = "costs", "squares", "sums", "origin"
FOLLOWING = "following"

int64, float64 = np.int64, np.float64
NOTHING = np.uintp(0)


class Origin(NamedTuple):
    """The arguments from which a kernel can recompute weights: margins and bases of rows."""

    margins: np.uintp
    base: GpuArray | np.uintp
    bases: np.int64
    base_of_all: np.float64


def known(what: str, array: GpuArray) -> Any:
    """Return the stored result about an array, None if there is none."""
    return stored_results().get((what, array.data.ptr))


def keep(what: str, array: GpuArray, result: object) -> None:
    """Store a result about an array."""
    stored_results()[what, array.data.ptr] = result


def forget(*arrays: GpuArray) -> None:
    """Drop the results about arrays that are about to change."""
    results = stored_results()
    for array in arrays:
        for what in (COSTS, SQUARES, SUMS):
            results.pop((what, array.data.ptr), None)


def let_follow(work: Callable[[GpuArray], None] | None) -> None:
    """Set the work that starts once the rows are weighed, with the totals on the GPU."""
    stored_results()[FOLLOWING] = work


class Copied:
    """8-byte numbers on the GPU, and the CPU's memory that they are copied to."""

    def __init__(self, there: GpuArray) -> None:
        self.there, self.here = there, pinned(there.shape, there.dtype)
        self._places = there.data.ptr, self.here.ctypes.data

    def fetch(self) -> NDArray[Any]:
        """Copy the numbers to the CPU, and wait."""
        import cupy

        stream, (there, here) = cupy.cuda.get_current_stream(), self._places
        cupy.cuda.runtime.memcpyAsync(here, there, self.there.nbytes, TO_HOST, stream.ptr)
        stream.synchronize()
        return self.here.copy()

    def fetch_before(self, work: Callable[[GpuArray], None] | None) -> NDArray[Any]:
        """Copy the numbers to the CPU while the GPU starts work that needs them."""
        if work is None:
            return self.fetch()
        import cupy

        stream, (there, here) = cupy.cuda.get_current_stream(), self._places
        copied = cupy.cuda.Event(disable_timing=True)
        cupy.cuda.runtime.memcpyAsync(here, there, self.there.nbytes, TO_HOST, stream.ptr)
        copied.record(stream)
        work(self.there)
        copied.synchronize()
        return self.here.copy()

    def send(self, numbers: NDArray[Any]) -> GpuArray:
        """Copy numbers to the GPU."""
        import cupy

        stream, (there, here) = cupy.cuda.get_current_stream().ptr, self._places
        self.here[: numbers.size] = numbers
        cupy.cuda.runtime.memcpyAsync(there, here, numbers.nbytes, TO_GPU, stream)
        return self.there


class Room:
    """The memory that a pass over the rows needs besides them; every round reuses it."""

    def __init__(self, rows: int, values: int) -> None:
        import cupy

        self.spans, self.tiles = -(-rows // ROWS_PER_SUM), -(-rows // TILE)
        self.costs, self.squares = cupy.empty((2, self.tiles * PARTS), np.float64)
        self.found = Copied(cupy.zeros(3 + 2 * self.spans, np.int64))
        self.sums = self.found.there[3:]
        self.values = Copied(cupy.empty(max(512, values), np.float64))

    @classmethod
    def for_rows(cls, rows: int, values: int) -> Room:
        """Return the memory of the last round, or new memory."""
        results = stored_results()
        room: Room | None = results.get(("room", rows))
        if room is None or room.values.there.size < values:
            room = results["room", rows] = cls(rows, values)
        return room

    def clear(self) -> None:
        """Set the totals to 0."""
        import cupy

        totals, stream = self.found.there, cupy.cuda.get_current_stream().ptr
        # Three words: spans are overwritten, and need no clearing.
        cupy.cuda.runtime.memsetAsync(totals.data.ptr, 0, 24, stream)

    def add_spans(self) -> None:
        """Sum the costs and squares of tiles, span by span."""
        counts = int64(self.tiles), int64(ROWS_PER_SUM // TILE), int64(self.spans)
        row_kernel("add_spans")(
            (2 * self.spans,), (PARTS,), (self.costs, self.squares, *counts, self.sums)
        )


def _copy_once(array: NDArray[Any]) -> GpuArray:
    """Copy an array that does not change to the GPU, once."""
    results = stored_results()
    stored = results.get(("kept", id(array)))
    if stored is None:
        # with the array itself, so that no other gets its id
        stored = results["kept", id(array)] = array, to_gpu(array)
    return stored[1]


def logistic(
    cells: Array, values: NDArray[np.float64], signs: GpuArray, base: NDArray[np.float64],
    max_target: float, margins: GpuArray, weights: GpuArray, pulls: GpuArray,
    totals: NDArray[np.int64],
) -> None:  # fmt: skip
    """Weigh rows by the logistic loss, and store their costs."""
    cells, rows = to_gpu(cells), cells.size
    forget(cells)
    room = Room.for_rows(rows, values.size)
    bases = _copy_once(base) if base.size > 1 else NOTHING
    origin = Origin(np.uintp(margins.data.ptr), bases, int64(base.size), float64(base[0]))
    keep(ORIGIN, weights, origin)
    room.clear()
    row_kernel("logistic")((min(room.tiles, MAX_BLOCKS),), (THREADS,), (
        cells, int64(cells.itemsize), room.values.send(values), signs, *origin[1:],
        float64(max_target), int64(rows), margins, weights, pulls, room.costs, room.squares,
        room.found.there,
    ))  # fmt: skip
    room.add_spans()
    back = room.found.fetch_before(stored_results().pop(FOLLOWING, None))
    totals[0] += back[:2]
    sums = back[3:].view(np.float64)
    keep(COSTS, margins, (sums[: room.spans], int(back[2])))
    keep(SQUARES, pulls, sums[room.spans :])
