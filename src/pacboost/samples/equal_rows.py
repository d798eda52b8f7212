"""Equal rows: draws from a domain of few values, or copies?

Independent draws from a domain of few values repeat by nature. Copies, such as several visits of
one patient with the same 15-digit value, are no further evidence, and copies on both sides of a
division let a model be tested on what it learned. Equality alone cannot tell; columns can:

* A column, or a pair of columns, is *fine* if it has at least 20 values, of which at least 90 %
  belong to one distinct row. Equal rows of a table with a fine column or pair are copies: a
  distinct row is one example. All its copies go to the same side of every division, and one is
  counted. There have to be other columns beside it; a table of one column of numbers is fine if
  these are scattered, and do not nearly fill a grid as ages do.
* Without one, equal rows are draws, and count as they fall.
* If all rows come a multiple of r times, the table was copied r times: every r copies are one
  example. Labels, if they are known, are part of a row there: copies of different draws that
  happen to be equal are not mixed.

Whether rows are copies does not depend on labels. They only tell which of the equal rows of a
table that was copied belong together. docs/proofs/holdout.md proves what follows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pacboost.errors import NotCertified, ParameterError
from pacboost.samples.copies import FEWEST, Repeats
from pacboost.samples.hidden_copies import (
    MOST_COLUMNS,
    column_values,
    few_columns,
    hidden_copies,
    near_places,
    rounded_keys,
    surely_copied,
)

COPIES = ("auto", "draws", "distinct")
FEWEST_VALUES, SHARE_OF_ONE = 20, 0.9
"""What makes a column, or a pair of columns, fine."""
SCATTERED = 4
"""Numbers are scattered if a grid on which they lie has so many places for each of them."""
MOST_CELLS = 2**23
"""So many cells of pairs of columns are looked at; pairs with many values come first."""
FEW_NUMBERED = 0.05
"""If no larger share of rows repeats without a column, the column is no number of rows."""
SEPARATE = "equal rows are separate draws, as from a domain of few values"
DISTINCT = "equal rows are copies of one example, of which one is counted"

Rows = NDArray[np.intp]
Codes = NDArray[np.integer]
Columns = Sequence[NDArray[Any]] | Callable[[], Iterator[NDArray[Any]]]
"""The columns of a table, or what reads them one after the other, if they are many."""


def check_copies(copies: Any) -> str:
    """Check the parameter ``copies``."""
    if not (isinstance(copies, str) and copies in COPIES):
        allowed = ", ".join(map(repr, COPIES))
        raise ParameterError(
            f"copies is {copies!r}; it may be {allowed}: 'draws' counts equal rows as they fall, "
            "'distinct' counts each distinct row once, and 'auto' finds out which they are"
        )
    return copies


@dataclass(frozen=True, eq=False)
class Examples:
    """Which rows of a table are one example."""

    rows: int
    number: Rows | None = None
    """Rows with the same number are copies of one example; None if every row is its own."""
    repeated: bool = False
    """Whether some rows are equal."""

    @classmethod
    def of(cls, X: Any, copies: str = "auto", labels: Any = None) -> Examples:
        """Find equal rows, and tell copies from draws; raise if they are surely neither.

        >>> generator = np.random.default_rng(0)
        >>> fine, coarse = generator.random((60, 2)), generator.integers(3, size=(60, 2))
        >>> [Examples.of(X[generator.integers(60, size=90)]).copied for X in (fine, coarse)]
        [True, False]
        >>> Examples.of(np.repeat(coarse, 3, axis=0)).count
        60
        """
        check_copies(copies)
        ways = list(_ways(X)) if copies == "auto" else list(islice(_ways(X), 1))
        if not ways:
            return cls(int(getattr(X, "shape", (0,))[0]))
        whole, columns = ways[0]
        number = whole if copies == "distinct" and _repeats(whole) else None
        if copies == "auto":
            fine = (place for place, own in ways if _repeats(place) and is_fine(own, place))
            number = next(fine, None)
        draws = number is None
        if copies == "auto" and draws and _repeats(whole):
            place = whole if labels is None else Repeats.by_keys(whole, labels).place
            times = int(np.gcd.reduce(np.bincount(place)))
            number = _every(place, times) if times > 1 else None
        if copies != "draws":
            number = _with_hidden(X, columns, number, draws=draws)
        number = None if number is None else _in_order(number)
        return cls(whole.size, number, number is not None or _repeats(whole))

    @property
    def copied(self) -> bool:
        """Whether some rows are copies of others."""
        return self.number is not None

    @property
    def count(self) -> int:
        """The number of examples."""
        return self.rows if self.number is None else int(self.number.max()) + 1

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What a certificate has to assume of equal rows, where there are some."""
        if not self.repeated:
            return ()
        return (DISTINCT,) if self.copied else (SEPARATE,)

    @property
    def word(self) -> str:
        """The word to put before "rows" where they are counted: "distinct ", or nothing."""
        return "distinct " if self.copied else ""

    def once(self, rows: Rows) -> Rows:
        """Return one row of every example among some rows, chosen by chance, always the same.

        >>> Examples(4, np.array([0, 0, 1, 2]), True).once(np.array([0, 1, 3])).size
        2
        """
        if self.number is None:
            return rows
        order = np.random.default_rng(0).permutation(self.rows)
        rank = np.empty(self.rows, dtype=np.intp)
        rank[order] = np.arange(self.rows)
        by_rank = rows[np.argsort(rank[rows])]
        first = np.unique(self.number[by_rank], return_index=True)[1]
        return np.sort(by_rank[first])

    def rows_of(self, examples: Rows) -> Rows:
        """Return all rows of some examples, in order.

        >>> Examples(4, np.array([0, 0, 1, 2]), True).rows_of(np.array([0, 2])).tolist()
        [0, 1, 3]
        """
        return np.sort(examples) if self.number is None else _where(self.number, examples)


def is_fine(columns: Columns, place: Rows) -> bool:
    """Check whether a column or a pair of columns is fine; ``place`` numbers the distinct rows.

    >>> rows = np.arange(100)
    >>> is_fine([rows % 10, rows // 10], rows), is_fine([rows % 10, rows // 10, rows % 3], rows)
    (False, True)
    """
    first = np.unique(place, return_index=True)[1]
    codes: list[Codes] = []
    fine = False
    for column in columns() if callable(columns) else columns:
        values = np.asarray(column)[first]
        codes.append(_codes(values))
        fine = fine or _fine(codes[-1])
        if fine and len(codes) > 1:
            return True
    if len(codes) < 3:
        return fine and not _fill_a_grid(values)
    codes.sort(key=lambda code: -int(code.max(initial=0)))
    return any(_fine(_pair(*pair)) for pair in _pairs(codes, MOST_CELLS // max(1, first.size)))


def _with_hidden(X: Any, columns: Columns, number: Rows | None, *, draws: bool) -> Rows | None:
    """Also number copies alike that differ by more than rounding, if rows were surely copied."""
    found = surely_copied(X, number if draws else None)
    if found is None or (number is not None and found.distinct > int(number.max())):
        return number
    if draws and not is_fine(columns, found.place):
        raise NotCertified(hidden_copies(X, number))
    return found.place


def _pairs(codes: list[Codes], most: int) -> Iterator[tuple[Codes, Codes]]:
    """Return so many pairs of columns at most, those of columns with many values first."""
    for last in range(1, len(codes)):
        for first in range(last):
            if most <= 0:
                return
            most -= 1
            yield codes[first], codes[last]


def _pair(one: Codes, other: Codes) -> Codes:
    both = one.astype(np.int64) * (int(other.max()) + 1) + other
    return both if int(both.max()) < 4 * both.size else _codes(both)


def _fine(codes: Codes) -> bool:
    counts = np.bincount(codes)
    values = int(np.count_nonzero(counts))
    return values >= FEWEST_VALUES and np.count_nonzero(counts == 1) >= SHARE_OF_ONE * values


def _fill_a_grid(values: NDArray[Any]) -> bool:
    """Check whether numbers lie on a grid, as whole ones do, and fill much of it.

    >>> _fill_a_grid(np.arange(30)), _fill_a_grid(np.random.default_rng(0).random(30))
    (True, False)
    """
    if values.dtype.kind not in "fiub":
        return False
    known = np.unique(values[np.isfinite(values)].astype(np.float64))
    gaps = np.diff(known)
    return not gaps.size or bool(known[-1] - known[0] < SCATTERED * known.size * gaps.min())


def _codes(values: NDArray[Any]) -> Codes:
    """Number the values of a column; missing ones are one value."""
    if values.dtype.kind == "O":
        values = values.astype(str)
    return np.unique(values, return_inverse=True)[1].astype(np.int32)


def _ways(X: Any) -> Iterator[tuple[Rows, Columns]]:
    """Number the distinct rows: by all columns, and without one that differs in every row.

    A column that numbers the rows would hide that they are copies.
    """
    if sparse.issparse(X):
        stored: Any = X
        often = np.argsort(
            -np.bincount(stored.tocoo().col, minlength=stored.shape[1]), kind="stable"
        )
        some = np.sort(often[:MOST_COLUMNS])
        yield Repeats.of_any(X).place, list(stored.tocsc()[:, some].toarray().T)
        return
    columns = few_columns(X)
    if columns is None:
        yield Repeats.of_any(X).place, partial(column_values, X)
        return
    if not columns:
        return
    keys = rounded_keys(columns)
    every = keys.sum(axis=0)
    yield near_places(every), columns
    if not 1 < len(columns) <= MOST_COLUMNS:
        return
    for j, column in enumerate(columns):
        if int(_codes(column).max()) + 1 == column.size:
            place = near_places(every - keys[j])
            if place.size - int(place.max()) > max(FEWEST, FEW_NUMBERED * place.size):
                yield place, columns[:j] + columns[j + 1 :]


def _repeats(place: Rows) -> bool:
    return bool(place.size) and int(place.max()) + 1 < place.size


def _in_order(number: Rows) -> Rows:
    """Number examples in the order in which they come first, however rows were compared."""
    first, place = np.unique(number, return_index=True, return_inverse=True)[1:]
    rank = np.empty(first.size, dtype=np.intp)
    rank[np.argsort(first)] = np.arange(first.size)
    return rank[place]


def _every(place: Rows, times: int) -> Rows:
    """Number every so many equal rows as one example."""
    order = np.argsort(place, kind="stable")
    number = np.empty_like(place)
    number[order] = np.arange(place.size) // times
    return number


def _lines(labels: NDArray[Any]) -> NDArray[Any]:
    """Give one label a row, also where rows have several."""
    given = np.asarray(labels)
    return given if given.ndim == 1 else np.array([str(line) for line in given.tolist()])


def _where(number: Rows, examples: Rows) -> Rows:
    chosen = np.zeros(int(number.max()) + 1, dtype=np.bool_)
    chosen[examples] = True
    return np.flatnonzero(chosen[number])
