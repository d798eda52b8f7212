"""Draw from Parquet files, one row group at a time, in random order.

A row group is decoded column by column through a small buffer. Reading all columns at once takes
the same time, but up to four times the memory of the result for compressed and half-decoded pages.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from numpy.typing import NDArray

from pacboost.errors import DataError, FileError
from pacboost.parallel.cluster import Cluster, in_batches
from pacboost.sources.optional import need
from pacboost.sources.oracles import files, row_block
from pacboost.sources.oracles.learned_columns import LearnedColumns
from pacboost.sources.oracles.remote import SpreadOracle
from pacboost.sources.oracles.remote_files import CHANGED


def has_texts(schema: Any, names: Collection[str]) -> bool:
    """Check whether a column of a schema is not numeric: text, a date or a category."""
    return not all(row_block.is_number(schema.field(name).type) for name in names)


def row_bits(kinds: Sequence[Any]) -> int:
    """Return the bits of a row: its values, and one validity bit for each.

    >>> pa = need("pyarrow")
    >>> row_bits([pa.float32(), pa.bool_(), pa.null()])
    36
    """
    widths = (
        kind.bit_width if row_block.is_number(kind) else 32 for kind in kinds if str(kind) != "null"
    )
    return sum(widths) + len(kinds)  # text is stored as dictionary indices


def release_memory() -> None:
    """Return unused memory of Arrow to the operating system."""
    need("pyarrow").default_memory_pool().release_unused()


SUFFIXES = (".parquet", ".pq")
BUFFER_BYTES = 2**18


@dataclass(frozen=True)
class RowGroup:
    """A row group and the columns to read; it can be sent to another process."""

    file: files.File
    """The absolute path, because a worker may have another working folder."""
    number: int
    rows: int
    names: tuple[str, ...]
    target: str
    file_shown: str
    learned: LearnedColumns | None = None

    @property
    def place(self) -> str:
        return f"{self.file_shown}, row group {self.number}"

    def read(self) -> row_block.RowBlock:
        release_memory()
        table = self._columns([*self.names, self.target])
        return row_block.hold_arrow(table, self.target, learned=self.learned)

    def cells(self) -> Any:
        """Read the features as they are stored, to learn what they hold."""
        return self._columns([*self.names])

    def labels(self) -> NDArray[Any]:
        labels = row_block.plain_labels(self._columns([self.target]).column(0))
        missing = row_block.first_missing(labels)
        if missing is not None:
            raise DataError(f"{self.place}, row {missing}: {row_block.NO_LABEL}")
        return row_block.distinct([labels])

    def _columns(self, names: list[str]) -> Any:
        pa = need("pyarrow")
        # Text labels are stored as dictionary indices to save memory.
        with parquet_file(self.file, self.place, [self.target]) as parquet:
            read = partial(parquet.read_row_group, self.number, use_threads=False)
            table = pa.table({name: read(columns=[name]).column(name) for name in names})
        if table.num_rows != self.rows:
            raise FileError(f"{self.file_shown}: {CHANGED}")
        return table


@contextmanager
def parquet_file(file: files.File, shown: str, encoded: Sequence[str] = ()) -> Iterator[Any]:
    """Open a Parquet file; error messages call it ``shown``."""
    pq, pa = need("pyarrow.parquet"), need("pyarrow")
    try:
        with (
            files.opened(file) as source,
            pq.ParquetFile(
                source, buffer_size=BUFFER_BYTES, pre_buffer=False, read_dictionary=list(encoded)
            ) as parquet,
        ):
            yield parquet
    except (OSError, IndexError, KeyError, pa.ArrowException) as problem:
        raise FileError(
            f"{shown}: cannot be read ({problem}). Is it a complete Parquet file? Write it "
            "again, or remove it."
        ) from problem


class ParquetOracle(SpreadOracle):
    """The rows of Parquet files.

    Files are sorted by path, so the order of listing does not matter. All files must have the same
    columns, in any order. What columns of text and dates hold is learned from some row groups.
    """

    n_rows: int
    names: tuple[str, ...]

    def __init__(
        self, source: files.Source, target: str, seed: int = 0, *, drop: Collection[str] = ()
    ) -> None:
        self._target, self._left_out = target, drop
        self._files = files.find_files(source, SUFFIXES)
        self._stamps = {path.absolute(): files.stamp(path) for path in self._files}
        self._groups: list[RowGroup] = []
        self._has_texts = False
        for file, path in enumerate(self._files):
            with parquet_file(path, str(path)) as parquet:
                self._look_at(file, parquet)
        if not self._groups:
            raise DataError(f"{self._files[0]}: there are no rows; at least one is needed")
        super().__init__(seed, len(self._groups))
        if self._has_texts:
            where = str(self._files[0])
            self.learned = self.learn_columns(lambda block: self._groups[block].cells(), where)
            self._groups = [
                replace(group, names=self.learned.sources, learned=self.learned)
                for group in self._groups
            ]
            self.names = self.learned.names
        self.n_columns = len(self.names)
        self.n_rows = sum(group.rows for group in self._groups)

    def _look_at(self, file: int, parquet: Any) -> None:
        schema, where = parquet.schema_arrow, str(self._files[file])
        path = self._files[file].absolute()
        names = files.features(schema.names, self._target, self._left_out, where)
        self._has_texts |= has_texts(schema, names)
        kind = schema.field(self._target).type
        if file == 0:
            self.names, self._kind, self._first_schema = names, kind, schema
        files.refuse_other(names, where, self.names, str(self._files[0]))
        # a column of text here and of numbers there would be read as text in all files
        for name in names:
            here, there = schema.field(name).type, self._first_schema.field(name).type
            if row_block.is_number(here) != row_block.is_number(there):
                raise DataError(
                    f"{where}: column {name!r} is {here}, but in {self._files[0]} it is {there}; "
                    "make the types the same"
                )
        if row_block.is_number(kind) != row_block.is_number(self._kind):
            raise DataError(
                f"{where}: the target {self._target!r} is {kind}, but in {self._files[0]} it is "
                f"{self._kind}; make the types the same"
            )
        per_row = row_bits([schema.field(name).type for name in (*names, self._target)])
        for number in range(parquet.num_row_groups):
            rows = parquet.metadata.row_group(number).num_rows
            if rows:
                group = RowGroup(path, number, rows, self.names, self._target, where)
                self._groups.append(group)
            if rows * per_row // 8 > self.largest_block:
                self.largest_block = rows * per_row // 8
                self.largest_block_place = f"{where}, row group {number}"

    def read(self, block: int) -> row_block.RowBlock:
        rows = self._groups[block].read()
        self.check_block(block)
        return rows

    def check_block(self, block: int) -> None:
        group = self._groups[block]
        files.check_unchanged(self._stamps, group.file, group.file_shown)

    def reading(self, block: int, cluster: Cluster) -> tuple[Any, ...]:
        return RowGroup.read, self._groups[block]

    def block_rows(self, block: int) -> int:
        return self._groups[block].rows

    def block_place(self, block: int) -> str:
        return self._groups[block].place

    def classes(self, cluster: Cluster | None = None) -> NDArray[Any]:
        if cluster is None:
            return row_block.distinct(self._in_order(RowGroup.labels, self._groups))
        groups = ((group,) for group in self._groups)
        return row_block.distinct(
            in_batches(cluster, RowGroup.labels, None, groups, calls=cluster.blocks)
        )

    def fingerprint(self) -> str:
        groups = [(group.file.name, group.number, group.rows) for group in self._groups]
        return files.fingerprint(self._files, groups, self.names, self._target)
