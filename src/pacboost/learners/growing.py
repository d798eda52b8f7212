"""The search for trees on one sample: the part that dense and sparse samples share."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import ParameterError
from pacboost.hypotheses.hypothesis import Cells, Hypothesis
from pacboost.hypotheses.tree import TreeRule
from pacboost.kernels import layout
from pacboost.kernels.native import native
from pacboost.kernels.row_draws import KEY_BITS
from pacboost.kernels.team import team_for, together
from pacboost.learners.learner import Rows, Search, Weights
from pacboost.learners.tree_parameters import (
    CRITERIA,
    MAX_LEAVES,
    TreeParameters,
    interaction_rules,
)
from pacboost.numerics.exact import FRESH_TOTAL
from pacboost.samples.sample import Request, Sample

MAX_SUM = 2**30
"""Pulls and weights are scaled to sums of 2**30, so that a pair fits into one 64-bit integer."""
WHY_TWO_CLASSES = (
    "with more, each class has its own score, and the probability of a class can fall though its "
    "score rises. Drop the constraints, or fit one class against the others (y == k)"
)
"""Why monotone constraints are refused for more than two classes."""


def key_of(seed: int) -> np.uint64:
    """Return the random key for drawing the features of each leaf of a tree."""
    return np.uint64(seed << KEY_BITS)


class TreeSearch(Search):
    """Row order, splits and sums of one sample, reused for every tree."""

    def __init__(self, tree: TreeParameters, sample: Sample) -> None:
        assert sample.bins is not None
        self.sample = sample
        self._tree = tree
        self._bins = sample.bins
        self._features = self._lay_out()
        self._set_slopes()
        columns = [layout.CATEGORY, layout.MONOTONE]
        self._numbers_only = not self._features[:, columns].any()
        self._plain = False
        rows, outputs = sample.signs.shape
        self._lines = min(outputs, tree.sketch)
        leaves = self._max_leaves = min(tree.max_leaves, max(2, rows))
        self._order = np.empty(rows, dtype=np.uint32)
        self._pairs = np.empty((self._lines, rows), dtype=np.int64)
        self._cells: Cells = np.empty(rows, dtype=np.uint8 if leaves <= 256 else np.uint16)
        self._spans = np.zeros((leaves, 2))
        self._leaves = layout.Leaves(
            np.zeros(leaves, dtype=np.int64),
            np.zeros(leaves, dtype=np.int64),
            np.zeros(leaves, dtype=np.int64),
            best=np.zeros((leaves, 3), dtype=np.int64),
            members=np.zeros((leaves, 256), dtype=np.uint8),
            gains=np.zeros(leaves),
            hangs=np.zeros((leaves, 2), dtype=np.int64),
            depths=np.zeros(leaves, dtype=np.int64),
        )
        self._splits = layout.Splits(
            np.zeros((leaves, 5), dtype=np.int64),
            np.zeros((leaves, 256), dtype=np.uint8),
            np.zeros(leaves),
        )
        self._rules = np.zeros(layout.RULES)
        self._interactions = interaction_rules(tree, len(self._features), leaves)
        self._make_room()

    @abstractmethod
    def _lay_out(self) -> NDArray[np.int64]:
        """Lay the codes out; return the features as in ``Blocks.features`` of samples/blocks.py."""

    @abstractmethod
    def _make_room(self) -> None:
        """Allocate the arrays that every tree uses."""

    @abstractmethod
    def _grow(self, chosen: Rows | None, key: np.uint64) -> int:
        """Grow a tree on the chosen rows (None: all), and return the number of leaves.

        It sets the cells of all rows, or of the chosen ones if `_settle` sets those of others.
        """

    def _settle(self, tree: TreeRule, chosen: Rows) -> None:
        """Set the cells of the rows that were not chosen."""

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
            if slope and features[j, layout.CATEGORY]:
                raise ParameterError(
                    f"a monotone constraint is set on {self.sample.table.name(j)!r}, a category: "
                    "its levels have no order. Drop the constraint, or give the column as numbers"
                )
            features[j, layout.MONOTONE] = slope

    def find(self, weights: Weights, answers: NDArray[Any], seed: int) -> Hypothesis:
        criterion = "error" if self.sample.signs.shape[1] == 1 else "gini"
        return self.classifier(weights, criterion, seed, None)

    def classifier(
        self, weights: Weights, criterion: str, seed: int, chosen: Rows | None
    ) -> Hypothesis:
        """Return a tree whose leaves answer with their heaviest sign or class."""
        signs = self.sample.signs
        outputs, total = signs.shape[1], int(weights.sum()) * signs.shape[1]
        row_weights = np.repeat(weights[:, None], outputs, axis=1)
        request = Request(row_weights, signs, total, total, criterion)
        tree, cells = self.partition(request, seed, chosen)
        leaves = len(tree.values)
        sums = [np.bincount(cells, weights * signs[:, k], leaves) for k in range(outputs)]
        votes = np.stack(sums, axis=1)
        values = np.sign(votes) if outputs == 1 else np.eye(outputs)[votes.argmax(axis=1)]
        return tree.valued(values, np.bincount(cells, weights, leaves).astype(np.float64))

    def constant(self) -> Hypothesis:
        return TreeRule.constant(self._bins, np.zeros(self.sample.signs.shape[1]))

    def partition(self, request: Request, seed: int, chosen: Rows | None) -> tuple[TreeRule, Cells]:
        unit = self._prepare(request, seed, chosen)
        state = self._leaves
        state.starts[0], state.slots[0], state.depths[0] = 0, 0, 0
        state.sizes[0] = self.sample.n_rows if chosen is None else chosen.size
        self._spans[0] = -np.inf, np.inf
        rules = self._interactions
        if rules is not None:  # the root may use every feature, and has used none
            rules.reach[0], rules.asked[0], rules.open[0] = 1, 0, 1
        leaves = self._grow(chosen, key_of(seed))
        tree = self._rule(leaves, unit)
        if chosen is not None:
            self._settle(tree, chosen)
        return tree, self._cells

    @property
    def _drawn(self) -> int:
        return self._tree.features_of(len(self._features))

    @property
    def _deepest(self) -> int:
        return MAX_LEAVES if self._tree.max_depth is None else self._tree.max_depth

    def _prepare(self, request: Request, seed: int, chosen: Rows | None) -> float:
        """Round and pair pulls and weights; return the factor that makes gains comparable."""
        self._pair(request, seed)
        return self._set_rules(request, chosen)

    def _pair(self, request: Request, seed: int) -> None:
        outputs, signed, pulls = request.weights.shape[1], request.signed, request.pulls
        scales = MAX_SUM / request.pull, MAX_SUM / request.weight
        team = team_for(request.weights.size)
        flips = self._flips(outputs, seed)
        arguments = request.weights, pulls, signed, flips, *scales, self._pairs
        together(native.pair_up, *arguments, at_most=team)

    def _set_rules(self, request: Request, chosen: Rows | None) -> float:
        """Set the rules for choosing splits; return the factor that makes gains comparable."""
        tree, (rows, outputs) = self._tree, request.weights.shape
        pull_scale, weight_scale = MAX_SUM / request.pull, MAX_SUM / request.weight
        criterion = request.criterion if tree.criterion is None else tree.criterion
        if criterion in ("z", "error") and not request.signed:
            raise ParameterError(
                f"criterion {criterion!r} is for boosters whose rows ask for their signs, such as "
                "adaboost; leave it at None for this one"
            )
        kind = CRITERIA[criterion] if outputs == 1 else layout.NEWTON
        mean = MAX_SUM / rows
        self._plain = self._numbers_only and self._lines == 1 and kind == layout.NEWTON
        self._rules[layout.CRITERION] = kind
        self._rules[layout.PENALTY] = request.penalty * outputs * weight_scale
        self._rules[layout.LEAST_WEIGHT] = tree.min_leaf_weight * mean
        self._rules[layout.SMOOTH] = tree.cat_smooth * mean
        chance = self._gain_by_chance(kind)
        self._rules[layout.CHANCE] = chance
        # the gain by √(weight² - pull²) is about half of that by pull²/weight
        half = 2 if kind == layout.Z else 1
        self._rules[layout.LEVEL_PENALTY] = tree.cat_penalty * chance / half
        self._rules[layout.LEVEL_ROWS] = tree.min_level_rows
        self._rules[layout.LEAST_ROWS] = tree.min_rows(rows if chosen is None else chosen.size)
        if request.signed:
            return 1 / MAX_SUM  # gains are shares of the total weight
        return weight_scale / pull_scale**2 / FRESH_TOTAL  # in units that all rounds share

    def _flips(self, outputs: int, seed: int) -> NDArray[np.int8]:
        """Return random signs (lines, outputs) for a sketch, or the identity if none is needed."""
        if self._lines == outputs:
            return np.eye(outputs, dtype=np.int8)
        draws = np.random.default_rng((seed, 1)).integers(0, 2, (self._lines, outputs))
        return np.array([-1, 1], np.int8)[draws]

    def _gain_by_chance(self, kind: int) -> float:
        """Return the mean gain of a group of rows whose pulls are noise, in the units of a gain.

        (Σ pull)²/weight then does not depend on the number of rows. Squares are summed as integers:
        the absolute pulls of a line sum to about 2³⁰ at most.
        """
        if kind == layout.ERROR or self._numbers_only:
            return 0.0
        if not self._features[:, layout.CATEGORY].any():
            return 0.0
        squares = [float(np.square(line >> 32).sum()) for line in self._pairs]
        weight = float((self._pairs[0] & layout.LOW).sum())
        return sum(squares) / max(weight, 1.0)

    def _rule(self, leaves: int, unit: float) -> TreeRule:
        splits = self._splits.columns[: leaves - 1]
        feature, cut, missing_left, left_child, right_child = np.ascontiguousarray(
            splits.T, dtype=np.int32
        )
        member, members = np.full(feature.size, -1, dtype=np.int32), self._splits.members[:0]
        if not self._numbers_only:
            category = self._features[feature, layout.CATEGORY] != 0
            member[category] = np.arange(np.count_nonzero(category))
            members = self._splits.members[: leaves - 1][category]
        slope = None
        if self._tree.monotone:
            orders = cut < self._features[feature, layout.BINS] - 1
            slopes = self._features[feature, layout.MONOTONE]
            slope = np.where(orders, slopes, 0).astype(np.int8)
        gains, cover = self._splits.gains[: leaves - 1] * unit, np.zeros(2 * leaves - 1)
        values = np.zeros((leaves, self.sample.signs.shape[1]))
        return TreeRule(
            self._bins, feature, cut, missing_left.astype(np.bool_), left_child, right_child,
            member, members.copy(), gains, cover, values, slope,
        )  # fmt: skip
