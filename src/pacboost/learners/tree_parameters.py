"""The parameters of trees: what the learner of trees and its searches share."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral

import numpy as np

from pacboost.errors import ParameterError
from pacboost.kernels import split
from pacboost.kernels.grow import Interactions

CRITERIA = {
    "newton": split.NEWTON,
    "gini": split.NEWTON,
    "z": split.Z,
    "error": split.ERROR,
}
"""Gini's impurity of signs is Σ W - pull²/weight, so that its gain is Newton's gain."""
NAMED_INTERACTIONS = {"no_interactions": 1, "pairwise": 2}
"""How many different features each path of a tree asks for at most."""
MOST_LEAVES = 65_536
NUMBERS = (
    "max_leaves", "max_depth", "min_leaf_rows", "min_leaf_weight", "max_features", "cat_smooth",
    "cat_penalty", "min_level_rows", "sketch",
)  # fmt: skip
NOT_NEGATIVE = (
    "min_leaf_rows", "min_leaf_weight", "cat_smooth", "cat_penalty", "min_level_rows",
)  # fmt: skip


@dataclass(frozen=True)
class TreeParameters:
    """How trees are grown; learners/tree.py describes the algorithm."""

    max_leaves: int = 31
    max_depth: int | None = None
    min_leaf_rows: float = 20
    """The least number of rows in a leaf, estimated from its share of the weight; a float strictly
    between 0 and 1 is a share of all rows."""
    min_leaf_weight: float = 1e-3
    """The least weight of a leaf, in rows of mean weight."""
    criterion: str | None = None
    """"z", "error", "gini" or "newton"; None for what the booster wants."""
    max_features: float | None = None
    """The number (int) or the share (float) of the features looked at for each split."""
    monotone: Mapping[int, int] = field(default_factory=dict, hash=False)
    """+1 or -1 for features in which the score may only rise or only fall."""
    cat_smooth: float = 10.0
    """Rows of mean weight without pull that are added to a category before it is ordered."""
    cat_penalty: float = 0.5
    """Subtracted from the gain of a split by a category, for each of its levels in the node beyond
    two, in units of the gain that a level has by chance; not with criterion "error"."""
    min_level_rows: float = 10.0
    """Levels with fewer rows in a node, estimated from their share of its weight, go where missing
    values go."""
    sketch: int = 3
    interactions: Sequence[Collection[int]] | str | None = field(default=None, hash=False)
    """Sets of features that may be asked for on the way to one leaf; those in no set are a set of
    their own. "pairwise" allows any two, "no_interactions" one; None allows all."""

    def __post_init__(self) -> None:
        for name in NUMBERS:
            if isinstance(getattr(self, name), bool):
                raise ParameterError(f"{name} is {getattr(self, name)}; it must be a number")
        if not 2 <= self.max_leaves <= MOST_LEAVES:
            raise ParameterError(f"max_leaves is {self.max_leaves}; it may be 2 to {MOST_LEAVES:,}")
        if self.max_depth is not None and self.max_depth < 1:
            raise ParameterError(
                f"max_depth is {self.max_depth}; it must be 1 or more, or None for no limit"
            )
        for name in NOT_NEGATIVE:
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 0):
                raise ParameterError(f"{name} is {value}; it must be 0 or more")
        if self.criterion is not None and self.criterion not in CRITERIA:
            raise ParameterError(
                f"criterion is {self.criterion!r}; it may be {', '.join(CRITERIA)} or None"
            )
        most = self.max_features
        if most is not None and not (most >= 1 if _is_whole(most) else 0 < most <= 1):
            raise ParameterError(
                f"max_features is {most!r}; it may be a whole number of features, 1 or more, a "
                "share of them as a float in (0, 1], or None for all"
            )
        if self.sketch < 1:
            raise ParameterError(f"sketch is {self.sketch}; it must be 1 or more")
        if isinstance(self.interactions, str) and self.interactions not in NAMED_INTERACTIONS:
            raise ParameterError(
                f"interactions is {self.interactions!r}; it may be {', '.join(NAMED_INTERACTIONS)},"
                " sets of features, or None"
            )

    @property
    def draws_features(self) -> bool:
        """Whether only some of the features are looked at for each split."""
        most = self.max_features
        return most is not None and (_is_whole(most) or most < 1)

    @property
    def share_drawn(self) -> float:
        """The share of features looked at for each split, 1 if a number or nothing is set."""
        most = self.max_features
        return 1.0 if most is None or _is_whole(most) else float(most)

    def features_of(self, features: int) -> int:
        """How many of the features are looked at for each split.

        >>> [TreeParameters(max_features=most).features_of(8) for most in (None, 1, 1.0, 0.5)]
        [8, 1, 8, 4]
        """
        most = self.max_features
        if most is None:
            return features
        if _is_whole(most):
            return min(features, int(most))
        return max(1, round(most * features))

    def least_rows(self, rows: int) -> float:
        """How many rows a leaf has at least, if there are so many rows in all.

        >>> [TreeParameters(min_leaf_rows=least).least_rows(50) for least in (20, 0.1, 1.0)]
        [20, 5, 1.0]
        """
        share = self.min_leaf_rows
        return math.ceil(share * rows) if 0 < share < 1 else share


def _is_whole(value: object) -> bool:
    return isinstance(value, Integral)


# Which features may interact in a tree: the sets that a user gives, as arrays for the kernels.


def interaction_rules(tree: TreeParameters, features: int, leaves: int) -> Interactions | None:
    """Reserve what the kernels need, None if all features may interact.

    Features that no set names are a set of their own, as in scikit-learn.

    >>> rules = interaction_rules(TreeParameters(interactions=[(0, 1)]), 4, 31)
    >>> rules.sets.tolist()
    [[1, 1, 0, 0], [0, 0, 1, 1]]
    """
    given = tree.interactions
    if given is None:
        return None
    most = features
    sets = np.zeros((0, features), dtype=np.uint8)
    if isinstance(given, str):
        most = NAMED_INTERACTIONS[given]
    else:
        sets = np.zeros((len(given), features), dtype=np.uint8)
        for line, members in zip(sets, given, strict=True):
            for j in members:
                if not 0 <= j < features:
                    raise ParameterError(
                        f"interactions names feature {j!r}; the features are 0 to {features - 1}"
                    )
                line[j] = 1
        others = sets.max(axis=0, initial=0) == 0
        if others.any():
            sets = np.vstack([sets, others.astype(np.uint8)])
    return Interactions(
        sets,
        most,
        tree.share_drawn,
        np.zeros((leaves, len(sets)), dtype=np.uint8),
        np.zeros((leaves, features), dtype=np.uint8),
        np.zeros((leaves, features), dtype=np.uint8),
    )


def begin(rules: Interactions) -> None:
    """Open all features to the root: nothing has been asked for yet."""
    rules.reach[0], rules.asked[0], rules.open[0] = 1, 0, 1
