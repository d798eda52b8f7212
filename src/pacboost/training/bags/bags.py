"""Random bags of rows, and the answers of members for the rows outside their bags.

A bag has rows drawn from the training rows, with replacement (Breiman 1996) or without (pasting:
Breiman 1999), and perhaps some of the features only (Ho 1998; Louppe and Geurts 2012). No bag is
redrawn because a class is missing: that would use the labels of rows outside, and their mistakes
would certify nothing.

The rows outside a bag are new to its member. They give an estimate of the error of the vote and,
for the certificates of bounds/out_of_bag.py, the mistakes of every member and of every pair of
members. Those theorems assume that bags are drawn by a random generator alone, and that a member
depends on no ``counted`` row outside its bag, not even on its features. Bins of all rows do: make
them from some rows, and count the others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.threads import each_rows
from pacboost.ledgers.out_of_bag import OutOfBag
from pacboost.numerics.same_bits import mean


@dataclass(frozen=True, eq=False)
class Bag:
    """How often each row is in the bag, and the features it includes; None means all."""

    counts: NDArray[np.int64]
    features: NDArray[np.intp] | None
    seed: int
    """The seed of the member's learner."""

    @property
    def inside(self) -> NDArray[np.intp]:
        return np.flatnonzero(self.counts)

    @property
    def outside(self) -> NDArray[np.intp]:
        return np.flatnonzero(self.counts == 0)


@dataclass
class Bags:
    """A sequence of random bags.

    >>> bags = Bags(rows=6, drawn=6, columns=3, kept=3, seed=1)
    >>> bags.bag(0).counts.tolist(), bags.bag(1).counts.tolist()
    ([2, 0, 1, 1, 1, 1], [0, 1, 1, 4, 0, 0])
    >>> round(bags.chance_outside, 3)
    0.335
    """

    rows: int
    drawn: int
    columns: int
    kept: int
    seed: int
    replacement: bool = True
    features_replaced: bool = False
    """Whether features are drawn with replacement too."""
    weights: NDArray[np.int64] | None = None
    """A row is drawn as often as this many copies of it; then rows outside certify nothing."""

    def bag(self, number: int) -> Bag:
        generator = np.random.default_rng((self.seed, number))
        if self.weights is not None:
            chances = self.weights / self.weights.sum()
            rows = generator.choice(self.rows, self.drawn, replace=self.replacement, p=chances)
        elif self.replacement:
            rows = generator.integers(self.rows, size=self.drawn)
        else:
            rows = generator.permutation(self.rows)[: self.drawn]
        counts = np.bincount(rows, minlength=self.rows)
        features = None
        if self.kept < self.columns or self.features_replaced:
            features = generator.choice(self.columns, self.kept, replace=self.features_replaced)
        return Bag(counts, features, int(generator.integers(2**31)))

    @property
    def hold_all(self) -> bool:
        """Whether every bag holds all rows, so that none is outside."""
        return not self.replacement and self.drawn == self.rows

    @property
    def chance_outside(self) -> float:
        if self.replacement:
            return float((1 - 1 / self.rows) ** self.drawn)
        return 1 - self.drawn / self.rows


Rows = NDArray[np.intp] | NDArray[np.bool_]
WORDS_PER_BLOCK = 128
"""Pairs are counted in blocks of words that fit into the cache (2 ns for a word of a pair)."""
_ADDING = Lock()


class OutOfBagVotes:
    """Count out-of-bag votes and mistakes; threads may add members in any order.

    ``labels`` are the class numbers of all rows, ``members`` is the maximum number of members. With
    ``pairs``, two bits for each row and member are stored, which the tandem loss needs."""

    def __init__(
        self,
        labels: Sequence[int] | NDArray[np.integer],
        members: int,
        classes: int,
        *,
        outside: float,
        pairs: bool = False,
        counted: NDArray[np.bool_] | None = None,
    ) -> None:
        self.truth = np.asarray(labels)
        self.members = members
        self.outside = outside
        self.votes = np.zeros((self.truth.size, classes), dtype=np.int32)
        self._counted = counted
        self._rows = self.truth.size if counted is None else int(np.count_nonzero(counted))
        self._pairs = pairs
        self._tallied: dict[int, tuple[int, int]] = {}
        self._bits: dict[int, NDArray[np.uint64]] = {}

    def add(self, member: int, out_rows: Rows, named: NDArray[np.integer]) -> None:
        """Add the classes that a member predicts for the rows outside its bag, each row once."""
        rows = np.arange(self.truth.size)[out_rows]
        wrong = rows[named != self.truth[rows]]
        counted_out, counted_wrong = rows, wrong
        if self._counted is not None:
            counted_out, counted_wrong = (some[self._counted[some]] for some in (rows, wrong))
        bits = self._packed(counted_out, counted_wrong) if self._pairs else None
        with _ADDING:
            self.votes[rows, named] += 1
            self._tallied[member] = counted_out.size, counted_wrong.size
            if bits is not None:
                self._bits[member] = bits

    @property
    def vote_error(self) -> float | None:
        """The error of the votes so far, on rows that have one; ties go to the lower class."""
        has_vote = self.votes.any(axis=1)
        if not has_vote.any():
            return None
        return float((self.votes.argmax(axis=1) != self.truth)[has_vote].mean())

    def estimate(self) -> tuple[float | None, float]:
        """Return the error of the votes, and its standard error, √(e(1 - e)/n)."""
        error = self.vote_error
        return error, 0.0 if error is None else math.sqrt(error * (1 - error) / self.truth.size)

    def result(self) -> OutOfBag:
        """Return all counts; with pairs, the time is quadratic in the number of members."""
        tallied = [self._tallied[member] for member in sorted(self._tallied)]
        sizes, wrong = np.array(tallied, dtype=np.int64).reshape(-1, 2).T
        least_size, tandem = None, None
        if self._pairs and tallied:
            bits = np.stack([self._bits[member] for member in sorted(self._bits)], axis=1)
            both_out, both_wrong = (joint(table) for table in bits)
            least_size = int(both_out.min())
            if least_size:
                tandem = math.fsum((both_wrong / both_out).ravel()) / both_out.size
        return OutOfBag(
            self._rows, self.members, self.outside, sizes, wrong, least_size, tandem,
            self.vote_error, int(np.count_nonzero(~self.votes.any(axis=1))),
        )  # fmt: skip

    def _packed(self, *sets: NDArray[np.intp]) -> NDArray[np.uint64]:
        """Return each set of rows as bits, 64 rows in a word."""
        words = -(-self.truth.size // 64)
        flags = np.zeros((len(sets), 64 * words), dtype=np.bool_)
        for line, rows in zip(flags, sets, strict=True):
            line[rows] = True
        # 64 rows in a word: counts of pairs of members are quadratic in their number
        return np.packbits(flags, axis=1).view(np.uint64)


def joint(bits: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Count the rows that two sets share, for every pair of sets given as bits."""
    sets, words = bits.shape
    parts: list[NDArray[np.int64]] = []

    def task(start: int, stop: int) -> None:
        counts = np.zeros((sets, sets), dtype=np.int64)
        for at in range(start, stop, WORDS_PER_BLOCK):
            block = np.ascontiguousarray(bits[:, at : min(stop, at + WORDS_PER_BLOCK)])
            for k in range(sets):
                shared = np.bitwise_count(block[k:] & block[k])
                counts[k, k:] += shared.sum(axis=1, dtype=np.int64)
        parts.append(counts)

    each_rows(task, words, width=64)
    upper = np.add.reduce(parts)
    return np.asarray(upper + np.triu(upper, 1).T)


class Averages:
    """The averages of out-of-bag answers: numbers, or the shares of classes.

    Members are added in order, so that the sums of floats are always the same."""

    def __init__(self, truth: NDArray[Any], classes: int = 0) -> None:
        self.truth = truth
        self.sums = np.zeros((truth.size, classes) if classes else truth.size)
        self.counts = np.zeros(truth.size, dtype=np.int64)

    def add(self, member: int, out_rows: Rows, answers: NDArray[np.float64]) -> None:
        if out_rows.size:
            self.sums[out_rows] += answers
            self.counts[out_rows] += 1

    def mean(self) -> NDArray[np.float64]:
        """Return the mean answer for every row, NaN for rows that are in every bag."""
        means = np.full(self.sums.shape, np.nan)
        counted = self.counts > 0
        means[counted] = (self.sums[counted].T / self.counts[counted]).T
        return means

    def estimate(self) -> tuple[float | None, float]:
        """Return the mean squared error, or the error of the classes, and its standard error.

        Ties go to the lower class.
        """
        # a row that is in every bag has no out-of-bag answer
        counted = self.counts > 0
        if not counted.any():
            return None, 0.0
        if self.sums.ndim > 1:
            error = float((self.sums.argmax(axis=1) != self.truth)[counted].mean())
            return error, math.sqrt(error * (1 - error) / self.truth.size)
        squares = (self.mean()[counted] - self.truth[counted]) ** 2
        error = mean(squares)
        return error, math.sqrt(mean((squares - error) ** 2) / squares.size)


class Settling:
    """Decide when an out-of-bag error has settled.

    It has if, over the last ``patience`` members, it moved by no more than its standard error: as
    much as another sample of rows would have moved it.

    >>> settling = Settling(patience=20)
    >>> errors = {10: 0.5, 20: 0.3, 30: 0.3, 40: 0.31}
    >>> [settling.see(members, error, 0.02) for members, error in errors.items()]
    [False, False, False, True]
    """

    def __init__(self, patience: int) -> None:
        self.patience = patience
        self._errors: list[tuple[int, float]] = []

    def see(self, members: int, error: float | None, noise: float) -> bool:
        """Add the error after this number of members, and its standard error."""
        if error is None:
            return False
        self._errors.append((members, error))
        since = members - self.patience
        while len(self._errors) > 1 and self._errors[1][0] <= since:
            self._errors.pop(0)
        errors = [error for _, error in self._errors]
        return self._errors[0][0] <= since and max(errors) - min(errors) <= noise
