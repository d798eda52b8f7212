"""Rows as they came, for learners and rules that are black boxes.

A function of rows gets the rows of the user: texts, mappings, graphs, data frames or images. All
other code needs numbers, to compare rows and to name columns: the columns of arrays and frames, or
hashes of the content of other rows.

>>> rows = GivenRows.of([{"word": "good"}, {"word": "bad"}, {"word": "good"}])
>>> rows.take(np.array([0, 2])).given
[{'word': 'good'}, {'word': 'good'}]
>>> table = rows.table()
>>> (table.column(0)[[0, 0]] == table.column(0)[[1, 2]]).tolist(), table.rows() is rows.given
([False, True], True)
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any, Self

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.dataframe import numbers_of, open_frame
from pacboost.sources.rows import FrameRows, Numbers, PlainRows, Rows, SparseRows, TableRows
from pacboost.sources.sparse import SparseTable
from pacboost.sources.table import Table
from pacboost.sources.values import Values, is_missing

HASHES = 3
"""Columns of 24 bits for the content of a row: they pass unchanged through 32-bit floats."""


class GivenRows(Rows):
    """Rows that stay as they came; their cells are numbers, or hashes of what is none."""

    def __init__(self, rows: Rows, numbers: Table | None = None) -> None:
        super().__init__(rows.given)
        self._rows, self._table = rows, numbers

    @classmethod
    def of(cls, X: Any) -> GivenRows:
        """Find the form of rows that came for a black box."""
        if isinstance(X, GivenRows):
            return X
        rows = Rows.of(X)
        if isinstance(rows, TableRows):  # of a file
            return cls(Rows.of(_from_table(rows.given)), rows.given)
        if isinstance(rows.given, np.ndarray | list) or isinstance(rows, FrameRows):
            return cls(rows)
        series = nw.from_native(rows.given, pass_through=True, series_only=True)
        return cls(PlainRows(series.to_list())) if isinstance(series, nw.Series) else cls(rows)

    @property
    def unread(self) -> GivenRows:
        """These rows, so that nobody asks again what they are."""
        return self

    @property
    def count(self) -> int:
        return self._rows.count

    def take(self, rows: Numbers) -> GivenRows:
        numbers = None if self._table is None else self._table.take(rows)
        return GivenRows(self._rows.take(rows), numbers)

    def cells(self) -> Iterator[NDArray[Any]]:
        table = self.table()
        for number in range(table.n_columns):
            yield table.column(number)

    def table(self) -> GivenTable:
        """Return the rows as a table whose columns stand for them."""
        if not self.count:
            raise DataError("X has no rows; at least one is needed")
        if self._table is None:
            self._table = self._numbers()
        return GivenTable(self._rows, self._table)

    def like(
        self, columns: int, names: tuple[str, ...] | None, shape: tuple[int, ...], owner: str
    ) -> Table:
        """Return the table of rows that must have the columns, or the shape, of other rows."""
        if isinstance(self._rows, FrameRows) and names is not None:
            frame = open_frame(self.given)
            if missing := [name for name in names if name not in frame.columns]:
                raise DataError(
                    "The feature names should match those that were passed during fit: got "
                    f"{', '.join(map(str, frame.columns))}; missing are {', '.join(missing)}"
                )
            if list(names) != frame.columns:
                return GivenRows(FrameRows(frame.select(names).to_native())).table()
        table = self.table()
        if self.shape != shape or table.n_columns != columns:
            raise DataError(
                f"the rows of X have shape {self.shape or table.n_columns}, but {owner} was fitted "
                f"to rows of shape {shape or columns}"
            )
        return table

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of a row, if rows are an array; else ()."""
        return tuple(getattr(self.given, "shape", ())[1:]) if self.is_array else ()

    @property
    def is_array(self) -> bool:
        """Whether rows are an array of several dimensions."""
        return isinstance(self.given, np.ndarray) and self.given.ndim > 1

    def _numbers(self) -> Table:
        given = self.given
        if isinstance(self._rows, FrameRows):
            frame = open_frame(given)
            columns = [_numbers_of(frame[:, j]) for j in range(len(frame.columns))]
            if not columns:
                raise DataError("the data frame has no columns; at least one feature is needed")
            return ArrayTable(np.column_stack(columns), tuple(map(str, frame.columns)))
        if not self.is_array:
            return ArrayTable(np.array([_parts(_content(row)) for row in given]))
        cells = given.reshape(len(given), -1)
        if given.dtype.kind in "fiub":
            return ArrayTable(cells)
        return ArrayTable(np.column_stack([_cell_hashes(column) for column in cells.T]))


def as_they_came(X: Any) -> Any:
    """Return rows for a black box: tables of numbers unchanged, and others as ``GivenRows``.

    >>> as_they_came([[1, 2], [3, None]])
    [[1, 2], [3, None]]
    >>> as_they_came(["a text", "another"]).given
    ['a text', 'another']
    """
    rows = Rows.of(X)
    if isinstance(rows, GivenRows | FrameRows | TableRows) or not isinstance(rows, PlainRows):
        return X if isinstance(rows, SparseRows) else GivenRows.of(rows)
    if not isinstance(rows.given, list | tuple | np.ndarray):
        series = nw.from_native(rows.given, pass_through=True, series_only=True)
        return GivenRows.of(rows) if isinstance(series, nw.Series) else X
    try:
        cells = np.asarray(rows.given)
    except ValueError:  # rows of different lengths
        return GivenRows.of(rows)
    of_numbers = cells.dtype.kind in "fiub"
    if cells.dtype.kind == "O" and cells.ndim == 2:
        of_numbers = all(
            isinstance(c, int | float | np.number) or is_missing(c) for c in cells.flat
        )
    return X if of_numbers and cells.ndim == 2 else GivenRows.of(rows)


def some_rows(rows: Any, chosen: NDArray[Any]) -> Any:
    """Return some of the rows, in the form in which they came.

    >>> some_rows(["a", "b", "c"], np.array([True, False, True]))
    ['a', 'c']
    """
    numbers = np.flatnonzero(chosen) if chosen.dtype == np.bool_ else chosen
    return Rows.of(rows).take(numbers).given


def one_given(x: Any, shape: tuple[int, ...]) -> Any:
    """Return rows that hold one row: ``x`` if it is a table or a list of one row, else [x].

    >>> one_given("a text", ()), one_given(["a text"], ())
    (['a text'], ['a text'])
    """
    if isinstance(x, np.ndarray) and x.shape == shape != ():
        return x[None]
    are_rows = isinstance(x, list | np.ndarray) and len(x) == 1
    return x if are_rows or not isinstance(Rows.of(x), PlainRows) else [x]


class GivenTable(Table):
    """Rows as they came, with a table of numbers that stands for them."""

    def __init__(self, given: Rows, numbers: Table) -> None:
        self._given, self.numbers = given, numbers
        self.n_rows, self.n_columns = numbers.n_rows, numbers.n_columns
        self.names, self.levels = numbers.names, numbers.levels
        self.width, self.entries = numbers.width, numbers.entries

    def block(self, first: int, last: int) -> Values:
        return self.numbers.block(first, last)

    def rows(self) -> Any:
        """Return the rows as they came."""
        return self._given.given

    @property
    def as_given(self) -> Any:
        return self._given.given

    def take(self, rows: NDArray[np.intp]) -> GivenTable:
        return GivenTable(self._given.take(rows), self.numbers.take(rows))

    def shuffled(self, column: int, order: NDArray[np.intp]) -> Table:
        """Return the rows with one column in another order."""
        given = self._given.given
        if isinstance(self._given, FrameRows):
            frame = open_frame(given)
            name = frame.columns[column]
            changed = frame.with_columns(frame[name][order.tolist()].alias(name))
            return GivenRows.of(changed.to_native()).table()
        if not isinstance(given, np.ndarray) or given.ndim < 2:
            raise DataError(
                "the rows have no columns that could be shuffled: they are a "
                f"{type(given).__name__}; give a data frame or an array of several dimensions"
            )
        flat = given.reshape(len(given), -1).copy()
        flat[:, column] = flat[order, column]
        return GivenRows.of(flat.reshape(given.shape)).table()

    @classmethod
    def join(cls, tables: Sequence[Self]) -> GivenTable:
        """Return the rows of several tables, in order."""
        parts: list[Any] = [table.rows() for table in tables]
        first = parts[0]
        if isinstance(tables[0]._given, FrameRows):
            rows: Any = nw.concat([open_frame(part) for part in parts]).to_native()
        elif isinstance(first, np.ndarray):
            rows = np.concatenate(parts)
        else:
            rows = [row for part in parts for row in part]
        numbers = joined([table.numbers for table in tables])
        return GivenTable(Rows.of(rows), numbers)


def joined(tables: Sequence[Table]) -> Table:
    """Return the rows of tables of one form, in order."""
    first = tables[0]
    if len(tables) == 1:
        return first
    if isinstance(first, GivenTable):
        return GivenTable.join([table for table in tables if isinstance(table, GivenTable)])
    if isinstance(first, SparseTable):
        from scipy import sparse  # here, since importing it takes long

        stored = [table.matrix for table in tables if isinstance(table, SparseTable)]
        return SparseTable(sparse.csc_array(sparse.vstack(stored)))
    return ArrayTable(np.concatenate([t.rows() for t in tables]), first.names, first.levels)


def _numbers_of(column: Any) -> NDArray[np.float64]:
    if column.dtype.is_numeric() or column.dtype == nw.Boolean:
        return numbers_of(column).astype(np.float64)
    return _cell_hashes(column.to_list())


def _from_table(table: Table) -> Any:
    """Return the rows of a file: an array if all columns are numbers, else mappings by name."""
    if not table.levels:
        return table.rows()
    names = [table.name(j) for j in range(table.n_columns)]
    columns = [table.cells(j).tolist() for j in range(table.n_columns)]
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def _cell_hashes(cells: Any) -> NDArray[np.float64]:
    return np.array([_parts(_content(cell))[0] for cell in cells])


def _parts(content: bytes) -> list[float]:
    digest = blake2b(content, digest_size=4 * HASHES).digest()
    return [float(part >> 8) for part in np.frombuffer(digest, dtype="<u4")]


def _content(value: Any) -> bytes:
    """Return bytes that are equal if the contents of two rows are.

    >>> _content({"a": [1, 2], "b": None}) == _content({"b": None, "a": [1, 2]})
    True
    """
    content: tuple[Any, ...]
    if isinstance(value, np.ndarray) and value.dtype.kind != "O":
        content = ("array", value.shape, value.dtype.str, value.tobytes())
    elif isinstance(value, Mapping):
        pairs = sorted((_content(name), _content(cell)) for name, cell in value.items())
        content = ("mapping", *pairs)
    elif isinstance(value, list | tuple | np.ndarray):
        content = ("list", *map(_content, value))
    elif isinstance(value, set | frozenset):
        content = ("set", *sorted(map(_content, value)))
    elif value is None or isinstance(value, str | bytes | int | float | complex | np.generic):
        content = ("value", value.item() if isinstance(value, np.generic) else value)
    else:
        try:
            content = ("object", pickle.dumps(value))
        except Exception:  # an object of any kind may refuse, in any way
            content = ("object", value)
    return repr(content).encode(errors="surrogatepass")
