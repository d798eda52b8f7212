"""A small salted sketch of the rows a model was trained on, to notice when they come back.

A certificate on rows that the model has seen is void. The sketch keeps hashes of about four
thousand rows, chosen by content, so that the same rows are chosen whenever they come. The hashes
tell nothing readable; whoever holds the sketch and a row can test whether the row was learned from.

New rows may repeat training rows honestly, when the domain is discrete. How often chance explains
that is computed exactly (samples/sketch.py). Codes of some rows that hardly change when rows
are rounded are kept as well (samples/coarse_codes.py).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.stats import binom

from pacboost.numerics.same_bits import exp, log, log1p, log_of
from pacboost.numerics.same_bits import total as total_of
from pacboost.samples.coarse_codes import CoarseCodes, look_at, looks_fine
from pacboost.samples.copies import FEWEST, copied_times
from pacboost.samples.row_hashes import Hashes, RowHasher, Rows
from pacboost.sources.table import Table

# Do two samples share more rows than chance explains? An exact test for any distribution.
#
# Two samples of independent rows from one distribution are exchangeable: given all rows together,
# who belongs to which sample is pure chance. Of m equal rows, both samples hold some with
# probability 1 - p^m - q^m, where p and q are the shares of the samples. If the samples come from
# different distributions, p and q differ from row to row, and the probability is at most 1 -
# 2^(1-m). Rows that were learned from and come back are in both samples nearly always. Their number
# is compared with both probabilities by Chernoff's inequality. Where a small domain has every row
# in both samples, a sample that comes back as a whole is recognised because it has every row as
# often as before: equal rows are divided more evenly than chance does. docs/proofs/training_rows.md
# has the proofs.

Counts = NDArray[np.int64]
LARGEST_SLOPE = 200.0


@dataclass(frozen=True)
class Chances:
    """How likely it is that so many distinct rows lie in both samples, as logarithms of bounds."""

    one: float = 0.0
    """If both samples come from one distribution."""
    any: float = 0.0
    """If each row comes equally often in both on average, the worst of all pairs of distributions;
    the numbers of rows are then taken as Poisson."""
    even: float = 0.0
    """The same for how many distinct rows are divided in proportion to the sizes of the samples."""
    expected: float = 0.0
    """How many distinct rows lie in both on average, if both come from one distribution."""


def chances(first: Counts, second: Counts, sizes: tuple[int, int]) -> Chances:
    """Bound the chance that so many distinct rows lie in both samples.

    ``first`` and ``second`` say how often each distinct row comes in either sample; rows that come
    once altogether may be left out. ``sizes`` are the sizes of the samples.

    >>> twice = np.ones(30, dtype=np.int64)
    >>> found = chances(twice, twice, (300, 300))
    >>> round(found.one, 2), round(found.any, 2), round(found.even, 2), found.expected
    (-17.25, -20.79, -17.25, 15.0)
    """
    total = first + second
    shared = int(np.count_nonzero((first > 0) & (second > 0)))
    if shared == 0:
        return Chances()
    multiples, counts = np.unique(total[total > 1], return_counts=True)
    rows = sum(sizes)
    p = sizes[0] / rows
    one = 1 - exp(multiples * log_of(p)) - exp(multiples * log_of(1 - p))
    worst = 1 - np.ldexp(2.0, -multiples)
    fixed_sizes = 0.5 * math.log(max(1.0, 8 * rows * p * (1 - p)))
    return Chances(
        min(0.0, _log_tail(one, counts, shared) + fixed_sizes),
        _log_tail(worst, counts, shared),
        min(0.0, _log_even(total, second, 1 - p) + fixed_sizes),
        total_of(counts * one),
    )


def _log_even(total: Counts, second: Counts, share: float) -> float:
    """Count the rows of which the second sample has its share, up to less than one."""
    several = total > 1
    total, second = total[several], second[several]
    even = int(np.count_nonzero(np.abs(second - total * share) < 1))
    multiples, counts = np.unique(total, return_counts=True)
    most = binom.cdf(np.ceil(multiples * share + 1) - 1, multiples, share)
    fewer = binom.cdf(np.floor(multiples * share - 1), multiples, share)
    return _log_tail(np.asarray(most - fewer), counts, even)


def _log_tail(chances: NDArray[np.float64], counts: Counts, shared: int) -> float:
    """Apply Chernoff's inequality to a sum of independent indicators."""
    total = int(counts.sum())
    if shared <= total_of(counts * chances):
        return 0.0
    if shared == total:
        return total_of(counts * log(chances))

    def excess(slope: float) -> float:
        return total_of(counts / (1 + (1 - chances) / chances * math.exp(-slope))) - shared

    slope = brentq(excess, 0.0, LARGEST_SLOPE) if excess(LARGEST_SLOPE) > 0 else LARGEST_SLOPE
    moments = log1p(chances * math.expm1(slope))
    return total_of(counts * moments) - slope * shared


# How many of some rows are training rows, by hashes of both, and whether chance explains it.

LOG_FALSE_ALARM = 14.5
"""Each test of each comparison is suspicious by chance once in two million times at most."""
LOG_SHIFTED = 4.6
"""The same where new rows and training rows have different distributions: about once in 100 times;
if rows were kept by their weights, so that the distributions surely differ, it is the former."""

Short = NDArray[np.uint32]


@dataclass(frozen=True, eq=False)
class Overlap:
    """What the sketch saw of other rows."""

    compared: int
    shared: int
    """How many of the compared rows are training rows."""
    chances: Chances = field(default_factory=Chances)
    weighted: bool = False
    """Whether training rows were kept by their weights."""
    copied: int = 0
    """How often rows were copied before some of them became training rows; 0 if chance may be."""

    def suspicious_among(self, models: int) -> bool:
        """Check whether more rows are shared than chance explains, if so many are compared."""
        if self.copied:
            return True
        more = math.log(models)
        if self.chances.even < -LOG_FALSE_ALARM - more:
            return True
        if self.chances.any >= -(LOG_FALSE_ALARM if self.weighted else LOG_SHIFTED) - more:
            return False
        return self.chances.one < -LOG_FALSE_ALARM - more

    @property
    def suspicious(self) -> bool:
        """Whether more rows are shared than chance explains."""
        return self.suspicious_among(1)


@dataclass(frozen=True, eq=False)
class HashCounts:
    """The distinct hashes of some rows, and how many rows have each."""

    hashes: Short
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, hashes: Hashes) -> HashCounts:
        """Count hashes, of which 32 bits are kept."""
        found, counts = np.unique((hashes >> np.uint64(32)).astype(np.uint32), return_counts=True)
        return cls(found, counts.astype(np.int64))

    @property
    def rows(self) -> int:
        """The number of rows."""
        return int(self.counts.sum())

    @property
    def repeated(self) -> float:
        """The share of the rows that equal another one."""
        return int(self.counts[self.counts > 1].sum()) / max(1, self.rows)

    def overlap(self, others: HashCounts) -> Overlap:
        """Compare with other rows."""
        if not self.rows or not others.rows:
            return Overlap(others.rows, 0)
        every = np.union1d(self.hashes, others.hashes)
        own, theirs = self._counts(every), others._counts(every)
        copied = copied_before(own, theirs)
        own = -(-own // max(1, copied_times(self.counts)))  # a table that was copied as a whole
        found = chances(own, theirs, (int(own.sum()), others.rows))
        return Overlap(others.rows, int(theirs[own > 0].sum()), found, copied=copied)

    def _counts(self, every: Short) -> NDArray[np.int64]:
        counts = np.zeros(every.size, dtype=np.int64)
        counts[np.searchsorted(every, self.hashes)] = self.counts
        return counts


def copied_before(own: NDArray[np.int64], theirs: NDArray[np.int64]) -> int:
    """Return how often rows were copied before they were divided into two samples; 0 if not surely.

    ``own`` and ``theirs`` say how often each distinct row comes in either sample. Together they are
    draws like those of one sample. A row of which one sample was given copies, after it was drawn,
    comes more often altogether where the other sample has it, too.

    >>> once, twice = np.ones(40, dtype=np.int64), np.full(40, 2)
    >>> copied_before(once, once), copied_before(twice, 0 * once)
    (2, 0)
    """
    total = own + theirs
    times = copied_times(total)
    both = (own > 0) & (theirs > 0)
    exactly = int(np.count_nonzero(both & (total == times)))
    enough = exactly >= FEWEST and 2 * exactly >= np.count_nonzero(both)
    return times if times and enough else 0


MOST_KEPT, MOST_CODES = 4096, 2048
COLUMNS_TO_CHOOSE_BY = 8
WHOLE = 2.0**64 - 2.0**12


@dataclass(frozen=True, eq=False)
class Sketch:
    """Hashes of the training rows that the salt selects."""

    hasher: RowHasher
    share: float
    """The share of hashes that is kept."""
    columns: NDArray[np.int64]
    """The columns by which rows are selected before whole rows are hashed; none: all are kept."""
    exact: HashCounts
    near: HashCounts
    codes: CoarseCodes
    coarse: HashCounts
    """Codes of some of the rows, whatever their hashes."""
    fine: bool
    """Whether equal rows are copies, by what columns hold (samples/equal_rows.py)."""
    complete: bool = True
    """Whether all rows that were learned from had the chance to be kept."""
    weighted: bool = False
    """Whether rows were learned from by their weights, as boosting by filtering does."""

    @classmethod
    def of(cls, table: Table) -> Sketch:
        """Make a sketch of a table."""
        hasher = RowHasher.of(table)
        share = min(1.0, MOST_KEPT / max(1, table.n_rows))
        every = np.arange(table.n_columns)
        some = np.linspace(0, table.n_columns - 1, COLUMNS_TO_CHOOSE_BY).astype(np.int64)
        columns = every[:0] if share == 1 else np.unique(some)
        chosen = selected(hasher, table, share, columns)
        if not MOST_KEPT // 16 <= chosen.size <= 2 * MOST_KEPT and share < 1:
            columns = every  # the few columns hardly distinguish rows
            chosen = selected(hasher, table, share, columns)
        looked_at = np.linspace(0, table.n_rows - 1, min(table.n_rows, MOST_CODES * 4 // 3))
        coarse, rest, fine = coarse_codes(table, hasher, looked_at.astype(np.intp))
        hashes = hasher.exact(table, chosen), hasher.near(table, chosen)
        exact, near, alike = map(HashCounts.of, (*hashes, coarse.hashes(table, rest, hasher.salt)))
        return cls(hasher, share, columns, exact, near, coarse, alike, fine)

    @property
    def salt(self) -> int:
        """The salt of all hashes."""
        return self.hasher.salt

    def overlap(self, table: Table) -> Overlap:
        """Compare other rows with the training rows in three ways; give one that is suspicious.

        Equal rows are looked for, nearly equal ones, and, by codes, those that were rounded.
        """
        chosen = selected(self.hasher, table, self.share, self.columns)
        every = np.arange(table.n_rows if self.codes.columns.size else 0)
        found = [
            replace(kept.overlap(HashCounts.of(hashes)), weighted=self.weighted)
            for kept, hashes in (
                (self.exact, self.hasher.exact(table, chosen)),
                (self.near, self.hasher.near(table, chosen)),
                (self.coarse, self.codes.hashes(table, every, self.salt)),
            )
        ]
        # Copies among other rows are no draws; codes that they share by chance look too even.
        found[2] = replace(found[2], chances=replace(found[2].chances, even=0.0))
        return next((own for own in found if own.suspicious), found[0])

    def known(self, table: Table) -> tuple[Rows, NDArray[np.bool_]]:
        """Return the rows of a table that are selected, and which of them equal training rows."""
        chosen = selected(self.hasher, table, self.share, self.columns)
        hashes = (self.hasher.exact(table, chosen) >> np.uint64(32)).astype(np.uint32)
        return chosen, np.isin(hashes, self.exact.hashes)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values and arrays, as files hold them."""
        return {
            "salt": f"{self.salt:016x}",
            "share": self.share,
            "complete": self.complete,
            "weighted": self.weighted,
            "fine": self.fine,
            "columns": self.columns.astype(np.int64),
            "steps": (np.frexp(self.hasher.steps)[1] - 1).astype(np.int16),
            "exact": self.exact.hashes,
            "exact_counts": _counts_written(self.exact),
            "near": self.near.hashes,
            "near_counts": _counts_written(self.near),
            "code_columns": self.codes.columns,
            "cuts": self.codes.cuts.reshape(-1),
            "coarse": self.coarse.hashes,
            "coarse_counts": _counts_written(self.coarse),
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Sketch:
        """Read what ``to_dict`` gave, and refuse what no fit could have written."""
        steps, columns = _array(content, "steps", np.int16), _array(content, "columns", np.int64)
        share = content["share"]
        fine, *flags = (content[name] for name in ("fine", "complete", "weighted"))
        if not isinstance(share, float) or not 0 < share <= 1:
            raise ValueError(f"share is {share!r:.40}; it must lie in (0, 1]")
        if not all(isinstance(flag, bool) for flag in (fine, *flags)):
            raise ValueError("fine, complete and weighted have to be true or false")
        coded, cuts = _array(content, "code_columns", np.int64), _array(content, "cuts", np.float32)
        for own in (columns, coded):
            if own.size and not 0 <= own.min() <= own.max() < steps.size:
                raise ValueError("columns lie beyond the columns there are")
        if cuts.size % max(1, coded.size) or not np.isfinite(cuts).all():
            raise ValueError("cuts are not as many finite numbers for each column")
        if steps.size and not -1000 <= steps.min() <= steps.max() <= 1000:
            raise ValueError("steps are out of range")
        hasher = RowHasher(int(content["salt"], 16) & (2**64 - 1), 2.0 ** steps.astype(np.float64))
        exact, near, coarse = (_kept(content, name) for name in ("exact", "near", "coarse"))
        codes = CoarseCodes(coded, cuts.reshape(coded.size, -1) if coded.size else cuts)
        return cls(hasher, share, columns, exact, near, codes, coarse, fine, *flags)


def coarse_codes(table: Table, hasher: RowHasher, rows: Rows) -> tuple[CoarseCodes, Rows, bool]:
    """Make codes by every fourth of some rows, and give the others; also whether rows are fine.

    The fourth has no part in comparisons, so that codes are fixed before other rows are drawn.
    """
    looked_at = look_at(table, rows)
    fine = looks_fine(looked_at, hasher.exact(table, rows))
    if table.alike:
        return CoarseCodes.by(table.alike), rows, fine
    rest = np.delete(rows, np.s_[::4])
    quarter = {j: values[::4] for j, values in looked_at.items()}
    return CoarseCodes.of(table, quarter, hasher, rest), rest, fine


def row_hashes(table: Table, rows: Rows | None = None) -> Hashes:
    """Hash every row, or some; equal rows have equal hashes in any table."""
    return RowHasher(0, np.ones(table.n_columns)).exact(table, rows)


def selected(
    hasher: RowHasher, table: Table, share: float, columns: NDArray[np.int64]
) -> NDArray[np.intp]:
    """Select a share of the rows by their content; without columns, all of them."""
    if columns.size == 0:
        return np.arange(table.n_rows)
    return hasher.near_below(table, columns, int(share * WHOLE))


def _kept(content: Mapping[str, Any], name: str) -> HashCounts:
    hashes = _array(content, name, np.uint32)
    counts = _array(content, f"{name}_counts", np.uint32).astype(np.int64)
    counts = counts if counts.size else np.ones(hashes.size, dtype=np.int64)
    ascending = bool((hashes[1:] > hashes[:-1]).all())
    if hashes.size != counts.size or not ascending or (counts < 1).any():
        raise ValueError(f"{name} does not hold distinct hashes with their counts")
    return HashCounts(hashes, counts)


def _counts_written(kept: HashCounts) -> NDArray[np.uint32]:
    """Return how many rows have each hash; nothing where all have one."""
    counts = np.minimum(kept.counts, 2**32 - 1).astype(np.uint32)
    return counts if (counts > 1).any() else counts[:0]


def _array(content: Mapping[str, Any], name: str, kind: type[np.number[Any]]) -> NDArray[Any]:
    found = content[name]
    if not isinstance(found, np.ndarray) or found.dtype != kind or found.ndim != 1:
        raise ValueError(f"{name} is not a list of {kind.__name__}")
    return found
