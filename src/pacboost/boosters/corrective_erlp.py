"""Corrective ERLPBoost (Shalev-Shwartz and Singer 2010): one vote is changed in a round.

The weights are those of ERLPBoost, and the votes a step of Frank and Wolfe on the way to its votes:

    w  ←  (1 - a)·w + a·(all to the newest rule),      a where the smoothed margin is largest.

The curvature of the smoothed margin between two votes is at most 4η, so a step gains δ_t²/(8η) like
one of ERLPBoost: the same bound on rounds, T ≤ max(8/ε, 32 ln(1/share)/ε²), each next to free.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from scipy.optimize import brentq

from pacboost.boosters.base.kinds import CorrectiveState
from pacboost.boosters.erlp import ERLP
from pacboost.numerics.entropic import evenest
from pacboost.numerics.same_bits import total
from pacboost.numerics.whole_products import Floats, margins_of, whole_votes


@dataclass(frozen=True)
class CorrectiveERLP(ERLP):
    """The rules of the corrective ERLPBoost.

    >>> import numpy as np
    >>> rules = CorrectiveERLP(share=0.0)
    >>> state = rules.init(np.ones((3, 1), dtype=np.int8), np.ones(1))
    >>> for wrong in range(3):                          # each rule is wrong on another row
    ...     agree = np.where(np.arange(3) == wrong, -1, 1).astype(np.int8)[:, None]
    ...     state = rules.step(state, agree, None)
    >>> state.votes.round(3).tolist()
    [0.333, 0.333, 0.333]
    """

    name: ClassVar[str] = "corrective_erlp"
    title: ClassVar[str] = "Corrective ERLPBoost"

    def corrected(self, state: CorrectiveState) -> CorrectiveState:
        """Make a Frank-Wolfe step."""
        return replace(state, votes=self.stepped(state))

    def stepped(self, state: CorrectiveState) -> Floats:
        """Give the votes after a step towards the newest rule."""
        newest, strength = np.eye(state.votes.size)[-1], self.eta(self.largest_entropy(state))
        before = margins_of(state.columns, state.votes)
        way = state.columns[-1] - before

        def slope(part: float) -> float:
            heights = strength * (before + part * way)
            return total(way * evenest(heights, state.base, state.share).weights)

        if slope(0.0) <= 0:
            return state.votes
        part = 1.0 if slope(1.0) >= 0 else float(brentq(slope, 0.0, 1.0, xtol=1e-12))
        return whole_votes((1 - part) * state.votes + part * newest)
