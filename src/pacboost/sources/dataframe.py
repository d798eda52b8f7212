"""Data frames of any library, through narwhals: their columns, and what each of them holds."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError
from pacboost.sources.levels import distinct, is_missing, is_unicode, pieces
from pacboost.sources.table import Values
from pacboost.sources.written import DATE, HOUR, ORIGIN

DATES = (nw.Date, nw.Datetime, nw.Duration)
WIDE = (nw.Int128, nw.UInt128)
"""Whole numbers that NumPy has no kind for."""
MILLISECONDS = 86_400_000.0
DAYS_BEFORE = (ORIGIN - datetime(1970, 1, 1)).days
FEW_CELLS = 4_000_000
"""So many cells of a pandas frame are copied rather than asked for column by column."""
NUMBERS, TEXT, MOMENTS, CATEGORIES, OTHER = range(5)


def is_frame(data: object) -> bool:
    """Check whether narwhals knows this as an eager data frame."""
    if isinstance(data, np.ndarray | list):  # asking narwhals takes a tenth of a millisecond
        return False
    if _is_plain_pandas(data):
        return True
    try:
        return isinstance(nw.from_native(data, pass_through=True, eager_only=True), nw.DataFrame)
    except nw.exceptions.DuplicateError as problem:
        raise _refuse_doubled(problem) from problem


def open_frame(data: Any) -> nw.DataFrame[Any]:
    """Read through narwhals; the names of columns have to differ, and to be valid Unicode."""
    try:
        frame: nw.DataFrame[Any] = nw.from_native(data, eager_only=True)
        if _is_plain_pandas(data):
            dense = _dense(data)
            frame = frame if dense is data else nw.from_native(dense, eager_only=True)
        else:
            frame.schema  # noqa: B018 - narwhals looks at the names only here
    except nw.exceptions.DuplicateError as problem:
        raise _refuse_doubled(problem) from problem
    _refuse_names(frame.columns)
    return frame


def _is_plain_pandas(data: Any) -> bool:
    """Check whether this is a pandas frame whose names differ; narwhals looks at each of them."""
    return nw.dependencies.is_pandas_dataframe(data) and data.columns.is_unique


def _refuse_names(names: Iterable[Any]) -> None:
    for number, name in enumerate(names):
        if not is_unicode(str(name)):
            raise DataError(
                f"the name of column {number} is {name!a}, which is not valid Unicode and "
                "could not be written to a file; rename the column"
            )


def _dense(data: Any) -> Any:
    """Fill in the sparse columns of a pandas frame, which narwhals does not know."""
    kinds = zip(data.columns.tolist(), data.dtypes.tolist(), strict=True)
    sparse = {n: k.subtype for n, k in kinds if hasattr(k, "fill_value") and hasattr(k, "subtype")}
    return data.astype(sparse) if sparse else data


def _refuse_doubled(problem: Exception) -> DataError:
    said = " ".join(str(problem).split())
    return DataError(f"column names must differ: {said}. Rename or drop the columns")


def columns_of(data: Any) -> dict[str, Any]:
    """Return the columns of a data frame by their names."""
    if _is_plain_pandas(data) and data.size <= FEW_CELLS:
        names = data.columns.tolist()
        _refuse_names(names)
        columns = _columns_of_pandas(_dense(data))
    else:
        frame = open_frame(data)
        names = frame.columns
        columns = dict(zip(map(str, names), frame.iter_columns(), strict=True))
    if len(columns) < len(names):
        raise DataError(f"column names must differ as texts: {names}")
    return columns


def _columns_of_pandas(data: Any) -> dict[str, Any]:
    """Return the columns, those of numbers as arrays: one by one they would take longer."""
    kinds = data.dtypes.tolist()
    names = list(map(str, data.columns.tolist()))
    columns: dict[str, Any] = dict.fromkeys(names)
    for kind in {k for k in kinds if isinstance(k, np.dtype) and k.kind in "biuf"}:
        places = [j for j, own in enumerate(kinds) if own == kind]
        some = data if len(places) == len(kinds) else data.iloc[:, places]
        columns |= zip(
            (names[j] for j in places), np.array(some.to_numpy().T, order="C"), strict=True
        )
    rest = [j for j, name in enumerate(names) if columns[name] is None]
    others = nw.from_native(data.iloc[:, rest], eager_only=True).iter_columns() if rest else ()
    return columns | dict(zip((names[j] for j in rest), others, strict=True))


def kind_of(cells: Any, *, asked: bool = True) -> int:
    """Return what a column holds, by its type, or by its cells where the type does not say it.

    Categories are not ``asked`` whether they hold anything where they are known to be categories.
    """
    if isinstance(cells, nw.Series) and cells.dtype != nw.Object:
        kind = cells.dtype
        known = not asked and isinstance(kind, nw.Categorical | nw.Enum)
        empty = not (known or kind.is_numeric()) and cells.null_count() == len(cells)
        if kind.is_numeric() or kind == nw.Boolean or empty:
            return NUMBERS
        for kinds, found in ((DATES, MOMENTS), ((nw.Categorical, nw.Enum), CATEGORIES)):
            if isinstance(kind, kinds):
                return found
        return TEXT if kind == nw.String else OTHER
    if isinstance(cells, np.ndarray) and cells.dtype.kind in "biuf":
        return NUMBERS
    types = {type(cell) for part in pieces(cells) for cell in part if not is_missing(cell)}
    if all(issubclass(one, bool | int | float | np.number) for one in types):
        return NUMBERS
    return TEXT if all(issubclass(one, str) for one in types) else CATEGORIES


def are_truths(cells: Any) -> bool:
    """Check whether a column holds nothing but true and false."""
    if cells.dtype in (nw.Object, np.object_):
        return {type(cell) for cell in distinct(cells)} == {bool}
    return bool(cells.dtype == (nw.Boolean if isinstance(cells, nw.Series) else np.bool_))


def moment_parts(series: nw.Series[Any]) -> dict[str, Values]:
    """Return what is made of dates: the day, year, month and so on; of a duration, its seconds."""
    if isinstance(series.dtype, nw.Duration):
        return {"": numbers_of(series.dt.total_microseconds() / 1e6)}
    zoned = isinstance(series.dtype, nw.Datetime) and series.dtype.time_zone is not None
    clock = series.dt.replace_time_zone(None) if zoned else series
    days = clock.cast(nw.Datetime("ms")).dt.timestamp("ms") / MILLISECONDS - DAYS_BEFORE
    parts = {DATE: days, "year": clock.dt.year(), "month": clock.dt.month()}
    parts["weekday"] = clock.dt.weekday()
    if isinstance(series.dtype, nw.Datetime):
        parts[HOUR] = clock.dt.hour()
    return {part: numbers_of(own) for part, own in parts.items()}


def numbers_of(series: Any) -> Values:
    """Convert a column of numbers or booleans; nulls become NaN."""
    if isinstance(series, np.ndarray) and series.dtype.kind != "O":
        return series if series.dtype == np.float32 else series.astype(np.float64, copy=False)
    if isinstance(series, np.ndarray):
        return object_numbers(series)
    if series.dtype == nw.Float32 and series.null_count() == 0:
        return np.asarray(series.to_numpy(), dtype=np.float32)
    if series.dtype.is_integer() and series.dtype not in WIDE:  # Arrow's cast refuses 2**53 + 1
        absent = np.asarray(series.is_null().to_numpy(), dtype=np.bool_)
        column = np.asarray(series.fill_null(0).to_numpy(), dtype=np.float64)
        return np.where(absent, np.nan, column)
    if series.dtype.is_float() or series.dtype == nw.Boolean or series.dtype in WIDE:
        return np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)
    return object_numbers(series)


def object_numbers(cells: Any) -> NDArray[np.float64]:
    """Convert cells that are numbers, each of its own type, or missing."""
    held = [np.nan if is_missing(cell) else cell for part in pieces(cells) for cell in part]
    return np.array(held, dtype=np.float64)
