"""Draw from Parquet files: a row group at a time, in random order.

A row group is decoded column by column through a small buffer. Reading all columns at once takes
as long, but holds compressed and half-decoded pages besides: up to four times what is kept.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

from numpy.typing import NDArray

from pacboost.errors import DataError, FileError
from pacboost.parallel.cluster import Cluster, in_batches
from pacboost.sources.optional import need
from pacboost.sources.oracles.arrow import (
    HeldArrow,
    is_number,
    number_columns,
    plain_labels,
    release_memory,
    row_bits,
)
from pacboost.sources.oracles.columns import NO_LABEL, distinct, first_missing, refuse_other
from pacboost.sources.oracles.files import (
    File,
    Source,
    check_unchanged,
    find_files,
    fingerprint,
    opened,
    stamps_of,
)
from pacboost.sources.oracles.remote import BlockReading, SpreadOracle

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
        """Name file and row group."""
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
        pa = need("pyarrow", "parquet")
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
    pq, pa = need("pyarrow.parquet", "parquet"), need("pyarrow", "parquet")
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

    def row_group(self, block: int) -> RowGroup:
        """Return where a block lies; a worker may have another working folder."""
        group = self._groups[block]
        file = self._files[group.file]
        here = file.absolute()
        return RowGroup(here, group.number, group.rows, self.names, self._target, str(file))

    def read(self, block: int) -> HeldArrow:
        """Decode a row group."""
        held = self.row_group(block).read()
        self.check_block(block)
        return held

    def check_block(self, block: int) -> None:
        """Raise if the file of a row group is no longer as it was."""
        check_unchanged(self._stamps, self._files[self._groups[block].file])

    def reading(self, block: int, cluster: Cluster) -> BlockReading:
        """Have a worker decode a row group."""
        return BlockReading(RowGroup.read, (self.row_group(block),))

    def block_rows(self, block: int) -> int:
        """How many rows a row group has."""
        return self._groups[block].rows

    def block_place(self, block: int) -> str:
        """Name file and row group."""
        return self.row_group(block).place

    def classes(self) -> NDArray[Any]:
        """Read the target column alone, a row group at a time."""
        return distinct(self._tasks().map(RowGroup.labels, self._row_groups()))

    def classes_on(self, cluster: Cluster) -> NDArray[Any]:
        """Have workers read the target column alone."""
        groups = ((group,) for group in self._row_groups())
        return distinct(
            in_batches(cluster, RowGroup.distinct_labels, None, groups, calls=cluster.blocks)
        )

    def _row_groups(self) -> Iterator[RowGroup]:
        return map(self.row_group, range(len(self._groups)))

    def fingerprint(self) -> str:
        """Hash the names, sizes, row groups and columns of the files."""
        return fingerprint(self._files, self._groups, self.names, self._target)
