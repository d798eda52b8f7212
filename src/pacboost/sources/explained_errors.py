"""Errors of other libraries about the input become errors of pacboost that say where it is odd.

Public methods and functions are called within ``explained``. What scikit-learn, NumPy, narwhals or
Python raise about X, y or weights is raised again as a ``DataError`` that names the column, the row
and what stands there. Errors that have nothing to do with the input pass as they are.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from types import TracebackType
from typing import Any, TypeVar

from pacboost.errors import DataError, DataTypeError, PacboostError
from pacboost.sources.odd_cells import (
    NUMBERS_OR_TEXT,
    missing_value,
    odd_cell,
    odd_shape,
    odd_value,
)

Function = TypeVar("Function", bound=Callable[..., Any])

ROWS = ("X", "X_val", "rows", "table")
VALUES = ("y", "y_val", "sample_weight", "groups")
NEVER = (PacboostError, AttributeError, OSError, Warning)
"""These are no errors about the input, or already say what is wrong (also: a fit is missing)."""
CHECKS = ("sklearn.utils", "sklearn.metrics")
"""Where scikit-learn checks what came."""
CONVERSIONS = ("convert", "float()", "numeric", "text")
MOST_SAID = 500
NEEDED = {"X": "a table of rows and columns is needed", "y": "one label for each row is needed"}


def explains_input(function: Function) -> Function:
    """Make a function raise a ``DataError`` where another library raises because of the input."""

    @wraps(function)
    def explaining(*given: Any, **named: Any) -> Any:
        try:
            return function(*given, **named)
        except NEVER:
            raise
        except Exception as problem:
            found = explained(problem, function, given, named)
            if found is None:
                raise
            raise found from problem

    return explaining  # type: ignore[return-value]


def explained(
    problem: Exception, function: Callable[..., Any], given: Any, named: Mapping[str, Any]
) -> PacboostError | None:
    """Return the error to raise in the place of another one; None if the input is not to blame."""
    try:
        arguments = inspect.signature(function).bind(*given, **named).arguments
    except TypeError:
        return _wrong_arguments(function, given, named) if isinstance(problem, TypeError) else None
    if (
        name := next((n for n in ("X", "y") if isinstance(arguments.get(n), str)), None)
    ) is not None:
        return DataError(
            f"{name} is the text {arguments[name]!r}, but {NEEDED[name]}. StrongClassifier takes "
            "the name of a file as X and that of a column as y"
        )
    first = _said(problem, " ")
    asks_numbers = any(word in first for word in CONVERSIONS)
    said = next(filter(None, (_odd(n, v, text=asks_numbers) for n, v in arguments.items())), None)
    kind = DataTypeError if isinstance(problem, TypeError) else DataError
    if said is not None:
        return kind(f"{said}; {NUMBERS_OR_TEXT}. Convert it or leave it out ({first})")
    if _raised_by_checks(problem):
        return kind(_said(problem, "\n"))
    said = next(filter(None, (_lacking(n, v) for n, v in arguments.items())), None)
    return None if said is None else kind(said)


def _odd(name: str, value: Any, *, text: bool) -> str | None:
    if name in ROWS:
        return odd_cell(value, text=text)
    if name in VALUES:
        return odd_value(value, name, text=text and name == "sample_weight")
    return None


def _lacking(name: str, value: Any) -> str | None:
    """Return what is wrong with rows or labels as a whole."""
    if name in ROWS:
        return odd_shape(value)
    return missing_value(value, name) if name in ("y", "y_val") else None


def _wrong_arguments(
    function: Callable[..., Any], given: Any, named: Mapping[str, Any]
) -> PacboostError:
    """Return which arguments a function takes."""
    own = inspect.signature(function).parameters
    method = "self" in own and bool(given)
    where = f"{type(given[0]).__name__}.{function.__name__}" if method else function.__name__
    any_name = any(part.kind is part.VAR_KEYWORD for part in own.values())
    known = [
        name
        for name, part in own.items()
        if name != "self" and part.kind not in (part.VAR_KEYWORD, part.VAR_POSITIONAL)
    ]
    twice = [name for name in known[: max(len(given) - method, 0)] if name in named]
    if twice:
        return DataTypeError(
            f"{where} got {twice[0]!r} twice, by its place and by its name; its arguments are "
            f"{', '.join(known)}, in this order"
        )
    unknown = [] if any_name else [name for name in named if name not in own]
    if unknown:
        said = f"{where} has no argument {unknown[0]!r}; it takes {', '.join(known)}"
        if method and _constructs(type(given[0]), unknown[0], named[unknown[0]]):
            kind = type(given[0]).__name__
            said += f". Give it when the estimator is made: {kind}({unknown[0]}=...)"
        return DataTypeError(said)
    lacking = [
        name
        for name in known[max(len(given) - method, 0) :]
        if own[name].default is inspect.Parameter.empty and name not in named
    ]
    what = f"lacks {', '.join(lacking)}" if lacking else f"got {len(given) - method} arguments"
    return DataTypeError(f"{where} {what}; it takes {', '.join(known)}")


def _constructs(kind: type, name: str, value: Any) -> bool:
    """Check whether a class takes an argument when an estimator is made, also by another name."""
    try:
        kind(**{name: value})
    except Exception:  # whatever a stranger's class raises, the answer is no
        return False
    return True


def _said(problem: Exception, between: str) -> str:
    """Return what an error says, without the rows that some print."""
    try:
        lines = str(problem).split("\n")
    except Exception:  # some errors cannot show the letters that they are about
        return type(problem).__name__
    said = between.join(
        line for line in lines if not line.lstrip().startswith(("[", "array=", "<"))
    )
    said = said.encode("ascii", "backslashreplace").decode("ascii") if not said.isascii() else said
    return said if len(said) <= MOST_SAID else f"{said[:MOST_SAID]}…"


def _raised_by_checks(problem: Exception) -> bool:
    step: TracebackType | None = problem.__traceback__
    last = ""
    while step is not None:
        name = step.tb_frame.f_globals.get("__name__", "")
        last = name if name.startswith(("sklearn", "pacboost")) else last
        step = step.tb_next
    return last.startswith(CHECKS)
