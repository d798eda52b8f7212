"""How many of some rows are training rows, by hashes of both, and whether chance explains it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pacboost.samples.copies import FEWEST, copied_times
from pacboost.samples.row_hashes import Hashes
from pacboost.samples.shared_rows import Chances, chances

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
        """Tell whether more rows are shared than chance explains, if so many are compared."""
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
    """Say how often rows were copied before they were divided into two samples; 0 if not surely.

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
