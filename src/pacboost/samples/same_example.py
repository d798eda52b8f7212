"""Which rows are one example: every row by itself, or all rows that are equal.

Independent draws from a discrete domain repeat by nature, and copies are no further evidence. Rows
cannot show which they are, so the user says it before looking:

* ``copies="draws"``: every row is an example, and counts. Exactly valid for independent rows.
* ``copies="distinct"``: rows that are equal in every column are one example. They stay on one side
  of every division and count once. A claim then speaks of distinct new rows.

Nothing here looks at labels, and nothing decides from the rows what is counted: a rule that did
would break the coverage of certificates (docs/proofs/holdout.md). ``share_learned`` only warns.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pacboost.errors import InputWarning, ParameterError, warn
from pacboost.numerics.memory import in_host_memory
from pacboost.samples.row_hashes import Hashes, mixed
from pacboost.sources.columns import Columns
from pacboost.sources.dataframe import is_frame
from pacboost.sources.table import Table

COPIES = ("draws", "distinct")
DISTINCT = "distinct rows are independent draws; equal rows are copies of one example"
LARGEST_EXACT_INTEGER = 2**53
"""Whole numbers up to this one have a float64 of their own."""
GOLDEN = 0x9E3779B97F4A7C15
NUMBERS = (int, float, np.number, np.bool_)

Rows = NDArray[np.intp]


def check_copies(copies: Any) -> str:
    """Check the parameter ``copies``."""
    if not (isinstance(copies, str) and copies in COPIES):
        allowed = " or ".join(map(repr, COPIES))
        raise ParameterError(
            f"copies is {copies!r}; it may be {allowed}: 'draws' counts equal rows as they fall, "
            "'distinct' counts rows that are equal in every column once"
        )
    return copies


def same_example(X: Any, copies: str = "draws") -> Rows | None:
    """Number the examples 0, 1, … row by row; None if every row is one.

    Rows are equal if all their values are, without any rounding; NaN equals NaN.

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
    rank = np.empty(first.size, dtype=np.intp)  # in the order in which examples come first
    rank[np.argsort(first)] = np.arange(first.size)
    return rank[place]


@dataclass(frozen=True, eq=False)
class Examples:
    """Which rows of a table are one example."""

    rows: int
    number: Rows | None = None
    """Rows with the same number are copies of one example; None if every row is its own."""
    distinct: bool = False
    """Whether a claim speaks of distinct rows."""

    @classmethod
    def from_rows(cls, X: Any, rows: int, copies: str = "draws") -> Examples:
        """Number the examples of ``rows`` rows.

        >>> few = np.random.default_rng(0).integers(3, size=(60, 2))
        >>> [Examples.from_rows(few, 60, copies).count for copies in COPIES]
        [60, 9]
        """
        return cls(rows, same_example(X, copies), copies == "distinct")

    @property
    def count(self) -> int:
        return self.rows if self.number is None else int(self.number.max()) + 1

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What a certificate assumes of equal rows beyond the independence of all rows."""
        return (DISTINCT,) if self.distinct else ()

    def once(self, rows: Rows) -> Rows:
        """Return one row of every example among some rows, drawn at random with a fixed seed.

        >>> Examples(4, np.array([0, 0, 1, 2])).once(np.array([0, 1, 3])).size
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

        >>> Examples(4, np.array([0, 0, 1, 2])).rows_of(np.array([0, 2])).tolist()
        [0, 1, 3]
        """
        if self.number is None:
            return np.sort(examples)
        return np.flatnonzero(np.isin(self.number, examples))


def warn_uncounted(count: int, rows: int, why: str) -> None:
    """Warn that rows that came with labels do not count, and why."""
    if count:
        warn(f"{count:,} of {rows:,} rows are not counted: {why}", InputWarning)


REPEATS = "they equal other rows, and copies='distinct' counts equal rows once"


def exact_keys(X: Any) -> Hashes:
    """Hash every row of whatever a fit takes, by its exact values: equal rows have equal keys.

    >>> keys = exact_keys([["a", 1], ["b", 1], ["a", 1]])
    >>> bool(keys[0] == keys[2] != keys[1])
    True
    """
    if sparse.issparse(X):
        return _sparse_keys(X)
    return _sum_keys(column_values(in_host_memory(X)))


def _sum_keys(columns: Iterator[NDArray[Any]] | list[NDArray[Any]]) -> Hashes:
    keys: Hashes | None = None
    for number, values in enumerate(columns):
        cells = mixed(mixed(_cells(values)) + _factor(number))
        keys = cells if keys is None else keys + cells
    return np.zeros(0, dtype=np.uint64) if keys is None else keys


def _factor(number: int) -> np.uint64:
    return np.uint64((2 * number + 1) * GOLDEN % 2**64)


def _sparse_keys(X: Any) -> Hashes:
    stored = X.tocsr(copy=True)
    stored.sum_duplicates()
    stored.eliminate_zeros()
    factors = (2 * stored.indices.astype(np.uint64) + np.uint64(1)) * np.uint64(GOLDEN)
    cells = mixed(mixed(_cells(stored.data)) + factors)
    keys = np.zeros(stored.shape[0], dtype=np.uint64)
    np.add.at(keys, np.repeat(np.arange(stored.shape[0]), np.diff(stored.indptr)), cells)
    return keys


def _cells(values: NDArray[Any]) -> Hashes:
    """Return a whole number for every value, the same for equal values of any column."""
    kind = values.dtype.kind
    if kind in "fiub":
        numbers = values.astype(np.float64) + 0.0  # -0.0 becomes 0.0
        numbers[np.isnan(numbers)] = np.nan  # there are several bit patterns of NaN
        cells = numbers.view(np.uint64)
        if kind in "iu" and values.dtype.itemsize == 8:
            large = np.abs(numbers) >= LARGEST_EXACT_INTEGER
            cells = np.where(large, mixed(values.astype(np.uint64)), cells)
        return cells
    cells_as_given = [np.nan if cell is None else cell for cell in values.tolist()]
    if kind == "O" and all(isinstance(cell, NUMBERS) for cell in cells_as_given):
        return _cells(np.array(cells_as_given))
    texts = np.array(list(map(str, cells_as_given)), dtype=str)
    levels, place = np.unique(texts, return_inverse=True)
    digests = b"".join(
        hashlib.blake2b(level.encode(errors="surrogatepass"), digest_size=8).digest()
        for level in levels.tolist()
    )
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64)[place]


def column_values(X: Any) -> Iterator[NDArray[Any]]:
    """Return the values of every column of whatever a fit takes, but sparse rows."""
    if isinstance(X, Table):
        for j in range(X.n_columns):
            yield np.asarray(X.cells(j)) if j in X.levels else X.column(j)
        return
    if isinstance(X, Columns) or is_frame(X):
        for cells in Columns.of(X).cells.values():
            yield cells if isinstance(cells, np.ndarray) else np.asarray(cells.to_numpy())
        return
    table = np.asarray(X, None if hasattr(X, "__array__") else object)
    yield from [table] if table.ndim == 1 else table.reshape(len(table), -1).T


MIN_SHARE_LEARNED = 0.01
"""Up to this share of rows that equal rows learned from is no matter for a warning."""
MIN_DISTINCT_SHARE = 0.9
"""A column tells rows apart if it has a different value in this share of the distinct rows."""
MIN_DISTINCT_VALUES = 20
"""Columns of fewer values are categories."""
MIN_DISTINCT_SHARE_ALONE = 0.5
"""A single column tells rows apart if this share of the rows has a value of its own."""
MAX_ROWS_COMPARED = 10_000


def share_learned(learned: Any, counted: Any) -> float:
    """Return the share of counted rows that equal rows learned from, if that may be copying.

    It is 0 if at most 1 % of them do, or if no column tells rows apart. Rows are also compared
    without the column that numbers them, such as a time stamp, if they have measured values. The
    share is for a warning: it never changes what is counted.

    >>> patients = np.random.default_rng(0).random((50, 3))
    >>> visits = patients[np.arange(400) % 50]
    >>> share_learned(visits[:300], visits[300:]), share_learned(patients[:25], patients[25:])
    (1.0, 0.0)
    """
    old, new = _columns(learned), _some(_columns(counted))
    if not new or len(old) != len(new):
        return 0.0
    cells = [_cells(column) for column in new]
    apart = _telling_column(cells)
    if apart is None:
        return 0.0
    others = [j for j in range(len(new)) if j != apart]
    share = max(
        _share_equal(old, new, apart),
        _share_measured([old[j] for j in others], [new[j] for j in others]),
    )
    return share if share > MIN_SHARE_LEARNED else 0.0


def _share_measured(old: list[NDArray[Any]], new: list[NDArray[Any]]) -> float:
    """Return the share of new rows that equal old ones and have a value of more than 4 decimals.

    Other rows that are equal but for a number of the row may well be draws.
    """
    for column in (values for values in new if values.dtype.kind == "f"):
        with np.errstate(over="ignore", invalid="ignore"):
            rows = np.flatnonzero(np.rint(column * 1e4) / 1e4 != column)
        rows = rows[np.isfinite(column[rows])]
        some = [values[rows] for values in new]
        if not rows.size or (apart := _telling_column([_cells(own) for own in some])) is None:
            continue
        return float(_share_equal(old, some, apart) * rows.size / column.size)
    return 0.0


def tells_rows_apart(X: Any) -> bool:
    """Check whether a column has a different value in nearly every distinct row.

    Where it has, equal rows are more likely to be copies than draws of the same values.

    >>> generator = np.random.default_rng(0)
    >>> many, few = generator.random((90, 2)), generator.integers(3, size=(90, 2))
    >>> tells_rows_apart(many), tells_rows_apart(few)
    (True, False)
    """
    columns = _some(_columns(X))
    return bool(columns) and _telling_column([_cells(column) for column in columns]) is not None


def _columns(X: Any) -> list[NDArray[Any]]:
    """Return all columns; none of sparse rows, whose columns are mostly 0."""
    return [] if sparse.issparse(X) else list(column_values(in_host_memory(X)))


def _some(columns: list[NDArray[Any]]) -> list[NDArray[Any]]:
    rows = len(columns[0]) if columns else 0
    if rows <= MAX_ROWS_COMPARED:
        return columns
    some = np.linspace(0, rows - 1, MAX_ROWS_COMPARED).astype(np.intp)
    return [column[some] for column in columns]


def _telling_column(cells: list[Hashes]) -> int | None:
    """Return the column with most values, if these tell nearly all distinct rows apart."""
    values = [np.unique(column).size for column in cells]
    best = int(np.argmax(values))
    rows = cells[0].size
    if len(cells) == 1:
        return best if values[best] >= MIN_DISTINCT_SHARE_ALONE * rows else None
    distinct = np.unique(_sum_keys(cells)).size
    enough = max(MIN_DISTINCT_VALUES, MIN_DISTINCT_SHARE * distinct)
    return best if values[best] >= enough else None


def _share_equal(old: list[NDArray[Any]], new: list[NDArray[Any]], column: int) -> float:
    """Return the share of new rows that equal old ones, which one column tells apart."""
    like = np.flatnonzero(np.isin(_cells(old[column]), _cells(new[column])))
    if not like.size:
        return 0.0
    keys = _sum_keys([values[like] for values in old])
    return float(np.isin(_sum_keys(new), keys).mean())
