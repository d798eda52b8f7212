"""Decide which rows are one example: every single row, or all rows that are equal.

Independent draws from a discrete domain may well be equal, but copies are no further evidence. The
rows cannot show which of the two they are, so the user decides before seeing results:

* ``copies="draws"``: every row is an example, and counts. Exactly valid for independent rows.
* ``copies="distinct"``: rows that are equal in every column are one example. They stay on one side
  of every division and count once. A claim is then about distinct new rows.

Nothing here uses labels, and no rule decides from the rows which of them count: that would break
the coverage of certificates (docs/proofs/holdout.md). ``share_learned`` is for a warning only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pacboost.errors import InputWarning, invalid, warn
from pacboost.samples.equal_rows import DISTINCT
from pacboost.samples.row_hashes import Hashes, mixed, text_hashes
from pacboost.samples.time_order import have_times
from pacboost.sources.rows import Numbers, Rows, SparseRows
from pacboost.sources.sparse import SparseTable
from pacboost.sources.table import Table

COPIES = ("draws", "distinct")
MAX_EXACT_INTEGER = 2**53
"""All integers up to this one are exact as float64."""
GOLDEN = 0x9E3779B97F4A7C15
NUMBERS = (int, float, np.number, np.bool_)


def check_copies(copies: object) -> str:
    """Check the parameter ``copies``."""
    if not (isinstance(copies, str) and copies in COPIES):
        allowed = " or ".join(map(repr, COPIES))
        meaning = "'draws' counts every row, 'distinct' counts equal rows once"
        raise invalid("copies", copies, f"may be {allowed}: {meaning}")
    return copies


def same_example(X: Any, copies: str = "draws") -> Numbers | None:
    """Return the number 0, 1, … of each row's example; None if every row is one.

    Numbers are equal if all their values are, without rounding; NaN equals NaN.

    >>> rows = np.array([[1.0, np.nan], [2.0, 0.0], [1.0, np.nan], [2.0, -0.0]])
    >>> same_example(rows, "distinct").tolist(), same_example(rows, "draws")
    ([0, 1, 0, 1], None)
    """
    if check_copies(copies) == "draws":
        return None
    keys = exact_keys(X)
    _, first, place = np.unique(keys, return_index=True, return_inverse=True)
    if first.size == keys.size:
        return None
    rank = np.empty(first.size, dtype=np.intp)  # in order of first appearance
    rank[np.argsort(first)] = np.arange(first.size)
    return rank[place]


@dataclass(frozen=True, eq=False)
class Examples:
    """Which rows of a table are one example."""

    rows: int
    number: Numbers | None = None
    """Numbers with the same number are copies of one example; None if every row is an example."""
    distinct: bool = False
    have_times: bool = False
    """Whether a column says when rows were drawn."""
    share_learned: float = 0.0
    """The share of rows that certify that equal rows learned from, where these may be copies."""
    but_one: bool = False
    """Whether these rows are equal only without the column that tells rows apart."""

    @classmethod
    def from_rows(cls, X: Any, rows: int, copies: str = "draws") -> Examples:
        """Number the examples of ``rows`` rows.

        >>> few = np.random.default_rng(0).integers(3, size=(60, 2))
        >>> [Examples.from_rows(few, 60, copies).count for copies in COPIES]
        [60, 9]
        """
        return cls(rows, same_example(X, copies), copies == "distinct", have_times(X))

    @property
    def count(self) -> int:
        return self.rows if self.number is None else int(self.number.max()) + 1

    @property
    def assumptions(self) -> tuple[str, ...]:
        """The assumptions of a certificate about equal rows, besides independence."""
        return (DISTINCT,) if self.distinct else ()

    def once(self, rows: Numbers) -> Numbers:
        """Return one of the given rows for each example, at random with a fixed seed.

        >>> Examples(4, np.array([0, 0, 1, 2])).once(np.array([0, 1, 3])).size
        2
        """
        if self.number is None:
            return rows
        # places decide which copy counts, never values or labels: labels of copies may differ, and
        # the row that suits must not be chosen
        order = np.random.default_rng(0).permutation(self.rows)
        rank = np.empty(self.rows, dtype=np.intp)
        rank[order] = np.arange(self.rows)
        by_rank = rows[np.argsort(rank[rows])]
        first = np.unique(self.number[by_rank], return_index=True)[1]
        return np.sort(by_rank[first])

    def rows_of(self, examples: Numbers) -> Numbers:
        """Return all rows of some examples, in order.

        >>> Examples(4, np.array([0, 0, 1, 2])).rows_of(np.array([0, 2])).tolist()
        [0, 1, 3]
        """
        if self.number is None:
            return np.sort(examples)
        return np.flatnonzero(np.isin(self.number, examples))


def warn_uncounted(count: int, rows: int, why: str) -> None:
    """Warn that labelled rows are not counted, and why."""
    if count:
        warn(f"{count:,} of {rows:,} rows are not counted: {why}", InputWarning)


REPEATS = "they equal other rows, and equal rows count once"


def exact_keys(X: Any) -> Hashes:
    """Hash the exact values of every row of any input of ``fit``.

    >>> keys = exact_keys([["a", 1], ["b", 1], ["a", 1]])
    >>> bool(keys[0] == keys[2] != keys[1])
    True
    """
    rows = Rows.of(X)
    if isinstance(rows, SparseRows):
        return _sparse_keys(rows.given)
    return _sum_keys(rows.cells())


def _sum_keys(columns: Iterator[NDArray[Any]] | list[NDArray[Any]]) -> Hashes:
    keys: Hashes | None = None
    for number, values in enumerate(columns):
        factor = np.uint64((2 * number + 1) * GOLDEN % 2**64)
        cells = mixed(mixed(_cells(values)) + factor)
        keys = cells if keys is None else keys + cells
    return np.zeros(0, dtype=np.uint64) if keys is None else keys


def _sparse_keys(X: Any) -> Hashes:
    stored = X.tocsr(copy=True)
    stored.sum_duplicates()
    stored.eliminate_zeros()
    # GOLDEN is odd, so that these differ for all columns: equal values count apart by where they
    # stand
    factors = (2 * stored.indices.astype(np.uint64) + np.uint64(1)) * np.uint64(GOLDEN)
    cells = mixed(mixed(_cells(stored.data)) + factors)
    keys = np.zeros(stored.shape[0], dtype=np.uint64)
    np.add.at(keys, np.repeat(np.arange(stored.shape[0]), np.diff(stored.indptr)), cells)
    return keys


def _cells(values: NDArray[Any]) -> Hashes:
    """Return an integer for every value, the same for equal values of any column."""
    kind = values.dtype.kind
    if kind in "fiub":
        numbers = values.astype(np.float64) + 0.0  # turns -0.0 into 0.0
        numbers[np.isnan(numbers)] = np.nan  # there are several bit patterns of NaN
        cells = numbers.view(np.uint64)
        if kind in "iu" and values.dtype.itemsize == 8:
            large = np.abs(numbers) >= MAX_EXACT_INTEGER
            cells = np.where(large, mixed(values.astype(np.uint64)), cells)
        return cells
    cells_as_given = [np.nan if cell is None else cell for cell in values.tolist()]
    if kind == "O" and all(isinstance(cell, NUMBERS) for cell in cells_as_given):
        array = np.array(cells_as_given)
        if array.dtype.kind != "O":  # integers of more than 64 bits are hashed as text
            return _cells(array)
    texts = np.array(list(map(str, cells_as_given)), dtype=str)
    levels, place = np.unique(texts, return_inverse=True)
    return text_hashes(levels.tolist())[place]


MIN_DISTINCT_SHARE = 0.9
"""A column identifies rows if at least this share of the distinct rows differ in it."""
MIN_DISTINCT_VALUES = 20
"""A column with fewer values is a category and identifies no rows."""
MIN_DISTINCT_SHARE_ALONE = 0.5
"""The only column of a table identifies rows if it has this many values for each row."""
MAX_ROWS_COMPARED = 10_000


def share_learned(learned: Any, counted: Any) -> tuple[float, bool]:
    """Return the share of counted rows that equal training rows, if they may be copies.

    It is 0 if no column identifies rows. Rows with measured values are also compared without the
    identifying column, which may be a time stamp. If more are equal then, the second value is true:
    a single visit with the stamp of another must not hide all other visits. The share is for a
    warning only: all rows still count.

    >>> patients = np.random.default_rng(0).random((50, 3))
    >>> visits = patients[np.arange(400) % 50]
    >>> share_learned(visits[:300], visits[300:]), share_learned(patients[:25], patients[25:])
    ((1.0, False), (0.0, False))
    >>> stamped = np.column_stack([np.arange(400), visits])
    >>> share_learned(stamped[:300], stamped[300:])
    (1.0, True)
    >>> share_learned(sparse.csr_array(visits[:300]), sparse.csr_array(visits[300:]))
    (1.0, False)
    """
    if sparse.issparse(learned) and sparse.issparse(counted):
        return _share_of_sparse(learned, counted), False
    old, new = _columns(learned), _some(_columns(counted))
    if not new or len(old) != len(new):
        return 0.0, False
    cells = [_cells(column) for column in new]
    # without such a column equal rows may be draws from few values, and a warning would be false
    # alarm (docs/proofs/holdout.md)
    apart = _identifying_column(cells)
    if apart is None:
        return 0.0, False
    share = _share_equal(old, new, apart)
    others = [j for j in range(len(new)) if j != apart]
    near = _share_measured([old[j] for j in others], [new[j] for j in others])
    return max(share, near), near > share


def share_repeated(X: Any) -> float:
    """Return the share of rows that equal another row, if they may be copies.

    >>> rows = np.random.default_rng(0).random((40, 3))
    >>> share_repeated(rows), share_repeated(rows[np.arange(50) % 40])
    (0.0, 0.4)
    """
    if not tells_rows_apart(X):
        return 0.0
    _, place, count = np.unique(exact_keys(X), return_inverse=True, return_counts=True)
    return float((count[place] > 1).mean())


def _share_of_sparse(old: Any, new: Any) -> float:
    """Return the share of sparse rows with measured values that equal others."""
    rows = told_apart(new)
    return float((np.isin(exact_keys(new), exact_keys(old)) & rows).mean())


def _share_measured(old: list[NDArray[Any]], new: list[NDArray[Any]]) -> float:
    """Return the share of new rows that equal old ones and have a value with over 4 decimals.

    Numbers of coarser values may well be independent draws of the same values.
    """
    for column in (values for values in new if values.dtype.kind == "f"):
        rows = np.flatnonzero(_is_measured(column))
        some = [values[rows] for values in new]
        apart = _identifying_column([_cells(part) for part in some]) if rows.size else None
        if apart is None:
            continue
        return float(_share_equal(old, some, apart) * rows.size / column.size)
    return 0.0


def tells_rows_apart(X: Any) -> bool:
    """Check whether a column has a different value in nearly every distinct row.

    If so, equal rows are more likely copies than independent draws of the same values.

    >>> generator = np.random.default_rng(0)
    >>> many, few = generator.random((90, 2)), generator.integers(3, size=(90, 2))
    >>> tells_rows_apart(many), tells_rows_apart(few)
    (True, False)
    """
    return bool(told_apart(X).any())


def told_apart(X: Any) -> NDArray[np.bool_]:
    """Return a mask of the rows of a table that are copies rather than draws, if they are equal.

    These are all rows or none of them; of sparse rows, whose columns are mostly 0, those that have
    values with over 4 decimals.
    """
    if isinstance(X, SparseTable):
        return told_apart(X.matrix)
    if sparse.issparse(X):
        matrix: Any = X
        stored = matrix.tocsr()
        ends = np.cumsum(np.append(0, _is_measured(stored.data)))[stored.indptr]
        measured = np.diff(ends) > 0
        cells = [exact_keys(stored[np.flatnonzero(measured)[:MAX_ROWS_COMPARED]])]
    else:
        columns = _columns(X)
        measured = np.ones(len(columns[0]) if columns else 0, dtype=np.bool_)
        cells = [_cells(column) for column in _some(columns)]
    if not cells or not cells[0].size or _identifying_column(cells) is None:
        return np.zeros_like(measured)
    return np.asarray(measured)


def _is_measured(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which values have more than 4 decimals."""
    if values.dtype.kind != "f":
        return np.zeros(values.shape, dtype=np.bool_)
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray((np.rint(values * 1e4) / 1e4 != values) & np.isfinite(values))


def _columns(X: Any) -> list[NDArray[Any]]:
    """Return all columns; none of sparse rows, whose columns are mostly 0."""
    if sparse.issparse(X) or (isinstance(X, Table) and X.entries is not None):
        return []
    return list(Rows.of(X).cells())


def _some(columns: list[NDArray[Any]]) -> list[NDArray[Any]]:
    rows = len(columns[0]) if columns else 0
    if rows <= MAX_ROWS_COMPARED:
        return columns
    some = np.linspace(0, rows - 1, MAX_ROWS_COMPARED).astype(np.intp)
    return [column[some] for column in columns]


def _identifying_column(cells: list[Hashes]) -> int | None:
    """Return the column with most values, if nearly all distinct rows differ in it."""
    values = [np.unique(column).size for column in cells]
    best = int(np.argmax(values))
    rows = cells[0].size
    if len(cells) == 1:
        return best if values[best] >= MIN_DISTINCT_SHARE_ALONE * rows else None
    distinct = np.unique(_sum_keys(cells)).size
    enough = max(MIN_DISTINCT_VALUES, MIN_DISTINCT_SHARE * distinct)
    return best if values[best] >= enough else None


def _share_equal(old: list[NDArray[Any]], new: list[NDArray[Any]], column: int) -> float:
    """Return the share of new rows that equal old ones; ``column`` identifies rows."""
    candidates = np.flatnonzero(np.isin(_cells(old[column]), _cells(new[column])))
    if not candidates.size:
        return 0.0
    keys = _sum_keys([values[candidates] for values in old])
    return float(np.isin(_sum_keys(new), keys).mean())
