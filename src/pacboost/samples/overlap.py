"""How many of some rows are training rows, by hashes of both, and whether chance explains it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pacboost.samples.copies import copied_times
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

    def suspicious_among(self, models: int) -> bool:
        """Tell whether more rows are shared than chance explains, if so many are compared."""
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
        own = -(-own // max(1, copied_times(self.counts)))  # a table that was copied as a whole
        found = chances(own, theirs, (int(own.sum()), others.rows))
        return Overlap(others.rows, int(theirs[own > 0].sum()), found)

    def _counts(self, every: Short) -> NDArray[np.int64]:
        counts = np.zeros(every.size, dtype=np.int64)
        counts[np.searchsorted(every, self.hashes)] = self.counts
        return counts
