"""Draws from CSV and svmlight files, and complaints that name file and line."""

import csv as python_csv
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from pacboost.errors import DataError, FileError, InputWarning, PacboostError, ParameterError
from pacboost.sources.file_rows import read_csv
from pacboost.sources.oracles import lines
from pacboost.sources.oracles.csv_lines import CsvOracle
from pacboost.sources.oracles.lines import Lines, cut, read_lines
from pacboost.sources.oracles.svmlight import SvmlightOracle
from tests.examples import examples
from tests.sources.oracles.passes import BytesHeld, check_draws, check_passes, of_size, sequence


def write(path: Path, n: int, first: int = 0) -> Path:
    """A file whose column a numbers the rows."""
    rows = [f"{i},{i / 2},{'yes' if i % 3 else 'no'}" for i in range(first, first + n)]
    path.write_text("\n".join(["a,b,y", *rows, ""]))
    return path


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three files, in blocks of few lines."""
    monkeypatch.setattr(lines, "BLOCK_BYTES", 64)
    for name, n, first in [("p1", 35, 0), ("p2", 20, 35), ("p3", 41, 55)]:
        write(tmp_path / f"{name}.csv", n, first)
    return tmp_path


N = 96


def test_passes(folder: Path) -> None:
    check_draws(lambda: CsvOracle(folder, "y", 3), N)


def test_values_and_labels_belong_together(folder: Path) -> None:
    oracle = CsvOracle(folder, "y")
    assert (oracle.names, oracle.n_columns, oracle.n_rows) == (("a", "b"), 2, None)
    assert oracle.classes() is None
    _, values, labels = sequence(oracle, of_size(9))
    assert sorted(values[:, 0]) == list(range(N))
    np.testing.assert_array_equal(values[:, 1], values[:, 0] / 2)
    assert labels == ["yes" if a % 3 else "no" for a in values[:, 0]]


def test_columns_may_stand_in_another_order(tmp_path: Path) -> None:
    write(tmp_path / "1.csv", 3)
    (tmp_path / "2.csv").write_text("y,b,a,\n".replace(",\n", "\n") + "no,8,7\n")
    _, values, _ = sequence(CsvOracle(tmp_path, "y"), of_size(5))
    assert [7.0, 8.0] in values.tolist()


def test_the_same_rows_as_the_small_reader(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(
        '\n\n"a"," b, ""c""",y\n"1",2,"x, y"\n\n , NA ,"p\nq"\nnan,?,x\n1e3,-.5,x\nNULL,+4,x',
        "utf-8",
    )
    small = read_csv(path, "y")
    rows, values, labels = sequence(CsvOracle(path, "y"), of_size(2))
    order = np.argsort(rows)
    np.testing.assert_array_equal(values[order], small.table.rows())
    assert [labels[k] for k in order] == small.labels.tolist()
    assert CsvOracle(path, "y").names == small.table.names


cell = st.sampled_from(["1", "-2.5", "", "NA", " nAn", "?", "1e-3", "+7", " 8 ", '"9"', "0.1"])


@given(st.lists(st.tuples(cell, cell, st.sampled_from(["0", "1", "+1", " 2"])), min_size=1))
@examples(60)
def test_arrow_and_the_small_reader_agree(rows: list[tuple[str, str, str]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        import tempfile

        patch.setattr(lines, "BLOCK_BYTES", 40)
        with tempfile.TemporaryDirectory() as home:
            path = Path(home) / "a.csv"
            path.write_text("\n".join(["a,b,y", *map(",".join, rows)]))
            small = read_csv(path, "y")
            numbers, values, labels = sequence(CsvOracle(path, "y"), of_size(9))
    order = np.argsort(numbers)
    np.testing.assert_array_equal(values[order], small.table.rows())
    assert [labels[k] for k in order] == small.labels.tolist()


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_line_ends_and_a_byte_order_mark(tmp_path: Path, end: str) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"\xef\xbb\xbf" + end.join(["a,y", "1,0", "2,1", ""]).encode())
    rows, values, labels = sequence(CsvOracle(path, "y"), of_size(9))
    assert len(rows) == 2
    assert sorted(zip(values[:, 0].tolist(), labels, strict=True)) == [(1, 0), (2, 1)]


def test_quoted_line_ends_cut_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "BLOCK_BYTES", 16)
    path = tmp_path / "q.csv"
    rows = [f'{i},"line {i}\nand ""more""\n"' for i in range(30)]
    path.write_text("\n".join(["a,y", *rows, ""]))
    check_passes(lambda: CsvOracle(path, "y"), 30)
    _, values, labels = sequence(CsvOracle(path, "y"), of_size(7))
    assert labels == [f'line {int(a)}\nand "more"\n'.strip() for a in values[:, 0]]


def test_bytes_are_counted(folder: Path) -> None:
    oracle = CsvOracle(folder, "y")
    held = BytesHeld(oracle)
    sequence(oracle, of_size(2))
    assert 0 < held.most <= oracle.largest_block * 2
    assert held.read >= N * 16
    oracle.check_memory(10_000)
    with pytest.raises(DataError, match=r"p\d\.csv, from line \d+ on"):
        oracle.check_memory(100)


def complaint(path: Path, text: str | bytes, drop: tuple[str, ...] = ()) -> str:
    """What is said of a file of this content; it has to name the file."""
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(PacboostError) as caught:
        sequence(CsvOracle(path, "y", drop=drop), of_size(10))
    message = str(caught.value)
    assert message.startswith(str(path))
    return message.removeprefix(str(path))


GOOD = "a,b,y\n" + "1,2,0\n" * 20


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", ": is empty; a header line and at least one row are needed"),
        ("\n\n", ": is empty"),
        ("a,b,y\n", ": there are no rows"),
        ("a,a,y\n1,2,3\n", ": has duplicate columns: a"),
        ("a,b\n1,2\n", ": has no column 'y'; its columns are 'a', 'b'"),
        ("y\n1\n", ": has no features, only 'y'"),
        (GOOD + "1,2\n", ", line 22: has 2 cells, but the header has 3. Correct"),
        (GOOD + "1,2,3,4\n" + GOOD[6:], ", line 22: has 4 cells, but the header has 3"),
        (GOOD + "1,-inf,0\n", ", line 22: column 'b' holds -inf"),
        (GOOD + "1,2,\n", ", line 22: has no label"),
        (GOOD.replace(",0", ",no") + "1,2,NA\n", ", line 22: has no label"),
        (GOOD + '1,"2"x,0\n', ", line 22: "),
        (GOOD + '1,"2,0\n' + GOOD[6:], ", line 22: a quote is opened here or later and never"),
        (GOOD.encode() + b"1,\xff,0\n", ", line 22: is not UTF-8 text"),
        (b"\xff\xfea,b\n", ": the header cannot be read"),
        ("a,b,y\r1,2,3\r", ": has no lines that end in a line feed"),
    ],
)
def test_what_is_said_of_broken_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str | bytes, said: str
) -> None:
    whole = complaint(tmp_path / "bad.csv", text)
    assert whole.startswith(said), whole
    monkeypatch.setattr(lines, "BLOCK_BYTES", 16)  # blocks have no part in what is said
    assert complaint(tmp_path / "bad.csv", text) == whole


@pytest.mark.parametrize("cell", ["red", "1_0"])
def test_a_text_among_numbers_is_noted(tmp_path: Path, cell: str) -> None:
    """The column becomes a category, as in a small file, and a warning names the cell."""
    rows = "".join(f"{k},{k / 2},0\n" for k in range(60))
    (tmp_path / "bad.csv").write_text("a,b,y\n" + rows + f"1,{cell},0\n" * 60)
    with pytest.warns(InputWarning, match=f"'b' holds mostly numbers .* because '{cell}' is not"):
        oracle = CsvOracle(tmp_path / "bad.csv", "y")
    assert oracle.learned is not None


def test_blank_lines_are_no_rows(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,y\n\n\n")
    with pytest.raises(DataError, match="the source holds no"):
        CsvOracle(tmp_path, "y").draw(1)


def test_labels_of_another_kind_than_at_the_beginning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "BLOCK_BYTES", 64)
    said = complaint(tmp_path / "bad.csv", GOOD + "1,2,x\n")
    assert said.startswith(", line 22: the label is 'x'")


def test_files_with_different_columns(folder: Path) -> None:
    (folder / "p2.csv").write_text("a,c,y\n1,2,3\n")
    with pytest.raises(DataError, match=r"p2\.csv: has other .* it"):
        CsvOracle(folder, "y")
    (folder / "p2.csv").write_text("a,b\n1,2\n")
    with pytest.raises(DataError, match=r"p2\.csv: has no column 'y'"):
        CsvOracle(folder, "y")


@pytest.mark.parametrize("sep", [";", "\t", "|"])
def test_separators_and_words_for_missing_values(tmp_path: Path, sep: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text("a,b,y\n1,N/A,x\n-,#N/A,x\nNone,4,z\n".replace(",", sep))
    _, values, _ = sequence(CsvOracle(path, "y"), of_size(5))
    found = sorted(map(str, values.tolist()))
    assert found == sorted(map(str, [[1.0, np.nan], [np.nan, np.nan], [np.nan, 4.0]]))


def test_other_words_for_missing_values(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("a,y\n1,x\n-999,x\nnot available,z\n")
    oracle = CsvOracle(path, "y", missing=["-999", "not available"])
    _, values, _ = sequence(oracle, of_size(5))
    assert sorted(map(str, values[:, 0].tolist())) == ["1.0", "nan", "nan"]
    with pytest.raises(FileError, match="not available"):
        CsvOracle(path, "y")


# Blocks of whole lines, cut without parsing.


def pieces(path: Path, *, quotes: bool = True) -> list[tuple[Lines, bytes]]:
    return [(block, read_lines(path, block)) for block in cut(path, 0, quotes=quotes)]


cells = st.text(st.sampled_from('ab1,"\n\r '), max_size=6)


@given(st.lists(st.lists(cells, min_size=2, max_size=2), max_size=12), st.integers(1, 40))
@examples(200)
def test_blocks_are_whole_rows_for_any_size(rows: list[list[str]], size: int) -> None:
    text = io.StringIO(newline="")
    python_csv.writer(text, lineterminator="\n", quoting=python_csv.QUOTE_ALL).writerows(rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "BLOCK_BYTES", size)
        path = Path("unused")
        content = text.getvalue().encode()
        patch.setattr(Path, "open", lambda self, mode: io.BytesIO(content))
        got = pieces(path)
    assert b"".join(piece for _, piece in got) == content
    read = [
        row
        for _, piece in got
        for row in python_csv.reader(io.StringIO(piece.decode(), newline=""), strict=True)
    ]
    assert read == rows
    for block, _ in got:
        assert block.line == 1 + content[: block.start].count(b"\n")


def test_a_file_that_shrinks_or_vanishes(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"1\n2\n")
    (block,) = cut(path, 0, quotes=False)
    path.write_bytes(b"1\n")
    with pytest.raises(FileError, match=r"a\.txt: was changed"):
        read_lines(path, block)
    path.unlink()
    with pytest.raises(FileError, match=r"a\.txt: cannot be read"):
        read_lines(path, block)


@pytest.mark.parametrize(("form", "share"), [("%.4f", 6), ("%d", 13)])
def test_as_much_memory_is_asked_for_as_two_blocks_take(
    tmp_path: Path, form: str, share: int
) -> None:
    """The numbers of one block, and beside it the text, the cells and the numbers of the next."""
    path = tmp_path / "rows.csv"
    cells = np.random.default_rng(0).integers(0, 10, (3000, 11))
    header = ",".join([*"abcdefghij", "y"])
    np.savetxt(path, cells, fmt=form, delimiter=",", header=header, comments="")
    oracle, text = CsvOracle(path, "y"), path.stat().st_size - len(header) - 1
    assert 2 * text + 20 * cells.size <= oracle.bytes_needed <= share * text


# Draws from svmlight files, checked against scikit-learn's reader.

ROWS = 60


@pytest.fixture
def svmlight_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two files, in blocks of few lines."""
    monkeypatch.setattr(lines, "BLOCK_BYTES", 200)
    generator = np.random.default_rng(0)
    X = generator.normal(size=(ROWS, 9)) * (generator.random((ROWS, 9)) < 0.3)
    X[0, 8] = 1.0
    y = np.where(generator.random(ROWS) < 0.5, 1, -1)
    dump_svmlight_file(X[:25], y[:25], str(tmp_path / "1.svm"), zero_based=False)
    dump_svmlight_file(X[25:], y[25:], str(tmp_path / "2.libsvm"), zero_based=False)
    return tmp_path


def test_passes_of_svmlight_files(svmlight_folder: Path) -> None:
    check_draws(lambda: SvmlightOracle(svmlight_folder, 3), ROWS)


def test_the_same_rows_as_scikit_learn_reads(svmlight_folder: Path) -> None:
    rows, values, labels = sequence(SvmlightOracle(svmlight_folder), of_size(7))
    order = np.argsort(rows)
    read = [
        load_svmlight_file(str(svmlight_folder / n), n_features=9) for n in ("1.svm", "2.libsvm")
    ]
    np.testing.assert_array_equal(values[order], sp.vstack([X for X, _ in read]).toarray())
    assert [labels[k] for k in order] == np.concatenate([y for _, y in read]).tolist()


def test_remarks_queries_and_empty_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.svm"
    path.write_text("# from 1999\n+1 qid:3 1:0.5\t3:-2e1 # good\n\n-1\n 0.5  2:7 \r\n")
    oracle = SvmlightOracle(path)
    rows, values, labels = sequence(oracle, of_size(9))
    order = np.argsort(rows)
    assert values[order].tolist() == [[0.5, 0, -20], [0, 0, 0], [0, 7, 0]]
    assert [labels[k] for k in order] == [1, -1, 0.5]


def test_features_may_count_from_0_and_be_more_than_there_are(tmp_path: Path) -> None:
    (tmp_path / "a.svm").write_text("1 0:5 1:6\n")
    oracle = SvmlightOracle(tmp_path, zero_based=True)
    assert oracle.draw(1).table.rows().tolist() == [[5, 6]]
    wide = SvmlightOracle(tmp_path, n_features=4, zero_based=True)
    assert wide.draw(1).table.rows().tolist() == [[5, 6, 0, 0]]


GOOD_LINES = "1 1:0.5 3:1\n" * 30


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", ": there are no rows"),
        (GOOD_LINES + "1 2\n", ", line 31: '2' is not a feature; write features as number:value"),
        (GOOD_LINES + "1 2 3:4:5\n", ", line 31: '2' is not a feature"),
        (GOOD_LINES + "1 2:3:4\n", ", line 31: '3:4' is not a number"),
        (GOOD_LINES + "1 a:3\n", ", line 31: 'a:3' is not a feature"),
        (GOOD_LINES + "1 1:x\n", ", line 31: 'x' is not a number"),
        (GOOD_LINES + "1 1:1_0\n", ", line 31: '1_0' is not a number"),
        (GOOD_LINES + "yes 1:1\n", ", line 31: 'yes' is not a number"),
        (GOOD_LINES + "1 3:1 2:1\n", ", line 31: feature 2 follows feature 3; numbers must ascend"),
        (
            GOOD_LINES + "1 0:1\n",
            ", line 31: feature 0 follows feature 0; numbers must ascend from 1",
        ),
        (GOOD_LINES + "1 2:inf\n", ", line 31: column 1 holds inf"),
        (GOOD_LINES + "nan 2:1\n", ", line 31: has no label"),
    ],
)
def test_what_is_said_of_broken_svmlight_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, said: str
) -> None:
    path = tmp_path / "bad.svm"
    path.write_text(text)
    for size in (2**23, 50):
        monkeypatch.setattr(lines, "BLOCK_BYTES", size)
        with pytest.raises(PacboostError) as caught:
            sequence(SvmlightOracle(path), of_size(10))
        assert str(caught.value).startswith(f"{path}{said}")


@pytest.mark.parametrize("n_features", [0, 1.5])
def test_features_are_a_whole_number(svmlight_folder: Path, n_features: Any) -> None:
    with pytest.raises(ParameterError, match="n_features is"):
        SvmlightOracle(svmlight_folder, n_features=n_features)


def test_a_feature_beyond_those_named(svmlight_folder: Path) -> None:
    with pytest.raises(FileError, match=r"feature \d follows .* from 1 to 3"):
        sequence(SvmlightOracle(svmlight_folder, n_features=3), of_size(9))
