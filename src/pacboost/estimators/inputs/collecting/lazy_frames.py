"""What every public method of an estimator does with its input.

Lazy frames are accepted wherever frames are, and collected first. Where another library raises
because of the input, the error becomes one of pacboost that says where the input is odd.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from types import FunctionType
from typing import Any, TypeVar

from pacboost.estimators.inputs.collecting.dask_rows import gathered, lazily
from pacboost.sources.explained_errors import explains_input
from pacboost.sources.lazy import collected
from pacboost.sources.oracles.dask_parts import is_collection

Kind = TypeVar("Kind")

INHERITED = ("score",)
"""Methods that scikit-learn's classes give to estimators, and that take rows."""


def collects_lazy_frames(kind: type[Kind]) -> type[Kind]:
    """Have public methods of a class, and of all that derive from it, take polars LazyFrames.

    Each is collected once in a call.
    """

    def of_subclass(cls: Any, /, **options: Any) -> None:
        super(kind, cls).__init_subclass__(**options)
        _wrap_methods(cls)

    kind._reads_partitions = False  # type: ignore[attr-defined]
    kind.__init_subclass__ = classmethod(of_subclass)  # type: ignore[assignment]
    _wrap_methods(kind)
    return kind


def _wrap_methods(kind: type) -> None:
    inherited = {name: getattr(kind, name, None) for name in INHERITED}
    methods = {n: own for n, own in inherited.items() if not hasattr(own, "__wrapped__")}
    for name, method in {**methods, **vars(kind)}.items():
        takes_rows = isinstance(method, FunctionType) and method.__code__.co_argcount > 1
        if takes_rows and not name.startswith("_"):
            setattr(kind, name, _collecting(method))


def _collecting(method: Callable[..., Any]) -> Callable[..., Any]:
    method = explains_input(method)

    @wraps(method)
    def collecting(self: Any, *given: Any, **named: Any) -> Any:
        first = given[0] if given else named.get("X")
        if is_collection(first) and not method.__name__.startswith("fit"):
            return lazily(self, method.__name__, first)
        if is_collection(first) and not self._reads_partitions:
            given, named = gathered((given, named))
        rows = [collected(value) for value in given]
        return method(self, *rows, **{name: collected(value) for name, value in named.items()})

    return collecting
