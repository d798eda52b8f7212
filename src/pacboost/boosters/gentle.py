"""GentleBoost (Friedman, Hastie and Tibshirani 2000): AdaBoost's weights, with gentler votes.

Each cell adds the weighted mean of its signs, (W₊ - W₋)/(W₊ + W₋), which never exceeds 1: the
Newton step of the exponential loss, where AdaBoost takes the whole way to the minimum. Training
error ≤ mean exp(-yF) = ∏ Z_t, with the Z_t it really had.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pacboost.boosters.base.booster import whole_values
from pacboost.boosters.base.exponential import ExponentialState, ExponentialWeights
from pacboost.boosters.base.parameters import check_rate
from pacboost.hypotheses.hypothesis import Cells, CellValues
from pacboost.numerics.exact import MOST_VOTE
from pacboost.samples.request import Sums


@dataclass(frozen=True)
class Gentle(ExponentialWeights):
    """The rules of GentleBoost; ``learning_rate`` scales what cells add.

    >>> sums = Sums(np.array([[6], [-2]]), np.array([[8], [2]]), 10, 10, 10)
    >>> rules = Gentle()
    >>> state = rules.init(np.ones((10, 1), dtype=np.int8), np.ones(1))
    >>> rules.values(state, sums, np.zeros(10, dtype=np.uint8)).tolist()
    [[0.75], [-1.0]]
    """

    name: ClassVar[str] = "gentle"
    title: ClassVar[str] = "GentleBoost"
    criterion: ClassVar[str] = "newton"

    learning_rate: float = 1.0

    def __post_init__(self) -> None:
        check_rate("learning_rate", self.learning_rate)

    def values(self, state: ExponentialState, sums: Sums, cells: Cells) -> CellValues:
        """Give each cell the mean of its signs."""
        values = self.learning_rate * sums.means()
        return whole_values(np.clip(values, -MOST_VOTE, MOST_VOTE))
