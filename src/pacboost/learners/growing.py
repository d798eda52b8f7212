"""The search for trees on one sample: what dense and sparse samples share."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import ParameterError
from pacboost.hypotheses.hypothesis import Cells, Hypothesis
from pacboost.hypotheses.tree import TreeRule
from pacboost.kernels import split, update
from pacboost.kernels.cuda.device import flat
from pacboost.kernels.runtime.team import team_for, together
from pacboost.kernels.split import LOW
from pacboost.learners.learner import Rows, Search, Weights
from pacboost.learners.tree_parameters import (
    CRITERIA,
    MOST_LEAVES,
    TreeParameters,
    begin,
    interaction_rules,
)
from pacboost.numerics.exact import FRESH_TOTAL
from pacboost.samples.sample import Request, Sample

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

    learners/dense_growing.py searches dense samples, learners/sparse_growing.py sparse ones.
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
        """Tell the rows that were not chosen their leaves."""

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
        """Find a tree whose leaves name a sign or a class each."""
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
        """Return the tree of a single leaf."""
        return TreeRule.constant(self._bins, np.zeros(self.sample.signs.shape[1]))

    def partition(self, request: Request, seed: int, chosen: Rows | None) -> tuple[TreeRule, Cells]:
        """Grow a tree. The cells are overwritten by the next one."""
        unit = self._prepare(request, seed, chosen)
        self._starts[0], self._slots[0], self._depths[0] = 0, 0, 0
        self._sizes[0] = self.sample.n_rows if chosen is None else chosen.size
        self._spans[0] = -np.inf, np.inf
        if self._interactions is not None:
            begin(self._interactions)
        leaves = self._grow(chosen, key_of(seed))
        tree = self._rule(leaves, unit)
        if chosen is not None:
            self._settle(tree, chosen)
        return tree, self._cells

    @property
    def _drawn(self) -> int:
        """How many features are looked at for a split."""
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
            given = flat(request.weights), flat(pulls), signed
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
        signs, shape = np.array([-1, 1], np.int8), (self._lines, outputs)
        return np.random.default_rng((seed, 1)).choice(signs, shape)

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
        """Return the tree, with nothing to say yet."""
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
