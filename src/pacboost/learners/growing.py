"""The search for trees on one sample: what dense and sparse samples share."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import ParameterError
from pacboost.hypotheses.hypothesis import Cells, Hypothesis
from pacboost.hypotheses.tree import TreeRule
from pacboost.kernels import split, update
from pacboost.kernels.grow import Interactions
from pacboost.kernels.runtime.team import team_for, together
from pacboost.kernels.split import LOW
from pacboost.learners.learner import Rows, Search, Weights
from pacboost.numerics.exact import FRESH_TOTAL
from pacboost.samples.sample import Request, Sample

# The parameters of trees: what the learner of trees and its searches share.

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
    def share_drawn(self) -> float | None:
        """The share of features looked at for each split; None where their number is set."""
        most = self.max_features
        return 1.0 if most is None else None if _is_whole(most) else float(most)

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
        tree.share_drawn or 1.0,
        np.zeros((leaves, len(sets)), dtype=np.uint8),
        np.zeros((leaves, features), dtype=np.uint8),
        np.zeros((leaves, features), dtype=np.uint8),
    )


MOST_SUM = 2**30
"""Sums of pulls and of weights stay below 2**31, so that both fit into one number of 64 bits."""
WHY_TWO_CLASSES = (
    "with more, each class has its own score, and the probability of a class can fall though its "
    "score rises. Drop the constraints, or fit one class against the others (y == k)"
)
"""Why monotone constraints are refused."""


def key_of(seed: int) -> np.uint64:
    """Return the key by which features are drawn for the leaves of a tree."""
    return np.uint64(seed * 2**20)


class TreeSearch(Search):
    """Row order, splits and sums of one sample, used again for every tree.

    learners/tree.py searches dense samples, learners/sparse_growing.py sparse ones.
    """

    def __init__(self, tree: TreeParameters, sample: Sample) -> None:
        if sample.bins is None:
            raise TypeError("trees are grown on codes: give the sample its bins")
        self.sample = sample
        self._tree = tree
        self._bins = sample.bins
        self._features = self._lay_out()
        self._set_slopes()
        columns = [split.CATEGORY, split.MONOTONE]
        self._numbers_only = not self._features[:, columns].any()
        self._plain = False
        rows, outputs = sample.signs.shape
        self._lines = min(outputs, tree.sketch)
        leaves = min(tree.max_leaves, max(2, rows))
        self._order = np.empty(rows, dtype=np.uint32)
        self._pairs = np.empty((self._lines, rows), dtype=np.int64)
        self._cells: Cells = np.empty(rows, dtype=np.uint8 if leaves <= 256 else np.uint16)
        self._starts, self._sizes, self._slots = np.zeros((3, leaves), dtype=np.int64)
        self._spans = np.zeros((leaves, 2))
        self._best = np.zeros((leaves, 3), dtype=np.int64)
        self._members = np.zeros((leaves, 256), dtype=np.uint8)
        self._gains = np.zeros(leaves)
        self._splits = np.zeros((leaves, 5), dtype=np.int64)
        self._split_members = np.zeros((leaves, 256), dtype=np.uint8)
        self._split_gains = np.zeros(leaves)
        self._hangs = np.zeros((leaves, 2), dtype=np.int64)
        self._depths = np.zeros(leaves, dtype=np.int64)
        self._rules = np.zeros(split.RULES)
        self._leaves = leaves
        self._interactions = interaction_rules(tree, len(self._features), leaves)
        self._make_room()

    @abstractmethod
    def _lay_out(self) -> NDArray[np.int64]:
        """Lay the codes out; give what samples/blocks.py says of each feature."""

    @abstractmethod
    def _make_room(self) -> None:
        """Reserve what is used for every tree."""

    @abstractmethod
    def _grow(self, chosen: Rows | None, key: np.uint64) -> int:
        """Grow a tree on the chosen rows (None: all); write their cells, give the leaves' number.

        ``key`` says which features are drawn for each leaf.
        """

    @abstractmethod
    def _settle(self, tree: TreeRule, chosen: Rows) -> None:
        """Set the leaves of the rows that were not chosen."""

    def _set_slopes(self) -> None:
        features = self._features
        if self._tree.monotone and self.sample.signs.shape[1] > 1:
            raise ParameterError(f"monotone constraints are for two classes: {WHY_TWO_CLASSES}")
        for j, slope in self._tree.monotone.items():
            if not 0 <= j < len(features) or slope not in (-1, 0, 1):
                raise ParameterError(
                    f"monotone sets {slope!r} on feature {j!r}; it may set -1, 0 or +1 on the "
                    f"features 0 to {len(features) - 1}"
                )
            if slope and features[j, split.CATEGORY]:
                raise ParameterError(
                    f"a monotone constraint is set on {self.sample.table.name(j)!r}, a category: "
                    "its levels have no order. Drop the constraint, or give the column as numbers"
                )
            features[j, split.MONOTONE] = slope

    def find(self, weights: Weights, answers: NDArray[Any], seed: int) -> Hypothesis:
        signs = self.sample.signs
        outputs = signs.shape[1]
        own = np.repeat(weights[:, None], outputs, axis=1)
        total = int(weights.sum()) * outputs
        criterion = "error" if outputs == 1 else "gini"
        request = Request(own, signs, total, total, criterion)
        tree, cells = self.partition(request, seed, None)
        counted = np.zeros((len(tree.values), outputs))
        for k in range(outputs):
            counted[:, k] = np.bincount(cells, own[:, k] * signs[:, k], len(tree.values))
        named = np.sign(counted)
        if outputs > 1:
            named = np.eye(outputs)[counted.argmax(axis=1)]
        inside = np.bincount(cells, weights, len(tree.values)).astype(np.float64)
        return tree.valued(named, inside)

    def constant(self) -> Hypothesis:
        return TreeRule.constant(self._bins, np.zeros(self.sample.signs.shape[1]))

    def partition(self, request: Request, seed: int, chosen: Rows | None) -> tuple[TreeRule, Cells]:
        unit = self._prepare(request, seed, chosen)
        self._starts[0], self._slots[0], self._depths[0] = 0, 0, 0
        self._sizes[0] = self.sample.n_rows if chosen is None else chosen.size
        self._spans[0] = -np.inf, np.inf
        rules = self._interactions
        if rules is not None:  # all features are open to the root, and none was asked for
            rules.reach[0], rules.asked[0], rules.open[0] = 1, 0, 1
        leaves = self._grow(chosen, key_of(seed))
        tree = self._rule(leaves, unit)
        if chosen is not None:
            self._settle(tree, chosen)
        return tree, self._cells

    def _sides(self, tree: TreeRule) -> NDArray[np.uint8]:
        """Return for every split, and every code of its feature's lane, whether it goes left."""
        sides = tree.sides()
        for own, feature in zip(sides, self._features[tree.feature], strict=True):
            _, base, bins, default, *_ = feature.tolist()
            if default >= 0:  # other features' codes mean that this one has its default
                others = np.delete(own[:bins], default)
                own[:] = own[default]
                own[base : base + others.size] = others
        return sides

    @property
    def _drawn(self) -> int:
        return self._tree.features_of(len(self._features))

    @property
    def _deepest(self) -> int:
        return MOST_LEAVES if self._tree.max_depth is None else self._tree.max_depth

    def _prepare(self, request: Request, seed: int, chosen: Rows | None) -> float:
        """Round and pair pulls and weights; give the factor that makes gains comparable."""
        self._pair(request, seed)
        return self._set_rules(request, chosen)

    def _pair(self, request: Request, seed: int) -> None:
        outputs, signed, pulls = request.weights.shape[1], request.signed, request.pulls
        scales = MOST_SUM / request.pull, MOST_SUM / request.weight
        team = team_for(request.weights.size)
        if outputs == 1:
            given = request.weights.reshape(-1), pulls.reshape(-1), signed
            together(update.pair_up_one, *given, *scales, self._pairs[0], at_most=team)
            return
        signs = self._flips(outputs, seed)
        given = request.weights, pulls, signed
        together(update.pair_up, *given, signs, *scales, self._pairs, at_most=team)

    def _set_rules(self, request: Request, chosen: Rows | None) -> float:
        """Write down what splits are measured by; give the factor that makes gains comparable."""
        tree, (rows, outputs) = self._tree, request.weights.shape
        pull_scale, weight_scale = MOST_SUM / request.pull, MOST_SUM / request.weight
        criterion = request.criterion if tree.criterion is None else tree.criterion
        if criterion in ("z", "error") and not request.signed:
            raise ParameterError(
                f"criterion {criterion!r} is for boosters whose rows ask for their signs, such as "
                "adaboost; leave it at None for this one"
            )
        kind = CRITERIA[criterion] if outputs == 1 else split.NEWTON
        mean = MOST_SUM / rows
        self._plain = self._numbers_only and self._lines == 1 and kind == split.NEWTON
        self._rules[split.CRITERION] = kind
        self._rules[split.PENALTY] = request.penalty * outputs * weight_scale
        self._rules[split.LEAST_WEIGHT] = tree.min_leaf_weight * mean
        self._rules[split.SMOOTH] = tree.cat_smooth * mean
        chance = self._gain_by_chance(kind)
        self._rules[split.CHANCE] = chance
        # of √(weight² - pull²) the part that pulls change is half of pull²/weight
        half = 2 if kind == split.Z else 1
        self._rules[split.LEVEL_PENALTY] = tree.cat_penalty * chance / half
        self._rules[split.LEVEL_ROWS] = tree.min_level_rows
        self._rules[split.LEAST_ROWS] = tree.least_rows(rows if chosen is None else chosen.size)
        if request.signed:
            return 1 / MOST_SUM  # gains are shares of the total weight
        return weight_scale / pull_scale**2 / FRESH_TOTAL  # in units that all rounds share

    def _flips(self, outputs: int, seed: int) -> NDArray[np.int8]:
        """Return the sign of every output in every line of a sketch; or a line for every output."""
        if self._lines == outputs:
            return np.eye(outputs, dtype=np.int8)
        draws = np.random.default_rng((seed, 1)).integers(0, 2, (self._lines, outputs))
        return np.array([-1, 1], np.int8)[draws]

    def _gain_by_chance(self, kind: int) -> float:
        """Return the mean gain of a group of rows whose pulls are noise, in the units of a gain.

        The squared sum of n such pulls is about n times their mean square, so (Σ pull)²/weight does
        not depend on n. Squares are summed as whole numbers: the absolute pulls of a line sum to
        about 2³⁰ at most.
        """
        if kind == split.ERROR or self._numbers_only:
            return 0.0
        if not self._features[:, split.CATEGORY].any():
            return 0.0
        squares = [float(np.square(line >> 32).sum()) for line in self._pairs]
        weight = float((self._pairs[0] & LOW).sum())
        return sum(squares) / max(weight, 1.0)

    def _rule(self, leaves: int, unit: float) -> TreeRule:
        splits = self._splits[: leaves - 1]
        feature, cut, missing_left, left, right = np.ascontiguousarray(splits.T, dtype=np.int32)
        member, members = np.full(feature.size, -1, dtype=np.int32), self._split_members[:0]
        if not self._numbers_only:
            category = self._features[feature, split.CATEGORY] != 0
            member[category] = np.arange(np.count_nonzero(category))
            members = self._split_members[: leaves - 1][category]
        slope = None
        if self._tree.monotone:
            orders = cut < self._features[feature, split.BINS] - 1
            slopes = self._features[feature, split.MONOTONE]
            slope = np.where(orders, slopes, 0).astype(np.int8)
        return TreeRule(
            self._bins,
            feature,
            cut,
            missing_left.astype(np.bool_),
            left,
            right,
            member,
            members.copy(),
            self._split_gains[: leaves - 1] * unit,
            np.zeros(2 * leaves - 1),
            np.zeros((leaves, self.sample.signs.shape[1])),
            slope,
        )
