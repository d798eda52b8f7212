"""AdaBoostV and ArcGV: votes that aim at a margin; the proofs are in docs/proofs/margins.md.

AdaBoost lowers the mean of exp(-y·F), which makes margins positive but not as large as they can be.
A vote that aims at a normalised margin ρ lowers the mean of exp(ρ·‖votes‖₁ - y·F) instead. A rule
of edge r > ρ then gets

    vote = ½ ln((1 + r)/(1 - r)) - ½ ln((1 + ρ)/(1 - ρ)).

With kl the relative entropy of coins with (1 + ρ)/2 and (1 + r)/2 heads, and n rows (1 over the
least share, if rows have weights),

    least margin ≥ (Σ ρ_t·vote_t + Σ kl_t - ln n) / Σ vote_t.

If the learner finds the best rule, no vote improves the margin by more than the least edge so far
minus the margin.

**AdaBoostV**, or AdaBoost* (Rätsch and Warmuth 2005): the largest margin, within a tolerance. It
aims at ρ_t = (least edge so far) - ν, and after 2 ln(n)/ν² rounds on rows of equal weight the least
margin is at least (least edge) - ν. The largest margin need not be known in advance, and the run
stops as soon as the margin is that large, usually much earlier (theorem 7.2).

**ArcGV** (Breiman 1999): the current margin is the goal of the next vote, or 0 while that is
negative: until all rows are right, it is AdaBoost. If all edges are at least γ > 0, the margin
approaches γ (theorem 7.3). It has no parameter to choose, but no bound on the number of rounds.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from pacboost.boosters.adaboost import ExponentialState, ExponentialWeights
from pacboost.boosters.booster import Agreement, Floats, Measured, Moved, edge_of
from pacboost.errors import invalid
from pacboost.hypotheses.hypothesis import Cells, CellValues
from pacboost.numerics.exact import MAX_VOTE, round_vote
from pacboost.samples.sample import Signs, Sums


class MarginGoal(ExponentialWeights):
    """Exponential weights with votes that aim at a margin.

    The ``extra`` of a state is (least edge so far, ‖votes‖₁).
    """

    tolerance: float

    def __post_init__(self) -> None:
        if not 0 < self.tolerance < 1:
            rule = "is a difference of margins, between 0 and 1"
            raise invalid("tolerance", self.tolerance, rule)

    plain: ClassVar[bool] = True

    def share_of(self, state: ExponentialState) -> float:
        return 0.0

    def init(self, signs: Signs, base: Floats, targets: Floats | None = None) -> ExponentialState:
        return replace(super().init(signs, base, targets), extra=(1.0, 0.0))

    @abstractmethod
    def goal(self, state: ExponentialState, edge: float) -> float:
        """Return ρ for a rule of this edge, in (-1, 1)."""

    def vote_at(self, state: ExponentialState, edge: float) -> float:
        """Return the vote of the module docstring; 0 if the edge is not above the goal."""
        # ½ ln((1 + r)/(1 - r)) is atanh r, infinite for a rule without mistakes
        best_vote = math.atanh(edge) if edge < 1 else MAX_VOTE
        return round_vote(max(0.0, min(best_vote, MAX_VOTE) - math.atanh(self.goal(state, edge))))

    def step(
        self, state: ExponentialState, agree: Agreement, measured: Measured
    ) -> ExponentialState:
        vote = self.vote_at(state, measured.edge)
        return self._with_edge(self._cast(state, agree, vote, measured.error), measured.edge, vote)

    def values(self, state: ExponentialState, sums: Sums, cells: Cells) -> CellValues:
        edge = int(np.abs(sums.pulls).sum()) / sums.weight
        return np.sign(sums.pulls) * self.vote_at(state, edge)

    def move(self, state: ExponentialState, moved: Moved) -> ExponentialState:
        edge = edge_of(self.request(state), moved)
        return self._with_edge(super().move(state, moved), edge, float(np.abs(moved.values).max()))

    def _with_edge(self, state: ExponentialState, edge: float, vote: float) -> ExponentialState:
        least_edge, norm = state.extra
        return replace(state, extra=(min(least_edge, edge), norm + vote))

    def margin(self, state: ExponentialState) -> float:
        """Return the least normalised margin of the vote so far; 0 before the first round."""
        norm = state.extra[1]
        # margins hold sums of votes; the least of them, whatever the weights
        return float(state.margins.min()) / norm if norm > 0 else 0.0

    def stop(self, state: ExponentialState) -> str | None:
        margin, least_edge = self.margin(state), state.extra[0]
        if margin < least_edge - self.tolerance:
            return None
        return (
            f"the margin is {margin:.4g}, and no vote's can exceed {least_edge:.4g}, the least "
            "edge, if the learner found the best rules"
        )


@dataclass(frozen=True)
class AdaBoostV(MarginGoal):
    """Aim at the largest margin less ``tolerance``, which is ν."""

    name: ClassVar[str] = "adaboost_v"
    title: ClassVar[str] = "AdaBoostV"

    tolerance: float = 0.1

    def goal(self, state: ExponentialState, edge: float) -> float:
        return min(state.extra[0], edge) - self.tolerance

    def most_rounds(self, rows: int) -> float:
        """Bound the rounds until the margin is within ``tolerance`` of the largest one.

        All ``rows`` rows have the same weight.
        """
        return 2 * math.log(rows) / self.tolerance**2


@dataclass(frozen=True)
class ArcGV(MarginGoal):
    """Aim at the margin reached so far; stop within ``tolerance`` of the largest."""

    name: ClassVar[str] = "arc_gv"
    title: ClassVar[str] = "Arc-gv"

    tolerance: float = 0.01

    def goal(self, state: ExponentialState, edge: float) -> float:
        # the vote for a negative goal diverges as the goal nears -1, so start as AdaBoost does
        return max(0.0, self.margin(state))
