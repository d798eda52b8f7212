"""Trees as one TreeEnsemble of ONNX (ai.onnx.ml, version 5), in doubles.

Rows are float32, so it compares as pacboost does, and its sums are exact. A leaf of that operator
adds to one target only. So with many outputs every tree has its target, which gives the line of its
leaf, and lines are looked up and added some trees at a time.
"""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import ParameterError
from pacboost.models.export.trees import Trees

AT_MOST, MEMBER = 0, 6
"""Codes of the comparisons that splits make."""
SUM, AS_IS = 1, 0
TREES_AT_ONCE = 16
"""So many lines a row are looked up at once: enough to be fast, few enough for any memory."""


class Graph:
    """Nodes of a graph, with the constants they use."""

    def __init__(self) -> None:
        try:
            self.onnx: Any = import_module("onnx")
        except ImportError as problem:
            raise ParameterError(
                "an export to ONNX needs onnx, which is not installed: pip install 'pacboost[onnx]'"
            ) from problem
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def add(self, operator: str, *inputs: str | NDArray[Any], name: str = "", **fields: Any) -> str:
        """Add a node; give the name of what it gives out."""
        out = name or f"v{len(self.nodes)}"
        given = [own if isinstance(own, str) else self.constant(own) for own in inputs]
        self.nodes.append(self.onnx.helper.make_node(operator, given, [out], **fields))
        return out

    def constant(self, values: NDArray[Any]) -> str:
        """Add a constant; give its name."""
        name = f"c{len(self.constants)}"
        self.constants.append(self.onnx.numpy_helper.from_array(values, name))
        return name

    def tensor(self, values: NDArray[Any]) -> Any:
        """Give a tensor, for the field of a node."""
        return self.onnx.numpy_helper.from_array(values)


def sums_of(graph: Graph, trees: Trees) -> str:
    """Add up what the trees say; give the name of (rows, outputs)."""
    rows = graph.add("Cast", "X", to=graph.onnx.TensorProto.DOUBLE)
    constant = trees.lines[~trees.roots[trees.roots < 0]].sum(axis=0, keepdims=True)
    grown = trees.roots[trees.roots >= 0]
    if not grown.size:  # nothing is asked, but there is one answer for every row
        column = graph.add("Gather", rows, np.array([0]), axis=1)
        none = graph.add("Where", graph.add("IsNaN", column), np.zeros(1), np.zeros(1))
        return graph.add("Add", none, constant)
    if trees.outputs == 1:
        sums = _ensemble(graph, rows, trees, trees.lines[:, 0])
        return graph.add("Add", sums, constant) if constant.any() else sums
    places = _ensemble(graph, rows, trees, np.arange(len(trees.lines), dtype=np.float64), grown)
    places = graph.add("Cast", places, to=graph.onnx.TensorProto.INT64)
    lines, sums = graph.constant(trees.lines), graph.constant(constant)
    for first in range(0, grown.size, TREES_AT_ONCE):
        some = np.arange(first, min(first + TREES_AT_ONCE, grown.size))
        said = graph.add("Gather", lines, graph.add("Gather", places, some, axis=1))
        sums = graph.add("Add", sums, graph.add("ReduceSum", said, np.array([1]), keepdims=0))
    return sums


def _ensemble(
    graph: Graph,
    rows: str,
    trees: Trees,
    weights: NDArray[np.float64],
    targets: NDArray[np.int64] | None = None,
) -> str:
    """Add the operator; ``targets`` are the roots of trees that are a target each, if they are."""
    splits = np.arange(trees.feature.size)
    owner = np.zeros(splits.size, dtype=np.int64)
    if targets is not None:
        owner = np.searchsorted(targets, splits, side="right") - 1
    ends = np.concatenate([trees.left, trees.right])
    leaf = ends < 0
    number = np.where(leaf, np.cumsum(leaf) - 1, ends)  # every end of a branch is a leaf of its own
    sides = np.split(number, 2), np.split(leaf.astype(np.int64), 2)
    chosen = trees.subset >= 0
    fields: dict[str, Any] = {
        "nodes_featureids": trees.feature,
        "nodes_truenodeids": sides[0][0],
        "nodes_trueleafs": sides[1][0],
        "nodes_falsenodeids": sides[0][1],
        "nodes_falseleafs": sides[1][1],
        "nodes_missing_value_tracks_true": trees.missing_left.astype(np.int64),
        "leaf_targetids": np.tile(owner, 2)[leaf],
        "tree_roots": trees.roots[trees.roots >= 0],
    }
    fields = {name: own.tolist() for name, own in fields.items()}
    fields["nodes_splits"] = graph.tensor(trees.cut.astype(np.float64))
    fields["nodes_modes"] = graph.tensor(np.where(chosen, MEMBER, AT_MOST).astype(np.uint8))
    fields["leaf_weights"] = graph.tensor(weights[~ends[leaf]])
    if chosen.any():
        levels = [[*trees.subsets[own], np.nan] for own in trees.subset[chosen]]
        fields["membership_values"] = graph.tensor(np.concatenate(levels))
    return graph.add(
        "TreeEnsemble",
        rows,
        domain="ai.onnx.ml",
        n_targets=1 if targets is None else targets.size,
        aggregate_function=SUM,
        post_transform=AS_IS,
        **fields,
    )


def agreed(trees: Trees, levels: NDArray[np.int64]) -> Trees:
    """Give the same trees as every runtime reads them alike; columns have so many ``levels``.

    Some read sets of levels in the order of splits, as the standard has it, others depth first; so
    splits are put depth first. And some take level 0 for the end of a set; so no set holds it: its
    complement does instead, with the sides exchanged.
    """
    if not trees.subsets:
        return trees
    chosen = np.flatnonzero(trees.subset >= 0)
    left, right, missing = trees.left.copy(), trees.right.copy(), trees.missing_left.copy()
    subsets = []
    for split in chosen:
        own = set(trees.subsets[trees.subset[split]])
        if 0 in own:
            own = set(range(levels[trees.feature[split]])) - own
            left[split], right[split] = trees.right[split], trees.left[split]
            missing[split] = not missing[split]
        subsets.append(tuple(sorted(own)))
    subset = np.full(trees.subset.size, -1)
    subset[chosen] = np.arange(chosen.size)
    order, waiting = [], trees.roots[trees.roots >= 0].tolist()[::-1]
    while waiting:
        at = waiting.pop()
        order.append(at)
        waiting += [child for child in (int(right[at]), int(left[at])) if child >= 0]
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))

    def moved(children: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.where(children >= 0, place[np.maximum(children, 0)], children)

    return replace(
        trees,
        feature=trees.feature[order],
        cut=trees.cut[order],
        missing_left=missing[order],
        left=moved(left[order]),
        right=moved(right[order]),
        subset=subset[order],
        subsets=tuple(subsets),
        roots=moved(trees.roots),
    )
