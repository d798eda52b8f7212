"""Launch the kernels that grow trees, and hold their arrays in the GPU's memory."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from pacboost.kernels.cuda import twins
from pacboost.kernels.cuda.device import row_kernel, to_gpu, tree_kernel
from pacboost.kernels.cuda.weighing import NOTHING, SUMS, Copied, Origin, keep
from pacboost.kernels.layout import CATEGORY, MONOTONE, Interactions

if TYPE_CHECKING:
    from pacboost.kernels.cuda.device import Array, GpuArray

CODES = 256
PLAN_WORDS = 5
LEAVES = 1
BATCH = 32
"""As in tree.cuh."""
ORDER = 15
"""The place of the pointers to the orders of rows in ``struct Tree``."""
MAX_SPLITS_AHEAD = 512
"""Maximum number of splits made before their turn in best-first order has come."""
THREADS = 1_024
MAX_SHARED_BYTES = 96 * 1_024
"""Of the histograms that a block counts at once: two 32-bit integers for each code."""
MIN_SHARED_BYTES = 32 * 1_024
MIN_CELLS_PER_BLOCK = 16_384
ROWS_PER_COPY = 4_000_000
"""Number of rows whose codes are copied to the GPU at once."""

int64 = np.int64


def empty(shape: int | tuple[int, ...], dtype: DTypeLike) -> GpuArray:
    """Allocate an array on the GPU."""
    import cupy

    return cupy.empty(shape, dtype)


def codes_by_row(words: NDArray[np.uint64], lanes: int) -> GpuArray:
    """Copy words of codes, (blocks, rows), to the GPU; return the codes there row by row."""
    rows, stride = words.shape[1], -(-lanes // 4) * 4
    codes = empty((rows, stride), np.uint8)
    kernel = row_kernel("lay_out")
    for first in range(0, rows, ROWS_PER_COPY):
        part = to_gpu(np.ascontiguousarray(words[:, first : first + ROWS_PER_COPY]))
        sizes = int64(part.shape[1]), int64(first), int64(lanes), int64(stride)
        kernel((2_048,), (256,), (part, *sizes, codes))
    return codes


def settle(
    codes: GpuArray, lanes: NDArray[np.int64], goes_left: NDArray[np.uint8],
    left_child: NDArray[np.int32], right_child: NDArray[np.int32], chosen: NDArray[np.intp],
    cells: Array,
) -> None:  # fmt: skip
    """Set the leaves of the rows that were not chosen."""
    grown_on = empty(len(codes), np.uint8)
    if not left_child.size:
        cells[:] = 0
        return
    grown_on[:] = 0
    grown_on[to_gpu(chosen)] = 1
    tables = (to_gpu(array) for array in (lanes, goes_left, left_child, right_child))
    row_kernel("settle")((2_048,), (256,), (
        codes, int64(codes.shape[1]), *tables, grown_on, int64(len(codes)), cells,
        int64(cells.itemsize),
    ))  # fmt: skip


class Grown(NamedTuple):
    """A tree in the CPU's memory: the number of its leaves, and its splits."""

    leaves: int
    splits: NDArray[np.int64]
    gains: NDArray[np.float64]
    members: NDArray[np.uint8]


@cache
def _multiprocessors() -> int:
    import cupy

    return int(cupy.cuda.Device().attributes["MultiProcessorCount"])


class GrowingTree:
    """The arrays of ``struct Tree`` of tree.cuh, for trees on one sample."""

    def __init__(
        self, codes: GpuArray, lanes: int, features: NDArray[np.int64], pairs: GpuArray,
        cells: GpuArray,
        leaves: int, missing: int, drawn: int, deepest: int, interactions: Interactions | None,
    ) -> None:  # fmt: skip
        import cupy

        count, lines = len(features), len(pairs)
        self._codes, self._pairs, self._cells, self._lanes = codes, pairs, cells, lanes
        self._categories = bool(features[:, CATEGORY].any())
        levels = count if self._categories else 0
        ahead = min(max(BATCH, leaves // 2), MAX_SPLITS_AHEAD)
        splits = leaves - 1 + ahead
        nodes = 2 * splits + 1
        self._histogram = cupy.empty((splits + 1, lines, lanes, CODES), np.int64)
        # One array is copied back: the plan, the splits and their gains, and the sums of leaves.
        self._back = Copied(cupy.zeros(PLAN_WORDS + 8 * leaves, np.int64))
        self._sums = self._back.there[PLAN_WORDS + 6 * leaves :].reshape(2, leaves, 1)
        self._split_members = cupy.zeros((leaves, CODES), np.uint8)
        self._features = to_gpu(features)
        of_nodes = (
            "starts", "sizes", "slots", "sides_of", "depths", "left_of", "right_of", "parents",
            "split_of", "leaf_of",
        )  # fmt: skip
        arrays = {name: cupy.zeros(nodes, np.int64) for name in of_nodes}
        arrays |= {name: cupy.zeros(shape, kind) for name, shape, kind in (
            ("best", (nodes, 3), np.int64), ("members", (nodes, CODES), np.uint8),
            ("gains", nodes, np.float64), ("spans", (nodes, 2), np.float64),
            ("node_of", leaves, np.int64), ("decks", (2, count), np.int64),
            ("found", (2 * BATCH, count), np.float64), ("found_cut", (2 * BATCH, count), np.int64),
            ("worth", 2 * BATCH, np.float64), ("batch", BATCH, np.int64),
            ("searched", BATCH, np.int64), ("counted_left", BATCH, np.int64),
            ("rests", 2 * BATCH, np.int64), ("placed", 2 * BATCH, np.uint32),
            ("barrier", 2, np.uint32), ("orders", (levels, CODES), np.uint8),
            ("evidence", levels, np.float64),
        )}  # fmt: skip
        arrays["allowed"] = cupy.ones((2, count), np.uint8)
        self._arrays = arrays
        room = lines * (CODES + 1) + lines + CODES + 1 + (CODES + 1) // 4 + 1  # per warp
        group = min(-(-lanes // 4) * 4, MAX_SHARED_BYTES // (8 * CODES))
        words = max(CODES * group, room, MIN_SHARED_BYTES // 8)
        self._shared = 8 * words
        at = {name: array.data.ptr for name, array in arrays.items()}
        back = self._back.there.data.ptr
        fields = (
            codes.data.ptr, codes.shape[1], len(codes), lanes, count, lines, leaves, missing,
            drawn, deepest, splits, ahead, int(features[:, MONOTONE].any()),
            self._features.data.ptr, pairs.data.ptr, 0, 0, self._histogram.data.ptr, 0,
            *(at[name] for name in of_nodes), at["best"], at["members"],
            at["gains"], at["spans"], at["node_of"], back + 8 * PLAN_WORDS,
            self._split_members.data.ptr, back + 8 * (PLAN_WORDS + 5 * leaves), at["allowed"],
            at["decks"], at["found"], at["found_cut"], at["worth"], at["batch"], at["searched"],
            at["counted_left"], at["rests"], back, at["placed"], at["barrier"], cells.data.ptr,
            cells.itemsize, group, words, at["orders"], at["evidence"], self._sums.data.ptr,
            *self._interacting(interactions, nodes, count),
        )  # fmt: skip
        self._tree = to_gpu(np.array(fields, dtype=np.int64))
        self._leaves = leaves
        self._summed: tuple[GpuArray, GpuArray] | None = None
        self._order: GpuArray
        self._order_in: int | None = None
        """The address of the weights whose memory the order uses; 0 if it has separate memory."""

    def _interacting(self, rules: Interactions | None, nodes: int, count: int) -> list[int]:
        """Return the fields of ``struct Tree`` for features that may not interact."""
        if rules is None:
            return [0] * 9
        sets = len(rules.sets)
        shapes = (nodes, sets), (nodes, count), (nodes, count)
        rooms = [to_gpu(rules.sets), *(empty(shape, np.uint8) for shape in shapes)]
        rooms.append(empty(nodes, np.int64))
        self._arrays |= {f"interactions {k}": room for k, room in enumerate(rooms)}
        # The struct is an array of 64-bit integers, so a double travels as its bits.
        share = int(np.float64(rules.share).view(np.int64))
        return [1, sets, rules.max_features, share, *(room.data.ptr for room in rooms)]

    def _take_room(self, weights: GpuArray | None) -> None:
        """Use the memory of the weights for two orders of the rows, or allocate some."""
        shape, where = (2, len(self._codes)), 0 if weights is None else weights.data.ptr
        if where == self._order_in:
            return
        self._order_in = where
        # Weights are computed again after the tree (weigh_again); until then their eight bytes a
        # row hold two orders of four. Memory decides how many rows fit.
        if weights is None:
            self._order = empty(shape, np.uint32)
        else:
            self._order = weights.reshape(-1).view(np.uint32).reshape(shape)
        places = [order.data.ptr for order in self._order]
        self._tree[ORDER : ORDER + 2] = to_gpu(np.array(places, dtype=np.int64))

    def begin(
        self,
        rules: NDArray[np.float64],
        chosen: NDArray[np.intp] | None,
        key: np.uint64,
        weights: GpuArray | None = None,
        totals: GpuArray | np.uintp = NOTHING,
    ) -> None:
        """Start to grow a tree on the chosen rows, or on all.

        If ``weights`` are passed, they are overwritten. With ``totals``, the penalty of the rules
        is multiplied by the scale that follows from them.
        """
        size = len(self._codes) if chosen is None else chosen.size
        self._take_room(weights)
        if chosen is not None:
            self._order[0, :size] = to_gpu(chosen)
        kernel = tree_kernel()
        if kernel.max_dynamic_shared_size_bytes < self._shared:  # noqa: PLR1730 (setting it costs)
            kernel.max_dynamic_shared_size_bytes = self._shared
        # At most one for each multiprocessor: blocks that wait for each other must all run at once.
        blocks = max(1, min(_multiprocessors(), size * self._lanes // MIN_CELLS_PER_BLOCK))
        kernel((blocks,), (THREADS,), (
            self._tree, int64(size), int64(chosen is None), np.uint64(key), totals, *rules
        ), shared_mem=self._shared)  # fmt: skip
        self._summed = None

    def weigh_again(
        self, origin: Origin, weights: GpuArray, pulls: GpuArray, *, sums: bool
    ) -> None:
        """Recompute the overwritten weights; with ``sums``, also sum the rows of the leaves.

        The sums of weights and pulls are stored for the twins.
        """
        into = self._sums if sums else None
        twins.weigh_again(origin, weights, self._cells, pulls, into)
        self._summed = (weights, pulls) if sums else None

    def end(self) -> Grown:
        """Wait for the tree and return it."""
        back = self._back.fetch()
        leaves = int(back[LEAVES])
        splits = back[PLAN_WORDS : PLAN_WORDS + 5 * self._leaves].reshape(-1, 5)[: leaves - 1]
        gains = back[PLAN_WORDS + 5 * self._leaves : PLAN_WORDS + 6 * self._leaves]
        members = np.zeros((leaves - 1, CODES), dtype=np.uint8)
        # A copy waits for the GPU, so it is made only for splits that have members.
        if self._categories:
            members = self._split_members[: leaves - 1].get()
        if self._summed is not None:
            sums = back[PLAN_WORDS + 6 * self._leaves :].reshape(2, -1)[:, :leaves]
            weights, pulls = self._summed
            keep(SUMS, self._cells, (weights.data.ptr, pulls.data.ptr, sums))
        return Grown(leaves, splits, gains.view(np.float64)[: leaves - 1], members)
