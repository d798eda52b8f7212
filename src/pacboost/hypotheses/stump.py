"""A decision stump: one feature, one threshold."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pacboost.hypotheses.fields import Column, Field, RuleRun
from pacboost.hypotheses.hypothesis import Answers, CellValues, FeaturePart, Names, Rule
from pacboost.kernels.native import native
from pacboost.kernels.team import team_for, together
from pacboost.samples.bins import upper_cuts
from pacboost.samples.sample import Sample
from pacboost.sources.values import Values

LARGEST = float(np.finfo(np.float32).max)


@dataclass(frozen=True)
class StumpRule(Rule):
    """Answer ``above`` if the feature exceeds the threshold, else ``-above``.

    A missing value has the answer ``missing``. With an infinite threshold no value is above: the
    rule is then constant, or depends only on whether the value is missing.
    """

    tag: ClassVar[str] = "stump"
    FIELDS: ClassVar[Mapping[str, Field]] = {
        "feature": Column(np.int32, of_features=True),
        "threshold": Column(np.float64, within=(-LARGEST, math.inf)),
        "cut": Column(np.int64, within=(0, 2**31)),
        "above": Column(np.int8, within=(-1, 1)),
        "missing": Column(np.int8, within=(-1, 1)),
    }
    BYTES: ClassVar[int] = 300

    feature: int
    threshold: float
    """A 32-bit float, or infinity; values are compared with it after rounding to 32 bits."""
    cut: int
    """The threshold for codes: larger codes are above the threshold."""
    above: int
    missing: int

    @classmethod
    def constant(cls, answer: int) -> StumpRule:
        return cls(0, math.inf, 2**31, -answer, answer)

    def answers(self, sample: Sample) -> Answers:
        if sample.bins is not None:
            column = sample.column(self.feature)
            is_above = column > self.cut
            # the code of a missing value is the largest, so it would count as above
            is_missing = column == sample.bins.missing
        else:
            values = sample.table.block(self.feature, self.feature + 1)[:, 0]
            is_above = values > self.value_cut
            is_missing = np.isnan(values)
        answers: Answers = is_above.view(np.int8)
        # in place: one byte a row, and no second array
        answers *= 2 * self.above
        answers -= self.above
        if is_missing.any():
            answers[is_missing] = self.missing
        return answers

    def agreement(self, sample: Sample) -> Answers:
        # the kernel reads codes
        if sample.bins is None:
            return super().agreement(sample)
        agree: Answers = np.empty(sample.n_rows, dtype=np.int8)
        together(
            native.stump_agreement, np.ascontiguousarray(sample.column(self.feature)), self.cut,
            self.above, sample.bins.missing, self.missing,
            np.ascontiguousarray(sample.signs[:, 0]), agree,
            at_most=team_for(agree.size),
        )  # fmt: skip
        return agree

    @property
    def value_cut(self) -> float:
        """The threshold moved so that doubles can be compared without rounding them."""
        return float(upper_cuts(np.array([self.threshold], dtype=np.float32))[0])

    @property
    def is_constant(self) -> bool:
        return math.isinf(self.threshold) and self.missing == -self.above

    def negated(self) -> StumpRule:
        return replace(self, above=-self.above, missing=-self.missing)

    def features(self) -> set[int]:
        return set() if self.is_constant else {self.feature}

    def importances(self, vote: float, n_features: int) -> NDArray[np.float64]:
        shares = np.zeros(n_features)
        shares[self.feature] = vote
        return shares

    @classmethod
    def problem(cls, run: RuleRun) -> tuple[str, str] | None:
        thresholds, bins = run.arrays["threshold"], run.bins
        with np.errstate(over="ignore"):
            if (thresholds.astype(np.float32) != thresholds).any():
                return "threshold", "is no 32-bit float"
        for name in ("above", "missing"):
            if (run.arrays[name] == 0).any():
                return name, "holds an answer that is neither -1 nor +1"
        if bins is None:
            return None
        # scores compare values and certificates count codes, so the two cuts have to agree
        features, cuts = run.arrays["feature"].tolist(), run.arrays["cut"].tolist()
        for feature, cut, threshold in zip(features, cuts, thresholds.tolist(), strict=True):
            own = bins.thresholds[feature]
            if (own[cut] if cut < own.size else math.inf) != threshold:
                return "cut", "is not where the threshold is"
        return None

    def step(self, vote: float) -> FeaturePart:
        return self.feature_part(vote * self.values)

    def feature_part(self, values: CellValues) -> FeaturePart:
        missing = values[1] if self.missing > 0 else values[0]
        if self.is_constant:
            return FeaturePart.constant(missing)
        # cell 1 is the answer +, which lies below the cut if ``above`` is -1
        low, high = values[::-1] if self.above < 0 else values
        cuts = np.array([self.threshold], dtype=np.float32)
        return FeaturePart.cut(self.feature, cuts[np.isfinite(cuts)], low, high, missing)

    def applied(self, cell: int, row: Values, names: Names) -> str:
        """Return the side of the threshold of a row, as text."""
        value = float(row[self.feature])
        if self.is_constant:
            return "always"
        if math.isnan(value):
            return names.missing(self.feature)
        if math.isinf(self.threshold):
            return f"{names.column(self.feature)} is known"
        return names.side(self.feature, self.threshold, above=value > self.value_cut)

    def words(self, names: Names) -> str:
        column = names.column(self.feature)
        yes, no = names.answer(self.above), names.answer(-self.above)
        if math.isinf(self.threshold):
            if self.is_constant:
                return f"always {no}"
            return f"{column} is missing → {names.answer(self.missing)}, else {no}"
        return f"{names.side(self.feature, self.threshold, above=True)} → {yes}, else {no}"
