"""Named columns of a data frame, a file or a list of mappings, and checks of texts and options."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError, invalid
from pacboost.numerics.checks import meant
from pacboost.sources.dataframe import Storage, numbers_of, storage_of
from pacboost.sources.frame_table import FrameTable
from pacboost.sources.kinds.column import IN_MEMORY, CellOrigin
from pacboost.sources.kinds.dates import Dates, moment_parts
from pacboost.sources.levels import Levels
from pacboost.sources.spelling import are_sentences
from pacboost.sources.values import is_missing, pieces

MAX_SPAN = 100
"""Largest number in a pair such as ``ngrams``."""
MAX_CUTS = 10
"""Most numbers in a list such as ``times``."""


def read_texts(texts: Any, where: str = "") -> list[str]:
    """Check that the input is a list of strings; ``where`` precedes the row number in errors."""
    table = hasattr(texts, "columns") or getattr(texts, "ndim", 1) != 1
    if table or isinstance(texts, str | bytes | Mapping) or not isinstance(texts, Iterable):
        raise DataError(
            f"a list of texts is needed, but the input is a {type(texts).__name__}; pass [text] "
            "for one text, a column of a table, or a data frame to TextBoostClassifier"
        )
    rows = list(texts)
    if not rows:
        raise DataError("there are no texts (0 samples); at least one is needed")
    for number, text in enumerate(rows):
        if not isinstance(text, str):
            raise DataError(
                f"{where}row {number} holds {text!r:.60} ({type(text).__name__}), which is not "
                "text; pass strings, and '' for a missing text"
            )
    return rows


def span_of(name: str, value: Any) -> tuple[int, int] | None:
    """Check a pair of a minimum and a maximum, or None."""
    if value is None:
        return None
    ends = tuple(value) if isinstance(value, tuple | list) else ()
    is_pair = len(ends) == 2 and all(type(end) is int for end in ends)
    if not is_pair or not 1 <= ends[0] <= ends[1] <= MAX_SPAN:
        pair = f"a pair such as (1, 2), a minimum and a maximum from 1 to {MAX_SPAN}"
        raise invalid(name, value, f"may be None or {pair}")
    return ends


def cuts_of(name: str, value: Any, low: int, high: int) -> tuple[int, ...]:
    """Check a list of ascending whole numbers, or None."""
    cuts = () if value is None else value
    are_integers = isinstance(cuts, tuple | list) and all(type(cut) is int for cut in cuts)
    ordered = are_integers and all(one < other for one, other in pairwise(cuts))
    if ordered and len(cuts) <= MAX_CUTS and all(low <= cut <= high for cut in cuts):
        return tuple(cuts)
    numbers = f"{MAX_CUTS} whole numbers from {low} to {high:,}, in ascending order"
    raise invalid(name, value, f"may be None or up to {numbers}")


def check_whole(name: str, value: Any, low: int, high: int | None = None) -> None:
    """Check that a value is a whole number from ``low`` to ``high``."""
    if type(value) is not int or value < low or (high is not None and value > high):
        allowed = f"{low} or more" if high is None else f"{low} to {high}"
        raise invalid(name, value, f"must be a whole number, {allowed}")


@dataclass(frozen=True, eq=False)
class Columns:
    """The cells of each column, a NumPy array or a narwhals series, all of the same length."""

    cells: Mapping[str, Any]
    origin: CellOrigin = IN_MEMORY

    def table(self, text: Collection[str]) -> FrameTable:
        """Learn the type of each column that does not hold texts."""
        others = {name: cells for name, cells in self.cells.items() if name not in text}
        return FrameTable.learn(others, origin=self.origin)

    def like(self, names: Sequence[str], levels: Levels) -> FrameTable:
        return FrameTable.like(self.cells, names, levels, self.origin)

    @property
    def n_rows(self) -> int:
        return len(next(iter(self.cells.values())))

    def take(self, rows: NDArray[np.intp]) -> Columns:
        some = {name: cells[rows] for name, cells in self.cells.items()}
        return Columns(some, self.origin)

    def dates_read(self) -> Columns:
        """Return the columns with dates and times replaced by numbers."""
        cells_by_name: dict[str, Any] = {}
        for name, cells in self.cells.items():
            storage = storage_of(cells)
            if storage is Storage.MOMENTS:
                for part, values in moment_parts(cells).items():
                    cells_by_name[Dates(part).name(name)] = values
            elif storage is Storage.DURATIONS:
                cells_by_name[name] = numbers_of(cells)
            else:
                cells_by_name[name] = cells
        return Columns(cells_by_name)

    def texts(self, name: str) -> list[str]:
        absent = self.origin.spelling.missing
        texts = ["" if is_missing(c) else c for part in pieces(self.cells[name]) for c in part]
        texts = ["" if isinstance(c, str) and c.strip().lower() in absent else c for c in texts]
        return read_texts(texts, f"column {name!r}, ")

    def sentences(self) -> list[str]:
        """Return the names of the columns whose cells look like sentences."""
        others = {n: c for n, c in self.cells.items() if storage_of(c) is not Storage.NUMBERS}
        texts = {n: {c for part in pieces(cells) for c in part} for n, cells in others.items()}
        return [name for name, cells in texts.items() if are_sentences(cells)]

    def levels(self, name: str, levels: Sequence[Any]) -> NDArray[Any]:
        """Return the cells of a categorical column, with None for missing cells.

        A word for missing values that is also one of ``levels`` is read as that level.
        """
        absent, words = self.origin.spelling.missing, not levels or isinstance(levels[0], str)
        by_text = {} if words else {str(level).lower(): level for level in levels}

        def level(cell: Any) -> Any:
            if is_missing(cell) or not isinstance(cell, str):
                return None if is_missing(cell) else cell
            cell = cell.strip()
            if by_text:
                return by_text.get(cell.lower())
            return None if cell.lower() in absent and cell not in levels else cell

        cells = [level(cell) for part in pieces(self.cells[name]) for cell in part]
        return np.array(cells, dtype=object)

    def lines(self, names: Iterable[str]) -> list[str]:
        """Return each row as one text made of the cells of these columns."""
        columns = [[_plain(cell) for part in pieces(self.cells[n]) for cell in part] for n in names]
        return ["\x1f".join(row) for row in zip(*columns, strict=True)]


def are_records(X: Any) -> bool:
    """Check whether rows name their cells: one row as a mapping or a series, or a list of them.

    >>> are_records({"age": 40}), are_records([{"age": 40}]), are_records([[40]])
    (True, True, False)
    """
    if isinstance(X, list | tuple):
        return bool(X) and _names_cells(X[0])
    return not hasattr(X, "columns") and _names_cells(X)


def _names_cells(row: Any) -> bool:
    """Check for a mapping, or for a row of a frame, which is a series whose index is text."""
    if isinstance(row, Mapping):
        return True
    return hasattr(row, "keys") and all(isinstance(name, str) for name in row.keys())  # noqa: SIM118


def columns_of_records(rows: Any, known: Sequence[str] | None = None) -> dict[str, NDArray[Any]]:
    """Return the columns of rows that name their cells; ``known`` are the columns of the fit."""
    rows = rows if isinstance(rows, list | tuple) else [rows]
    rows = [{str(name): row[name] for name in row.keys()} for row in rows]  # noqa: SIM118
    names = list(rows[0]) if known is None else list(known)
    columns = {name: np.empty(len(rows), dtype=object) for name in names}
    for number, row in enumerate(rows):
        if len(row) != len(columns) or not all(name in columns for name in row):
            wrong = min({*row} ^ {*columns}, key=lambda name: (name in columns, name))
            lacks = wrong in columns
            raise DataError(
                f"row {number} {'lacks' if lacks else 'has'} the column {wrong!r}"
                f"{'' if lacks else meant(wrong, names)}; a row has {', '.join(names)}, with None "
                "where a cell is missing"
            )
        for name, cell in row.items():
            if isinstance(cell, list | tuple | np.ndarray | Mapping):
                raise DataError(
                    f"{name!r} holds a {type(cell).__name__}; a dictionary is one row, with one "
                    "value for each column. Pass several rows as a list of dictionaries, or as a "
                    "data frame"
                )
            columns[name][number] = _written(cell)
    return columns


def _written(cell: Any) -> Any:
    """Return moments as text and durations as seconds, others as values of Python.

    >>> _written(np.datetime64("2024-01-31T08:30")), _written(date(2024, 1, 31)), _written(1)
    ('2024-01-31 08:30:00', '2024-01-31', 1)
    """
    if isinstance(cell, np.datetime64 | np.timedelta64):
        # nanoseconds would become a whole number
        cell = cell.astype(f"{cell.dtype.kind}8[us]")
    cell = cell.item() if isinstance(cell, np.generic) else cell
    if isinstance(cell, timedelta):
        return math.nan if is_missing(cell) else cell.total_seconds()
    is_moment = isinstance(cell, date) and not is_missing(cell)
    return str(cell).removesuffix(" 00:00:00") if is_moment else cell


def _plain(cell: Any) -> str:
    """Return the same text for equal cells of any kind of data frame."""
    if is_missing(cell):
        return ""
    return repr(float(cell)) if isinstance(cell, int | float | np.number) else str(cell)
