"""Find the interval of one feature with the least weighted error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pacboost.hypotheses.interval import IntervalRule

from pacboost.errors import ParameterError
from pacboost.learners.learner import Learner, Search, Weights
from pacboost.samples.sample import Sample


@dataclass(frozen=True)
class Interval(Learner):
    """The best interval over all features, for two classes.

    With signed weights s_i = D(i) y_i, the rule + inside an interval has edge 2 S - V, where S is
    the sum inside and V that of all rows. So the best interval has the largest S or, with the
    answers turned round, the smallest.
    """

    name: ClassVar[str] = "interval"
    plural: ClassVar[str] = "intervals"

    deterministic = True

    def on(self, sample: Sample) -> IntervalSearch:
        """Start a search on a sample."""
        if sample.labels is not None:  # the answers would be numbers of classes, not signs
            raise ParameterError(
                "y has more than two classes, and the learner 'interval' knows two; use 'stump'",
                parameter="learner",
            )
        return IntervalSearch(sample)


class IntervalSearch(Search):
    """Sorted columns, which all rounds share."""

    def __init__(self, sample: Sample) -> None:
        self.sample = sample
        columns = np.asarray(sample.table.block(0, sample.table.n_columns), dtype=np.float32)
        self._columns = [np.unique(column, return_inverse=True) for column in columns.T]

    def find(self, weights: Weights, answers: NDArray[Any], seed: int) -> IntervalRule:
        """Return the interval with the largest edge; of equal ones, that of the first feature."""
        signed = weights * answers
        best, rule = -1, IntervalRule(0, -np.inf, np.inf, 1)
        for feature, (values, places) in enumerate(self._columns):
            known = int(np.count_nonzero(~np.isnan(values)))  # missing values are sorted last
            if not known:
                continue
            sums = np.zeros(values.size, dtype=np.int64)
            np.add.at(sums, places.ravel(), signed)
            before = np.concatenate([[0], np.cumsum(sums[:known])])
            for within in (1, -1):
                inside = within * before - np.minimum.accumulate(within * before)
                end = int(inside.argmax())
                edge = 2 * int(inside[end]) - within * int(signed.sum())
                if edge > best:
                    start = int((within * before[: end + 1]).argmin())
                    low = float(values[start - 1]) if start else -np.inf
                    high = float(values[end - 1]) if end else -np.inf
                    if start == end:  # an empty interval, whose rule is constant
                        low = high = float(values[0])
                    best, rule = edge, IntervalRule(feature, low, high, within)
        return rule
