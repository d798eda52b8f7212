"""Partial dependence of a vote of trees: how the mean score changes with one feature.

Where a tree asks for another feature, both ways are followed, each by its share of the weight of
training rows in that node (the ``cover`` of trees). So no rows are needed, and the curve is a step
function on the codes of the feature. It shows the average over the other features, and unlike the
shapes of stumps it does not add up to the score.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError
from pacboost.hypotheses.hypothesis import Names
from pacboost.hypotheses.shapes import Shape, Shapes
from pacboost.hypotheses.tree import TreeRule
from pacboost.hypotheses.vote import Vote
from pacboost.numerics.same_bits import product
from pacboost.samples.bins import Bins

Doubles = NDArray[np.float64]


class _Weighed:
    """A tree, what its leaves add to the score, and the mean of that over training rows."""

    def __init__(self, rule: TreeRule, values: Doubles) -> None:
        self.rule, self.values = rule, values
        self.mean: Doubles = product(values.T, _shares_of_leaves(rule, None)[:, 0])


def partial_dependence(vote: Vote, names: Names, features: Sequence[int]) -> Shapes:
    """Give the curve of each of these features, as deviations from the mean score.

    Features that no tree asks for are left out; rules that are not trees are refused.
    """
    trees = [_Weighed(rule, rule.values * cast) for rule, cast in vote.trees]
    mean = np.zeros(vote.outputs)
    for tree in trees:
        mean += tree.mean
    for other, cast in zip(vote.hypotheses, vote.votes, strict=True):
        if not isinstance(other, TreeRule):
            part = other.unvalued.feature_part(float(cast) * other.values)
            if part.feature is not None:
                raise DataError("the vote mixes trees with other rules; trees alone have curves")
            mean += part.missing
    found = {}
    for feature in features:
        own = [tree for tree in trees if (tree.rule.feature == feature).any()]
        if own:
            found[feature] = _curve(own, feature, names)
    return Shapes(mean, found, names.answers if vote.outputs > 1 else names.answers[-1:])


def _curve(trees: Sequence[_Weighed], feature: int, names: Names) -> Shape:
    """Add up what the trees give for every code of a feature, and put equal neighbours together."""
    bins = trees[0].rule.bins
    total = np.zeros((bins.thresholds[feature].size + 2, trees[0].values.shape[1]))
    for tree in trees:
        total += product(_shares_of_leaves(tree.rule, feature).T, tree.values) - tree.mean
    steps, missing, name = total[:-1], total[-1], names.column(feature)
    thresholds, levels = bins.thresholds[feature], int(bins.levels[feature])
    if levels:
        return Shape(name, thresholds, steps, missing,
                     tuple(names.level(feature, k) for k in range(levels)))  # fmt: skip
    changes = (steps[1:] != steps[:-1]).any(axis=1)
    return Shape(name, thresholds[changes], steps[np.append(True, changes)], missing)


def _shares_of_leaves(rule: TreeRule, feature: int | None) -> Doubles:
    """Give the share of rows that comes to each leaf, (leaves, codes); missing is the last code.

    Without a feature there is one column, for all rows.
    """
    splits, leaves = rule.feature.size, len(rule.values)
    codes = np.zeros(1, dtype=np.intp) if feature is None else _codes(rule.bins, feature)
    reach = np.zeros((splits + leaves, codes.size))
    reach[0] = 1.0
    lefts, rights = (
        np.where(child >= 0, child, splits + ~child).tolist() for child in (rule.left, rule.right)
    )
    asked, cover = rule.feature.tolist(), rule.cover.tolist()
    share: Doubles | float
    for split, (left, right) in enumerate(zip(lefts, rights, strict=True)):
        if asked[split] == feature:
            share = _goes_left(rule, split, codes).astype(np.float64)
        else:
            weight = cover[left] + cover[right]
            share = cover[left] / weight if weight > 0 else 0.5
        reach[left] = reach[split] * share
        reach[right] = reach[split] * (1 - share)
    return reach[splits:]


def _codes(bins: Bins, feature: int) -> NDArray[np.intp]:
    return np.append(np.arange(bins.thresholds[feature].size + 1), bins.missing)


def _goes_left(rule: TreeRule, split: int, codes: NDArray[np.intp]) -> NDArray[np.bool_]:
    if rule.member[split] >= 0:
        return np.asarray(rule.members[rule.member[split]][codes] != 0)
    left = codes <= rule.cut[split]
    left[-1] = rule.missing_left[split]
    return np.asarray(left)
