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
    Cells,
    Spelling,
    columns_of_dates,
    orders,
    read_dates,
    read_labels,
)
from pacboost.sources.data_file import DataFile
from pacboost.sources.file_rows import labelled_blocks
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
        """Copy some columns; the levels of those that have some move with them."""
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
    examples, text = _read(file, target, (), drop)
    if text:
        del examples  # it may be large, and is read again with these columns as text
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", InputWarning)  # they were shown the first time
            examples, _ = _read(file, target, tuple(text), drop)
        examples = LabelledTable(_with_dates(file, examples.table, as_text), examples.labels)
        names = [examples.table.name(j) for j in examples.table.levels.columns]
        if names and not categories:
            raise FileError(f"{file}: {refuse_text([text[name] for name in names])}")
    return examples


def _read(
    file: DataFile, target: str, categorical: Sequence[str], drop: Collection[str]
) -> tuple[LabelledTable, dict[str, str]]:
    """Read the file; also tell which columns hold text that is not categorical, and where."""
    labels: list[str] = []
    parts: list[NDArray[np.float64]] = []
    text: dict[str, str] = {}
    booleans: dict[str, bool] = {}
    seen: dict[str, dict[str, int]] = {name: {} for name in categorical}
    names: tuple[str, ...] | None = None
    for cells in labelled_blocks(file, target):
        labels += cells.labels(target)
        if names is None:
            names = _features(cells, target, drop)
        part = np.empty((cells.n_rows, len(names)))
        for name, column in zip(names, part.T, strict=True):
            if name in seen:
                column[:] = _numbered(cells.levels(name), seen[name])
                continue
            read = cells.read_numbers(name)
            column[:] = read.values
            mixed = False
            if not np.isnan(read.values).all():
                mixed = booleans.setdefault(name, read.booleans) != read.booleans
            if read.bad is not None or mixed:
                text.setdefault(name, cells.at(name, read.bad or 0))
        parts.append(part)
    assert names is not None
    values = np.concatenate(parts)
    levels = Levels({names.index(name): tuple(sorted(own)) for name, own in seen.items()})
    for j in levels.columns:
        _sort(values[:, j], seen[names[j]])
    table = FileTable(values, names, levels)
    table.spelling = cells.spelling
    return LabelledTable(table, read_labels(labels)), {n: text[n] for n in names if n in text}


def _features(cells: Cells, target: str, drop: Collection[str]) -> tuple[str, ...]:
    names = tuple(name for name in cells.columns if name != target and name not in drop)
    if not names:
        raise FileError(
            f"{cells.file}: holds no column but {target!r} to learn from; at least one more is "
            "needed"
        )
    return names


def _with_dates(file: DataFile, table: ArrayTable, as_text: Collection[str]) -> ArrayTable:
    """Replace each column whose levels are all dates by columns of numbers."""
    assert isinstance(table, FileTable)
    names: list[str] = []
    columns: list[NDArray[Any]] = []
    levels = {}
    for j, name in enumerate(table.names or ()):
        own, column = table.levels.columns.get(j), table.block(j, j + 1)[:, 0]
        order = None
        if own is not None and name not in as_text:
            order = _order(file, name, [str(level) for level in own])
        if own is not None and order is not None:
            moments = read_dates([str(level) for level in own], order) or []
            places = np.where(np.isnan(column), len(moments), column).astype(np.intp)
            made = columns_of_dates(name, moments, order)
            names += made
            columns += [np.append(values, np.nan)[places] for values in made.values()]
            continue
        if own is not None:
            levels[len(names)] = own
        names.append(name)
        columns.append(column)
    if len(levels) == len(table.levels.columns):
        return table
    found = FileTable(np.column_stack(columns), tuple(names), Levels(levels))
    found.spelling = table.spelling
    return found


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


def _numbered(cells: NDArray[Any], seen: dict[str, int]) -> list[float]:
    """Number levels in the order in which they come."""
    return [np.nan if cell is None else seen.setdefault(cell, len(seen)) for cell in cells]


def _sort(column: NDArray[np.float64], seen: dict[str, int]) -> None:
    """Change the numbers of levels from the order in which they came to the sorted one."""
    place = np.empty(len(seen))
    place[[seen[level] for level in sorted(seen)]] = np.arange(len(seen))
    present = ~np.isnan(column)
    column[present] = place[column[present].astype(np.intp)]
