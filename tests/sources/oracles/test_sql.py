"""Draws from DuckDB: tables by ranges of row numbers, queries as they come."""

import gc
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

from pacboost.errors import DataError, FileError, PacboostError, ParameterError
from pacboost.sources import optional
from pacboost.sources.oracles import sql as module
from pacboost.sources.oracles.oracle import SHUFFLED, STREAM, AbstractOracle
from tests.sources.oracles.passes import BytesHeld, check_draws, of_size, sequence

GROUP = 4096
N = 5 * GROUP + 100
SHOP = f'''
CREATE TABLE shop AS SELECT
    range::DOUBLE AS a, (range / 2)::FLOAT AS "b ""quoted""", range % 3 = 0 AS c,
    CASE WHEN range % 10 = 0 THEN NULL ELSE range END AS d, range % 3 AS y,
    CASE WHEN range % 2 = 0 THEN 'even' ELSE 'odd' END AS word
FROM range({N})
'''


@pytest.fixture
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(module, "ROW_GROUP_ROWS", GROUP)
    path = tmp_path / "shop.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(SHOP)
        connection.execute("CREATE VIEW small AS SELECT * FROM shop WHERE a < 50")
    return path


@pytest.fixture
def connection() -> Iterator[Any]:
    with duckdb.connect() as connection:
        yield connection


@pytest.fixture
def sql(connection: Any) -> Iterator[Callable[..., AbstractOracle]]:
    """Oracles that are closed before the connection is: a thread of theirs may be reading."""
    assert connection
    made: list[AbstractOracle] = []

    def make(*args: Any, **options: Any) -> AbstractOracle:
        made.append(module.sql(*args, **options))
        return made[-1]

    yield make
    for oracle in made:
        oracle.close()


Sql = Callable[..., AbstractOracle]
QUERY = "SELECT * EXCLUDE word FROM shop WHERE a < 9000"


class TestTable:
    def test_passes(self, sql: Sql, database: Path) -> None:
        oracle = sql(database, "y", 3, table="shop", drop=["word"])
        assert oracle.order is SHUFFLED
        assert oracle.names == ("a", 'b "quoted"', "c", "d")
        assert (oracle.n_rows, oracle.n_columns) == (N, 4)
        rows, values, labels = sequence(oracle, of_size(3000), laps=2)
        a = values[:, 0]
        assert sorted(a[:N]) == sorted(a[N:]) == list(range(N))
        assert a[:N].tolist() != a[N:].tolist()
        assert [(row >> 32) * GROUP + (row & 0xFFFFFFFF) for row in rows] == a.tolist()
        np.testing.assert_array_equal(values[:, 1], a / 2)
        np.testing.assert_array_equal(values[:, 2], a % 3 == 0)
        np.testing.assert_array_equal(values[:, 3], np.where(a % 10 == 0, np.nan, a))
        assert labels == (a % 3).tolist()
        again = sql(database, "y", 5, table="shop", drop=["word"])
        other = sql(database, "y", table="shop", drop=["word", "c"])
        assert oracle.fingerprint() == again.fingerprint() != other.fingerprint()

    def test_any_size_and_position(
        self, sql: Sql, connection: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(module, "ROW_GROUP_ROWS", 20)
        connection.execute("CREATE TABLE t AS SELECT range AS a, range % 2 AS y FROM range(90)")
        check_draws(lambda: sql(connection, "y", 1, table="t"), 90)

    def test_deleted_rows_are_gone(
        self, sql: Sql, connection: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(module, "ROW_GROUP_ROWS", 10)
        connection.execute("CREATE TABLE t AS SELECT range AS a, 1 AS y FROM range(90)")
        connection.execute("DELETE FROM t WHERE a BETWEEN 20 AND 44 OR a = 60")
        rows, values, _ = sequence(sql(connection, "y", table="t"), of_size(4))
        assert sorted(values[:, 0]) == [a for a in range(90) if not 20 <= a <= 44 and a != 60]
        assert len(set(rows)) == 64

    def test_classes_and_labels_that_are_text(self, sql: Sql, database: Path) -> None:
        numbers = sql(database, "y", table="shop", drop=["word"])
        assert np.asarray(numbers.classes()).tolist() == [0, 1, 2]
        oracle = sql(database, "word", table="shop")
        assert np.asarray(oracle.classes()).tolist() == ["even", "odd"]
        batch = oracle.draw(50)
        odd = batch.table.rows()[:, 0] % 2 == 1
        assert batch.labels.tolist() == np.where(odd, "odd", "even").tolist()

    def test_never_more_than_two_blocks_are_held(self, sql: Sql, database: Path) -> None:
        oracle = sql(database, "y", table="shop", drop=["word"])
        held = BytesHeld(oracle)
        sequence(oracle, of_size(1000), laps=2)
        assert oracle.largest_block == GROUP * (65 + 33 + 2 + 65 + 65) // 8
        # How far the reader is ahead depends on its pace; two blocks are the most there may be.
        assert oracle.largest_block <= held.most <= 2 * oracle.largest_block
        per_pass = N * (64 + 32 + 1 + 64 + 64) / 8
        assert 2 * per_pass <= held.read <= 2.2 * per_pass + 2 * oracle.largest_block
        with pytest.raises(DataError, match=r"table shop of .*: takes"):
            oracle.check_memory(1000)

    def test_a_schema_may_be_named(self, sql: Sql, connection: Any) -> None:
        connection.execute('CREATE SCHEMA s; CREATE TABLE s."t t" AS SELECT 1 AS a, 2 AS y')
        assert sql(connection, "y", table="s.t t").draw(5).labels.tolist() == [2]


class TestQuery:
    def test_passes(self, sql: Sql, database: Path) -> None:
        oracle = sql(database, "y", query=QUERY)
        assert oracle.order is STREAM
        assert oracle.n_rows is None
        rows, values, labels = sequence(oracle, of_size(3000), laps=2)
        a = values[:, 0]
        assert len(rows) == 18_000
        assert sorted(a[:9000]) == sorted(a[9000:]) == list(range(9000))
        assert sorted(a[:GROUP]) == list(range(GROUP))
        assert a[:GROUP].tolist() != list(range(GROUP))
        assert labels == (a % 3).tolist()
        assert rows[:9000] != rows[9000:]

    def test_any_size_and_position(
        self, sql: Sql, database: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(module, "ROW_GROUP_ROWS", 2048)
        query = "SELECT a, y FROM shop WHERE a < 5000 AND a % 10 = 0"
        check_draws(lambda: sql(database, "y", query=query), 500)

    def test_the_query_may_read_files(self, sql: Sql, tmp_path: Path, connection: Any) -> None:
        (tmp_path / "a.csv").write_text("a,y\n1,2\n")
        query = f"SELECT * FROM '{tmp_path}/a.csv'"
        assert sql(connection, "y", query=query).draw(9).labels.tolist() == [2]

    def test_never_more_than_two_chunks_are_held(self, sql: Sql, database: Path) -> None:
        oracle = sql(database, "y", query="SELECT a, y FROM shop")
        held = BytesHeld(oracle)
        sequence(oracle, of_size(1000), laps=2)
        block = GROUP * (65 + 65) // 8
        assert block < held.most <= 2 * block

    def test_text_labels(self, sql: Sql, database: Path) -> None:
        oracle = sql(database, "word", query="SELECT a, word FROM small")
        assert set(oracle.draw(50).labels.tolist()) == {"even", "odd"}
        assert oracle.classes() is None


@pytest.mark.parametrize(
    ("target", "options", "complaint"),
    [
        ("y", {}, "a table or a query"),
        ("y", {"table": "t", "query": "SELECT 1"}, "a table or a query"),
        ("y", {"table": "nothing"}, "table nothing of .*shop.duckdb: .*does not exist"),
        ("y", {"table": "small", "drop": ["word"]}, "table small of .*rowid"),
        ("z", {"table": "shop"}, "has no column 'z'"),
        ("y", {"query": "SELECT nonsense"}, "batch 0 of the query of .* cannot be read: "),
        ("y", {"query": "SELECT a FROM shop"}, "has no column 'y'"),
        ("y", {"query": "SELECT a, y FROM shop WHERE a < 0"}, "is empty; at least one batch"),
    ],
)
def test_bad_tables_and_queries(
    sql: Sql, database: Path, target: str, options: dict[str, Any], complaint: str
) -> None:
    with pytest.raises((DataError, ParameterError), match=complaint):
        sql(database, target, **options)


@pytest.mark.parametrize(
    ("row", "complaint"),
    [("'inf'::DOUBLE, 1", r"row 150: column 'a' holds inf"), ("1, NULL", r"row 150: has no label")],
)
def test_bad_rows_are_named(
    sql: Sql, connection: Any, monkeypatch: pytest.MonkeyPatch, row: str, complaint: str
) -> None:
    monkeypatch.setattr(module, "ROW_GROUP_ROWS", 100)
    connection.execute("CREATE TABLE t AS SELECT range::DOUBLE AS a, 1 AS y FROM range(150)")
    connection.execute(f"INSERT INTO t SELECT {row}")
    connection.execute("DELETE FROM t WHERE a = 120")
    oracle = sql(connection, "y", table="t")
    with pytest.raises(DataError, match=f"database, {complaint}"):
        sequence(oracle, of_size(50))
    if "label" in complaint:
        with pytest.raises(DataError, match=complaint):
            oracle.classes()
    query = sql(connection, "y", query="SELECT * FROM t")
    with pytest.raises(DataError, match=r"batch \d of the query"):
        sequence(query, of_size(50))


def test_an_empty_table_and_no_database(sql: Sql, connection: Any, tmp_path: Path) -> None:
    connection.execute("CREATE TABLE t (a INT, y INT)")
    with pytest.raises(DataError, match="there are no rows"):
        sql(connection, "y", table="t")
    with pytest.raises(FileError, match="there is no such"):
        sql(tmp_path / "no.duckdb", "y", table="t")
    (tmp_path / "bad.duckdb").write_bytes(b"x" * 10_000)
    with pytest.raises(FileError, match=r"bad\.duckdb: cannot be"):
        sql(tmp_path / "bad.duckdb", "y", table="t")


def test_without_duckdb_the_extra_is_named(
    sql: Sql, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(optional, "import_module", missing)
    with pytest.raises(PacboostError, match=r"pip install 'pacboost\[sql\]'"):
        sql(database, "y", table="shop")


def test_a_closed_query_lets_go_of_its_result(database: Path) -> None:
    """DuckDB waits for ever when a database is opened whose result is not yet freed."""
    results: list[weakref.ref[Any]] = []

    class Watched(module.QueryOracle):
        def _run(self) -> Iterator[Any]:
            rows = super()._run()
            results.append(weakref.ref(rows))
            return rows

    gc.disable()
    try:
        with Watched(database, "SELECT a, y FROM shop", "y") as oracle:
            oracle.draw(1)
        assert [result() for result in results] == [None]
    finally:
        gc.enable()
