"""A stump that is as weak as its promise allows: for experiments on what boosting needs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import ParameterError
from pacboost.hypotheses.stump import StumpRule
from pacboost.learners.learner import Capacity, Learner, Search, Weights
from pacboost.learners.stump import Stump
from pacboost.samples.sample import Sample


@dataclass(frozen=True)
class WeakStump(Learner):
    """Of all stumps whose edge reaches ``edge``, give the one with the smallest; else the best.

    >>> from pacboost import BoostClassifier
    >>> from pacboost.boosters.adaboost import AdaBoost
    >>> from pacboost.sources.plane import Plane
    >>> X, y = Plane("moons").draw(200, seed=0)
    >>> weak = BoostClassifier(AdaBoost(), WeakStump(0.2), 5, early_stopping=False).fit(X, y)
    >>> all(0.19 < entry.edge < 0.21 for entry in weak.ledger_.rounds)
    True
    """

    edge: float = 0.1

    codes = True
    deterministic = True

    def __post_init__(self) -> None:
        if not 0 <= self.edge <= 1:
            raise ParameterError(f"edge is {self.edge}; an edge to promise lies in [0, 1]")

    def on(self, sample: Sample) -> WeakStumpSearch:
        """Sort nothing: the codes are in order."""
        return WeakStumpSearch(sample, self)

    def capacity(self, sample: Sample) -> Capacity:
        """The class is that of all stumps."""
        return Stump().capacity(sample)


@dataclass(frozen=True)
class WeakStumpSearch(Search):
    """All stumps of one sample, tried in every round."""

    sample: Sample
    promise: WeakStump

    def find(self, weights: Weights, answers: NDArray[Any], seed: int) -> StumpRule:
        """Measure every stump, and take the weakest that keeps the promise."""
        total = int(weights.sum())
        asked = self.promise.edge * total
        edges = [stump_edges(self.sample, weights, answers, j) for j in range(self._features)]
        sizes = np.concatenate([np.abs(own) for own in edges])
        enough = sizes >= asked - total * 2.0**-40
        if enough.any() and self.promise.edge > 0:
            place = int(np.where(enough, sizes, np.iinfo(np.int64).max).argmin())
        else:
            place = int(sizes.argmax())
        feature = 0
        while place >= edges[feature].size:
            place -= edges[feature].size
            feature += 1
        return self._rule(feature, place, 1 if edges[feature][place] >= 0 else -1)

    @property
    def _features(self) -> int:
        return self.sample.table.n_columns

    def _rule(self, feature: int, cut: int, above: int) -> StumpRule:
        assert self.sample.bins is not None
        thresholds = self.sample.bins.thresholds[feature]
        threshold = float(thresholds[cut]) if cut < thresholds.size else math.inf
        missing = above if self.sample.bins.middle[feature] > cut else -above
        return StumpRule(feature, threshold, cut, above, missing)


def stump_edges(
    sample: Sample, weights: Weights, answers: NDArray[Any], feature: int
) -> NDArray[np.int64]:
    """Give the edge of "above the cut → +1" for every cut of a feature, in units of the weights.

    The last one has nothing above it: it answers -1 everywhere. Rows with a missing value are
    left out.
    """
    if sample.bins is None:
        raise TypeError("stumps are measured on codes: give the sample its bins")
    codes = sample.column(feature)
    counted = codes != sample.bins.missing
    signed = weights * answers
    bins = sample.bins.thresholds[feature].size + 1
    own = np.zeros(bins, dtype=np.int64)
    np.add.at(own, codes[counted].astype(np.intp), signed[counted])
    below: NDArray[np.int64] = np.cumsum(own)
    edges: NDArray[np.int64] = below[-1] - 2 * below
    return edges
