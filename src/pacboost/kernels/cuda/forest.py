"""Grow several trees of a forest at once on a GPU: the twin of native/forest."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.cuda.device import forest_kernel, to_gpu
from pacboost.kernels.device import limited_memory
from pacboost.kernels.forest import ForestPlan

CODES, WARPS = 256, 8
"""As in forest.cuh."""
MAX_WAITING_NODES = 1_024
"""Maximum number of right children that wait until the nodes before them are grown."""
THREADS = 32 * WARPS
MAX_TREES_AT_ONCE = 528
"""Four for each of 132 multiprocessors."""
MAX_MEMORY_SHARE = 0.7
"""Maximum share of the free memory for trees that grow at once."""
MAX_EXACT_WEIGHT = 2**26
"""Up to this sum of weights, squares and sums of squares are exact as floats."""

BYTES_PER_ROW = 72
"""Memory of a row and of one tree on it, besides two copies of its codes."""


class SmallBag(NamedTuple):
    """How often each row is in a bag, in small integers; if empty, every row is in it once."""

    counts: NDArray[Any]
    size: int
    """The number of different rows in it."""
    seed: int


class GrownTree(NamedTuple):
    """The nodes of a tree, the distributions of its impure leaves, and the gains of features."""

    nodes: NDArray[np.uint64]
    table: NDArray[np.float32]
    gains: NDArray[np.float64]


class ForestOnGpu:
    """Rows of a sample on the GPU, and room for trees that are grown on them."""

    def __init__(
        self, columns: NDArray[np.uint8], lines: NDArray[np.uint8], parcels: NDArray[np.int64],
        weights: NDArray[np.int64], medians: NDArray[np.int64], plan: ForestPlan,
    ) -> None:  # fmt: skip
        self._rows, self._features, self._plan = parcels.size, len(columns), plan
        with self._limited():
            arrays = columns, lines, parcels, weights, medians
            self._arrays = [to_gpu(array) for array in arrays]
        self._stride, self._weighted = lines.shape[1], weights.size > 0
        self._classes = plan.classes if plan.classes > 2 else 0
        self._room: dict[str, Any] = {}
        self._size = (0, 0)

    def _limited(self) -> Any:
        """Raise an error that says what fits if the memory does not suffice."""
        return limited_memory(
            2 * self._features + BYTES_PER_ROW, self._features, "set max_samples lower"
        )

    def _shapes(self, trees: int, room: int) -> dict[str, tuple[tuple[int, ...], Any]]:
        """Return the arrays that trees work on, in the order of ``struct Forest``."""
        wide, many = room if self._weighted else 0, self._classes
        return {
            "rows_of": ((trees, room), np.uint32), "spare_rows": ((trees, room), np.uint32),
            "own": ((trees, room), np.int64), "heavy": ((trees, wide), np.int64),
            "spare": ((trees, room), np.int64), "spare_heavy": ((trees, wide), np.int64),
            "decks": ((trees, self._features), np.uint32),
            "totals": ((trees, WARPS, many), np.int64), "left": ((trees, WARPS, many), np.int64),
            "by_code": ((trees, CODES, many), np.int64),
            "stacks": ((trees, MAX_WAITING_NODES, 4), np.uint32),
            "stacked": ((trees, MAX_WAITING_NODES), np.uint64),
            "nodes": ((trees, 2 * room), np.uint64),
            "ranges": ((trees, room if many else 0), np.uint32),
            "gains": ((trees, self._features), np.float64), "found": ((trees, 3), np.int64),
        }  # fmt: skip

    def most_trees(self, room: int) -> int:
        """Return how many trees are grown at once: as many as fit into memory."""
        import cupy

        shapes = self._shapes(1, room).values()
        each = self._rows + sum(np.dtype(kind).itemsize * _size(shape) for shape, kind in shapes)
        free, _ = cupy.cuda.runtime.memGetInfo()
        pool = cupy.get_default_memory_pool()
        limit = pool.get_limit() or free + pool.total_bytes()
        # What the pool keeps for later is not free for others, but for us.
        free = min(free + pool.free_bytes(), limit - pool.used_bytes())
        return max(1, min(MAX_TREES_AT_ONCE, int(MAX_MEMORY_SHARE * free / each)))

    def begin(self, bags: list[SmallBag], unit: float, lightest: float) -> None:
        """Start to grow a tree on every bag."""
        import cupy

        # The widest type of the bags: counts mostly fit into bytes, an eighth of what is copied.
        trees, kind = len(bags), np.result_type(*(bag.counts for bag in bags))
        with self._limited():
            all_counts = cupy.empty((trees, self._rows if bags[0].counts.size else 0), kind)
            room = self._room_for(trees, max(bag.size for bag in bags))
        for counts, bag in zip(all_counts if all_counts.size else (), bags, strict=False):
            counts.set(bag.counts.astype(kind, copy=False))
        seeds = to_gpu(np.array([bag.seed for bag in bags], np.uint64))
        columns, lines, *of_rows = (array.data.ptr for array in self._arrays)
        fields = (
            columns, lines, self._rows, self._stride, self._features, *self._plan,
            int(self._weighted), *of_rows, trees, room,
            all_counts.data.ptr if all_counts.size else 0,
            kind.itemsize, seeds.data.ptr, MAX_WAITING_NODES,
            *(array.data.ptr for array in self._room.values()),
        )  # fmt: skip
        self._forest, self._used = to_gpu(np.array(fields, np.int64)), (all_counts, seeds)
        forest_kernel("grow_forest")(
            (trees,), (THREADS,), (self._forest, np.float64(unit), np.float64(lightest))
        )
        self._trees = trees

    def _room_for(self, trees: int, rows: int) -> int:
        """Allocate memory if needed; return how many rows a tree has room for."""
        import cupy

        if self._size[0] < trees or self._size[1] < rows:
            self._room = {}  # so that this memory can be reused
            room = rows + rows // 64  # bags differ a little
            self._room = {
                name: cupy.empty(shape, dtype)
                for name, (shape, dtype) in self._shapes(trees, room).items()
            }
            self._size = trees, room
        return self._size[1]

    def end(self) -> list[GrownTree | None]:
        """Wait for the trees; None stands for one with too many waiting nodes."""
        results = self._room["found"][: self._trees].get()
        gains, tables = self._room["gains"][: self._trees].get(), self._tables(results[:, 1])
        nodes = self._room["nodes"]
        return [
            None if failed else GrownTree(nodes[tree, :written].get(), tables[tree], gains[tree])
            for tree, (written, _, failed) in enumerate(results.tolist())
        ]

    def _tables(self, lines: NDArray[np.int64]) -> list[NDArray[np.float32]]:
        import cupy

        width = max(1, self._classes)
        firsts = np.concatenate([[0], np.cumsum(lines)])
        if firsts[-1] == 0:
            return [np.empty((0, width), np.float32) for _ in lines]
        table = cupy.empty((int(firsts[-1]), width), np.float32)
        forest_kernel("fill_tables")((1_024,), (128,), (self._forest, to_gpu(firsts), table))
        return np.split(table.get(), firsts[1:-1])


def _size(shape: tuple[int, ...]) -> int:
    return int(np.prod(shape))
