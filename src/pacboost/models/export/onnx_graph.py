"""A graph of ONNX while it is put together."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from numpy.typing import NDArray

from pacboost.errors import ParameterError


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
