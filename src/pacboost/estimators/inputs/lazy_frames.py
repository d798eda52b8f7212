"""Lazy frames are accepted wherever frames are: every public method collects them first."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from types import FunctionType
from typing import Any

from pacboost.sources.lazy import collected


class CollectsLazyFrames:
    """An estimator whose public methods take polars LazyFrames, each collected once in a call."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name, method in list(vars(cls).items()):
            takes_rows = isinstance(method, FunctionType) and method.__code__.co_argcount > 1
            if takes_rows and not name.startswith("_"):
                setattr(cls, name, _collecting(method))


def _collecting(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def collecting(self: Any, *given: Any, **named: Any) -> Any:
        rows = [collected(value) for value in given]
        return method(self, *rows, **{name: collected(value) for name, value in named.items()})

    return collecting
