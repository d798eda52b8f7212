"""Share each row's score among the features: path-dependent Tree SHAP, exactly.

The game (Lundberg, Erion and Lee, Consistent individualized feature attribution for tree
ensembles, 2018): v(S) is the mean of the tree over descents that follow the row at features in S,
and go either way by cover at all others. A leaf of value u adds u · ∏_f (o_f if f in S, else
r_f), over the features f on its path: o_f is 1 if the row meets every condition on f, and r_f is
the product of the shares of cover along them. By Owen (Multilinear extensions of games, 1972) the
Shapley value is an integral, here

    φ_f = u · (o_f - r_f) · ∫₀¹ ∏_{g ≠ f} (o_g y + r_g (1 - y)) dy,

of a polynomial of degree d - 1 for d features: the Gauss-Legendre rule with d/2 points is exact.
At a point every factor is positive, so that factors can be divided out again; products go down
the tree and sums over leaves come up, in time nodes · points for each row. Their algorithm 2
takes leaves · depth² for the same numbers.

A node is a split, or the number of splits plus a leaf's number; its entries describe the edge above
it. The root has no edge: it stands for "no earlier edge of this feature".
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.runtime import Bytes, Floats, Numbers
from pacboost.kernels.runtime.jit import kernel


@kernel
def edges(
    feature: Numbers, left: Numbers, right: Numbers, cover: Floats, parent: Numbers,
    before: Numbers, distinct: Numbers, share: Floats, reach: Floats,
) -> None:  # fmt: skip
    """Write the tables for descents, for each node below the root; those of the root are inputs.

    ``before`` is the lowest node above with an edge of the same feature, ``distinct`` the number of
    features so far, ``share`` the product of the shares of cover over this feature's edges so far,
    and ``reach`` that over all edges. A split without cover is divided into halves.
    """
    splits = feature.size
    for i in range(splits):
        first = i
        while first > 0 and feature[parent[first]] != feature[i]:
            first = parent[first]
        for child in (left[i], right[i]):
            node = child if child >= 0 else splits - 1 - child
            other = left[i] + right[i] - child
            beside = other if other >= 0 else splits - 1 - other
            total = cover[node] + cover[beside]
            share_of_edge = cover[node] / total if total > 0 else 0.5
            parent[node] = i
            before[node] = first
            distinct[node] = distinct[i] + (first == 0)
            share[node] = share[first] * share_of_edge
            reach[node] = reach[i] * share_of_edge


class ShapTree(NamedTuple):
    """A tree and its tables for descents."""

    missing: int
    feature: Numbers
    cut: Numbers
    missing_left: NDArray[np.bool_]
    left: Numbers
    right: Numbers
    member: Numbers
    members: Bytes
    values: Floats
    before: Numbers
    factor: Floats
    """(2, nodes, points): with o = 0 and with o = 1, o·y + share·(1 - y)."""
    inverse: Floats
    """One over the factor."""
    pull: Floats
    """(o - share) · weight of the point / factor."""


@kernel
def add(codes: Bytes, start: int, stop: int, out: Floats, tree: ShapTree) -> None:
    """Add one tree's shares to ``out`` (rows, features, outputs), from ``start`` to ``stop``."""
    feature, left, right, values = tree.feature, tree.left, tree.right, tree.values
    before, factor, inverse, pull = tree.before, tree.factor, tree.inverse, tree.pull
    splits, nodes = feature.size, before.size
    points, outputs = factor.shape[2], values.shape[1]
    on = np.ones(nodes, dtype=np.int8)  # o of the edge's feature
    product = np.ones((nodes, points))
    sums = np.zeros((nodes, outputs, points))
    for row in range(start, stop):
        for i in range(splits):
            code = codes[feature[i], row]
            subset = tree.member[i]
            if subset >= 0:
                goes_left = tree.members[subset, code] != 0
            else:
                goes_left = tree.missing_left[i] if code == tree.missing else code <= tree.cut[i]
            for child in (left[i], right[i]):
                node = child if child >= 0 else splits - 1 - child
                first = before[node]
                on[node] = on[first] if goes_left == (child == left[i]) else 0
                here, above = product[node], product[i]
                old, new = inverse[on[first], first], factor[on[node], node]
                for q in range(points):
                    here[q] = above[q] * old[q] * new[q]
                for k in range(outputs):
                    below = sums[node, k]
                    leaf = 0.0 if child >= 0 else values[-1 - child, k]
                    for q in range(points):
                        below[q] = leaf * here[q]
        for i in range(splits - 1, -1, -1):
            for child in (left[i], right[i]):
                node = child if child >= 0 else splits - 1 - child
                first = before[node]
                # leaves below count for this edge, and no longer for the feature's edge before
                pull_here, pull_before = pull[on[node], node], pull[on[first], first]
                for k in range(outputs):
                    below, above = sums[node, k], sums[i, k]
                    total = 0.0
                    for q in range(points):
                        total += below[q] * (pull_here[q] - pull_before[q])
                        above[q] += below[q]
                    out[row, feature[i], k] += total
