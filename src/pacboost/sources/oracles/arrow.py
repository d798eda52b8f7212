"""Blocks held as Arrow tables: what Parquet files, CSV files and databases are decoded to.

A column of numbers without missing ones is read in place, through a view; any other is converted
for the picked rows alone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError, FileError
from pacboost.parallel.cluster import Cluster, in_batches
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.arrow import doubles, memory, one_chunk
from pacboost.sources.optional import need
from pacboost.sources.oracles.files import (
    File,
    Source,
    check_unchanged,
    find_files,
    fingerprint,
    opened,
    stamps_of,
)
from pacboost.sources.oracles.held import (
    NO_LABEL,
    Held,
    Rows,
    distinct,
    features,
    first_missing,
    refuse_other,
)
from pacboost.sources.oracles.remote import BlockReading, SpreadOracle
from pacboost.sources.table import Table, refuse_text

NARROW = ("float", "halffloat", "bool", "int8", "uint8", "int16", "uint16")
"""Arrow's names for the types whose values are all 32-bit floats."""
NUMBERS = (*NARROW, "double", "int32", "uint32", "int64", "uint64", "null")


def is_number(kind: Any) -> bool:
    """Check whether a column of this Arrow type is one of numbers, or of nothing but nulls."""
    return str(kind) in NUMBERS or str(kind).startswith("decimal")


def number_columns(schema: Any, target: str, drop: Collection[str], where: str) -> tuple[str, ...]:
    """Return the features of a schema; refuse those that are no numbers."""
    names = features(schema.names, target, drop, where)
    kinds = [(name, schema.field(name).type) for name in names]
    text = [f"{name} ({kind})" for name, kind in kinds if not is_number(kind)]
    if text:
        raise DataError(f"{where}: {refuse_text(text)}")
    return names


def row_bits(kinds: Sequence[Any]) -> int:
    """Return the bits a row takes: its values, and for each a bit that says whether it is there.

    >>> pa = need("pyarrow")
    >>> row_bits([pa.float32(), pa.bool_(), pa.null()])
    36
    """
    widths = (kind.bit_width if is_number(kind) else 32 for kind in kinds if str(kind) != "null")
    return sum(widths) + len(kinds)  # text is held as numbers of a dictionary


class HeldArrow(Held):
    """A table with labels, a column or an array; rows come as float32 if that loses nothing.

    >>> pa = need("pyarrow")
    >>> table = pa.table({"a": [1.5, None, 2.5], "b": [True, False, None]})
    >>> numbers, labels = HeldArrow(table, np.array(["n", "y", "n"])).take(np.array([2, 1]))
    >>> numbers.rows().tolist(), labels.tolist()
    ([[2.5, nan], [nan, 0.0]], ['n', 'y'])
    """

    def __init__(self, table: Any, labels: Any) -> None:
        super().__init__(labels)
        self.names = tuple(table.column_names)
        self.n_rows, self.n_columns = table.num_rows, table.num_columns
        self.nbytes = table.nbytes + labels.nbytes
        self._columns = [
            memory(column)  # in place, where it is an array of numbers
            if str(column.type) in NUMBERS
            and str(column.type) not in {"bool", "null"}
            and column.null_count == 0
            else column
            for column in table.columns
        ]
        narrow = all(str(column.type) in NARROW for column in table.columns)
        self._dtype = np.float32 if narrow else np.float64

    def column(self, column: int) -> NDArray[Any]:
        own = self._columns[column]
        return own if isinstance(own, np.ndarray) else doubles(own)

    def table(self, rows: Rows) -> Table:
        values = np.empty((self.n_columns, rows.size), dtype=self._dtype)
        for column, out in zip(self._columns, values, strict=True):
            if isinstance(column, np.ndarray):
                out[:] = column[rows]
            else:
                out[:] = doubles(column.take(_indices(rows)))
        self._finite(values.T)
        return ArrayTable(values.T, self.names)

    def _picked_labels(self, rows: Rows | slice) -> NDArray[Any]:
        if isinstance(self._labels, np.ndarray):
            return super()._picked_labels(rows)
        if isinstance(rows, slice):
            return plain_labels(self._labels[rows])
        return plain_labels(self._labels.take(_indices(rows)))


def plain_labels(column: Any, read: Callable[[list[str]], NDArray[Any]] = np.array) -> NDArray[Any]:
    """Turn a column of labels into an array; text is read once for each distinct value."""
    if column.null_count:
        return np.array(column.to_pylist(), dtype=object)  # for the complaint about a missing one
    if str(column.type) == "bool":
        return memory(column.cast("uint8")).astype(np.bool_)
    if str(column.type) in NUMBERS:
        return memory(column).copy()
    parts = one_chunk(encoded(column))
    labels: NDArray[Any] = read(parts.dictionary.to_pylist())[memory(parts.indices)]
    return labels


def encoded(column: Any) -> Any:
    """Return a column that is not one of numbers as numbers of a dictionary."""
    if is_number(column.type) or str(column.type).startswith("dictionary"):
        return column
    return column.dictionary_encode()


def release_memory() -> None:
    """Give back to the system what Arrow keeps of blocks that were let go."""
    need("pyarrow").default_memory_pool().release_unused()


def _indices(rows: Rows) -> Any:
    pa = need("pyarrow")
    return pa.Array.from_buffers(pa.int64(), rows.size, [None, pa.py_buffer(rows)])


# Draw from Parquet files: a row group at a time, in random order.
#
# A row group is decoded column by column through a small buffer. Reading all columns at once takes
# as long, but holds compressed and half-decoded pages besides: up to four times what is kept.

SUFFIXES = (".parquet", ".pq")
BUFFER = 2**18


class Group(NamedTuple):
    """A row group: the number of its file, its number in there, and how many rows it has."""

    file: int
    number: int
    rows: int


@dataclass(frozen=True)
class RowGroup:
    """Where a row group lies, and which of its columns are read: by this process or another."""

    file: File
    number: int
    rows: int
    names: tuple[str, ...]
    target: str
    file_shown: str

    @property
    def place(self) -> str:
        return f"{self.file_shown}, row group {self.number}"

    def read(self) -> HeldArrow:
        """Decode the row group."""
        release_memory()
        table = self._columns([*self.names, self.target])
        return HeldArrow(table.drop_columns([self.target]), table.column(self.target))

    def labels(self) -> NDArray[Any]:
        """Decode the target column, and refuse a missing label."""
        labels = plain_labels(self._columns([self.target]).column(0))
        missing = first_missing(labels)
        if missing is not None:
            raise DataError(f"{self.place}, row {missing}: {NO_LABEL}")
        return labels

    def distinct_labels(self) -> NDArray[Any]:
        """Return every label once."""
        return distinct([self.labels()])

    def _columns(self, names: list[str]) -> Any:
        pa = need("pyarrow")
        # Labels that are text are kept as numbers of a dictionary.
        with parquet_file(self.file, self.place, [self.target]) as parquet:
            table = pa.table(
                {
                    name: parquet.read_row_group(
                        self.number, columns=[name], use_threads=False
                    ).column(name)
                    for name in names
                }
            )
        if table.num_rows != self.rows:
            raise FileError(f"{self.file_shown}: was changed while it was being read")
        return table


@contextmanager
def parquet_file(file: File, shown: str, encoded: Sequence[str] = ()) -> Iterator[Any]:
    """Open a Parquet file; ``shown`` names it in complaints."""
    pq, pa = need("pyarrow.parquet"), need("pyarrow")
    try:
        with (
            opened(file) as source,
            pq.ParquetFile(
                source, buffer_size=BUFFER, pre_buffer=False, read_dictionary=list(encoded)
            ) as parquet,
        ):
            yield parquet
    except (OSError, IndexError, KeyError, pa.ArrowException) as problem:
        raise FileError(
            f"{shown}: cannot be read ({problem}). Is it a Parquet file, and whole? Write "
            "it again, or leave it out."
        ) from problem


class ParquetOracle(SpreadOracle):
    """The rows of files, folders and patterns; all columns but the target are numbers.

    Files are known by their paths, sorted, so the order in which they are listed has no part. Their
    columns may stand in any order, but have to be the same. Text columns are refused, or left out
    by ``drop``.
    """

    n_rows: int
    names: tuple[str, ...]

    def __init__(
        self, source: Source, target: str, seed: int = 0, *, drop: Collection[str] = ()
    ) -> None:
        self._target, self._left_out = target, drop
        self._files = find_files(source, SUFFIXES)
        self._stamps = stamps_of(self._files)
        self._groups: list[Group] = []
        for file, path in enumerate(self._files):
            with parquet_file(path, str(path)) as parquet:
                self._look_at(file, parquet)
        if not self._groups:
            raise DataError(f"{self._files[0]}: there are no rows; at least one is needed")
        super().__init__(seed, len(self._groups))
        self.n_columns = len(self.names)
        self.n_rows = sum(group.rows for group in self._groups)

    def _look_at(self, file: int, parquet: Any) -> None:
        schema, where = parquet.schema_arrow, str(self._files[file])
        names = number_columns(schema, self._target, self._left_out, where)
        kind = schema.field(self._target).type
        if file == 0:
            self.names, self._kind = names, kind
        refuse_other(names, where, self.names, str(self._files[0]))
        if is_number(kind) != is_number(self._kind):
            raise DataError(
                f"{where}: the target {self._target!r} is {kind} where {self._files[0]} has "
                f"{self._kind}; make them the same"
            )
        per_row = row_bits([schema.field(name).type for name in (*names, self._target)])
        for number in range(parquet.num_row_groups):
            rows = parquet.metadata.row_group(number).num_rows
            if rows:
                self._groups.append(Group(file, number, rows))
            if rows * per_row // 8 > self.largest_block:
                self.largest_block = rows * per_row // 8
                self.largest_block_place = f"{where}, row group {number}"

    def row_group(self, block: int) -> RowGroup:
        """Return where a block lies; a worker may have another working folder."""
        group = self._groups[block]
        file = self._files[group.file]
        here = file.absolute()
        return RowGroup(here, group.number, group.rows, self.names, self._target, str(file))

    def read(self, block: int) -> HeldArrow:
        held = self.row_group(block).read()
        self.check_block(block)
        return held

    def check_block(self, block: int) -> None:
        check_unchanged(self._stamps, self._files[self._groups[block].file])

    def reading(self, block: int, cluster: Cluster) -> BlockReading:
        return BlockReading(RowGroup.read, (self.row_group(block),))

    def block_rows(self, block: int) -> int:
        return self._groups[block].rows

    def block_place(self, block: int) -> str:
        return self.row_group(block).place

    def classes(self) -> NDArray[Any]:
        return distinct(self._in_order(RowGroup.labels, self._row_groups()))

    def classes_on(self, cluster: Cluster) -> NDArray[Any]:
        groups = ((group,) for group in self._row_groups())
        return distinct(
            in_batches(cluster, RowGroup.distinct_labels, None, groups, calls=cluster.blocks)
        )

    def _row_groups(self) -> Iterator[RowGroup]:
        return map(self.row_group, range(len(self._groups)))

    def fingerprint(self) -> str:
        return fingerprint(self._files, self._groups, self.names, self._target)
