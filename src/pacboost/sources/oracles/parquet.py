"""Draw from Parquet files: a row group at a time, in random order.

A row group is decoded column by column through a small buffer. Reading all columns at once takes
as long, but holds compressed and half-decoded pages besides: up to four times what is kept.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from numpy.typing import NDArray

from pacboost.errors import DataError, FileError
from pacboost.sources.oracles.arrow import (
    HeldArrow,
    is_number,
    number_columns,
    plain_labels,
    release_memory,
    row_bits,
)
from pacboost.sources.oracles.blocks import BlockOracle
from pacboost.sources.oracles.columns import refuse_other
from pacboost.sources.oracles.files import Source, find_files, fingerprint, need
from pacboost.sources.oracles.labels import NO_LABEL, distinct, first_missing
from pacboost.sources.oracles.unchanged import check_unchanged, stamps_of

SUFFIXES = (".parquet", ".pq")
BUFFER = 2**18


class Group(NamedTuple):
    """A row group: the number of its file, its number in there, and how many rows it has."""

    file: int
    number: int
    rows: int


class ParquetOracle(BlockOracle):
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
        self._pq = need("pyarrow.parquet", "parquet")
        self._pa = need("pyarrow", "parquet")
        self._target, self._left_out = target, drop
        self._files = find_files(source, SUFFIXES)
        self._stamps = stamps_of(self._files)
        self._groups: list[Group] = []
        for file, path in enumerate(self._files):
            with self._file(path) as parquet:
                self._look_at(file, parquet)
        if not self._groups:
            raise DataError(f"{self._files[0]}: there are no rows; at least one is needed")
        super().__init__(seed, len(self._groups))
        self.n_columns = len(self.names)
        self.n_rows = sum(group.rows for group in self._groups)

    def _look_at(self, file: int, parquet: Any) -> None:
        """Check the columns of a file and note its row groups."""
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
        per_row = row_bits(schema.field(name).type for name in (*names, self._target))
        for number in range(parquet.num_row_groups):
            rows = parquet.metadata.row_group(number).num_rows
            if rows:
                self._groups.append(Group(file, number, rows))
            if rows * per_row // 8 > self.largest_block:
                self.largest_block = rows * per_row // 8
                self.largest_block_place = f"{where}, row group {number}"

    def read(self, block: int) -> HeldArrow:
        """Decode a row group."""
        release_memory()
        table = self._columns(block, [*self.names, self._target])
        return HeldArrow(table.drop_columns([self._target]), table.column(self._target))

    def _columns(self, block: int, names: list[str]) -> Any:
        group = self._groups[block]
        where = f", row group {group.number}"
        # Labels that are text are kept as numbers of a dictionary.
        with self._file(self._files[group.file], where, [self._target]) as parquet:
            table = self._pa.table(
                {
                    name: parquet.read_row_group(
                        group.number, columns=[name], use_threads=False
                    ).column(name)
                    for name in names
                }
            )
        check_unchanged(self._stamps, self._files[group.file])
        return table

    @contextmanager
    def _file(self, path: Path, part: str = "", encoded: Sequence[str] = ()) -> Iterator[Any]:
        try:
            with self._pq.ParquetFile(
                path, buffer_size=BUFFER, pre_buffer=False, read_dictionary=list(encoded)
            ) as parquet:
                yield parquet
        except (OSError, IndexError, KeyError, self._pa.ArrowException) as problem:
            raise FileError(
                f"{path}{part}: cannot be read ({problem}). Is it a Parquet file, and whole? Write "
                "it again, or leave it out."
            ) from problem

    def classes(self) -> NDArray[Any]:
        """Read the target column alone, a row group at a time."""
        return distinct(self._tasks().map(self._labels, range(len(self._groups))))

    def _labels(self, block: int) -> NDArray[Any]:
        labels = plain_labels(self._columns(block, [self._target]).column(0))
        missing = first_missing(labels)
        if missing is not None:
            raise DataError(f"{self.place(block << 32 | missing)}: {NO_LABEL}")
        return labels

    def fingerprint(self) -> str:
        """Hash the names, sizes, row groups and columns of the files."""
        return fingerprint(self._files, self._groups, self.names, self._target)

    def place(self, row: int) -> str:
        """Name file, row group and row."""
        group = self._groups[row >> 32]
        return f"{self._files[group.file]}, row group {group.number}, row {row & 0xFFFFFFFF}"
