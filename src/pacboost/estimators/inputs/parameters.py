"""Checks of parameters: each raises an error that says what came and what is allowed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from numbers import Integral, Real
from typing import Any

from pacboost.errors import ParameterError


def positive_integer(name: str, value: Any) -> int:
    """Check a whole number that has to be 1 or more."""
    if not _is_whole(value) or value < 1:
        raise ParameterError(f"{name} is {value!r}; it must be a whole number, 1 or more")
    return int(value)


def integer(name: str, value: Any) -> int:
    """Check a whole number."""
    if not _is_whole(value):
        raise ParameterError(f"{name} is {value!r}; it must be a whole number")
    return int(value)


def real_number(name: str, value: Any) -> Any:
    """Check a number of any kind."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise ParameterError(f"{name} is {value!r}; it must be a number")
    return value


def callables(name: str, value: Any) -> list[Callable[..., Any]]:
    """Check a sequence of functions, or None."""
    if value is None:
        return []
    parts: list[Any] = list(value) if isinstance(value, Iterable) else [None]
    if not all(callable(part) for part in parts):
        raise ParameterError(f"{name} is {value!r}; it must be a list of functions")
    return parts


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)
