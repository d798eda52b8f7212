"""Find the decision stump of least weighted error."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pacboost.hypotheses.hypothesis import Cells, Hypothesis
from pacboost.hypotheses.stump import StumpRule
from pacboost.kernels.native import native
from pacboost.kernels.team import team_for, together
from pacboost.learners.growing import TreeSearch
from pacboost.learners.learner import Capacity, Learner, Rows, Search, Weights
from pacboost.learners.tree import Tree
from pacboost.numerics.exact import FRESH_TOTAL
from pacboost.numerics.growth import vc_of_stumps
from pacboost.samples.bins import Bins
from pacboost.samples.sample import Request, Sample, Signs

if TYPE_CHECKING:
    from pacboost.learners.sparse_growing import SparseStumps

PADDING = 8
"""Histograms 2**k wide would fall onto the same cache lines (measured: up to twice slower)."""

MAX_BYTES_PER_THREAD = 2**20
"""Maximum size of a thread's histogram; with many columns, fewer threads count."""


@dataclass(frozen=True)
class Stump(Learner):
    """The best stump over all features, thresholds and signs; missing values go to the best side.

    With signed weights s_i = D(i) y_i, a stump that answers - up to a cut and + above it has edge
    Σ_above s - Σ_below s = V - 2 P, where P is the sum up to the cut and V over all values; turned
    round it has the opposite. Rows with a missing value add |Σ_missing s|. So the best edge of a
    feature is max |V - 2 P| + |M|. Of rules whose edges differ by no more than the rounding of the
    weights, the one with the lowest feature, then the lowest threshold, is taken."""

    name: ClassVar[str] = "stump"
    plural: ClassVar[str] = "stumps"

    codes = sparse = True
    deterministic = True

    def bytes_of_work(self, columns: int, outputs: int) -> int:
        return Tree(2).bytes_of_work(columns, outputs)

    def finds_rules(self, sample: Sample) -> bool:
        """Check that no feature is categorical: sets of levels need a tree of two leaves."""
        return sample.bins is None or not sample.bins.levels.any()

    def on(self, sample: Sample) -> StumpSearch:
        return StumpSearch(sample)

    def capacity(self, sample: Sample) -> Capacity:
        """Return the VC dimension of stumps on p features, and the number of rules if binned.

        The dimension is the largest d with C(d, ⌊d/2⌋) ≤ 2p (Gey 2018; Leboeuf et al. 2020), for
        real features without missing values. Per feature with B bins there are 2(B - 1) + 1
        unsigned rules where a missing value may go to either side; one more is constant, and each
        has two signs.
        """
        dimension = vc_of_stumps(sample.table.n_columns)
        # without bins there are as many cuts as real numbers
        if sample.bins is None:
            return Capacity(vc_dimension=dimension)
        return Capacity(vc_dimension=dimension, log_size=math.log(2 * count_rules(sample.bins)))


def count_rules(bins: Bins) -> int:
    """Count the unsigned rules on these bins: 2(B - 1) + 1 a feature, and the constant one."""
    return 1 + int((2 * bins.sizes + 1).sum())


class StumpSearch(Search):
    """Histograms of signed weights over one sample, kept up to date from round to round."""

    def __init__(self, sample: Sample) -> None:
        assert sample.bins is not None
        self.sample = sample
        self._bins = sample.bins

    @cached_property
    def _sparse(self) -> SparseStumps | None:
        if self.sample.sparse is None:
            return None
        from pacboost.learners.sparse_growing import SparseStumps

        return SparseStumps(self.sample.sparse, self._bins)

    @cached_property
    def _counted(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The histograms of the last round, and the weights that they counted."""
        shape = self.sample.table.n_columns, self._bins.missing + 1 + PADDING
        return np.zeros(shape, dtype=np.int64), np.zeros(self.sample.n_rows, dtype=np.int64)

    @cached_property
    def twigs(self) -> TreeSearch:
        """The search for trees of two leaves, which may have any values for any class."""
        unrestricted = Tree(
            2, min_leaf_rows=0, min_leaf_weight=0.0, cat_penalty=0.0, min_level_rows=0.0
        )
        return unrestricted.on(self.sample)

    def partition(
        self, request: Request, seed: int, chosen: Rows | None
    ) -> tuple[Hypothesis, Cells]:
        return self.twigs.partition(request, seed, chosen)

    def constant(self) -> Hypothesis:
        return self.twigs.constant()

    def find(self, weights: Weights, answers: NDArray[Any], seed: int = 0) -> Hypothesis:
        if self.sample.signs.shape[1] > 1:
            return self.twigs.find(weights, answers, seed)
        if self._sparse is not None:
            slack = self._slack(int(weights.sum()))
            return self._stump(*self._sparse.best_cut(weights * answers, slack))
        edges, total = self._largest_edges(weights, answers)
        histogram, missing = self._counted[0], self._bins.missing
        slack = self._slack(total)
        feature, cut, difference = native.first_stump(histogram, edges, missing, slack)
        return self._stump(feature, cut, difference, int(histogram[feature, missing]))

    def _slack(self, total: int) -> int:
        """Return how much equal edges may differ by the rounding of weights.

        Each weight may be off by one unit, and by 2^-40 of itself for every vote and base weight.
        """
        return total * 2 * self.sample.n_rows // FRESH_TOTAL + total // 2**30

    def _largest_edges(self, weights: Weights, signs: Signs) -> tuple[NDArray[np.int64], int]:
        codes, (counted, counted_weights) = self.sample.codes, self._counted
        team = team_for(weights.size)
        team = min(team, 1 + (team - 1) * MAX_BYTES_PER_THREAD // counted.nbytes)
        partial = np.empty((team - 1, *counted.shape), dtype=np.int64)
        edges, totals = np.empty(len(counted), dtype=np.int64), np.zeros(team, dtype=np.int64)
        together(
            native.largest_edges, codes, weights, signs, counted_weights, self._bins.missing,
            counted, partial, edges, totals, at_most=team,
        )  # fmt: skip
        return edges, int(totals.sum())

    def _stump(self, feature: int, cut: int, difference: int, absent: int) -> StumpRule:
        thresholds: NDArray[np.float32] = self._bins.thresholds[feature]
        threshold = float(thresholds[cut]) if cut < thresholds.size else math.inf
        above = 1 if difference >= 0 else -1
        if absent != 0:
            missing = 1 if absent > 0 else -1
        else:  # no evidence: treat a missing value like the median
            missing = above if self._bins.middle[feature] > cut else -above
        return StumpRule(feature, threshold, cut, above, missing)
