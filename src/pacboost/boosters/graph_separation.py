"""Graph-separation boosting (Alon, Gonen, Hazan and Moran 2021): rounds by 1/edge, not 1/edge².

The pattern of a row is the answers of all rules so far. Join every two rows that have the same
pattern and opposite signs; the weight of a row is the number of rows joined to it, and 0 once all
rows of its pattern have its sign. A rule of edge r is right on 1 + r of the two ends of such a pair
on average, and so separates at least a share r of all pairs:

    remaining pairs after T rounds ≤ (n²/4)·∏(1 - r_t),       none if Σ r_t > ln(n²/4).

The final classifier is not a vote but a table from patterns to signs (hypotheses/pattern.py); a
plain vote cannot succeed with so few rounds. With weights W₊ and W₋ of the signs in its
pattern a row has the margin y·(W₊ - W₋)/(W₊ + W₋), and training error ≤ mean of (1 - margin).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pacboost.boosters.booster import Agreement, Floats, Measured, Moved, RevisingBooster
from pacboost.errors import ParameterError
from pacboost.hypotheses.hypothesis import Cells, CellValues, Hypothesis
from pacboost.hypotheses.pattern import Pattern, answers_of
from pacboost.hypotheses.vote import Vote
from pacboost.numerics.exact import in_units_of_least, whole_scale
from pacboost.numerics.same_bits import total
from pacboost.samples.sample import Request, Signs, Sums


@dataclass(frozen=True, eq=False)
class PairState:
    """The pattern of every row, as a number, and the remaining pairs."""

    signs: Signs
    base: Floats
    """Base weights, divided by the smallest."""
    patterns: NDArray[np.int64]
    margins: Floats
    weights: NDArray[np.int64]
    total: int = 0
    pairs: float = 0.0
    """The weight of the remaining pairs, each the product of the weights of its two rows."""
    answers: list[Signs] = field(default_factory=list)

    @property
    def cast(self) -> list[float]:
        """A vote of 1 for every rule: each rule adds one column to the table."""
        return [1.0] * len(self.answers)


@dataclass(frozen=True)
class GraphSeparation(RevisingBooster[PairState]):
    """Separate all pairs of rows of different classes."""

    name: ClassVar[str] = "graph_separation"
    potential: ClassVar[str] = "hinge"
    multiclass: ClassVar[str] = "two"

    plain: ClassVar[bool] = True

    def init(self, signs: Signs, base: Floats, targets: Floats | None = None) -> PairState:
        if signs.shape[1] > 1:
            raise ParameterError(
                "Only binary classification is supported. The type of the target is multiclass: "
                f"graph_separation is for two classes, but there are {signs.shape[1]}; use another "
                "booster, or scikit-learn's OneVsRestClassifier"
            )
        patterns = np.zeros(len(signs), dtype=np.int64)
        weights = np.empty(signs.shape, dtype=np.int64)
        state = PairState(signs, in_units_of_least(base), patterns, np.zeros(signs.shape), weights)
        return replace(with_weights(state), margins=np.zeros(signs.shape))

    def request(self, state: PairState) -> Request:
        return Request(state.weights, state.signs, state.total, state.total, "error")

    def values(self, state: PairState, sums: Sums, cells: Cells) -> CellValues:
        return answers_of(sums.pulls).astype(np.float64)

    def step(self, state: PairState, agree: Agreement, measured: Measured) -> PairState:
        return split_patterns(state, agree * state.signs)

    def move(self, state: PairState, moved: Moved) -> PairState:
        return split_patterns(state, answers_of(moved.values)[moved.cells])

    def recall(self, state: PairState, agree: Agreement, memory: list[float]) -> PairState:
        return split_patterns(state, agree * state.signs)

    def resume(
        self, state: PairState, margins: Floats, votes: Sequence[float], memory: list[float]
    ) -> PairState:
        return state

    def costs(self, margins: Floats, rounds: int) -> Floats:
        return 1 - margins

    def final(self, state: PairState, rules: Sequence[Hypothesis], outputs: int) -> Vote:
        """Return the table from patterns to signs, as the only rule of a vote."""
        if not rules:
            return Vote(rules, np.ones(0))
        answers = np.stack(state.answers[: len(rules)])
        return Vote([Pattern.of(rules, answers, state.signs[:, 0], state.base)], np.ones(1))

    def stop(self, state: PairState) -> str | None:
        return None if state.pairs > 0 else "no pattern holds rows of both classes any more"


def split_patterns(state: PairState, column: Signs) -> PairState:
    """Split all patterns by the answers of a rule, (rows, 1)."""
    state.answers.append(np.ascontiguousarray(column[:, 0]))
    # patterns are renumbered every round, or k rules would need 2^k numbers
    doubled = 2 * state.patterns + (column[:, 0] > 0)
    numbers = np.cumsum(np.bincount(doubled) > 0) - 1  # consecutive numbers
    return with_weights(replace(state, patterns=numbers[doubled]))


def with_weights(state: PairState) -> PairState:
    """Return the state with the weights and margins that follow from its patterns."""
    positive = state.signs[:, 0] > 0
    shares = np.broadcast_to(state.base, positive.shape)
    plus = np.bincount(state.patterns, shares * positive)
    minus = np.bincount(state.patterns, shares * ~positive)
    other = np.where(positive, minus[state.patterns], plus[state.patterns])
    pairs = total(plus * minus)
    scale = whole_scale(2 * pairs) if pairs > 0 else 0.0
    # rows of pure patterns separate no pair, and keep one unit for an error of 0 to mean none
    state.weights[:, 0] = np.maximum(np.rint(shares * np.maximum(other * scale, 1)), 1)
    scores: Floats = ((plus - minus) / (plus + minus))[state.patterns, None]
    margins = np.where(state.signs > 0, scores, -scores)
    return replace(state, margins=margins, total=int(state.weights.sum()), pairs=pairs)
