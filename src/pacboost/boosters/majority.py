"""Boosting by majority (Freund 1990, 1995): the fewest rounds that a promised edge allows.

Choose the rounds k beforehand, an odd number, and take the majority of the k rules. A row that r of
the first i rules got right is lost with probability

    b_r^i = P[Bin(k - i, p) ≤ ⌊k/2⌋ - r],       p = (1 + edge)/2,

if each of the remaining rules is right with probability p. Its weight is the part of it that the
next rule decides:

    a_r^i = b_r^{i+1} - b_{r+1}^{i+1} = P[Bin(k - i - 1, p) = ⌊k/2⌋ - r].

Rows that are almost lost weigh almost nothing, unlike with AdaBoost. A rule whose edge is r_i
changes the mean of b by (mean of a)·(edge - r_i)/2. So while edges keep the promise, the mean never
rises, and after k rounds it is the error: at most b_0^0 = P[Bin(k, p) ≤ ⌊k/2⌋]. k is the least odd
number for which that is ε or less, so k ≤ max(1, 2 ln(1/ε)/edge²). For the vote of the first i
rules,

    training error ≤ mean of b_r^i / P[Bin(k - i, p) ≤ ⌊(k - i)/2⌋],

for any edges (docs/proofs/majority.md); the run stops as soon as that is ε or less.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr

from pacboost.boosters.booster import Agreement, Floats, Measured, Moved, edge_of
from pacboost.boosters.bounded_weights import (
    BoundedState,
    Promised,
    Weights,
    heaviest,
    round_weights,
)
from pacboost.hypotheses.hypothesis import Cells, CellValues
from pacboost.numerics.exact import in_units_of_least, round_vote, whole_scale
from pacboost.numerics.same_bits import exp, log, log_of, total
from pacboost.samples.sample import Signs, Sums

Wholes = NDArray[np.int64]


def log_heads(coins: int, chance: float) -> Floats:
    """Return ln P[Bin(coins, chance) = j] for j = 0 … coins."""
    j = np.arange(coins + 1.0)
    choices = np.cumsum(log(np.concatenate([[1.0], (coins - j[1:] + 1) / j[1:]])))
    logs: Floats = choices + j * log_of(chance) + (coins - j) * log_of(1 - chance)
    return logs


def losing(k: int, done: int, chance: float, heads: Wholes) -> Floats:
    """Return b_r^i = P[Bin(k - i, chance) ≤ ⌊k/2⌋ - r] for r = ``heads`` of i = ``done`` coins.

    This is the probability of losing a game of k coins, an odd number, that more heads than tails
    win. It never rises with r, not even by rounding."""
    tails = np.minimum(np.cumsum(exp(log_heads(k - done, chance))), 1.0)
    # the sum of all probabilities, whatever rounding made of it
    tails[-1] = 1.0
    missing = k // 2 - heads
    lost: Floats = np.where(missing < 0, 0.0, tails[np.clip(missing, 0, k - done)])
    return lost


def log_deciding(k: int, done: int, chance: float) -> Floats:
    """Return ln a_r^i, a_r^i = P[Bin(k - i - 1, chance) = ⌊k/2⌋ - r], for r = 0 … i.

    This is the probability that the next coin decides the game of ``losing``."""
    logs = np.full(done + 1, -np.inf)
    missing = k // 2 - np.arange(done + 1)
    undecided = (missing >= 0) & (missing < k - done)
    if undecided.any():
        logs[undecided] = log_heads(k - done - 1, chance)[missing[undecided]]
    return logs


def fewest_coins(chance: float, epsilon: float) -> int:
    """Return the least odd k for which P[Bin(k, chance) ≤ ⌊k/2⌋] ≤ epsilon; chance is above 1/2."""
    enough = 1
    while bdtr(enough // 2, enough, chance) > epsilon:
        enough = 2 * enough + 1
    too_few = enough // 2  # the last number that was too small
    # both ends are odd, and so is every middle: an even game could be drawn
    while enough - too_few > 2:
        middle = (too_few + enough) // 4 * 2 + 1
        if bdtr(middle // 2, middle, chance) > epsilon:
            too_few = middle
        else:
            enough = middle
    return enough


@dataclass(frozen=True)
class Majority(Promised):
    """The fewest rounds for a promised edge.

    A state's ``extra`` is (mean of b, the last edge).
    """

    name: ClassVar[str] = "majority"
    title: ClassVar[str] = "Boost by majority"
    potential: ClassVar[str] = "binomial"
    error_factor: ClassVar[float] = 0.0

    @property
    def _right(self) -> float:
        """The probability p that a rule is right."""
        return (1 + self.edge) / 2

    @cached_property
    def rounds(self) -> int:
        return fewest_coins(self._right, self.epsilon)

    @property
    def last_round(self) -> float:
        """The number of rounds k, after which weights are not defined."""
        return self.rounds

    @property
    def rate(self) -> float:
        """The vote of every rule, which is AdaBoost's vote for the promised edge."""
        return round_vote(math.atanh(self.edge))

    def vote(self, measured: Measured) -> float:
        return self.rate

    def most_rounds(self, edge: float, epsilon: float) -> float:
        return self.rounds if edge >= self.edge and epsilon >= self.epsilon else math.inf

    def potentials(self, rounds: int) -> Floats:
        """Return b_r^i after i = ``rounds`` rounds, for r = 0 … i."""
        return losing(self.rounds, rounds, self._right, np.arange(rounds + 1))

    def weights(self, rounds: int) -> Floats:
        """Return a_r^i for the same; all weights are 0 after the last round."""
        return np.asarray(exp(log_deciding(self.rounds, rounds, self._right)))

    def half(self, rounds: int) -> float:
        """Return b_r^i for r = ⌊i/2⌋: half of the rules were right, rounded down."""
        return float(self.potentials(rounds)[rounds // 2])

    def costs(self, margins: Floats, rounds: int) -> Floats:
        """Return b_r^i divided by ``half``: at least 1 where the vote is wrong or tied."""
        return self.potentials(rounds)[self.count(margins, rounds)] / self.half(rounds)

    def chances(self, margins: Floats, rounds: int, signs: Signs | None = None) -> Floats:
        """Return a_r^i divided by the largest of them."""
        weights = self.weights(rounds)
        return heaviest((weights / (weights.max() or 1.0))[self.count(margins, rounds)])

    def coin_below(self, rounds: int) -> float:
        """Return the μ below which a constant rule adds at most ε/2k to the mean of b.

        All such rounds together add at most ε/2, so that the final error is at most 1.5 ε.
        """
        largest = float(self.weights(rounds).max())
        return min(1.0, self.epsilon / (2 * self.rounds * self._right * largest))

    def count(self, margins: Floats, rounds: int) -> Wholes:
        """Return r; for monotone trees, whose values are clipped, a lower bound on r."""
        # margins are multiples of the vote up to rounding, which floor would turn into one less
        right = np.floor((margins / self.rate + rounds) / 2 + 1e-6)
        return np.clip(right, 0, rounds).astype(np.int64)

    def init(self, signs: Signs, base: Floats, targets: Floats | None = None) -> BoundedState:
        """Start with base weights in whole units, so that a row of weight 2 equals two rows."""
        state = super().init(signs, base, targets)
        state = self._weigh(replace(state, base=in_units_of_least(base, signs.shape[1])))
        return replace(state, first=state.total)

    def values(self, state: BoundedState, sums: Sums, cells: Cells) -> CellValues:
        """Return the vote with the sign of the weighted majority of each cell; none abstains."""
        # the theorem counts k answers of every row, so a tied cell answers, too
        return np.where(sums.pulls > 0, self.rate, -self.rate)

    def step(self, state: BoundedState, agree: Agreement, measured: Measured) -> BoundedState:
        return _with_edge(super().step(state, agree, measured), measured.edge)

    def move(self, state: BoundedState, moved: Moved) -> BoundedState:
        edge = edge_of(self.request(state), moved)
        return _with_edge(super().move(state, moved), edge)

    def memory(self, state: BoundedState) -> list[float]:
        """Return the last edge, which may be below the promised one."""
        return [state.extra[-1]]

    def resume(
        self, state: BoundedState, margins: Floats, votes: Sequence[float], memory: list[float]
    ) -> BoundedState:
        """Compute all weights from the margins; newly drawn rows have no edge yet."""
        return _with_edge(super().resume(state, margins, votes, memory), *memory or [1.0])

    def stop(self, state: BoundedState) -> str | None:
        (lost, edge), rounds = state.extra, len(state.cast)
        if lost <= self.epsilon * self.half(rounds):
            of = "" if state.signs.shape[1] == 1 else " of pairs of row and class"
            return f"the training error{of} is at most {self.epsilon:g}, by the mean potential"
        if self.is_promise_broken(state):
            return (
                f"a rule has an edge of {edge:.4g}, less than the promised {self.edge:g}, so that "
                f"the error may come to {lost:.4g}; promise less, or give a richer learner"
            )
        return None if rounds < self.rounds else f"all {rounds} rounds are done"

    def is_promise_broken(self, state: BoundedState) -> bool:
        """Check whether the last edge is below the promised one before the error is reached."""
        (lost, edge), rounds = state.extra, len(state.cast)
        reached = lost <= self.epsilon * self.half(rounds)
        return not reached and edge < self.edge * (1 - 1e-9) and lost > self.epsilon

    def _fill(self, margins: Floats, base: Floats, rounds: int, weights: Weights) -> int:
        raise NotImplementedError("_weigh sets the weights of all rows at once")

    def _weigh(self, state: BoundedState) -> BoundedState:
        rounds, base = len(state.cast), state.base
        right = self.count(state.margins, rounds).reshape(-1)
        masses = np.bincount(right, np.broadcast_to(base, right.shape), rounds + 1)
        logs = log_deciding(self.rounds, rounds, self._right)
        # relative to the largest weight of a row that exists: others may be 10^300 times as large
        top = float(logs[masses > 0].max())
        table = exp(logs - top) if top > -math.inf else np.zeros(rounds + 1)
        table = np.maximum(np.rint(table * whole_scale(total(masses * table) or 1.0)), 1)
        weight = round_weights(base * table[right], state.weights.reshape(-1))
        lost = total(masses * self.potentials(rounds)) / total(masses)
        return replace(state, total=weight, extra=(lost, 1.0))


def _with_edge(state: BoundedState, edge: float) -> BoundedState:
    return replace(state, extra=(state.extra[0], edge))
