"""Name cells that cannot be used, in messages: their kind, their row and their value."""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

import numpy as np

from pacboost.sources.values import is_missing, is_unicode

MAX_CHARACTERS_SHOWN = 60
NUMBERS_OR_TEXT = (
    "a cell may hold a number, a boolean, text (as a category) or nothing (None or NaN)"
)


def odd_value(values: object, name: str, *, text: bool = False) -> str | None:
    """Return the row and the first odd value of labels, targets or weights, if any."""
    cell = first_odd(_listed(values) or (), text=text)
    return None if cell is None else f"{name} holds {cell}"


def missing_value(values: object, name: str) -> str | None:
    """Return the first row whose label is missing, if any."""
    for row, cell in enumerate(_listed(values) or ()):
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
    except Exception:  # __float__ of an unknown type may raise anything
        signaling = isinstance(cell, Decimal)  # Decimal's sNaN, which older pandas cannot read
        none = is_missing(cell) and not signaling
        return None if none else _with_article(type(cell).__name__)
    is_infinity = str(cell).lower().lstrip("+-").startswith("inf")
    return "a number too large for a float" if math.isinf(number) and not is_infinity else None


def shown(cell: Any) -> str:
    """Return a short ASCII text for a cell of any type."""
    if isinstance(cell, int) and abs(cell) >= 10**MAX_CHARACTERS_SHOWN:
        digits = int(cell.bit_length() * math.log10(2)) + 1
        return f"{cell // 10 ** (digits - 10)}… ({digits} digits)"
    try:
        text = repr(cell)
    except Exception:  # __repr__ of an unknown type may fail, too
        return "a value that cannot be shown"
    text = " ".join(text.encode("ascii", "backslashreplace").decode("ascii").split())
    return text if len(text) <= MAX_CHARACTERS_SHOWN else f"{text[:MAX_CHARACTERS_SHOWN]}…"


def first_odd(cells: Iterable[Any], *, text: bool) -> str | None:
    """Name the first odd cell, its row and its value; with ``text``, text is odd, too."""
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


def _listed(values: object) -> Iterable[Any] | None:
    if isinstance(values, str | bytes | dict | set) or values is None:
        return None
    try:
        cells = values if isinstance(values, list | tuple) else as_cells(values).tolist()
    except Exception:  # nothing to name if the values cannot be read
        return None
    return cells if isinstance(cells, list | tuple) else [cells]


def as_cells(data: object) -> Any:
    """Return any input as an array, in which 1 is not "1"."""
    return np.asarray(data, dtype=None if hasattr(data, "dtype") else object)


def _with_article(kind: str) -> str:
    return f"{'an' if kind[:1].lower() in 'aeiou' else 'a'} {kind}"
