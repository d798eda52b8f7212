"""Write a model as an ONNX graph: float32 rows in, a label (or a number) and probabilities out.

A category is given as the number of its level; the file holds the levels, as it holds the names of
columns and classes, in its metadata.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from pacboost.errors import ParameterError
from pacboost.models.calibration.curves import Isotonic, Sigmoid
from pacboost.models.export.cut import Cut
from pacboost.models.export.onnx_trees import Graph, agreed, sums_of
from pacboost.models.export.program import Output, Program

OPSET, TREES_OPSET, IR = 18, 5, 10


def to_onnx(program: Program) -> bytes:
    """Give the bytes of the file."""
    if program.lists is not None:
        raise ParameterError(
            "lists of words are exported to Python only: ONNX has no operator that reads texts as "
            "pacboost does. Give a path that ends in .py"
        )
    graph, answer = Graph(), program.answer
    levels = program.levels.counts(len(program.names))
    sums = sums_of(graph, agreed(program.trees, levels))
    outputs = _answers(graph, answer, sums)
    onnx = graph.onnx
    helper, kinds = onnx.helper, onnx.TensorProto
    rows = helper.make_tensor_value_info("X", kinds.FLOAT, ["rows", len(program.names)])
    given = [helper.make_tensor_value_info(name, *shape) for name, shape in outputs.items()]
    made = helper.make_model(
        helper.make_graph(graph.nodes, "pacboost", [rows], given, graph.constants),
        opset_imports=[
            helper.make_opsetid("", OPSET),
            helper.make_opsetid("ai.onnx.ml", TREES_OPSET),
        ],
        ir_version=IR,
        producer_name="pacboost",
        doc_string="\n".join(program.about),
    )
    about = {"columns": list(program.names), "levels": program.levels.to_dict()}
    about["classes"] = answer.classes.tolist()
    helper.set_model_props(made, {name: json.dumps(own) for name, own in about.items()})
    onnx.checker.check_model(made)
    content: bytes = made.SerializeToString(deterministic=True)
    return content


def _answers(graph: Graph, answer: Output, sums: str) -> dict[str, tuple[int, list[Any]]]:
    """Add what turns sums into answers; give the kind and shape of every output."""
    kinds, count = graph.onnx.TensorProto, answer.classes.size
    if answer.kind == "number":
        mean = graph.add("Div", sums, np.array([float(answer.count)]))
        scaled = graph.add("Mul", mean, np.array([answer.scale]))
        if answer.logs:
            graph.add("Exp", graph.add("Add", scaled, np.array([answer.middle])), name="number")
        else:
            graph.add("Add", scaled, np.array([answer.middle]), name="number")
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
    """Add what finds the place of the class that is decided for."""
    if answer.cut is not None:
        return _beyond(graph, answer, answer.cut, sums, shares)
    if answer.kind == "two":
        above = graph.add("Greater", sums, np.zeros(1))
        place = graph.add("Cast", above, to=graph.onnx.TensorProto.INT64)
        return graph.add("Squeeze", place, np.array([1]))
    return graph.add("ArgMax", sums if answer.kind == "many" else shares, axis=1, keepdims=0)


def _beyond(graph: Graph, answer: Output, cut: Cut, sums: str, shares: str) -> str:
    """Add what finds the class that has a threshold, or else the most probable other one."""
    kinds, at = graph.onnx.TensorProto, np.array([cut.at])
    if answer.kind == "two":
        second = graph.add("GreaterOrEqual" if cut.place == 1 else "Greater", sums, at)
        return graph.add("Squeeze", graph.add("Cast", second, to=kinds.INT64), np.array([1]))
    own = graph.add("Gather", shares, np.array([cut.place]), axis=1)
    reached = graph.add("Squeeze", graph.add("GreaterOrEqual", own, at), np.array([1]))
    never = np.zeros((1, answer.classes.size))
    never[0, cut.place] = 2.0
    other = graph.add("ArgMax", graph.add("Sub", shares, never), axis=1, keepdims=0)
    return graph.add("Where", reached, np.array([cut.place]), other)


def _classes(graph: Graph, answer: Output) -> tuple[str, int]:
    """Add the classes; give their name and kind."""
    classes, kinds = answer.classes, graph.onnx.TensorProto
    if classes.dtype.kind in "OUT":
        return graph.constant(classes.astype(object)), kinds.STRING
    if classes.dtype.kind == "b":
        return graph.constant(classes), kinds.BOOL
    if classes.dtype.kind == "f":
        return graph.constant(classes.astype(np.float64)), kinds.DOUBLE
    return graph.constant(classes.astype(np.int64)), kinds.INT64


def _probabilities(graph: Graph, answer: Output, sums: str) -> str:
    """Add what turns sums into probabilities, (rows, classes)."""
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
    """Add calibrated curves: of Isotonic ones, the rises between knots are added up."""
    if isinstance(curves[0], Sigmoid):
        slopes, offsets = np.array([(own.slope, own.offset) for own in curves]).T
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
