"""Draw from DuckDB: a table in random order, or a query in its own.

A table is read by ranges of its row numbers, each as large as one of its row groups, in random
order. A query can only be read from its beginning: its rows come in its order, shuffled within
chunks, and it is run again for every pass. One thread runs it, so that it always gives the same
order; where it has an ORDER BY random() or the like, it does not.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from pacboost.errors import DataError, FileError, ParameterError
from pacboost.sources.optional import need
from pacboost.sources.oracles.arrow import number_columns, row_bits
from pacboost.sources.oracles.blocks import BlockOracle
from pacboost.sources.oracles.held import NO_LABEL, HeldColumns, distinct, hold_arrow, plain_labels
from pacboost.sources.oracles.oracle import AbstractOracle
from pacboost.sources.oracles.stream import StreamOracle

ROWS = 122_880
"""What DuckDB keeps together as a row group."""
CACHE = 128_000_000
"""DuckDB keeps what it has read until it holds so much; by default, most of the memory."""


def sql(
    database: Any,
    target: str,
    seed: int = 0,
    *,
    table: str | None = None,
    query: str | None = None,
    drop: Collection[str] = (),
) -> AbstractOracle:
    """Draw from a table or a query of a database: a file, or a connection that is open.

    Close the oracle before such a connection: the next block is read while this one is used.

    >>> connection = need("duckdb", "sql").connect()
    >>> _ = connection.execute("CREATE TABLE t AS SELECT range AS a, range % 2 AS y FROM range(9)")
    >>> sql(connection, "y", table="t").draw(100).table.rows().sum()
    np.float64(36.0)
    """
    if (table is None) == (query is None):
        raise ParameterError("name either a table or a query of the database")
    if table is not None:
        return TableOracle(database, table, target, seed, drop=drop)
    return QueryOracle(database, str(query), target, seed, drop=drop)


class TableOracle(BlockOracle):
    """The rows of a table, by ranges of their numbers."""

    names: tuple[str, ...]
    n_rows: int

    def __init__(
        self, database: Any, table: str, target: str, seed: int = 0, *, drop: Collection[str] = ()
    ) -> None:
        self._target = target
        self._from = f"FROM {'.'.join(map(_quoted, table.split('.')))}"
        self._where = f"table {table} of {_name(database)}"
        self._connection = _connect(database)
        schema = self._fetch_arrow(f"SELECT * {self._from} LIMIT 0").schema
        self.names = number_columns(schema, target, drop, self._where)
        rows, last = self._fetch_one(f"SELECT count(*), max(rowid) {self._from}")
        if not rows:
            raise DataError(f"{self._where}: there are no rows; at least one is needed")
        super().__init__(seed, last // ROWS + 1)
        self.n_rows, self.n_columns = rows, len(self.names)
        bits = row_bits([schema.field(name).type for name in (*self.names, target)])
        self.largest_block = min(rows, ROWS) * bits // 8
        self.largest_block_place = self._where

    def read(self, block: int) -> HeldColumns:
        columns = ", ".join(map(_quoted, [*self.names, self._target]))
        table = self._fetch_arrow(f"SELECT {columns} {self._from} {_range(block)}")
        return hold_arrow(table, self._target)

    def _fetch_arrow(self, query: str) -> Any:
        with _complaints(self._where):
            return _arrow_reader(self._connection.cursor(), query).read_all()

    def _fetch_one(self, query: str) -> Any:
        with _complaints(self._where):
            return self._connection.cursor().execute(query).fetchone()

    @property
    def bytes_needed(self) -> int:
        return super().bytes_needed + CACHE

    def classes(self) -> NDArray[Any]:
        target = _quoted(self._target)
        found = self._fetch_arrow(f"SELECT DISTINCT {target} {self._from}").column(0)
        if found.null_count:
            missing = f"SELECT min(rowid) {self._from} WHERE {target} IS NULL"
            raise DataError(f"{self._where}, row {self._fetch_one(missing)[0]}: {NO_LABEL}")
        return distinct([plain_labels(found)])

    def fingerprint(self) -> str:
        known = (self._from, self.names, self._target, self.n_rows, self._n_blocks)
        return sha256(repr(known).encode()).hexdigest()

    def place(self, row: int) -> str:
        here = f"{_range(row >> 32)} ORDER BY rowid LIMIT 1 OFFSET {row & 0xFFFFFFFF}"
        (number,) = self._fetch_one(f"SELECT rowid {self._from} {here}")
        return f"{self._where}, row {number}"

    def close(self) -> None:
        super().close()
        self._connection.close()


class QueryOracle(StreamOracle):
    """The rows of a query, in its order but shuffled within chunks."""

    shuffles_rows = True
    reads_ahead = True

    def __init__(
        self, database: Any, query: str, target: str, seed: int = 0, *, drop: Collection[str] = ()
    ) -> None:
        self.called = f"the query of {_name(database)}"
        self._query = query
        self._connection = _connect(database)
        super().__init__(self._run, target, seed, drop=drop)

    def _run(self) -> Iterator[Any]:
        with self._connection.cursor() as cursor:
            yield from _arrow_reader(cursor, self._query)

    def hold(self, batch: Any) -> HeldColumns:
        names = number_columns(batch.schema, str(self._target), self._left_out, self.called)
        table = need("pyarrow").Table.from_batches([batch])
        return hold_arrow(table.select([*names, self._target]), str(self._target))

    @property
    def bytes_needed(self) -> int:
        return super().bytes_needed + CACHE

    def fingerprint(self) -> str:
        return sha256(repr((self._query, self.names, self._target)).encode()).hexdigest()

    def close(self) -> None:
        super().close()
        if isinstance(self._begun, Generator):
            self._begun.close()  # with a result still open, nobody else could open the file
        self._connection.close()


def _connect(database: Any) -> Any:
    """Open a file, for reading alone, or share a connection that is open."""
    duckdb = need("duckdb", "sql")
    if hasattr(database, "cursor"):
        return database.cursor()
    if not Path(database).exists():
        raise FileError(f"{database}: there is no such file")
    settings = {"threads": 1, "memory_limit": f"{CACHE}B"}
    try:
        return duckdb.connect(str(database), read_only=True, config=settings)
    except duckdb.Error as problem:
        raise FileError(
            f"{database}: cannot be opened ({problem}). If this program has it open already, "
            "hand that connection in instead of the name."
        ) from problem


def _arrow_reader(cursor: Any, query: str) -> Any:
    """Run a query whose result comes in chunks as it is asked for."""
    relation = cursor.sql(query)
    # DuckDB 2 renamed this.
    return (getattr(relation, "to_arrow_reader", None) or relation.fetch_arrow_reader)(ROWS)


@contextmanager
def _complaints(where: str) -> Iterator[None]:
    try:
        yield
    except need("duckdb", "sql").Error as problem:
        raise DataError(f"{where}: {problem}") from problem


def _range(block: int) -> str:
    return f"WHERE rowid >= {block * ROWS} AND rowid < {(block + 1) * ROWS}"


def _quoted(name: str) -> str:
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def _name(database: Any) -> str:
    return "the database" if hasattr(database, "cursor") else str(database)
