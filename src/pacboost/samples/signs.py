"""Signs: what the classes of rows are to a booster."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pacboost.samples.sample import Signs


def signs_of(numbers: NDArray[np.integer], classes: int) -> tuple[Signs, NDArray[np.int64] | None]:
    """Turn numbers of classes into signs (rows, outputs), and keep the numbers if they are many.

    >>> signs_of(np.array([0, 1]), 2)[0].tolist(), signs_of(np.array([0, 2]), 3)[0].tolist()
    ([[-1], [1]], [[1, -1, -1], [-1, -1, 1]])
    """
    if classes <= 2:
        return np.where(numbers == classes - 1, np.int8(1), np.int8(-1))[:, None], None
    labels = numbers.astype(np.int64)
    signs = np.full((labels.size, classes), -1, dtype=np.int8)
    signs[np.arange(labels.size), labels] = 1
    return signs, labels
