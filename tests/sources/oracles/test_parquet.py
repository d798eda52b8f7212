"""Draws from Parquet files: every row once, two row groups at most, and complaints with a place."""

import pickle
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pacboost.errors import DataError, FileError
from pacboost.sources.oracles.arrow import BUFFER_BYTES, ParquetOracle
from pacboost.sources.oracles.oracle import SHUFFLED
from tests.sources.oracles.passes import BytesHeld, check_draws, check_passes, of_size, sequence


def write(path: Path, n: int, first: int = 0, group: int = 10, **columns: Any) -> Path:
    """A file whose column a numbers the rows."""
    a = np.arange(first, first + n, dtype=np.float64)
    table = {"a": a, "b": a.astype(np.float32) / 2, "y": (a % 3).astype(np.int64), **columns}
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(table), path, row_group_size=group)
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three files of 35, 20 and 41 rows."""
    write(tmp_path / "data" / "p1.parquet", 35)
    write(tmp_path / "data" / "p2.parquet", 20, 35, group=20)
    write(tmp_path / "data" / "sub" / "p3.parquet", 41, 55, group=7)
    return tmp_path / "data"


N = 96


def test_passes(folder: Path) -> None:
    check_draws(lambda: ParquetOracle(folder, "y", 3), N)


def test_values_and_labels_belong_together(folder: Path) -> None:
    oracle = ParquetOracle(folder, "y")
    assert (oracle.names, oracle.n_columns, oracle.n_rows) == (("a", "b"), 2, N)
    assert oracle.order is SHUFFLED
    _, values, labels = sequence(oracle, of_size(9))
    assert sorted(values[:, 0]) == list(range(N))
    np.testing.assert_array_equal(values[:, 1], values[:, 0] / 2)
    assert labels == (values[:, 0] % 3).tolist()
    assert oracle.classes().tolist() == [0, 1, 2]


def test_the_order_of_listing_has_no_part(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [folder / "p1.parquet", folder / "p2.parquet", folder / "sub" / "p3.parquet"]
    expected = sequence(ParquetOracle(folder, "y", 1), of_size(9), laps=2)
    monkeypatch.chdir(folder.parent)
    for source in (
        paths,
        paths[::-1],
        [paths[1], folder],
        [str(folder / "sub"), str(folder / "p*.parquet")],
        f"{folder}/**/*.parquet",
        "data",
        ["data/p2.parquet", "data/sub", "data/p1.parquet"],
    ):
        oracle = ParquetOracle(source, "y", 1)
        got = sequence(oracle, of_size(13), laps=2)
        assert got[0] == expected[0]
        np.testing.assert_array_equal(got[1], expected[1])
        assert oracle.fingerprint() == ParquetOracle(folder, "y").fingerprint()


def test_hidden_files_and_other_programs_files_are_passed_over(folder: Path) -> None:
    (folder / "_SUCCESS.parquet").write_bytes(b"")
    (folder / ".part.parquet").write_bytes(b"")
    (folder / "_temporary").mkdir()
    (folder / "_temporary" / "p.parquet").write_bytes(b"")
    (folder / "notes.txt").write_text("hello")
    assert ParquetOracle(folder, "y").n_rows == N


KINDS: dict[str, Any] = {
    "float32": pa.array([0.5, None, 2.5], pa.float32()),
    "float64": pa.array([0.1, None, np.nan]),
    "half": pa.array(np.array([0.5, 1.5, 2.5], dtype=np.float16)),
    "int64": pa.array([2**53 + 1, None, -1]),
    "uint8": pa.array([1, 2, 255], pa.uint8()),
    "bool": pa.array([True, None, False]),
    "null": pa.nulls(3),
    "decimal": pa.array([Decimal("1.25"), None, Decimal("-3.5")]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_number(tmp_path: Path, kind: str) -> None:
    column = KINDS[kind]
    path = write(tmp_path / "k.parquet", 3, x=column)
    rows, values, _ = sequence(ParquetOracle(path, "y", drop=["a", "b"]), of_size(2))
    expected = [np.nan if cell is None else float(cell) for cell in column.to_pylist()]
    np.testing.assert_array_equal(values[np.argsort(rows), 0], expected)


def test_float32_is_kept_where_it_loses_nothing(tmp_path: Path) -> None:
    path = write(tmp_path / "k.parquet", 3, x=KINDS["bool"])
    assert ParquetOracle(path, "y", drop=["a"]).draw(3).table.rows().dtype == np.float32
    assert ParquetOracle(path, "y").draw(3).table.rows().dtype == np.float64


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        (pa.array(["yes", "no", "yes"]), ["no", "yes"]),
        (pa.array(["yes", "no", "yes"]).dictionary_encode(), ["no", "yes"]),
        (pa.array([True, False, True]), [False, True]),
        (pa.array([0.5, -1.0, 0.5]), [-1.0, 0.5]),
        (pa.array([3, 1, 3], pa.int8()), [1, 3]),
    ],
)
def test_labels_of_any_kind(tmp_path: Path, labels: Any, classes: list[Any]) -> None:
    path = write(tmp_path / "l.parquet", 3, y=labels, group=2)
    oracle = ParquetOracle(path, "y")
    assert oracle.classes().tolist() == classes
    _, values, got = sequence(oracle, of_size(2))
    assert got == [labels.to_pylist()[int(row)] for row in values[:, 0]]


def test_files_may_order_their_columns_and_numbers_differently(tmp_path: Path) -> None:
    write(tmp_path / "1.parquet", 3)
    table = pa.table({"y": [1, 2], "b": [1, 2], "a": pa.array([3, 4], pa.int8())})
    pq.write_table(table, tmp_path / "2.parquet")
    _, values, _ = sequence(ParquetOracle(tmp_path, "y"), of_size(5))
    assert sorted(values[:, 0]) == [0, 1, 2, 3, 4]


def test_empty_row_groups_and_files_hold_no_rows(tmp_path: Path) -> None:
    write(tmp_path / "1.parquet", 0)
    write(tmp_path / "2.parquet", 5)
    check_passes(lambda: ParquetOracle(tmp_path, "y"), 5)


def test_the_index_of_a_pandas_frame_is_no_feature(tmp_path: Path) -> None:
    path = write(tmp_path / "i.parquet", 4, __index_level_0__=np.arange(4))
    assert ParquetOracle(path, "y").names == ("a", "b")


class TestMemory:
    GROUP = 20_000
    FEATURES = 12
    PAGES = BUFFER_BYTES + 2 * 8 * GROUP
    """What decoding takes besides: a buffer, and a column's page before and after unpacking."""

    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        generator = np.random.default_rng(0)
        n = 8 * self.GROUP
        columns: dict[str, Any] = {f"x{j}": generator.random(n) for j in range(self.FEATURES)}
        columns["x0"] = pa.array(columns["x0"], mask=generator.random(n) < 0.1)
        columns["text"] = ["left out" * 5] * n
        columns["y"] = np.where(generator.random(n) < 0.5, "yes", "no")
        pq.write_table(pa.table(columns), tmp_path / "m.parquet", row_group_size=self.GROUP)
        return tmp_path / "m.parquet"

    @pytest.fixture
    def pool(self) -> Iterator[Any]:
        """A pool that counts from 0 what Arrow really allocates."""
        before = pa.default_memory_pool()
        pool = pa.proxy_memory_pool(before)
        pa.set_memory_pool(pool)
        yield pool
        pa.set_memory_pool(before)

    def test_never_more_than_two_row_groups_are_held(self, path: Path, pool: Any) -> None:
        oracle = ParquetOracle(path, "y", drop=["text"])
        held, block, column = BytesHeld(oracle), oracle.largest_block, 8 * self.GROUP
        assert block == self.GROUP * (self.FEATURES * 65 + 33) // 8
        for _ in range(60):
            batch = oracle.draw(5000)
            assert pool.bytes_allocated() <= 2 * block + self.PAGES
        assert batch.lap == 1
        assert 0.9 * block < held.most <= 2 * block  # two, if the reader keeps pace
        assert held.most <= pool.max_memory() <= 2 * block + self.PAGES
        turn = oracle.position()["turn"]
        assert 8 * block < 1.01 * held.read <= 1.01 * (8 + turn + 2) * block
        oracle.close()
        del batch
        assert pool.bytes_allocated() < column

    def test_a_batch_that_is_kept_does_not_keep_its_row_group(self, path: Path, pool: Any) -> None:
        oracle = ParquetOracle(path, "y", drop=["text"])
        kept = [oracle.draw(self.GROUP).labels for _ in range(6)]
        kept_rows = [oracle.draw(10) for _ in range(2)]
        assert len(kept) + len(kept_rows) == 8
        oracle.close()
        assert pool.bytes_allocated() < 8 * self.GROUP

    def test_classes_read_the_target_alone(self, path: Path, pool: Any) -> None:
        assert ParquetOracle(path, "y", drop=["text"]).classes().tolist() == ["no", "yes"]
        assert pool.max_memory() < 16 * self.GROUP

    def test_a_limit_that_two_row_groups_break_is_refused(self, path: Path) -> None:
        oracle = ParquetOracle(path, "y", drop=["text"])
        oracle.check_memory(2 * oracle.largest_block)
        with pytest.raises(DataError, match=r"m\.parquet, row group 0: takes 2"):
            oracle.check_memory(3_000_000)


class TestBadInput:
    @pytest.mark.parametrize(
        ("source", "complaint"),
        [
            ("no.parquet", r"no\.parquet: there is no such file"),
            ("no*.parquet", r"no\*\.parquet: no file matches"),
            ("empty", r"holds no file that ends in \.parquet or \.pq"),
            ([], "no file was named"),
        ],
    )
    def test_no_file(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: Any, complaint: str
    ) -> None:
        (tmp_path / "empty").mkdir()
        monkeypatch.chdir(tmp_path)
        with pytest.raises(FileError, match=complaint):
            ParquetOracle(source, "y")

    @pytest.mark.parametrize(
        ("columns", "complaint"),
        [
            ({"a": [1.0], "b": [1.0], "c": [1], "y": [1]}, r"has other .*p1\.parquet: it also has"),
            ({"a": [1.0], "y": [1]}, ".* it lacks 'b'"),
            ({"a": [1.0], "b": [1.0]}, "has no column 'y'; .* 'a', 'b'"),
            ({"a": [1.0], "b": [1.0], "y": ["0"]}, "the target 'y' is .*string.* int64"),
            ({"a": [1.0], "b": ["one"], "y": [1]}, r"column 'b' is .*string.* it is float"),
            (
                {"a": pa.array([0], pa.timestamp("s")), "b": [1.0], "y": [1]},
                r"column 'a' is timestamp\[.*\], but in ",
            ),
        ],
    )
    def test_a_file_unlike_the_others(
        self, folder: Path, columns: dict[str, Any], complaint: str
    ) -> None:
        pq.write_table(pa.table(columns), folder / "p4.parquet")
        with pytest.raises(DataError, match=rf"p4\.parquet: {complaint}"):
            ParquetOracle(folder, "y")
        assert ParquetOracle([folder / "p1.parquet", folder / "p2.parquet"], "y").n_rows == 55

    def test_columns_and_rows_that_are_not_there(self, folder: Path, tmp_path: Path) -> None:
        with pytest.raises(DataError, match="has no column 'z'"):
            ParquetOracle(folder, "y", drop=["z"])
        with pytest.raises(DataError, match="no feature"):
            ParquetOracle(folder, "y", drop=["a", "b"])
        with pytest.raises(DataError, match="there are no rows"):
            ParquetOracle(write(tmp_path / "e.parquet", 0), "y")

    def test_an_infinite_value(self, folder: Path) -> None:
        b = np.zeros(20)
        b[13] = np.inf
        write(folder / "p2.parquet", 20, 35, group=10, b=b)
        oracle = ParquetOracle(folder, "y")
        with pytest.raises(DataError, match=r"p2\.parquet, row group 1, row 3"):
            sequence(oracle, of_size(10))

    def test_a_missing_label(self, folder: Path) -> None:
        write(folder / "p2.parquet", 20, 35, y=[*range(17), None, 1, 1])
        oracle = ParquetOracle(folder, "y")
        place = r"p2\.parquet, row group 1, row 7: has no label"
        with pytest.raises(DataError, match=place):
            sequence(oracle, of_size(10))
        with pytest.raises(DataError, match=place):
            ParquetOracle(folder, "y").classes()

    @pytest.mark.parametrize("left", [0, 3, 200, 1000])
    def test_a_truncated_file(self, folder: Path, left: int) -> None:
        whole = (folder / "p2.parquet").read_bytes()
        (folder / "p2.parquet").write_bytes(whole[:left])
        with pytest.raises(FileError, match=r"p2\.parquet: cannot be read"):
            ParquetOracle(folder, "y")

    def test_a_file_that_is_broken_inside(self, tmp_path: Path) -> None:
        path = write(tmp_path / "b.parquet", 3000, group=1000)
        content = bytearray(path.read_bytes())
        where = pq.ParquetFile(path).metadata.row_group(1).column(0).dictionary_page_offset
        content[where : where + 40] = bytes(40)
        path.write_bytes(content)
        oracle = ParquetOracle(path, "y")
        with pytest.raises(FileError, match=r"b\.parquet, row group 1: cannot"):
            sequence(oracle, of_size(500))

    def test_a_file_that_changes_or_vanishes_while_it_is_read(self, tmp_path: Path) -> None:
        path = write(tmp_path / "c.parquet", 30)
        oracle = ParquetOracle(path, "y")
        write(path, 15, group=5)
        with pytest.raises(FileError, match="was changed while it"):
            oracle.draw(1)
        oracle = ParquetOracle(path, "y")
        path.unlink()
        with pytest.raises(FileError, match=r"c\.parquet, row group \d: cannot"):
            oracle.draw(1)


def test_another_source_has_another_fingerprint(folder: Path) -> None:
    before = ParquetOracle(folder, "y").fingerprint()
    assert ParquetOracle(folder, "a").fingerprint() != before
    write(folder / "p1.parquet", 36)
    assert ParquetOracle(folder, "y").fingerprint() != before


class Payload:
    """Makes a file when it is unpickled."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self) -> Any:
        return Path.touch, (self.file,)


def test_nothing_in_a_file_is_unpickled(tmp_path: Path) -> None:
    """Old versions of Arrow wrote types of Python into files, as pickles."""
    code = pickle.dumps(Payload(tmp_path / "ran"))
    names = {b"ARROW:extension:name": b"arrow.py_extension_type", b"pandas": code}
    column = pa.field("a", pa.float64(), metadata={**names, b"ARROW:extension:metadata": code})
    schema = pa.schema([column, pa.field("y", pa.int64())], metadata={b"pandas": code})
    table = pa.table([[1.0, 2.0], [0, 1]], schema=schema)
    pq.write_table(table, tmp_path / "a.parquet")
    with suppress(DataError):  # a type that is not known is not a number
        ParquetOracle(tmp_path / "a.parquet", "y").draw(2)
    assert not (tmp_path / "ran").exists()


@pytest.mark.skipif(pa.__version__.startswith("16."), reason="pyarrow 16 loads pandas itself")
def test_reading_loads_no_data_frame_library(folder: Path) -> None:
    program = (
        "import sys\n"
        "from pacboost.sources.oracles.arrow import ParquetOracle\n"
        "assert 'pyarrow' not in sys.modules\n"
        f"oracle = ParquetOracle({str(folder)!r}, 'y')\n"
        "oracle.classes(), oracle.draw(100)\n"
        "assert not {'pandas', 'polars', 'sklearn'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
