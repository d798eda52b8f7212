"""A vote that grows round by round, and scores rows from their codes.

Rules that ask for one feature (stumps, trees of two leaves) are added up in one table a feature, so
a row costs one look-up a feature whatever the number of rounds. Trees of up to 32 leaves are masks
(kernels/ballot.py), larger ones are walked. Votes and values are multiples of a fixed unit, so the
scores are bit for bit those of ``Vote``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.hypotheses.hypothesis import Hypothesis
from pacboost.hypotheses.scored_trees import (
    MaskedTrees,
    PackedTrees,
    Scores,
    can_be_masked,
    leaf_masks,
)
from pacboost.hypotheses.stump import StumpRule
from pacboost.hypotheses.tree import TreeRule
from pacboost.kernels import ballot, walk
from pacboost.kernels.threads import each_rows
from pacboost.samples.bins import Bins, Codes


class Ballot:
    """F(x) = Σ votes[t] · hypotheses[t](x) on codes of some bins.

    >>> bins = Bins((np.array([1.5], dtype=np.float32),), np.array([0]))
    >>> vote = Ballot(bins, outputs=1)
    >>> vote.add(StumpRule(0, 1.5, 0, +1, -1), 0.25)
    True
    >>> vote.scores(np.array([[0, 1]], dtype=np.uint8))[:, 0].tolist()
    [-0.25, 0.25]
    """

    def __init__(self, bins: Bins, outputs: int) -> None:
        self._bins = bins
        self._outputs = outputs
        self._constant = np.zeros(outputs)
        self._tables: dict[int, NDArray[np.float64]] = {}
        self._masked = MaskedTrees(outputs)
        self._walked: list[tuple[TreeRule, float]] = []

    def add(self, rule: Hypothesis, vote: float) -> bool:
        """Add a rule; give False for a rule whose answers do not follow from codes."""
        if isinstance(rule, StumpRule):
            self._add_table(rule.feature, vote * _said(rule, self._bins.missing)[:, None])
        elif not isinstance(rule, TreeRule):
            return False
        elif rule.feature.size == 0:
            self._constant += vote * rule.values[0]
        elif not can_be_masked(rule):
            self._walked.append((rule, vote))
        else:
            features, masks = leaf_masks(rule)
            if features.size == 1:
                leaves = np.frexp(masks[0][: self._bins.missing + 1])[1].astype(np.int64) - 1
                self._add_table(int(features[0]), vote * rule.values[leaves])
            else:
                self._masked.add(features, masks, vote * rule.values)
        return True

    def scores(self, codes: Codes) -> Scores:
        """Give F for every row, (rows, outputs)."""
        scores = np.tile(self._constant, (codes.shape[1], 1))
        jobs: list[Any] = []
        if self._tables:
            features = np.array(sorted(self._tables), dtype=np.int64)
            tables = np.stack([self._tables[int(j)] for j in features])
            jobs.append((ballot.by_tables, (features, tables)))
        if self._masked.count:
            jobs.append((ballot.by_masks, self._masked.arrays()))
        if self._walked:
            forest = PackedTrees.of([t for t, _ in self._walked], [v for _, v in self._walked])
            packed = (forest.nodes, forest.members, self._bins.missing, forest.trees, forest.values)
            jobs.append((walk.score, packed))

        def task(start: int, stop: int) -> None:
            for kernel, arrays in jobs:
                kernel(codes, *arrays, start, scores[start:stop])

        rules = len(self._tables) + self._masked.count + len(self._walked)
        each_rows(task, codes.shape[1], width=max(1, rules))
        return scores

    def _add_table(self, feature: int, said: NDArray[np.float64]) -> None:
        if feature not in self._tables:
            self._tables[feature] = np.zeros((self._bins.missing + 1, self._outputs))
        self._tables[feature] += said


def _said(rule: StumpRule, missing: int) -> NDArray[np.float64]:
    """What a stump says of each code."""
    said = np.where(np.arange(missing + 1) > rule.cut, rule.above, -rule.above)
    said[missing] = rule.missing
    return said.astype(np.float64)
