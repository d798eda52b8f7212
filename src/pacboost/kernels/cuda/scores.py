"""The scores of rows that a run is measured on, kept on the GPU and brought up to date there."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.cuda.device import to_gpu
from pacboost.kernels.cuda.module import row_kernel

whole = np.int64


class GpuScores:
    """Scores (rows, outputs) of rows whose codes (rows, features) are on the GPU."""

    def __init__(self, codes: Any, outputs: int) -> None:
        self._codes = codes
        self._scores = to_gpu(np.zeros((len(codes), outputs)))

    def add(
        self,
        features: NDArray[np.int32],
        goes_left: NDArray[np.uint8],
        left: NDArray[np.int32],
        right: NDArray[np.int32],
        values: NDArray[np.float64],
        vote: float,
    ) -> NDArray[np.float64]:
        """Add a tree with this vote, and give all scores; ``goes_left`` is (splits, codes)."""
        rows, outputs = self._scores.shape
        held = (to_gpu(array) for array in (features.astype(np.int64), goes_left, left, right))
        row_kernel("add_tree")((2_048,), (256,), (
            self._codes, whole(self._codes.shape[1]), *held, whole(features.size), to_gpu(values),
            np.float64(vote), whole(rows), whole(outputs), self._scores,
        ))  # fmt: skip
        scores: NDArray[np.float64] = self._scores.get()
        return scores
