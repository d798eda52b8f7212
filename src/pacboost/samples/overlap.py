"""Test whether two tables share more rows than chance explains.

If training rows and new rows are exchangeable, equal rows fall on the two sides at random. Let
there be n training and m new rows, and q = n/(n+m). If rows chose their sides by independent coins,
a value that occurs t times would be on both sides with chance

    p_t = 1 - q^t - (1 - q)^t.

Let C of the N values with t ≥ 2 be on both sides, and p be the mean of their p_t. Then

    P[C ≥ c] ≤ exp(-N kl(c/N ‖ p))    for c/N > p

(Hoeffding 1963). That exactly n rows are training rows costs a small factor, by which this is
multiplied (docs/proofs/training_rows.md).

>>> generator = np.random.default_rng(0)
>>> learned, new = generator.integers(30, size=300), generator.integers(30, size=300)
>>> ValueCounts.of(learned).overlap(ValueCounts.of(new)).p_value
1.0
>>> learned, new = generator.random(300), generator.random(300)
>>> new[:30] = learned[:30]
>>> ValueCounts.of(learned).overlap(ValueCounts.of(new)).suspicious
True
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.numerics.kl import kl

# Fresh draws from a small domain equal training rows by nature, and honest users must not be
# refused.
FALSE_ALARM = 1e-6
"""Exchangeable rows are refused with this probability at most."""

Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Overlap:
    """How equal rows fall on two sides, training rows and rows compared with them."""

    training_rows: int
    compared: int
    shared: int
    """The number of compared rows that equal training rows."""
    values: int = 0
    """The number of values that at least two rows have."""
    both: int = 0
    """The number of values on both sides."""
    expected: float = 0.0
    """The expected number of values on both sides, if each row chose its side by a coin."""
    single: int = 0
    """The number of rows that equal no other row."""

    sides: tuple[int, int] = (0, 0)
    """The numbers of training rows and of new rows that are divided at random."""

    @classmethod
    def of(cls, learned: Counts, new: Counts, *, filtered: bool = False) -> Overlap:
        """Compare the numbers of training and of new rows that have each value.

        If training rows were ``filtered``, some values are more frequent among them than among new
        rows. Then only rows that equal others are taken for exchangeable.

        >>> Overlap.of(np.array([1, 2, 0]), np.array([1, 0, 5])).both
        1
        """
        times = learned + new
        again = times > 1
        divided = again if filtered else times > 0
        sides = int(learned[divided].sum()), int(new[divided].sum())
        q = sides[0] / max(1, sum(sides))
        repeats, number = np.unique(times[again], return_counts=True)
        chances = 1 - q**repeats - (1 - q) ** repeats
        return cls(
            int(learned.sum()),
            int(new.sum()),
            shared=int(new[learned > 0].sum()),
            values=int(again.sum()),
            both=int(np.count_nonzero((learned > 0) & (new > 0))),
            expected=float((number * chances).sum()),
            single=int(divided.sum() - again.sum()),
            sides=sides,
        )

    @classmethod
    def if_all_learned(cls, learned: Counts, rows: int, *, filtered: bool = False) -> Overlap:
        """Return the overlap if all of the new rows were training rows, drawn at random.

        >>> Overlap.if_all_learned(np.ones(500, dtype=np.int64), 200).suspicious
        True
        >>> Overlap.if_all_learned(np.array([300, 200]), 200).suspicious
        False
        """
        whole, rest = divmod(rows, max(1, int(learned.sum())))
        if learned.size == learned.sum():  # all differ, so any of them will do
            some = (np.arange(learned.size) < rest).astype(np.int64)
        else:
            draw = np.random.default_rng(0).multivariate_hypergeometric
            some = draw(learned, rest, method="marginals")
        return cls.of(learned, whole * learned + some, filtered=filtered)

    @property
    def p_value(self) -> float:
        """Return the largest probability of so many values on both sides, of exchangeable rows."""
        if self.values == 0 or 0 in self.sides:
            return 1.0
        seen, chance = self.both / self.values, self.expected / self.values
        if seen <= chance:
            return 1.0
        return math.exp(min(0.0, self._log_price_of_sizes - self.values * kl(seen, chance)))

    @property
    def _log_price_of_sizes(self) -> float:
        """Return by how much fixed numbers of rows on both sides raise the bound, as a logarithm.

        Rows that equal no other row are free to make up the numbers: the factor is the largest
        probability of a number of these on one side, over the probability of n among all rows.
        """
        rows = sum(self.sides)
        q = self.sides[0] / rows
        mode = min(self.single, math.floor((self.single + 1) * q))
        return _log_binomial(self.single, mode, q) - _log_binomial(rows, self.sides[0], q)

    def suspicious_among(self, tests: int) -> bool:
        """Check whether chance explains the shared rows, if there are several such tests."""
        return self.p_value * tests < FALSE_ALARM

    @property
    def suspicious(self) -> bool:
        return self.suspicious_among(1)

    @property
    def share(self) -> float:
        """The share of the compared rows that equal training rows."""
        return self.shared / max(1, self.compared)


def _log_binomial(n: int, k: int, q: float) -> float:
    """Return the logarithm of the probability of k successes in n trials of chance q in (0, 1)."""
    ways = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
    return ways + k * math.log(q) + (n - k) * math.log1p(-q)


@dataclass(frozen=True, eq=False)
class ValueCounts:
    """The distinct values of some rows, such as hashes, in order, and how many rows have each."""

    values: NDArray[Any]
    counts: Counts

    @classmethod
    def of(cls, values: NDArray[Any]) -> ValueCounts:
        distinct, counts = np.unique(values, return_counts=True)
        return cls(distinct, counts.astype(np.int64))

    @property
    def rows(self) -> int:
        return int(self.counts.sum())

    def contains(self, values: NDArray[Any]) -> NDArray[np.bool_]:
        return np.isin(values, self.values)

    def overlap(self, new: ValueCounts, *, filtered: bool = False) -> Overlap:
        """Compare these training rows with new rows."""
        # a union of both would be sorted anew, which takes longer than to predict the rows
        places = np.searchsorted(self.values, new.values)
        known = new.values == np.append(self.values, new.values[:1])[places]
        known &= places < self.values.size
        n_unknown = int(np.count_nonzero(~known))
        learned = np.append(self.counts, np.zeros(n_unknown, dtype=np.int64))
        others = np.zeros(learned.size, dtype=np.int64)
        others[places[known]] = new.counts[known]
        others[self.values.size :] = new.counts[~known]
        return Overlap.of(learned, others, filtered=filtered)


def least_likely(overlaps: Iterable[Overlap]) -> Overlap | None:
    """Return the overlap that is least likely by chance; None if there is none."""
    return min(overlaps, key=lambda overlap: overlap.p_value, default=None)
