"""Can this learner be boosted on these rows, and by how much? The value of their game.

By the minimax theorem the largest edge that the learner has under every distribution over the rows
is the largest least margin of a vote: both are the value v of one game. v > 0 if and only if some
vote has no mistake (docs/proofs/game.md).
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
from pacboost.hypotheses.vote import Vote
from pacboost.learners.choose import as_learner
from pacboost.learners.learner import Learner
from pacboost.learners.stump import Stump, StumpSearch
from pacboost.numerics.checks import positive_whole, probability, whole
from pacboost.numerics.same_bits import exp
from pacboost.numerics.same_bits import total as sum_of
from pacboost.questions.mistakes import whole_sample
from pacboost.samples.sample import Sample
from pacboost.sources.explained_errors import explains_input

# The game between rows and rules: its value, with two ends that hold whenever the search stops.
#
# The row player chooses weights D ≥ 0 of sum 1, none above 1/(share·m); the rule player a mixture w
# of rules. D pays w the mean of y_i h_q(x_i) over both. For any D and w,
#
#     least mean margin of w on such weights  ≤  value  ≤  largest edge of any rule under D,
#
# so a pair (D, w) brackets the value (docs/proofs/game.md). The search adds, in each round, the
# rule that the learner finds under the best D against the rules so far, until the two ends meet.
# Both are computed in whole numbers: no error of the linear program can make an end false.

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
        self.seed = whole("seed", self.seed)
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
        allowed = int(whole.max()) * Fraction(self.share) * whole.size <= int(whole.sum())
        if allowed and (end < self.upper or not self.weights.size):
            self.upper, self.weights = end, whole
        return float(end)

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

    >>> from pacboost.questions.mistakes import whole_sample
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
    """Return small whole weights in the same proportion up to 1e-7; the weights, if none are found.

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
    """Return a float that is not above a fraction."""
    near = float(end)
    return near if Fraction(near) <= end else math.nextafter(near, -math.inf)


def above(end: Fraction) -> float:
    """Return a float that is not below a fraction."""
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
    """Return the least mean of margins under weights of at most 1/(share·rows), as a fraction.

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
    """Return the best weights of rows, the best mixture of rules, and the value of their game."""
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


NEAR_TIES = 2.0**-29
"""A stump that is found may lack this of the largest edge: near ties go to the first."""
USUAL_BINS = 255
"""How many bins estimators have unless told otherwise."""


@dataclass(frozen=True, eq=False)
class HedgePath:
    """Hedge against the learner: after t rounds, the ends that the rounds so far prove."""

    lower: Doubles
    """The least margin of the plain mean of the rules of rounds 1 to t."""
    upper: Doubles
    """The least edge of rounds 1 to t."""
    bound: float
    """√(2 ln m/T): after the last round the ends are no further apart."""


@dataclass(frozen=True, eq=False)
class Game:
    """The value of the game between rows and rules, with both optimal strategies."""

    lower: float
    """A vote of the learner's rules has this margin on every row: always certified."""
    upper: float
    """Under ``weights`` the learner found no larger edge."""
    certified: bool
    """Whether ``upper`` holds for every rule of the class: of stumps, where no two values of a
    column are the same after rounding to 32 bits."""
    vote: Vote
    """The optimal mixture of rules; its votes sum to 1."""
    weights: Doubles
    """The optimal distribution over the rows: the hardest for this learner."""
    path: HedgePath
    rounds: int
    """How many rules the learner was asked for."""
    max_bins: int | None
    """How many bins a column needs so that each value has its own; None if none are read."""
    merged: bool
    """Whether values of a column that differ are in one bin all the same."""

    @property
    def sentence(self) -> str:
        """What the value says of boosting."""
        rows, low, high = self.weights.size, at_least(self.lower), at_most(self.upper)
        found = "" if self.certified else " that the learner found"
        if self.lower > 0:
            return (
                f"This learner can be boosted on these {rows} rows: under every distribution some "
                f"rule has an edge of {low} or more, and under one none{found} has above {high}."
                f"{self._promised_rounds}"
            )
        if self.upper <= 0 and self.certified:
            return (
                f"This learner cannot be boosted to no error on these {rows} rows: under one "
                "distribution over them no rule is better than guessing."
            )
        return (
            f"The value of the game lies between {low} and {high}{found}, so it is not decided "
            f"whether a vote can be right on all {rows} rows; {self._advice}."
        )

    @property
    def _advice(self) -> str:
        if self.merged:
            return (
                "values of a column that differ share a bin, since 32 bits or 65,535 bins do not "
                "tell them apart: subtract the least value of each column"
            )
        return "allow more rounds or a smaller tolerance"

    @property
    def _promised_rounds(self) -> str:
        """How many rounds of AdaBoost suffice, and with which settings."""
        edge = self.lower - NEAR_TIES
        if edge <= 0:
            return ""
        needed = math.ceil(2 * math.log(self.weights.size) / edge**2)
        bins = self.max_bins or 0
        how = f" with max_bins={bins}" if bins > USUAL_BINS else ""
        also = "" if self.certified else ", if the learner finds such rules"
        return f" {needed:,} rounds of AdaBoost{how} or fewer leave no training error{also}."

    def __str__(self) -> str:
        heavy = np.argsort(-self.weights, kind="stable")[:5]
        rows = ", ".join(f"{row} ({self.weights[row]:.3f})" for row in heavy if self.weights[row])
        return f"{self.sentence}\nThe rows that decide: {rows}."


@explains_input
def game(
    learner: Any,
    X: Any,
    y: Any,
    *,
    tolerance: float = 1e-6,
    max_rounds: int = 500,
    hedge_rounds: int = 100,
    seed: int = 0,
) -> Game:
    """Compute the value of the game between rows and the rules of a weak learner.

    The two ends hold whenever the search stops; it stops when they are ``tolerance`` apart or after
    ``max_rounds`` linear programs. Stumps are searched exactly, so both ends are certified unless
    values of a column become equal when they are rounded to 32 bits; of other learners the upper
    end speaks of the rules that were found. ``hedge_rounds`` rounds of Hedge come first, and
    ``path`` records how far apart their ends are.

    >>> from pacboost.sources.toy import lecture_points
    >>> found = game("stump", *lecture_points())
    >>> round(found.lower, 4), round(found.upper, 4), found.certified
    (0.3333, 0.3333, True)
    """
    probability("tolerance", tolerance)
    weak = as_learner(learner, "learner")
    sample = whole_sample(weak, X, y)
    match = CappedGame(sample, weak, 0.0, seed)
    path = _hedge(match, positive_whole("hedge_rounds", hedge_rounds))
    for _ in match.rounds(positive_whole("max_rounds", max_rounds)):
        if match.upper - match.lower <= tolerance:
            break
    if match.lower <= 0 < match.upper <= tolerance:  # are they 0, but for the rounding of weights?
        match.ask_whole(simplest(match.weights))
    used = np.flatnonzero(match.votes)
    votes = match.votes[used] / match.votes.sum()
    return Game(
        lower=below(match.lower),
        upper=above(match.upper),
        certified=match.exact,
        vote=Vote([match.rules[q] for q in used], votes),
        weights=match.weights / match.weights.sum(),
        path=path,
        rounds=len(match.rules),
        merged=match.merged,
        max_bins=max(own.size + 1 for own in sample.bins.thresholds) if sample.bins else None,
    )


def _hedge(match: CappedGame, rounds: int) -> HedgePath:
    """Let the rows play Hedge: weights fall by exp(-η) where the rule was right."""
    rows = match.sample.n_rows
    rate = math.sqrt(2 * math.log(rows) / rounds)
    total = np.zeros(rows)
    lower: list[float] = []
    upper: list[float] = []
    for number in range(1, rounds + 1):
        weights = exp(-rate * (total - total.min()))
        edge = match.ask(weights / sum_of(weights))
        total += match.agree[-1]
        lower.append(float(total.min()) / number)
        upper.append(min([edge, *upper[-1:]]))
    match.try_votes(np.ones(rounds))
    return HedgePath(np.array(lower), np.array(upper), math.sqrt(2 * math.log(rows) / rounds))
