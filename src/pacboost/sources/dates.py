"""Dates and times in text, and the columns of numbers made of them.

The name of such a column says how it is made: "bought (month)" is the month in column "bought". So
a model needs nothing but its column names to read new rows. Clocks are taken as written, without
regard to time zones.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

ORIGIN = datetime(2000, 1, 1)
"""A fixed day: the first day in the rows would be learned from all of them."""
CLOCK = r"(?:[T ]+(\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?\s*(?:Z|[+-]\d{2}:?\d{2})?)?"
YEAR_FIRST = re.compile(r"(\d{4})([-/])(\d{1,2})\2(\d{1,2})" + CLOCK)
DAY_FIRST = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})" + CLOCK)
DAYS = "days since 2000-01-01"
PARTS: dict[str, Callable[[datetime], float]] = {
    "year": lambda moment: moment.year,
    "month": lambda moment: moment.month,
    "weekday": lambda moment: moment.isoweekday(),
    "hour": lambda moment: moment.hour,
    DAYS: lambda moment: (moment - ORIGIN).total_seconds() / 86_400,
}
"""Weekdays are counted from 1, a Monday, to 7."""
DERIVED = re.compile(rf"(.+) \(({'|'.join(PARTS)})\)", re.DOTALL)


def read_date(text: str) -> datetime | None:
    """Read a date, perhaps with a time, such as 2024-01-31, 2024-01-31T08:30 or 31.1.2024.

    >>> read_date("2024-01-31 08:30"), read_date("31.1.2024"), read_date("1/2/2024")
    (datetime.datetime(2024, 1, 31, 8, 30), datetime.datetime(2024, 1, 31, 0, 0), None)
    """
    found = YEAR_FIRST.fullmatch(text)
    if found is not None:
        year, _, month, day, *clock = found.groups()
    else:
        found = DAY_FIRST.fullmatch(text)
        if found is None:
            return None
        day, month, year, *clock = found.groups()
    hour, minute, second = (int(part or 0) for part in clock)
    try:
        return datetime(int(year), int(month), int(day), hour, minute, min(second, 59))
    except ValueError:
        return None


def read_dates(texts: Sequence[str]) -> list[datetime] | None:
    """Read texts of which each is a date; None if one is not, or if there are none."""
    moments = []
    for text in texts:
        moment = read_date(text)
        if moment is None:
            return None
        moments.append(moment)
    return moments or None


def columns_of_dates(name: str, moments: Sequence[datetime]) -> dict[str, NDArray[np.float64]]:
    """Make columns of dates; there are hours only if there are times.

    >>> columns_of_dates("bought", [datetime(2024, 1, 31)])["bought (weekday)"].tolist()
    [3.0]
    """
    times = any(moment.hour or moment.minute for moment in moments)
    return {
        f"{name} ({part})": np.array([float(of(moment)) for moment in moments])
        for part, of in PARTS.items()
        if times or part != "hour"
    }


def part_of(name: str) -> tuple[str, str] | None:
    """Give the column of dates that a column is made of, and which part of them it is.

    >>> part_of("bought (month)"), part_of("price")
    (('bought', 'month'), None)
    """
    found = DERIVED.fullmatch(name)
    return None if found is None else (found[1], found[2])
