"""The pass over all rows that ends a round of LogitBoost, and what it finds.

It weighs the rows anew and, in the same pass, measures them: their costs, the wrong ones, the
squares of their pulls. The loop asks for these one after the other; ``known`` has them then.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.cuda.device import pinned, row_kernel, to_gpu
from pacboost.kernels.device import stored_results
from pacboost.kernels.runtime.threads import ROWS_PER_SPAN

THREADS = 256
MOST_BLOCKS = 132 * 8
TILE, PARTS = 1_024, 64
"""Of so many rows, so many sums of costs and of squared pulls are left: kernels/measure.py."""
TO_GPU, TO_HOST = 1, 2
"""How CUDA numbers the directions of copies."""
COSTS, SQUARES, SUMS, ORIGIN = "costs", "squares", "sums", "origin"
FOLLOWING = "following"

whole, real = np.int64, np.float64
NOTHING = np.uintp(0)


class Origin(NamedTuple):
    """Where weights come from: the margins and bases of rows, as a kernel takes them."""

    margins: np.uintp
    base: Any
    bases: np.int64
    base_of_all: np.float64


def known(what: str, array: Any) -> Any:
    """Return what is known of an array, None if nothing is."""
    return stored_results().get((what, array.data.ptr))


def keep(what: str, array: Any, found: Any) -> None:
    """Keep what was found of an array."""
    stored_results()[what, array.data.ptr] = found


def forget(*arrays: Any) -> None:
    """Forget what was found of arrays that are about to change."""
    found = stored_results()
    for array in arrays:
        for what in (COSTS, SQUARES, SUMS):
            found.pop((what, array.data.ptr), None)


def let_follow(work: Callable[[Any], None] | None) -> None:
    """Have work begun as soon as the rows are weighed, given the totals on the GPU; or none."""
    stored_results()[FOLLOWING] = work


class Copied:
    """Numbers of 8 bytes on the GPU, and the place in the CPU's memory that they are copied to."""

    def __init__(self, there: Any) -> None:
        self.there, self.here = there, pinned(there.shape, there.dtype)
        self._places = there.data.ptr, self.here.ctypes.data

    def fetch(self) -> NDArray[Any]:
        """Copy them to the CPU, and wait for it."""
        import cupy

        stream, (there, here) = cupy.cuda.get_current_stream(), self._places
        cupy.cuda.runtime.memcpyAsync(here, there, self.there.nbytes, TO_HOST, stream.ptr)
        stream.synchronize()
        return self.here.copy()

    def fetch_before(self, work: Callable[[Any], None] | None) -> NDArray[Any]:
        """Copy them to the CPU while work that needs them is begun on the GPU."""
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

    def send(self, numbers: NDArray[Any]) -> Any:
        """Copy numbers to the GPU."""
        import cupy

        stream, (there, here) = cupy.cuda.get_current_stream().ptr, self._places
        self.here[: numbers.size] = numbers
        cupy.cuda.runtime.memcpyAsync(there, here, numbers.nbytes, TO_GPU, stream)
        return self.there


class Room:
    """What the pass over so many rows needs besides them; it is used again every round."""

    def __init__(self, rows: int, values: int) -> None:
        import cupy

        self.spans, self.tiles = -(-rows // ROWS_PER_SPAN), -(-rows // TILE)
        self.costs, self.squares = cupy.empty((2, self.tiles * PARTS), np.float64)
        self.found = Copied(cupy.zeros(3 + 2 * self.spans, np.int64))
        self.sums = self.found.there[3:]
        self.values = Copied(cupy.empty(max(512, values), np.float64))

    @classmethod
    def of(cls, rows: int, values: int) -> Room:
        """Return the room that was used before, or a new one."""
        found = stored_results()
        room: Room | None = found.get(("room", rows))
        if room is None or room.values.there.size < values:
            room = found["room", rows] = cls(rows, values)
        return room

    def clear(self) -> None:
        """Set the totals to 0."""
        import cupy

        found, stream = self.found.there, cupy.cuda.get_current_stream().ptr
        cupy.cuda.runtime.memsetAsync(found.data.ptr, 0, 24, stream)

    def add_spans(self) -> None:
        """Add up costs and squares of tiles, span by span."""
        counts = whole(self.tiles), whole(ROWS_PER_SPAN // TILE), whole(self.spans)
        row_kernel("add_spans")(
            (2 * self.spans,), (PARTS,), (self.costs, self.squares, *counts, self.sums)
        )


def _kept_there(array: Any) -> Any:
    """Bring an array that does not change to the GPU, once."""
    found = stored_results()
    held = found.get(("kept", id(array)))
    if held is None:
        held = found["kept", id(array)] = array, to_gpu(array)  # so that no other has its number
    return held[1]


def logistic(
    cells: Any, values: Any, signs: Any, base: Any, most: float, margins: Any, weights: Any,
    pulls: Any, totals: Any,
) -> None:  # fmt: skip
    """Weigh rows by the logistic loss, and keep what they cost."""
    cells, rows = to_gpu(cells), cells.size
    forget(cells)
    room, bases = Room.of(rows, values.size), NOTHING
    if base.size > 1:
        bases = _kept_there(base)
    origin = Origin(np.uintp(margins.data.ptr), bases, whole(base.size), real(base[0]))
    keep(ORIGIN, weights, origin)
    room.clear()
    row_kernel("logistic")((min(room.tiles, MOST_BLOCKS),), (THREADS,), (
        cells, whole(cells.itemsize), room.values.send(values), signs, *origin[1:], real(most),
        whole(rows), margins, weights, pulls, room.costs, room.squares, room.found.there,
    ))  # fmt: skip
    room.add_spans()
    back = room.found.fetch_before(stored_results().pop(FOLLOWING, None))
    totals[0] += back[:2]
    sums = back[3:].view(np.float64)
    keep(COSTS, margins, (sums[: room.spans], int(back[2])))
    keep(SQUARES, pulls, sums[room.spans :])
