"""Finite classes of hypotheses: bands on a grid, listed functions, and literals."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError
from pacboost.hypotheses.function import Function
from pacboost.hypotheses.hypothesis import Answers, Names, Rule
from pacboost.samples.sample import Sample, Signs, unlabelled
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.values import Values
from pacboost.theory.learners import answers_by_side


@dataclass(frozen=True)
class SearchResult:
    """The best rule; ``survivors`` is None if the version space is too large to count."""

    rule: Rule
    mistakes: int
    survivors: int | None


class FiniteClass(ABC):
    """Finitely many hypotheses, fixed before the data."""

    @abstractmethod
    def size(self, features: int) -> int:
        """Return the number of hypotheses for rows with this number of features."""

    @abstractmethod
    def search(self, X: Values, signs: Signs) -> SearchResult:
        """Find a hypothesis with the fewest mistakes, and count those without any."""


DEFAULT_GRID = tuple(np.arange(-4, 4.125, 0.125).tolist())


@dataclass(frozen=True)
class Band(Rule):
    """Answer ``within`` where low < feature ≤ high, else ``-within``."""

    tag: ClassVar[str] = "band"

    feature: int
    low: float
    high: float
    within: int = 1

    def answers(self, sample: Sample) -> Answers:
        values = sample.table.block(self.feature, self.feature + 1)[:, 0]
        return answers_by_side((values > self.low) & (values <= self.high), self.within)

    def negated(self) -> Band:
        return replace(self, within=-self.within)

    def words(self, names: Names) -> str:
        """Return the rule as a comparison.

        >>> Band(1, 0.5, math.inf).words(Names())
        'x1 > 0.5 → +, else −'
        """
        column = names.column(self.feature)
        yes, no = names.answer(self.within), names.answer(-self.within)
        if self.low >= self.high:
            return f"always {no}"
        if math.isinf(self.low) and math.isinf(self.high):
            return f"always {yes}"
        if math.isinf(self.high):
            return f"{column} > {self.low:.6g} → {yes}, else {no}"
        lower = "" if math.isinf(self.low) else f"{self.low:.6g} < "
        return f"{lower}{column} ≤ {self.high:.6g} → {yes}, else {no}"


@dataclass(frozen=True)
class Bands(FiniteClass):
    """Bands on each feature, or on one, whose ends are in the grid or infinite, and "never".

    Thresholds are the bands with an infinite end: values above a cut, or up to it. Each cut gives
    two of them, and G cuts give (G + 1)(G + 2)/2 intervals, including the whole line.
    """

    grid: tuple[float, ...] = DEFAULT_GRID
    feature: int | None = None
    intervals: bool = False

    def size(self, features: int) -> int:
        searched = 1 if self.feature is not None else features
        return 2 + searched * (self._ends()[0].size - 1)

    def search(self, X: Values, signs: Signs) -> SearchResult:
        """Search all bands; "never" wins a tie, then the first feature."""
        ends = np.array([-np.inf, *self.grid, np.inf])
        low, high = self._ends()
        widths = high - low
        is_line = widths == ends.size - 1
        positive = int((signs > 0).sum())
        best, mistakes = Band(0, math.inf, math.inf), positive
        survivors = int(positive == 0) + int((signs > 0).all())
        for j in range(X.shape[1]) if self.feature is None else [self.feature]:
            codes = np.searchsorted(np.array(self.grid), X[:, j], side="left")
            totals = np.zeros(ends.size, dtype=np.int64)
            np.add.at(totals, codes + 1, signs)
            before = np.cumsum(totals)  # the sum of the signs of the rows up to each end
            errors = positive - (before[high] - before[low])
            survivors += int((errors[~is_line] == 0).sum())
            if errors.min() < mistakes:
                mistakes = int(errors.min())
                # the certificate is the same for all of them; a middle threshold is far from both
                # classes
                ties = np.flatnonzero(errors == mistakes)  # the tightest, or the middle threshold
                chosen = ties[widths[ties].argmin() if self.intervals else ties.size // 2]
                best = Band(j, float(ends[low[chosen]]), float(ends[high[chosen]]))
        return SearchResult(best, mistakes, survivors)

    def _ends(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the indices of the ends of every band; 0 is -∞, the last is ∞."""
        last = len(self.grid) + 1
        if self.intervals:
            return np.triu_indices(last + 1, 1)
        cuts = np.arange(1, last)
        low = np.concatenate([np.zeros_like(cuts), cuts, [0]])
        return low, np.concatenate([cuts, np.full_like(cuts, last), [last]])


@dataclass(frozen=True)
class Listed(FiniteClass):
    """Functions of rows, each giving a number per row that is above 0 for +1."""

    functions: Sequence[Callable[..., Any]]

    def size(self, features: int) -> int:
        return len(self.functions)

    def search(self, X: Values, signs: Signs) -> SearchResult:
        """Evaluate all functions; the first wins a tie."""
        sample, rules = unlabelled(ArrayTable(X)), []
        for number, function in enumerate(self.functions, 1):
            name = getattr(function, "__name__", "<lambda>")
            rules.append(Function(function, f"hypothesis {number}" if name == "<lambda>" else name))
        errors = [int((rule.answers(sample) != signs).sum()) for rule in rules]
        fewest = min(errors)
        return SearchResult(rules[errors.index(fewest)], fewest, errors.count(0))


MAX_FEATURES_TO_COUNT = 12
"""Maximum number n of Boolean features whose 3^n conjunctions, half a million, are counted."""

WideSigns = NDArray[np.int64]
"""Signs whose sums do not overflow."""
States = NDArray[np.intp]
"""For every feature: 0 or 1 if the conjunction requires that bit, 2 if it does not test it."""


@dataclass(frozen=True)
class Literals(Rule):
    """A conjunction or disjunction of tests: a feature, a value, and whether they must be equal.

    ``tests`` is None for all possible tests, which contradict each other: all of them never hold,
    any of them always does.
    """

    tag: ClassVar[str] = "literals"

    tests: tuple[tuple[int, float, bool], ...] | None
    every: bool = True
    sign: int = 1

    def answers(self, sample: Sample) -> Answers:
        holds = np.full(sample.n_rows, self.every == (self.tests is not None))
        for j, value, equal in self.tests or ():
            test = (sample.table.block(j, j + 1)[:, 0] == value) == equal
            holds = holds & test if self.every else holds | test
        return answers_by_side(holds, self.sign)

    def negated(self) -> Literals:
        return replace(self, sign=-self.sign)

    def words(self, names: Names) -> str:
        """Return the tests; a feature that equals 1 is simply true.

        >>> Literals(((0, 1.0, True), (2, 1.0, False))).words(Names())
        'x0 and not x2 → +, else −'
        """
        yes, no = names.answer(self.sign), names.answer(-self.sign)
        if not self.tests:
            return f"always {yes if self.every == (self.tests is not None) else no}"
        tests = [_say(names.column(j), value, equal) for j, value, equal in self.tests]
        return f"{' and '.join(tests) if self.every else ' or '.join(tests)} → {yes}, else {no}"


@dataclass(frozen=True)
class Conjunctions(FiniteClass):
    """All 3^n conjunctions of literals of n two-valued features, and the one that never holds.

    A consistent one is found by elimination: start with every literal and drop those that a
    positive row contradicts. Disjunctions (``every=False``) are conjunctions of the negated
    literals, with the labels turned round.
    """

    every: bool = True

    def size(self, features: int) -> int:
        return int(3**features + 1)

    def search(self, X: Values, signs: Signs) -> SearchResult:
        low, high = X.min(axis=0), X.max(axis=0)
        third = np.flatnonzero(((low != X) & (high != X)).any(axis=0))
        if third.size:
            raise DataError(
                f"column {third[0]} has more than two values; conjunctions and disjunctions need "
                "features with two. Give features such as X > cut, or use thresholds"
            )
        # a feature with a single value 0 is false everywhere, not true
        values = np.where((low == high) & (high == 0), 1.0, high)  # the values that count as true
        bits, labels = np.asarray(values == X), signs.astype(np.int64) * (1 if self.every else -1)
        is_countable = X.shape[1] <= MAX_FEATURES_TO_COUNT
        states, mistakes, survivors = (_count if is_countable else _eliminate)(bits, labels)
        tests = (
            None
            if states is None
            else tuple(
                (int(j), float(values[j]), bool(states[j] == 1) == self.every)
                for j in np.flatnonzero(states < 2)
            )
        )
        return SearchResult(Literals(tests, self.every), mistakes, survivors)


def _count(bits: NDArray[np.bool_], signs: WideSigns) -> tuple[States | None, int, int]:
    """Count the mistakes of all 3^n conjunctions; a bit without a test sums over its values."""
    n = bits.shape[1]
    places = 3 ** np.arange(n)[::-1]
    covered = np.zeros(3**n, dtype=np.int64)
    np.add.at(covered, bits @ places, signs)
    for place in places:
        cube = covered.reshape(-1, 3, place)
        cube[:, 2] = cube[:, 0] + cube[:, 1]
    positive = int((signs > 0).sum())
    errors = positive - covered
    survivors = int((errors == 0).sum()) + int(positive == 0)
    fewest = int(errors.min())
    if positive <= fewest:
        return None, positive, survivors
    ties = np.flatnonzero(errors == fewest)[:, None] // places % 3
    return ties[(ties == 2).sum(axis=1).argmin()], fewest, survivors


def _eliminate(bits: NDArray[np.bool_], signs: WideSigns) -> tuple[States | None, int, None]:
    """Keep every literal that all positive rows share."""
    positive = bits[signs > 0]
    if not len(positive):
        return None, 0, None
    shared = np.where(positive.all(axis=0), 1, np.where((~positive).all(axis=0), 0, 2))
    starts = [shared.astype(np.intp), np.full(bits.shape[1], 2, dtype=np.intp)]
    start = min(starts, key=lambda states: _errors(bits, signs, states))
    states, fewest = _climb(bits, signs, start)
    return (states, fewest, None) if fewest < len(positive) else (None, len(positive), None)


def _climb(bits: NDArray[np.bool_], signs: WideSigns, states: States) -> tuple[States, int]:
    """Change one literal at a time while that reduces the mistakes.

    Finding the fewest mistakes is NP-hard here; the bounds hold for every result.
    """
    states, errors = states.copy(), _errors(bits, signs, states)
    while True:
        against = (states < 2) & (bits != (states == 1))
        alone = against.sum(axis=1, keepdims=True) - against == 0  # all other literals hold
        gains = np.stack([signs @ (alone & ~bits), signs @ (alone & bits), signs @ alone])
        fewest = int((signs > 0).sum() - gains.max())
        if fewest >= errors:
            return states, errors
        state, j = np.unravel_index(gains.argmax(), gains.shape)
        states[j], errors = state, fewest


def _errors(bits: NDArray[np.bool_], signs: WideSigns, states: States) -> int:
    holds = ((states == 2) | (bits == (states == 1))).all(axis=1)
    return int((holds != (signs > 0)).sum())


def _say(column: str, value: float, equal: bool) -> str:
    if value == 1:
        return column if equal else f"not {column}"
    return f"{column} {'=' if equal else '≠'} {value:.6g}"
