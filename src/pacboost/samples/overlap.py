"""Do two samples share more rows than chance explains? An exact test for any distribution.

Two samples of independent rows from one distribution are exchangeable: given all rows together,
who belongs to which sample is pure chance. Of m equal rows, both samples hold some with
probability 1 - p^m - q^m, where p and q are the shares of the samples. If the samples come from
different distributions, p and q differ from row to row, and the probability is at most 1 -
2^(1-m). Rows that were learned from and come back are in both samples nearly always. Their number
is compared with both probabilities by Chernoff's inequality. Where a small domain has every row
in both samples, a sample that comes back as a whole is recognised because it has every row as
often as before: equal rows are divided more evenly than chance does. docs/proofs/training_rows.md
has the proofs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.stats import binom

from pacboost.numerics.same_bits import exp, log, log1p, log_of
from pacboost.numerics.same_bits import total as total_of
from pacboost.samples.copies import FEWEST, copied_times
from pacboost.samples.row_hashes import Hashes

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
        return int(self.counts.sum())

    @property
    def repeated(self) -> float:
        return int(self.counts[self.counts > 1].sum()) / max(1, self.rows)

    def overlap(self, others: HashCounts) -> Overlap:
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
