"""Examples from CSV files, and what is said when a file is broken."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import numpy as np
import pytest

from pacboost.errors import FileError, InputWarning
from pacboost.sources import file_rows
from pacboost.sources.csv import read_csv
from pacboost.sources.data_file import DataFile
from pacboost.sources.levels import Levels

PLAIN = "a,b,label\n1,2.5,yes\n-3,1e2,no\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "rows.csv"


def complaint(path: Path, text: str, target: str = "label") -> str:
    """What is said about a file with this text; it has to name the file."""
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FileError) as caught:
        read_csv(path, target)
    message = str(caught.value)
    assert message.startswith(str(path))
    return message.removeprefix(str(path))


def test_a_plain_file_is_read(path: Path) -> None:
    path.write_text(PLAIN)
    read = read_csv(path, "label")
    assert read.table.names == ("a", "b")
    assert read.table.rows().tolist() == [[1, 2.5], [-3, 100]]
    assert read.labels.tolist() == ["yes", "no"]


def test_the_path_may_be_text(path: Path) -> None:
    path.write_text(PLAIN)
    assert read_csv(str(path), "label").table.n_rows == 2


def test_a_compressed_file_reads_like_the_plain_one(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv.gz"
    path.write_bytes(gzip.compress(PLAIN.encode()))
    read = read_csv(path, "label")
    assert read.table.rows().tolist() == [[1, 2.5], [-3, 100]]
    assert read.labels.tolist() == ["yes", "no"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_any_line_end_will_do(path: Path, end: str) -> None:
    path.write_bytes(PLAIN.replace("\n", end).encode())
    assert read_csv(path, "label").table.rows().tolist() == [[1, 2.5], [-3, 100]]


def test_a_byte_order_mark_is_no_part_of_the_first_name(path: Path) -> None:
    path.write_bytes(b"\xef\xbb\xbf" + PLAIN.encode())
    assert read_csv(path, "label").table.names == ("a", "b")


def test_the_target_may_stand_anywhere(path: Path) -> None:
    path.write_text("a,label,b\n1,0,2\n3,1,4\n")
    read = read_csv(path, "label")
    assert read.table.names == ("a", "b")
    assert read.table.rows().tolist() == [[1, 2], [3, 4]]
    assert read.labels.tolist() == [0, 1]


def test_quoted_cells_may_hold_commas_quotes_and_line_ends(path: Path) -> None:
    path.write_text('"a","b, ""c""",label\n"1","2","x, y"\n3,"4","p\nq"\n')
    read = read_csv(path, "label")
    assert read.table.names == ("a", 'b, "c"')
    assert read.table.rows().tolist() == [[1, 2], [3, 4]]
    assert read.labels.tolist() == ["x, y", "p\nq"]


@pytest.mark.parametrize("cell", ["", " ", "NA", "na", "NaN", "nan", "?", "null", "NULL", " ? "])
def test_missing_cells_become_nan(path: Path, cell: str) -> None:
    path.write_text(f"a,b,label\n{cell},2,0\n1,{cell},1\n")
    np.testing.assert_array_equal(read_csv(path, "label").table.rows(), [[np.nan, 2], [1, np.nan]])


@pytest.mark.parametrize(
    ("cells", "expected", "kind"),
    [
        (["0", "1"], [0, 1], "i"),
        ([" -1 ", "+1"], [-1, 1], "i"),
        (["0.5", "1"], [0.5, 1.0], "f"),
        (["yes", "1"], ["yes", "1"], "U"),
    ],
)
def test_labels_are_numbers_where_all_of_them_are(
    path: Path, cells: list[str], expected: list[object], kind: str
) -> None:
    path.write_text("a,label\n" + "".join(f"1,{cell}\n" for cell in cells))
    labels = read_csv(path, "label").labels
    assert labels.tolist() == expected
    assert labels.dtype.kind == kind


def test_different_labels_stay_different(path: Path) -> None:
    path.write_text("a,label\n1,1_2\n2,12\n")
    assert len(set(read_csv(path, "label").labels.tolist())) == 2


def test_blank_lines_are_passed_over(path: Path) -> None:
    path.write_text("\na,label\n\n1,0\n\n2,1\n\n")
    assert read_csv(path, "label").table.rows().tolist() == [[1], [2]]


def test_rows_beyond_one_chunk_are_read_too(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_rows, "ROWS_AT_ONCE", 3)
    path.write_text("a,label\n" + "".join(f"{k},{k % 2}\n" for k in range(10)))
    read = read_csv(path, "label")
    assert read.table.rows()[:, 0].tolist() == list(range(10))
    assert read.labels.tolist() == [k % 2 for k in range(10)]


def test_text_in_a_later_chunk_is_found(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_rows, "ROWS_AT_ONCE", 1)
    path.write_text("a,b,label\n1,1,0\n2,two,1\n")
    with pytest.raises(FileError, match="text, not numbers: b"):
        read_csv(path, "label")


def test_a_missing_target_column_is_told_with_the_columns_there_are(path: Path) -> None:
    message = complaint(path, PLAIN, "outcome")
    assert "no column 'outcome'" in message
    assert "its columns are 'a', 'b', 'label'." in message


@pytest.mark.parametrize(("row", "cells"), [("1,2", 2), ("1,2,3,4", 4)])
def test_a_broken_line_is_told_by_its_number(path: Path, row: str, cells: int) -> None:
    message = complaint(path, f"{PLAIN}{row}\n1,2,yes\n")
    assert message.startswith(f", line 4: has {cells} cells where the header has 3")


def test_a_broken_line_after_a_cell_of_two_lines_has_the_number_in_the_file(path: Path) -> None:
    message = complaint(path, 'a,label\n1,"x\ny"\n2\n')
    assert message.startswith(", line 4:")


def test_an_unterminated_quote_is_told_with_a_line(path: Path) -> None:
    message = complaint(path, 'a,label\n1,yes\n2,"no\n')
    assert re.match(r", line \d+: ", message)


def test_text_after_a_closing_quote_is_told_with_its_line(path: Path) -> None:
    assert complaint(path, 'a,label\n"1"x,yes\n').startswith(", line 2: ")


@pytest.mark.parametrize("text", ["", "\n\n"])
def test_an_empty_file_is_refused(path: Path, text: str) -> None:
    assert "is empty" in complaint(path, text)


def test_a_header_alone_is_refused(path: Path) -> None:
    assert "has a header but no rows" in complaint(path, "a,b,label\n")


def test_a_name_given_twice_is_refused(path: Path) -> None:
    assert "the header names 'a', 'b' twice. Rename one" in complaint(
        path, "b,a,a,label, b\n1,2,3,4,5\n"
    )


def test_text_columns_are_refused_by_name(path: Path) -> None:
    path.write_text("a,town,b,colour,label\n1,Ulm,2,red,0\n1,Hof,2,?,1\n")
    with pytest.raises(
        FileError, match=r"text, not numbers: town \(line 2: 'Ulm'\), colour \(line 2: 'red'\)\."
    ):
        read_csv(path, "label")


def test_text_columns_may_become_categories(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_rows, "ROWS_AT_ONCE", 2)  # numbers come first
    path.write_text("code,label,x,town\n7,0,1,Ulm\n 8,1,2,\nA7,0,?,Hof\n7,1,3, Ulm\n?,1,4,Aue\n")
    read = read_csv(path, "label", categories=True)
    assert read.table.levels == Levels({0: ("7", "8", "A7"), 2: ("Aue", "Hof", "Ulm")})
    np.testing.assert_array_equal(
        read.table.rows(), [[0, 1, 2], [1, 2, np.nan], [2, np.nan, 1], [0, 3, 2], [np.nan, 4, 0]]
    )
    assert read.table.cells(2).tolist() == ["Ulm", None, "Hof", "Ulm", "Aue"]
    assert read.labels.tolist() == [0, 1, 0, 1, 1]


def test_a_file_of_numbers_has_no_categories(path: Path) -> None:
    path.write_text(PLAIN)
    assert not read_csv(path, "label", categories=True).table.levels
    assert not read_csv(path, "label").table.levels


def test_infinite_values_are_refused_by_column(path: Path) -> None:
    path.write_text("a,b,label\n1,1,0\n1,-inf,1\n")
    with pytest.raises(FileError, match="line 3: 'b' is infinite"):
        read_csv(path, "label")


@pytest.mark.parametrize("cell", ["", "NA", "?"])
def test_a_row_without_a_label_is_named(path: Path, cell: str) -> None:
    message = complaint(path, f"a,label\n1,yes\n2,{cell}\n3,{cell}\n")
    assert "line 3: has no 'label'" in message


@pytest.mark.parametrize(
    ("raw", "line", "byte"),
    [
        (b"a,label\n1,caf\xe9\n2,no\n", 2, "e9"),
        (b"a,label\r1,yes\r2,caf\xe9\r", 3, "e9"),
        (b'a,label\r\n1,"x\r\ny"\r\n2,\x80\r\n', 4, "80"),
        (b"a,label\n" + b"1,yes\n" * 50_000 + b"2,\xc3", 50_002, "c3"),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_what_is_not_utf8_is_told_with_its_line(
    path: Path, raw: bytes, line: int, byte: str, packed: bool
) -> None:
    path = path.with_suffix(".csv.gz") if packed else path
    path.write_bytes(gzip.compress(raw) if packed else raw)
    with pytest.raises(FileError) as caught:
        read_csv(DataFile(path, encoding="utf-8"), "label")
    assert str(caught.value).startswith(f"{path}, line {line}: is not UTF-8 text")
    assert f"0x{byte}" in str(caught.value)


def test_an_absent_file_is_told_by_name(path: Path) -> None:
    with pytest.raises(FileError, match=f"{re.escape(str(path))}: cannot be read"):
        read_csv(path, "label")


def test_a_folder_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="cannot be read"):
        read_csv(tmp_path, "label")


def test_a_file_that_is_not_compressed_in_spite_of_its_name_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv.gz"
    path.write_text(PLAIN)
    with pytest.raises(FileError, match="cannot be read"):
        read_csv(path, "label")


def test_a_compressed_file_cut_short_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv.gz"
    path.write_bytes(gzip.compress(PLAIN.encode())[:-12])
    with pytest.raises(FileError, match=re.escape(str(path))):
        read_csv(path, "label")


def test_a_damaged_compressed_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv.gz"
    raw = bytearray(gzip.compress(PLAIN.encode() * 100))
    raw[12:40] = bytes(28)
    path.write_bytes(bytes(raw))
    with pytest.raises(FileError, match=re.escape(str(path))):
        read_csv(path, "label")


def test_a_single_cell_of_text_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("a,b,y\n1,2,0\n3,4,1\n\n5,oops,1\n")
    with pytest.raises(FileError, match=r"not numbers: b \(line 5: 'oops'\)"):
        read_csv(path, "y")


def test_a_first_line_of_values_is_noted(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("5.1,3.5,setosa\n4.9,3.0,setosa\n6.0,2.9,virginica\n")
    with pytest.warns(InputWarning, match=r"'5\.1' looks like a value"):
        read_csv(path, "setosa")


@pytest.mark.parametrize("name", ["LABEL", "lable"])
def test_a_similar_name_is_suggested(path: Path, name: str) -> None:
    path.write_text("a,label\n1,x\n2,y\n")
    with pytest.raises(FileError, match="Did you mean 'label'"):
        read_csv(path, name)
