"""Kinds of rows: rows that all rules so far treat alike are handled as one.

A rule is right or wrong (or silent) on all rows of a kind, so votes give them one margin and the
evenest weights give them one factor on what they weighed at first. Few rules make few kinds: thirty
stumps distinguish 8,000 of adult's 48,842 rows. Every new rule splits kinds in up to three.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from pacboost.boosters.booster import Agreement
from pacboost.numerics.exact import FRESH_TOTAL
from pacboost.numerics.same_bits import total
from pacboost.numerics.sifting import Balance
from pacboost.numerics.soft_margin import Columns, Floats, margins_of, whole_votes, whole_weights
from pacboost.samples.sample import Signs

LARGEST_FACTOR = 2.0**7
"""Scores of more would make probabilities that no double holds."""
MOST_BASE = 2.0**26
"""What base weights may sum to, so that whole weights are fine enough."""


@dataclass(frozen=True, eq=False)
class CorrectiveState:
    """Rules over kinds of rows with votes and weights, and the margins and weights of rows."""

    signs: Signs
    first: Floats
    """D_1 of every row and output, flat and not normalised."""
    kinds: NDArray[np.intp]
    """The kind of each row and output."""
    margins: Floats
    weights: NDArray[np.int64]
    base: Floats = field(default_factory=lambda: np.ones(1))
    """D_1 of every kind."""
    shares: Floats = field(default_factory=lambda: np.ones(1))
    """D of every kind."""
    columns: Columns = field(default_factory=lambda: np.empty((0, 1), dtype=np.int8))
    votes: Floats = field(default_factory=lambda: np.empty(0))
    """The votes, which sum to 1."""
    share: float = 0.0
    """The share of the worst rows whose mean margin counts."""
    strength: float = 0.0
    """The factor of votes in the weights, where it changes every round."""
    reach: float = 0.0
    """How far below the least edge all edges are brought, where that distance changes."""
    balanced: Balance | None = None
    """The last solution, of boosters that solve linear programs."""
    least: float = 1.0
    """The least edge of all rounds."""
    gap: float = np.inf
    """The least edge minus the margin."""
    factor: float = 1.0
    """The factor that turns votes of sum 1 into the votes of the classifier."""
    cast: list[Floats] = field(default_factory=list)
    """The votes as they were after each round."""


def one_kind(signs: Signs, base: Floats) -> CorrectiveState:
    """Start without rules.

    Small base weights are multiplied by a power of 2. Those that are whole stay so, and a row of
    weight 3 is three rows of weight 1, to the last bit.
    """
    first = np.repeat(np.broadcast_to(base, signs.shape[:1]), signs.shape[1])
    first = np.maximum(first, total(first) / FRESH_TOTAL)
    low, high = math.log2(float(first.min())), math.log2(total(first) / MOST_BASE)
    first = first * 2.0 ** -max(min(math.floor(low), 0), math.ceil(high))
    state = CorrectiveState(
        signs=signs,
        first=first,
        kinds=np.zeros(first.size, dtype=np.intp),
        margins=np.zeros(signs.shape),
        weights=np.empty(signs.shape, dtype=np.int64),
    )
    weigh_rows(state)
    return state


def split_by_rule(state: CorrectiveState, agree: Agreement) -> CorrectiveState:
    """Add a rule, with vote 0 unless it is the first, and split kinds and their weights by it."""
    keys = 3 * state.kinds + (agree.reshape(-1) + 1)
    found = np.flatnonzero(np.bincount(keys, minlength=3 * state.base.size))
    parent, value = found // 3, (found % 3 - 1).astype(np.int8)
    number = np.zeros(3 * state.base.size, dtype=np.intp)
    number[found] = np.arange(found.size)
    kinds = number[keys]
    base: Floats = np.bincount(kinds, weights=state.first) / total(state.first)
    part = base / state.base[parent]
    balanced = state.balanced
    if balanced is not None:
        weights = whole_weights(balanced.weights[parent] * part)
        balanced = Balance(np.append(balanced.votes, 0.0), weights, np.inf)
    return replace(
        state,
        kinds=kinds,
        base=base,
        shares=whole_weights(state.shares[parent] * part),
        columns=np.concatenate([state.columns[:, parent], value[None]]),
        votes=np.append(state.votes, 0.0 if state.votes.size else 1.0),
        balanced=balanced,
    )


def cast_votes(state: CorrectiveState) -> CorrectiveState:
    """Multiply the votes by their factor, and compute margins and weights of the rows."""
    votes = whole_votes(state.factor * state.votes)
    state.cast.append(votes)
    state.margins[:] = margins_of(state.columns, votes)[state.kinds].reshape(state.margins.shape)
    weigh_rows(state)
    return state


def weigh_rows(state: CorrectiveState) -> None:
    """Round the weights to integers of at least 1.

    An error of 0 then means that a rule has no mistakes, not only where weights are.
    """
    whole = np.rint(FRESH_TOTAL / total(state.first) * state.shares / state.base)
    weights = np.rint(np.maximum(whole, 1.0)[state.kinds] * state.first)
    state.weights[:] = np.maximum(weights, 1.0).reshape(state.weights.shape)


def best_factor(margins: Floats, base: Floats) -> float:
    """Find the factor of the margins that minimises the mean of max(0, 1 - margin).

    The slope is minus the sum of base·margin over margins below 1/factor. From below, that sum is
    negative at first and then grows; where it comes to 0 is the best 1/factor.

    >>> best_factor(np.array([-0.2, 0.1, 0.4, 0.8]), np.full(4, 0.25))      # -0.2 + 0.1 + 0.4 > 0
    2.5
    """
    order = np.argsort(margins, kind="stable")
    enough = (np.cumsum((base * margins)[order]) >= 0) & (margins[order] > 0)
    if not enough.any():
        return 1.0
    return min(1 / float(margins[order[int(enough.argmax())]]), LARGEST_FACTOR)
