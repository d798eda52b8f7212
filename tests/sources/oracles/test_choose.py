"""Oracles made of whatever users have."""

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

from pacboost.errors import FileError, ParameterError
from pacboost.sources.oracles import arrays, arrow, csv_lines, sql, stream, svmlight
from pacboost.sources.oracles.choose import as_oracle
from pacboost.sources.oracles.oracle import REPLACED
from pacboost.theory.world_oracle import WorldOracle
from pacboost.theory.worlds import hastie

X, Y = np.arange(6.0).reshape(3, 2), np.array([0, 1, 1])
FRAME = pl.DataFrame({"a": [1, 2, 3], "y": [0, 1, 1], "word": ["p", "q", "r"]})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with files of every kind."""
    FRAME.drop("word").write_parquet(tmp_path / "a.parquet")
    FRAME.drop("word").write_csv(tmp_path / "b.csv")
    (tmp_path / "c.svm").write_text("1 1:2\n")
    with duckdb.connect(str(tmp_path / "d.duckdb")) as connection:
        connection.execute("CREATE TABLE t AS SELECT 1 AS a, 2 AS y")
    return tmp_path


@pytest.mark.parametrize(
    ("source", "options", "kind"),
    [
        ("a.parquet", {}, arrow.ParquetOracle),
        ("*.parquet", {"drop": []}, arrow.ParquetOracle),
        ("b.csv", {}, csv_lines.CsvOracle),
        ("c.svm", {"n_features": 3}, svmlight.SvmlightOracle),
        ("d.duckdb", {"table": "t"}, sql.TableOracle),
        ("d.duckdb", {"query": "SELECT * FROM t"}, sql.QueryOracle),
    ],
)
def test_files_are_known_by_their_suffix(
    folder: Path, source: str, options: dict[str, Any], kind: type
) -> None:
    for named in (f"{folder}/{source}", folder / source, [folder / source]):
        with as_oracle(named, "y", 2, **options) as oracle:
            assert isinstance(oracle, kind)
            assert oracle.draw(1).n_rows == 1


def test_a_folder_of_one_kind(tmp_path: Path) -> None:
    FRAME.drop("word").write_parquet(tmp_path / "a.parquet")
    (tmp_path / "README").write_text("hello")
    assert as_oracle(tmp_path, "y").n_rows == 3


@pytest.mark.parametrize(
    ("source", "options", "kind"),
    [
        ((X, Y), {}, arrays.ArrayOracle),
        ((X.tolist(), Y.tolist()), {}, arrays.ArrayOracle),
        ((X, Y), {"replace": True}, arrays.ArrayOracle),
        (FRAME, {"target": "y", "drop": ["word"]}, arrays.ArrayOracle),
        (FRAME.to_arrow(), {"target": "y", "drop": ["word"]}, arrays.ArrayOracle),
        (pd.DataFrame({"a": [1.0], "y": [2]}), {"target": "y"}, arrays.ArrayOracle),
        (pd.DataFrame({0: [1.0], 1: [2]}), {"target": "1"}, arrays.ArrayOracle),
        (hastie(), {}, WorldOracle),
        ([(X, Y)], {}, stream.StreamOracle),
        (iter([(X, Y)]), {}, stream.StreamOracle),
        (lambda: [(X, Y)], {}, stream.StreamOracle),
        ([FRAME], {"target": "y", "drop": ["word"]}, stream.StreamOracle),
    ],
)
def test_sources_in_memory(source: Any, options: dict[str, Any], kind: type) -> None:
    oracle = as_oracle(source, seed=1, **options)
    assert isinstance(oracle, kind)
    assert as_oracle(oracle) is oracle
    assert oracle.draw(2).n_rows >= 1
    if options.get("replace"):
        assert oracle.order is REPLACED


def test_an_open_connection() -> None:
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t AS SELECT 1 AS a, 2 AS y")
        assert as_oracle(connection, "y", table="t").draw(3).labels.tolist() == [2]


@pytest.mark.parametrize("name", ["a.csv.gz", "a.csv.zst"])
def test_compressed_files_are_refused_with_advice(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"")
    for source in (tmp_path / name, tmp_path):
        with pytest.raises(FileError, match="cannot be drawn from a"):
            as_oracle(source, "y")


@pytest.mark.parametrize(
    ("files", "options", "message"),
    [
        ("", {}, r"a\.parquet and .*b\.csv have"),
        ("*.duckdb", {"table": "t"}, "draw from one database"),
        ("other/a.xlsx", {}, r"end in '\.xlsx' are"),
        ("other", {}, "holds no file that"),
    ],
)
def test_files_of_no_known_kind_or_of_several(
    folder: Path, files: str, options: dict[str, Any], message: str
) -> None:
    (folder / "other").mkdir()
    for name in ("e.duckdb", "other/a.xlsx"):
        (folder / name).write_bytes(b"")
    with pytest.raises(FileError, match=message):
        as_oracle(f"{folder}/{files}", "y", **options)


@pytest.mark.parametrize("source", ["a.parquet", "b.csv", "d.duckdb", FRAME], ids=str)
def test_a_target_has_to_be_named(folder: Path, source: Any) -> None:
    with pytest.raises(ParameterError, match="target is None; name"):
        as_oracle(folder / source if isinstance(source, str) else source)


def test_what_is_no_source() -> None:
    with pytest.raises(ParameterError, match="the source is a int"):
        as_oracle(3)
