"""AdaBoostV, or AdaBoost* (Rätsch and Warmuth 2005): the largest margin, within a tolerance.

It aims at ρ_t = (least edge so far) - ν. No vote of rules that the learner finds has a larger
margin ρ* than the least edge, so every goal is at least ρ* - ν; and every edge exceeds its goal by
ν or more, so each round gains at least ν²/2 (boosters/aiming.py). Hence after

    T ≥ 2 ln(n)/ν²  rounds:       least margin ≥ (least edge) - ν ≥ ρ* - ν.

Neither ρ* nor the edges need to be known before. It stops as soon as the margin is that large,
which is mostly long before.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from pacboost.boosters.aiming import Aiming
from pacboost.boosters.exponential import ExponentialState


@dataclass(frozen=True)
class AdaBoostV(Aiming):
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

    tolerance: float = 0.1

    def goal(self, state: ExponentialState, edge: float) -> float:
        """Aim a tolerance below the least edge."""
        return min(state.own[0], edge) - self.tolerance

    def most_rounds(self, rows: int) -> float:
        """Bound the rounds to a margin within the tolerance, for so many rows of equal weight."""
        return 2 * math.log(rows) / self.tolerance**2
