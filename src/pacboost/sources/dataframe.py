"""Data frames of any library, read through narwhals: their columns and the type of each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError
from pacboost.sources.values import Values, distinct, is_missing, is_unicode, pieces

WIDE = (nw.Int128, nw.UInt128)
"""Integer types that NumPy lacks."""
MAX_CELLS_TO_COPY = 4_000_000
"""Up to this size, copying a pandas frame is faster than reading it column by column."""


class Storage(Enum):
    """How a library stores the cells of a column; what they mean is its kind (sources/kinds)."""

    NUMBERS = 0
    TEXT = 1
    MOMENTS = 2
    DURATIONS = 3
    CATEGORIES = 4
    UNSUPPORTED = 5


def is_frame(data: object) -> bool:
    """Check whether narwhals reads this as an eager data frame."""
    if isinstance(data, np.ndarray | list):  # asking narwhals takes a tenth of a millisecond
        return False
    if _is_plain_pandas(data):
        return True
    try:
        return isinstance(nw.from_native(data, pass_through=True, eager_only=True), nw.DataFrame)
    except nw.exceptions.DuplicateError as problem:
        raise _refuse_doubled(problem) from problem


def open_frame(data: object) -> nw.DataFrame[Any]:
    """Open a data frame with narwhals; column names must be distinct and valid Unicode."""
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
    """Check whether this is a pandas frame with distinct column names."""
    return nw.dependencies.is_pandas_dataframe(data) and data.columns.is_unique


def _refuse_names(names: Iterable[Any]) -> None:
    for number, name in enumerate(names):
        if not is_unicode(str(name)):
            raise DataError(
                f"the name of column {number} is {name!a}, which is not valid Unicode and "
                "could not be written to a file; rename the column"
            )


def _dense(data: Any) -> Any:
    """Convert the sparse columns of a pandas frame, which narwhals cannot read, to dense ones."""
    kinds = zip(data.columns.tolist(), data.dtypes.tolist(), strict=True)
    sparse = {n: k.subtype for n, k in kinds if hasattr(k, "fill_value") and hasattr(k, "subtype")}
    return data.astype(sparse) if sparse else data


def _refuse_doubled(problem: Exception) -> DataError:
    reason = " ".join(str(problem).split())
    return DataError(f"column names must differ: {reason}. Rename or drop the columns")


def columns_of(data: Any) -> dict[str, Any]:
    """Return a mapping from the names of columns to their cells."""
    if _is_plain_pandas(data) and data.size <= MAX_CELLS_TO_COPY:
        names = data.columns.tolist()
        _refuse_names(names)
        columns = _columns_of_pandas(_dense(data))
    else:
        frame = open_frame(data)
        names = frame.columns
        columns = dict(zip(map(str, names), frame.iter_columns(), strict=True))
    if len(columns) < len(names):
        raise DataError(f"column names must differ as text: {names}")
    return columns


def _columns_of_pandas(data: Any) -> dict[str, Any]:
    """Return the columns; numeric ones are converted together, which is faster than one by one."""
    kinds = data.dtypes.tolist()
    names = list(map(str, data.columns.tolist()))
    columns: dict[str, Any] = dict.fromkeys(names)
    for kind in {k for k in kinds if isinstance(k, np.dtype) and k.kind in "biuf"}:
        places = [j for j, column_kind in enumerate(kinds) if column_kind == kind]
        some = data if len(places) == len(kinds) else data.iloc[:, places]
        columns |= zip(
            (names[j] for j in places), np.array(some.to_numpy().T, order="C"), strict=True
        )
    rest = [j for j, name in enumerate(names) if columns[name] is None]
    others = nw.from_native(data.iloc[:, rest], eager_only=True).iter_columns() if rest else ()
    return columns | dict(zip((names[j] for j in rest), others, strict=True))


def to_frame(columns: Mapping[str, Any], backend: str) -> Any:
    """Return columns as a data frame of pandas, polars or pyarrow."""
    return nw.from_dict(columns, backend=backend).to_native()  # type: ignore[arg-type]


def storage_of(cells: Any, *, asked: bool = True) -> Storage:
    """Return how a column is stored, by its type, or by its cells if the type is too general.

    Unless ``asked``, a categorical column is not checked for being all missing.
    """
    if isinstance(cells, nw.Series) and cells.dtype != nw.Object:
        return _storage_of_series(cells, asked)
    if isinstance(cells, np.ndarray) and cells.dtype.kind in "biuf":
        return Storage.NUMBERS
    types = {type(cell) for part in pieces(cells) for cell in part if not is_missing(cell)}
    if all(issubclass(one, bool | int | float | np.number) for one in types):
        return Storage.NUMBERS
    return Storage.TEXT if all(issubclass(one, str) for one in types) else Storage.CATEGORIES


def _storage_of_series(cells: nw.Series[Any], asked: bool) -> Storage:
    kind = cells.dtype
    is_category = isinstance(kind, nw.Categorical | nw.Enum)
    if kind.is_numeric() or kind == nw.Boolean:
        return Storage.NUMBERS
    if (asked or not is_category) and cells.null_count() == len(cells):
        return Storage.NUMBERS
    if is_category:
        return Storage.CATEGORIES
    if isinstance(kind, nw.Date | nw.Datetime):
        return Storage.MOMENTS
    if isinstance(kind, nw.Duration):
        return Storage.DURATIONS
    return Storage.TEXT if kind == nw.String else Storage.UNSUPPORTED


def are_truths(cells: Any) -> bool:
    """Check whether a column holds only booleans."""
    if cells.dtype in (nw.Object, np.object_):
        return {type(cell) for cell in distinct(cells)} == {bool}
    return bool(cells.dtype == (nw.Boolean if isinstance(cells, nw.Series) else np.bool_))


def numbers_of(series: Any) -> Values:
    """Convert numbers or booleans to floats, durations to seconds; nulls become NaN."""
    if isinstance(series, np.ndarray) and series.dtype.kind != "O":
        return series if series.dtype == np.float32 else series.astype(np.float64, copy=False)
    if isinstance(series, np.ndarray):
        return object_numbers(series)
    if isinstance(series.dtype, nw.Duration):
        series = series.dt.total_microseconds() / 1e6
    if series.dtype == nw.Float32 and series.null_count() == 0:
        return np.asarray(series.to_numpy(), dtype=np.float32)
    if series.dtype.is_integer() and series.dtype not in WIDE:  # Arrow's cast refuses 2**53 + 1
        absent = np.asarray(series.is_null().to_numpy(), dtype=np.bool_)
        column = np.asarray(series.fill_null(0).to_numpy(), dtype=np.float64)
        return np.where(absent, np.nan, column)
    if series.dtype.is_float() or series.dtype == nw.Boolean or series.dtype in WIDE:
        return np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)
    return object_numbers(series)


def object_numbers(cells: object) -> NDArray[np.float64]:
    """Convert a column of Python numbers of mixed types; missing cells become NaN."""
    values = [np.nan if is_missing(cell) else cell for part in pieces(cells) for cell in part]
    return np.array(values, dtype=np.float64)
