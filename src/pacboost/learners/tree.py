"""Trees, grown best-first on codes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from pacboost.errors import ParameterError
from pacboost.learners.dense_growing import DenseTreeSearch
from pacboost.learners.growing import CRITERIA, MOST_LEAVES, TreeSearch
from pacboost.learners.learner import Learner
from pacboost.learners.sparse_growing import SparseTreeSearch
from pacboost.samples.sample import Sample


@dataclass(frozen=True)
class Tree(Learner):
    """A tree of at most ``max_leaves``, whose next split is always the best one there is.

    Missing values go where they help more; where none was seen, to the heavier side. A category is
    split into two sets of its levels, ordered by their mean pull, which is optimal for two classes
    (Fisher 1958) and a good guess for more. With many classes, splits are chosen by ``sketch``
    random sums of the classes' pulls (Iosipoi and Vakhrushev 2022); the values of the leaves are
    exact all the same.
    """

    max_leaves: int = 31
    max_depth: int | None = None
    min_leaf_rows: float = 20
    """The least size of a leaf, told from its share of the weight."""
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

    codes = sparse = True

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

    @property
    def deterministic(self) -> bool:  # type: ignore[override]
        """It is, unless features are drawn."""
        return self.max_features is None

    def finds_rules(self, sample: Sample) -> bool:
        """It looks for cells."""
        return False

    def on(self, sample: Sample) -> TreeSearch:
        """Lay the codes out."""
        search = DenseTreeSearch if sample.sparse is None else SparseTreeSearch
        return search(self, sample)
