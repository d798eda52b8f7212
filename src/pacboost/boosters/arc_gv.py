"""ArcGV (Breiman 1999): the margin that has been reached is the goal of the next vote.

It aims at ρ_t = the least normalised margin of the vote so far, or 0 while that is negative: until
all rows are right, it is AdaBoost. After every round

    least margin ≥ (Σ ρ_t·vote_t + Σ kl_t - ln n) / Σ vote_t        (boosters/base/margin_goal.py).

If all edges are at least γ > 0, the margin comes as near to γ as one likes. If the learner returns
a rule with the largest edge in every round and some vote is right on all rows, the margin tends to
the largest there is (docs/proofs/margins.md, theorem 7.3). Nothing has to be chosen before, but no
number of rounds is promised, as it is for AdaBoostV.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pacboost.boosters.base.exponential import ExponentialState
from pacboost.boosters.base.margin_goal import MarginGoal


@dataclass(frozen=True)
class ArcGV(MarginGoal):
    """The rules of ArcGV; it stops within ``tolerance`` of the largest margin.

    >>> import numpy as np
    >>> from pacboost.boosters.base.booster import Measured
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
        """Aim at the margin that the vote has reached."""
        return max(0.0, self.margin(state))
