"""Examples from a file, read into memory as a table and its labels."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from pacboost.errors import FileError
from pacboost.sources.data_file import DataFile
from pacboost.sources.file_rows import whole
from pacboost.sources.frame_table import FrameTable
from pacboost.sources.table import refuse_text
from pacboost.sources.written import read_labels


@dataclass(frozen=True)
class LabelledTable:
    """The examples of a file: a table and the label of each row."""

    table: FrameTable
    labels: NDArray[Any]


def read_csv(
    file: str | Path | DataFile,
    target: str,
    *,
    categories: bool = False,
    drop: Collection[str] = (),
    raw: Collection[str] = (),
) -> LabelledTable:
    """Read a file whose column ``target`` holds the labels.

    With ``categories``, columns of text that are neither numbers nor dates are categories, else
    they are refused. The columns ``drop`` are left out; those named ``raw`` stay text.
    """
    file = DataFile.of(file)
    cells = whole(file, target)
    labels = read_labels(cells.labels(target))
    if not any(name != target and name not in drop for name in cells.columns):
        raise FileError(
            f"{file}: holds no column but {target!r} to learn from; at least one more is needed"
        )
    table = cells.table(raw, {target, *drop})
    if table.levels and not categories:
        text = [table.name(j) for j in table.levels.columns]
        raise FileError(f"{file}: {refuse_text([cells.first_text(name) for name in text])}")
    return LabelledTable(table, labels)
