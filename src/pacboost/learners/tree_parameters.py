"""The parameters of trees, and the features that may interact in one."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral

import numpy as np

from pacboost.errors import ParameterError, invalid
from pacboost.kernels import layout

CRITERIA = {
    "newton": layout.NEWTON, "gini": layout.NEWTON, "z": layout.Z, "error": layout.ERROR,
}  # fmt: skip
"""Gini's impurity of signs is Σ W - pull²/weight, so that its gain is Newton's gain."""
NAMED_INTERACTIONS = {"no_interactions": 1, "pairwise": 2}
"""Maximum number of different features on a path from the root to a leaf."""
MAX_LEAVES = 65_536
NUMERIC_PARAMETERS = (
    "max_leaves", "max_depth", "min_leaf_rows", "min_leaf_weight", "max_features", "cat_smooth",
    "cat_penalty", "min_level_rows", "sketch",
)  # fmt: skip
NONNEGATIVE_PARAMETERS = (
    "min_leaf_rows", "min_leaf_weight", "cat_smooth", "cat_penalty", "min_level_rows",
)  # fmt: skip


@dataclass(frozen=True)
class TreeParameters:
    """The parameters of trees; learners/tree.py describes the algorithm."""

    max_leaves: int = 31
    max_depth: int | None = None
    min_leaf_rows: float = 20
    """Minimum number of rows in a leaf, estimated from its share of the weight; a float strictly
    between 0 and 1 is a share of all rows."""
    min_leaf_weight: float = 1e-3
    """Minimum weight of a leaf, in rows of mean weight."""
    criterion: str | None = None
    """"z", "error", "gini" or "newton"; None for the booster's default."""
    max_features: float | None = None
    """The number (int) or the share (float) of the features considered for each split."""
    monotone: Mapping[int, int] = field(default_factory=dict, hash=False)
    """+1 for features in which the score may only rise, -1 for those in which it may only fall."""
    cat_smooth: float = 10.0
    """Number of rows of mean weight and no pull added to each level before levels are ordered."""
    cat_penalty: float = 0.5
    """Penalty on the gain of a categorical split for each level in the node beyond two, in units of
    the gain that a level has by chance; unused with criterion "error"."""
    min_level_rows: float = 10.0
    """Levels with fewer rows in a node, estimated from their share of its weight, go where missing
    values go."""
    sketch: int = 3
    interactions: Sequence[Collection[int]] | str | None = field(default=None, hash=False)
    """Sets of features that may occur together on a path to a leaf; features in no set form another
    one. "pairwise" allows any two, "no_interactions" one; None allows all."""

    def __post_init__(self) -> None:
        for name in NUMERIC_PARAMETERS:
            if isinstance(getattr(self, name), bool):
                raise invalid(name, getattr(self, name), "must be a number")
        if not 2 <= self.max_leaves <= MAX_LEAVES:
            raise invalid("max_leaves", self.max_leaves, f"may be 2 to {MAX_LEAVES:,}")
        if self.max_depth is not None and self.max_depth < 1:
            raise invalid("max_depth", self.max_depth, "must be 1 or more, or None for no limit")
        for name in NONNEGATIVE_PARAMETERS:
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 0):
                raise invalid(name, value, "must be 0 or more")
        if self.criterion is not None and self.criterion not in CRITERIA:
            raise invalid("criterion", self.criterion, f"may be {', '.join(CRITERIA)} or None")
        features = self.max_features
        if features is not None and not (
            features >= 1 if _is_whole(features) else 0 < features <= 1
        ):
            rule = "may be a whole number of features, 1 or more, a share of them as a float in "
            raise invalid("max_features", features, f"{rule}(0, 1], or None for all")
        if self.sketch < 1:
            raise invalid("sketch", self.sketch, "must be 1 or more")
        if isinstance(self.interactions, str) and self.interactions not in NAMED_INTERACTIONS:
            names = ", ".join(NAMED_INTERACTIONS)
            rule = f"may be {names}, sets of features, or None"
            raise invalid("interactions", self.interactions, rule)

    @property
    def share_drawn(self) -> float | None:
        """The share of features considered for each split; None if their number is set."""
        n_or_share = self.max_features
        return 1.0 if n_or_share is None else None if _is_whole(n_or_share) else float(n_or_share)

    def features_of(self, features: int) -> int:
        """Return how many of the features are considered for each split.

        >>> [TreeParameters(max_features=m).features_of(8) for m in (None, 1, 1.0, 0.5)]
        [8, 1, 8, 4]
        """
        n_or_share = self.max_features
        if n_or_share is None:
            return features
        if _is_whole(n_or_share):
            return min(features, int(n_or_share))
        return max(1, round(n_or_share * features))

    def min_rows(self, rows: int) -> float:
        """Return the minimum number of rows in a leaf of a tree on ``rows`` rows.

        >>> [TreeParameters(min_leaf_rows=m).min_rows(50) for m in (20, 0.1, 1.0)]
        [20, 5, 1.0]
        """
        share = self.min_leaf_rows
        return math.ceil(share * rows) if 0 < share < 1 else share


def _is_whole(value: object) -> bool:
    return isinstance(value, Integral)


def interaction_rules(
    tree: TreeParameters, features: int, leaves: int
) -> layout.Interactions | None:
    """Return the arrays that the kernels need; None if all features may interact.

    Features that no set names form another set, as in scikit-learn.

    >>> rules = interaction_rules(TreeParameters(interactions=[(0, 1)]), 4, 31)
    >>> rules.sets.tolist()
    [[1, 1, 0, 0], [0, 0, 1, 1]]
    """
    interactions = tree.interactions
    if interactions is None:
        return None
    if isinstance(interactions, str):
        max_features, sets = NAMED_INTERACTIONS[interactions], np.zeros((0, features), np.uint8)
    else:
        max_features, sets = features, np.zeros((len(interactions), features), np.uint8)
        for line, names in zip(sets, interactions, strict=True):
            for j in names:
                if not 0 <= j < features:
                    raise ParameterError(
                        f"interactions names feature {j!r}; the features are 0 to {features - 1}",
                        parameter="interactions",
                    )
                line[j] = 1
        unnamed = sets.max(axis=0, initial=0) == 0
        if unnamed.any():
            sets = np.vstack([sets, unnamed.astype(np.uint8)])
    return layout.Interactions(
        sets,
        max_features,
        tree.share_drawn or 1.0,
        np.zeros((leaves, len(sets)), dtype=np.uint8),
        np.zeros((leaves, features), dtype=np.uint8),
        np.zeros((leaves, features), dtype=np.uint8),
    )
