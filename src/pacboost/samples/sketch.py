"""A small salted sketch of the rows a model was trained on, to notice when they come back.

A certificate on rows that the model has seen is void. The sketch keeps hashes of some thousand
rows, chosen by their content, so that the same rows are chosen whenever they come; the salt is
drawn anew for each sketch and nothing is ever written to a file.

Fresh draws may repeat training rows honestly, when the domain is discrete. How often, the training
rows tell themselves (Good and Turing): the chance that a new row has been seen equals, up to
sampling error, the share of training rows that have a twin among the others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from pacboost.numerics.binomial import binomial_upper
from pacboost.sources.entries import Entries
from pacboost.sources.table import Table, Values

MOST_KEPT = 4096
COLUMNS_TO_CHOOSE_BY = 8
LOG_FALSE_ALARM = 13.8  # ln of a million: an honest hold-out is refused once in some 500,000 times

Hashes = NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class Overlap:
    """What the sketch saw of other rows."""

    compared: int
    shared: int
    """How many of the compared rows are training rows."""
    expected: float
    """The largest share that twins within the training rows explain."""

    @property
    def suspicious(self) -> bool:
        """Whether more rows are shared than chance explains."""
        if self.compared == 0 or self.expected >= 1:
            return False
        return self.shared > int(binom.isf(np.exp(-LOG_FALSE_ALARM), self.compared, self.expected))


@dataclass(frozen=True, eq=False)
class Sketch:
    """Hashes of the training rows that the salt selects."""

    salt: int
    share: float
    """The share of hashes that is kept."""
    columns: NDArray[np.intp]
    """The columns by which rows are selected before the whole row is hashed."""
    kept: Hashes
    """The hashes selected, each once."""
    copies: NDArray[np.int64]
    """How many training rows have each."""

    @classmethod
    def of(cls, table: Table) -> Sketch:
        """Make a sketch of a table."""
        salt = int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
        share = min(1.0, MOST_KEPT / table.n_rows)
        some = np.linspace(0, table.n_columns - 1, COLUMNS_TO_CHOOSE_BY).astype(np.intp)
        columns = np.arange(0) if share == 1 else np.unique(some)
        hashes = _selected(table, salt, share, columns)
        if not MOST_KEPT // 16 <= hashes.size <= 2 * MOST_KEPT and share < 1:
            columns = np.arange(table.n_columns)  # the few columns hardly told rows apart
            hashes = _selected(table, salt, share, columns)
        kept, copies = np.unique(hashes, return_counts=True)
        return cls(salt, share, columns, kept, copies)

    def overlap(self, table: Table) -> Overlap:
        """Compare other rows with the training rows."""
        hashes = _selected(table, self.salt, self.share, self.columns)
        shared = int(np.isin(hashes, self.kept).sum())
        # Twins come in pairs at least, so pairs are what is counted, among half as many places.
        pairs = -(-int(self.copies[self.copies > 1].sum()) // 2)
        places = int(self.copies.sum()) // 2
        expected = 1.0
        if pairs < places:
            expected = binomial_upper(pairs, places, 2 * LOG_FALSE_ALARM)
        return Overlap(hashes.size, shared, expected)


def row_hashes(table: Table) -> Hashes:
    """Hash every row; equal rows have equal hashes in any table with the same levels."""
    return _hash(table, range(table.n_columns), 0, None)


def _selected(table: Table, salt: int, share: float, columns: NDArray[np.intp]) -> Hashes:
    """Hash the rows that the salt selects."""
    if columns.size == 0:
        return _hash(table, range(table.n_columns), salt, None)
    first = _hash(table, columns.tolist(), salt, None)
    chosen = np.flatnonzero(first < np.uint64(share * float(2**64 - 2**12)))
    return _hash(table, range(table.n_columns), salt, chosen)


def _hash(
    table: Table, columns: list[int] | range, salt: int, rows: NDArray[np.intp] | None
) -> Hashes:
    """Hash rows by their values rounded to 32 bits; equal rows have equal hashes."""
    total = np.full(table.n_rows if rows is None else rows.size, salt, dtype=np.uint64)
    factors = np.random.default_rng(salt).integers(
        2**63, size=table.n_columns, dtype=np.uint64, endpoint=True
    )
    if table.entries is not None and len(columns) == table.n_columns:
        total += _mix(factors).sum() + _stored(table.entries, factors, rows)
        return _mix(total)
    for j in columns:
        values = table.block(j, j + 1)[:, 0]
        total += _mix(_bits(values if rows is None else values[rows]) + factors[j])
    return _mix(total)


def _stored(entries: Entries, factors: Hashes, rows: NDArray[np.intp] | None) -> Hashes:
    """Sum, for each row, what its stored values add beyond what zeros would (whose bits are 0)."""
    own = factors[entries.columns]
    more = _mix(_bits(entries.values) + own) - _mix(own)
    sums = np.zeros(entries.n_rows, dtype=np.uint64)
    np.add.at(sums, entries.rows, more)
    return sums if rows is None else sums[rows]


def _bits(values: Values) -> Hashes:
    """Give the bits of values rounded to 32 bits; zeros are all alike, and so are missing ones."""
    with np.errstate(over="ignore"):
        rounded = values.astype(np.float32) + np.float32(0)  # -0 becomes 0
    bits = np.where(np.isnan(rounded), np.uint32(0x7FC00000), rounded.view(np.uint32))
    return bits.astype(np.uint64)


def _mix(x: Hashes) -> Hashes:
    """Spread bits over the whole word (the finaliser of splitmix64)."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
