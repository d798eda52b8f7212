"""Openings: rules with which a run begins, before its learner is asked.

An opening makes its rules from the sample alone. The run measures each of them and steps as in any
other round, so that its record does not distinguish them from the rules of a learner.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pacboost.hypotheses.hypothesis import Hypothesis
from pacboost.hypotheses.tree import TreeRule
from pacboost.samples.sample import Sample

Floats = NDArray[np.float64]


class Opening(ABC):
    """Rules between the constant of the booster and the first rule of the learner."""

    @abstractmethod
    def rules(self, sample: Sample, start: Floats, unit: float) -> Sequence[Hypothesis]:
        """Return rules with values that are multiples of ``unit``; there may be none.

        ``start`` is the score of every row so far, one number for each output: the booster's
        constant, or 0.
        """


@dataclass(frozen=True, eq=False)
class EarlierRules(Opening):
    """Rules of a run on some of these rows, in the same bins."""

    earlier: tuple[Hypothesis, ...]

    def rules(self, sample: Sample, start: Floats, unit: float) -> Sequence[Hypothesis]:
        rules: list[Hypothesis] = []
        for rule in self.earlier:
            values = np.rint(rule.values / unit) * unit  # the unit depends on the largest target
            if isinstance(rule, TreeRule):
                assert sample.bins is not None
                rules.append(replace(rule, bins=sample.bins, values=values))
            else:
                rules.append(rule.valued(values, np.zeros(len(values))))
        return rules
