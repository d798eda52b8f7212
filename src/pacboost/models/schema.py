"""The schema of a table: what a fit learns of the columns, and how it reads new rows.

A schema is learned once, from the training rows. It holds the number of columns, their names and
levels, which parts of dates they are and, for texts, the vocabulary. Validation rows, certifying
rows and the rows of ``predict`` are read by it, and learn nothing more.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable
from dataclasses import astuple, dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import _get_feature_names, validate_data

from pacboost.errors import DataError
from pacboost.models import input_checks
from pacboost.sources.arrays import ArrayTable, CategorisedArray
from pacboost.sources.categories import FROM_DTYPE, all_levels, find_levels
from pacboost.sources.columns import are_records, columns_of_records
from pacboost.sources.derived import DerivedColumn, DerivedTable
from pacboost.sources.explained_errors import checked_by_scikit_learn
from pacboost.sources.frame_table import FrameTable
from pacboost.sources.given import GivenRows, as_they_came
from pacboost.sources.levels import NO_LEVELS, Levels
from pacboost.sources.rows import FrameRows, PlainRows, Rows
from pacboost.sources.table import RecodedTable, Table

if TYPE_CHECKING:
    from pacboost.sources.mixed import MixedFeatures
    from pacboost.sources.text import TextFeatures

Categories = str | Iterable[str | int | bool] | None


class TextOptions(Protocol):
    """How texts are to be read; ``learn`` adds the vocabulary."""

    def divisible(self, X: Any) -> Any:
        """Return texts, or a table with columns of texts, in a form that can be indexed by row."""

    def learn(self, X: Any) -> tuple[TextFeatures | MixedFeatures, Table]:
        """Learn the vocabulary; return the reader that has it, and the table of the rows."""


@dataclass(frozen=True, eq=False)
class ColumnOptions:
    """The options of an estimator for its columns, before it has seen any row."""

    owner: str
    categories: Categories = None
    """Which columns are categories (sources/categories.py); None for none."""
    keeps_sparse: bool = False
    """Whether a sparse table is learned from unmodified; else a warning says that it is not."""
    as_they_came: bool = False
    """Whether rows stay as they came, because only a black box reads them."""
    text: TextOptions | None = None
    """How texts are read, before a vocabulary is known; None for tables."""

    def divisible(self, X: Any) -> Any:
        """Return rows in a form that can be indexed, without learning anything."""
        if X is None or self.text is None:
            return as_they_came(X) if self.as_they_came and X is not None else X
        return self.text.divisible(X)


@dataclass(frozen=True, eq=False)
class Schema:
    """The columns of a fit: their number, names, levels and date parts, or the words of texts."""

    n_columns: int
    names: tuple[str, ...] | None = None
    levels: Levels = NO_LEVELS
    text: TextFeatures | MixedFeatures | None = None
    """The reader of texts, if the columns are words."""
    owner: str = "the model"
    row_shape: tuple[int, ...] | None = None
    """The shape of a row, () for other rows than arrays; None for rows that become a table."""
    derived: tuple[DerivedColumn, ...] = ()
    """Columns that rows are given when they are read, after their own."""
    has_text_names: bool = True
    """False if the names of the frame's columns were not text, so that they are not compared."""

    @classmethod
    def learn(cls, X: Any, options: ColumnOptions) -> tuple[Schema, Table]:
        """Learn the columns of rows; also return the rows as a table."""
        rows = Rows.of(X)
        if isinstance(rows, GivenRows):
            given = rows.table()
            schema = cls(given.n_columns, given.names, owner=options.owner, row_shape=rows.shape)
            return schema, given
        if isinstance(rows, FrameRows) and options.text is None:
            schema, table = _of_frame(rows, options)
            return replace(schema, owner=options.owner), table
        X = rows.given
        if options.text is not None:
            reader, words = options.text.learn(X)
            input_checks.refuse_empty(words)
            return cls(words.n_columns, reader.vocabulary, text=reader, owner=options.owner), words
        # rows on a GPU become a table, since the checks below are NumPy's and scikit-learn's
        X = input_checks.in_reach(X)
        if isinstance(X, FrameTable):
            X = X.choosing(options.categories)
        if isinstance(X, Table):
            input_checks.check_cells(X)
            schema, table = cls(X.n_columns, X.names)._with_levels(X, options.categories)
        else:
            schema, table = _of_array(X, options)
        return replace(schema, owner=options.owner), table

    def _with_levels(self, table: Table, categories: Categories) -> tuple[Schema, Table]:
        """Find the levels of a table's columns, or keep those that a frame has chosen."""
        levels = find_levels(table, FROM_DTYPE if isinstance(table, FrameTable) else categories)
        return replace(self, levels=levels), _recoded(table, levels)

    def read(self, X: Any) -> Table:
        """Read rows as the schema was learned; raise if they do not have its columns."""
        return self.read_rows(Rows.of(X))

    def read_rows(self, rows: Rows) -> Table:
        """Read rows whose form is known."""
        if not self.derived:
            return self._read_given(rows)
        if isinstance(rows.given, DerivedTable):
            rows = Rows.of(rows.given.given_columns)
        return DerivedTable(self._read_given(rows), self.derived)

    def _read_given(self, rows: Rows) -> Table:
        """Read rows without the columns that are derived from others."""
        if self.row_shape is not None:
            names, given = self.feature_names, GivenRows.of(rows)
            return given.like(self.n_columns, names, self.row_shape, self.owner)
        if isinstance(rows, PlainRows) and self._is_plain(rows):
            return ArrayTable(rows.given)
        if self.text is not None:
            return self.text.transform(rows.given)
        # a sparse matrix of SciPy may be a dictionary, too
        is_named = isinstance(rows, PlainRows) and are_records(rows.given)
        if isinstance(rows, FrameRows) or is_named:
            return self._read_named(rows)
        X = input_checks.in_reach(rows.given)
        if isinstance(X, FrameTable) and self.feature_names is not None and X.levels != self.levels:
            X = FrameTable.like(X.as_given, self.feature_names, self.levels, X.origin)
        if isinstance(X, Table):
            input_checks.check_cells(X)
            self._check_table(X)
            return _recoded(X, self.levels)
        return self._read_array(X)

    def comparable(self, X: Any, other: object = None) -> Table:
        """Read rows to compare them with others; values unknown to the fit stay distinct."""
        if self.text is not None:
            return _hashed(self.text.lines(X))
        if not self.levels:
            return self._read_given(Rows.of(X))
        # two rows with different unknown levels are different rows, though both are read as unknown
        levels = all_levels(self.levels, self.feature_names, X, other)
        return replace(self, levels=levels)._read_given(Rows.of(X))

    def remembered(self, X: Any) -> Table:
        """Return what a sketch stores of rows: their table, or hashes of texts."""
        if self.text is not None:
            return self.comparable(self.text.read(X))
        return self._read_given(Rows.of(X))

    def to_dict(self) -> dict[str, Any]:
        """Return the values that model files hold under "model"; column names are apart."""
        stored: dict[str, Any] = {"features": self.n_columns, "levels": self.levels.to_dict()}
        if self.derived:
            stored["derived"] = [list(astuple(column)) for column in self.derived]
        return stored if self.text is None else stored | {"text": self.text.to_dict()}

    @property
    def given_names(self) -> tuple[str, ...] | None:
        """The names of the columns that rows are given with: a date is one, whatever its parts."""
        names = self.feature_names
        return None if names is None else tuple(dict.fromkeys(self.levels.sources(names)))

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """The names that new rows have to have; None if they were not text."""
        return self.names if self.has_text_names else None

    def _is_plain(self, rows: Rows) -> bool:
        """Check whether rows are an array of floats that needs no further check.

        The checks of ``read`` take a tenth of a millisecond, most of the time for a single row.
        """
        X = rows.given
        return (
            type(X) is np.ndarray
            and X.ndim == 2
            and X.dtype in (np.float32, np.float64)
            and X.shape[0] > 0
            and X.shape[1] == self.n_columns
            and self.feature_names is None
            and self.text is None
            and not self.levels
            and input_checks.no_infinity(X)
        )

    def _read_array(self, X: Any) -> Table:
        """Read an array, a list or a sparse matrix."""
        # an object may be an array by ``__array__`` alone, so that its shape is asked for if needed
        shape: tuple[int, ...] = np.shape(X) if self.levels.in_parts else ()
        if len(shape) == 2 and shape[1] != self.n_columns:
            raise DataError(
                "X has no column names; the model was fitted on a frame with dates, so pass a "
                "frame, or rows as dictionaries"
            )
        if self.levels and not sparse.issparse(X):
            raw = input_checks.raw_cells(X)
            if raw.ndim == 2 and raw.size:
                return CategorisedArray(
                    input_checks.validated(self._stand_in(), raw, reset=False), self.levels
                )
        array = input_checks.checked_array(self._stand_in(), X, reset=False)
        return _recoded(_table_of(array), self.levels)

    def _read_named(self, rows: Rows) -> FrameTable:
        """Read a data frame, or rows that name their cells, by the names of the columns in fit."""
        if isinstance(rows, FrameRows):
            return self._read_frame(rows)
        if self.names is None:
            raise DataError(
                f"X names its cells, but {self.owner} was fitted to rows without names; give "
                f"rows of {self.n_columns} numbers"
            )
        first = rows.given[0] if isinstance(rows.given, list | tuple) else rows.given
        # the parts of a date may be given as numbers, as in a frame
        in_parts = {*self.names} <= {*first.keys()}
        sources = self.names if in_parts else dict.fromkeys(self.levels.sources(self.names))
        cells = columns_of_records(rows.given, list(sources))
        return FrameTable.like(cells, self.names, self.levels)

    def _read_frame(self, rows: FrameRows) -> FrameTable:
        """Read a data frame by the names that its columns had in fit."""
        X, cells = rows.given, rows.cells_by_name
        names = None if self.feature_names is None else list(self.feature_names)
        is_visible = hasattr(X, "iloc") or _get_feature_names(X) is not None
        # scikit-learn would look for the parts of a date, such as its month, among the columns
        if self.levels.in_parts or not is_visible:
            self._check_sources(cells)
        elif names is None or not hasattr(X, "iloc") or names != X.columns.tolist():
            # scikit-learn's check takes longer than to read a row, so equal names skip it
            with checked_by_scikit_learn():
                validate_data(self._stand_in(), X, reset=False, skip_check_array=True)
        table = FrameTable.like(cells, names, self.levels)
        input_checks.refuse_empty(table)
        return table

    def _check_sources(self, columns: Collection[str]) -> None:
        """Check the names of columns if a date became several columns in fit."""
        names = self.feature_names
        if names is None:
            self._check_width(len(columns))
            return
        expected = list(dict.fromkeys(self.levels.sources(names)))
        if not ({*names} <= {*columns} or {*expected} <= {*columns}):
            raise DataError(
                "The feature names should match those that were passed during fit: got "
                f"{', '.join(columns)}; expected {', '.join(expected)}"
            )

    def _check_width(self, columns: int) -> None:
        if columns != self.n_columns:
            raise DataError(
                f"X has {columns} features, but {self.owner} is expecting {self.n_columns} "
                "features as input"
            )

    def _check_table(self, table: Table) -> None:
        """Check the column names of a table, which scikit-learn does not check."""
        self._check_width(table.n_columns)
        names = self.feature_names
        if table.names is not None and names is not None and names != tuple(table.names):
            raise DataError(
                "The feature names should match those that were passed during fit: got "
                f"{', '.join(table.names)}; expected {', '.join(names)}, in this order"
            )

    def _stand_in(self) -> BaseEstimator:
        """Return the stand-in of an estimator that scikit-learn's checks need: its class's name."""
        # the estimator itself is not at hand: a schema is read from files, too
        stand_in = _kind_named(self.owner)()
        stand_in.n_features_in_ = self.n_columns
        if self.feature_names is not None:
            stand_in.feature_names_in_ = np.array(self.feature_names, dtype=object)
        return stand_in


@cache
def _kind_named(name: str) -> type[Any]:
    """Return a class for scikit-learn's checks, whose messages name the class of an estimator."""
    return type(name, (BaseEstimator,), {})


def _hashed(lines: list[str]) -> ArrayTable:
    """Return three hashes of 24 bits for every text.

    >>> rows = _hashed(["lost my card", "Lost my card"]).rows()
    >>> (rows[0] == rows[1]).tolist()
    [False, False, False]
    """
    # 24 bits each, so that they pass unchanged through 32-bit floats
    encoded = (line.encode(errors="surrogatepass") for line in lines)
    digests = b"".join(hashlib.blake2b(line, digest_size=12).digest() for line in encoded)
    return ArrayTable((np.frombuffer(digests, dtype="<u4").reshape(-1, 3) >> 8).astype(np.float64))


def _of_frame(rows: FrameRows, options: ColumnOptions) -> tuple[Schema, Table]:
    X = rows.given
    table = FrameTable.learn(rows.cells_by_name, options.categories, note=True)
    has_text_names = True
    is_visible = hasattr(X, "iloc") or _get_feature_names(X) is not None
    if is_visible and len(table.names) == len(table.sources):
        stand_in = _kind_named(options.owner)()
        with checked_by_scikit_learn():
            validate_data(stand_in, X, reset=True, skip_check_array=True)
        has_text_names = hasattr(stand_in, "feature_names_in_")
    input_checks.refuse_empty(table)
    schema = Schema(table.n_columns, table.names, has_text_names=has_text_names)
    return schema._with_levels(table, options.categories)


def _of_array(X: Any, options: ColumnOptions) -> tuple[Schema, Table]:
    stand_in = _kind_named(options.owner)()
    if options.categories is not None and not sparse.issparse(X):
        raw = input_checks.raw_cells(X)
        levels = find_levels(raw, options.categories) if raw.ndim == 2 and raw.size else NO_LEVELS
        if levels:
            raw = input_checks.validated(stand_in, raw, reset=True)
            return Schema(raw.shape[1], levels=levels), CategorisedArray(raw, levels)
    table = _table_of(input_checks.checked_array(stand_in, X, reset=True))
    schema = Schema(table.n_columns)
    if table.entries is None:
        return schema, table
    schema, table = schema._with_levels(table, options.categories)
    if not (options.keeps_sparse and table.entries is not None):
        input_checks.warn_of_dense(table)
    return schema, table


def _table_of(array: NDArray[Any] | sparse.csr_array | sparse.csr_matrix) -> Table:
    if not sparse.issparse(array):
        return ArrayTable(array)
    from pacboost.sources.sparse import SparseTable

    return SparseTable(array)


def _recoded(table: Table, levels: Levels) -> Table:
    return table if levels == table.levels else RecodedTable(table, levels)
