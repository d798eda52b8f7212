"""An interval of one feature."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pacboost.hypotheses.fields import Column, Field, RuleRun
from pacboost.hypotheses.hypothesis import Answers, CellValues, FeaturePart, Names, Rule
from pacboost.samples.bins import upper_cuts
from pacboost.samples.sample import Sample


@dataclass(frozen=True)
class IntervalRule(Rule):
    """Answer ``within`` where low < feature ≤ high, and ``-within`` elsewhere and if missing."""

    tag: ClassVar[str] = "interval"
    FIELDS: ClassVar[Mapping[str, Field]] = {
        "feature": Column(np.int32, of_features=True),
        "low": Column(np.float64, within=(-math.inf, math.inf)),
        "high": Column(np.float64, within=(-math.inf, math.inf)),
        "within": Column(np.int8, within=(-1, 1)),
    }

    feature: int
    low: float
    high: float
    within: int

    @classmethod
    def problem(cls, run: RuleRun) -> tuple[str, str] | None:
        """Return what no fit could have written: a file may come from a stranger."""
        low, high = run.arrays["low"], run.arrays["high"]
        with np.errstate(over="ignore"):
            if (low.astype(np.float32) != low).any() or (high.astype(np.float32) != high).any():
                return "low", "or high is no 32-bit float"
        if (low > high).any():
            return "low", "is above high"
        return ("within", "holds 0") if (run.arrays["within"] == 0).any() else None

    def answers(self, sample: Sample) -> Answers:
        """Return the answer for every row of a sample."""
        values = sample.table.block(self.feature, self.feature + 1)[:, 0]
        low, high = upper_cuts(np.array([self.low, self.high], dtype=np.float32))
        inside = (values > low) & (values <= high)
        return np.where(inside, np.int8(self.within), np.int8(-self.within))

    def negated(self) -> IntervalRule:
        """Return the rule that always answers the opposite."""
        return replace(self, within=-self.within)

    def words(self, names: Names) -> str:
        """Return the rule as text."""
        inside = f"{self.low:.6g} < {names.column(self.feature)} ≤ {self.high:.6g}"
        return f"{inside} → {names.answer(self.within)}, else {names.answer(-self.within)}"

    def features(self) -> set[int]:
        """Return the column that the rule uses."""
        return {self.feature}

    def importances(self, vote: float, n_features: int) -> NDArray[np.float64]:
        """Return the vote as the contribution of the feature."""
        shares = np.zeros(n_features)
        shares[self.feature] = vote
        return shares

    def step(self, vote: float) -> FeaturePart:
        """Return the rule with a vote: votes and programs add step functions up."""
        return self.feature_part(vote * self.values)

    def feature_part(self, values: CellValues) -> FeaturePart:
        """Return the rule as a step function: outside, inside, outside."""
        outside, inside = values if self.within > 0 else values[::-1]
        steps = [outside, inside, outside]
        steps = steps[self.low == -math.inf : len(steps) - (self.high == math.inf)]
        cuts = np.array([self.low, self.high], dtype=np.float32)
        return FeaturePart(self.feature, cuts[np.isfinite(cuts)], np.stack(steps), outside)
