"""A weak learner whose rules of some rounds are decided beforehand: by you, or by another run."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import ParameterError
from pacboost.hypotheses.hypothesis import Cells, Hypothesis, Rule, Valued
from pacboost.hypotheses.stump import StumpRule
from pacboost.learners.choose import as_learner
from pacboost.learners.learner import Capacity, Learner, Rows, Search, Weights
from pacboost.learners.stump import Stump
from pacboost.samples.request import Request
from pacboost.samples.sample import Sample

Given = Hypothesis | tuple[int, float, int]


@dataclass(frozen=True, eq=False)
class Scripted(Learner):
    """Answer with ``rules[t]`` in round t where there is one, else ask the learner ``then``.

    A rule is a hypothesis, or (feature, threshold, answer above it): the stump with the nearest
    threshold between two values of the sample.

    >>> from pacboost import BoostClassifier
    >>> from pacboost.boosters.adaboost import AdaBoost
    >>> from pacboost.sources.toy import lecture_points
    >>> own = Scripted({1: (1, 4.5, 1)})
    >>> model = BoostClassifier(AdaBoost(), own, 2, early_stopping=False).fit(*lecture_points())
    >>> [entry.rule for entry in model.ledger_.rounds]
    ['x1 > 4.5 → 1, else -1', 'x0 > 1.5 → -1, else 1']
    """

    rules: Mapping[int, Given] = field(default_factory=dict)
    then: Any = "stump"

    @property
    def learner(self) -> Learner:
        """The learner of all other rounds."""
        return as_learner(self.then, "then")

    @property
    def codes(self) -> bool:  # type: ignore[override]
        """Stumps given by a threshold are found among the bins."""
        return self.learner.codes or bool(self.rules)

    @property
    def deterministic(self) -> bool:
        """Whether the learner is; rules that are given do not change either."""
        return self.learner.deterministic

    def finds_rules(self, sample: Sample) -> bool:
        """Rules that answer -1 or +1, unless some rule or the learner divides into cells."""
        plain = all(isinstance(rule, tuple | Rule) for rule in self.rules.values())
        return plain and self.learner.finds_rules(sample)

    def on(self, sample: Sample) -> ScriptedSearch:
        """Look the thresholds up in the bins."""
        rules = {number: _found(rule, sample) for number, rule in self.rules.items()}
        return ScriptedSearch(sample, rules, self.learner)

    def capacity(self, sample: Sample) -> Capacity | None:
        """That of the learner, if all rules that are given are stumps as well."""
        stumps = all(isinstance(rule, tuple | StumpRule) for rule in self.rules.values())
        return self.learner.capacity(sample) if stumps and isinstance(self.learner, Stump) else None


class ScriptedSearch(Search):
    """Counts the rounds, to know which rule is due."""

    def __init__(self, sample: Sample, rules: Mapping[int, Hypothesis], learner: Learner) -> None:
        self.sample, self._rules, self._learner = sample, rules, learner
        self._search = learner.on(sample)
        self._round, self._last = 0, np.empty(0, dtype=np.int64)

    def _due(self, weights: NDArray[np.int64]) -> Hypothesis | None:
        """Give the rule of this round; equal weights mean that a round is tried once more."""
        again = not self._learner.deterministic and np.array_equal(weights, self._last)
        if not again:
            self._round, self._last = self._round + 1, weights.copy()
        return self._rules.get(self._round)

    def find(self, weights: Weights, answers: NDArray[Any], seed: int) -> Hypothesis:
        """Give the rule that is due, or ask the learner."""
        due = self._due(weights)
        return self._search.find(weights, answers, seed) if due is None else due

    def partition(
        self, request: Request, seed: int, chosen: Rows | None
    ) -> tuple[Hypothesis, Cells]:
        """Give the cells of the rule that is due, or ask the learner."""
        due = self._due(request.rows())
        if due is None:
            return self._search.partition(request, seed, chosen)
        rule = Valued.empty(due, self.sample.signs.shape[1]) if isinstance(due, Rule) else due
        return rule, rule.cells(self.sample)

    def constant(self) -> Hypothesis:
        """Give the rule of a single cell, as the learner has it."""
        return self._search.constant()


def _found(rule: Given, sample: Sample) -> Hypothesis:
    """Give a hypothesis as it is, and turn three numbers into a stump on the bins."""
    if isinstance(rule, Hypothesis):
        return rule
    feature, threshold, above = rule
    features = sample.table.n_columns
    if not 0 <= feature < features:
        raise ParameterError(f"the rule asks for feature {feature}; there are 0 to {features - 1}")
    if above not in (-1, 1) or not math.isfinite(threshold):
        raise ParameterError(
            f"the rule is {tuple(rule)}; give (feature, threshold, answer above it), the last as "
            "-1 or +1"
        )
    assert sample.bins is not None  # because ``codes`` is set
    thresholds = sample.bins.thresholds[feature]
    if not thresholds.size:
        raise ParameterError(
            f"feature {feature} has one value only, so that no threshold divides the rows"
        )
    cut = int(np.abs(thresholds.astype(np.float64) - threshold).argmin())
    middle = above if sample.bins.middle[feature] > cut else -above
    return StumpRule(feature, float(thresholds[cut]), cut, above, middle)
