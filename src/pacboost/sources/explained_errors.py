"""Errors of other libraries about the input become errors of pacboost that say where it is odd.

Public methods and functions are called within ``explained``. What scikit-learn, NumPy, narwhals or
Python raise about X, y or weights is raised again as a ``DataError`` that names the column, the row
and what stands there. Errors that have nothing to do with the input pass as they are.
"""

from __future__ import annotations

import inspect
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from functools import wraps
from itertools import zip_longest
from types import GeneratorType, TracebackType
from typing import Any, TypeVar

import numpy as np

from pacboost.errors import DataError, DataTypeError, PacboostError, ParameterError
from pacboost.numerics.checks import meant, plain
from pacboost.numerics.memory import in_host_memory
from pacboost.sources.dataframe import WIDE, is_frame, open_frame
from pacboost.sources.levels import is_missing, is_unicode
from pacboost.sources.optional import collected
from pacboost.sources.table import Table

# The first cell of an input that no estimator can use, named by its column and row.
#
# This is looked for only after reading has failed, so good input costs nothing.

MOST_SHOWN = 60
NUMBERS_OR_TEXT = (
    "a cell may hold a number, a boolean, text (as a category) or nothing (None or NaN)"
)

Columns = Iterator[tuple[str, Iterable[Any]]]


def odd_cell(data: Any, *, text: bool = False) -> str | None:
    """Return where the first cell that cannot be used is, and what it holds; None if there is none.

    With ``text``, cells of text that spell no number are among them.

    >>> odd_cell([[1.0, 2.0], [3.0, {"a": 1}]])
    "column 1 holds a dict in row 1: {'a': 1}"
    >>> odd_cell([[1.0, "x"]], text=True)
    "column 1 holds text in row 0: 'x'"
    """
    try:
        columns = list(_columns(data))
    except Exception as problem:  # a stranger's object may raise anything
        return f"X is of type {type(data).__name__} and cannot be read ({type(problem).__name__})"
    for name, cells in columns:
        found = _first(cells, text=text)
        if found is not None:
            return f"column {name} holds {found}"
    return None


def odd_value(values: Any, name: str, *, text: bool = False) -> str | None:
    """Return the same of labels, targets or weights: one value for every row.

    >>> odd_value([1.0, 10**400], "sample_weight")
    'sample_weight holds a whole number too large for a float in row 1: 1000000000… (401 digits)'
    """
    found = _first(_cells(values) or (), text=text)
    return None if found is None else f"{name} holds {found}"


def odd_shape(data: Any) -> str | None:
    """Explain that rows are no table of rows and columns.

    >>> odd_shape(np.zeros((3, 1, 1)))
    'X has shape (3, 1, 1), but rows and columns are needed'
    >>> odd_shape([[1, 2], [3]])
    'X has rows of different lengths (2 in row 0, 1 in row 1); all need the same columns'
    """
    if isinstance(data, Table) or is_frame(data):
        return None
    if isinstance(data, list | tuple) and data:
        sizes = [len(row) if isinstance(row, list | tuple) else None for row in data]
        other = next((k for k, size in enumerate(sizes) if size != sizes[0]), None)
        if other is not None:
            return (
                f"X has rows of different lengths ({sizes[0]} in row 0, {sizes[other]} in row "
                f"{other}); all need the same columns"
            )
    shape = getattr(data, "shape", None)
    shape = np.shape(_array(data)) if shape is None else shape
    if len(shape) == 2:
        return None
    said = f"X has shape {tuple(shape)}, but rows and columns are needed"
    if hasattr(data, "to_frame"):
        return (
            f"X is a {type(data).__name__}, but rows and columns are needed: frame.iloc[[0]] (of "
            "polars frame[:1]) for one row of a frame, X.to_frame() for one column"
        )
    one = ". Reshape your data: X.reshape(1, -1) for one row, X.reshape(-1, 1) for one column"
    return f"{said}{one}" if len(shape) == 1 else said


def missing_value(values: Any, name: str) -> str | None:
    """Return in which row a label is missing.

    >>> missing_value(["a", None], "y")
    'y holds nothing in row 1 (None); every row needs a label: drop the others'
    """
    for row, cell in enumerate(_cells(values) or ()):
        if is_missing(cell):
            return (
                f"{name} holds nothing in row {row} ({shown(cell)}); every row needs a label: drop "
                "the others"
            )
    return None


def oddity(cell: Any) -> str | None:
    """Name the kind of a cell that is neither number, nor text, nor missing.

    >>> oddity(1.5), oddity("x"), oddity(None), oddity([1])
    (None, None, None, 'a list')
    """
    if isinstance(cell, str):
        return None if is_unicode(cell) else "text that is not valid Unicode"
    if isinstance(cell, float | bool | np.bool_) or cell is None:
        return None
    if isinstance(cell, bytes | complex | np.ndarray | np.datetime64 | np.timedelta64):
        return _with_article(type(cell).__name__)
    try:
        number = float(cell)
    except OverflowError:
        return "a whole number too large for a float"
    except Exception:  # whatever a stranger's object raises when it is asked for a number
        signaling = isinstance(cell, Decimal)  # Decimal's sNaN, which older pandas cannot read
        none = is_missing(cell) and not signaling
        return None if none else _with_article(type(cell).__name__)
    said_so = str(cell).lower().lstrip("+-").startswith("inf")
    return "a number too large for a float" if math.isinf(number) and not said_so else None


def shown(cell: Any) -> str:
    """Show a cell in some letters, whatever it holds."""
    if isinstance(cell, int) and abs(cell) >= 10**MOST_SHOWN:
        digits = int(cell.bit_length() * math.log10(2)) + 1
        return f"{cell // 10 ** (digits - 10)}… ({digits} digits)"
    try:
        said = repr(cell)
    except Exception:  # a stranger's object may fail at this, too
        return "what cannot be shown"
    said = " ".join(said.encode("ascii", "backslashreplace").decode("ascii").split())
    return said if len(said) <= MOST_SHOWN else f"{said[:MOST_SHOWN]}…"


def _first(cells: Iterable[Any], *, text: bool) -> str | None:
    for row, cell in enumerate(cells):
        kind = oddity(cell)
        if kind is None and text and isinstance(cell, str):
            try:
                float(cell)
            except ValueError:
                kind = "text"
        if kind is not None:
            return f"{kind} in row {row}: {shown(cell)}"
    return None


def _columns(data: Any) -> Columns:
    """Return the columns of anything that has some, with their names or numbers."""
    if isinstance(data, Table):
        return
    if is_frame(data):
        frame = open_frame(data)
        for number, name in enumerate(frame.columns):
            kind = frame.schema[name]
            wide = kind in WIDE  # NumPy has no such kind
            yield repr(name), [kind] if wide else frame[:, number].to_list()
        return
    array = _array(data)
    if array.dtype.kind in "fiub" or array.ndim != 2:
        yield from () if array.dtype.kind in "fiub" else _ragged(data)
        return
    for number in range(array.shape[1]):
        yield (
            str(number),
            array[:, number].tolist() if array.dtype.kind == "O" else array[:, number],
        )


def _ragged(data: Any) -> Columns:
    """Return the columns of a list of rows that NumPy does not see as a table."""
    if isinstance(data, list | tuple) and all(isinstance(row, list | tuple) for row in data):
        width = min(map(len, data), default=0)
        for number in range(width):
            yield str(number), [row[number] for row in data]


def _cells(values: Any) -> Iterable[Any] | None:
    if isinstance(values, str | bytes | dict | set) or values is None:
        return None
    try:
        cells = values if isinstance(values, list | tuple) else _array(values).tolist()
    except Exception:  # what cannot be opened has no cells to name
        return None
    return cells if isinstance(cells, list | tuple) else [cells]


def _array(data: Any) -> Any:
    return np.asarray(data, dtype=None if hasattr(data, "dtype") else object)


def _with_article(kind: str) -> str:
    return f"{'an' if kind[:1].lower() in 'aeiou' else 'a'} {kind}"


Function = TypeVar("Function", bound=Callable[..., Any])

ROWS = ("X", "X_val", "rows", "table")
VALUES = ("y", "y_val", "sample_weight", "groups")
NEVER = (PacboostError, OSError, Warning)
"""These are no errors about the input, or already say what is wrong (also: a fit is missing)."""
CHECKS = ("sklearn.utils", "sklearn.metrics")
"""Where scikit-learn checks what came."""
CONVERSIONS = ("convert", "float()", "numeric", "text")
MOST_SAID = 500
NEEDED = {"X": "a table of rows and columns is needed", "y": "one label for each row is needed"}


def explains_input(function: Function) -> Function:
    """Make a function raise a ``DataError`` where another library raises because of the input.

    It gets frames in the place of lazy ones, and labels, weights and groups that may lie on a GPU
    in the memory of the CPU; rows stay where they are.
    """
    names = function.__code__.co_varnames[: function.__code__.co_argcount]

    @wraps(function)
    def explaining(*given: Any, **named: Any) -> Any:
        given = tuple(_taken(*pair) for pair in zip_longest(given, names[: len(given)]))
        named = {name: _taken(value, name) for name, value in named.items()}
        try:
            answer = function(*given, **named)
        except NEVER:
            raise
        except Exception as problem:
            _explain(problem, function, given, named)
            raise
        if isinstance(answer, GeneratorType):
            return _explaining_steps(answer, function, given, named)
        return answer

    return explaining  # type: ignore[return-value]


def _explaining_steps(
    answers: GeneratorType[Any, Any, Any],
    function: Callable[..., Any],
    given: Any,
    named: Mapping[str, Any],
) -> Iterator[Any]:
    """Yield answers one by one: the first is computed when it is asked for."""
    try:
        yield from answers
    except NEVER:
        raise
    except Exception as problem:
        _explain(problem, function, given, named)
        raise


def _explain(
    problem: Exception, function: Callable[..., Any], given: Any, named: Mapping[str, Any]
) -> None:
    found = explained(problem, function, given, named)
    if found is not None:
        raise found from problem


def _taken(value: Any, name: str | None) -> Any:
    value = collected(value)
    return in_host_memory(value) if name in (*VALUES, "by") else value


def explained(
    problem: Exception, function: Callable[..., Any], given: Any, named: Mapping[str, Any]
) -> PacboostError | None:
    """Return the error to raise in the place of another one; None if the input is not to blame."""
    try:
        arguments = inspect.signature(function).bind(*given, **named).arguments
    except TypeError:
        return _wrong_arguments(function, given, named) if isinstance(problem, TypeError) else None
    first = _said(problem, " ")
    if isinstance(problem, AttributeError):  # scikit-learn's of what is not fitted is both
        unfitted = isinstance(problem, ValueError)
        return None if unfitted else _odd_argument(first, function, arguments)
    asks_numbers = any(word in first for word in CONVERSIONS)
    rows = [value for name, value in arguments.items() if name in ROWS]
    values = {name: value for name, value in arguments.items() if name in VALUES}
    odd = [odd_cell(value, text=asks_numbers) for value in rows] + [
        odd_value(value, name, text=asks_numbers and name == "sample_weight")
        for name, value in values.items()
    ]
    kind = DataTypeError if isinstance(problem, TypeError) else DataError
    if any(odd):
        said = next(filter(None, odd))
        return kind(f"{said}; {NUMBERS_OR_TEXT}. Convert it or leave it out ({first})")
    if (argument := _odd_argument(first, function, arguments)) is not None:
        return argument
    lacking = [odd_shape(value) for value in rows]
    asks_shape = any(lacking) and " 2" in first
    if _raised_by_checks(problem) and not asks_shape:
        return kind(_said(problem, "\n"))
    lacking += [missing_value(values[name], name) for name in ("y", "y_val") if name in values]
    return kind(next(filter(None, lacking))) if any(lacking) else None


def _odd_argument(
    first: str, function: Callable[..., Any], arguments: Mapping[str, Any]
) -> PacboostError | None:
    """Return an error that names an argument of a kind, or a size, that is not allowed."""
    for name, needed in NEEDED.items():
        if isinstance(text := arguments.get(name), str):
            return DataError(
                f"{name} is the text {shown(text)}, but {needed}. StrongClassifier takes the name "
                "of a file as X and that of a column as y"
            )
    many_digits = "integer string conversion" in first  # what Python says instead of printing them
    for name, value in arguments.items():
        if isinstance(value, int) and abs(value) > sys.float_info.max:
            return ParameterError(f"{name} is {shown(value)}; a number of that size is of no use")
        kinds = str(function.__annotations__.get(name, "Any")).split(" | ")
        names = ["None" if value is None else own.__name__ for own in type(plain(value)).__mro__]
        names += ["float"] if "int" in names else []
        if not any(kind.split("[")[0] in ("Any", "Sequence", *names) for kind in kinds):
            return DataTypeError(f"{name} is {shown(value)}; it may be {' or '.join(kinds)}")
    if many_digits:
        return ParameterError(f"a number given to {function.__name__} has more than 4,300 digits")
    return None


def _wrong_arguments(
    function: Callable[..., Any], given: Any, named: Mapping[str, Any]
) -> PacboostError:
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
        said = f"{where} has no argument {unknown[0]!r}{meant(unknown[0], known)}; it takes "
        said += ", ".join(known)
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
