"""TotalBoost for a promised edge: a margin on every row, or a counter-example.

By duality (boosters/corrective.py), the largest margin that votes of the rules so far can have on
the worst row equals the largest edge of these rules under the worst weights D of the rows:

    max over votes w of min over rows of y·F(x)/‖w‖₁   =   min over D of max over rules of Σ D·y·h.

Let every rule be promised an edge of γ = 1 - 2·error. TotalBoost (boosters/soft_margin.py) asks for
a rule under the weights D nearest to the first ones under which all rules so far have an edge of at
most γ - g, where g is at least the tolerance ν:

* the edge of the rule is below γ: no rule that was found has edge γ under D, a counter-example;
* it is at least γ: the next round asks again.

If there is no such D, votes of the rules so far have a margin of at least γ - ν on every row, and
so make no mistake. One of the two happens after at most 1 + 2 ln(n)/ν² · (1 + 1/16 + …) rounds on n
rows of equal weight, as for SoftBoost. LPBoost asks under the worst D of all, but has no such
bound: an adversary of edge .2 on 200 random labels left it at a margin of -.11 after 500 rounds,
where TotalBoost came to .1 after 105. (Freund and Schapire 1996, Game theory, on-line prediction
and boosting.) Lectures that promise an error of ½ - γ' mean γ = 2γ'.

>>> import warnings
>>> from pacboost import BoostClassifier
>>> from pacboost.theory.learners import Adversary
>>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1, 1]
>>> strong = BoostClassifier(PromisedMargin(edge=0.2), Adversary(0.2), 50).fit(X, y)
>>> strong.counterexample_ is None, strong.ledger_.rounds[-1].margin >= 0.1
(True, True)
>>> with warnings.catch_warnings(action="ignore"):
...     weak = BoostClassifier(PromisedMargin(edge=0.4), Adversary(0.2), 50).fit(X, y)
>>> weak.counterexample_.edge < 0.4
True
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pacboost.boosters.booster import Agreement, Floats, Measured, Witness
from pacboost.boosters.corrective import CorrectiveState
from pacboost.boosters.soft_margin import Total
from pacboost.errors import invalid
from pacboost.samples.sample import Signs

TOLERANCE = 1e-9
"""Relative tolerance of the promised edge, since weights are rounded to whole units."""


@dataclass(frozen=True)
class PromisedMargin(Total):
    """Find a vote whose margin is at least ``edge - tolerance``, or a counter-example."""

    edge: float = 0.1
    tolerance: float = 0.05

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.edge <= 1:
            raise invalid("edge", self.edge, "is 1 - 2·error, above 0 and at most 1")
        if not self.tolerance < self.edge:
            raise invalid("tolerance", self.tolerance, f"must be below the edge, {self.edge:g}")

    def init(self, signs: Signs, base: Floats, targets: Floats | None = None) -> CorrectiveState:
        # edges are to be below the promise, and not below the least edge, which may be larger
        return replace(super().init(signs, base, targets), least_edge=self.edge)

    @property
    def promise(self) -> float:
        """The edge that every rule is promised to have."""
        return self.edge

    def step(self, state: CorrectiveState, agree: Agreement, measured: Measured) -> CorrectiveState:
        weights = state.weights.reshape(-1)
        edge = int((weights * agree.reshape(-1)).sum()) / int(weights.sum())
        # weights are overwritten in place by those of the next round
        failed = weights.copy() if edge < self.edge * (1 - TOLERANCE) else None
        return replace(super().step(state, agree, measured), failed=failed)

    def stop(self, state: CorrectiveState) -> str | None:
        if self.is_promise_broken(state):
            return (
                f"its learner broke the promised edge of {self.edge:g}: counterexample_ holds rows "
                "and weights under which no rule that was found has it"
            )
        if state.least_edge - state.gap >= self.edge - self.tolerance:
            margin = state.least_edge - state.gap
            return f"every training row has a margin of at least {margin:.4g}, as promised"
        return None

    def is_promise_broken(self, state: CorrectiveState) -> bool:
        """Check whether the last rule had less than the promised edge."""
        return state.failed is not None

    def witness(self, state: CorrectiveState, *, found: bool) -> Witness | None:
        """Return the weights under which a rule failed, or the last ones if none was found."""
        weights = state.failed if found else np.array(state.weights.reshape(-1))
        return None if weights is None else Witness(weights, state.kinds, state.columns)
