"""Read columns of text, in files and data frames, as numbers, booleans, dates or categories.

A column is of a type if all of its cells are, else it is categorical. A number may have commas
between thousands ("1,234.5"). In columns with numbers such as "1,5", and in files separated by
semicolons, a comma is a decimal comma. How a column is written is saved in the model
(``Levels.written``), so that new rows are read in the same way from any source.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any
from unicodedata import category

import numpy as np
from numpy.typing import NDArray

from pacboost.sources.data_file import MISSING

THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d*)?")
DECIMALS = re.compile(r"[+-]?(\d{1,3}(\.\d{3})+|\d+),\d+")
COMMA = "decimal comma"
TRUTHS = {"yes": 1.0, "no": 0.0, "true": 1.0, "false": 0.0}
TRUTH_WAYS = YES_NO, TRUE_FALSE = "yes/no", "true/false"


@dataclass(frozen=True)
class Spelling:
    """How cells are written: words for missing values, decimal comma, and order of dates.

    >>> Spelling().number("1,234.5"), Spelling(decimal_comma=True).number("1,5")
    (1234.5, 1.5)
    """

    missing: frozenset[str] = MISSING
    decimal_comma: bool = False
    day_first: bool | None = None
    """Whether the day comes first in ambiguous dates such as 1/2/2024; None: read them as text."""

    def is_missing(self, cell: str) -> bool:
        return cell.strip().lower() in self.missing

    def number(self, cell: str) -> float:
        """Return the number in a cell, NaN if it is missing; raise ValueError if it is text."""
        cell = cell.strip()
        if cell.lower() in self.missing:
            return math.nan
        if "," in cell:
            if self.decimal_comma and DECIMALS.fullmatch(cell):
                return float(cell.replace(".", "").replace(",", "."))
            if THOUSANDS.fullmatch(cell):
                return float(cell.replace(",", ""))
        return float("text" if "_" in cell else cell)  # Python reads 1_000 as 1000, tables do not

    def numbers(self, cells: Iterable[str]) -> NDArray[np.float64] | None:
        """Return the numbers in cells, NaN for missing ones; None if a cell is text."""
        with suppress(ValueError):
            return np.array([self.number(cell) for cell in cells], dtype=np.float64)
        return None

    def of_way(self, way: str) -> Spelling:
        """Return the spelling of numbers that are written in one way."""
        has_comma = way == COMMA  # a copy for every cell would take longer than reading it
        return self if self.decimal_comma == has_comma else replace(self, decimal_comma=has_comma)

    def is_number(self, cell: str) -> bool:
        return self.numbers([cell]) is not None

    @property
    def missing_numbers(self) -> list[float]:
        """The words for missing values that would be read as numbers, such as -999."""
        numbers = []
        for word in self.missing - {"nan", "-nan", "+nan"}:
            with suppress(ValueError):
                numbers.append(float(word))
        return numbers


MIN_WORDS_PER_TEXT = 3
"""Mean number of words in the cells of a column of sentences."""
MIN_DISTINCT_TEXTS = 51
"""Distinct cells of a column of sentences; columns with fewer may be categorical."""


def are_sentences(kinds: Collection[Any]) -> bool:
    """Check whether the distinct cells of a column look like sentences."""
    texts = [cell for cell in kinds if isinstance(cell, str)]
    words = sum(len(text.split()) for text in texts)
    return len(texts) >= MIN_DISTINCT_TEXTS and words >= MIN_WORDS_PER_TEXT * len(texts)


def label_kind(texts: Iterable[str]) -> type:
    """Return the type of labels: bool, int or float if all are such values, else str."""
    different = list(set(texts))
    for kind in (bool, int, float):
        with suppress(ValueError):
            read_labels(different, kind)
            return kind
    return str


def read_labels(texts: Sequence[str], kind: type | None = None) -> NDArray[Any]:
    """Convert labels to a type, by default that of ``label_kind``; else raise ValueError.

    >>> read_labels(["1", "0"]).tolist(), read_labels(["1_000", "1"]).tolist()
    ([1, 0], ['1_000', '1'])
    >>> read_labels(["True", "false"])
    array([ True, False])
    """
    if kind is None:
        kind = label_kind(texts)
    if kind is not str and any("_" in text for text in texts):
        raise ValueError("1_000 is not a number in a table, though Python reads it as one")
    if kind is bool:
        if not {text.lower() for text in texts} <= {"true", "false"}:
            raise ValueError("labels that are booleans are true or false")
        return np.array([text.lower() == "true" for text in texts])
    return np.array([kind(text) for text in texts])


MIN_NUMBERS = 10
"""A column with fewer distinct numbers, such as 1, 2, 3 and "4 or more", may be categorical."""
SIGNS = "%'’ \u00a0\u202f"


def spoilt(texts: Sequence[str], spelling: Spelling) -> str | None:
    """Return the first text that is not a number if most are, ignoring signs such as $ and %.

    >>> spoilt([*map(str, range(20)), "unknown"], Spelling())
    'unknown'
    >>> spoilt([f"${k},000.50" for k in range(20)], Spelling())
    '$0,000.50'
    >>> spoilt(["red", "green", "1"], Spelling()) is None
    True
    """
    stripped = (
        "".join(c for c in text if c not in SIGNS and category(c) != "Sc") for text in texts
    )
    if sum(map(spelling.is_number, stripped)) < max(MIN_NUMBERS, (len(texts) + 1) // 2):
        return None
    return next((text for text in texts if not spelling.is_number(text)), None)


ORIGIN = datetime(2000, 1, 1)
"""Day 0 of dates as numbers: fixed, so that it does not depend on the rows."""
CLOCK = r"(?:[T ]+(\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?\s*(?:Z|[+-]\d{2}:?\d{2})?)?"
YEAR_FIRST = re.compile(r"(\d{4})([-/])(\d{1,2})\2(\d{1,2})" + CLOCK)
DAY_FIRST = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})" + CLOCK)
SLASHES = re.compile(r"(\d{1,2})/(\d{1,2})/(\d{4})" + CLOCK)
DAY_MONTH, MONTH_DAY = "day/month/year", "month/day/year"
"""Orders of day and month in dates with slashes."""
DATE, HOUR = "date", "hour"
PARTS: dict[str, Callable[[datetime], float]] = {
    DATE: lambda moment: (moment - ORIGIN).total_seconds() / 86_400,
    "year": lambda moment: moment.year,
    "month": lambda moment: moment.month,
    "weekday": lambda moment: moment.isoweekday(),
    HOUR: lambda moment: moment.hour,
}
"""The columns of numbers made of dates. Weekdays count from Monday, 1. Time zones are ignored."""
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def read_date(text: str, order: str = "") -> datetime | None:
    """Return the date, and time if any, in a text such as 2024-01-31T08:30 or 31.1.2024.

    Dates with slashes and the year at the end are read only if ``order`` is given.

    >>> read_date("2024-01-31 08:30"), read_date("31.1.2024"), read_date("1/2/2024")
    (datetime.datetime(2024, 1, 31, 8, 30), datetime.datetime(2024, 1, 31, 0, 0), None)
    >>> read_date("1/2/2024", DAY_MONTH)
    datetime.datetime(2024, 2, 1, 0, 0)
    """
    if (match := YEAR_FIRST.fullmatch(text)) is not None:
        year, _, month, day, *clock = match.groups()
    elif (match := DAY_FIRST.fullmatch(text)) is not None:
        day, month, year, *clock = match.groups()
    elif order and (match := SLASHES.fullmatch(text)) is not None:
        day, month, year, *clock = match.groups()
        day, month = (day, month) if order == DAY_MONTH else (month, day)
    else:
        return None
    hour, minute, second = (int(part or 0) for part in clock)
    try:
        return datetime(int(year), int(month), int(day), hour, minute, min(second, 59))
    except ValueError:
        return None


def read_dates(texts: Sequence[str], order: str = "") -> list[datetime] | None:
    """Return the dates in texts; None if one is not a date, or if there are no texts."""
    moments = []
    for text in texts:
        moment = read_date(text, order)
        if moment is None:
            return None
        moments.append(moment)
    return moments or None


def orders(texts: Sequence[str]) -> list[str]:
    """Return the orders of day and month in which all texts are dates; "" if none is needed.

    >>> orders(["2024-01-31"]), orders(["31/12/2024", "1/2/2024"]), orders(["12/31/2024"])
    ([''], ['day/month/year'], ['month/day/year'])
    >>> orders(["1/2/2024"]), orders(["1/2/2024", "soon"])
    (['day/month/year', 'month/day/year'], [])
    """
    if read_dates(texts) is not None:
        return [""]
    return [order for order in (DAY_MONTH, MONTH_DAY) if read_dates(texts, order) is not None]


def part_name(column: str, part: str) -> str:
    """Return the name of the column for a part of dates."""
    return column if part == DATE else f"{column}: {part}"


def part_of(way: str) -> tuple[str, str] | None:
    """Return the part of dates that a column holds, and the order of day and month, or None.

    >>> part_of("month"), part_of("date; day/month/year"), part_of("yes/no")
    (('month', ''), ('date', 'day/month/year'), None)
    """
    part, _, order = way.partition("; ")
    return (part, order) if part in PARTS else None


def is_way(way: object) -> bool:
    """Check whether a value is a valid entry of ``Levels.written``."""
    if way in (COMMA, *TRUTH_WAYS):
        return True
    part = part_of(way) if isinstance(way, str) else None
    in_order = part is not None and part[1] in ("", DAY_MONTH, MONTH_DAY)
    return part is not None and in_order and way == "; ".join(filter(None, part))


def ways_of(texts: Sequence[str], spelling: Spelling) -> tuple[str, ...] | None:
    """Return how texts are written: ("",) for plain numbers, None for categories.

    Dates give one entry for each column made of them, with hours only if there are times.

    >>> ways = [["1", "2.5"], ["yes", "No"], ["1,5"], ["red", "1"], ["2024-01-31"]]
    >>> [ways_of(texts, Spelling()) for texts in ways]
    [('',), ('yes/no',), ('decimal comma',), None, ('date', 'year', 'month', 'weekday')]
    """
    with_point = replace(spelling, decimal_comma=False).numbers(texts)
    with_comma = replace(spelling, decimal_comma=True).numbers(texts)
    if with_comma is not None:
        if with_point is None:
            return (COMMA,)
        same = not spelling.decimal_comma or np.array_equal(with_point, with_comma)
        return ("",) if same else (COMMA,)
    words = {text.lower() for text in texts}
    if words <= TRUTHS.keys():
        return (TRUE_FALSE if words <= {"true", "false"} else YES_NO,)
    date_orders = orders(texts)
    if len(date_orders) == 2 and spelling.day_first is not None:
        date_orders = [DAY_MONTH if spelling.day_first else MONTH_DAY]
    if len(date_orders) != 1:
        return None
    (order,) = date_orders
    times = any(moment.hour or moment.minute for moment in read_dates(texts, order) or ())
    parts = (part for part in PARTS if times or part != HOUR)
    return tuple("; ".join(filter(None, (part, order))) for part in parts)


def read_text(text: str, way: str, spelling: Spelling) -> float:
    """Convert one text to a number, NaN if it is missing; raise ValueError if it is not valid.

    >>> read_text("31/1/2024", "month; day/month/year", Spelling()), read_text("No", "", Spelling())
    (1, 0.0)
    """
    text = text.strip()
    if spelling.is_missing(text):
        return math.nan
    part = part_of(way)
    if part is not None:
        moment = read_date(text, part[1])
        if moment is None:
            raise ValueError(text)
        return PARTS[part[0]](moment)
    if text.lower() in TRUTHS:
        return TRUTHS[text.lower()]
    return spelling.of_way(way).number(text)


def what_it_held(way: str) -> tuple[str, str]:
    """Return what a column held in fit, and advice for other cells, for error messages."""
    part = part_of(way)
    if part is not None:
        order = f" written as {part[1]}" if part[1] else ""
        return f"dates{order}", "Write it as in 2024-01-31, or leave the cell empty"
    if way in TRUTH_WAYS:
        return f"{way.replace('/', ' and ')}", "Correct it, or leave the cell empty"
    return "numbers", "Correct it, or leave the cell empty"


def shown(value: float, way: str, *, times: bool = False) -> str:
    """Return a number as it is written in its column.

    A number between two dates is shown as the earlier date.

    >>> shown(8796.5, "date"), shown(1.0, "yes/no"), shown(3.0, "weekday"), shown(0.25, "")
    ('2024-01-31', 'yes', 'Wednesday', '0.25')
    """
    part = part_of(way)
    if math.isnan(value):
        return "missing"
    if part is None:
        words = way.split("/") if way in TRUTH_WAYS else ()
        return words[0 if value else 1] if value in (0, 1) and words else f"{value:.6g}"
    if part[0] == DATE:
        with suppress(OverflowError):
            moment = ORIGIN + timedelta(days=value)
            return moment.isoformat(" ", "minutes") if times else moment.date().isoformat()
        return f"{value:.6g}"
    if part[0] == "weekday" and 1 <= value < 8:
        return WEEKDAYS[int(value) - 1]
    return str(math.floor(value))
