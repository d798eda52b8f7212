"""Partial dependence: how the mean score changes with one feature.

**Votes of trees.** At a split on another feature, both children are followed, each by its share of
the weight of training rows in that node (the ``cover`` of trees). So no rows are needed, and the
curve is a step function on the codes of the feature. Unlike the shapes of stumps it does not add up
to the score.

**Forests.** Nodes of a forest do not store how many rows went left and right, so rows represent the
other features: a table, or artificial rows, with every feature drawn independently and evenly over
its bins. A curve has at most 24 steps; it is a deviation from the mean answer.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError
from pacboost.hypotheses.forest import Forest
from pacboost.hypotheses.hypothesis import FeaturePart, Names
from pacboost.hypotheses.shapes import Doubles, Shape, Shapes, shape_of
from pacboost.hypotheses.tree import TreeRule
from pacboost.hypotheses.vote import Vote
from pacboost.numerics.same_bits import mean_of, product
from pacboost.samples.bins import Bins
from pacboost.sources.table import Table

Lines = NDArray[np.uint8]
N_ROWS, MAX_STEPS = 60, 24
"""Rows that represent the other features of a forest, and the most steps of a curve."""


class _Weighed:
    """A tree, the values of its leaves times its vote, and their mean over training rows."""

    def __init__(self, rule: TreeRule, values: Doubles) -> None:
        self.rule, self.values = rule, values
        self.mean: Doubles = product(values.T, _shares_of_leaves(rule, None)[:, 0])


def partial_dependence(vote: Vote, names: Names, features: Sequence[int]) -> Shapes:
    """Return the curve of each of these features, as deviations from the mean score.

    Features that no tree uses are omitted. Raise DataError for rules that are not trees.
    """
    trees = [_Weighed(rule, rule.values * cast) for rule, cast in vote.trees]
    mean = np.zeros(vote.outputs)
    for tree in trees:
        mean += tree.mean
    for other, cast in zip(vote.hypotheses, vote.votes, strict=True):
        if not isinstance(other, TreeRule):
            part = other.unvalued.feature_part(float(cast) * other.values)
            if part.feature is not None:
                raise DataError("the vote mixes trees with other rules; only trees have curves")
            mean += part.missing
    curves = {}
    for feature in features:
        trees_of_feature = [tree for tree in trees if (tree.rule.feature == feature).any()]
        if trees_of_feature:
            curves[feature] = _curve(trees_of_feature, feature, names)
    return Shapes(
        mean, curves, names.answers if vote.outputs > 1 else names.answers[-1:], {}, names
    )


def _curve(trees: Sequence[_Weighed], feature: int, names: Names) -> Shape:
    bins = trees[0].rule.bins
    total = np.zeros((bins.thresholds[feature].size + 2, trees[0].values.shape[1]))
    for tree in trees:
        total += product(_shares_of_leaves(tree.rule, feature).T, tree.values) - tree.mean
    thresholds, levels = bins.thresholds[feature], int(bins.levels[feature])
    return shape_of(names, FeaturePart(feature, thresholds, total[:-1], total[-1], levels))


def _shares_of_leaves(rule: TreeRule, feature: int | None) -> Doubles:
    """Return the share of rows in each leaf, (leaves, codes); the last code is for missing values.

    Without a feature there is one column, for all rows.
    """
    splits, leaves = rule.feature.size, len(rule.values)
    codes = np.zeros(1, dtype=np.intp)
    if feature is not None:
        codes = np.append(np.arange(rule.bins.thresholds[feature].size + 1), rule.bins.missing)
    reach = np.zeros((splits + leaves, codes.size))
    reach[0] = 1.0
    lefts, rights = (
        np.where(child >= 0, child, splits + ~child).tolist() for child in (rule.left, rule.right)
    )
    asked, cover, sides = rule.feature.tolist(), rule.cover.tolist(), rule.sides()
    share: Doubles | float
    for split, (low, high) in enumerate(zip(lefts, rights, strict=True)):
        if asked[split] == feature:
            share = sides[split, codes].astype(np.float64)
        else:
            weight = cover[low] + cover[high]
            share = cover[low] / weight if weight > 0 else 0.5
        reach[low] = reach[split] * share
        reach[high] = reach[split] * (1 - share)
    return reach[splits:]


def forest_partial_dependence(
    forest: Forest, names: Names, features: Sequence[int], table: Table | None = None
) -> Shapes:
    """Return the curve of each of these features; features that no tree uses are omitted."""
    rows = _artificial_rows(forest.bins) if table is None else _rows_of_table(forest.bins, table)
    mean = mean_of(_answers(forest, rows))
    asked = [j for j in features if forest.importances[j] > 0]
    curves = {j: _forest_curve(forest, rows, mean, j, names) for j in asked}
    return Shapes(mean, curves, names.answers if forest.many else names.answers[-1:], {}, names)


def _rows_of_table(bins: Bins, table: Table) -> Lines:
    """Encode some rows of a table, evenly spread over it."""
    chosen = np.unique(np.linspace(0, table.n_rows - 1, min(N_ROWS, table.n_rows)).astype(np.intp))
    lines: Lines = np.ascontiguousarray(bins.encode(table.take(chosen)).T)
    return lines


def _artificial_rows(bins: Bins) -> Lines:
    """Draw codes of each feature independently and evenly over its bins."""
    generator = np.random.default_rng(0)
    lines = np.empty((N_ROWS, len(bins.thresholds)), dtype=np.uint8)
    for j, thresholds in enumerate(bins.thresholds):
        lines[:, j] = generator.permutation(np.arange(N_ROWS) * (thresholds.size + 1) // N_ROWS)
    return lines


def _answers(forest: Forest, lines: Lines) -> Doubles:
    """Return the answers for encoded rows, (rows, outputs): shares of classes, or numbers.

    Two classes have one output, the share of the second.
    """
    mean = forest.sums_of_codes(lines.T) / max(1, len(forest))
    return mean if forest.classes else forest.middle + forest.scale * mean


def _forest_curve(forest: Forest, rows: Lines, mean: Doubles, feature: int, names: Names) -> Shape:
    """Return the mean answers with a feature set to each of its codes in all rows."""
    bins = forest.bins
    thresholds, levels = bins.thresholds[feature], int(bins.levels[feature])
    parts = np.array_split(np.arange(thresholds.size + 1), MAX_STEPS if not levels else 1024)
    parts = [part for part in parts if part.size]
    codes = [int(part[part.size // 2]) for part in parts] + [bins.missing]
    lines = np.tile(rows, (len(codes), 1))
    lines[:, feature] = np.repeat(codes, len(rows))
    answers = _answers(forest, lines).reshape(len(codes), len(rows), -1)
    changes = mean_of(answers.swapaxes(0, 1)) - mean
    cuts = thresholds if levels else thresholds[[int(part[-1]) for part in parts[:-1]]]
    return shape_of(names, FeaturePart(feature, cuts, changes[:-1], changes[-1], levels))
