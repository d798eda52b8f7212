"""The parameters of trees: what the learner of trees and its searches share."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from pacboost.errors import ParameterError
from pacboost.kernels import best_split

CRITERIA = {
    "newton": best_split.NEWTON,
    "gini": best_split.NEWTON,
    "z": best_split.Z,
    "error": best_split.ERROR,
}
"""Gini's impurity of signs is Σ W - pull²/weight, so that its gain is Newton's gain."""
MOST_LEAVES = 65_536


@dataclass(frozen=True)
class TreeParameters:
    """How trees are grown; learners/tree.py describes the algorithm."""

    max_leaves: int = 31
    max_depth: int | None = None
    min_leaf_rows: float = 20
    """The least number of rows in a leaf, estimated from its share of the weight."""
    min_leaf_weight: float = 1e-3
    """The least weight of a leaf, in rows of mean weight."""
    criterion: str | None = None
    """"z", "error", "gini" or "newton"; None for what the booster wants."""
    max_features: float | None = None
    """The share of the features (or their number, from 1 on) looked at for each split."""
    monotone: Mapping[int, int] = field(default_factory=dict, hash=False)
    """+1 or -1 for features in which the score may only rise or only fall."""
    cat_smooth: float = 10.0
    """Rows of mean weight without pull that are added to a category before it is ordered."""
    sketch: int = 3

    def __post_init__(self) -> None:
        if not 2 <= self.max_leaves <= MOST_LEAVES:
            raise ParameterError(f"max_leaves is {self.max_leaves}; it may be 2 to {MOST_LEAVES:,}")
        if self.max_depth is not None and self.max_depth < 1:
            raise ParameterError(f"max_depth is {self.max_depth}; it must be 1 or more, or None")
        for name in ("min_leaf_rows", "min_leaf_weight", "cat_smooth"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 0):
                raise ParameterError(f"{name} is {value}; it must be 0 or more")
        if self.criterion is not None and self.criterion not in CRITERIA:
            raise ParameterError(
                f"criterion is {self.criterion!r}; it may be {', '.join(CRITERIA)} or None"
            )
        most = self.max_features
        if most is not None and not (math.isfinite(most) and most > 0):
            raise ParameterError(
                f"max_features is {most}; it must be above 0: a share, or a number of features "
                "from 1 on"
            )
        if self.sketch < 1:
            raise ParameterError(f"sketch is {self.sketch}; it must be 1 or more")
