"""Rows that come several times: draws from a discrete domain, or copies?

Copies are no independent evidence, and copies of training rows among certifying rows are none at
all. Equal rows alone do not show which they are. Two facts do:

* *How often rows come.* If rows are independent draws, the number of times a row comes is Poisson
  (given its probability), so of the rows that come r - 1, r or r + 1 times, at most a share
  s/(1 + s), s = √((r + 1)/r)/2, comes exactly r times. A table that was copied three times has rows
  that come 3 times and none that come 2 or 4 times.
* *Where they come.* Rows that repeat because the domain is discrete also come among other draws
  from it, such as the training rows of a model.

docs/proofs/holdout.md proves what is counted.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.stats import binom, gamma, poisson

from pacboost.errors import DataError, InputWarning, NotCertified, warn
from pacboost.numerics.same_bits import mean
from pacboost.samples.row_hashes import mixed, row_hashes
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.columns import Columns
from pacboost.sources.dataframe import is_frame
from pacboost.sources.table import Table

# Rows that depend on each other: which group each belongs to.


def with_missing(groups: NDArray[Any], name: str) -> NDArray[Any]:
    """Make rows whose group is missing a group of their own, and say so.

    >>> with_missing(np.array(["b", "a"]), "by").tolist()
    ['b', 'a']
    """
    labels = groups.tolist()
    absent = [label is None or label != label for label in labels]  # noqa: PLR0124
    if not any(absent):
        return groups
    warn(
        f"{name} is missing in {sum(absent):,} of {len(labels):,} rows, which are a group of their "
        "own, 'missing'",
        InputWarning,
    )
    named = ["missing" if lost else label for label, lost in zip(labels, absent, strict=True)]
    return np.array(named, dtype=object)


def numbered(groups: NDArray[Any], rows: int) -> NDArray[np.intp]:
    """Number the groups 0, 1, ... row by row.

    >>> numbered(np.array(["b", "a", "b"]), 3).tolist()
    [1, 0, 1]
    """
    if groups.shape != (rows,):
        raise DataError(f"groups has shape {groups.shape}; one label for each of {rows} rows")
    groups = with_missing(groups, "groups")
    try:
        return np.unique(groups, return_inverse=True)[1].astype(np.intp)
    except TypeError:  # text and numbers mixed
        return np.unique(groups.astype(str), return_inverse=True)[1].astype(np.intp)


LOG_FALSE_ALARM = 13.8
"""Independent draws are called copies once in a million times at most."""
LOG_RARE_ALARM = 9.2
"""Pairs without triples are called copies once in ten thousand times at most."""
FEWEST = 8
"""Fewer rows that come equally often are no evidence: 0.38 to this power is no rare event."""
MOST_TIMES = 1000
"""Rows that come more often are not looked at: their counts vary too much for a test."""


@dataclass(frozen=True, eq=False)
class Repeats:
    """Which rows of a table are equal: ``place`` numbers the distinct rows."""

    place: NDArray[np.intp]
    distinct: int

    @classmethod
    def of(cls, table: Table, labels: NDArray[np.generic] | None = None) -> Repeats:
        """Find equal rows; with labels, rows are equal if their labels are, too."""
        return cls.by_keys(row_hashes(table), labels)

    @classmethod
    def of_any(cls, X: Any, labels: NDArray[np.generic] | None = None) -> Repeats:
        """Find equal rows in whatever a classifier takes: arrays, frames, sparse rows, texts.

        >>> Repeats.of_any([["a", 1], ["b", 1], ["a", 1]]).distinct
        2
        """
        if sparse.issparse(X):
            matrix: Any = X
            rows = matrix.tocsr(copy=True)
            rows.sum_duplicates()
            ends = zip(rows.indptr, rows.indptr[1:], strict=False)
            numbers: dict[Any, int] = {}
            lines = [(rows.indices[a:b].tobytes(), rows.data[a:b].tobytes()) for a, b in ends]
            keys = np.array([numbers.setdefault(line, len(numbers)) for line in lines], np.int64)
            return cls.by_keys(keys, labels)
        if isinstance(X, np.ndarray) and X.dtype.kind in "fiub" and X.ndim == 2:
            X = ArrayTable(X)
        if isinstance(X, Table):
            return cls.of(X, labels)
        columns = enumerate(column_values(X))
        return cls.by_keys(
            np.sum([_keys(own, j, 0.0, words=False) for j, own in columns], 0), labels
        )

    @classmethod
    def by_keys(
        cls, keys: NDArray[np.integer], labels: NDArray[np.generic] | None = None
    ) -> Repeats:
        """Find equal keys; with labels, those that have equal labels, too."""
        _, place = np.unique(keys, return_inverse=True)
        if labels is not None:
            lines = np.asarray(labels).reshape(place.size, -1).astype(str)
            _, numbers = np.unique(lines, axis=0, return_inverse=True)
            both = place.astype(np.int64) * (place.size + 1) + numbers.reshape(-1)
            _, place = np.unique(both, return_inverse=True)
        return cls(place.astype(np.intp), int(place.max()) + 1 if place.size else 0)

    @property
    def copied(self) -> int:
        """How often rows were copied, if more come exactly so often than chance explains; else 0.

        >>> Repeats(np.repeat(np.arange(40), 3), 40).copied
        3
        >>> Repeats(np.random.default_rng(0).integers(40, size=120), 40).copied
        0
        """
        return copied_times(np.bincount(self.place, minlength=self.distinct))


def copied_times(times: NDArray[np.int64]) -> int:
    """Return how often rows were copied, given how often each one comes; 0 if chance may be.

    >>> copied_times(np.full(40, 3)), copied_times(np.full(40, 1))
    (3, 0)
    """
    rows = int(times.sum())
    counts = np.bincount(np.minimum(times, MOST_TIMES + 2), minlength=MOST_TIMES + 3)
    often = np.flatnonzero(counts[2 : MOST_TIMES + 1] >= FEWEST) + 2
    if not often.size:
        return 0
    # At most √(2n) numbers of times are possible, and n rows are Poisson(n) with this chance.
    slack = 0.5 * math.log(2 * rows) + 0.5 * math.log(2 * math.pi * rows) + 0.1
    for r in often[np.argsort(-counts[often], kind="stable")].tolist():
        near = int(counts[r - 1 : r + 2].sum())
        share = math.sqrt((r + 1) / r) / 2
        tail = binom.logsf(int(counts[r]) - 1, near, share / (1 + share))
        if tail + slack < -LOG_FALSE_ALARM or _next_missing(counts, r, slack):
            return int(r)
    return 0


def _next_missing(counts: NDArray[np.int64], r: int, slack: float) -> bool:
    """Check whether too few rows come r + 1 times, given how many come r - 1 and r times.

    If rows are independent draws, the numbers a_r of rows that come r times are Poisson with means
    m_r, and (r!·m_r)² ≤ (r-1)!·m_{r-1} · (r+1)!·m_{r+1} (Cauchy and Schwarz). So pairs without any
    triples, beside few single rows, were not drawn.
    """
    level = math.exp(-LOG_RARE_ALARM - slack) / 3
    fewest = gamma.ppf(level, counts[r]) if counts[r] else 0.0
    most = gamma.isf(level, counts[r - 1] + 1)
    least = fewest**2 * r / ((r + 1) * most)
    return bool(poisson.cdf(counts[r + 1], least) < level)


def copies_in(repeats: Repeats, what: str = "the certificate") -> str:
    """Explain that rows were copied, if that is sure; ``what`` is what the copies make void.

    >>> copies_in(Repeats(np.arange(40), 40))
    ''
    """
    times = repeats.copied
    if not times:
        return ""
    return (
        f"of {repeats.place.size:,} rows only {repeats.distinct:,} are distinct, and more of them "
        f"come exactly {times} times than independent draws explain: they are copies, which make "
        f"{what} void. Drop the copies."
    )


def refuse_copied(repeats: Repeats, what: str = "the certificate") -> None:
    """Raise if rows were surely copied; ``what`` says what the copies make void."""
    problem = copies_in(repeats, what)
    if problem:
        raise NotCertified(problem)


# Copies that do not look equal: rounded otherwise, numbered, or written in other letters.
#
# Rows are compared in several ways: as they are; with every number rounded to a thousandth of what
# its column spreads over, and texts reduced to their words in small letters; and like this without
# one column that tells all rows apart, such as a number of the row. Independent draws stay
# independent draws in each of these ways, so the test of samples/copies.py holds for each.

Hashes = NDArray[np.uint64]

MOST_ROWS, MOST_COLUMNS = 100_000, 64
"""Single columns are left out of tables up to this size."""
STEP = 2.0**-10
MOST_CELLS = 2_000_000
"""Single rows are compared after rounding in tables up to this size."""
FINE_STEP = 2.0**-16
"""They are rounded to such a share of what a column spreads over."""
DENSE = 1.5
"""If rounding to four times the step finds so many times more equal rows, values are dense."""
FEW = 3
"""So many more are found by chance, or where a copy and its row were rounded to different sides."""


def hidden_copies(X: Any, groups: NDArray[Any] | None = None) -> str:
    """Explain that rows were copied, if that is sure; with groups, from one group to another.

    ``X`` may also be a list of tables, whose rows are compared as those of one table.

    >>> rows = np.random.default_rng(0).random((40, 3))
    >>> noise = 1 + 1e-7 * np.random.default_rng(1).random((120, 3))
    >>> hidden_copies(rows), hidden_copies(np.repeat(rows, 3, axis=0) * noise)[:32]
    ('', 'of 120 rows only 40 are distinct')
    """
    found = surely_copied(X, groups)
    return "" if found is None else copies_in(_across(found, groups))


def surely_copied(X: Any, groups: NDArray[Any] | None = None) -> Repeats | None:
    """Find which rows are copies, if some surely are; with groups, of rows of other groups."""
    for keys in [Repeats.of_any(X).place] if sparse.issparse(X) else _ways(X):
        if keys.size - count_distinct(keys) >= FEWEST:
            repeats = Repeats.by_keys(keys)
            if _across(repeats, groups).copied:
                return repeats
    return None


def count_distinct(values: NDArray[Any]) -> int:
    """Count distinct values; NumPy's own way to do so takes ten times as long for some thousands.

    >>> count_distinct(np.array([2, 1, 2]))
    2
    """
    ordered = np.sort(values)
    return int(np.count_nonzero(ordered[1:] != ordered[:-1])) + (values.size > 0)


def refuse_hidden_copies(X: Any, groups: NDArray[Any] | None = None) -> None:
    """Raise if rows were surely copied."""
    problem = hidden_copies(X, groups)
    if problem:
        raise NotCertified(problem)


def places_of_rows(X: Any) -> NDArray[np.intp]:
    """Number the distinct rows, where numbers are equal but for rounding, and texts by their words.

    >>> rows = np.random.default_rng(2).random((40, 3))
    >>> places = places_of_rows(np.concatenate([rows, rows[:10] * (1 + 1e-7)]))
    >>> int(places.max()) + 1, int(places_of_rows(np.arange(4000.0)[:, None]).max()) + 1
    (40, 4000)
    """
    columns = None if sparse.issparse(X) else few_columns(X)
    return Repeats.of_any(X).place if not columns else near_places(rounded_keys(columns).sum(0))


def few_columns(X: Any) -> list[NDArray[Any]] | None:
    """Return the values of all columns; None of a table too large to compare single rows."""
    columns: list[NDArray[Any]] = []
    for column in column_values(X):
        columns.append(column)
        if column.size * len(columns) > MOST_CELLS:
            return None
    return columns


def rounded_keys(columns: list[NDArray[Any]]) -> Hashes:
    """Hash columns with their numbers as they are, and rounded to two steps: (columns, 3, rows)."""
    steps = (0.0, FINE_STEP, 4 * FINE_STEP)
    return np.array(
        [[_keys(own, number, step) for step in steps] for number, own in enumerate(columns)]
    )


def near_places(keys: Hashes) -> NDArray[np.intp]:
    """Number the distinct rows by the keys of rows: (3, rows), sums of those of their columns.

    Rounding makes values equal that are not copies, if they are dense: many rows, and hardly more
    than one column of numbers. Copies are as many whatever the step is, and such values are not.
    Where they are dense, numbers have to be equal as they are.
    """
    found, fewer, fewest = (np.unique(own, return_inverse=True)[1].astype(np.intp) for own in keys)
    more, most = (int(found.max()) - int(own.max()) for own in (fewer, fewest))
    dense = most > DENSE * more + FEW or 2 * more > found.size
    return found if dense or more <= FEW else fewer


def _keys(values: NDArray[Any], number: int, step: float, words: bool = True) -> Hashes:
    """Hash a column: numbers as they are or rounded to a share of their spread; words of texts."""
    factor = np.uint64((2 * number + 1) * 0x9E3779B97F4A7C15 % 2**64)
    if values.dtype.kind not in "fiub":
        said, place = np.unique(values.astype(str), return_inverse=True)
        if words:
            alike = np.array([" ".join(words_of(text)) for text in said.tolist()])
            place = np.unique(alike, return_inverse=True)[1][place]
        cells = place.astype(np.uint64)
    elif step:
        cells = _near(values.astype(np.float64), step)
    else:
        with np.errstate(over="ignore"):
            rounded = values.astype(np.float32) + np.float32(0)  # -0 becomes 0
        rounded[np.isnan(rounded)] = np.nan  # of which there are several kinds
        cells = rounded.view(np.uint32).astype(np.uint64)
    return mixed(mixed(cells) + factor)


def words_of(text: str) -> list[str]:
    """Return the words of a text in small letters; of a text without words, its characters.

    >>> words_of("Lost my CARD!"), words_of("?!")
    (['lost', 'my', 'card'], ['?', '!'])
    """
    return re.findall(r"\w+", text.casefold()) or list(text)


def _across(repeats: Repeats, groups: NDArray[Any] | None) -> Repeats:
    """Leave out rows that equal another one of their group."""
    if groups is None:
        return repeats
    _, number = np.unique(groups, return_inverse=True)
    pairs = np.unique(repeats.place.astype(np.int64) * (number.max() + 1) + number)
    return Repeats.by_keys(pairs // (number.max() + 1))


def _ways(X: Any) -> Iterator[Hashes]:
    """Return the keys of all rows in each way; of a wide table, none without one column."""
    exact = near = np.zeros(0, dtype=np.uint64)
    few, kept = True, list[tuple[Hashes, Hashes]]()
    for number, values in enumerate(column_values(X)):
        hashes = _keys(values, number, 0.0, words=False), _keys(values, number, STEP)
        exact, near = (exact + hashes[0], near + hashes[1]) if number else hashes
        few = few and exact.size <= MOST_ROWS and number < MOST_COLUMNS
        kept = [*kept, hashes] if few else []
    if exact.size:
        yield exact
        yield near
    for column in kept if len(kept) > 1 else ():
        if count_distinct(column[0]) == exact.size:
            yield near - column[1]


def column_values(X: Any) -> Iterator[NDArray[Any]]:
    """Return the values of every column of whatever a fit takes, but sparse rows."""
    if isinstance(X, Table):
        X = [X]
    if isinstance(X, list) and X and all(isinstance(table, Table) for table in X):
        for j in range(X[0].n_columns):
            yield np.concatenate([table.column(j) for table in X])
        return
    if isinstance(X, Columns) or is_frame(X):
        for cells in Columns.of(X).cells.values():
            yield cells if isinstance(cells, np.ndarray) else np.asarray(cells.to_numpy())
        return
    table = np.asarray(X, None if hasattr(X, "__array__") else object)
    yield from [table] if table.ndim == 1 else table.T


def _near(values: NDArray[np.float64], share: float) -> Hashes:
    """Hash numbers rounded to a share of their spread; all missing ones are equal."""
    known = values[np.isfinite(values)]
    with np.errstate(over="ignore"):
        spread = math.sqrt(mean((known - mean(known)) ** 2)) if known.size else 0.0
    step = share * spread if spread > 0 else 1.0
    with np.errstate(invalid="ignore", over="ignore"):
        cells = np.clip(np.rint(values / step), -(2.0**60), 2.0**60)
    whole = np.where(np.isnan(cells), 2.0**61, cells).astype(np.int64)
    return mixed(whole.view(np.uint64))
