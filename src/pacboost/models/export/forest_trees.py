"""The trees of a forest as every exported program walks them (see trees.py)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pacboost.hypotheses.forest import LOW, Forest
from pacboost.kernels.forest_grow import LEAF
from pacboost.models.export.trees import Lines, Trees, Whole


def of_forest(forest: Forest) -> Trees:
    """Lay out a forest, tree by tree: its sums may depend on the order."""
    outputs = forest.classes if forest.many else 1
    return Trees.join(
        (_of_grown(forest, tree.nodes, tree.table) for tree in forest.trees()), outputs
    )


def _of_grown(forest: Forest, nodes: NDArray[np.uint64], table: NDArray[np.float32]) -> Trees:
    feature, payload = (nodes >> np.uint64(41)), (nodes & LOW).astype(np.int64)
    leaf = feature == LEAF
    inner = np.flatnonzero(~leaf)
    number = np.where(leaf, ~(np.cumsum(leaf) - 1), np.cumsum(~leaf) - 1)
    own, cut = feature[inner].astype(np.int64), (nodes[inner] >> np.uint64(32)) & np.uint64(255)
    return Trees(
        own,
        _values_at(forest.bins.thresholds, own, cut.astype(np.int64)),
        ((nodes[inner] >> np.uint64(40)) & np.uint64(1)).astype(np.bool_),
        number[inner + 1],
        number[payload[inner]],
        np.full(inner.size, -1),
        (),
        number[:1],
        _said(forest, payload[leaf], table.astype(np.float64)),
    )


def _values_at(
    thresholds: Sequence[NDArray[np.float32]], feature: Whole, cut: Whole
) -> NDArray[np.float32]:
    sizes = np.array([own.size for own in thresholds], dtype=np.int64)
    firsts = np.cumsum(sizes) - sizes
    known = cut < sizes[feature]
    out = np.full(feature.size, np.inf, dtype=np.float32)
    out[known] = np.concatenate(thresholds)[(firsts[feature] + cut)[known]]
    return out


def _said(forest: Forest, payload: Whole, table: Lines) -> Lines:
    """Give what leaves say, from what they hold."""
    if not forest.many:
        values = payload.astype(np.uint32).view(np.float32).astype(np.float64)
        hard = forest.hard and forest.classes > 0
        return (values > 0.5 if hard else values).astype(np.float64)[:, None]
    pure = np.eye(forest.classes)
    mixed = pure[table.argmax(axis=1)] if forest.hard else table
    lines: Lines = np.concatenate([pure, mixed])[payload]
    return lines
