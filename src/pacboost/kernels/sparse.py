"""What kernels on sparse columns of codes are told: src/native/sparse."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.arrays import Cells, Floats, Numbers, Rows, Wholes
from pacboost.kernels.layout import Leaves, Splits


class SparseColumns(NamedTuple):
    """The rows of column j from ``starts[j]`` to ``starts[j + 1]``; all others have its default."""

    starts: Wholes
    rows: Numbers
    codes: Cells
    defaults: Cells


class SparseTree(NamedTuple):
    """All that a tree is grown on and in; pairs are (lines, rows)."""

    columns: SparseColumns
    """With codes of one byte."""
    features: NDArray[np.int64]
    missing: int
    order: Rows
    pairs: Wholes
    rules: Floats
    leaves: Leaves
    splits: Splits
