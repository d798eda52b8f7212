"""A vote that grows round by round, and scores rows from their codes.

Rules on one feature (stumps, trees of two leaves) are added up in one table per feature, so a row
costs one look-up per feature for any number of rounds; other trees are scored as in
scored_trees.py. The scores are bit for bit those of ``Vote``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.hypotheses import scored_trees
from pacboost.hypotheses.hypothesis import Hypothesis
from pacboost.hypotheses.scored_trees import MaskedTrees, PackedTrees, Scores
from pacboost.hypotheses.stump import StumpRule
from pacboost.hypotheses.tree import TreeRule
from pacboost.kernels import predict
from pacboost.samples.bins import Bins, Codes


class Ballot:
    """F(x) = Σ votes[t] · hypotheses[t](x) on codes of some bins."""

    def __init__(self, bins: Bins, outputs: int) -> None:
        self._bins = bins
        self._outputs = outputs
        self._constant = np.zeros(outputs)
        self._tables: dict[int, NDArray[np.float64]] = {}
        self._masked = MaskedTrees(outputs)
        self._walked: list[tuple[TreeRule, float]] = []

    def add(self, rule: Hypothesis, vote: float) -> bool:
        """Add a rule; return False for a rule that cannot be evaluated on codes."""
        if isinstance(rule, StumpRule):
            self._add_table(rule.feature, vote * _stump_values(rule, self._bins.missing)[:, None])
        elif not isinstance(rule, TreeRule):
            return False
        elif rule.feature.size == 0:
            self._constant += vote * rule.values[0]
        elif not scored_trees.can_be_masked(rule):
            self._walked.append((rule, vote))
        else:
            features, masks = scored_trees.leaf_masks(rule)
            if features.size == 1:
                leaves = np.frexp(masks[0][: self._bins.missing + 1])[1].astype(np.int64) - 1
                self._add_table(int(features[0]), vote * rule.values[leaves])
            else:
                self._masked.add(features, masks, vote * rule.values)
        return True

    def scores(self, codes: Codes) -> Scores:
        scores = np.tile(self._constant, (codes.shape[1], 1))
        jobs: list[Any] = []
        if self._tables:
            features = np.array(sorted(self._tables), dtype=np.int64)
            tables = np.stack([self._tables[int(j)] for j in features])
            jobs.append((predict.by_tables, (features, tables)))
        if self._masked.count:
            jobs.append((predict.by_masks, self._masked.arrays()))
        if self._walked:
            forest = PackedTrees.of([t for t, _ in self._walked], [v for _, v in self._walked])
            packed = (forest.nodes, forest.members, self._bins.missing, forest.trees, forest.values)
            jobs.append((predict.score, packed))
        rules = len(self._tables) + self._masked.count + len(self._walked)
        scored_trees.add_rules(jobs, codes, scores, max(1, rules))
        return scores

    def _add_table(self, feature: int, values: NDArray[np.float64]) -> None:
        if feature not in self._tables:
            self._tables[feature] = np.zeros((self._bins.missing + 1, self._outputs))
        self._tables[feature] += values


def _stump_values(rule: StumpRule, missing: int) -> NDArray[np.float64]:
    values = np.where(np.arange(missing + 1) > rule.cut, rule.above, -rule.above)
    values[missing] = rule.missing
    return values.astype(np.float64)
