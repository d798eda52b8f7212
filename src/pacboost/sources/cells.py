"""Rows of a file, column by column: numbers, dates, levels, labels; errors name file and line."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import FileError
from pacboost.sources.data_file import MISSING, DataFile
from pacboost.sources.optional import close_names, need
from pacboost.sources.table import refuse_text

# Cells of text as numbers and as labels.
#
# A number may have commas between thousands ("1,234.5"). In files separated by semicolons a comma
# without thousands is a decimal comma ("1,5"), as programs write it that separate by semicolons. A
# column of nothing but true and false, or yes and no, is one of the numbers 1 and 0.

THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d*)?")
DECIMAL_COMMA = re.compile(r"[+-]?(\d{1,3}(\.\d{3})+|\d+),\d+")
BOOLEANS = {"true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0}


@dataclass(frozen=True)
class Spelling:
    """How numbers are written in a file: the words for missing ones, and the decimal comma.

    >>> Spelling().number("1,234.5"), Spelling(decimal_comma=True).number("1,5")
    (1234.5, 1.5)
    """

    missing: frozenset[str] = MISSING
    decimal_comma: bool = False

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
            if self.decimal_comma and DECIMAL_COMMA.fullmatch(cell):
                return float(cell.replace(".", "").replace(",", "."))
            if THOUSANDS.fullmatch(cell):
                return float(cell.replace(",", ""))
        return float("text" if "_" in cell else cell)  # Python reads 1_000 as 1000: no table does

    def read(self, cells: Sequence[str]) -> ReadNumbers:
        """Read a column; what is text becomes NaN, and its first place is noted."""
        if not self.words_are_numbers and not any("_" in cell for cell in cells):
            with suppress(ValueError):  # the common case, in one go
                return ReadNumbers(np.array([float(cell) for cell in cells], dtype=np.float64))
        known: dict[str, float | None] = {}
        for cell in cells:
            if cell not in known:
                try:
                    known[cell] = self.number(cell)
                except ValueError:
                    known[cell] = None
        if None in known.values():
            return self._booleans(cells, known)
        return ReadNumbers(np.array([known[cell] for cell in cells], dtype=np.float64))

    def _booleans(self, cells: Sequence[str], known: dict[str, float | None]) -> ReadNumbers:
        """Read a column that is not one of numbers: of booleans if all are, else of text."""
        for cell in known:
            word = cell.strip().lower()
            known[cell] = math.nan if word in self.missing else BOOLEANS.get(word)
        values = [known[cell] for cell in cells]
        if None not in values:
            return ReadNumbers(np.array(values, dtype=np.float64), booleans=True)
        bad = next(k for k, cell in enumerate(cells) if not self.is_number(cell))
        return ReadNumbers(np.full(len(cells), np.nan), bad)

    def is_number(self, cell: str) -> bool:
        """Check whether a cell is a number, or missing."""
        try:
            self.number(cell)
        except ValueError:
            return False
        return True

    @property
    def words_are_numbers(self) -> bool:
        """Whether a word for missing values, such as -999, would be read as a number."""
        for word in self.missing - {"nan", "-nan", "+nan"}:
            with suppress(ValueError):
                float(word)
                return True
        return False


@dataclass(frozen=True, eq=False)
class ReadNumbers:
    """A column read as numbers: the place of the first cell of text, and whether of booleans."""

    values: NDArray[np.float64]
    bad: int | None = None
    booleans: bool = False


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
        raise ValueError("1_000 is no number in a table, though Python reads it as one")
    return np.array([kind(text) for text in texts])


# Dates and times in text, and the columns of numbers made of them.
#
# The name of such a column says how it is made: "bought (month)" is the month in column "bought".
# So a model needs nothing but its column names to read new rows. Of dates with slashes the name
# also says the order, as in "bought (month; day/month/year)": the cells of new rows may not show
# it. Clocks are taken as written, without regard to time zones.

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
NUMBER = re.compile("u?int(8|16|32|64)|float|double")
"""Arrow's names for the types of numbers."""
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


# Columns as Arrow holds them: of text in CSV and JSON files, of their own kinds in others.


def text_column(texts: Sequence[str]) -> Any:
    """Hold the cells of a column as they are written."""
    return need("pyarrow").array(texts, "large_string")


def doubles(column: Any) -> NDArray[np.float64]:
    """Convert a column of numbers; nulls become NaN, and whole numbers beyond 2^53 are rounded."""
    values = memory(column.cast("double", safe=False))
    if column.null_count == 0:
        return values
    return np.where(memory(column.is_null().cast("uint8")), np.nan, values)


def memory(column: Any) -> NDArray[Any]:
    """View the values of a column; Arrow's own way to do so would load pandas if it is there."""
    array = one_chunk(column)
    dtype = np.dtype(array.type.to_pandas_dtype())
    if len(array) == 0:
        return np.empty(0, dtype)
    return np.frombuffer(array.buffers()[1], dtype, len(array), array.offset * dtype.itemsize)


def one_chunk(column: Any) -> Any:
    """Return a column of chunks as one array; it is copied only if there are several."""
    if not hasattr(column, "num_chunks"):
        return column
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def as_text(value: Any, file: DataFile, name: str, line: int) -> str:
    """Write a value as a CSV file would hold it; nothing stands for what is missing.

    >>> from pathlib import Path
    >>> [as_text(value, DataFile(Path("rows.jsonl")), "a", 1) for value in (1.5, True, None, "x")]
    ['1.5', 'true', '', 'x']
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | dict | set | bytes):
        raise FileError(
            f"{file.where(line)}: {name!r} is {value!r:.40}; a cell has to be a number, a text, a "
            "boolean or a date. Take it apart into columns, or leave the column out of the file."
        )
    if hasattr(value, "total_seconds"):
        return repr(value.total_seconds())
    return value.isoformat(sep=" ") if hasattr(value, "hour") else str(value)


@dataclass(frozen=True)
class Cells:
    """Some rows of a file: columns of Arrow, and the line of each row.

    Every error names the file, and the line to blame.
    """

    file: DataFile
    columns: dict[str, Any]
    lines: Sequence[int] | NDArray[np.int64]
    decimal_comma: bool = False

    @property
    def n_rows(self) -> int:
        return len(self.lines)

    @cached_property
    def spelling(self) -> Spelling:
        return Spelling(self.file.missing, self.decimal_comma)

    def of(self, name: str) -> list[str]:
        """Return the cells of a column as a CSV file would hold them."""
        column = self._column(name)
        values: list[Any] = column.to_pylist()
        if column.type == "large_string" and not column.null_count:
            return values
        lines = zip(values, self.lines, strict=True)
        return [as_text(value, self.file, name, line) for value, line in lines]

    def _column(self, name: str) -> Any:
        if name not in self.columns:
            close = close_names(name, self.columns)
            end = f"Did you mean {close[0]!r}?" if close else "Name one of them."
            raise FileError(
                f"{self.file}: has no column {name!r}; its columns are "
                f"{', '.join(map(repr, self.columns))}. {end}"
            )
        return self.columns[name]

    def numbers(self, name: str) -> NDArray[np.float64]:
        """Read a column of numbers; NaN where a cell is missing.

        A column that a fit made of dates is made of them again.
        """
        made = DERIVED.fullmatch(name)
        if name not in self.columns and made is not None and made[1] in self.columns:
            return self._part_of_dates(made[1], PARTS[made[2]], made[3] or "")
        read = self.read_numbers(name)
        if read.bad is not None:
            raise FileError(f"{self.file}: {refuse_text([self.at(name, read.bad)])}")
        return read.values

    def read_numbers(self, name: str) -> ReadNumbers:
        """Read a column of numbers, of which some may turn out to be text."""
        column, read = self._column(name), None
        plain = column.type == "large_string" or NUMBER.fullmatch(str(column.type))
        if plain and not self.spelling.words_are_numbers:
            with suppress(ValueError):  # text that is not plainly a number
                read = ReadNumbers(doubles(column))
        read = read or self.spelling.read(self.of(name))
        infinite = np.isinf(read.values)
        if infinite.any():
            raise FileError(
                f"{self.file.where(self.lines[int(infinite.argmax())])}: {name!r} is infinite. "
                "Clip it, or leave the cell empty if the value is missing."
            )
        return read

    def at(self, name: str, row: int) -> str:
        """Name a cell by its column and line, and show it."""
        line = self.file.where(self.lines[row]).removeprefix(f"{self.file}, ")
        return f"{name} ({line}: {self.of(name)[row]!r})"

    def _part_of_dates(
        self, name: str, part: Callable[[Any], float], order: str
    ) -> NDArray[np.float64]:
        column = np.full(self.n_rows, np.nan)
        for k, cell in enumerate(self.of(name)):
            if self.spelling.is_missing(cell):
                continue
            moment = read_date(cell.strip(), order)
            if moment is None:
                written = f" written as {order}" if order else ""
                raise FileError(
                    f"{self.file.where(self.lines[k])}: {name!r} is {cell!r}, which is no date"
                    f"{written}, and the model was fitted on such dates. Write it as in "
                    "2024-01-31, or leave the cell empty."
                )
            column[k] = part(moment)
        return column

    def levels(self, name: str, known: Collection[Any] = ()) -> NDArray[Any]:
        """Return a column of categories or texts; None where a cell is missing.

        A word for missing values that is one of the known levels is that level.
        """
        missing = self.file.missing
        stripped = [cell.strip() for cell in self.of(name)]
        return np.array(
            [None if c.lower() in missing and c not in known else c for c in stripped], dtype=object
        )

    def labels(self, name: str) -> list[str]:
        """Return the labels as text; every row needs one."""
        labels = [cell.strip() for cell in self.of(name)]
        for label, line in zip(labels, self.lines, strict=True):
            if label.lower() in self.file.missing:
                said = f" ({label!r} counts as missing; --missing changes that)" if label else ""
                raise FileError(
                    f"{self.file.where(line)}: has no {name!r}{said}. Rows without a label cannot "
                    "be learned from or tested on: drop them, or have them left out by "
                    "--skip-unlabelled."
                )
        return labels

    def labelled(self, target: str) -> Cells:
        """Leave rows without a label out, if the file is to be read so."""
        if not self.file.skip_unlabelled:
            return self
        kept = [k for k, cell in enumerate(self.of(target)) if not self.spelling.is_missing(cell)]
        if len(kept) == self.n_rows:
            return self
        rows = need("pyarrow").array(kept, "int64")
        columns = {name: column.take(rows) for name, column in self.columns.items()}
        return Cells(self.file, columns, [self.lines[k] for k in kept], self.decimal_comma)
