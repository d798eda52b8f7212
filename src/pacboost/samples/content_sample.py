"""Equal rows of a large source: a sample tells whether there are any, and whether they are copies.

A random sample does not tell that: it holds one copy of a row and not the other. So rows are chosen
by their content: a weighted sum of some columns, rounded, is hashed, and rows with small hashes are
chosen, all copies of a row or none. The rule is that of samples/equal_rows.py. But a value of many
rows may come once in the sample, so a column, or a pair, that looks fine there is judged by rows
that are chosen by its own values: all rows of a value, or none (docs/proofs/holdout.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import chain, combinations, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pacboost.kernels.runtime.threads import ROWS_FOR_CHEAP_KERNELS, each_rows
from pacboost.numerics.same_bits import mean
from pacboost.samples.copies import Repeats, count_distinct, hidden_copies
from pacboost.samples.equal_rows import (
    POPULAR,
    TIMES_THE_MEAN,
    Rows,
    assumed,
    is_fine,
    times_copied,
)
from pacboost.samples.row_hashes import Hashes, mixed, row_hashes
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.oracles.held import Held
from pacboost.sources.sparse import SparseTable
from pacboost.sources.table import Table

CHOSEN, LEAST_CHOSEN = 8192, 1024
"""About so many rows are chosen, fewer if they are long; all rows, if there are no more."""
CELLS = 2**24
"""About so many cells the chosen rows may have, unless the least number of rows has more."""
MOST_HALVINGS = 40
MOST_COLUMNS = 8
"""Rows are chosen by at most so many columns, those with the most distinct values."""
MOST_JUDGED = 4
"""So many columns, or pairs of columns, are judged by rows that are chosen by their values."""
MOST_OF_SPARSE = 64
"""Of sparse rows, so many columns are looked at, those with the most values stored."""
ENOUGH = 0.9
"""A column in which such a share of the rows has distinct values tells rows apart by itself."""
ROWS_LOOKED_AT = 4096
ROWS_AT_ONCE = 2**14
STEP = 2.0**-16
"""Sums are rounded to this part of their spread, so that tiny changes of a copy do not matter."""
WHOLE = (
    "every row comes a multiple of {} times: the source was copied as a whole, which makes the "
    "certificate void. Drop the copies, or give copies='draws' if these are separate draws."
)

Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class EqualRowsOfSource:
    """What the equal rows of a source are."""

    repeated: bool = False
    """Whether some rows are equal."""
    distinct: bool = False
    """Whether equal rows are copies: a distinct row is one example."""
    problems: tuple[str, str] = ("", "")
    """Why nothing can be certified: if equal rows are draws, and if they are copies."""
    fine: tuple[tuple[int, ...], ...] = ()
    """Columns and pairs that are fine, or look so until they are judged by their values."""
    judged: bool = True
    """Whether they have been judged by all rows of their values."""
    drawn: bool = False
    """Whether some equal rows are separate draws although others are copies."""

    @property
    def problem(self) -> str:
        return self.problems[self.distinct]

    @property
    def assumptions(self) -> tuple[str, ...]:
        return assumed(self.repeated, self.distinct, self.drawn)

    def by_values(self, samples: Iterable[ContentSample]) -> EqualRowsOfSource:
        """Judge the columns that look fine, by samples that are chosen by their values."""
        both = zip(self.fine, samples, strict=True)
        fine = tuple(columns for columns, sample in both if sample.is_fine())
        return replace(self, distinct=bool(fine), fine=fine, judged=True)


@dataclass(frozen=True, eq=False)
class ContentKeys:
    """Identifies rows by their content, where equal rows are copies.

    Rows with popular values in all fine columns are draws, as where half of all amounts are 0, and
    identified by their place.

    >>> rows = ArrayTable(np.array([[0.0, 1.0], [-0.0, 1.0], [1.0, 0.0], [1.0, 0.0]]))
    >>> place = np.arange(4, dtype=np.uint64)
    >>> np.unique(ContentKeys(np.uint64(7)).ids(rows, place)).size
    2
    >>> often = ContentKeys.of(np.uint64(7), ((1,),), [ArrayTable(np.zeros((60, 2)))])
    >>> np.unique(often.ids(rows, place)).size
    3
    """

    key: np.uint64
    popular: tuple[tuple[tuple[int, ...], Hashes], ...] = ()
    """Fine columns and pairs, and their values that are far more frequent than others."""

    @classmethod
    def of(
        cls, key: np.uint64, fine: tuple[tuple[int, ...], ...], tables: list[Table]
    ) -> ContentKeys:
        """Find the popular values of fine columns in random rows of the source."""
        popular = []
        for columns in fine if tables else ():
            rows = np.concatenate([_values(table, columns) for table in tables])
            values, times = np.unique(rows, return_counts=True)
            fewest = max(POPULAR, TIMES_THE_MEAN / values.size) * rows.size
            popular.append((columns, values[times >= min(fewest, rows.size)]))
        return cls(key, tuple(popular) if all(own.size for _, own in popular) else ())

    def ids(self, table: Table, rows: Hashes) -> Hashes:
        """Return what identifies each row of a table; ``rows`` are their places."""
        hashes = row_hashes(table, salt=int(self.key))
        if not self.popular:
            return hashes
        drawn = [np.isin(_values(table, columns), own) for columns, own in self.popular]
        return np.where(np.logical_and.reduce(drawn), rows, hashes)


class ContentSample:
    """Rows of a source that are chosen by their content, block by block.

    With ``by``, rows are chosen by the values of these columns.

    >>> from pacboost.sources.oracles.held import Held
    >>> rows = np.random.default_rng(0).random((50_000, 2))
    >>> sample = ContentSample(2 * len(rows))
    >>> for block in (rows, rows[::-1]):
    ...     held = Held(block, np.zeros(len(block)))
    ...     sample.keep(held.table(np.arange(len(block))))
    >>> verdict = sample.judge()
    >>> verdict.distinct, verdict.fine
    (True, ((0,), (1,)))
    """

    def __init__(self, about_rows: int, n_columns: int = 1, by: tuple[int, ...] = ()) -> None:
        self._most = rows_chosen(n_columns)
        self._share = min(1.0, self._most / max(1, about_rows))
        self._by = by
        self._weights: dict[int, float] = {}
        self._step = 0.0
        self._tables: list[Table] = []
        self.n_rows = 0
        """How many rows are kept."""

    def choose(self, rows: Held | Table) -> Flags:
        if self._share == 1:
            return np.ones(rows.n_rows, dtype=np.bool_)
        given: Any = _values(rows, self._by) if self._by else self._sums(rows)
        if not (self._by or self._step):
            self._step = STEP * _spread(given[:ROWS_LOOKED_AT])
        limit = np.uint64(self._share * (2.0**64 - 2.0**12))
        chosen = np.empty(rows.n_rows, dtype=np.bool_)

        def task(start: int, stop: int) -> None:
            own = given[start:stop]
            chosen[start:stop] = mixed(own if self._by else self._cells(own)) < limit

        _in_parts(task, rows.n_rows)
        return chosen

    def go_by(self, other: ContentSample) -> None:
        """Choose by the columns by which another sample chose from the first block."""
        self._weights, self._step = other._weights, other._step

    def keep(self, table: Table) -> None:
        """Keep the rows that are chosen; if they turn out to be too many, a half by content."""
        self._tables.append(table.take(np.flatnonzero(self.choose(table))))
        self.n_rows += self._tables[-1].n_rows
        for _ in range(MOST_HALVINGS if self.n_rows > 2 * self._most else 0):
            self._share /= 2
            self._tables = [own.take(np.flatnonzero(self.choose(own))) for own in self._tables]
            self.n_rows = sum(own.n_rows for own in self._tables)
            if self.n_rows <= 2 * self._most:
                return

    def judge(self, copies: str = "auto") -> EqualRowsOfSource:
        """Return what equal rows are; the rows are let go."""
        if not self.n_rows:
            return EqualRowsOfSource(distinct=copies == "distinct")
        X, sampled = self._let_go(), self._share < 1
        place = Repeats.of_any(X).place
        first = np.unique(place, return_index=True)[1]
        repeated = first.size < place.size
        if copies != "auto":
            return EqualRowsOfSource(repeated, distinct=copies == "distinct")
        problem = hidden_copies(X)
        if not repeated:
            return EqualRowsOfSource(problems=(problem, ""))
        times = times_copied(place)
        if times > 1:
            problem = WHOLE.format(times)
        fine = _look_fine(X, place)
        problems = problem, hidden_copies(X[np.sort(first)]) if fine else ""
        return EqualRowsOfSource(True, bool(fine), problems, fine, judged=not (fine and sampled))

    def is_fine(self) -> bool:
        """Check whether the columns that choose are fine; the rows are let go."""
        if not self.n_rows:
            return False
        X = self._let_go()
        return _is_fine(_as_table(X), self._by, Repeats.of_any(X).place)

    def _let_go(self) -> Any:
        tables, self._tables = self._tables, []
        return joined([table for table in tables if table.n_rows])

    def _cells(self, sums: Floats) -> Hashes:
        with np.errstate(over="ignore", invalid="ignore"):
            cells = np.clip(np.rint(sums / self._step), -(2.0**60), 2.0**60)
        return cells.astype(np.int64).view(np.uint64)

    def _sums(self, rows: Held | Table) -> Floats:
        matrix = getattr(rows, "matrix", None)
        if matrix is not None:
            weights = np.random.default_rng(0).uniform(1, 2, size=rows.n_columns)
            return np.asarray(matrix @ weights)
        if not self._weights:
            self._weights = _weights(rows)
        total = np.zeros(rows.n_rows)
        for j, weight in self._weights.items():
            values = rows.column(j)

            def task(start: int, stop: int, values: Any = values, weight: float = weight) -> None:
                own = values[start:stop].astype(np.float64)
                total[start:stop] += weight * np.where(np.isfinite(own), own, 0.0)

            _in_parts(task, rows.n_rows)
        return total


def _look_fine(X: Any, place: Rows) -> tuple[tuple[int, ...], ...]:
    """Return columns and pairs that are fine in these rows, those with many values first."""
    table = _as_table(X)
    columns = range(table.n_columns)
    if isinstance(table, SparseTable):  # zeros tell nothing
        columns = np.argsort(-np.diff(X.indptr), kind="stable")[:MOST_OF_SPARSE].tolist()
    count = {j: np.unique(table.column(j)).size for j in columns}
    most = sorted(count, key=lambda j: -count[j])
    pairs = combinations(most[:MOST_COLUMNS] if table.n_columns > 2 else (), 2)
    sets = chain(((j,) for j in most), pairs)
    return tuple(islice((own for own in sets if _is_fine(table, own, place)), MOST_JUDGED))


def _is_fine(table: Table, columns: tuple[int, ...], place: Rows) -> bool:
    """Check whether a column or pair is fine; a single column must not be a grid of numbers."""
    if table.n_columns == 1:
        return is_fine([table.column(0)], place)
    return is_fine([_values(table, columns)], place)


def _as_table(X: Any) -> Table:
    return SparseTable(X) if sparse.issparse(X) else ArrayTable(X)


def _values(rows: Held | Table, columns: tuple[int, ...]) -> Hashes:
    """Return a number for the values of some columns together, equal for equal values."""
    total = np.zeros(rows.n_rows, dtype=np.uint64)
    for number, j in enumerate(columns):
        with np.errstate(over="ignore"):
            cells = (rows.column(j).astype(np.float32) + np.float32(0)).view(np.uint32)
        total += mixed(cells.astype(np.uint64) + np.uint64(number + 1 << 32))
    return total


def rows_chosen(n_columns: int) -> int:
    """How many rows of so many columns are chosen.

    >>> rows_chosen(10), rows_chosen(4096), rows_chosen(10**6)
    (8192, 4096, 1024)
    """
    return min(CHOSEN, max(LEAST_CHOSEN, CELLS // max(1, n_columns)))


def joined(tables: list[Table]) -> NDArray[np.floating] | sparse.csc_array:
    """Put tables one below the other; sparse ones stay sparse."""
    stored = [table.matrix for table in tables if isinstance(table, SparseTable)]
    if stored:
        return sparse.csc_array(sparse.vstack(stored))
    return np.concatenate([table.rows() for table in tables])


def _weights(rows: Held | Table) -> dict[int, float]:
    """Weigh columns that tell rows apart: one if that is enough, else several, by their spread."""
    some = min(rows.n_rows, ROWS_LOOKED_AT)
    distinct, spread = np.zeros(rows.n_columns, dtype=np.int64), np.ones(rows.n_columns)
    for j in range(rows.n_columns):
        values = rows.column(j)[:some].astype(np.float64)
        values = values[np.isfinite(values)]
        distinct[j] = count_distinct(values)
        spread[j] = _spread(values) if values.size else 1.0
    best = np.argsort(-distinct, kind="stable")
    best = best[: 1 if distinct[best[0]] >= ENOUGH * some else MOST_COLUMNS]
    factors = np.random.default_rng(0).uniform(1, 2, size=best.size)
    return {int(j): float(w / spread[j]) for j, w in zip(best, factors, strict=True)}


def _in_parts(task: Callable[[int, int], None], rows: int) -> None:
    """Do a task for rows on all threads, a few thousand rows at a time."""

    def some(start: int, stop: int) -> None:
        for first in range(start, stop, ROWS_AT_ONCE):
            task(first, min(first + ROWS_AT_ONCE, stop))

    each_rows(some, rows, at_least=ROWS_FOR_CHEAP_KERNELS)


def _spread(values: Floats) -> float:
    """Return the standard deviation of values, 1 where there is none."""
    return math.sqrt(mean((values - mean(values)) ** 2)) or 1.0
