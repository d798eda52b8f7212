"""Score rows on the GPU under a vote of trees: the twin of src/native/tree/predict.cpp."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.cuda.device import on_gpu, pinned, predict_kernel, row_kernel, to_gpu
from pacboost.kernels.cuda.encode import Encoder, Layout, Rows, pieces
from pacboost.kernels.layout import CUT, FEATURE, LEFT, MEMBER, MISSING_LEFT, RIGHT
from pacboost.kernels.threads import each_rows

if TYPE_CHECKING:
    from pacboost.kernels.cuda.device import Array, GpuArray

MAX_SPLITS_PER_TREE = 3_072
"""Larger trees are not scored on the GPU."""
MAX_ENTRIES_PER_BLOCK = 2 * MAX_SPLITS_PER_TREE + 2
"""Number of splits and leaves that fit into the memory of a block."""
FEATURE_BIT, CUT_BIT, MISSING_BIT, MEMBER_BIT = 23, 15, 14, 13
"""The first bits of the fields of an entry, as in predict.cu; below is the left child's place."""
THREADS = 256

int64 = np.int64


class StoredTree(Protocol):
    """A tree of an earlier round, as hypotheses/tree.py stores it."""

    feature: NDArray[np.int64]
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    values: NDArray[np.float64]

    def sides(self) -> NDArray[np.bool_]:
        """Return the side of every code at every split."""


class TreesOnGpu:
    """Concatenated trees (hypotheses/scored_trees.py) in the GPU's memory."""

    def __init__(
        self, nodes: NDArray[np.int32], members: NDArray[np.uint8], trees: NDArray[np.int64],
        values: NDArray[np.float64], layout: Layout,
    ) -> None:  # fmt: skip
        self._encoder = Encoder(layout)
        entries, members_of, starts = packed_entries(nodes, trees)
        self._outputs = values.shape[1]
        self._groups = to_gpu(_groups(starts))
        leaves = np.append(trees[:, 2], len(values))
        arrays = entries, members_of, members, np.stack([starts, leaves], axis=1), values
        self._entries, self._members_of, self._members, self._trees, self._values = (
            to_gpu(array) for array in arrays
        )

    def add_to(self, scores: GpuArray, values: Array, chosen: Rows | None) -> None:
        """Add the values of the trees to scores (rows, outputs), in the memory of either device."""
        import cupy

        encoder, kernel, layout = self._encoder, predict_kernel(), self._encoder.layout
        shared = 4 * MAX_ENTRIES_PER_BLOCK + THREADS * row_distance(layout.stride)
        stay = on_gpu(scores)
        kernel.max_dynamic_shared_size_bytes = shared
        for first, part, stream in pieces(values, chosen):
            with stream:
                codes = cupy.empty((len(part), layout.stride), np.uint8)
                part_scores = scores[first : first + len(part)]
                sums = part_scores if stay else cupy.zeros(part_scores.shape)
                encoder.write(part, codes)
                kernel((min(4_096, -(-len(part) // THREADS)),), (THREADS,), (
                    codes, int64(layout.stride), int64(len(part)), self._entries, self._members_of,
                    self._members, int64(layout.missing), self._trees, self._groups,
                    int64(self._groups.size - 1), self._values,
                    int64(self._outputs), int64(MAX_ENTRIES_PER_BLOCK), sums,
                ), shared_mem=shared)  # fmt: skip
                if stay:
                    continue
                here = pinned(sums.shape, np.float64)
                sums.get(stream, out=here)
            _add(here, part_scores)


def max_stride() -> int:
    """Return the maximum size of the codes of a row in bytes."""
    return (96 * 1_024 - 4 * MAX_ENTRIES_PER_BLOCK) // THREADS - 4


def row_distance(stride: int) -> int:
    """Return the distance of rows in the memory of a block: an odd number of 4-byte words.

    Threads that read the same feature of their rows then use different memory banks.

    >>> row_distance(28), row_distance(32)
    (28, 36)
    """
    return stride | 4


def packed_entries(
    nodes: NDArray[np.int32], trees: NDArray[np.int64]
) -> tuple[NDArray[np.uint32], NDArray[np.int32], NDArray[np.int64]]:
    """Pack splits and leaves into words as predict.cu expects; return members and starts of trees.

    The root of a tree comes first; the children of its split t are at 2t + 1 and 2t + 2.

    >>> nodes = np.array([[2, 7, 1, -1, -2, -1]], dtype=np.int32)
    >>> entries, _, starts = packed_entries(nodes, np.array([[0, 1, 0]]))
    >>> [f"{entry:08x}" for entry in entries.tolist()], starts.tolist()
    (['0103c001', '00000000', '00002000'], [0, 3])
    """
    counts = trees[:, 1]
    starts = np.concatenate([[0], np.cumsum(2 * counts + 1)])
    tree = np.repeat(np.arange(len(trees)), counts)
    first = trees[tree, 0]
    number_in_tree = np.arange(len(nodes)) - first
    words = nodes.astype(np.int64)
    splits = (words[:, FEATURE] << FEATURE_BIT) | ((words[:, CUT] & 255) << CUT_BIT)
    splits |= (words[:, MISSING_LEFT] & 1) << MISSING_BIT
    splits |= ((words[:, MEMBER] >= 0).astype(np.int64) << MEMBER_BIT) | (2 * number_in_tree + 1)
    entries = np.zeros(int(starts[-1]), dtype=np.int64)
    members = np.full(entries.size, -1, dtype=np.int32)
    grown = counts > 0
    entries[starts[:-1][grown]] = splits[trees[grown, 0]]
    members[starts[:-1][grown]] = nodes[trees[grown, 0], MEMBER]
    for side, place in ((LEFT, 1), (RIGHT, 2)):
        child, at = words[:, side], starts[tree] + 2 * number_in_tree + place
        inner = child >= 0
        entries[at] = ~child << MEMBER_BIT
        entries[at[inner]] = splits[(first + child)[inner]]
        members[at[inner]] = nodes[(first + child)[inner], MEMBER]
    return entries.astype(np.uint32), members, starts


def _groups(starts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Divide trees into groups that fit into the memory of a block."""
    groups = [0]
    for tree in range(1, starts.size):
        if starts[tree] - starts[groups[-1]] > MAX_ENTRIES_PER_BLOCK:
            groups.append(tree - 1)
    return np.array([*groups, starts.size - 1], dtype=np.int64)


def _add(part: NDArray[np.float64], scores: NDArray[np.float64]) -> None:
    def task(start: int, stop: int) -> None:
        scores[start:stop] += part[start:stop]

    each_rows(task, len(part), width=part.shape[1])


class GpuScores:
    """Scores (rows, outputs) that a run is measured by, for rows whose codes are on the GPU."""

    def __init__(self, codes: GpuArray, outputs: int) -> None:
        self._codes = codes
        self._scores = to_gpu(np.zeros((len(codes), outputs)))

    def add(self, tree: StoredTree, vote: float) -> NDArray[np.float64]:
        """Add a tree with this vote, and return all scores."""
        rows, outputs = self._scores.shape
        features = tree.feature.astype(np.int64)
        shape = map(to_gpu, (features, tree.sides(), tree.left, tree.right))
        row_kernel("add_tree")((2_048,), (256,), (
            self._codes, int64(self._codes.shape[1]), *shape, int64(features.size),
            to_gpu(tree.values), np.float64(vote), int64(rows), int64(outputs), self._scores,
        ))  # fmt: skip
        scores: NDArray[np.float64] = self._scores.get()
        return scores
