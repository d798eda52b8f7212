"""A number in [0, 1) made from the values of every row: what some prediction sets draw by."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pacboost.samples.row_hashes import RowHasher
from pacboost.sources.table import Table

SALT = 20200604


def share_of_row(table: Table) -> NDArray[np.float64]:
    """Make a number in [0, 1) from the values of every row.

    >>> from pacboost.sources.arrays import ArrayTable
    >>> some = share_of_row(ArrayTable(np.array([[1.0], [2.0], [1.0]])))
    >>> bool(some[0] == some[2] != some[1])
    True
    """
    hashes = RowHasher(SALT, np.ones(table.n_columns)).exact(table)
    return np.asarray((hashes >> np.uint64(11)) * 2.0**-53)
