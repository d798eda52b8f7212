"""A vote that grows round by round, and scores rows from their codes.

Rules on one feature (stumps, trees of two leaves) are added up in one table per feature, so a row
costs one look-up per feature for any number of rounds; other trees are scored as in
scored_trees.py. The scores are bit for bit those of ``Vote``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pacboost.hypotheses import scored_trees
from pacboost.hypotheses.hypothesis import Hypothesis
from pacboost.hypotheses.scored_trees import Job, PackedTrees, Scores
from pacboost.hypotheses.stump import StumpRule
from pacboost.hypotheses.tree import TreeRule
from pacboost.kernels.native import native
from pacboost.samples.bins import Bins, Codes


class Ballot:
    """F(x) = Σ votes[t] · hypotheses[t](x) on codes of some bins."""

    def __init__(self, bins: Bins, outputs: int) -> None:
        self._bins = bins
        self._outputs = outputs
        self._constant = np.zeros(outputs)
        self._tables: dict[int, NDArray[np.float64]] = {}
        self._trees = PackedTrees(outputs)

    def add(self, rule: Hypothesis, vote: float) -> bool:
        """Add a rule; return False for a rule that cannot be evaluated on codes."""
        if isinstance(rule, StumpRule):
            self._add_table(rule.feature, vote * _stump_values(rule, self._bins.missing)[:, None])
        elif not isinstance(rule, TreeRule):
            return False  # it may ask for raw values, which codes do not hold
        elif rule.feature.size == 0:
            self._constant += vote * rule.values[0]
        # any number of splits of one column are one table of its codes
        elif (rule.feature == rule.feature[0]).all():
            self._add_table(int(rule.feature[0]), vote * rule.values[rule.leaves_of_codes()])
        else:
            self._trees.add(rule, vote)
        return True

    def scores(self, codes: Codes) -> Scores:
        scores = np.tile(self._constant, (codes.shape[1], 1))
        jobs: list[Job] = []
        if self._tables:
            features = np.array(sorted(self._tables), dtype=np.int64)
            tables = np.stack([self._tables[int(j)] for j in features])
            jobs.append((native.score_tables, (features, tables)))
        if len(self._trees):
            jobs.append(self._trees.joined().job(self._bins.missing))
        rules = len(self._tables) + len(self._trees)
        scored_trees.add_rules(jobs, codes, scores, max(1, rules))
        return scores

    def _add_table(self, feature: int, values: NDArray[np.float64]) -> None:
        if feature not in self._tables:
            self._tables[feature] = np.zeros((self._bins.missing + 1, self._outputs))
        self._tables[feature] += values


def _stump_values(rule: StumpRule, missing: int) -> NDArray[np.float64]:
    values = np.where(np.arange(missing + 1) > rule.cut, rule.above, -rule.above)
    # after the comparison: the code of missing values is above every cut
    values[missing] = rule.missing
    return values.astype(np.float64)
