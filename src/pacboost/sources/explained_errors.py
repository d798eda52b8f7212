"""Check the arguments of public functions, and name the first cell that cannot be used.

Arguments are checked before the call. Cells are checked only after a call has failed, so that good
input costs nothing: a ``DataError`` names the first cell, label or argument that cannot be used;
all other errors are raised unchanged. The messages of other libraries are never parsed.
"""

from __future__ import annotations

import inspect
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from types import GeneratorType
from typing import Any, TypeVar

import numpy as np

from pacboost.errors import DataError, DataTypeError, PacboostError, ParameterError
from pacboost.numerics.checks import meant, plain
from pacboost.numerics.memory import in_host_memory
from pacboost.sources.dataframe import WIDE, is_frame, open_frame
from pacboost.sources.odd_cells import (
    NUMBERS_OR_TEXT,
    as_cells,
    first_odd,
    missing_value,
    odd_value,
    shown,
)
from pacboost.sources.optional import collected
from pacboost.sources.table import Table
from pacboost.sources.targets import unmerged

Columns = Iterator[tuple[str, Iterable[Any]]]


def odd_cell(data: object, *, text: bool = False) -> str | None:
    """Return the column, the row and the value of the first cell that cannot be used, if any.

    With ``text``, cells of text that is not a number cannot be used either.

    >>> odd_cell([[1.0, 2.0], [3.0, {"a": 1}]])
    "column 1 holds a dict in row 1: {'a': 1}"
    >>> odd_cell([[1.0, "x"]], text=True)
    "column 1 holds text in row 0: 'x'"
    """
    try:
        columns = list(_columns(data))
    except Exception as problem:  # an unknown type may raise anything
        return f"X is of type {type(data).__name__} and cannot be read ({type(problem).__name__})"
    for name, cells in columns:
        cell = first_odd(cells, text=text)
        if cell:
            return f"column {name} holds {cell}"
    return None


ROWS_OR_LABELS = {
    "X": "a table of rows and columns is needed",
    "y": "one label for each row is needed",
}


def refuse_text(value: object, name: str) -> None:
    """Raise if rows or labels are a text, such as the name of a file or a column."""
    if isinstance(value, str):
        raise DataError(
            f"{name} is the text {shown(value)}, but "
            f"{ROWS_OR_LABELS.get(name, 'one value for each row is needed')}. StrongClassifier "
            "takes the name of a file as X and that of a column as y"
        )


def refuse_masked(values: object, name: str) -> None:
    """Raise if elements of a masked array are masked: what reads arrays would drop the mask.

    >>> refuse_masked(np.ma.masked_array([0, 1], [False, True]), "y")
    Traceback (most recent call last):
    pacboost.errors.DataError: y is a masked array with 1 masked element; leave those rows out
    """
    if not isinstance(values, np.ma.MaskedArray) or not np.ma.is_masked(values):
        return
    count = int(np.count_nonzero(values.mask))
    mend = "X.filled(numpy.nan) marks them as missing" if name == "X" else "leave those rows out"
    raise DataError(
        f"{name} is a masked array with {count} masked element{'s' * (count > 1)}; {mend}"
    )


def refuse_shape(data: object) -> None:
    """Raise unless the input has rows and columns; lists within cells are checked later."""
    refuse_text(data, "X")
    refuse_masked(data, "X")
    if problem := odd_shape(data):
        raise DataError(problem)


def odd_shape(data: Any) -> str | None:
    """Return why the input does not have rows and columns, or None if it has."""
    if isinstance(data, Table) or is_frame(data):
        return None
    if isinstance(data, list | tuple) and data and isinstance(data[0], list | tuple):
        return _odd_rows(data)
    shape = getattr(data, "shape", None)
    shape = np.shape(as_cells(data)) if shape is None else shape
    if len(shape) == 2:
        return None
    message = f"X has shape {tuple(shape)}, but rows and columns are needed"
    if hasattr(data, "to_frame"):
        return (
            f"X is a {type(data).__name__}, but rows and columns are needed: frame.iloc[[0]] (of "
            "polars frame[:1]) for one row of a frame, X.to_frame() for one column"
        )
    one = ". Reshape your data: X.reshape(1, -1) for one row, X.reshape(-1, 1) for one column"
    return f"{message}{one}" if len(shape) == 1 else message


def _odd_rows(data: Any) -> str | None:
    """Return why a list or a structured array is not a table, if so."""
    fields = getattr(getattr(data, "dtype", None), "names", None)
    if isinstance(data, np.ndarray) and fields:
        return (
            f"X is a structured array with the fields {', '.join(fields)}; give a data frame, or "
            "an array of rows and columns"
        )
    if not isinstance(data, list | tuple) or not data:
        return None
    sizes = [len(row) if isinstance(row, list | tuple) else None for row in data]
    other = next((k for k, size in enumerate(sizes) if size != sizes[0]), None)
    if other is None:
        return None
    return (
        f"X has rows of different lengths ({sizes[0]} in row 0, {sizes[other]} in row "
        f"{other}); all need the same columns"
    )


def _columns(data: object) -> Columns:
    """Yield the name or number and the cells of each column of any kind of table."""
    if isinstance(data, Table):
        return
    if is_frame(data):
        frame = open_frame(data)
        for number, name in enumerate(frame.columns):
            kind = frame.schema[name]
            yield repr(name), [kind] if kind in WIDE else frame[:, number].to_list()
        return
    array = as_cells(data)
    if array.dtype.kind in "fiub":
        return
    if array.ndim != 2:  # a list of rows that NumPy does not convert to a matrix
        if isinstance(data, list | tuple) and all(isinstance(row, list | tuple) for row in data):
            width = min(map(len, data), default=0)
            yield from ((str(j), [row[j] for row in data]) for j in range(width))
        return
    for number in range(array.shape[1]):
        cells = array[:, number]
        yield str(number), cells.tolist() if array.dtype.kind == "O" else cells


Function = TypeVar("Function", bound=Callable[..., Any])

ROWS = ("X", "X_val", "rows", "table")
VALUES = ("y", "y_val", "sample_weight", "groups")
LABELS = ("y", "y_val", "groups")
MAX_CHARACTERS_QUOTED = 500
"""Characters of another library's message that are repeated in ours."""
MAX_PARTS_CHECKED = 16
"""Longer lists are data, not arguments."""


def explains_input(function: Function) -> Function:
    """Check the arguments of a function, and name the first odd cell if the function fails.

    Lazy frames are collected before the call, and labels, weights and groups are copied to the
    memory of the CPU; rows are not.
    """
    signature = inspect.signature(function)

    @wraps(function)
    def explaining(*args: Any, **named: Any) -> Any:
        try:
            call = signature.bind(*args, **named)
        except TypeError:
            raise _wrong_arguments(function, signature, args, named) from None
        arguments = call.arguments
        for name, value in arguments.items():
            arrays = collected(value)
            arguments[name] = in_host_memory(arrays) if name in (*VALUES, "by") else arrays
            if name in LABELS:
                arguments[name] = unmerged(arguments[name])
            is_options = signature.parameters[name].kind is inspect.Parameter.VAR_KEYWORD
            if name not in ROWS + VALUES:
                for option, part in value.items() if is_options else [(name, value)]:
                    _refuse_huge(option, part)
        try:
            answer = function(*call.args, **call.kwargs)
        except Exception as problem:
            if not _says_enough(problem):
                _blame_input(problem, function, arguments)
            raise
        if isinstance(answer, GeneratorType):
            return _explaining_steps(answer, function, arguments)
        return answer

    return explaining  # type: ignore[return-value]


@contextmanager
def checked_by_scikit_learn() -> Iterator[None]:
    """Raise the errors of scikit-learn's checks as ``DataError`` with the same message."""
    try:
        yield
    except (TypeError, ValueError, ArithmeticError) as problem:
        if _says_enough(problem):
            raise
        kind = DataTypeError if isinstance(problem, TypeError) else DataError
        raise kind(_quoted(problem)) from problem


@contextmanager
def named_among(X: Any, read: Callable[[Any], object]) -> Iterator[None]:
    """If some of the rows X cannot be read, read all: that error names the row by its number."""
    try:
        yield
    except DataError:
        with warnings.catch_warnings(action="ignore"):
            read(X)
        raise


def _says_enough(problem: Exception) -> bool:
    """Return whether an error already says what is wrong, or is not about the input.

    scikit-learn's NotFittedError is the one error that is both a ValueError and an AttributeError.
    """
    not_fitted = isinstance(problem, ValueError) and isinstance(problem, AttributeError)
    return not_fitted or isinstance(problem, PacboostError | OSError | Warning)


def _explaining_steps(
    answers: GeneratorType[Any, Any, Any], function: Callable[..., Any], arguments: dict[str, Any]
) -> Iterator[Any]:
    try:
        yield from answers
    except Exception as problem:
        if not _says_enough(problem):
            _blame_input(problem, function, arguments)
        raise


def _refuse_huge(name: str, value: object) -> None:
    if isinstance(value, tuple | list) and len(value) <= MAX_PARTS_CHECKED:
        for part in value:
            _refuse_huge(name, part)
    elif isinstance(value, int) and abs(value) > sys.float_info.max:
        raise ParameterError(
            f"{name} is {shown(value)}; numbers up to {sys.float_info.max:.0e} are allowed",
            parameter=name,
        )


def _blame_input(
    problem: Exception, function: Callable[..., Any], arguments: Mapping[str, Any]
) -> None:
    kind = DataTypeError if isinstance(problem, TypeError) else DataError
    odd = (
        odd_cell(value) if name in ROWS else odd_value(value, name)
        for name, value in arguments.items()
        if name in ROWS + VALUES
    )
    cell = next(filter(None, odd), None)
    if cell is not None:
        reason = " ".join(_quoted(problem).split())
        raise kind(f"{cell}; {NUMBERS_OR_TEXT}. Convert it or leave it out ({reason})") from problem
    rows = next(filter(None, (_odd_rows(arguments.get(name)) for name in ROWS)), None)
    if rows is not None:
        raise kind(rows) from problem
    for name in ("y", "y_val"):
        if missing := missing_value(arguments.get(name), name):
            raise kind(missing) from problem
    for name, value in arguments.items():
        kinds = str(function.__annotations__.get(name, "Any")).split(" | ")
        names = ["None" if value is None else base.__name__ for base in type(plain(value)).__mro__]
        names += ["float"] if "int" in names else []
        if not any(
            kind.split("[")[0] in ("Any", "ArrayLike", "Sequence", *names) for kind in kinds
        ):
            raise DataTypeError(
                f"{name} is {shown(value)}; it may be {' or '.join(kinds)}"
            ) from problem


def _wrong_arguments(
    function: Callable[..., Any], signature: inspect.Signature, args: Any, named: Mapping[str, Any]
) -> PacboostError:
    """Return the error for arguments that are unknown, missing or given twice."""
    parameters = signature.parameters
    is_method = "self" in parameters and bool(args)
    where = f"{type(args[0]).__name__}.{function.__name__}" if is_method else function.__name__
    any_name = any(part.kind is part.VAR_KEYWORD for part in parameters.values())
    allowed = [
        name
        for name, part in parameters.items()
        if name != "self" and part.kind not in (part.VAR_KEYWORD, part.VAR_POSITIONAL)
    ]
    positional = max(len(args) - is_method, 0)
    twice = [name for name in allowed[:positional] if name in named]
    if twice:
        return DataTypeError(
            f"{where} got {twice[0]!r} twice, by position and by name; its arguments are "
            f"{', '.join(allowed)}, in this order"
        )
    unknown = [] if any_name else [name for name in named if name not in parameters]
    if unknown:
        elsewhere = ELSEWHERE.get((where, unknown[0]), "")
        close = "" if elsewhere else meant(unknown[0], allowed)
        message = f"{where} has no argument {unknown[0]!r}{close}; it takes "
        message += ", ".join(allowed) + elsewhere
        kind = type(args[0]) if is_method else object
        if unknown[0] in getattr(kind, "_accepted_parameters", ()):
            message += f". Pass it to the constructor: {kind.__name__}({unknown[0]}=...)"
        return DataTypeError(message)
    missing = [
        name
        for name in allowed[positional:]
        if parameters[name].default is inspect.Parameter.empty and name not in named
    ]
    what = f"lacks {', '.join(missing)}" if missing else f"got {positional} arguments"
    return DataTypeError(f"{where} {what}; it takes {', '.join(allowed)}")


CONFIDENCE = ". delta is the chance to be wrong: 95 % confidence is delta=0.05"
POSITIVE = ". Name the class in the measure, as in of=pacboost.measures.recall(positive)"
CLIP = ". It belongs to the measure, as in of=pacboost.measures.absolute_error(clip=120)"
COVERAGE = ". alpha=0.1 elsewhere is coverage=0.9 here"
GROUPS = (
    ". StrongClassifier.fit takes groups=, and certify(groups=) counts them; to keep groups "
    "together in a division, use sklearn.model_selection.GroupShuffleSplit"
)
ELSEWHERE = {
    ("certify", "by"): ". To certify groups of rows, call certify_all(..., by=...)",
    **{(call, name): CONFIDENCE for call in ("certify", "certify_all", "compare_models")
       for name in ("alpha", "confidence", "level")},
    **{(call, "positive"): POSITIVE for call in ("certify", "certify_all")},
    **{(call, "clip"): CLIP for call in ("certify", "certify_all")},
    **{(call, "alpha"): COVERAGE for call in ("sets", "intervals")},
    **{(f"{name}.fit", "groups"): GROUPS for name in ("BoostClassifier", "BoostRegressor",
       "AdaBoostClassifier", "TextBoostClassifier", "RandomForestClassifier")},
}  # fmt: skip
"""Where an argument belongs that a function does not have."""


def _quoted(problem: Exception) -> str:
    """Return the message of an error, without the data that some messages include."""
    try:
        lines = str(problem).split("\n")
    except Exception:  # some errors cannot print invalid Unicode
        return type(problem).__name__
    text = "\n".join(line for line in lines if not line.lstrip().startswith(("[", "array=", "<")))
    text = text if text.isascii() else text.encode("ascii", "backslashreplace").decode("ascii")
    return text if len(text) <= MAX_CHARACTERS_QUOTED else f"{text[:MAX_CHARACTERS_QUOTED]}…"
