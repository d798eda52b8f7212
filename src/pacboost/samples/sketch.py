"""A small salted sketch of the rows a model was trained on, to notice when they come back.

A certificate on training rows is void. The sketch holds hashes of about four thousand rows, chosen
by content, so that the same rows are chosen in any table. The hashes contain nothing readable, but
whoever has the sketch and a row can test whether it is a training row.

It is a smoke alarm and no part of any theorem. New rows may repeat training rows by chance, about
as often as training rows repeat each other (Good and Turing, 1953). If more rows come back than
that explains, the certificate is refused; otherwise all rows count. Rows that were rounded,
jittered or augmented are not found.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from pacboost.samples.row_hashes import Hashes, RowHasher, Rows
from pacboost.sources.table import Table

MAX_ROWS_KEPT = 4096
COLUMNS_TO_CHOOSE_BY = 8
HASH_RANGE = 2.0**64 - 2.0**12
"""Just below 2**64, so that a share of it is always a 64-bit integer, as hashes are."""
FALSE_ALARM = 1e-6
"""Independent rows are refused with about this probability at most."""


@dataclass(frozen=True, eq=False)
class Overlap:
    """How many compared rows equal training rows, and how often training rows repeat."""

    compared: int
    shared: int
    """The number of compared rows that equal training rows."""
    training_rows: int
    repeated: int
    """The number of training rows that equal another one."""

    @property
    def p_value(self) -> float:
        """Return the p-value of Fisher's exact test that repeats are no more common than by chance.

        Chance is how often training rows repeat each other. Repeats come at least in pairs, and a
        pair is one observation, so their number is halved.
        """
        others, repeats = self.training_rows // 2, -(-self.repeated // 2)
        total, marked = self.compared + others, self.shared + repeats
        shared = np.arange(self.shared, min(marked, self.compared) + 1)
        terms = _log_choose(marked, shared) + _log_choose(total - marked, self.compared - shared)
        return float(np.minimum(np.exp(terms - _log_choose(total, self.compared)).sum(), 1.0))

    def suspicious_among(self, models: int) -> bool:
        """Check whether chance explains the shared rows, if several models are tested."""
        return self.shared > 0 and self.p_value * models < FALSE_ALARM

    @property
    def suspicious(self) -> bool:
        return self.suspicious_among(1)

    @property
    def share(self) -> float:
        """The share of the compared rows that equal training rows."""
        return self.shared / max(1, self.compared)


@dataclass(frozen=True, eq=False)
class HashCounts:
    """The distinct hashes of some rows, and how many rows have each."""

    hashes: NDArray[np.uint32]
    counts: NDArray[np.int64]

    @classmethod
    def from_hashes(cls, hashes: Hashes) -> HashCounts:
        """Count hashes, after shortening them to 32 bits."""
        short, counts = np.unique(_short(hashes), return_counts=True)
        return cls(short, counts.astype(np.int64))

    @property
    def rows(self) -> int:
        return int(self.counts.sum())

    @property
    def repeated(self) -> int:
        return int(self.counts[self.counts > 1].sum())

    def contains(self, hashes: Hashes) -> NDArray[np.bool_]:
        return np.isin(_short(hashes), self.hashes)

    def overlap(self, hashes: Hashes) -> Overlap:
        shared = int(np.count_nonzero(self.contains(hashes)))
        return Overlap(hashes.size, shared, self.rows, self.repeated)


def _log_choose(n: int, k: NDArray[np.intp] | int) -> NDArray[np.float64]:
    """Return the logarithm of the number of ways to choose k of n; -inf for k > n."""
    k = np.asarray(k, dtype=np.float64)
    inside = np.clip(k, 0, n)
    ways = gammaln(n + 1.0) - gammaln(inside + 1) - gammaln(n - inside + 1)
    return np.where(inside == k, ways, -np.inf)


def _short(hashes: Hashes) -> NDArray[np.uint32]:
    return (hashes >> np.uint64(32)).astype(np.uint32)


@dataclass(frozen=True, eq=False)
class Sketch:
    """Hashes of the training rows that the salt selects."""

    hasher: RowHasher
    share: float
    columns: NDArray[np.int64]
    """The columns whose hash selects the rows to keep; if empty, all rows are kept."""
    kept: HashCounts
    complete: bool = True
    """Whether every training row had the chance to be kept."""

    @classmethod
    def from_table(cls, table: Table) -> Sketch:
        hasher = RowHasher.for_table(table)
        share = min(1.0, MAX_ROWS_KEPT / max(1, table.n_rows))
        every = np.arange(table.n_columns)
        some = np.linspace(0, table.n_columns - 1, COLUMNS_TO_CHOOSE_BY).astype(np.int64)
        columns = every[:0] if share == 1 else np.unique(some)
        chosen = _selected(hasher, table, share, columns)
        if not MAX_ROWS_KEPT // 16 <= chosen.size <= 2 * MAX_ROWS_KEPT and share < 1:
            columns = every  # the few columns hardly distinguish rows
            chosen = _selected(hasher, table, share, columns)
        counts = HashCounts.from_hashes(hasher.hashes(table, chosen))
        return cls(hasher, share, columns, counts)

    def overlap(self, table: Table) -> Overlap:
        return self.kept.overlap(self._hashes(table)[1])

    def seen(self, table: Table) -> NDArray[np.bool_]:
        """Return a mask of the rows of a table that equal training rows of the sketch."""
        chosen, hashes = self._hashes(table)
        rows = np.zeros(table.n_rows, dtype=np.bool_)
        rows[chosen[self.kept.contains(hashes)]] = True
        return rows

    def _hashes(self, table: Table) -> tuple[Rows, Hashes]:
        chosen = _selected(self.hasher, table, self.share, self.columns)
        return chosen, self.hasher.hashes(table, chosen)

    def to_dict(self) -> dict[str, Any]:
        counts = np.minimum(self.kept.counts, 2**32 - 1).astype(np.uint32)
        return {
            "salt": f"{self.hasher.salt:016x}",
            "n_columns": self.hasher.n_columns,
            "share": self.share,
            "complete": self.complete,
            "columns": self.columns.astype(np.int64),
            "hashes": self.kept.hashes,
            "counts": counts if (counts > 1).any() else counts[:0],
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Sketch:
        """Read the result of ``to_dict``; refuse values that no fit could have written."""
        columns, hashes = _array(content, "columns", np.int64), _array(content, "hashes", np.uint32)
        counts = _array(content, "counts", np.uint32).astype(np.int64)
        counts = counts if counts.size else np.ones(hashes.size, dtype=np.int64)
        share, complete, width = (content[name] for name in ("share", "complete", "n_columns"))
        if not isinstance(share, float) or not 0 < share <= 1:
            raise ValueError(f"share is {share!r:.40}; it must lie in (0, 1]")
        if not isinstance(complete, bool):
            raise ValueError("complete has to be true or false")
        if isinstance(width, bool) or not isinstance(width, int) or not 0 <= width < 2**31:
            raise ValueError(f"n_columns is {width!r:.40}; it is a whole number")
        if columns.size and not 0 <= columns.min() <= columns.max() < width:
            raise ValueError(f"columns has numbers outside 0 to {width - 1}")
        ascending = bool((hashes[1:] > hashes[:-1]).all())
        if hashes.size != counts.size or not ascending or (counts < 1).any():
            raise ValueError("hashes does not hold distinct hashes with their counts")
        hasher = RowHasher(int(content["salt"], 16) & (2**64 - 1), width)
        return cls(hasher, share, columns, HashCounts(hashes, counts), complete)


def _selected(
    hasher: RowHasher, table: Table, share: float, columns: NDArray[np.int64]
) -> NDArray[np.intp]:
    """Select a share of the rows by the hash of some columns, or all rows if there are none."""
    if columns.size == 0:
        return np.arange(table.n_rows)
    return hasher.below(table, columns, int(share * HASH_RANGE))


def _array(content: Mapping[str, Any], name: str, kind: type[np.number[Any]]) -> NDArray[Any]:
    values = content[name]
    if not isinstance(values, np.ndarray) or values.dtype != kind or values.ndim != 1:
        raise ValueError(f"{name} is not a list of {kind.__name__}")
    return values
