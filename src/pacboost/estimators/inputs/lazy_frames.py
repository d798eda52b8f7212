"""What every public method of an estimator does with its input.

Lazy frames are accepted wherever frames are, and collected first. Where another library raises
because of the input, the error becomes one of pacboost that says where the input is odd.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from types import FunctionType
from typing import Any

from pacboost.sources.explained_errors import explains_input
from pacboost.sources.lazy import collected

INHERITED = ("score",)
"""Methods that scikit-learn's classes give to estimators, and that take rows."""


class CollectsLazyFrames:
    """An estimator whose public methods take polars LazyFrames, each collected once in a call."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        methods = {name: getattr(cls, name) for name in INHERITED if hasattr(cls, name)}
        for name, method in {**methods, **vars(cls)}.items():
            takes_rows = isinstance(method, FunctionType) and method.__code__.co_argcount > 1
            if takes_rows and not name.startswith("_"):
                setattr(cls, name, _collecting(method))


def _collecting(method: Callable[..., Any]) -> Callable[..., Any]:
    method = explains_input(method)

    @wraps(method)
    def collecting(self: Any, *given: Any, **named: Any) -> Any:
        rows = [collected(value) for value in given]
        return method(self, *rows, **{name: collected(value) for name, value in named.items()})

    return collecting
