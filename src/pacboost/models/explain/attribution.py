"""Say what each feature adds to a row's score, for votes of trees (see kernels/shap.py)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pacboost.errors import DataError
from pacboost.kernels import shap
from pacboost.kernels.threads import each_rows
from pacboost.numerics.same_bits import product

if TYPE_CHECKING:
    from pacboost.hypotheses.tree import TreeRule

Doubles = NDArray[np.float64]


def shap_values(
    trees: Sequence[TreeRule], votes: ArrayLike, codes: NDArray[np.uint8]
) -> tuple[Doubles, Doubles]:
    """Give the share of every feature in every row's score, and the score of an unknown row.

    Shares are (rows, features, outputs) and the expected score (outputs,): the mean of each tree by
    its cover, summed over trees. A row's shares and the expected score add up to its score.
    ``codes`` are (features, rows), by the bins of the trees.

    >>> from pacboost.hypotheses.tree import TreeRule
    >>> from pacboost.samples.bins import Bins
    >>> bins = Bins((np.array([0.5], np.float32),), np.zeros(1, np.int64))
    >>> none, zero = np.empty((0, 256), np.uint8), np.zeros(1, np.int32)
    >>> cover, values = np.array([4.0, 3.0, 1.0]), np.array([[0.0], [1.0]])
    >>> splits = zero, zero, zero > 0, zero - 1, zero - 2, zero - 1
    >>> tree = TreeRule(bins, *splits, none, np.ones(1), cover, values)
    >>> shares, expected = shap_values([tree], [1.0], np.array([[0, 1]], np.uint8))
    >>> shares.ravel().round(3).tolist(), expected.round(3).tolist()
    ([-0.25, 0.75], [0.25])
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
            shap.add(codes, start, stop, shares, *arguments)

    each_rows(task, codes.shape[1])
    return shares, expected


def _prepare(tree: TreeRule, vote: float) -> tuple[tuple[Any, ...], Doubles]:
    """Give what the kernel takes of a tree, and the tree's mean by cover."""
    feature, left, right = (_plain(a, np.int32) for a in (tree.feature, tree.left, tree.right))
    values = vote * _plain(tree.values, np.float64)
    before, distinct, share, reached = _edges(tree)
    factor, inverse, pull = _tables(share, -(-int(distinct.max()) // 2))
    arguments = (
        tree.bins.missing,
        feature,
        _plain(tree.cut, np.int32),
        _plain(tree.missing_left, np.bool_),
        left,
        right,
        _plain(tree.member, np.int32),
        _plain(tree.members, np.uint8),
        values,
        before,
        factor,
        inverse,
        pull,
    )
    return arguments, product(values.T, reached[feature.size :])


def reach(tree: TreeRule) -> Doubles:
    """Give the share of training rows in each node, splits first, then leaves."""
    return _edges(tree)[3]


def _edges(tree: TreeRule) -> tuple[NDArray[np.int32], NDArray[np.int32], Doubles, Doubles]:
    """Give what descents need to know of every node (kernels/shap.py)."""
    feature, left, right = (_plain(a, np.int32) for a in (tree.feature, tree.left, tree.right))
    nodes = feature.size + tree.values.shape[0]
    parent, before, distinct = np.zeros((3, nodes), dtype=np.int32)
    share, reached = np.ones((2, nodes))
    cover = _plain(tree.cover, np.float64)
    shap.edges(feature, left, right, cover, parent, before, distinct, share, reached)
    return before, distinct, share, reached


def _tables(share: Doubles, points: int) -> tuple[Doubles, Doubles, Doubles]:
    """Give the kernel's factors for both values of o, one over them, and their pull."""
    at, weight = _gauss(max(points, 1))
    y, weight = (1 + at) / 2, weight / 2  # from [-1, 1] to [0, 1]
    on = np.array([0.0, 1.0])[:, None, None]
    factor = on * y + share[:, None] * (1 - y)
    there = factor > np.finfo(np.float64).tiny  # else no descent comes here: all below add nothing
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
    """Refuse what the kernel could not read safely; give the votes."""
    weights = [float(vote) for vote in np.asarray(votes, dtype=np.float64)]
    if len(weights) != len(trees):
        raise DataError(f"there are {len(trees)} trees but {len(weights)} votes; give one for each")
    if codes.ndim != 2 or codes.dtype != np.uint8:
        raise DataError(
            f"codes are {codes.dtype} of shape {codes.shape}; they must be uint8 (features, rows), "
            "as bins of at most 255 a feature give them"
        )
    most = max((int(tree.feature.max(initial=-1)) for tree in trees), default=-1)
    if most >= codes.shape[0]:
        raise DataError(f"a tree asks for feature {most}, but there are {codes.shape[0]}")
    return weights


def _plain(array: NDArray[Any], dtype: Any) -> NDArray[Any]:
    """Give the array in the one form that the kernels are compiled for."""
    return np.require(array, dtype, ["C", "W"])
