"""Examples from a CSV file, read into memory as a table and its labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import FileError
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.cells import blocks, fill_numbers, read_labels
from pacboost.sources.levels import Levels
from pacboost.sources.table import refuse_text


@dataclass(frozen=True)
class LabelledTable:
    """The examples of a file: a table of numbers (and levels) and the label of each row."""

    table: ArrayTable
    labels: NDArray[Any]


class FileTable(ArrayTable):
    """The rows of a file: a column holds categories if one of its cells is text."""

    def alone(self, rows: NDArray[np.intp]) -> FileTable:
        """Read some rows as if the file held no others: without text, a column holds numbers."""
        values, levels = self.block(0, self.n_columns)[rows], dict(self.levels.columns)
        for column, own in self.levels.columns.items():
            present = ~np.isnan(values[:, column])
            numbers, place = np.unique(values[present, column], return_inverse=True)
            cells = [str(own[int(number)]) for number in numbers]
            found = np.empty(len(cells))
            if fill_numbers(found, cells) is None:
                values[present, column] = found[place]
                del levels[column]
        return FileTable(values, self.names, Levels(levels))


def read_csv(path: str | Path, target: str, *, categories: bool = False) -> LabelledTable:
    """Read a file whose column ``target`` holds the labels and whose other columns are numbers.

    With ``categories``, a column that holds text becomes a categorical one; else it is refused.
    """
    path = Path(path)
    examples, text = _read(path, target, ())
    if text and categories:
        del examples  # it may be large, and is read again with these columns as text
        examples, text = _read(path, target, tuple(text))
    if text:
        raise FileError(f"{path}: {refuse_text(list(text.values()))}")
    return examples


def _read(
    path: Path, target: str, categorical: Sequence[str]
) -> tuple[LabelledTable, dict[str, str]]:
    """Read the file; also tell which columns hold text that is not categorical, and where."""
    labels: list[str] = []
    parts: list[NDArray[np.float64]] = []
    text: dict[str, str] = {}
    seen: dict[str, dict[str, int]] = {name: {} for name in categorical}
    for cells in blocks(path):
        labels += cells.labels(target)
        names = tuple(name for name in cells.columns if name != target)
        part = np.empty((cells.n_rows, len(names)))
        for name, column in zip(names, part.T, strict=True):
            if name in seen:
                column[:] = _numbered(cells.levels(name), seen[name])
                continue
            where = cells.fill(column, name)
            if where is not None:
                text.setdefault(name, where)
        parts.append(part)
    values = np.concatenate(parts)
    levels = Levels({names.index(name): tuple(sorted(own)) for name, own in seen.items()})
    for j in levels.columns:
        _sort(values[:, j], seen[names[j]])
    table = FileTable(values, names, levels)
    return LabelledTable(table, read_labels(labels)), {n: text[n] for n in names if n in text}


def _numbered(cells: NDArray[Any], seen: dict[str, int]) -> list[float]:
    """Number levels in the order in which they come."""
    return [np.nan if cell is None else seen.setdefault(cell, len(seen)) for cell in cells]


def _sort(column: NDArray[np.float64], seen: dict[str, int]) -> None:
    """Change the numbers of levels from the order in which they came to the sorted one."""
    place = np.empty(len(seen))
    place[[seen[level] for level in sorted(seen)]] = np.arange(len(seen))
    present = ~np.isnan(column)
    column[present] = place[column[present].astype(np.intp)]
