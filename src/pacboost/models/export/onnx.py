"""Write a model as an ONNX graph: float32 rows in, a label (or a number) and probabilities out.

A category is passed as the number of its level; the metadata of the file hold the levels, the names
of columns and classes, and what the number in each column is.

Trees are one TreeEnsemble of ONNX (ai.onnx.ml, version 5), in doubles, and compare as pacboost
does. A leaf of that operator adds to one target only. So with many outputs every tree has its
target, which is the line of its leaf, and lines are looked up and added some trees at a time.
"""

from __future__ import annotations

import json
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import ParameterError
from pacboost.models.calibration import Isotonic, Sigmoid
from pacboost.models.export.program import Cut, Output, Program
from pacboost.models.export.trees import Trees

AT_MOST, MEMBER = 0, 6
"""Codes of the comparisons that splits make."""
SUM, AS_IS = 1, 0
Doubles = NDArray[np.float64]
Wholes = NDArray[np.int64]
TREES_PER_LOOKUP = 16
"""Lines per row that are looked up at once: enough to be fast, few enough for any memory."""


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
        """Add a node, and return the name of its output."""
        out = name or f"v{len(self.nodes)}"
        names = [value if isinstance(value, str) else self.constant(value) for value in inputs]
        self.nodes.append(self.onnx.helper.make_node(operator, names, [out], **fields))
        return out

    def constant(self, values: NDArray[Any]) -> str:
        """Add a constant, and return its name."""
        name = f"c{len(self.constants)}"
        self.constants.append(self.onnx.numpy_helper.from_array(values, name))
        return name

    def tensor(self, values: NDArray[Any]) -> Any:
        """Return a tensor, for the field of a node."""
        return self.onnx.numpy_helper.from_array(values)


def rows_of(graph: Graph, program: Program) -> str:
    """Add nodes that derive columns from others, and return the name of the rows."""
    operators = {"+": "Add", "-": "Sub", "*": "Mul", "/": "Div"}
    missing, columns = np.array([np.nan], dtype=np.float32), ["X"]
    if program.means:
        last = np.full(len(program.names), np.inf, dtype=np.float32)
        for means in program.means:
            last[means.column] = means.known - 1
        columns = [graph.add("Where", graph.add("Greater", "X", last), missing, "X")]
    for means in program.means:
        cell = graph.add("Gather", "X", np.array([means.column]), axis=1)
        number = graph.add("Sub", cell, np.array([means.known], dtype=np.float32))
        count = np.array([len(means.values)], dtype=np.float32)
        is_rarer = graph.add(
            "And",
            graph.add("GreaterOrEqual", number, np.zeros(1, np.float32)),
            graph.add("Less", number, count),
        )
        place = graph.add("Where", is_rarer, number, count)  # the last value is missing
        place = graph.add("Cast", place, to=graph.onnx.TensorProto.INT64)
        values = np.array([*means.values, np.nan], dtype=np.float32)
        columns.append(graph.add("Gather", graph.constant(values), place))
    for made in program.derived:
        pair = [graph.add("Gather", "X", np.array([j]), axis=1) for j in (made.first, made.second)]
        value = graph.add(operators[made.operator], *pair)
        columns.append(graph.add("Where", graph.add("IsInf", value), missing, value))
    return graph.add("Concat", *columns, axis=1) if len(columns) > 1 else columns[0]


def sums_of(graph: Graph, program: Program) -> str:
    """Add nodes that sum the trees, and return the name of the sums, (rows, outputs)."""
    trees = agreed(program.trees, program.known_levels)
    # cuts are 32-bit floats and compare alike as doubles, in which leaves have to be summed
    rows = graph.add("Cast", rows_of(graph, program), to=graph.onnx.TensorProto.DOUBLE)
    constant = trees.lines[~trees.roots[trees.roots < 0]].sum(axis=0, keepdims=True)
    grown = trees.roots[trees.roots >= 0]
    if not grown.size:  # the constant has to be repeated for every row
        column = graph.add("Gather", rows, np.array([0]), axis=1)
        none = graph.add("Where", graph.add("IsNaN", column), np.zeros(1), np.zeros(1))
        return graph.add("Add", none, constant)
    if trees.outputs == 1:
        sums = _ensemble(graph, rows, trees, trees.lines[:, 0])
        return graph.add("Add", sums, constant) if constant.any() else sums
    places = _ensemble(graph, rows, trees, np.arange(len(trees.lines), dtype=np.float64), grown)
    places = graph.add("Cast", places, to=graph.onnx.TensorProto.INT64)
    lines, sums = graph.constant(trees.lines), graph.constant(constant)
    for first in range(0, grown.size, TREES_PER_LOOKUP):
        some = np.arange(first, min(first + TREES_PER_LOOKUP, grown.size))
        values = graph.add("Gather", lines, graph.add("Gather", places, some, axis=1))
        sums = graph.add("Add", sums, graph.add("ReduceSum", values, np.array([1]), keepdims=0))
    return sums


def _ensemble(
    graph: Graph,
    rows: str,
    trees: Trees,
    weights: Doubles,
    targets: NDArray[np.int64] | None = None,
) -> str:
    """Add the operator; with ``targets``, the roots of all trees, each tree has its own target."""
    splits = np.arange(trees.feature.size)
    owner = np.zeros(splits.size, dtype=np.int64)
    if targets is not None:
        owner = np.searchsorted(targets, splits, side="right") - 1
    ends = np.concatenate([trees.left, trees.right])
    leaf = ends < 0
    number = np.where(leaf, np.cumsum(leaf) - 1, ends)  # every branch that ends has a separate leaf
    sides = np.split(number, 2), np.split(leaf.astype(np.int64), 2)
    chosen = trees.subset >= 0
    fields: dict[str, Any] = {
        "nodes_featureids": trees.feature, "nodes_truenodeids": sides[0][0],
        "nodes_trueleafs": sides[1][0], "nodes_falsenodeids": sides[0][1],
        "nodes_falseleafs": sides[1][1],
        "nodes_missing_value_tracks_true": trees.missing_left.astype(np.int64),
        "leaf_targetids": np.tile(owner, 2)[leaf], "tree_roots": trees.roots[trees.roots >= 0],
    }  # fmt: skip
    fields = {name: values.tolist() for name, values in fields.items()}
    fields["nodes_splits"] = graph.tensor(trees.cut.astype(np.float64))
    fields["nodes_modes"] = graph.tensor(np.where(chosen, MEMBER, AT_MOST).astype(np.uint8))
    fields["leaf_weights"] = graph.tensor(weights[~ends[leaf]])
    if chosen.any():
        levels = [[*trees.subsets[values], np.nan] for values in trees.subset[chosen]]
        fields["membership_values"] = graph.tensor(np.concatenate(levels))
    return graph.add(
        "TreeEnsemble", rows, domain="ai.onnx.ml", n_targets=1 if targets is None else targets.size,
        aggregate_function=SUM, post_transform=AS_IS, **fields,
    )  # fmt: skip


def agreed(trees: Trees, levels: NDArray[np.int64]) -> Trees:
    """Return the same trees in a form that all runtimes interpret alike.

    ``levels`` holds the number of levels of each column. Some runtimes read sets of levels in the
    order of splits, as the standard has it, others depth first; so splits are sorted depth first.
    And some take level 0 for the end of a set; so a set with level 0 is replaced by its complement,
    with the sides exchanged.
    """
    if not trees.subsets:
        return trees
    chosen = np.flatnonzero(trees.subset >= 0)
    left, right, missing = trees.left.copy(), trees.right.copy(), trees.missing_left.copy()
    subsets = []
    for split in chosen:
        subset_levels = set(trees.subsets[trees.subset[split]])
        if 0 in subset_levels:
            subset_levels = set(range(levels[trees.feature[split]])) - subset_levels
            left[split], right[split] = trees.right[split], trees.left[split]
            missing[split] = not missing[split]
        subsets.append(tuple(sorted(subset_levels)))
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
        trees, feature=trees.feature[order], cut=trees.cut[order], missing_left=missing[order],
        left=moved(left[order]), right=moved(right[order]), subset=subset[order],
        subsets=tuple(subsets), roots=moved(trees.roots),
    )  # fmt: skip


OPSET, TREES_OPSET, IR = 18, 5, 10


def to_onnx(program: Program) -> bytes:
    """Return the bytes of the file."""
    program.refuse_words("ONNX has no operator that reads texts as pacboost does")
    graph, answer = Graph(), program.answer
    sums = sums_of(graph, program)
    outputs = _answers(graph, answer, sums)
    onnx = graph.onnx
    helper, kinds = onnx.helper, onnx.TensorProto
    rows = helper.make_tensor_value_info("X", kinds.FLOAT, ["rows", len(program.names)])
    output_infos = [helper.make_tensor_value_info(name, *shape) for name, shape in outputs.items()]
    sets = [helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", TREES_OPSET)]
    model = helper.make_model(
        helper.make_graph(graph.nodes, "pacboost", [rows], output_infos, graph.constants),
        opset_imports=sets, ir_version=IR, producer_name="pacboost",
        doc_string="\n".join(program.about),
    )  # fmt: skip
    about = {
        "columns": list(program.names), "meanings": program.meanings,
        "levels": program.levels.to_dict(), "classes": answer.classes.tolist(),
    }  # fmt: skip
    helper.set_model_props(model, {name: json.dumps(value) for name, value in about.items()})
    onnx.checker.check_model(model)
    content: bytes = model.SerializeToString(deterministic=True)
    return content


def _answers(graph: Graph, answer: Output, sums: str) -> dict[str, tuple[int, list[Any]]]:
    """Add nodes that turn sums into answers, and return the type and shape of every output."""
    kinds, count = graph.onnx.TensorProto, answer.classes.size
    if answer.kind == "number":
        mean = graph.add("Div", sums, np.array([float(answer.count)]))
        scaled = graph.add("Mul", mean, np.array([answer.scale]))
        number = graph.add("Add", scaled, np.array([answer.middle]))
        graph.add("Exp" if answer.logs else "Identity", number, name="number")
        return {"number": (kinds.DOUBLE, ["rows", 1])}
    shares = _probabilities(graph, answer, sums)
    if answer.kind == "several":
        above = graph.add("Greater", sums, np.zeros(1))
        graph.add("Cast", above, to=kinds.INT64, name="label")
        shapes: dict[str, tuple[int, list[Any]]] = {"label": (kinds.INT64, ["rows", count])}
    else:
        named, kind = _classes(graph, answer)
        graph.add("Gather", named, _place(graph, answer, sums, shares), name="label")
        shapes = {"label": (kind, ["rows"])}
    graph.add("Identity", shares, name="probabilities")
    return {**shapes, "probabilities": (kinds.DOUBLE, ["rows", count])}


def _place(graph: Graph, answer: Output, sums: str, shares: str) -> str:
    if answer.cut is not None:
        return _beyond(graph, answer, answer.cut, sums, shares)
    if answer.kind == "two":
        above = graph.add("Greater", sums, np.zeros(1))
        place = graph.add("Cast", above, to=graph.onnx.TensorProto.INT64)
        return graph.add("Squeeze", place, np.array([1]))
    return graph.add("ArgMax", sums if answer.kind == "many" else shares, axis=1, keepdims=0)


def _beyond(graph: Graph, answer: Output, cut: Cut, sums: str, shares: str) -> str:
    """Add nodes that find the class with the threshold, or else the most probable other one."""
    kinds, at = graph.onnx.TensorProto, np.array([cut.at])
    if answer.kind == "two":
        second = graph.add("GreaterOrEqual" if cut.place == 1 else "Greater", sums, at)
        return graph.add("Squeeze", graph.add("Cast", second, to=kinds.INT64), np.array([1]))
    share = graph.add("Gather", shares, np.array([cut.place]), axis=1)
    reached = graph.add("Squeeze", graph.add("GreaterOrEqual", share, at), np.array([1]))
    never = np.zeros((1, answer.classes.size))
    never[0, cut.place] = 2.0
    other = graph.add("ArgMax", graph.add("Sub", shares, never), axis=1, keepdims=0)
    return graph.add("Where", reached, np.array([cut.place]), other)


def _classes(graph: Graph, answer: Output) -> tuple[str, int]:
    classes, kinds = answer.classes, graph.onnx.TensorProto
    stored: dict[str, tuple[Any, int]] = {
        "b": (np.bool_, kinds.BOOL),
        "f": (np.float64, kinds.DOUBLE),
    }
    stored |= dict.fromkeys("OUT", (np.object_, kinds.STRING))
    dtype, kind = stored.get(classes.dtype.kind, (np.int64, kinds.INT64))
    return graph.constant(classes.astype(dtype)), kind


def _probabilities(graph: Graph, answer: Output, sums: str) -> str:
    if answer.kind == "one":
        return graph.add("Exp", graph.add("Mul", sums, np.zeros(1)))
    if answer.kind == "shares":
        shares = graph.add("Div", sums, np.array([float(answer.count)]))
        return shares if answer.classes.size > 2 else _pair(graph, shares)
    if answer.curves:
        heights = _curves(graph, answer.curves, sums)
        return _pair(graph, heights) if answer.kind == "two" else _normalised(graph, heights)
    if answer.kind == "several":
        return graph.add("Sigmoid", graph.add("Mul", sums, np.array([2.0])))
    if answer.kind == "two":
        return graph.add("Sigmoid", graph.add("Mul", sums, np.array([[-2.0, 2.0]])))
    return graph.add("Softmax", graph.add("Mul", sums, np.array([answer.steepness])), axis=1)


def _pair(graph: Graph, second: str) -> str:
    return graph.add("Concat", graph.add("Sub", np.ones(1), second), second, axis=1)


def _normalised(graph: Graph, heights: str) -> str:
    total = graph.add("ReduceSum", heights, np.array([1]), keepdims=1)
    none = graph.add("Equal", total, np.zeros(1))
    even = graph.add("Where", none, np.ones(1), heights)
    return graph.add("Div", even, graph.add("ReduceSum", even, np.array([1]), keepdims=1))


def _curves(graph: Graph, curves: tuple[Sigmoid, ...] | tuple[Isotonic, ...], sums: str) -> str:
    """Add calibrated curves; an isotonic curve is a sum of rises between knots."""
    if isinstance(curves[0], Sigmoid):
        slopes, offsets = np.array([(curve.slope, curve.offset) for curve in curves]).T
        return graph.add("Sigmoid", graph.add("Add", graph.add("Mul", sums, slopes), offsets))
    heights = []
    for place, curve in enumerate(curves):
        knots, levels = np.array(curve.knots), np.array(curve.heights)
        score = graph.add("Gather", sums, np.array([place]), axis=1)
        height = graph.add("Mul", score, np.zeros(1))
        if knots.size > 1:
            inside = graph.add("Min", graph.add("Max", score, knots[:-1]), knots[1:])
            slopes = (np.diff(levels) / np.diff(knots))[:, None]
            height = graph.add("MatMul", graph.add("Sub", inside, knots[:-1]), slopes)
        height = graph.add("Add", height, levels[:1])
        heights.append(graph.add("Clip", height, np.array(0.0), np.array(1.0)))
    return graph.add("Concat", *heights, axis=1)
