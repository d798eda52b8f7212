"""How exported Python files read cells: one class for each kind of column; see alone.py.

The classes have the names and the fields of the kinds of sources/kinds, so that a file names a
kind as it is written in JSON.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import Any

# ------------------------------------------------------------------------------------------------


_MISSING = ("", "na", "n/a", "#n/a", "nan", "none", "null", "-", "?")
_TRUTHS = {"yes": 1.0, "no": 0.0, "true": 1.0, "false": 0.0}
_ORIGIN = datetime(2000, 1, 1)
_CLOCK = r"(?:[T ]+(\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?\s*(?:Z|[+-]\d{2}:?\d{2})?)?"
_YEAR_FIRST = r"(\d{4})([-/])(\d{1,2})\2(\d{1,2})" + _CLOCK
_DAY_FIRST = r"(\d{1,2})\.(\d{1,2})\.(\d{4})" + _CLOCK
_SLASHES = r"(\d{1,2})/(\d{1,2})/(\d{4})" + _CLOCK


def _absent(cell: object) -> bool:
    """Check whether a cell is missing: None, or NaN, which differs from itself."""
    try:
        return cell is None or bool(cell != cell)  # noqa: PLR0124
    except TypeError:  # NA of pandas, whose comparison has no truth value
        return True


def _of_text(text: str, decimal_comma: bool = False) -> float:
    """Return the number in a text; raise ValueError if there is none."""
    if decimal_comma and re.fullmatch(r"[+-]?(\d{1,3}(\.\d{3})+|\d+),\d+", text):
        return float(text.replace(".", "").replace(",", "."))
    if re.fullmatch(r"[+-]?\d{1,3}(,\d{3})+(\.\d*)?", text):
        return float(text.replace(",", ""))
    return float("text" if "_" in text else text)


def _plain(cell: Any) -> Any:
    """Return a cell as a value of Python, None if it is missing."""
    if _absent(cell):
        return None
    if hasattr(cell, "dtype") and hasattr(cell, "item"):  # of NumPy, which counts nanoseconds
        cell = cell.astype(f"{cell.dtype.kind}8[us]") if cell.dtype.kind in "mM" else cell
        cell = cell.item()
    if isinstance(cell, str) and cell.strip().lower() in _MISSING:
        return None
    return cell


class _PlainNumbers:
    held = "a number"

    def __init__(self, decimal_comma: bool) -> None:
        self.decimal_comma = decimal_comma

    def read(self, cell: Any) -> float:
        if isinstance(cell, timedelta):
            return cell.total_seconds()
        if isinstance(cell, str):
            return _of_text(cell.strip(), self.decimal_comma)
        return float(cell)


class _Truths:
    def __init__(self, words: Sequence[str]) -> None:
        self.held = " or ".join(words)

    def read(self, cell: Any) -> float:
        if not isinstance(cell, str):
            return float(cell)
        text = cell.strip()
        return _TRUTHS[text.lower()] if text.lower() in _TRUTHS else _of_text(text)


class _Dates:
    def __init__(self, part: str, order: str | None, times: bool) -> None:
        self.part, self.order = part, order
        self.held = f"a date written as {order}" if order else "a date, as in 2024-01-31 08:30"

    def read(self, cell: Any) -> float:
        if isinstance(cell, date) and not isinstance(cell, datetime):
            cell = datetime(cell.year, cell.month, cell.day)
        moment = cell.replace(tzinfo=None) if isinstance(cell, datetime) else self._of(cell)
        if self.part == "weekday":
            return float(moment.isoweekday())
        if self.part:
            return float(getattr(moment, self.part))
        return (moment - _ORIGIN) / timedelta(days=1)

    def _of(self, cell: Any) -> datetime:
        text = cell.strip() if isinstance(cell, str) else ""
        match = re.fullmatch(_YEAR_FIRST, text)
        if match:
            year, _, month, day, *clock = match.groups()
        else:
            match = re.fullmatch(_DAY_FIRST, text)
            if not match and self.order:
                match = re.fullmatch(_SLASHES, text)
            if not match:
                raise ValueError(cell)
            day, month, year, *clock = match.groups()
            if "/" in text and self.order == "month/day/year":
                day, month = month, day
        hour, minute, second = (int(part or 0) for part in clock)
        return datetime(int(year), int(month), int(day), hour, minute, min(second, 59))


class _Categories:
    held = "a category"

    def __init__(self, levels: Sequence[Any]) -> None:
        self.places = {level: float(k) for k, level in enumerate(levels)}
        self.in_text = not levels or isinstance(levels[0], str)

    def read(self, cell: Any) -> float:
        if isinstance(cell, str) and cell not in self.places:
            cell = cell.strip()
            if not self.in_text:
                try:
                    cell = _TRUTHS[cell.lower()] if cell.lower() in _TRUTHS else _of_text(cell)
                except ValueError:
                    return math.nan
        return self.places.get(cell, math.nan)


def _number(kind: Any, name: str, cell: Any) -> float:
    """Return the number of a cell, NaN if it is missing; categories have that of their level."""
    given, cell = cell, _plain(cell)
    if isinstance(kind, _Categories) and given in kind.places:
        cell = given  # a level may be a word for missing values elsewhere
    if cell is None:
        return math.nan
    try:
        return kind.read(cell)  # type: ignore[no-any-return]
    except (TypeError, ValueError) as problem:
        raise ValueError(f"column {name!r} holds {given!r:.60}, not {kind.held}") from problem
