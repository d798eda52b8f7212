"""AdaBoost (Freund and Schapire 1997; Schapire and Singer 1999).

A rule of edge r gets the vote

    ½ ln((1 + r)/(1 - r)) = ½ ln((1 - error)/error)

which minimises Z_t = Σ D_t(i) exp(-vote·y_i h(x_i)), and then Z_t = √(1 - r²). Confidence-rated,
each cell of the rule gets a vote ½ ln((W₊ + s)/(W₋ + s)) for the weights of the two signs in it,
and Z_t = 2 Σ √(W₊W₋) except for the smoothing s. A learning rate or a cap changes the votes;
training error ≤ ∏ Z_t holds for any votes, with the Z_t of these votes.

More than two classes, by ``multiclass``:

* "mh": every pair of row and class is a binary problem. Hamming loss ≤ ∏ Z_t, and the error of the
  class with the largest score is at most (K/2) ∏ Z_t.
* "m1": a rule predicts a class and is right or wrong; error ≤ ∏ Z_t, but it needs errors below 1/2.
* "samme" (Zhu et al. 2009): as "m1" with ½ ln(K - 1) added to votes, so that errors below 1 - 1/K
  suffice.
  Its stage factors bound no training error for K ≥ 3.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from pacboost.boosters.booster import Measured, check_not_negative, check_rate, whole_values
from pacboost.boosters.exponential_weights import ExponentialState, ExponentialWeights
from pacboost.errors import ParameterError, invalid
from pacboost.hypotheses.hypothesis import Cells, CellValues
from pacboost.numerics.exact import MAX_VOTE, round_vote
from pacboost.numerics.same_bits import log
from pacboost.samples.sample import Sums

MULTICLASS_METHODS = ("mh", "m1", "samme")


@dataclass(frozen=True)
class AdaBoost(ExponentialWeights):
    """The rules of AdaBoost; ``learning_rate`` scales votes, ``max_vote`` caps them.

    >>> rules = AdaBoost()
    >>> state = rules.init(np.ones((4, 1), dtype=np.int8), np.ones(1))
    >>> agree = np.array([[1], [1], [1], [-1]], dtype=np.int8)    # error 1/4, edge 1/2
    >>> state = rules.step(state, agree, Measured(total=4, wrong=1))
    >>> round(float(rules.votes(state)[0]), 4)                    # ½ ln 3
    0.5493
    >>> weights = rules.request(state).weights
    >>> (weights[:, 0] / weights.sum()).round(4).tolist()         # the wrong row now weighs half
    [0.1667, 0.1667, 0.1667, 0.5]
    """

    name: ClassVar[str] = "adaboost"
    title: ClassVar[str] = "AdaBoost"
    on_gpu: ClassVar[bool] = True

    learning_rate: float = 1.0
    max_vote: float = MAX_VOTE
    confidence_rated: bool = False
    multiclass: str = "mh"
    smoothing: float = 0.5
    """The s of confidence-rated votes, in rows of mean weight."""
    classes: int = 2
    """The number of classes, which "samme" needs."""

    def __post_init__(self) -> None:
        check_rate("learning_rate", self.learning_rate)
        if not self.max_vote > 0:
            raise invalid("max_vote", self.max_vote, "must be above 0")
        if self.multiclass not in MULTICLASS_METHODS:
            methods = ", ".join(map(repr, MULTICLASS_METHODS))
            raise invalid("multiclass", self.multiclass, f"may be {methods}")
        if self.confidence_rated and self.multiclass != "mh":
            raise ParameterError(
                f"confidence_rated needs a vote for each cell, but multiclass={self.multiclass!r} "
                "has one for each rule; set multiclass='mh'"
            )
        check_not_negative("smoothing", self.smoothing)

    @property
    def plain(self) -> bool:
        return not self.confidence_rated

    @property
    def plain_votes(self) -> bool:
        """False if votes are scaled, capped, confidence-rated or raised by SAMME."""
        raised = self.multiclass == "samme" and self.classes > 2
        return self.plain and self.learning_rate == 1 and self.max_vote >= MAX_VOTE and not raised

    def for_classes(self, count: int) -> AdaBoost:
        return replace(self, classes=max(2, count))

    def vote(self, measured: Measured) -> float:
        addition = 0.5 * math.log(self.classes - 1) if self.multiclass == "samme" else 0.0
        best = self.learning_rate * (measured.best_vote + addition)
        return round_vote(min(best, self.max_vote, MAX_VOTE))

    def values(self, state: ExponentialState, sums: Sums, cells: Cells) -> CellValues:
        if self.plain:
            return np.sign(sums.pulls) * self.vote(Measured.of_signs(sums))
        smooth = self.smoothing * sums.weight / (sums.rows * sums.pulls.shape[1])
        plus = (sums.weights + sums.pulls) / 2 + smooth
        minus = (sums.weights - sums.pulls) / 2 + smooth
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = 0.5 * log(plus / minus)
        votes = np.nan_to_num(logs, nan=0.0, posinf=MAX_VOTE, neginf=-MAX_VOTE)
        cap = min(self.max_vote, MAX_VOTE)
        return whole_values(np.clip(self.learning_rate * votes, -cap, cap))
