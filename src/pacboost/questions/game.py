"""Can this learner be boosted on these rows, and by how much? The value of their game.

By the minimax theorem the largest edge that the learner has under every distribution over the rows
is the largest least margin of a vote: both are the value v of one game. v > 0 if and only if some
vote has no mistake (docs/proofs/game.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import ParameterError
from pacboost.hypotheses.vote import Vote
from pacboost.learners.choose import as_learner
from pacboost.numerics.checks import positive_whole
from pacboost.numerics.same_bits import exp
from pacboost.numerics.same_bits import total as sum_of
from pacboost.questions.capped_game import CappedGame, above, at_least, at_most, below, simplest
from pacboost.questions.two_classes import whole_sample

Doubles = NDArray[np.float64]
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
    if not 0 < float(tolerance) < 1:
        raise ParameterError(f"tolerance is {tolerance!r}; it must lie between 0 and 1")
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
