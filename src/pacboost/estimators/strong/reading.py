"""What users hand to StrongClassifier: arrays, frames, sparse matrices, texts, files, oracles.

Named columns that are labels, groups or times are taken out of the rows. Texts are found where they
are: in a list of strings, or in columns whose cells read like sentences.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError, FileError, ParameterError
from pacboost.estimators.inputs.documented import guess
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.columns import Columns
from pacboost.sources.csv import read_csv
from pacboost.sources.data_file import DataFile, read_as_a_whole
from pacboost.sources.dataframe import is_frame, open_frame
from pacboost.sources.levels import Levels
from pacboost.sources.oracles.oracle import AbstractOracle
from pacboost.sources.table import Table

WORDS_OF_A_TEXT, FEW_TEXTS = 3, 50
"""Cells of at least so many words on average, and of more than so many kinds, are texts."""

ORDERS = {"auto": None, "day-first": True, "month-first": False}
"""How dates such as 1/2/2024 are written, if no date of their column shows it."""


@dataclass(frozen=True, eq=False)
class Reading:
    """What was read: rows as they came, or as a table, and what is known of each row."""

    X: Any
    y: Any
    groups: Any = None
    time: Any = None
    sample_weight: Any = None
    dropped: tuple[str, ...] = ()
    """Columns that are no features, where rows have them: target, groups, time and weights."""


def is_source(X: Any) -> bool:
    """Check whether rows have to be drawn: they are too many, or come one after the other."""
    if (
        isinstance(X, AbstractOracle)
        or callable(X)
        or hasattr(X, "cursor")
        or hasattr(X, "as_oracle")
    ):
        return True
    if _is_path(X):
        return not read_as_a_whole(Path(X))
    return isinstance(X, list | tuple) and bool(X) and all(isinstance(x, Path) for x in X)


def is_texts(X: Any) -> bool:
    """Check whether rows are texts: a list, an array or a series of strings."""
    if isinstance(X, np.ndarray):
        return X.ndim == 1 and isinstance(_first(X), str)
    if isinstance(X, list | tuple):
        return isinstance(_first(X), str)
    series = nw.from_native(X, pass_through=True, series_only=True)
    return isinstance(series, nw.Series) and len(series) > 0 and isinstance(series[0], str)


def _first(cells: Iterable[Any]) -> Any:
    """The first cell that is not missing; whoever reads texts names the rows that hold none."""
    return next((cell for cell in cells if cell is not None), None)


def day_first(dates: Any) -> bool | None:
    """Return which number of dates with slashes is the day; None if each column has to show it.

    >>> [day_first(asked) for asked in ("auto", "day-first", "month-first")]
    [None, True, False]
    """
    if not isinstance(dates, str) or dates not in ORDERS:
        raise ParameterError(f"dates is {dates!r}; it may be {', '.join(map(repr, ORDERS))}")
    return ORDERS[dates]


def read(
    X: Any, y: Any, groups: Any, time: Any, sample_weight: Any = None, dates: Any = "auto"
) -> Reading:
    """Read a file if one is named, and take named columns out of the rows."""
    order = day_first(dates)
    if _is_path(X):
        named = {name for name in (groups, time) if isinstance(name, str)}
        table, labels = _file(DataFile(Path(X), day_first=order), y, named)
        reading = read(table, labels, groups, time, sample_weight)
        return replace(reading, dropped=(*reading.dropped, str(y)))
    if order is not None:
        raise ParameterError(
            f"dates is {dates!r}, which says how a file writes dates, but X is no file; in a data "
            "frame, turn texts into dates first, as by pandas.to_datetime(column, dayfirst=True)"
        )
    known = {"y": y, "groups": groups, "time": time, "sample_weight": sample_weight}
    if isinstance(X, Table) and X.names is not None:
        return _from_columns(X, X.names, X.cells, _of_table, known)
    if is_frame(X):
        frame = open_frame(X)
        names = tuple(str(name) for name in frame.columns)

        def cells(number: int) -> NDArray[Any]:
            return np.asarray(frame[:, number].to_numpy())

        return _from_columns(X, names, cells, _of_frame, known)
    for name, value in known.items():
        if isinstance(value, str):
            raise ParameterError(
                f"{name} is {value!r}, but the columns of X have no names; give the values "
                "themselves, a data frame or a file"
            )
    return Reading(X, **known)


def columns_of(X: Any) -> Columns | None:
    """Return the columns by name as they came; None where they have no names."""
    if isinstance(X, Table) and X.names is not None:
        return Columns({name: X.cells(j) for j, name in enumerate(X.names)})
    return Columns.of(X) if is_frame(X) else None


def text_columns(columns: Columns) -> list[str]:
    """Find the columns that read like sentences.

    >>> said = [f"please block card number {i}" for i in range(60)]
    >>> text_columns(Columns({"said": np.array(said), "plan": np.array(["basic", "gold"] * 30)}))
    ['said']
    """
    return [name for name, cells in columns.cells.items() if _reads_like_sentences(cells)]


def without(X: Any, columns: Sequence[str]) -> Any:
    """Leave columns out that are no features, where X has them."""
    if not columns or not is_frame(X):
        return X
    frame = open_frame(X)
    return frame.drop([name for name in columns if name in frame.columns]).to_native()


def _reads_like_sentences(cells: Any) -> bool:
    if isinstance(cells, nw.Series):
        numbers, held = cells.dtype.is_numeric(), cells.to_list
    else:
        numbers, held = cells.dtype.kind in "biuf", cells.tolist
    kinds = set() if numbers else {cell for cell in held() if isinstance(cell, str)}
    words = sum(len(cell.split()) for cell in kinds)
    return len(kinds) > FEW_TEXTS and words >= WORDS_OF_A_TEXT * len(kinds)


def _file(file: DataFile, target: Any, as_text: set[str]) -> tuple[Table, Any]:
    if not isinstance(target, str):
        raise ParameterError(f"{file}: name the column that holds the labels, as y")
    if not file.path.exists():
        raise FileError(f"{file}: there is no such file")
    examples = read_csv(file, target, categories=True, as_text=as_text)
    return examples.table, examples.labels


def _from_columns(
    X: Any,
    names: tuple[str, ...],
    cells: Callable[[int], NDArray[Any]],
    keep: Callable[[Any, list[int]], Any],
    known: dict[str, Any],
) -> Reading:
    taken = {role: name for role, name in known.items() if isinstance(name, str)}
    for role, name in taken.items():
        if name not in names:
            raise DataError(
                f"{role} names {name!r}, which is no column; the columns are "
                f"{', '.join(repr(other) for other in names)}{guess(name, names)}"
            )
        known = {**known, role: cells(names.index(name))}
    kept = [j for j, name in enumerate(names) if name not in taken.values()]
    return Reading(keep(X, kept) if taken else X, dropped=tuple(taken.values()), **known)


def _of_frame(X: Any, kept: list[int]) -> Any:
    return open_frame(X)[:, kept].to_native()


def _of_table(table: Table, kept: list[int]) -> Table:
    """Copy some columns; the levels of those that have some move with them."""
    assert table.names is not None
    if isinstance(table, ArrayTable):
        return table.columns(kept)
    levels = {new: table.levels.columns[old] for new, old in enumerate(kept) if old in table.levels}
    values = np.column_stack([table.block(j, j + 1)[:, 0] for j in kept])
    return ArrayTable(values, tuple(table.names[j] for j in kept), Levels(levels))


def _is_path(X: Any) -> bool:
    return isinstance(X, str | Path)
