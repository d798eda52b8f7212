"""A small salted sketch of the rows a model was trained on, to notice when they come back.

A certificate on training rows is void. The sketch holds hashes of about four thousand rows, chosen
by content, so that the same rows are chosen in any table. The hashes contain nothing readable, but
whoever has the sketch and a row can test whether it is a training row.

It is a smoke alarm and no part of any theorem. New rows may equal training rows by chance. If more
do than chance explains (samples/overlap.py), the certificate is refused; otherwise all rows count.

Rows are compared as 32-bit floats, so that the same rows in single precision are found, too. Where
a row is left out, or said to equal a training row, its exact values decide. Rows that were jittered
or augmented are not found.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.samples.overlap import Overlap, ValueCounts
from pacboost.samples.row_hashes import Hashes, RowHasher, Rows
from pacboost.sources.table import Table

MAX_ROWS_KEPT = 4096
COLUMNS_TO_CHOOSE_BY = 8
HASH_RANGE = 2.0**64 - 2.0**12
"""Just below 2**64, so that a share of it is always a 64-bit integer, as hashes are."""


def short(hashes: Hashes) -> NDArray[np.uint32]:
    """Shorten hashes to the 32 bits that a sketch stores."""
    return (hashes >> np.uint64(32)).astype(np.uint32)


@dataclass(frozen=True, eq=False)
class Sketch:
    """Hashes of the training rows that the salt selects."""

    hasher: RowHasher
    share: float
    columns: NDArray[np.int64]
    """The columns whose hash selects the rows to keep; if empty, all rows are kept."""
    kept: ValueCounts
    """Hashes of rows as 32-bit floats, shortened to 32 bits."""
    exact: NDArray[np.uint32]
    """Hashes of the same rows by their exact values, shortened and in order."""
    complete: bool = True
    """Whether every training row had the chance to be kept."""
    filtered: bool = False
    """Whether rows were chosen by their weights, so that they are no sample of the new ones."""

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
        kept = ValueCounts.of(short(hasher.hashes(table, chosen)))
        exact = np.unique(short(hasher.hashes(table, chosen, exact=True)))
        return cls(hasher, share, columns, kept, exact)

    def overlap(self, table: Table) -> Overlap:
        """Compare the rows of a table with the training rows of the sketch."""
        chosen = _selected(self.hasher, table, self.share, self.columns)
        hashes = short(self.hasher.hashes(table, chosen))
        return self.kept.overlap(ValueCounts.of(hashes), filtered=self.filtered)

    def would_notice(self, rows: int, tests: int = 1) -> bool:
        """Check whether so many compared rows would be refused if all were training rows."""
        counts, filtered = self.kept.counts, self.filtered
        return Overlap.if_all_learned(counts, rows, filtered=filtered).suspicious_among(tests)

    def equal_rows(self, table: Table) -> Rows:
        """Return the rows of a table that equal training rows of the sketch in every value."""
        chosen = _selected(self.hasher, table, self.share, self.columns)
        chosen = chosen[self.kept.contains(short(self.hasher.hashes(table, chosen)))]
        exact = short(self.hasher.hashes(table, chosen, exact=True))
        return np.asarray(chosen[np.isin(exact, self.exact)])

    def to_dict(self) -> dict[str, Any]:
        counts = np.minimum(self.kept.counts, 2**32 - 1).astype(np.uint32)
        return {
            "salt": f"{self.hasher.salt:016x}",
            "n_columns": self.hasher.n_columns,
            "share": self.share,
            "complete": self.complete,
            "filtered": self.filtered,
            "columns": self.columns.astype(np.int64),
            "hashes": self.kept.values,
            "counts": counts if (counts > 1).any() else counts[:0],
            "exact": self.exact[:0] if np.array_equal(self.exact, self.kept.values) else self.exact,
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Sketch:
        """Read the result of ``to_dict``; refuse values that no fit could have written."""
        columns, hashes = _array(content, "columns", np.int64), _array(content, "hashes", np.uint32)
        counts = _array(content, "counts", np.uint32).astype(np.int64)
        counts = counts if counts.size else np.ones(hashes.size, dtype=np.int64)
        exact = _array(content, "exact", np.uint32)
        share, width = content["share"], content["n_columns"]
        complete, filtered = content["complete"], content["filtered"]
        if not isinstance(share, float) or not 0 < share <= 1:
            raise ValueError(f"share is {share!r:.40}; it must lie in (0, 1]")
        if not isinstance(complete, bool) or not isinstance(filtered, bool):
            raise ValueError("complete and filtered have to be true or false")
        if isinstance(width, bool) or not isinstance(width, int) or not 0 <= width < 2**31:
            raise ValueError(f"n_columns is {width!r:.40}; it is a whole number")
        if columns.size and not 0 <= columns.min() <= columns.max() < width:
            raise ValueError(f"columns has numbers outside 0 to {width - 1}")
        ascending = bool((hashes[1:] > hashes[:-1]).all())
        if hashes.size != counts.size or not ascending or (counts < 1).any():
            raise ValueError("hashes does not hold distinct hashes with their counts")
        if not (exact[1:] > exact[:-1]).all():
            raise ValueError("exact does not hold distinct hashes")
        hasher = RowHasher(int(content["salt"], 16) & (2**64 - 1), width)
        exact = exact if exact.size else hashes
        return cls(hasher, share, columns, ValueCounts(hashes, counts), exact, complete, filtered)


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
