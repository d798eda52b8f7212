"""Dates and times in text, and the columns of numbers made of them.

The name of such a column says how it is made: "bought (month)" is the month in column "bought". So
a model needs nothing but its column names to read new rows. Of dates with slashes the name also
says the order, as in "bought (month; day/month/year)": the cells of new rows may not show it.
Clocks are taken as written, without regard to time zones.
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
SLASHES = re.compile(r"(\d{1,2})/(\d{1,2})/(\d{4})" + CLOCK)
DAY_MONTH, MONTH_DAY = "day/month/year", "month/day/year"
"""The orders in which dates with slashes are written."""
DAYS = "days since 2000-01-01"
PARTS: dict[str, Callable[[datetime], float]] = {
    "year": lambda moment: moment.year,
    "month": lambda moment: moment.month,
    "weekday": lambda moment: moment.isoweekday(),
    "hour": lambda moment: moment.hour,
    DAYS: lambda moment: (moment - ORIGIN).total_seconds() / 86_400,
}
"""Weekdays are counted from 1, a Monday, to 7."""
DERIVED = re.compile(rf"(.+) \(({'|'.join(PARTS)})(?:; ({DAY_MONTH}|{MONTH_DAY}))?\)", re.DOTALL)


def read_date(text: str, order: str = "") -> datetime | None:
    """Read a date, perhaps with a time, such as 2024-01-31, 2024-01-31T08:30 or 31.1.2024.

    Dates with slashes and the year at the end are read only if their order is given.

    >>> read_date("2024-01-31 08:30"), read_date("31.1.2024"), read_date("1/2/2024")
    (datetime.datetime(2024, 1, 31, 8, 30), datetime.datetime(2024, 1, 31, 0, 0), None)
    >>> read_date("1/2/2024", DAY_MONTH)
    datetime.datetime(2024, 2, 1, 0, 0)
    """
    if (found := YEAR_FIRST.fullmatch(text)) is not None:
        year, _, month, day, *clock = found.groups()
    elif (found := DAY_FIRST.fullmatch(text)) is not None:
        day, month, year, *clock = found.groups()
    elif order and (found := SLASHES.fullmatch(text)) is not None:
        day, month, year, *clock = found.groups()
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


def columns_of_dates(
    name: str, moments: Sequence[datetime], order: str = ""
) -> dict[str, NDArray[np.float64]]:
    """Make columns of dates; there are hours only if there are times.

    >>> columns_of_dates("bought", [datetime(2024, 1, 31)])["bought (weekday)"].tolist()
    [3.0]
    """
    times = any(moment.hour or moment.minute for moment in moments)
    written = f"; {order}" if order else ""
    return {
        f"{name} ({part}{written})": np.array([float(of(moment)) for moment in moments])
        for part, of in PARTS.items()
        if times or part != "hour"
    }


def part_of(name: str) -> tuple[str, str] | None:
    """Return the column of dates that a column is made of, and which part of them it is.

    >>> part_of("bought (month)"), part_of("price")
    (('bought', 'month'), None)
    """
    found = DERIVED.fullmatch(name)
    return None if found is None else (found[1], found[2])


def order_of(name: str) -> str:
    """Return the order of dates with slashes that a column is made of; "" if its name has none.

    >>> order_of("bought (month; day/month/year)"), order_of("bought (month)")
    ('day/month/year', '')
    """
    found = DERIVED.fullmatch(name)
    return "" if found is None else found[3] or ""
