"""Votes that aim at a margin: what AdaBoostV and ArcGV share.

AdaBoost lowers the mean of exp(-y·F), which makes margins positive but not as large as they can be.
A vote that aims at a normalised margin ρ lowers the mean of exp(ρ·‖votes‖₁ - y·F) instead. A rule
of edge r > ρ then gets

    vote = ½ ln((1 + r)/(1 - r)) - ½ ln((1 + ρ)/(1 - ρ))

and multiplies that mean by exp(-kl), kl the relative entropy of coins with (1 + ρ)/2 and (1 + r)/2
heads, at least (r - ρ)²/2. So with n rows (1 over the least share, if rows have weights)

    least margin ≥ (Σ ρ_t·vote_t + Σ kl_t - ln n) / Σ vote_t,

for any goals ρ_t < r_t; once Σ kl_t ≥ ln n the least margin is no less than the least goal. No vote
has a larger margin than the edge of the best rule under any weights. So where the learner finds the
best rule, the least edge so far, minus the margin, is how much any vote could be better.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from pacboost.boosters.adaboost import ExponentialState, ExponentialWeights
from pacboost.boosters.booster import Agreement, Floats, Measured, Moved, edge_of
from pacboost.errors import ParameterError
from pacboost.hypotheses.hypothesis import Cells, CellValues
from pacboost.numerics.exact import MAX_VOTE, round_vote
from pacboost.samples.sample import Signs, Sums


class MarginGoal(ExponentialWeights):
    """ExponentialWeights weights with votes that aim at a margin.

    The ``extra`` of a state is (least edge so far, ‖votes‖₁).
    """

    tolerance: float

    def __post_init__(self) -> None:
        if not 0 < self.tolerance < 1:
            raise ParameterError(
                f"tolerance is {self.tolerance}; it is a difference of margins, and lies between "
                "0 and 1"
            )

    plain: ClassVar[bool] = True

    def share_of(self, state: ExponentialState) -> float:
        return 0.0

    def init(self, signs: Signs, base: Floats, targets: Floats | None = None) -> ExponentialState:
        return replace(super().init(signs, base, targets), extra=(1.0, 0.0))

    @abstractmethod
    def goal(self, state: ExponentialState, edge: float) -> float:
        """Return ρ for a rule of this edge, in (-1, 1)."""

    def vote_at(self, state: ExponentialState, edge: float) -> float:
        """Return the vote of the module docstring; 0 to a rule whose edge is not above the goal."""
        own = math.atanh(edge) if edge < 1 else MAX_VOTE
        return round_vote(max(0.0, min(own, MAX_VOTE) - math.atanh(self.goal(state, edge))))

    def step(self, state: ExponentialState, agree: Agreement, found: Measured) -> ExponentialState:
        vote = self.vote_at(state, found.edge)
        return self._noted(self._cast(state, agree, vote, found.error), found.edge, vote)

    def values(self, state: ExponentialState, sums: Sums, cells: Cells) -> CellValues:
        edge = int(np.abs(sums.pulls).sum()) / sums.weight
        return np.sign(sums.pulls) * self.vote_at(state, edge)

    def move(self, state: ExponentialState, moved: Moved) -> ExponentialState:
        edge = edge_of(self.request(state), moved)
        return self._noted(super().move(state, moved), edge, float(np.abs(moved.values).max()))

    def _noted(self, state: ExponentialState, edge: float, vote: float) -> ExponentialState:
        least, norm = state.extra
        return replace(state, extra=(min(least, edge), norm + vote))

    def margin(self, state: ExponentialState) -> float:
        """Return the least normalised margin of the vote so far; 0 before the first round."""
        norm = state.extra[1]
        return float(state.margins.min()) / norm if norm > 0 else 0.0

    def stop(self, state: ExponentialState) -> str | None:
        margin, least = self.margin(state), state.extra[0]
        if margin < least - self.tolerance:
            return None
        return (
            f"the margin is {margin:.4g}, and no vote's can exceed {least:.4g}, the least edge, if "
            "the learner found the best rules"
        )


# AdaBoostV, or AdaBoost* (Rätsch and Warmuth 2005): the largest margin, within a tolerance.
#
# It aims at ρ_t = (least edge so far) - ν. Every edge exceeds its goal by ν or more, so each round
# gains at least ν²/2 (boosters/maximal_margin.py), and no goal is below (least edge) - ν. After
#
#     T ≥ 2 ln(n)/ν²  rounds:       least margin ≥ (least edge) - ν
#
# on n rows of equal weight. If the learner returned a rule with the largest edge in every round, no
# vote of its rules has a margin ρ* above the least edge, so the margin is at least ρ* - ν. Neither
# ρ* nor the edges need to be known before. The run stops as soon as the margin is that large, which
# is mostly long before (docs/proofs/margins.md, theorem 7.2).


@dataclass(frozen=True)
class AdaBoostV(MarginGoal):
    """The rules of AdaBoostV; ``tolerance`` is ν.

    >>> rules = AdaBoostV(tolerance=0.1)
    >>> round(rules.most_rounds(1000))                        # 2 ln(1000)/0.01
    1382
    >>> import numpy as np
    >>> state = rules.init(np.ones((4, 1), dtype=np.int8), np.ones(1))
    >>> round(rules.vote_at(state, edge=0.5), 4)              # ½ ln 3 - ½ ln(1.4/0.6)
    0.1257
    """

    name: ClassVar[str] = "adaboost_v"
    title: ClassVar[str] = "AdaBoostV"

    tolerance: float = 0.1

    def goal(self, state: ExponentialState, edge: float) -> float:
        return min(state.extra[0], edge) - self.tolerance

    def most_rounds(self, rows: int) -> float:
        """Bound the rounds to a margin within the tolerance, for so many rows of equal weight."""
        return 2 * math.log(rows) / self.tolerance**2


# ArcGV (Breiman 1999): the margin that has been reached is the goal of the next vote.
#
# It aims at ρ_t = the least normalised margin of the vote so far, or 0 while that is negative:
# until all rows are right, it is AdaBoost. After every round
#
#     least margin ≥ (Σ ρ_t·vote_t + Σ kl_t - ln n) / Σ vote_t        (boosters/maximal_margin.py).
#
# If all edges are at least γ > 0, the margin comes as near to γ as one likes. If the learner
# returns a rule with the largest edge in every round and some vote is right on all rows, the margin
# tends to the largest there is (docs/proofs/margins.md, theorem 7.3). Nothing has to be chosen
# before, but no number of rounds is promised, as it is for AdaBoostV.


@dataclass(frozen=True)
class ArcGV(MarginGoal):
    """The rules of ArcGV; it stops within ``tolerance`` of the largest margin.

    >>> import numpy as np
    >>> from pacboost.boosters.booster import Measured
    >>> rules = ArcGV()
    >>> state = rules.init(np.ones((3, 1), dtype=np.int8), np.ones(1))
    >>> for wrong in range(3):                               # each rule is wrong on another row
    ...     agree = np.where(np.arange(3) == wrong, np.int8(-1), np.int8(1))[:, None]
    ...     weights = rules.request(state).weights[:, 0]
    ...     found = Measured(int(weights.sum()), int(weights[wrong]))
    ...     state = rules.step(state, agree, found)
    >>> round(rules.margin(state), 4), round(rules.vote_at(state, 0.5), 4)   # ½ ln 3 - atanh 0.0536
    (0.0536, 0.4956)
    """

    name: ClassVar[str] = "arc_gv"
    title: ClassVar[str] = "Arc-gv"

    tolerance: float = 0.01

    def goal(self, state: ExponentialState, edge: float) -> float:
        return max(0.0, self.margin(state))
