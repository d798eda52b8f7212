"""Score rows on the GPU under a vote of trees: the twin of ``score`` of kernels/walk.py."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.cuda.device import on_gpu, pinned, to_gpu, zeros_on_gpu
from pacboost.kernels.cuda.encode import Encoder, Layout, Rows, pieces
from pacboost.kernels.cuda.module import predict_kernel
from pacboost.kernels.threads import each_rows
from pacboost.kernels.walk import CUT, FEATURE, LEFT, MEMBER, MISSING_LEFT, RIGHT

SPLITS_AT_ONCE = 3_072
"""Splits of so many words lie in the memory of a block; a larger tree is not walked on the GPU."""
THREADS = 256

whole = np.int64


class TreesOnGpu:
    """Trees laid one after the other (hypotheses/scored_trees.py), in the GPU's memory."""

    def __init__(
        self,
        nodes: NDArray[np.int32],
        members: NDArray[np.uint8],
        trees: NDArray[np.int64],
        values: NDArray[np.float64],
        layout: Layout,
    ) -> None:
        self._encoder = Encoder(layout)
        ends = np.concatenate([trees, [[len(nodes), 0, len(values)]]])
        self._outputs = values.shape[1]
        self._groups = to_gpu(_groups(ends[:, 0]))
        given = packed_splits(nodes), np.ascontiguousarray(nodes[:, MEMBER]), members, ends, values
        self._splits, self._members_of, self._members, self._trees, self._values = (
            to_gpu(array) for array in given
        )

    def add_to(self, scores: Any, values: Any, chosen: Rows | None) -> None:
        """Add what the trees say of rows to their scores (rows, outputs), wherever these are."""
        import cupy

        encoder, kernel, layout = self._encoder, predict_kernel(), self._encoder.layout
        shared = 8 * SPLITS_AT_ONCE + THREADS * bytes_a_row(layout.stride)
        stay = on_gpu(scores)
        kernel.max_dynamic_shared_size_bytes = shared
        for first, part, stream in pieces(values, chosen):
            with stream:
                codes = cupy.empty((len(part), layout.stride), np.uint8)
                own = scores[first : first + len(part)]
                found = own if stay else zeros_on_gpu(own.shape)
                encoder.write(part, codes)
                kernel((min(4_096, -(-len(part) // THREADS)),), (THREADS,), (
                    codes, whole(layout.stride), whole(len(part)), self._splits, self._members_of,
                    self._members, whole(layout.missing), self._trees, self._groups,
                    whole(self._groups.size - 1), self._values,
                    whole(self._outputs), whole(SPLITS_AT_ONCE), found,
                ), shared_mem=shared)  # fmt: skip
                if stay:
                    continue
                here = pinned(found.shape, np.float64)
                found.get(stream, out=here)
            _add(here, own)


def most_stride() -> int:
    """Give how many bytes the codes of a row may take."""
    return (96 * 1_024 - 8 * SPLITS_AT_ONCE) // THREADS - 4


def bytes_a_row(stride: int) -> int:
    """Give how far apart rows lie in the memory of a block: an odd number of words of four bytes.

    Threads that look at the same feature of their rows then ask for different memory banks.

    >>> bytes_a_row(28), bytes_a_row(32)
    (28, 36)
    """
    return stride | 4


def packed_splits(nodes: NDArray[np.int32]) -> NDArray[np.uint64]:
    """Put each split into a word, as predict.cu says.

    >>> nodes = np.array([[2, 7, 1, -1, -2, -1]], dtype=np.int32)
    >>> f"{int(packed_splits(nodes)[0]):016x}"
    '0002fffffffe0701'
    """
    words = nodes.astype(np.int64)
    low = np.int64(0xFFFF)
    packed = (words[:, FEATURE] << 48) | ((words[:, LEFT] & low) << 32)
    packed |= ((words[:, RIGHT] & low) << 16) | ((words[:, CUT] & 255) << 8)
    packed |= ((words[:, MEMBER] >= 0).astype(np.int64) << 1) | (words[:, MISSING_LEFT] & 1)
    return packed.view(np.uint64)


def _groups(starts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Divide trees into groups whose splits lie in the memory of a block together."""
    groups = [0]
    for tree in range(1, starts.size):
        if starts[tree] - starts[groups[-1]] > SPLITS_AT_ONCE:
            groups.append(tree - 1)
    return np.array([*groups, starts.size - 1], dtype=np.int64)


def _add(part: NDArray[np.float64], scores: NDArray[np.float64]) -> None:
    def task(start: int, stop: int) -> None:
        scores[start:stop] += part[start:stop]

    each_rows(task, len(part), width=part.shape[1])
