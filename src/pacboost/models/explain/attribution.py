"""SHAP values of votes of trees, in the forms of the shap package (see src/native/tree/shap.h)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from pacboost.errors import DataError
from pacboost.hypotheses.tree import TreeRule
from pacboost.kernels.native import native
from pacboost.kernels.threads import each_rows
from pacboost.kernels.tree_shap import ShapTree
from pacboost.models.model import Model
from pacboost.numerics.same_bits import product
from pacboost.samples.bins import upper_cuts
from pacboost.sources.table import Table

Doubles = NDArray[np.float64]


def shap_values(
    trees: Sequence[TreeRule], votes: ArrayLike, codes: NDArray[np.uint8]
) -> tuple[Doubles, Doubles]:
    """Return the share of every feature in every row's score, and the score of an unknown row.

    Shares are (rows, features, outputs) and the expected score (outputs,): the mean of each tree by
    its cover, summed over trees. A row's shares and the expected score add up to its score.
    ``codes`` are (features, rows), by the bins of the trees.
    """
    weights = _checked(trees, votes, codes)
    outputs = trees[0].values.shape[1] if trees else 1
    shares = np.zeros((codes.shape[1], codes.shape[0], outputs))
    expected = np.zeros(outputs)
    codes = _plain(codes, np.uint8)
    prepared = []
    for tree, vote in zip(trees, weights, strict=True):
        arguments, mean = _prepare(tree, vote)
        prepared.append(arguments)
        expected += mean

    def task(start: int, stop: int) -> None:
        for arguments in prepared:
            native.add_shap(codes, start, stop, shares, arguments)

    each_rows(task, codes.shape[1])
    return shares, expected


def _prepare(tree: TreeRule, vote: float) -> tuple[ShapTree, Doubles]:
    """Return the kernel's arguments for a tree, and the tree's mean by cover."""
    feature, left, right = (_plain(a, np.int32) for a in (tree.feature, tree.left, tree.right))
    values = vote * _plain(tree.values, np.float64)
    before, distinct, share, reached = _edges(tree)
    factor, inverse, pull = _tables(share, -(-int(distinct.max()) // 2))
    arguments = ShapTree(
        tree.bins.missing, feature, _plain(tree.cut, np.int32), _plain(tree.missing_left, np.bool_),
        left, right, _plain(tree.member, np.int32), _plain(tree.members, np.uint8), values, before,
        factor, inverse, pull,
    )  # fmt: skip
    return arguments, product(values.T, reached[feature.size :])


def _edges(tree: TreeRule) -> tuple[NDArray[np.int32], NDArray[np.int32], Doubles, Doubles]:
    """Return the kernel's tables of all nodes (src/native/tree/shap.h), splits before leaves.

    The last table is the share of training rows in each node.
    """
    feature, left, right = (_plain(a, np.int32) for a in (tree.feature, tree.left, tree.right))
    nodes = feature.size + tree.values.shape[0]
    parent, before, distinct = np.zeros((3, nodes), dtype=np.int32)
    share, reached = np.ones((2, nodes))
    cover = _plain(tree.cover, np.float64)
    native.shap_edges(feature, left, right, cover, parent, before, distinct, share, reached)
    return before, distinct, share, reached


def _tables(share: Doubles, points: int) -> tuple[Doubles, Doubles, Doubles]:
    """Return factors for rows that leave a path (o = 0) or not, inverses, and what they add."""
    at, weight = _gauss(max(points, 1))
    y, weight = (1 + at) / 2, weight / 2  # from [-1, 1] to [0, 1]
    on = np.array([0.0, 1.0])[:, None, None]
    factor = on * y + share[:, None] * (1 - y)
    there = factor > np.finfo(np.float64).tiny  # else no row reaches the node, and it adds nothing
    inverse = np.where(there, 1 / np.where(there, factor, 1.0), 0.0)
    return factor, inverse, (on - share[:, None]) * weight * inverse


@cache
def _gauss(points: int) -> tuple[Doubles, Doubles]:
    """Return the places and weights of Gauss and Legendre's rule on [-1, 1].

    NumPy's come from LAPACK, and have other last bits on other machines. Here Newton's method finds
    the roots of Legendre's polynomial, from places rounded to the digits that all machines share.

    >>> [numbers.round(6).tolist() for numbers in _gauss(2)]
    [[-0.57735, 0.57735], [1.0, 1.0]]
    """
    angles = [math.pi * (k + 0.75) / (points + 0.5) for k in reversed(range(points))]
    x = np.array([round(math.cos(angle), 6) for angle in angles])
    for _ in range(6):
        before, last = np.ones(points), x
        for k in range(2, points + 1):
            before, last = last, ((2 * k - 1) * x * last - (k - 1) * before) / k
        slope = points * (x * last - before) / (x * x - 1)
        x = x - last / slope
    return x, 2 / ((1 - x * x) * slope * slope)


def _checked(trees: Sequence[TreeRule], votes: ArrayLike, codes: NDArray[np.uint8]) -> list[float]:
    """Refuse trees and codes that the kernel could not read safely, and return the votes."""
    weights = [float(vote) for vote in np.asarray(votes, dtype=np.float64)]
    if len(weights) != len(trees):
        raise DataError(f"there are {len(trees)} trees but {len(weights)} votes; give one for each")
    if codes.ndim != 2 or codes.dtype != np.uint8:
        raise DataError(
            f"codes are {codes.dtype} of shape {codes.shape}; they must be uint8 (features, rows), "
            "as bins of at most 255 a feature give them"
        )
    largest = max((int(tree.feature.max(initial=-1)) for tree in trees), default=-1)
    if largest >= codes.shape[0]:
        raise DataError(f"a tree asks for feature {largest}, but there are {codes.shape[0]}")
    return weights


def _plain(array: NDArray[Any], dtype: DTypeLike) -> NDArray[Any]:
    return np.require(array, dtype, ["C", "W"])


MIN_NODE_SHARE = 1e-12
"""Smallest share of rows of a node; shap refuses nodes without weight."""


@dataclass(frozen=True, eq=False)
class ShapValues:
    """SHAP values with the attributes of ``shap.Explanation``; ``values[k]`` belongs to row k."""

    values: Doubles
    """(rows, features), with more than two classes (rows, features, classes)."""
    base_values: Doubles
    """(rows,) or (rows, classes): the score of an unknown row, the same in every line."""
    data: NDArray[Any]
    """(rows, features): the rows as numbers; a category is the number of its level."""
    display_data: NDArray[Any] | None
    """The rows with the names of levels, if there are categories."""
    feature_names: list[str]
    output_names: list[str] | None
    """The class of each output, with more than two classes."""

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, rows: int | slice | NDArray[Any]) -> ShapValues:
        shown = None if self.display_data is None else self.display_data[rows]
        values, base, data = self.values[rows], self.base_values[rows], self.data[rows]
        return replace(self, values=values, base_values=base, data=data, display_data=shown)

    def __repr__(self) -> str:
        return f"ShapValues(shape={self.values.shape}, feature_names={self.feature_names})"


def in_shap_form(model: Model, table: Table, shares: Doubles, expected: ArrayLike) -> Any:
    """Return SHAP values as shap's ``Explanation`` if shap is installed, else as ``ShapValues``."""
    rows = table.rows()
    names = [str(name) for name in model.classes] if shares.ndim == 3 else None
    base = np.broadcast_to(np.asarray(expected), (len(rows), *np.shape(expected))).copy()
    columns = list(model.column_names)
    explanation = ShapValues(shares, base, rows, _shown(model, rows), columns, names)
    try:
        shap = import_module("shap")
    except ImportError:
        return explanation
    return shap.Explanation(**vars(explanation))


def _shown(model: Model, rows: NDArray[Any]) -> NDArray[Any] | None:
    """Replace the numbers of levels by their names, and missing levels by None."""
    columns = model.levels.columns
    if not columns:
        return None
    shown = rows.astype(object)
    for j, levels in columns.items():
        present = ~np.isnan(rows[:, j])
        shown[:, j] = None
        shown[present, j] = [levels[int(k)] for k in rows[present, j]]
    return shown


def shap_trees(model: Model) -> dict[str, Any]:
    """Return the dictionary of trees that ``shap.TreeExplainer`` takes.

    Constants, such as the first round of LogitBoost, are in its ``base_offset``.
    """
    _refuse_others(model)
    offset = np.zeros(model.vote.outputs)
    trees = []
    for rule, vote in zip(model.vote.hypotheses, model.vote.votes, strict=True):
        assert isinstance(rule, TreeRule)
        if rule.feature.size == 0:
            offset += float(vote) * rule.values[0]
        else:
            trees.append(_shap_tree(rule, float(vote)))
    if not trees:
        raise DataError("the vote holds a constant only, so shap has no tree to explain")
    return {
        "internal_dtype": np.float64, "input_dtype": np.float64, "objective": None,
        "tree_output": "raw_value", "base_offset": float(offset[0]) if offset.size == 1 else offset,
        "trees": trees,
    }  # fmt: skip


def _refuse_others(model: Model) -> None:
    what = next((rule for rule in model.vote.hypotheses if not isinstance(rule, TreeRule)), None)
    if model.text is not None or what is not None:
        kind = "rules about words" if what is None else f"{type(what).__name__} rules"
        raise DataError(
            f"the vote holds {kind}, and shap's dictionary has trees on numbers only; "
            "shap_values(X) explains votes of trees, explain(x) any vote"
        )
    if model.schema.derived:
        raise DataError(
            "trees ask about columns that are derived from others, such as "
            f"'{model.column_names[-1]}', which the rows given to shap do not have. "
            "shap_values(X) explains such trees; or fit with derive=False"
        )
    trees = [rule for rule in model.vote.hypotheses if isinstance(rule, TreeRule)]
    split = {j for rule in trees for j in rule.feature[rule.member >= 0].tolist()}
    if split:
        names = ", ".join(model.column_names[j] for j in sorted(split))
        raise DataError(
            f"trees split categories by sets of levels ({names}), and shap's dictionary has "
            "thresholds only. shap_values(X) explains such trees; or fit with these columns as "
            "numbers (categorical_features=None)"
        )


def _shap_tree(rule: TreeRule, vote: float) -> dict[str, NDArray[Any]]:
    """Return one tree as arrays, splits first and then leaves; children of leaves are -1."""
    splits, leaves = rule.feature.size, len(rule.values)
    none = np.full(leaves, -1, dtype=np.int32)

    def nodes(children: NDArray[np.int32]) -> NDArray[np.int32]:
        numbers = np.where(children >= 0, children, splits + ~children)
        return np.concatenate([numbers.astype(np.int32), none])

    left, right = nodes(rule.left), nodes(rule.right)
    missing = np.append(rule.missing_left, np.zeros(leaves, dtype=np.bool_))
    weight = np.maximum(_edges(rule)[3], MIN_NODE_SHARE)
    values = np.concatenate([np.zeros((splits, rule.values.shape[1])), vote * rule.values])
    for t in range(splits - 1, -1, -1):
        both = [left[t], right[t]]
        first, second = weight[both] / (weight[left[t]] + weight[right[t]])
        values[t] = first * values[left[t]] + second * values[right[t]]
    thresholds = np.full(splits + leaves, np.inf)  # an infinite cut separates missing values
    thresholds[splits:] = 0.0
    for t, (feature, cut) in enumerate(zip(rule.feature, rule.cut, strict=True)):
        cuts = rule.bins.thresholds[feature]
        if cut < cuts.size:  # shap compares doubles
            thresholds[t] = upper_cuts(cuts[cut : cut + 1])[0]
    return {
        "children_left": left, "children_right": right,
        "children_default": np.where(missing, left, right),
        "features": np.concatenate([rule.feature, none]).astype(np.int32), "thresholds": thresholds,
        "values": values, "node_sample_weight": weight * max(float(rule.cover[0]), MIN_NODE_SHARE),
    }  # fmt: skip
