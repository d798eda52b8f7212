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
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.stats import binom, gamma, poisson

from pacboost.errors import NotCertified
from pacboost.samples.row_hashes import RowHasher
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.columns import Columns
from pacboost.sources.dataframe import is_frame
from pacboost.sources.table import Table

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
        return cls.by_keys(RowHasher(0, np.ones(table.n_columns)).exact(table), labels)

    @classmethod
    def of_any(cls, X: Any, labels: NDArray[np.generic] | None = None) -> Repeats:
        """Find equal rows in whatever a classifier takes: arrays, frames, sparse rows, texts.

        >>> Repeats.of_any([["a", 1], ["b", 1], ["a", 1]]).distinct
        2
        """
        if isinstance(X, Table):
            return cls.of(X, labels)
        if isinstance(X, Columns) or is_frame(X):
            cells = Columns.of(X).cells.values()
            return cls.of(ArrayTable(np.column_stack([_codes(own) for own in cells])), labels)
        if sparse.issparse(X):
            matrix: Any = X
            rows = matrix.tocsr(copy=True)
            rows.sum_duplicates()
            ends = zip(rows.indptr, rows.indptr[1:], strict=False)
            lines = [(rows.indices[a:b].tobytes(), rows.data[a:b].tobytes()) for a, b in ends]
            return cls.by_keys(_numbered(lines), labels)
        values = np.asarray(X, None if hasattr(X, "__array__") else object)
        if values.dtype.kind in "fiub" and values.ndim == 2:
            return cls.of(ArrayTable(values), labels)
        return cls.by_keys(_numbered([repr(row) for row in values.tolist()]), labels)

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
    def rows(self) -> int:
        """The number of rows."""
        return int(self.place.size)

    @property
    def any(self) -> bool:
        """Whether some rows are equal."""
        return self.distinct < self.rows

    @property
    def times(self) -> NDArray[np.int64]:
        """How often each distinct row comes."""
        return np.bincount(self.place, minlength=self.distinct)

    def counted_once(self, wrong: NDArray[np.bool_]) -> tuple[int, int]:
        """Count distinct rows, and those of them that are wrong.

        >>> twice = Repeats(np.array([0, 0, 1, 2]), 3)
        >>> twice.counted_once(np.array([True, True, False, True]))
        (2, 3)
        """
        mistakes = np.bincount(self.place, weights=wrong, minlength=self.distinct) > 0
        return int(mistakes.sum()), self.distinct

    @property
    def copied(self) -> int:
        """How often rows were copied, if more come exactly so often than chance explains; else 0.

        >>> Repeats(np.repeat(np.arange(40), 3), 40).copied
        3
        >>> Repeats(np.random.default_rng(0).integers(40, size=120), 40).copied
        0
        """
        return copied_times(self.times)


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
        f"of {repeats.rows:,} rows only {repeats.distinct:,} are distinct, and more of them come "
        f"exactly {times} times than independent draws explain: they are copies, which make {what} "
        "void. Drop the copies."
    )


def refuse_copied(repeats: Repeats, what: str = "the certificate") -> None:
    """Raise if rows were surely copied; ``what`` says what the copies make void."""
    problem = copies_in(repeats, what)
    if problem:
        raise NotCertified(problem)


def _codes(cells: Any) -> NDArray[np.float64]:
    """Return the numbers of a column as they are, and number the values of any other column."""
    values = cells if isinstance(cells, np.ndarray) else np.asarray(cells.to_numpy())
    if values.dtype.kind in "fiub":
        return values.astype(np.float64)
    return np.unique(values.astype(str), return_inverse=True)[1].astype(np.float64)


def _numbered(keys: list[Any]) -> NDArray[np.int64]:
    """Number equal keys alike."""
    numbers: dict[Any, int] = {}
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)
