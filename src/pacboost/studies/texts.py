"""Cells of a table as texts that do not depend on how a file or a data frame writes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError
from pacboost.sources.optional import close_names
from pacboost.sources.rows import Rows
from pacboost.sources.values import is_missing, pieces

MAX_WHOLE = 2**53
"""Above it, whole numbers are not exact as floating-point numbers."""


def text_of(cell: Any) -> str:
    """Return a cell as text: the same for 1, 1.0 and "1.00"; empty if it is missing.

    Spreadsheets write numbers in their own way when a file is saved.

    >>> text_of("1.50"), text_of(1.5), text_of(2.0), text_of(None), text_of(np.True_)
    ('1.5', '1.5', '2', '', 'true')
    """
    if is_missing(cell):
        return ""
    if isinstance(cell, bool | np.bool_):
        return "true" if cell else "false"
    text = str(cell).strip()
    if text.lower() in ("true", "false"):
        return text.lower()
    with suppress(ValueError):
        number = float(text)
        if isfinite(number) and "_" not in text:
            return (
                str(int(number))
                if number.is_integer() and abs(number) < MAX_WHOLE
                else repr(number)
            )
    return text


def columns_of(X: Any) -> dict[str, list[str]]:
    """Return the columns of a data frame, or of a list of mappings, as texts."""
    return {
        str(name): [text_of(cell) for part in pieces(cells) for cell in part]
        for name, cells in Rows.of(X).columns().cells.items()
    }


def typed(texts: Sequence[str]) -> NDArray[Any]:
    """Return a column as numbers if all its texts are numbers or missing, else as texts."""
    with suppress(ValueError):
        return np.array([float(text) if text else np.nan for text in texts])
    return np.array([text or None for text in texts], dtype=object)


def column(columns: Mapping[str, Sequence[str]], name: str, parameter: str) -> Sequence[str]:
    """Return a column by its name; raise with the names that there are."""
    if name not in columns:
        close = close_names(name, columns)
        end = f"did you mean {close[0]!r}?" if close else "name one of them"
        raise DataError(
            f"{parameter} is {name!r}; the columns are {', '.join(map(repr, columns))}; {end}"
        )
    return columns[name]
