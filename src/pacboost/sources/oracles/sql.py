"""Draw from DuckDB: a table in random order, or a query in its own order."""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from pacboost.errors import DataError, FileError, ParameterError
from pacboost.sources.optional import need
from pacboost.sources.oracles.arrow import has_texts, row_bits
from pacboost.sources.oracles.blocks import BlockOracle
from pacboost.sources.oracles.files import features
from pacboost.sources.oracles.oracle import AbstractOracle
from pacboost.sources.oracles.row_block import (
    NO_LABEL,
    RowBlock,
    distinct,
    hold_arrow,
    plain_labels,
)
from pacboost.sources.oracles.stream import StreamOracle

ROW_GROUP_ROWS = 122_880
"""Rows in a row group of DuckDB."""
CACHE_BYTES = 128_000_000
"""Memory limit of DuckDB, whose default is most of the memory."""


def sql(
    database: object,
    target: str,
    seed: int = 0,
    *,
    table: str | None = None,
    query: str | None = None,
    drop: Collection[str] = (),
) -> AbstractOracle:
    """Return an oracle for a table or a query of a DuckDB file or open connection.

    Close the oracle before the connection, because another thread may still be reading.
    """
    if (table is None) == (query is None):
        raise ParameterError(
            "name a table or a query of the database, and not both", parameter="table"
        )
    if table is not None:
        return TableOracle(database, table, target, seed, drop=drop)
    return QueryOracle(database, str(query), target, seed, drop=drop)


class TableOracle(BlockOracle):
    """The rows of a table in random order, by ranges of row numbers of the size of a row group."""

    bytes_besides = CACHE_BYTES
    names: tuple[str, ...]
    n_rows: int

    def __init__(
        self,
        database: object,
        table: str,
        target: str,
        seed: int = 0,
        *,
        drop: Collection[str] = (),
    ) -> None:
        self._target = target
        self._from = f"FROM {'.'.join(map(_quoted, table.split('.')))}"
        self._where = f"table {table} of {_name(database)}"
        self._connection = _connect(database)
        schema = self._fetch_arrow(f"SELECT * {self._from} LIMIT 0").schema
        columns = self.names = self._read = features(schema.names, target, drop, self._where)
        rows, last = self._fetch_one(f"SELECT count(*), max(rowid) {self._from}")
        if not rows:
            raise DataError(f"{self._where}: there are no rows; at least one is needed")
        super().__init__(seed, last // ROW_GROUP_ROWS + 1)
        if has_texts(schema, columns):
            self.learned = self.learn_columns(self._cells, self._where)
            self.names, self._read = self.learned.names, self.learned.sources
        self.n_rows, self.n_columns = rows, len(self.names)
        bits = row_bits([schema.field(name).type for name in (*self._read, target)])
        self.largest_block = min(rows, ROW_GROUP_ROWS) * bits // 8
        self.largest_block_place = self._where

    def read(self, block: int) -> RowBlock:
        table = self._columns(block, [*self._read, self._target])
        return hold_arrow(table, self._target, learned=self.learned)

    def _cells(self, block: int) -> Any:
        return self._columns(block, self._read)

    def _columns(self, block: int, names: Sequence[str]) -> Any:
        columns = ", ".join(map(_quoted, names))
        return self._fetch_arrow(f"SELECT {columns} {self._from} {_range(block)}")

    def _fetch_arrow(self, query: str) -> Any:
        with self._complaints():
            return _arrow_reader(self._connection.cursor(), query).read_all()

    def _fetch_one(self, query: str) -> Any:
        with self._complaints():
            return self._connection.cursor().execute(query).fetchone()

    @contextmanager
    def _complaints(self) -> Iterator[None]:
        try:
            yield
        except need("duckdb").Error as problem:
            raise DataError(f"{self._where}: {problem}") from problem

    def classes(self) -> NDArray[Any]:
        target = _quoted(self._target)
        labels = self._fetch_arrow(f"SELECT DISTINCT {target} {self._from}").column(0)
        if labels.null_count:
            missing = f"SELECT min(rowid) {self._from} WHERE {target} IS NULL"
            raise DataError(f"{self._where}, row {self._fetch_one(missing)[0]}: {NO_LABEL}")
        return distinct([plain_labels(labels)])

    def fingerprint(self) -> str:
        facts = (self._from, self.names, self._target, self.n_rows, self._n_blocks)
        return sha256(repr(facts).encode()).hexdigest()

    def place(self, row: int) -> str:
        here = f"{_range(row >> 32)} ORDER BY rowid LIMIT 1 OFFSET {row & 0xFFFFFFFF}"
        (number,) = self._fetch_one(f"SELECT rowid {self._from} {here}")
        return f"{self._where}, row {number}"

    def close(self) -> None:
        super().close()
        self._connection.close()


class QueryOracle(StreamOracle):
    """The rows of a query in its order, shuffled within chunks.

    Every pass runs the query again on one thread, so that the order is always the same, unless the
    query itself is random, such as ORDER BY random().
    """

    shuffles_rows = True
    reads_ahead = True
    bytes_besides = CACHE_BYTES

    def __init__(
        self,
        database: object,
        query: str,
        target: str,
        seed: int = 0,
        *,
        drop: Collection[str] = (),
    ) -> None:
        self.called = f"the query of {_name(database)}"
        self._query = query
        self._connection = _connect(database)
        super().__init__(self._run, target, seed, drop=drop)

    def _run(self) -> Iterator[Any]:
        with self._connection.cursor() as cursor:
            yield from _arrow_reader(cursor, self._query)

    def hold(self, batch: Any) -> RowBlock:
        target = str(self._target)
        names = features(batch.schema.names, target, self._left_out, self.called)
        table = need("pyarrow").Table.from_batches([batch])
        if self._number == 1 and has_texts(batch.schema, names):
            cells = dict(zip(names, table.select(names).columns, strict=True))
            self.learn_first(cells, table.num_rows)
        return hold_arrow(table.select([*names, target]), target, learned=self.learned)

    def fingerprint(self) -> str:
        return sha256(repr((self._query, self.names, self._target)).encode()).hexdigest()

    def close(self) -> None:
        super().close()
        if isinstance(self._begun, Generator):
            self._begun.close()  # an open result would lock the file
        self._connection.close()


def _connect(database: Any) -> Any:
    """Open a file read-only, or share an open connection."""
    duckdb = need("duckdb")
    if hasattr(database, "cursor"):
        return database.cursor()
    if not Path(database).exists():
        raise FileError(f"{database}: there is no such file")
    settings = {"threads": 1, "memory_limit": f"{CACHE_BYTES}B"}
    try:
        return duckdb.connect(str(database), read_only=True, config=settings)
    except duckdb.Error as problem:
        raise FileError(
            f"{database}: cannot be opened ({problem}). If this program has already opened "
            "it, pass that connection instead of the path."
        ) from problem


def _arrow_reader(cursor: Any, query: str) -> Any:
    """Run a query and return a reader of its result in chunks."""
    relation = cursor.sql(query)
    name = "to_arrow_reader" if hasattr(relation, "to_arrow_reader") else "fetch_arrow_reader"
    return getattr(relation, name)(ROW_GROUP_ROWS)  # DuckDB 2 renamed this


def _range(block: int) -> str:
    return f"WHERE rowid >= {block * ROW_GROUP_ROWS} AND rowid < {(block + 1) * ROW_GROUP_ROWS}"


def _quoted(name: str) -> str:
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def _name(database: object) -> str:
    return "the database" if hasattr(database, "cursor") else str(database)
