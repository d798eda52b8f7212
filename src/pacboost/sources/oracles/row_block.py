"""Rows in memory with their labels: arrays, sparse matrices, data frames and Arrow tables.

Only selected rows are converted and checked. They are always copied, so that a batch does not keep
its block in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.arrow import ArrowColumn, ArrowTable, doubles, memory, one_chunk
from pacboost.sources.dataframe import WIDE, is_frame, numbers_of, open_frame
from pacboost.sources.given import GivenRows, GivenTable
from pacboost.sources.optional import need
from pacboost.sources.oracles.files import features
from pacboost.sources.oracles.learned_columns import LearnedColumns
from pacboost.sources.rows import Rows
from pacboost.sources.sparse import SparseTable, checked_matrix
from pacboost.sources.table import FINITE, Table, refuse_text
from pacboost.sources.values import Values, is_missing

NO_LABEL = "has no label. Drop rows without a label."


def distinct(pieces: Iterable[NDArray[Any]]) -> NDArray[Any]:
    """Return the sorted distinct labels.

    Labels that are already in the result are skipped before sorting, which is faster for few
    classes.
    """
    labels = np.empty(0)
    for piece in pieces:
        new = piece[~np.isin(piece, labels)] if labels.size else piece
        try:
            labels = np.unique(np.concatenate([labels, new]) if labels.size else new)
        except TypeError as problem:
            raise DataError(
                f"the labels have types that cannot be compared ({problem}). Make them all "
                "numbers, or all text."
            ) from problem
    return labels


def first_missing(labels: NDArray[Any]) -> int | None:
    """Return the index of the first missing label, or None."""
    if labels.dtype.kind == "f":
        missing = np.isnan(labels)
    elif labels.dtype.kind == "O":
        missing = np.fromiter(map(is_missing, labels), np.bool_, labels.size)
    else:
        return None
    return int(missing.argmax()) if missing.any() else None


Numbers = NDArray[np.int64]
FLOATS = (np.float32, np.float64)
NARROW = ("float", "float32", "halffloat", "bool", "boolean", "int8", "uint8", "int16", "uint16")
"""Names in Arrow, NumPy and narwhals of types whose values fit into 32-bit floats."""
NUMBERS = (*NARROW, "double", "int32", "uint32", "int64", "uint64", "null")


def is_number(kind: object) -> bool:
    """Check whether an Arrow type is numeric, or null."""
    return str(kind) in NUMBERS or str(kind).startswith("decimal")


class BadCell(Exception):  # noqa: N818 - an oracle adds the position and raises DataError
    """A cell that cannot be used; ``row`` is an index into the selected rows."""

    def __init__(self, row: int, complaint: str) -> None:
        super().__init__(complaint)
        self.row = row


class RowBlock:
    """Rows with their labels: a matrix, a sparse matrix, or a mapping of named columns.

    Columns are NumPy arrays, narwhals series or Arrow columns; only selected rows are converted.
    Rows are float32 if the types of all columns fit into it, else float64; rows of a sparse matrix
    stay sparse.

    >>> held = RowBlock(np.array([[1, 2], [3, 4], [5, 6]]), np.array(["a", "b", "c"]))
    >>> held.take(np.array([2, 0]))[0].rows().tolist()
    [[5.0, 6.0], [1.0, 2.0]]
    >>> pa = need("pyarrow")
    >>> table = pa.table({"a": [1.5, None, 2.5], "b": [True, False, None], "y": ["n", "y", "n"]})
    >>> numbers, labels = hold_arrow(table, "y").take(np.array([2, 1]))
    >>> numbers.rows().tolist(), labels.tolist()
    ([[2.5, nan], [nan, 0.0]], ['n', 'y'])
    """

    def __init__(
        self,
        values: Any,
        labels: Any,
        names: tuple[str, ...] | None = None,
        nbytes: int = 0,
        learned: LearnedColumns | None = None,
    ) -> None:
        """``learned`` says how columns that are no numbers are read; None if there are none."""
        self._cells: Mapping[str, Any] = {}
        self._learned = learned
        self._array: Any = None
        self._columns: list[Any] = []
        self._given: GivenTable | None = None
        self._dtype: Any = np.float64
        self.matrix: Any = None
        self._labels, self.names, self.n_rows = labels, names, len(labels)
        if learned is not None:
            self._cells = {name: values[name] for name in learned.sources}
            self.names, self.n_columns, self.nbytes = learned.names, len(learned.names), nbytes
        elif isinstance(values, Mapping):
            self.names, self._columns = tuple(values), list(values.values())
            self.n_columns, self.nbytes = len(self._columns), nbytes
            kinds = (getattr(column, "dtype", None) or column.type for column in self._columns)
            narrow = all(str(kind).lower() in NARROW for kind in kinds)
            self._dtype = np.float32 if narrow else np.float64
        elif isinstance(values, GivenRows):
            self._given = values.table()
            self.names, self.n_columns = self._given.names, self._given.n_columns
            self.nbytes = 8 * self.n_rows * self.n_columns
        elif hasattr(values, "tocsr"):
            self.matrix = checked_matrix(values).tocsr()
            parts = (self.matrix.data, self.matrix.indices, self.matrix.indptr)
            self.n_columns, self.nbytes = values.shape[1], sum(part.nbytes for part in parts)
        else:
            self._array = values
            self.n_columns, self.nbytes = values.shape[1], values.nbytes

    @property
    def in_place(self) -> Values | None:
        """The examples, if they are stored as a C-contiguous matrix of floats."""
        array = self._array
        is_direct = array is not None and array.dtype in FLOATS and array.flags.c_contiguous
        return array if is_direct else None

    def table(self, rows: Numbers) -> Table:
        """Copy some rows; raise BadCell if one cannot be used."""
        if self._learned is not None:
            some = {name: taken(cells, rows) for name, cells in self._cells.items()}
            return self._learned.table(some, lambda row: f"row {rows[row]} of its block")
        if self._given is not None:
            return self._given.take(rows)
        if self.matrix is not None:
            stored = self.matrix[rows]
            bad = np.flatnonzero(np.isinf(stored.data))
            if bad.size:
                row = int(np.searchsorted(stored.indptr, bad[0], side="right")) - 1
                place = row, int(stored.indices[bad[0]])
                raise self._bad(place, f"{stored.data[bad[0]]}; {FINITE}")
            return SparseTable(stored)
        values = self._picked(rows)
        infinite = np.isinf(values)
        if infinite.any():
            cell = np.unravel_index(int(infinite.argmax()), infinite.shape)
            raise self._bad(tuple(map(int, cell)), f"{values[cell]}; {FINITE}")
        return ArrayTable(values, self.names)

    def _picked(self, rows: Numbers) -> Values:
        array = self._array
        if array is None:
            values: Values = np.empty((self.n_columns, rows.size), self._dtype)
            for column, out in zip(self._columns, values, strict=True):
                out[:] = _values(taken(column, rows))
            return values.T
        picked: Any
        if array.flags.f_contiguous and not array.flags.c_contiguous:
            picked = np.take(array.T, rows, axis=1).T  # in memory order
        else:
            picked = np.take(array, rows, axis=0)
        if picked.dtype.kind != "O":
            floats: Values = picked if picked.dtype in FLOATS else picked.astype(np.float64)
            return floats
        values = np.empty(picked.shape)
        for place, cell in np.ndenumerate(picked):
            try:
                values[place] = np.nan if is_missing(cell) else cell
            except (TypeError, ValueError) as problem:
                raise self._bad(place, f"{cell!r}, which is not a number") from problem
        return values

    def take(self, rows: Numbers) -> tuple[Table, NDArray[Any]]:
        """Copy some rows and their labels; raise BadCell if one cannot be used."""
        return self.table(rows), self.labels(rows)

    def labels(self, rows: Numbers | slice | None = None) -> NDArray[Any]:
        """Copy some labels, or all; raise BadCell if one is missing."""
        everything = slice(0, self.n_rows)  # narwhals 2.0 refuses slice(None)
        labels = plain_labels(taken(self._labels, everything if rows is None else rows))
        missing = first_missing(labels)
        if missing is not None:
            raise BadCell(missing, NO_LABEL)
        return labels

    def _bad(self, place: tuple[int, ...], complaint: str) -> BadCell:
        row, column = place
        shown = column if self.names is None else repr(self.names[column])
        return BadCell(row, f"column {shown} holds {complaint}")


def taken(column: Any, rows: Numbers | slice) -> Any:
    """Select cells of a column of any type."""
    if isinstance(column, np.ndarray | nw.Series) or isinstance(rows, slice):
        return column[rows]
    pa = need("pyarrow")
    return column.take(pa.Array.from_buffers(pa.int64(), rows.size, [None, pa.py_buffer(rows)]))


def _values(column: NDArray[Any] | nw.Series[Any] | ArrowColumn) -> NDArray[Any]:
    """Convert a column to an array of numbers."""
    if isinstance(column, np.ndarray):
        return column
    return numbers_of(column) if isinstance(column, nw.Series) else doubles(column)


def hold_arrow(
    table: ArrowTable,
    target: str,
    labels: NDArray[Any] | None = None,
    learned: LearnedColumns | None = None,
) -> RowBlock:
    """Make rows of an Arrow table with a column of labels, or with labels converted before.

    A numeric column without missing values is not copied.
    """
    label_column = encoded(table.column(target)) if labels is None else labels
    features = table.drop_columns([target])
    columns = dict(zip(features.column_names, map(_in_place, features.columns), strict=True))
    nbytes = features.nbytes + label_column.nbytes
    return RowBlock(columns, label_column, nbytes=nbytes, learned=learned)


def _in_place(column: ArrowColumn) -> Any:
    kind = str(column.type)
    is_direct = kind in NUMBERS and kind not in {"bool", "null"} and column.null_count == 0
    return memory(column) if is_direct else column


def plain_labels(
    column: Any, reader: Callable[[list[str]], NDArray[Any]] = np.array
) -> NDArray[Any]:
    """Convert labels to an array; Arrow text is converted once for each distinct value."""
    if isinstance(column, np.ndarray):
        return column
    series = isinstance(column, nw.Series)
    if column.null_count() if series else column.null_count:  # for the error message
        return np.array(column.to_list() if series else column.to_pylist(), dtype=object)
    if series:
        is_number_column = column.dtype.is_numeric() or column.dtype == nw.Boolean
        return np.asarray(column.to_numpy()) if is_number_column else np.array(column.to_list())
    if str(column.type) == "bool":
        return memory(column.cast("uint8")).astype(np.bool_)
    if str(column.type) in NUMBERS:
        return memory(column).copy()
    parts = one_chunk(encoded(column))
    labels: NDArray[Any] = reader(parts.dictionary.to_pylist())[memory(parts.indices)]
    return labels


def encoded(column: ArrowColumn) -> Any:
    """Return a column dictionary-encoded, unless it is numeric."""
    if is_number(column.type) or str(column.type).startswith("dictionary"):
        return column
    return column.dictionary_encode()


def hold(X: Any, y: Any, learned: LearnedColumns | None = None) -> RowBlock:
    """Make rows of examples and labels of any type, without converting them."""
    is_series = isinstance(nw.from_native(y, pass_through=True, series_only=True), nw.Series)
    labels = nw.from_native(y, series_only=True) if is_series else np.asarray(y)
    by_columns, is_given = is_frame(X), isinstance(X, GivenRows)
    if not (by_columns or is_given or hasattr(X, "tocsr")):
        X = _matrix(X)
    if isinstance(labels, np.ndarray) and labels.ndim != 1:
        raise DataError(f"the labels have shape {labels.shape}; give one label for each row")
    rows = Rows.of(X).count
    if len(labels) != rows:
        raise DataError(
            f"there are {rows} rows but {len(labels)} labels; give one label for each row"
        )
    return _hold_columns(X, labels, learned=learned) if by_columns else RowBlock(X, labels)


def _matrix(X: object) -> NDArray[Any]:
    try:
        array = np.asarray(X)
    except ValueError as problem:
        raise DataError(f"the examples are not a table of numbers: {problem}") from problem
    if array.ndim != 2:
        raise DataError(
            f"the examples have shape {array.shape}; two dimensions are needed, a row for each "
            "example and a column for each feature"
        )
    if array.dtype.kind not in "fiubO":
        kind = "text" if array.dtype.kind in "UTS" else str(array.dtype)
        raise DataError(
            f"the examples are an array of {kind}; they must be numbers. Encode text as "
            "numbers (for example with scikit-learn's OrdinalEncoder or OneHotEncoder)."
        )
    return array


def hold_frame(
    frame: object,
    target: str,
    drop: Collection[str],
    where: str,
    learned: LearnedColumns | None = None,
) -> RowBlock:
    """Make rows of a data frame with a column of labels."""
    X, y = split_frame(frame, target, drop, where)
    return _hold_columns(X, y, int(open_frame(frame).estimated_size()), learned)


def are_numbers(X: object) -> bool:
    """Check whether all columns of a data frame are numbers or booleans."""
    return all(kind.is_numeric() or kind == nw.Boolean for kind in open_frame(X).schema.values())


def arrow_table(X: object) -> ArrowTable:
    """Return a data frame as an Arrow table."""
    table: ArrowTable = open_frame(X).to_arrow()
    return table


def _hold_columns(
    X: object, labels: object, nbytes: int = 0, learned: LearnedColumns | None = None
) -> RowBlock:
    """Make rows of a data frame of pandas, polars or Arrow; without ``learned``, of numbers."""
    frame = open_frame(X)
    names, kinds = [str(name) for name in frame.columns], frame.schema.values()
    columns: dict[str, Any] = {name: frame[:, j] for j, name in enumerate(names)}
    if learned is not None:
        return RowBlock(columns, labels, nbytes=nbytes, learned=learned)
    numbers = [kind.is_numeric() or kind == nw.Boolean for kind in kinds]
    if not all(numbers):
        raise refuse_text([name for name, number in zip(names, numbers, strict=True) if not number])
    for name, series in columns.items():
        native, has_numpy_type = series.to_native(), series.dtype not in WIDE
        if isinstance(getattr(native, "dtype", None), np.dtype):  # pandas
            columns[name] = series.to_numpy()
        elif has_numpy_type and getattr(native, "n_chunks", lambda: 2)() == 1:  # polars
            columns[name] = _in_place(series.to_arrow())
        elif getattr(native, "num_chunks", 2) == 1:  # Arrow
            columns[name] = _in_place(native)
    return RowBlock(columns, labels, nbytes=nbytes)


def split_frame(
    frame: object, target: str, drop: Collection[str] = (), where: str = "the data frame"
) -> tuple[Any, nw.Series[Any]]:
    """Split a data frame into features and labels."""
    opened = open_frame(frame)
    every = [str(name) for name in opened.columns]  # pandas allows numbers as names
    names, places = features(every, target, drop, where), {name: j for j, name in enumerate(every)}
    columns = opened[:, [places[name] for name in names]]
    return columns.to_native(), opened[:, places[target]]
