"""What text stands for, in files and in data frames alike: numbers, yes and no, dates.

A column of text is read as what all of its cells are, and else as categories: the rules look at
nothing but its cells. How a column was read goes into the model (``Levels.written``), so that new
rows are read in the same way, whatever they come in.
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

# A number may have commas between thousands ("1,234.5"). Where a column has numbers such as "1,5",
# and in files separated by semicolons, a comma is a decimal comma.

THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d*)?")
DECIMALS = re.compile(r"[+-]?(\d{1,3}(\.\d{3})+|\d+),\d+")
COMMA = "decimal comma"
TRUTHS = {"yes": 1.0, "no": 0.0, "true": 1.0, "false": 0.0}
TRUTH_WAYS = YES_NO, TRUE_FALSE = "yes/no", "true/false"


@dataclass(frozen=True)
class Spelling:
    """How cells are written: the words for missing ones, the decimal comma, and the order of dates.

    >>> Spelling().number("1,234.5"), Spelling(decimal_comma=True).number("1,5")
    (1234.5, 1.5)
    """

    missing: frozenset[str] = MISSING
    decimal_comma: bool = False
    day_first: bool | None = None
    """How to read dates such as 1/2/2024 if their column does not show it; None: as text."""

    def is_missing(self, cell: str) -> bool:
        """Check whether a cell counts as missing."""
        return cell.strip().lower() in self.missing

    def number(self, cell: str) -> float:
        """Read a cell as a number, NaN if it is missing; raise ValueError if it is text.

        >>> Spelling().number(" 1.5"), Spelling().number("?")
        (1.5, nan)
        """
        cell = cell.strip()
        if cell.lower() in self.missing:
            return math.nan
        if "," in cell:
            if self.decimal_comma and DECIMALS.fullmatch(cell):
                return float(cell.replace(".", "").replace(",", "."))
            if THOUSANDS.fullmatch(cell):
                return float(cell.replace(",", ""))
        return float("text" if "_" in cell else cell)  # Python reads 1_000 as 1000: no table does

    def numbers(self, cells: Iterable[str]) -> NDArray[np.float64] | None:
        """Read cells of which each is a number or missing; None if one is neither."""
        with suppress(ValueError):
            return np.array([self.number(cell) for cell in cells], dtype=np.float64)
        return None

    def is_number(self, cell: str) -> bool:
        """Check whether a cell is a number, or missing."""
        return self.numbers([cell]) is not None

    @property
    def missing_numbers(self) -> list[float]:
        """The words for missing values that would be read as numbers, such as -999."""
        found = []
        for word in self.missing - {"nan", "-nan", "+nan"}:
            with suppress(ValueError):
                found.append(float(word))
        return found


WORDS_OF_A_TEXT, FEW_TEXTS = 3, 50
"""Cells of at least so many words on average, and of more than so many kinds, are texts."""


def are_sentences(kinds: Collection[Any]) -> bool:
    """Check whether the different cells of a column read like sentences."""
    texts = [cell for cell in kinds if isinstance(cell, str)]
    words = sum(len(text.split()) for text in texts)
    return len(texts) > FEW_TEXTS and words >= WORDS_OF_A_TEXT * len(texts)


def label_kind(texts: Iterable[str]) -> type:
    """Check whether labels are all whole numbers, all numbers, or text.

    >>> [label_kind(texts).__name__ for texts in (["1", "-1"], ["1", "0.5"], ["1", "x"])]
    ['int', 'float', 'str']
    """
    different = list(set(texts))
    for kind in (int, float):
        with suppress(ValueError):
            read_labels(different, kind)
            return kind
    return str


def read_labels(texts: Sequence[str], kind: type | None = None) -> NDArray[Any]:
    """Read labels of a kind, by default the one that all of them are; else raise ValueError.

    >>> read_labels(["1", "0"]).tolist(), read_labels(["1_000", "1"]).tolist()
    ([1, 0], ['1_000', '1'])
    """
    if kind is None:
        kind = label_kind(texts)
    if kind is not str and any("_" in text for text in texts):
        raise ValueError("1_000 is not a number in a table, though Python reads it as one")
    return np.array([kind(text) for text in texts])


FEWEST_NUMBERS = 10
"""Of fewer different numbers, such as 1, 2, 3 and "4 or more", categories may be meant."""
SIGNS = "%'’ \u00a0\u202f"


def spoilt(texts: Sequence[str], spelling: Spelling) -> str | None:
    """Return the first text that is not a number where most are, but for signs such as $ and %.

    >>> spoilt([*map(str, range(20)), "unknown"], Spelling())
    'unknown'
    >>> spoilt([f"${k},000.50" for k in range(20)], Spelling())
    '$0,000.50'
    >>> spoilt(["red", "green", "1"], Spelling()) is None
    True
    """
    plain = ("".join(c for c in text if c not in SIGNS and category(c) != "Sc") for text in texts)
    if sum(map(spelling.is_number, plain)) < max(FEWEST_NUMBERS, (len(texts) + 1) // 2):
        return None
    return next((text for text in texts if not spelling.is_number(text)), None)


# Dates and times, and the columns of numbers made of them: of "bought" the day itself, "bought",
# and "bought: month" and so on. Clocks are taken as written, without regard to time zones.

ORIGIN = datetime(2000, 1, 1)
"""Days are counted from here: the first day in the rows would be learned from all of them."""
CLOCK = r"(?:[T ]+(\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?\s*(?:Z|[+-]\d{2}:?\d{2})?)?"
YEAR_FIRST = re.compile(r"(\d{4})([-/])(\d{1,2})\2(\d{1,2})" + CLOCK)
DAY_FIRST = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})" + CLOCK)
SLASHES = re.compile(r"(\d{1,2})/(\d{1,2})/(\d{4})" + CLOCK)
DAY_MONTH, MONTH_DAY = "day/month/year", "month/day/year"
"""The orders in which dates with slashes are written."""
DATE, HOUR = "date", "hour"
PARTS: dict[str, Callable[[datetime], float]] = {
    DATE: lambda moment: (moment - ORIGIN).total_seconds() / 86_400,
    "year": lambda moment: moment.year,
    "month": lambda moment: moment.month,
    "weekday": lambda moment: moment.isoweekday(),
    HOUR: lambda moment: moment.hour,
}
"""Weekdays are counted from 1, a Monday, to 7."""
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def read_date(text: str, order: str = "") -> datetime | None:
    """Read a date, perhaps with a time, such as 2024-01-31, 2024-01-31T08:30 or 31.1.2024.

    Dates with slashes and the year at the end are read only if their order is given.

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
    """Read texts of which each is a date; None if one is not, or if there are none."""
    moments = []
    for text in texts:
        moment = read_date(text, order)
        if moment is None:
            return None
        moments.append(moment)
    return moments or None


def orders(texts: Sequence[str]) -> list[str]:
    """Return the orders by which all texts are dates: "" if no slashes have to be understood.

    >>> orders(["2024-01-31"]), orders(["31/12/2024", "1/2/2024"]), orders(["12/31/2024"])
    ([''], ['day/month/year'], ['month/day/year'])
    >>> orders(["1/2/2024"]), orders(["1/2/2024", "soon"])
    (['day/month/year', 'month/day/year'], [])
    """
    if read_dates(texts) is not None:
        return [""]
    return [order for order in (DAY_MONTH, MONTH_DAY) if read_dates(texts, order) is not None]


def part_name(column: str, part: str) -> str:
    """Return what a column made of dates is called.

    >>> part_name("bought", "month"), part_name("bought", "date")
    ('bought: month', 'bought')
    """
    return column if part == DATE else f"{column}: {part}"


def part_of(way: str) -> tuple[str, str] | None:
    """Return which part of dates a column holds, and their order; None if it holds none.

    >>> part_of("month"), part_of("date; day/month/year"), part_of("yes/no")
    (('month', ''), ('date', 'day/month/year'), None)
    """
    part, _, order = way.partition("; ")
    return (part, order) if part in PARTS else None


def is_way(way: Any) -> bool:
    """Check whether this is a way in which columns are written."""
    if way in (COMMA, *TRUTH_WAYS):
        return True
    found = part_of(way) if isinstance(way, str) else None
    return (
        found is not None
        and way == "; ".join(filter(None, found))
        and (found[1] in ("", DAY_MONTH, MONTH_DAY))
    )


def ways_of(texts: Sequence[str], spelling: Spelling) -> tuple[str, ...] | None:
    """Return the way in which texts are written: "" for numbers, None for categories.

    Of dates there is a way for each column that is made of them; hours only if there are times.

    >>> ways = [["1", "2.5"], ["yes", "No"], ["1,5"], ["red", "1"], ["2024-01-31"]]
    >>> [ways_of(texts, Spelling()) for texts in ways]
    [('',), ('yes/no',), ('decimal comma',), None, ('date', 'year', 'month', 'weekday')]
    """
    plain = replace(spelling, decimal_comma=False).numbers(texts)
    comma = replace(spelling, decimal_comma=True).numbers(texts)
    if comma is not None:
        same = plain is not None and (not spelling.decimal_comma or np.array_equal(plain, comma))
        return ("",) if same else (COMMA,)
    words = {text.lower() for text in texts}
    if words <= TRUTHS.keys():
        return (TRUE_FALSE if words <= {"true", "false"} else YES_NO,)
    found = orders(texts)
    if len(found) == 2 and spelling.day_first is not None:
        found = [DAY_MONTH if spelling.day_first else MONTH_DAY]
    if len(found) != 1:
        return None
    moments = read_dates(texts, found[0]) or []
    times = any(moment.hour or moment.minute for moment in moments)
    return tuple(
        "; ".join(filter(None, (part, found[0]))) for part in PARTS if times or part != HOUR
    )


def read_text(text: str, way: str, spelling: Spelling) -> float:
    """Read one text in a way; NaN if it is missing, and ValueError if it is not written so.

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
    return replace(spelling, decimal_comma=way == COMMA).number(text)


def what_it_held(way: str) -> tuple[str, str]:
    """Return what a column held in fit, and what to do about other cells, for errors."""
    part = part_of(way)
    if part is not None:
        order = f" written as {part[1]}" if part[1] else ""
        return f"dates{order}", "Write it as in 2024-01-31, or leave the cell empty"
    if way in TRUTH_WAYS:
        return f"{way.replace('/', ' and ')}", "Mend it, or leave the cell empty"
    return "numbers", "Mend it, or leave the cell empty"


def shown(value: float, way: str, *, times: bool = False) -> str:
    """Return a number of a column as it is written there.

    A number between two dates is shown as the earlier one.

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
