"""Examples from a file, read into memory as a table and its labels.

A column holds numbers, dates, or else categories: what its cells are, all of them.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import FileError, InputWarning
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.cells import (
    DAY_MONTH,
    MONTH_DAY,
    Spelling,
    columns_of_dates,
    orders,
    read_dates,
    read_labels,
)
from pacboost.sources.data_file import DataFile
from pacboost.sources.file_rows import whole
from pacboost.sources.levels import Levels
from pacboost.sources.table import refuse_text


@dataclass(frozen=True)
class LabelledTable:
    """The examples of a file: a table of numbers (and levels) and the label of each row."""

    table: ArrayTable
    labels: NDArray[Any]


class FileTable(ArrayTable):
    """The rows of a file: a column holds categories if one of its cells is text."""

    spelling = Spelling()

    def alone(self, rows: NDArray[np.intp]) -> FileTable:
        """Read some rows as if the file held no others: without text, a column holds numbers."""
        values, levels = self.block(0, self.n_columns)[rows], dict(self.levels.columns)
        for column, own in self.levels.columns.items():
            present = ~np.isnan(values[:, column])
            numbers, place = np.unique(values[present, column], return_inverse=True)
            read = self.spelling.read([str(own[int(number)]) for number in numbers])
            if read.bad is None:
                values[present, column] = read.values[place]
                del levels[column]
        some = FileTable(values, self.names, Levels(levels))
        some.spelling = self.spelling
        return some

    def columns(self, kept: Sequence[int]) -> Self:
        some = super().columns(kept)
        some.spelling = self.spelling
        return some


def read_csv(
    file: str | Path | DataFile,
    target: str,
    *,
    categories: bool = False,
    drop: Collection[str] = (),
    as_text: Collection[str] = (),
) -> LabelledTable:
    """Read a file whose column ``target`` holds the labels; other columns are numbers or dates.

    Dates become columns of numbers: see ``sources/cells.py``. With ``categories``, a column that
    holds other text becomes a categorical one; else it is refused. The columns ``drop`` are left
    out; dates in the columns ``as_text`` stay text.
    """
    file = DataFile.of(file)
    cells = whole(file, target)
    labels = read_labels(cells.labels(target))
    features = [name for name in cells.columns if name != target and name not in drop]
    if not features:
        raise FileError(
            f"{file}: holds no column but {target!r} to learn from; at least one more is needed"
        )
    names: list[str] = []
    columns: list[NDArray[np.float64]] = []
    levels: dict[int, tuple[str, ...]] = {}
    text: list[str] = []
    for name in features:
        read = cells.read_numbers(name)
        if read.bad is None:
            names.append(name)
            columns.append(read.values)
        else:
            texts = cells.levels(name)
            own = tuple(sorted({cell for cell in texts if cell is not None}))
            numbers = Levels({0: own}).numbers(0, texts, repr(name))
            order = None if name in as_text else _order(file, name, own)
            if order is None:
                text.append(cells.at(name, read.bad))
                levels[len(names)] = own
                names.append(name)
                columns.append(numbers)
            else:
                places = np.where(np.isnan(numbers), len(own), numbers).astype(np.intp)
                made = columns_of_dates(name, read_dates(own, order) or [], order)
                names += made
                columns += [np.append(values, np.nan)[places] for values in made.values()]
        del cells.columns[name]  # all columns as text, and as numbers, may take much memory
    if text and not categories:
        raise FileError(f"{file}: {refuse_text(text)}")
    table = FileTable(np.column_stack(columns), tuple(names), Levels(levels))
    table.spelling = cells.spelling
    return LabelledTable(table, labels)


def _order(file: DataFile, name: str, texts: Sequence[str]) -> str | None:
    """Return order in which the dates of a column are written; None if they are read as text."""
    found = orders(texts)
    if len(found) < 2:
        return found[0] if found else None
    if file.day_first is not None:
        return DAY_MONTH if file.day_first else MONTH_DAY
    warnings.warn(
        f"{file}: column {name!r} holds dates such as {texts[0]!r}, of which either number may be "
        "the day, so they are read as categories. Give --dayfirst if the day comes first or "
        "--monthfirst if the month does (in Python dates='day-first' or dates='month-first'), or "
        "write dates as in 2024-01-31",
        InputWarning,
        stacklevel=2,
    )
    return None
