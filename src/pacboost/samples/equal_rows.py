"""Equal rows: draws from a domain of few values, or copies?

Independent draws from a domain of few values repeat by nature. Copies, such as several visits of
one patient with the same 15-digit value, are no further evidence, and copies on both sides of a
division let a model be tested on what it learned. Equality alone cannot tell; columns can:

* A column, or a pair of columns, is *fine* if it has at least 20 values, of which at least 90 %
  belong to one distinct row. Equal rows of a table with a fine column or pair are copies: a
  distinct row is one example. All its copies go to the same side of every division, and one is
  counted. There have to be other columns beside it; a table of one column of numbers is fine if
  these are scattered, and do not nearly fill a grid as ages do.
* In a fine table, too, equal rows are draws if their values in all fine columns and pairs are far
  more frequent than others, as where half of all amounts are 0: at least 5 % of all rows, and 20
  times the mean, have such a value.
* Without one, equal rows are draws, and count as they fall.
* If all rows come a multiple of r times, the table was copied r times: every r copies are one
  example. Labels, if they are known, are part of a row there: copies of different draws that
  happen to be equal are not mixed.

Nothing else here looks at labels. docs/proofs/holdout.md proves what follows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pacboost.errors import NotCertified, ParameterError
from pacboost.numerics.memory import in_host_memory
from pacboost.samples.copies import (
    FEWEST,
    MOST_COLUMNS,
    Repeats,
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
POPULAR, TIMES_THE_MEAN = 0.05, 20
"""A value is far more frequent than others if such a share of all rows has it."""
SCATTERED = 4
"""Numbers are scattered if a grid on which they lie has so many places for each of them."""
LOG_CHANCE = 6.9
"""Numbers of equal rows share a divisor by chance once in a thousand times at most."""
MOST_CELLS = 2**23
"""So many cells of pairs of columns are looked at; pairs with many values come first."""
FEW_NUMBERED = 0.05
"""If no larger share of rows repeats without a column, the column is not a number of rows."""
SEPARATE = "equal rows are separate draws, as from a domain of few values"
DISTINCT = "equal rows are copies of one example, of which one is counted"
UNLESS = "but rows with a value that is far more frequent than others are separate draws"

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
    drawn: NDArray[np.bool_] | None = None
    """Which rows of a fine table equal others and are separate draws, if some are."""

    @classmethod
    def of(
        cls, X: Any, copies: str = "auto", labels: Any = None, *, fine: bool = False
    ) -> Examples:
        """Find equal rows, and tell copies from draws; raise if they are surely neither.

        ``fine`` says that other rows of the table have shown that equal ones are copies.

        >>> generator = np.random.default_rng(0)
        >>> many, few = generator.random((60, 2)), generator.integers(3, size=(60, 2))
        >>> [Examples.of(X[generator.integers(60, size=90)]).copied for X in (many, few)]
        [True, False]
        >>> Examples.of(np.repeat(few, 3, axis=0)).count
        60
        """
        check_copies(copies)
        X = opened(X)
        ways = list(_ways(X)) if copies == "auto" else list(islice(_ways(X), 1))
        if not ways:
            return cls(int(getattr(X, "shape", (0,))[0]))
        whole, columns = ways[0]
        number, drawn = None, None
        for place, own in ways if copies == "auto" else ():
            popular = popular_rows(own, place) if _repeats(place) else None
            if popular is not None:
                number, drawn = place, (popular & (np.bincount(place) > 1))[place]
                break
        if (
            number is None
            and _repeats(whole)
            and (copies == "distinct" or (fine and copies == "auto"))
        ):
            number = whole
        draws = number is None
        if copies == "auto" and draws and _repeats(whole):
            place = whole if labels is None else Repeats.by_keys(whole, labels).place
            times = times_copied(place)
            if times > 1:  # every so many equal rows are one example
                number = np.empty_like(place)
                number[np.argsort(place, kind="stable")] = np.arange(place.size) // times
        if copies != "draws":
            number = _with_hidden(X, columns, number, draws=draws)
        repeated = number is not None or _repeats(whole)
        drawn = drawn if drawn is not None and drawn.any() else None
        if number is not None and drawn is not None:
            number = np.where(drawn, number.max() + 1 + np.arange(number.size), number)
        if number is None or np.unique(number).size == number.size:
            return cls(whole.size, None, repeated, drawn)
        return cls(whole.size, _in_order(number), True, drawn)

    @property
    def copied(self) -> bool:
        return self.number is not None

    @property
    def count(self) -> int:
        return self.rows if self.number is None else int(self.number.max()) + 1

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What a certificate has to assume of equal rows, where there are some."""
        return assumed(self.repeated, self.copied, self.drawn is not None)

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
        if self.number is None:
            return np.sort(examples)
        return np.flatnonzero(np.isin(self.number, examples))


def assumed(repeated: bool, distinct: bool, drawn: bool) -> tuple[str, ...]:
    """Return what a certificate has to assume of equal rows, if some are."""
    if not repeated:
        return ()
    return (SEPARATE,) if not distinct else (f"{DISTINCT}; {UNLESS}" if drawn else DISTINCT,)


def opened(X: Any) -> Any:
    """Return rows in the memory of the CPU, each as a line; small sparse tables are opened up."""
    X = in_host_memory(X)
    if isinstance(X, np.ndarray) and X.ndim > 2:  # rows are arrays, for a black box
        return X.reshape(len(X), -1)
    stored: Any = X
    small = sparse.issparse(X) and math.prod(stored.shape) <= MOST_CELLS
    return stored.toarray() if small else X


def is_fine(columns: Columns, place: Rows) -> bool:
    """Check whether a column or a pair of columns is fine; ``place`` numbers the distinct rows.

    >>> rows = np.arange(100)
    >>> is_fine([rows % 10, rows // 10], rows), is_fine([rows % 10, rows // 10, rows % 3], rows)
    (False, True)
    """
    return next(_fine_codes(columns, place), None) is not None


def times_copied(place: Rows) -> int:
    """Return the divisor that the numbers of all equal rows share; 1 if that may be chance.

    Of m distinct rows, draws have such numbers with a chance of about r^(1 - m).

    >>> times_copied(np.repeat(np.arange(20), 3)), times_copied(np.zeros(90, dtype=np.intp))
    (3, 1)
    """
    counts = np.bincount(place)
    times = int(np.gcd.reduce(counts))
    return times if (counts.size - 1) * math.log(times) > LOG_CHANCE else 1


def popular_rows(columns: Columns, place: Rows) -> NDArray[np.bool_] | None:
    """Return which distinct rows have popular values in all fine columns and pairs.

    None is returned if no column or pair is fine.

    >>> amount, flag = np.maximum(np.arange(-60, 40), 0), np.arange(100) % 2
    >>> place = np.unique(np.stack([amount, flag]), axis=1, return_inverse=True)[1].ravel()
    >>> popular_rows([amount, flag], place)[:4].tolist()
    [True, True, False, False]
    """
    times = np.bincount(place)
    found = None
    for codes in _fine_codes(columns, place):
        rows = np.bincount(codes, weights=times)
        fewest = max(POPULAR, TIMES_THE_MEAN / np.count_nonzero(rows)) * place.size
        popular = (rows >= fewest)[codes]
        found = popular if found is None else found & popular
        if not found.any():
            break
    return found


def _fine_codes(columns: Columns, place: Rows) -> Iterator[Codes]:
    """Return the values of distinct rows, as numbers, in every fine column and pair."""
    first = np.unique(place, return_index=True)[1]
    several = iter(columns() if callable(columns) else columns)
    some = [np.asarray(column)[first] for column in islice(several, 2)]
    if len(some) == 1 and _fill_a_grid(some[0]):
        return
    codes: list[Codes] = []
    for values in chain(some, (np.asarray(column)[first] for column in several)):
        codes.append(_codes(values))
        if _fine(codes[-1]):
            yield codes[-1]
    if len(codes) == 2:
        return
    codes.sort(key=lambda code: -int(code.max(initial=0)))
    pairs = ((codes[j], codes[k]) for k in range(1, len(codes)) for j in range(k))
    for one, other in islice(pairs, MOST_CELLS // max(1, first.size)):
        both: Codes = one.astype(np.int64) * (int(other.max()) + 1) + other
        both = both if int(both.max()) < 4 * both.size else _codes(both)
        if _fine(both):
            yield both


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


def _with_hidden(X: Any, columns: Columns, number: Rows | None, *, draws: bool) -> Rows | None:
    """Also number copies alike that differ by more than rounding, if rows were surely copied."""
    found = surely_copied(X, number if draws else None)
    if found is None or (number is not None and found.distinct > int(number.max())):
        return number
    if draws and not is_fine(columns, found.place):
        raise NotCertified(hidden_copies(X, number))
    return found.place


def _fine(codes: Codes) -> bool:
    counts = np.bincount(codes)
    values = int(np.count_nonzero(counts))
    return values >= FEWEST_VALUES and int((counts == 1).sum()) >= SHARE_OF_ONE * values


def _codes(values: NDArray[Any]) -> Codes:
    if values.dtype.kind == "O":
        values = values.astype(str)
    return np.unique(values, return_inverse=True)[1].astype(np.int32)


def _ways(X: Any) -> Iterator[tuple[Rows, Columns]]:
    """Number the distinct rows: by all columns, and without one that numbers the rows."""
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
