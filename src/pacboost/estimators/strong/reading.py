"""Read the rows that users pass to StrongClassifier.

Named columns that are labels, groups or times are taken out of the rows. Texts may be a list of
strings, or columns whose cells read like sentences.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError, FileError, ParameterError, invalid
from pacboost.estimators.inputs.aliases import guess
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.columns import Columns
from pacboost.sources.data_file import DataFile, read_as_a_whole
from pacboost.sources.dataframe import open_frame
from pacboost.sources.file_rows import read_csv
from pacboost.sources.frame_table import FrameTable
from pacboost.sources.kinds.column import CellOrigin
from pacboost.sources.kinds.dates import orders, read_dates
from pacboost.sources.oracles.oracle import AbstractOracle
from pacboost.sources.rows import FrameRows, Rows
from pacboost.sources.spelling import Spelling
from pacboost.sources.table import Table

ORDERS = {"auto": None, "day-first": True, "month-first": False}
"""How dates such as 1/2/2024 are written, if no date of their column shows it."""


@dataclass(frozen=True, eq=False)
class Reading:
    """The rows, as they were passed or as a table, with their labels, groups, times and weights."""

    X: Any
    y: Any
    groups: Any = None
    time: Any = None
    sample_weight: Any = None
    dropped: tuple[str, ...] = ()
    """Columns that are no features, where rows have them: target, groups, time and weights."""


def is_source(X: Any) -> bool:
    """Check whether rows have to be drawn, because they are too many or a stream."""
    if isinstance(X, AbstractOracle) or callable(X):
        return True
    if isinstance(X, str | Path):
        return not read_as_a_whole(Path(X))
    if hasattr(X, "cursor") or hasattr(X, "as_oracle"):
        return True
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
    return next((cell for cell in cells if cell is not None), None)


def day_first(dates: Any) -> bool | None:
    """Return whether the day comes first in dates with slashes; None if each column decides.

    >>> [day_first(asked) for asked in ("auto", "day-first", "month-first")]
    [None, True, False]
    """
    if not isinstance(dates, str) or dates not in ORDERS:
        raise invalid("dates", dates, f"may be {', '.join(map(repr, ORDERS))}")
    return ORDERS[dates]


def read(
    X: Any, y: Any, groups: Any, time: Any, sample_weight: Any = None, dates: Any = "auto"
) -> Reading:
    """Read X, from a file if it is a path, and remove named columns from the rows."""
    order = day_first(dates)
    if isinstance(X, str | Path):
        file = DataFile(Path(X), day_first=order)
        if not isinstance(y, str):
            raise ParameterError(
                f"{file}: name the column that holds the labels, as y", parameter="y"
            )
        if not file.path.exists():
            raise FileError(f"{file}: there is no such file")
        texts = {name for name in (groups, time) if isinstance(name, str)}
        examples = read_csv(file, y, categories=True, raw=texts, reads_text=True)
        reading = read(examples.table, examples.labels, groups, time, sample_weight)
        return replace(reading, dropped=(*reading.dropped, y))
    known = {"y": y, "groups": groups, "time": time, "sample_weight": sample_weight}
    if isinstance(X, Table) and X.names is not None:
        return _from_columns(X, X.names, X.cells, _of_table, known)
    if isinstance(Rows.of(X), FrameRows):
        frame = open_frame(X)
        names = tuple(str(name) for name in frame.columns)
        reading = _from_columns(
            X, names, lambda number: np.asarray(frame[:, number].to_numpy()),
            lambda _, kept: frame[:, kept].to_native(), known,
        )  # fmt: skip
        if order is None:
            return reading
        origin = CellOrigin(Spelling(day_first=order))
        return replace(reading, X=FrameTable.learn(reading.X, origin=origin, note=True))
    if order is not None:
        raise ParameterError(
            f"dates is {dates!r}, which says how text writes dates, but X is neither a file "
            "nor a frame",
            parameter="dates",
        )
    for name, value in known.items():
        if isinstance(value, str):
            raise ParameterError(
                f"{name} is {value!r}, but the columns of X have no names; give the values "
                "themselves, a data frame or a file",
                parameter=name,
            )
    return Reading(X, **known)


def columns_of(X: Any) -> Columns | None:
    """Return the columns by name, unconverted; None if they have no names."""
    if isinstance(X, FrameTable):
        return Columns(X.as_given, X.origin)
    if isinstance(X, Table) and X.names is not None:
        return Columns({name: X.cells(j) for j, name in enumerate(X.names)})
    rows = Rows.of(X)
    return rows.columns() if isinstance(rows, FrameRows) else None


def without(X: Any, columns: Sequence[str]) -> Any:
    """Drop columns that are not features."""
    if not columns or not isinstance(Rows.of(X), FrameRows):
        return X
    frame = open_frame(X)
    return frame.drop([name for name in columns if name in frame.columns]).to_native()


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
                f"{role} names {name!r}, which is not a column; the columns are "
                f"{', '.join(repr(other) for other in names)}{guess(name, names)}"
            )
        known = {**known, role: cells(names.index(name))}
    kept = [j for j, name in enumerate(names) if name not in taken.values()]
    return Reading(keep(X, kept) if taken else X, dropped=tuple(taken.values()), **known)


def _of_table(table: Table, kept: list[int]) -> Table:
    assert table.names is not None
    if isinstance(table, ArrayTable | FrameTable):
        return table.columns(kept)
    values = np.column_stack([table.block(j, j + 1)[:, 0] for j in kept])
    return ArrayTable(values, tuple(table.names[j] for j in kept), table.levels.of(kept))


def _moments(texts: NDArray[Any]) -> NDArray[Any]:
    """Read times in text, spelt like dates in files."""
    try:
        # NumPy warns of each text with a zone, such as Z; it turns them all into one zone
        with warnings.catch_warnings(action="ignore"):
            return texts.astype("datetime64")
    except ValueError:
        written = [str(text).strip() for text in texts]
    found = orders(written)
    if len(found) > 1:
        raise DataError(
            f"time holds dates such as {written[0]!r}, of which either number may be the day; "
            "write them as in 2024-01-31"
        )
    moments = read_dates(written, found[0]) if found else None
    if moments is None:
        strange = next((text for text in written if not orders([text])), written[0])
        raise DataError(
            f"time holds {strange!r}, which is not a date; give numbers, dates, or text such as "
            "2024-01-31 or 31.1.2024"
        )
    return np.array(moments, dtype="datetime64[us]")


def ordered(times: NDArray[Any], rows: int) -> NDArray[np.intp]:
    """Return the place of every row in time; dates as text must be in a form that sorts by date."""
    if times.shape != (rows,):
        raise DataError(f"time has shape {times.shape}; one value for each of {rows} rows")
    missing = sum(value is None or value != value for value in times.tolist())  # noqa: PLR0124
    if missing:
        raise DataError(
            f"time holds missing values in {missing:,} of {rows:,} rows; give every row its time, "
            "or leave those rows out"
        )
    if times.dtype.kind in "OUT" and isinstance(times[0], str):
        times = _moments(times)
    return np.unique(times, return_inverse=True)[1].astype(np.intp)
