"""The game between rows and rules: its value, with two ends that hold whenever the search stops.

The row player chooses weights D ≥ 0 of sum 1, none above 1/(share·m); the rule player a mixture w
of rules. D pays w the mean of y_i h_q(x_i) over both. For any D and w,

    least mean margin of w on such weights  ≤  value  ≤  largest edge of any rule under D,

so a pair (D, w) brackets the value (docs/proofs/game.md). The search adds, in each round, the rule
that the learner finds under the best D against the rules so far, until the two ends meet. Both are
computed in whole numbers: no error of the linear program can make an end false.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from pacboost.errors import ParameterError
from pacboost.hypotheses.hypothesis import Rule
from pacboost.learners.learner import Learner
from pacboost.learners.stump import Stump, StumpSearch
from pacboost.samples.sample import Sample

Doubles = NDArray[np.float64]
Wholes = NDArray[np.int64]
UNITS = 2**40
"""Weights and votes are rounded to multiples of 1/UNITS."""


@dataclass(eq=False)
class CappedGame:
    """A game on one sample, with the rules that were found so far."""

    sample: Sample
    learner: Learner
    share: float
    """No weight exceeds 1/(share·rows); 0 for no cap."""
    seed: int = 0
    rules: list[Rule] = field(default_factory=list)
    agree: list[NDArray[np.int8]] = field(default_factory=list)
    lower: Fraction = Fraction(-1)
    upper: Fraction = Fraction(1)
    votes: Wholes = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    """The best mixture so far, in whole units, for the first rules."""
    weights: Wholes = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    """The best weights so far, in whole units."""

    def __post_init__(self) -> None:
        self._search = self.learner.on(self.sample)
        stumps = isinstance(self.learner, Stump) and self.learner.finds_rules(self.sample)
        self.merged = stumps and not keeps_values(self.sample)
        """Whether different values of a column are in one bin, so that not all stumps are tried."""
        self.exact = stumps and not self.merged
        """Whether the largest edge of all stumps is known under any weights."""

    def ask(self, weights: Doubles) -> float:
        """Ask for a rule under weights, keep it, and give its edge; the upper end may fall."""
        return self.ask_whole(np.maximum(np.floor(weights * UNITS), 0).astype(np.int64))

    def ask_whole(self, whole: Wholes) -> float:
        """Do the same for weights in whole units."""
        self.seed += 1
        rule = self._search.find(whole, self.sample.signs[:, 0], self.seed)
        if not isinstance(rule, Rule):
            raise ParameterError(
                f"the learner {self.learner.name} found a rule that does not answer -1 or +1; the "
                "game is between rows and such rules, for example stumps"
            )
        agree = rule.agreement(self.sample)
        gained = int((whole * agree).sum())
        if gained < 0:
            rule, agree, gained = rule.negated(), -agree, -gained
        self.rules.append(rule)
        self.agree.append(agree)
        largest = gained
        if self.exact and isinstance(self._search, StumpSearch):
            largest = self._search.largest_edge(whole, self.sample.signs[:, 0])
        end = Fraction(largest, int(whole.sum()))
        if self._allowed(whole) and (end < self.upper or not self.weights.size):
            self.upper, self.weights = end, whole
        return float(end)

    def _allowed(self, whole: Wholes) -> bool:
        """Tell whether weights keep to the cap, in whole numbers."""
        return int(whole.max()) * Fraction(self.share) * whole.size <= int(whole.sum())

    def try_votes(self, votes: Doubles) -> None:
        """Measure a mixture of the first rules; the lower end may rise."""
        whole = np.floor(votes / votes.sum() * UNITS).astype(np.int64)
        margins = np.zeros(self.sample.n_rows, dtype=np.int64)
        for cast, agree in zip(whole, self.agree, strict=False):
            if cast:
                margins += cast * agree
        end = worst_mean(margins, self.share) / int(whole.sum())
        if end > self.lower or not self.votes.size:
            self.lower, self.votes = end, whole

    def rounds(self, most: int) -> Iterator[None]:
        """Solve the game of the rules so far, and ask the learner for an answer to it."""
        if not self.rules:
            self.ask(np.full(self.sample.n_rows, 1 / self.sample.n_rows))
        for _ in range(most):
            weights, votes, value = solve(np.array(self.agree), self.share)
            self.try_votes(votes)
            better = self.ask(weights) > value + 1e-11
            yield
            if not better:
                return


def keeps_values(sample: Sample) -> bool:
    """Check whether every two values of a column are in different bins.

    Bins are of numbers of 32 bits, and there are at most 65,535 of a column.

    >>> from pacboost.questions.two_classes import whole_sample
    >>> keeps_values(whole_sample(Stump(), [[1.0], [2.0]], [0, 1]))
    True
    >>> keeps_values(whole_sample(Stump(), [[1.7e9], [1.7e9 + 10]], [0, 1]))
    False
    """
    cuts = () if sample.bins is None else sample.bins.thresholds
    columns = (sample.table.block(j, j + 1)[:, 0] for j in range(len(cuts)))
    counts = (np.unique(column[~np.isnan(column)]).size for column in columns)
    return all(count <= own.size + 1 for count, own in zip(counts, cuts, strict=True))


def simplest(weights: Wholes) -> Wholes:
    """Give small whole weights in the same proportion up to 1e-7; the weights, if none are found.

    >>> simplest(np.array([2**40 // 3, 0, 2**41 // 3])).tolist()
    [1, 0, 2]
    """
    shares = weights / weights.max()
    for most in range(1, 10_000):
        whole = np.rint(most * shares)
        if np.abs(whole - most * shares).max() <= 1e-7 * most:
            return np.asarray(whole, dtype=np.int64)
    return weights


def below(end: Fraction) -> float:
    """Give a float that is not above a fraction."""
    near = float(end)
    return near if Fraction(near) <= end else math.nextafter(near, -math.inf)


def above(end: Fraction) -> float:
    """Give a float that is not below a fraction."""
    return 0.0 - below(-end)


def at_least(end: float) -> str:
    """Write a lower end in four decimals, or in two digits where it is smaller, rounded down.

    >>> at_least(0.12349), at_most(0.12341), at_least(2.66e-8), at_most(2.61e-8)
    ('0.1234', '0.1235', '2.6E-8', '2.7E-8')
    """
    return _written(end, ROUND_FLOOR)


def at_most(end: float) -> str:
    """Write an upper end like this, rounded up."""
    return _written(end, ROUND_CEILING)


def _written(end: float, rounding: str) -> str:
    exact = Decimal(end)
    places = min(-4, exact.adjusted() - 1) if exact and abs(end) < 1e-3 else -4
    return str(exact.quantize(Decimal(1).scaleb(places), rounding))


def worst_mean(margins: Wholes, share: float) -> Fraction:
    """Give the least mean of margins under weights of at most 1/(share·rows), as a fraction.

    >>> worst_mean(np.array([3, 1, 2]), 0.0), worst_mean(np.array([3, 1, 2]), 0.5)
    (Fraction(1, 1), Fraction(4, 3))
    """
    order = np.sort(margins)
    count = Fraction(share) * margins.size
    if count <= 1:
        return Fraction(int(order[0]))
    full = math.floor(count)
    total = Fraction(int(order[:full].sum()))
    if full < order.size:
        total += (count - full) * int(order[full])
    return total / count


def solve(agree: NDArray[np.int8], share: float) -> tuple[Doubles, Doubles, float]:
    """Give the best weights of rows, the best mixture of rules, and the value of their game."""
    rules, rows = agree.shape
    # A little more spread than allowed, so that rounding to whole numbers keeps to the cap.
    cap = min(1.0, (1 - 1e-9) / (share * rows)) if share > 0 else 1.0
    cost = np.zeros(rows + 1)
    cost[-1] = 1.0
    edges = np.hstack([agree.astype(np.float64), -np.ones((rules, 1))])
    whole = np.append(np.ones(rows), 0.0)[None]
    bounds = [(0.0, cap)] * rows + [(-1.0, 1.0)]
    found: Any = linprog(cost, edges, np.zeros(rules), whole, [1.0], bounds=bounds, method="highs")
    if found.x is None:
        raise ParameterError(f"the linear program of the game was not solved: {found.message}")
    weights = np.clip(found.x[:-1], 0.0, cap)
    votes = np.maximum(-found.ineqlin.marginals, 0.0)
    if votes.sum() <= 0:
        votes = np.ones(rules)
    return weights / weights.sum(), votes / votes.sum(), float(found.fun)
