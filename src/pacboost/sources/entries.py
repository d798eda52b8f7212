"""What a sparse table stores: the cells that are not zero, column by column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError

Places = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Entries:
    """The stored cells of a table; all others are 0.

    Those of column j lie from ``starts[j]`` to ``starts[j + 1]``, in the order of their rows, no
    row twice.
    """

    n_rows: int
    starts: Places
    rows: NDArray[np.int32]
    values: NDArray[np.float32] | NDArray[np.float64]

    @property
    def columns(self) -> Places:
        """The column of each stored cell."""
        return np.repeat(np.arange(self.starts.size - 1), np.diff(self.starts))

    def of(self, columns: NDArray[np.integer]) -> Entries:
        """Give some of the columns.

        >>> all_ = Entries(2, np.array([0, 1, 1, 3]), np.int32([1, 0, 1]), np.array([5.0, 6, 7]))
        >>> some = all_.of(np.array([2, 0]))
        >>> some.starts.tolist(), some.values.tolist()
        ([0, 2, 3], [6.0, 7.0, 5.0])
        """
        starts, places = picked(self.starts, columns)
        return Entries(self.n_rows, starts, self.rows[places], self.values[places])

    def refuse_infinite(self) -> None:
        """Raise if a value is infinite."""
        bad = np.isinf(self.values)
        if bad.any():
            place = int(bad.argmax())
            column = int(np.searchsorted(self.starts, place, side="right")) - 1
            raise DataError(
                f"column {column} holds {self.values[place]} in row {self.rows[place]}; values "
                "have to be finite, or NaN where they are missing. Clip the infinite ones or make "
                "them missing."
            )


def picked(starts: Places, lines: NDArray[np.integer]) -> tuple[Places, Places]:
    """Tell where some lines of lists would begin on their own, and which places they hold now.

    >>> [numbers.tolist() for numbers in picked(np.array([0, 2, 2, 5]), np.array([2, 0]))]
    [[0, 3, 5], [2, 3, 4, 0, 1]]
    """
    sizes = np.diff(starts)[lines]
    begins = starts_of(sizes)
    moved = np.repeat(starts[:-1][lines] - begins[:-1], sizes)
    return begins, moved + np.arange(int(begins[-1]))


def starts_of(sizes: NDArray[Any]) -> Places:
    """Tell where lists of these sizes begin if they lie one after the other, and where all end.

    >>> starts_of(np.array([2, 0, 3])).tolist()
    [0, 2, 2, 5]
    """
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)])
