"""Named columns as they came: of a data frame, of a file, or of rows that name their cells."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError, ParameterError
from pacboost.sources.arrays import CategorisedArray, holds_text
from pacboost.sources.dataframe import DATES, FrameTable, is_frame, open_frame, with_dates
from pacboost.sources.levels import NO_LEVELS, is_missing, is_text, pieces

# What may be given as texts and as options of reading them, and what is said of anything else.

LONGEST = 100
MOST_CUTS = 10


def read_texts(texts: Any, where: str = "") -> list[str]:
    """Check that there are texts, and that each is one; ``where`` goes before the row's number."""
    table = hasattr(texts, "columns") or getattr(texts, "ndim", 1) != 1
    if table or isinstance(texts, str | bytes | Mapping) or not isinstance(texts, Iterable):
        raise DataError(
            f"a list of texts is needed, and {type(texts).__name__} came; of a table give the "
            "column that holds the texts or name it in text_columns, and give [text] for a single "
            "text"
        )
    rows = list(texts)
    if not rows:
        raise DataError("there are no texts (0 samples); at least one is needed")
    for number, text in enumerate(rows):
        if not isinstance(text, str):
            raise DataError(
                f"{where}row {number} holds {text!r:.60} ({type(text).__name__}), which is no "
                "text; give strings, and '' where there is nothing to read"
            )
    return rows


def span_of(name: str, given: Any) -> tuple[int, int] | None:
    """Check a pair of the least and the most; None stands for none."""
    if given is None:
        return None
    ends = tuple(given) if isinstance(given, tuple | list) else ()
    whole = len(ends) == 2 and all(type(end) is int for end in ends)
    if not whole or not 1 <= ends[0] <= ends[1] <= LONGEST:
        raise ParameterError(
            f"{name} is {given!r}; it may be a pair such as (1, 2), the least and the most, at "
            f"most {LONGEST}, or None"
        )
    return ends


def cuts_of(name: str, given: Any, least: int, most: int) -> tuple[int, ...]:
    """Check numbers that go up; None stands for none."""
    cuts = () if given is None else given
    whole = isinstance(cuts, tuple | list) and all(type(cut) is int for cut in cuts)
    ordered = whole and all(one < other for one, other in pairwise(cuts))
    if ordered and len(cuts) <= MOST_CUTS and all(least <= cut <= most for cut in cuts):
        return tuple(cuts)
    raise ParameterError(
        f"{name} is {given!r}; it may be up to {MOST_CUTS} whole numbers from {least} to {most:,}, "
        "the least first, or None"
    )


def check_whole(name: str, value: Any, least: int, most: int | None = None) -> None:
    """Check a whole number."""
    if type(value) is not int or value < least or (most is not None and value > most):
        allowed = f"{least} or more" if most is None else f"{least} to {most}"
        raise ParameterError(f"{name} is {value!r}; it must be a whole number, {allowed}")


@dataclass(frozen=True, eq=False)
class Columns:
    """The cells of each column, a NumPy array or a narwhals series, all of the same length.

    >>> rows = Columns.of([{"age": 30, "city": "Rome"}, {"age": None, "city": "Bern"}])
    >>> rows.numbers("age").tolist(), rows.is_category("city")
    ([30.0, nan], True)
    """

    cells: Mapping[str, Any]

    @classmethod
    def of(cls, data: Any) -> Columns:
        """Take a data frame, or a list of mappings from column names to values."""
        if isinstance(data, Columns):
            return data
        if is_frame(data):
            frame = open_frame(data)
            held: dict[str, Any] = {str(name): frame[:, j] for j, name in enumerate(frame.columns)}
            if len(held) < len(frame.columns):
                raise DataError(f"column names must differ as texts: {list(frame.columns)}")
        else:
            held = _of_mappings(data)
        if not held or not len(next(iter(held.values()))):
            raise DataError("the table is empty (0 samples); at least one row is needed")
        return cls(held)

    @property
    def n_rows(self) -> int:
        return len(next(iter(self.cells.values())))

    def take(self, rows: NDArray[np.intp]) -> Columns:
        """Copy some rows."""
        return Columns({name: cells[rows] for name, cells in self.cells.items()})

    def dates_read(self) -> Columns:
        """Replace columns of dates and times by columns of numbers, as in tables without texts."""
        found: dict[str, Any] = {}
        for name, cells in self.cells.items():
            if isinstance(cells, nw.Series) and isinstance(cells.dtype, DATES):
                made = open_frame(with_dates(cells.alias(name).to_frame().to_native()))
                found |= {str(part): made[part] for part in made.columns}
            else:
                found[name] = cells
        return Columns(found)

    def is_category(self, name: str) -> bool:
        """Check whether a column holds text, categories or booleans, and no numbers."""
        cells = self.cells[name]
        if isinstance(cells, np.ndarray) or cells.dtype == nw.Object:
            held = [cell for part in pieces(cells) for cell in part if not is_missing(cell)]
            truths = bool(held) and all(isinstance(cell, bool) for cell in held)
            return truths or any(isinstance(cell, str) for cell in held)
        if cells.dtype.is_numeric() or cells.null_count() == len(cells):
            return False
        if not is_text(cells.dtype) and cells.dtype != nw.Boolean:
            raise DataError(
                f"column {name!r} holds {cells.dtype}, which is neither text nor number nor "
                "category; turn it into one of them, or leave it out"
            )
        return True

    def texts(self, name: str) -> list[str]:
        """Read a column of texts; a missing one is an empty one."""
        held = [
            "" if is_missing(cell) else cell for part in pieces(self.cells[name]) for cell in part
        ]
        return read_texts(held, f"column {name!r}, ")

    def numbers(self, name: str) -> NDArray[np.floating]:
        """Read a column of numbers; NaN where one is missing."""
        cells = self.cells[name]
        if isinstance(cells, nw.Series):
            if cells.dtype.is_numeric():
                return FrameTable(cells.to_frame().to_native()).column(0)
            cells = np.array(cells.to_list(), dtype=object)  # perhaps all of them are missing
        if holds_text(cells):
            raise DataError(
                f"column {name!r} holds text, and held numbers in fit; hand it in as it was in fit"
            )
        return CategorisedArray(cells[:, None], NO_LEVELS, (name,)).column(0)

    def missing(self, name: str) -> NDArray[np.bool_]:
        """Return which cells of a column are missing."""
        held = [is_missing(cell) for part in pieces(self.cells[name]) for cell in part]
        return np.array(held, dtype=np.bool_)

    def lines(self, names: Iterable[str]) -> list[str]:
        """Write the cells of these columns out, each row as one text."""
        columns = [[_plain(cell) for part in pieces(self.cells[n]) for cell in part] for n in names]
        return ["\x1f".join(row) for row in zip(*columns, strict=True)]


def _of_mappings(data: Any) -> dict[str, NDArray[Any]]:
    rows = list(data) if isinstance(data, Sequence) and not isinstance(data, str | bytes) else []
    if not rows or not all(isinstance(row, Mapping) for row in rows):
        raise DataError(
            f"a data frame is needed, or a list of mappings from column names to values, and "
            f"{type(data).__name__} came"
        )
    held = {str(name): np.empty(len(rows), dtype=object) for name in rows[0]}
    for number, row in enumerate(rows):
        if {str(name) for name in row} != held.keys():
            raise DataError(
                f"row {number} names {', '.join(map(repr, row)) or 'nothing'}, and row 0 names "
                f"{', '.join(map(repr, held))}; they must be the same, with None for what is "
                "missing"
            )
        for name, cell in row.items():
            held[str(name)][number] = cell
    return held


def _plain(cell: Any) -> str:
    """Write a cell so that equal ones read alike, whatever kind of frame they came in."""
    if is_missing(cell):
        return ""
    return repr(float(cell)) if isinstance(cell, int | float | np.number) else str(cell)
