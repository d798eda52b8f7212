"""What kernels read when they judge words: src/native/words/words.h."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.arrays import Bytes, Numbers, Wholes


class WordRows(NamedTuple):
    """The rows that hold each word, the pulls and weights of all rows, and the criterion."""

    starts: Wholes
    rows: Numbers
    taken: Bytes
    weights: Wholes
    pulls: NDArray[np.integer]
    times_weight: bool
    rest: Wholes
    """(2, outputs): the sums of pulls and weights of all rows not taken; of shape (2, 0) if lists
    abstain on rows without a word."""
    criterion: int
    penalty: float
