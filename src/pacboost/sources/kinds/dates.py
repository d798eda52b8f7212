"""Dates and times: days since 2000, and the year, month, weekday and hour as further columns.

A column of text holds dates if all of its cells are dates such as 2024-01-31 or 31.1.2024, with or
without a time of day. In 1/2/2024 either number may be the day: the order is found in the cells, or
is named by the user, else the cells are categories.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from typing import Any, ClassVar

import narwhals as nw

from pacboost.sources.dataframe import Storage, numbers_of
from pacboost.sources.kinds.column import InputColumn
from pacboost.sources.kinds.kind import ColumnKind, checked
from pacboost.sources.spelling import Spelling
from pacboost.sources.values import Values, distinct

ORIGIN = datetime(2000, 1, 1)
"""Day 0 of dates as numbers: fixed, so that it does not depend on the rows."""
DAYS_FROM_1970 = (ORIGIN - datetime(1970, 1, 1)).days
MILLISECONDS_PER_DAY = 86_400_000.0
MIN_TIME_OF_DAY = 0.9 / 1440
"""In days: just under a minute, to allow for rounding."""
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
CLOCK = r"(?:[T ]+(\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?\s*(?:Z|[+-]\d{2}:?\d{2})?)?"
YEAR_FIRST = re.compile(r"(\d{4})([-/])(\d{1,2})\2(\d{1,2})" + CLOCK)
DAY_FIRST = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})" + CLOCK)
SLASHES = re.compile(r"(\d{1,2})/(\d{1,2})/(\d{4})" + CLOCK)


class DayOrder(Enum):
    """The order of day and month in dates with slashes."""

    DAY_MONTH = "day/month/year"
    MONTH_DAY = "month/day/year"


@dataclass(frozen=True)
class Part:
    """A number that dates are read as: from a date in text, and from a column of dates."""

    of_date: Callable[[datetime], float]
    of_series: Callable[[Any], Any]
    meaning: str


DAY, HOUR = "", "hour"
PARTS: Mapping[str, Part] = {
    DAY: Part(
        lambda moment: (moment - ORIGIN).total_seconds() / 86_400,
        lambda clock: (
            clock.cast(nw.Datetime("ms")).dt.timestamp("ms") / MILLISECONDS_PER_DAY - DAYS_FROM_1970
        ),
        "days since 2000-01-01, with the time of day as a fraction",
    ),
    "year": Part(lambda moment: moment.year, lambda clock: clock.dt.year(), "year"),
    "month": Part(lambda moment: moment.month, lambda clock: clock.dt.month(), "month, 1 to 12"),
    "weekday": Part(
        lambda moment: moment.isoweekday(),
        lambda clock: clock.dt.weekday(),
        "weekday, 1 (Monday) to 7 (Sunday)",
    ),
    HOUR: Part(lambda moment: moment.hour, lambda clock: clock.dt.hour(), "hour, 0 to 23"),
}
"""The columns of numbers made of dates. Weekdays count from Monday, 1. Time zones are ignored."""


@dataclass(frozen=True)
class Dates(ColumnKind):
    """One of the numbers that dates are read as.

    >>> Dates("weekday").show(3), Dates().show(8796.5), Dates(times=True).show(8796.5)
    ('Wednesday', '2024-01-31', '2024-01-31 12:00')
    """

    tag: ClassVar[str] = "date"
    plural: ClassVar[str] = "dates"
    advice: ClassVar[str] = "Write it as in 2024-01-31, or leave the cell empty"
    tells_time: ClassVar[bool] = True
    part: str = DAY
    order: DayOrder | None = None
    """None if dates are written without slashes, or are no text."""
    times: bool = False
    """True if the dates have times of day."""

    @classmethod
    def learn(cls, column: InputColumn) -> list[ColumnKind] | None:
        if column.storage is Storage.MOMENTS:
            clock = column.cells.dtype
            times = isinstance(clock, nw.Datetime) and bool(
                (moment_part(column.cells, DAY) % 1 >= MIN_TIME_OF_DAY).any()
            )
            return cls._of_parts(None, times, one=column.whole)
        if column.storage is not Storage.TEXT or column.whole:
            return None
        found = orders(column.texts)
        if len(found) == 2 and column.spelling.day_first is not None:
            found = [DayOrder.DAY_MONTH if column.spelling.day_first else DayOrder.MONTH_DAY]
        if len(found) != 1:
            return None
        dates = read_dates(column.texts, found[0]) or []
        return cls._of_parts(found[0], any(date.hour or date.minute for date in dates))

    @classmethod
    def _of_parts(
        cls, order: DayOrder | None, times: bool, *, one: bool = False
    ) -> list[ColumnKind]:
        if one:  # without its hour, a date is shown without the time of day
            return [cls(DAY, order)]
        return [cls(part, order, times) for part in PARTS if times or part != HOUR]

    @classmethod
    def doubt(cls, column: InputColumn) -> str | None:
        if column.whole or len(orders(column.texts)) < 2:
            return None
        return (
            f"column {column.name!r} holds ambiguous dates such as {column.texts[0]!r}, so they "
            "are read as categories. Give --dayfirst if the day comes first or --monthfirst if "
            "the month does (in Python dates='day-first' or dates='month-first'), or write dates "
            "as in 2024-01-31"
        )

    @property
    def held(self) -> str:
        return "dates" if self.order is None else f"dates written as {self.order.value}"

    @property
    def meaning(self) -> str:
        return PARTS[self.part].meaning

    @property
    def named_integers(self) -> tuple[int, tuple[str, ...]]:
        return (1, WEEKDAYS) if self.part == "weekday" else (0, ())

    @property
    def spells_axis(self) -> bool:
        return self.part == DAY

    def check(self, column: InputColumn) -> None:
        is_number = column.storage is Storage.NUMBERS and not column.in_parts
        if is_number and distinct(column.cells):
            raise column.refused(self.held)
        if column.storage is not Storage.MOMENTS:
            super().check(column)

    def read(self, column: InputColumn) -> Values:
        if column.storage is not Storage.MOMENTS:
            return super().read(column)
        if self.part == HOUR and isinstance(column.cells.dtype, nw.Date):
            return moment_part(column.cells, DAY) * 0  # midnight, or missing
        return moment_part(column.cells, self.part)

    def number(self, text: str, spelling: Spelling) -> float:
        date = read_date(text, self.order)
        if date is None:
            raise ValueError(text)
        return PARTS[self.part].of_date(date)

    def show(self, value: float) -> str:
        """Return a number as it is written; one between two dates as the earlier date."""
        if math.isnan(value):
            return "missing"
        if self.part == DAY:
            with suppress(OverflowError):
                moment = ORIGIN + timedelta(days=value)
                return moment.isoformat(" ", "minutes") if self.times else str(moment.date())
            return f"{value:.6g}"
        if self.part == "weekday" and 1 <= value < 8:
            return WEEKDAYS[int(value) - 1]
        return str(math.floor(value))

    def to_json(self) -> dict[str, Any]:
        order = None if self.order is None else self.order.value
        return {"part": self.part, "order": order, "times": self.times}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Dates:
        part, order, times = checked(content, part=str, order=str | None, times=bool)
        if part not in PARTS:
            raise ValueError(f"{part!r:.40} is no part of dates")
        return cls(part, None if order is None else DayOrder(order), times)


def moment_part(series: nw.Series[Any], part: str) -> Values:
    """Return one of the numbers that a column of dates is read as."""
    zoned = isinstance(series.dtype, nw.Datetime) and series.dtype.time_zone is not None
    clock = series.dt.replace_time_zone(None) if zoned else series
    return numbers_of(PARTS[part].of_series(clock))


def moment_parts(series: nw.Series[Any]) -> dict[str, Values]:
    """Return the numbers of dates by their parts."""
    timed = isinstance(series.dtype, nw.Datetime)
    return {part: moment_part(series, part) for part in PARTS if timed or part != HOUR}


def read_date(text: str, order: DayOrder | None = None) -> datetime | None:
    """Return the date, and time if any, in a text such as 2024-01-31T08:30 or 31.1.2024.

    Dates with slashes and the year at the end are read only if ``order`` is given.

    >>> read_date("2024-01-31 08:30"), read_date("31.1.2024"), read_date("1/2/2024")
    (datetime.datetime(2024, 1, 31, 8, 30), datetime.datetime(2024, 1, 31, 0, 0), None)
    >>> read_date("1/2/2024", DayOrder.DAY_MONTH)
    datetime.datetime(2024, 2, 1, 0, 0)
    """
    if (match := YEAR_FIRST.fullmatch(text)) is not None:
        year, _, month, day, *clock = match.groups()
    elif (match := DAY_FIRST.fullmatch(text)) is not None:
        day, month, year, *clock = match.groups()
    elif order is not None and (match := SLASHES.fullmatch(text)) is not None:
        day, month, year, *clock = match.groups()
        day, month = (day, month) if order is DayOrder.DAY_MONTH else (month, day)
    else:
        return None
    hour, minute, second = (int(part or 0) for part in clock)
    try:
        return datetime(int(year), int(month), int(day), hour, minute, min(second, 59))
    except ValueError:
        return None


def read_dates(texts: Sequence[str], order: DayOrder | None = None) -> list[datetime] | None:
    """Return the dates in texts; None if one is not a date, or if there are no texts."""
    moments = []
    for text in texts:
        moment = read_date(text, order)
        if moment is None:
            return None
        moments.append(moment)
    return moments or None


def orders(texts: Sequence[str]) -> list[DayOrder | None]:
    """Return the orders of day and month in which all texts are dates; None if none is needed.

    >>> orders(["2024-01-31"]), [order.name for order in orders(["31/12/2024", "1/2/2024"])]
    ([None], ['DAY_MONTH'])
    >>> len(orders(["1/2/2024"])), orders(["1/2/2024", "soon"])
    (2, [])
    """
    if read_dates(texts) is not None:
        return [None]
    return [order for order in DayOrder if read_dates(texts, order) is not None]
