"""Rows that lie in memory, and how some of them are picked out: arrays, sparse matrices, frames.

Only the rows that are picked are converted and checked. What is picked is always a copy: a batch
that somebody keeps does not keep the block it came from.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.dataframe import is_frame, numbers_of, open_frame
from pacboost.sources.levels import is_missing
from pacboost.sources.sparse import SparseTable
from pacboost.sources.table import FINITE, Table, Values, refuse_text

# Which columns of a source are features, and whether several files agree on them.

INDEX = "__index_level_"
"""How pandas names the columns in which it stores the index of a frame: they are no features."""


def features(
    names: Sequence[str], target: str, drop: Collection[str] = (), where: str = "the source"
) -> tuple[str, ...]:
    """Return the columns that are neither the target nor dropped.

    >>> features(["id", "a", "y", "b"], "y", drop=["id"])
    ('a', 'b')
    """
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise DataError(f"{where}: names these columns twice: {', '.join(twice)}")
    for name in (target, *drop):
        if name not in names:
            raise DataError(
                f"{where}: has no column {name!r}; its columns are {', '.join(map(repr, names))}"
            )
    left = {target, *drop}
    kept = tuple(name for name in names if name not in left and not name.startswith(INDEX))
    if not kept:
        raise DataError(f"{where}: has no column but {', '.join(map(repr, names))}: no feature")
    return kept


def refuse_other(
    names: Collection[str], where: str, expected: Collection[str], elsewhere: str
) -> None:
    """Raise if a file has other features than another; their order has no part in it."""
    lacking = [name for name in expected if name not in set(names)]
    besides = [name for name in names if name not in set(expected)]
    if lacking or besides:
        differences = [
            f"{word} {', '.join(map(repr, some[:5]))}{', …' if len(some) > 5 else ''}"
            for word, some in (("lacks", lacking), ("has besides", besides))
            if some
        ]
        raise DataError(
            f"{where}: has other columns than {elsewhere}: it {' and '.join(differences)}. All "
            "files of a source have the same columns; drop those that some lack."
        )


# Labels: which there are, found a piece at a time, and which are missing.

NO_LABEL = "has no label. Rows without one teach nothing: drop them."


def distinct(pieces: Iterable[NDArray[Any]]) -> NDArray[Any]:
    """Return the distinct labels, sorted.

    Labels already known are passed over by comparing, which for few classes takes a small part of
    the time of sorting.

    >>> distinct([np.array([2, 1, 2]), np.array([0, 1])]).tolist()
    [0, 1, 2]
    """
    known = np.empty(0)
    for piece in pieces:
        new = piece[~np.isin(piece, known)] if known.size else piece
        try:
            known = np.unique(np.concatenate([known, new]) if known.size else new)
        except TypeError as problem:
            raise DataError(
                f"the labels are of kinds that cannot be compared ({problem}). Make them all "
                "numbers, or all text."
            ) from problem
    return known


def first_missing(labels: NDArray[Any]) -> int | None:
    """Return the place of the first label that is missing.

    >>> first_missing(np.array([1.0, np.nan]))
    1
    """
    if labels.dtype.kind == "f":
        missing = np.isnan(labels)
    elif labels.dtype.kind == "O":
        missing = np.fromiter(map(is_missing, labels), np.bool_, labels.size)
    else:
        return None
    return int(missing.argmax()) if missing.any() else None


Rows = NDArray[np.int64]
HALVES = (nw.Float32, nw.Boolean, nw.Int8, nw.UInt8, nw.Int16, nw.UInt16)
"""The kinds of columns whose values are all 32-bit floats."""


class BadCell(Exception):  # noqa: N818 - for the oracle, which knows the place and raises the error
    """A cell of a picked row cannot be used; ``row`` counts the rows picked."""

    def __init__(self, row: int, complaint: str) -> None:
        super().__init__(complaint)
        self.row = row


class Held(ABC):
    """Rows with their labels, held in memory."""

    names: tuple[str, ...] | None = None
    n_rows: int
    n_columns: int
    nbytes: int

    def __init__(self, labels: Any) -> None:
        self._labels = labels

    @property
    def in_place(self) -> Values | None:
        """The examples as a matrix of floats, a row after the other, if they are held as one."""
        return None

    @abstractmethod
    def table(self, rows: Rows) -> Table:
        """Copy some rows."""

    def column(self, column: int) -> NDArray[Any]:
        """Return all values of a column as they are: nothing is checked."""
        return self.table(np.arange(self.n_rows)).column(column)

    def take(self, rows: Rows) -> tuple[Table, NDArray[Any]]:
        """Copy some rows and their labels; raise BadCell if one cannot be used."""
        return self.table(rows), self.labels(rows)

    def labels(self, rows: Rows | slice | None = None) -> NDArray[Any]:
        """Copy some labels, or all; raise BadCell if one is missing."""
        everything = slice(0, self.n_rows)  # narwhals 2.0 refuses slice(None)
        labels = self._picked_labels(everything if rows is None else rows)
        missing = first_missing(labels)
        if missing is not None:
            raise BadCell(missing, NO_LABEL)
        return labels

    def _picked_labels(self, rows: Rows | slice) -> NDArray[Any]:
        picked: Any = self._labels[rows]
        return _plain(picked) if isinstance(picked, nw.Series) else np.asarray(picked)

    def shown(self, column: int) -> str:
        """What to call a column in complaints."""
        return f"column {column}" if self.names is None else f"column {self.names[column]!r}"

    def _finite(self, values: Values) -> None:
        bad = np.isinf(values)
        if bad.any():
            row, column = np.unravel_index(int(bad.argmax()), bad.shape)
            raise BadCell(
                int(row), f"{self.shown(int(column))} holds {values[row, column]}; {FINITE}"
            )


class HeldArray(Held):
    """A two-dimensional array of numbers; rows come as float32 if it holds that, else as float64.

    >>> held = HeldArray(np.array([[1, 2], [3, 4], [5, 6]]), np.array(["a", "b", "c"]))
    >>> held.take(np.array([2, 0]))[0].rows().tolist()
    [[5.0, 6.0], [1.0, 2.0]]
    """

    def __init__(
        self, array: NDArray[Any], labels: Any, names: tuple[str, ...] | None = None
    ) -> None:
        super().__init__(labels)
        if array.dtype.kind not in "fiubO":
            kind = "text" if array.dtype.kind in "UTS" else str(array.dtype)
            raise DataError(
                f"the examples are an array of {kind}; they have to be numbers. Encode text as "
                "numbers (for example with scikit-learn's OrdinalEncoder or OneHotEncoder)."
            )
        self._array = array
        self._by_column = array.flags.f_contiguous and not array.flags.c_contiguous
        self.n_rows, self.n_columns = array.shape
        self.names, self.nbytes = names, array.nbytes

    @property
    def in_place(self) -> Values | None:
        plain = self._array.dtype in (np.float32, np.float64) and self._array.flags.c_contiguous
        return self._array if plain else None

    def table(self, rows: Rows) -> Table:
        """Copy row by row or column by column, as the array lies in memory."""
        if self._by_column:
            picked = np.take(self._array.T, rows, axis=1).T
        else:
            picked = np.take(self._array, rows, axis=0)
        values: Values = picked
        if picked.dtype not in (np.float32, np.float64):
            values = self._numbers(picked)
        self._finite(values)
        return ArrayTable(values, self.names)

    def column(self, column: int) -> NDArray[Any]:
        values = self._array[:, column]
        return values if values.dtype.kind != "O" else super().column(column)

    def _numbers(self, picked: NDArray[Any]) -> NDArray[np.float64]:
        if picked.dtype.kind != "O":
            return picked.astype(np.float64)
        values = np.empty(picked.shape)
        for place, cell in np.ndenumerate(picked):
            try:
                values[place] = np.nan if is_missing(cell) else cell
            except (TypeError, ValueError) as problem:
                complaint = f"{self.shown(place[1])} holds {cell!r}, which is no number"
                raise BadCell(place[0], complaint) from problem
        return values


class HeldSparse(Held):
    """A SciPy sparse matrix; rows stay sparse."""

    def __init__(self, matrix: Any, labels: Any) -> None:
        super().__init__(labels)
        self.matrix = matrix.tocsr()
        self.n_rows, self.n_columns = matrix.shape
        parts = (self.matrix.data, self.matrix.indices, self.matrix.indptr)
        self.nbytes = sum(part.nbytes for part in parts)

    def table(self, rows: Rows) -> Table:
        picked = self.matrix[rows]
        bad = np.isinf(picked.data)
        if bad.any():
            cell = int(bad.argmax())
            row = int(np.searchsorted(picked.indptr, cell, side="right")) - 1
            column = self.shown(int(picked.indices[cell]))
            raise BadCell(row, f"{column} holds {picked.data[cell]}; {FINITE}")
        return SparseTable(picked)


class HeldColumns(Held):
    """Columns of numbers; rows come as float32 if every kind of column loses nothing by that."""

    _dtype: type[np.float32 | np.float64]

    @abstractmethod
    def _picked(self, rows: Rows) -> Iterator[NDArray[Any]]:
        """Return some rows of every column."""

    def table(self, rows: Rows) -> Table:
        values: Any = np.empty((self.n_columns, rows.size), dtype=self._dtype)
        for out, column in zip(values, self._picked(rows), strict=True):
            out[:] = column
        self._finite(values.T)
        return ArrayTable(values.T, self.names)


class HeldFrame(HeldColumns):
    """A data frame of numbers and booleans: pandas, polars or Arrow."""

    def __init__(self, frame: Any, labels: Any, nbytes: int = 0) -> None:
        super().__init__(labels)
        self._frame = open_frame(frame)
        self.n_rows, self.n_columns = self._frame.shape
        self.names = tuple(str(name) for name in self._frame.columns)
        kinds = self._frame.schema.values()
        text = [
            name
            for name, kind in zip(self.names, kinds, strict=True)
            if not (kind.is_numeric() or kind == nw.Boolean)
        ]
        if text:
            raise refuse_text(text)
        self._dtype = np.float32 if all(kind in HALVES for kind in kinds) else np.float64
        self.nbytes = nbytes

    def column(self, column: int) -> NDArray[Any]:
        return numbers_of(self._frame[:, column])

    def _picked(self, rows: Rows) -> Iterator[NDArray[Any]]:
        picked = self._frame[rows, :]
        return (numbers_of(picked[:, j]) for j in range(self.n_columns))


def hold(X: Any, y: Any) -> Held:
    """Hold examples and their labels as they came."""
    is_series = isinstance(nw.from_native(y, pass_through=True, series_only=True), nw.Series)
    labels = nw.from_native(y, series_only=True) if is_series else np.asarray(y)
    held: Held
    if is_frame(X):
        held = HeldFrame(X, labels)
    elif hasattr(X, "tocsr"):
        held = HeldSparse(X, labels)
    else:
        array = _array(X)
        if array.ndim != 2:
            raise DataError(
                f"the examples have shape {array.shape}; two dimensions are needed, a row for each "
                "example and a column for each feature"
            )
        held = HeldArray(array, labels)
    if isinstance(labels, np.ndarray) and labels.ndim != 1:
        raise DataError(f"the labels have shape {labels.shape}; one label for each row is needed")
    if len(labels) != held.n_rows:
        raise DataError(f"there are {held.n_rows} rows but {len(labels)} labels; give one for each")
    return held


def _array(X: Any) -> NDArray[Any]:
    try:
        return np.asarray(X)
    except ValueError as problem:
        raise DataError(f"the examples are no table of numbers: {problem}") from problem


def hold_frame(frame: Any, target: str, drop: Collection[str], where: str) -> HeldFrame:
    """Hold a data frame, one of whose columns is the labels."""
    X, y = split_frame(frame, target, drop, where)
    return HeldFrame(X, y, int(open_frame(frame).estimated_size()))


def split_frame(
    frame: Any, target: str, drop: Collection[str] = (), where: str = "the data frame"
) -> tuple[Any, nw.Series[Any]]:
    """Split a data frame into features and labels."""
    opened = open_frame(frame)
    names = features([str(name) for name in opened.columns], target, drop, where)
    every = [str(name) for name in opened.columns]  # those of pandas may be numbers
    kept = opened[:, [every.index(name) for name in names]]
    return kept.to_native(), opened[:, every.index(target)]


def _plain(series: nw.Series[Any]) -> NDArray[Any]:
    if series.null_count():
        return np.array(series.to_list(), dtype=object)  # for the complaint about a missing one
    if series.dtype.is_numeric() or series.dtype == nw.Boolean:
        return np.asarray(series.to_numpy())
    return np.array(series.to_list())
