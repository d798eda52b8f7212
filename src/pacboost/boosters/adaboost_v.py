"""AdaBoostV, or AdaBoost* (Rätsch and Warmuth 2005): the largest margin, within a tolerance.

It aims at ρ_t = (least edge so far) - ν. Every edge exceeds its goal by ν or more, so each round
gains at least ν²/2 (boosters/base/margin_goal.py), and no goal is below (least edge) - ν. After

    T ≥ 2 ln(n)/ν²  rounds:       least margin ≥ (least edge) - ν

on n rows of equal weight. If the learner returned a rule with the largest edge in every round, no
vote of its rules has a margin ρ* above the least edge, so the margin is at least ρ* - ν. Neither ρ*
nor the edges need to be known before. The run stops as soon as the margin is that large, which is
mostly long before (docs/proofs/margins.md, theorem 7.2).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from pacboost.boosters.base.exponential import ExponentialState
from pacboost.boosters.base.margin_goal import MarginGoal


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
        """Aim a tolerance below the least edge."""
        return min(state.extra[0], edge) - self.tolerance

    def most_rounds(self, rows: int) -> float:
        """Bound the rounds to a margin within the tolerance, for so many rows of equal weight."""
        return 2 * math.log(rows) / self.tolerance**2
