"""Rows as they came: ``Rows.of`` finds out once what they are, and all others ask it.

Rows are a data frame, an array or a list, a sparse matrix, named columns, or a table that has been
read. Whatever they are, they can be counted, some can be taken, and their columns can be compared.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError
from pacboost.numerics.memory import in_host_memory
from pacboost.sources.columns import Columns, are_records, columns_of_records
from pacboost.sources.dataframe import columns_of, is_frame, open_frame
from pacboost.sources.explained_errors import refuse_masked
from pacboost.sources.table import Table

Numbers = NDArray[np.intp]


class Rows:
    """Rows of one form; ``given`` is what came.

    >>> rows = Rows.of([["a", 1], ["b", 2], ["c", 3]])
    >>> rows.count, rows.take(np.array([0, 2])).given
    (3, [['a', 1], ['c', 3]])
    """

    # no ABC: its ``isinstance`` takes ten times as long, several times for each prediction

    def __init__(self, given: Any) -> None:
        self.given = given

    @staticmethod
    def of(X: Any) -> Rows:
        """Find the form of rows; rows whose form is known are returned unchanged."""
        if isinstance(X, Rows):
            return X
        if isinstance(X, np.ndarray | list):
            return PlainRows(X)
        if isinstance(X, Table):
            return TableRows(X)
        if isinstance(X, Columns):
            return NamedRows(X)
        if hasattr(type(X), "tocsr"):
            return SparseRows(X)
        return FrameRows(X) if is_frame(X) else PlainRows(X)

    @property
    def unread(self) -> Any:
        """The rows as a schema reads them: what came."""
        return self.given

    @property
    @abstractmethod
    def count(self) -> int:
        """The number of rows."""

    @abstractmethod
    def take(self, rows: Numbers) -> Rows:
        """Select rows; the result is of the same form."""

    def alone(self, rows: Numbers) -> Rows:
        """Select rows as if there were no others: kinds of columns are found from them alone."""
        return self.take(rows)

    @abstractmethod
    def cells(self) -> Iterator[NDArray[Any]]:
        """Yield the cells of every column."""

    @property
    def named(self) -> Columns | None:
        """The cells by the names of their columns, as they came; None if there are no names."""
        return None

    def columns(self) -> Columns:
        """Return the cells by the names of their columns; raise if there are no names or rows."""
        named = self.named
        if named is None:
            raise DataError(
                f"the input is a {type(self.given).__name__}; pass a data frame, or a list of "
                "mappings from column names to values"
            )
        if not named.cells or not named.n_rows:
            raise DataError("the table is empty (0 samples); at least one row is needed")
        return named


class TableRows(Rows):
    """A table that has been read."""

    given: Table

    @property
    def count(self) -> int:
        return self.given.n_rows

    def take(self, rows: Numbers) -> Rows:
        return TableRows(self.given.take(rows))

    def alone(self, rows: Numbers) -> Rows:
        return TableRows(self.given.alone(rows))

    def cells(self) -> Iterator[NDArray[Any]]:
        table = self.given
        for j in range(table.n_columns):
            yield np.asarray(table.cells(j)) if j in table.levels else table.column(j)


class NamedRows(Rows):
    """Columns with names, of which some may hold texts."""

    given: Columns

    @property
    def count(self) -> int:
        return self.given.n_rows

    def take(self, rows: Numbers) -> Rows:
        return NamedRows(self.given.take(rows))

    @property
    def named(self) -> Columns | None:
        return self.given

    def cells(self) -> Iterator[NDArray[Any]]:
        assert self.named is not None
        for cells in self.named.cells.values():
            yield cells if isinstance(cells, np.ndarray) else np.asarray(cells.to_numpy())


class FrameRows(NamedRows):
    """A data frame of any library that narwhals reads."""

    given: Any

    @property
    def count(self) -> int:
        return len(self.given)

    def take(self, rows: Numbers) -> Rows:
        return FrameRows(open_frame(self.given)[rows].to_native())

    @cached_property
    def cells_by_name(self) -> dict[str, Any]:
        """The cells of each column."""
        return columns_of(self.given)

    @property
    def named(self) -> Columns | None:
        return Columns(self.cells_by_name)


class SparseRows(Rows):
    """A sparse matrix of SciPy."""

    @property
    def count(self) -> int:
        shape = self.given.shape
        if len(shape) != 2:
            raise DataError(f"X has shape {shape}; sparse rows need two dimensions")
        return int(shape[0])

    def take(self, rows: Numbers) -> Rows:
        stored = self.given
        return SparseRows((stored if stored.format in ("csr", "csc") else stored.tocsr())[rows])

    def cells(self) -> Iterator[NDArray[Any]]:
        """Yield nothing: the columns are mostly 0, and whole ones would not fit into memory."""
        return iter(())


class PlainRows(Rows):
    """An array of any library, or a list of rows, texts or mappings."""

    @property
    def count(self) -> int:
        X = self.given
        if isinstance(X, str | bytes) or getattr(X, "ndim", 2) == 0:
            raise DataError(f"X is a single {type(X).__name__}; give a table of rows and columns")
        refuse_masked(X, "X")  # before some of the rows are taken, which drops the mask
        try:
            # an object may be an array by ``__array__`` alone, without a shape or a length
            X = X if hasattr(X, "__len__") or hasattr(X, "shape") else np.asarray(X)
            shape = getattr(X, "shape", ())
            return int(shape[0]) if shape else len(X)
        except TypeError as problem:
            raise DataError(f"the rows of X cannot be counted: {problem}") from problem

    def take(self, rows: Numbers) -> Rows:
        X = self.given
        if isinstance(X, list | tuple):
            return PlainRows([X[row] for row in rows.tolist()])
        values = np.asarray(X)
        if values.ndim == 0:
            raise DataError(f"X is a {type(X).__name__}; give a table of rows and columns")
        return PlainRows(values[rows])

    @property
    def named(self) -> Columns | None:
        # one mapping is one row where a model is asked, but nothing to fit to
        several = isinstance(self.given, list | tuple) and are_records(self.given)
        return Columns(columns_of_records(self.given)) if several else None

    def cells(self) -> Iterator[NDArray[Any]]:
        given = in_host_memory(self.given)
        table = np.asarray(given, None if hasattr(given, "__array__") else object)
        if table.ndim == 1:
            yield table
        elif table.ndim > 1:  # anything else is no table, which the fit says when it reads the rows
            yield from table.reshape(len(table), math.prod(table.shape[1:])).T
