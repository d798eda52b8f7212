"""Files as they come: what is read from every kind of them, and what is said of broken ones."""

import bz2
import csv
import gzip
import json
import lzma
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from pacboost.errors import FileError, InputWarning
from pacboost.sources import data_file, file_rows
from pacboost.sources.data_file import DataFile, read_as_a_whole
from pacboost.sources.file_rows import blocks, read_csv, whole
from pacboost.sources.kinds.dates import Dates
from pacboost.sources.levels import Levels
from tests.grids import each_value

NAN = np.nan
PLAIN = "a,b,label\n1,2.5,yes\n-3,1e2,no\n"
VALUES = [[1, 2.5], [-3, 100]]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "rows.csv"


@pytest.mark.parametrize(
    ("content", "names", "rows"),
    [
        (PLAIN.encode(), "a b", VALUES),
        *((PLAIN.replace("\n", end).encode(), "a b", VALUES) for end in ("\r\n", "\r")),
        *((PLAIN.replace(",", sep).encode(), "a b", VALUES) for sep in ";\t|"),
        (b"\xef\xbb\xbf" + PLAIN.encode(), "a b", VALUES),
        (b"a,label,b\n1,0,2\n3,1,4\n", "a b", [[1, 2], [3, 4]]),
        (b"\na,label\n\n1,0\n\n2,1\n\n", "a", [[1], [2]]),
        (b'"a","b, ""c""",label\n"1","2","x, y"\n3,"4","p\nq"\n', 'a|b, "c"', [[1, 2], [3, 4]]),
        (b"a;b, or c;label\n1;2,3;x\n4;5;y\n", "a|b, or c", [[1, 2.3], [4, 5]]),
        (
            b'a,b,c,label\n"1,234.5",true,yes,x\n-12,FALSE,no,y\n"1,000,000",,-,y\n',
            "a b c",
            [[1234.5, 1, 1], [-12, 0, 0], [1_000_000, NAN, NAN]],
        ),
    ],
)
def test_what_files_hold(path: Path, content: bytes, names: str, rows: Any) -> None:
    path.write_bytes(content)
    table = read_csv(path, "label").table
    assert list(table.names or ()) == (names.split("|") if "|" in names else names.split())
    np.testing.assert_array_equal(table.rows(), rows)
    assert not table.levels
    assert not read_csv(str(path), "label", categories=True).table.levels


@pytest.mark.parametrize(
    ("cells", "expected", "kind"),
    [
        (["0", "1"], [0, 1], "i"),
        ([" -1 ", "+1"], [-1, 1], "i"),
        (["0.5", "1"], [0.5, 1.0], "f"),
        (["yes", "1"], ["yes", "1"], "U"),
        (["1_2", "12"], ["1_2", "12"], "U"),
        (['"x, y"', '"p\nq"'], ["x, y", "p\nq"], "U"),
    ],
)
def test_labels_are_numbers_where_all_of_them_are(
    path: Path, cells: list[str], expected: list[object], kind: str
) -> None:
    path.write_text("a,label\n" + "".join(f"1,{cell}\n" for cell in cells))
    labels = read_csv(path, "label").labels
    assert (labels.tolist(), labels.dtype.kind) == (expected, kind)


def zipped(raw: bytes, path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("rows.csv", raw)


PACKING: dict[str, Callable[[bytes, Path], object]] = {
    ".gz": lambda raw, path: path.write_bytes(gzip.compress(raw)),
    ".bz2": lambda raw, path: path.write_bytes(bz2.compress(raw)),
    ".xz": lambda raw, path: path.write_bytes(lzma.compress(raw)),
    ".zst": lambda raw, path: path.write_bytes(pa.compress(raw, codec="zstd", asbytes=True)),
    ".zip": zipped,
}


@pytest.mark.parametrize("suffix", PACKING)
def test_compressed_files_and_standard_input_read_like_plain_ones(
    tmp_path: Path, suffix: str
) -> None:
    path = tmp_path / f"rows.csv{suffix}"
    PACKING[suffix](PLAIN.encode(), path)
    for file in (DataFile(path), DataFile(Path("-"), content=path.read_bytes())):
        read = read_csv(file, "label")
        assert read.table.rows().tolist() == VALUES
        assert read.labels.tolist() == ["yes", "no"]


def test_separator_and_encoding_may_be_named(path: Path) -> None:
    path.write_text(PLAIN.replace(",", "~"))
    assert read_csv(DataFile(path, sep="~"), "label").table.rows().tolist() == VALUES
    path.write_bytes("a,label\n1,д\n2,m\n".encode("koi8-r"))
    assert read_csv(DataFile(path, encoding="koi8-r"), "label").labels.tolist() == ["д", "m"]
    with pytest.raises(FileError, match="'klingon' is not an"):
        read_csv(DataFile(path, encoding="klingon"), "label")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_marks_at_the_beginning_tell_the_encoding(path: Path, encoding: str) -> None:
    path.write_bytes("größe,label\n1,ñ\n2,m\n".encode(encoding))
    read = read_csv(path, "label")
    assert (read.table.names, read.labels.tolist()) == (("größe",), ["ñ", "m"])


def test_what_is_not_utf8_is_read_as_windows_1252_with_a_warning(path: Path) -> None:
    path.write_bytes("größe,label\n1,5 €\n2,m\n".encode("cp1252"))
    with pytest.warns(InputWarning, match="rows.csv: is not"):
        read = read_csv(path, "label")
    assert (read.table.names, read.labels.tolist()) == (("größe",), ["5 €", "m"])


@pytest.mark.parametrize(
    "word", ["", "NA", "N/A", "n/a", "None", "null", "-", "#N/A", "?", "nan", " NULL "]
)
def test_words_for_missing_values(path: Path, word: str) -> None:
    path.write_text(f"a,town,label\n1,Ulm,x\n{word},{word},y\n2,Hof,y\n")
    table = read_csv(path, "label", categories=True).table
    np.testing.assert_array_equal(table.rows(), [[1, 1], [NAN, NAN], [2, 0]])


def test_words_for_missing_values_may_be_changed(path: Path) -> None:
    path.write_text("a,town,label\n1,None,x\n-999,unknown,y\n,Hof,y\n")
    file = DataFile(path, missing=frozenset({"", "-999", "unknown"}))
    table = read_csv(file, "label", categories=True).table
    assert table.levels == Levels({1: ("Hof", "None")})
    np.testing.assert_array_equal(table.rows(), [[1, 1], [NAN, NAN], [NAN, 0]])
    assert whole(DataFile(path)).texts("town", ("Hof", "None")).tolist()[0] == "None"
    parquet = path.with_suffix(".parquet")
    pd.DataFrame({"a": [1, -999], "label": ["x", "y"]}).to_parquet(parquet)
    file = DataFile(parquet, missing=frozenset({"-999"}))
    np.testing.assert_array_equal(read_csv(file, "label").table.rows(), [[1], [NAN]])


@pytest.mark.parametrize("cells", [["1,2", "x"], ["true", "3"], ["yes", "maybe"]])
def test_columns_where_not_all_cells_parse_are_categories(path: Path, cells: list[str]) -> None:
    path.write_text("a,label\n" + "".join(f'"{cell}",{k}\n' for k, cell in enumerate(cells)))
    table = read_csv(path, "label", categories=True).table
    assert table.levels == Levels({0: tuple(sorted(cells))})


def test_text_columns_may_become_categories(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_rows, "ROWS_PER_BLOCK", 2)  # numbers come first
    path.write_text("code,label,x,town\n7,0,1,Ulm\n 8,1,2,\nA7,0,?,Hof\n7,1,3, Ulm\n?,1,4,Aue\n")
    read = read_csv(path, "label", categories=True)
    assert read.table.levels == Levels({0: ("7", "8", "A7"), 2: ("Aue", "Hof", "Ulm")})
    np.testing.assert_array_equal(
        read.table.rows(), [[0, 1, 2], [1, 2, NAN], [2, NAN, 1], [0, 3, 2], [NAN, 4, 0]]
    )
    assert read.table.cells(2).tolist() == ["Ulm", None, "Hof", "Ulm", "Aue"]
    assert read.labels.tolist() == [0, 1, 0, 1, 1]
    with pytest.raises(FileError, match=r"numbers: code \(line 4: 'A7'\), town"):
        read_csv(path, "label")


FRAME = pd.DataFrame(
    {
        "a": [1.5, None, -3.0],
        "n": [1, 2, 3],
        "town": ["Ulm", None, "東京"],
        "ok": [True, False, True],
        "when": pd.to_datetime(["2024-01-31 08:30", "2024-02-01 00:00", None]),
        "label": ["x", "y", "x"],
    }
)


@pytest.mark.parametrize("kind", ["csv", "parquet", "feather", "jsonl", "json"])
def test_every_kind_of_file_reads_alike(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"rows.{kind}"
    if kind == "csv":
        FRAME.to_csv(path, index=False)
    elif kind in {"parquet", "feather"}:
        getattr(FRAME, f"to_{kind}")(path)
    else:
        FRAME.to_json(path, orient="records", lines=kind == "jsonl", date_format="iso")
    read = read_csv(path, "label", categories=True)
    made = ("when", "when: year", "when: month", "when: weekday", "when: hour")
    assert read.table.names == ("a", "n", "town", "ok", *made)
    assert read.table.levels.columns == {2: ("Ulm", "東京")}
    np.testing.assert_allclose(
        read.table.rows(),
        [
            [1.5, 1, 0, 1, 8796 + 8.5 / 24, 2024, 1, 3, 8],
            [NAN, 2, NAN, 0, 8797, 2024, 2, 4, 0],
            [-3, 3, 1, 1, *[NAN] * 5],
        ],
    )
    assert read.labels.tolist() == ["x", "y", "x"]
    assert read_as_a_whole(path)


def test_columns_keep_their_kinds_and_read_as_in_a_csv_file(tmp_path: Path) -> None:
    columns = {
        "whole": pa.array([2**60 + 1, None, 3]),
        "half": pa.array([0.1, 2.5, None], pa.float32()),
        "text": pa.array(["1", None, "3.5"]),
        "kind": pa.array(["u", "v", "u"]).dictionary_encode(),
        "label": pa.array([0, 1, 1]),
    }
    pa.parquet.write_table(pa.table(columns), tmp_path / "rows.parquet")
    read = read_csv(tmp_path / "rows.parquet", "label", categories=True)
    half = float(np.float32(0.1))
    np.testing.assert_array_equal(
        read.table.rows(), [[2.0**60, half, 1, 0], [NAN, 2.5, NAN, 1], [3, NAN, 3.5, 0]]
    )
    cells = whole(DataFile(tmp_path / "rows.parquet"))
    assert cells.of("whole") == ["1152921504606846977", "", "3"]
    assert cells.texts("whole").tolist() == ["1152921504606846977", None, "3"]


def test_parts_of_dates_are_made_again_from_new_rows(path: Path) -> None:
    path.write_text("when\n2024-01-31\n\n1.2.2025\n")
    cells = whole(DataFile(path, sep=","))
    years = Levels({}, {0: Dates("year")})
    np.testing.assert_array_equal(cells.like(["when: year"], years).column(0), [2024, 2025])
    path.write_text("when\n2024-01-31\nsoon\n")
    with pytest.raises(FileError, match="'when' held dates in"):
        whole(DataFile(path)).like(["when: year"], years)


def test_dates_may_stay_text(path: Path) -> None:
    path.write_text("when,a,label\n2024-01-31,1,x\n2024-02-01,2,y\n")
    table = read_csv(path, "label", categories=True, raw=["when"]).table
    assert table.names == ("when", "a")
    assert read_csv(path, "label", drop=["when"]).table.names == ("a",)


def test_names_that_a_json_line_leaves_out_are_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in ({"a": 1, "y": 0}, {"b": 2, "y": 1})))
    for at_once in (2, 1):
        monkeypatch.setattr(file_rows, "ROWS_PER_BLOCK", at_once)
        np.testing.assert_array_equal(read_csv(path, "y").table.rows(), [[1, NAN], [NAN, 2]])


def test_rows_without_labels_are_left_out(path: Path) -> None:
    path.write_text("a,label\n1,x\n2,\n3,NA\n4,y\n")
    with pytest.warns(InputWarning, match="2 of 4 rows have no"):
        read = read_csv(path, "label")
    assert read.table.rows().tolist() == [[1], [4]]
    path.write_text("a,label\n1,\n")
    with pytest.raises(FileError, match="is empty in all 1"):
        read_csv(path, "label")


def test_a_label_that_may_be_a_class_is_left_out_on_request(path: Path) -> None:
    path.write_text("a,label\n1,x\n2,None\n4,y\n")
    with pytest.raises(FileError, match="line 3: 'label' is 'None'"):
        read_csv(path, "label")
    with pytest.warns(InputWarning, match="1 of 3 rows have no"):
        read = read_csv(DataFile(path, skip_unlabelled=True), "label")
    assert read.table.rows().tolist() == [[1], [4]]
    named = read_csv(DataFile(path, missing=frozenset({"", "na"})), "label")
    assert named.labels.tolist() == ["x", "None", "y"]


def test_nothing_is_said_of_sentences_that_will_be_read(path: Path) -> None:
    rows = "".join(f"word {k} of many {k * k},{k % 3},{k % 2}\n" for k in range(60))
    path.write_text(f"note,a,label\n{rows}")
    read_csv(path, "label", categories=True, reads_text=True)  # a warning is an error
    with pytest.warns(InputWarning) as notes:
        read_csv(path, "label", categories=True)
    assert [str(note.message).count("'note'") for note in notes] == [1]


def test_labels_of_true_and_false_are_booleans(path: Path) -> None:
    path.write_text("a,label\n1,True\n2,false\n3,TRUE\n")
    assert read_csv(path, "label").labels.tolist() == [True, False, True]


@pytest.mark.parametrize(
    ("text", "target", "complaint"),
    [
        (PLAIN, "outcome", ": has no column 'outcome'; its columns are 'a', 'b', 'label'."),
        *((PLAIN, name, ": .*Did you mean 'label'") for name in ("LABEL", "lable")),
        (f"{PLAIN}1,2\n1,2,yes\n", "label", ", line 4: has 2 cells, but the header has 3"),
        (f"{PLAIN}1,2,3,4\n", "label", ", line 4: has 4 cells, but the header has 3"),
        ('a,label\n1,"x\ny"\n2\n', "label", ", line 4:"),
        ('a,label\n1,yes\n2,"no\n', "label", r", line \d+: "),
        ('a,label\n"1"x,yes\n', "label", ", line 2: "),
        *((text, "label", ": is empty") for text in ("", "\n\n")),
        ("a,b,label\n", "label", ": has a header but no rows"),
        ("b,a,a,label, b\n1,2,3,4,5\n", "label", ": the header names 'a', 'b' twice. Rename one"),
        ("a,town,label\n1,Ulm,0\n\n1,?,1\n", "label", r": .*numbers: town \(line 2: 'Ulm'\)\."),
        ("a,b,y\n1,2,0\n3,4,1\n\n5,oops,1\n", "y", r": .*not numbers: b \(line 5: 'oops'\)"),
        ("a,b,label\n1,1,0\n1,-inf,1\n", "label", ": column 'b' holds -inf in line 3"),
        ("a,label\n1,yes\n2,?\n3,?\n", "label", r", line 3: 'label' is '\?'"),
        ("label\nx\ny\n", "label", ": the only column is 'label'"),
        ("\0\1\2", "label", ": is not a text file"),
    ],
)
def test_broken_files_are_told_with_the_line(
    path: Path, text: str, target: str, complaint: str
) -> None:
    path.write_text(text)
    with pytest.raises(FileError, match=re.escape(str(path)) + complaint):
        read_csv(path, target)


def test_cells_may_be_long(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python's own limit is 131,072 letters; beyond ours, it is said what may be wrong."""
    limit = csv.field_size_limit(131_072)
    path.write_text(f"a,b,label\n1,{'long ' * 2_200_000},yes\n2,short,no\n")
    try:
        read = read_csv(path, "label", categories=True)
        assert len(str(read.table.levels.columns[1][0])) > 10_000_000
        monkeypatch.setattr(file_rows, "MAX_CELL_CHARACTERS", csv.field_size_limit(1000) and 1000)
        message = ", line 2: a cell has more than 1,000 characters. Is a quote never closed?"
        with pytest.raises(FileError, match=re.escape(f"{path}{message}")):
            read_csv(path, "label", categories=True)
    finally:
        csv.field_size_limit(limit)


def test_text_in_a_later_chunk_is_found(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_rows, "ROWS_PER_BLOCK", 3)
    path.write_text("a,b,label\n" + "".join(f"{k},{k},{k % 2}\n" for k in range(10)))
    read = read_csv(path, "label")
    assert read.table.rows()[:, 0].tolist() == list(range(10))
    assert read.labels.tolist() == [k % 2 for k in range(10)]
    path.write_text(f"{path.read_text()}10,two,1\n")
    with pytest.raises(FileError, match=r"text, not numbers: b \(line 12"):
        read_csv(path, "label")


@each_value
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


def test_what_cannot_be_opened_is_told_by_name(tmp_path: Path) -> None:
    raw = gzip.compress(PLAIN.encode() * 100)
    damaged = raw[:12] + bytes(28) + raw[40:]
    for content in (PLAIN.encode(), raw[:-12], damaged):
        (tmp_path / "rows.csv.gz").write_bytes(content)
        with pytest.raises(FileError, match=re.escape(str(tmp_path / "rows.csv.gz"))):
            read_csv(tmp_path / "rows.csv.gz", "label")
    with zipfile.ZipFile(tmp_path / "rows.zip", "w") as archive:
        archive.writestr("a.csv", PLAIN)
        archive.writestr("b.csv", PLAIN)
    with pytest.raises(FileError, match="holds 2 files"):
        read_csv(tmp_path / "rows.zip", "label")
    (tmp_path / "rows.parquet").write_bytes(b"PAR1 and nothing else")
    for name in ("", "absent.csv", "rows.parquet"):
        with pytest.raises(FileError, match=f"{re.escape(str(tmp_path / name))}: cannot be read"):
            read_csv(tmp_path / name, "label")


def test_a_first_line_of_values_is_noted(path: Path) -> None:
    path.write_text("5.1,3.5,setosa\n4.9,3.0,setosa\n6.0,2.9,virginica\n")
    with pytest.warns(InputWarning, match=r"'5\.1' looks like a value"):
        read_csv(path, "setosa")


def test_half_a_letter_of_utf_16_is_not_text(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_bytes("a,y\n1,0\n".encode("utf-16") + b"9")
    with pytest.raises(FileError, match="is not utf-16 text"):
        read_csv(tmp_path / "rows.csv", "y")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"a": 1}\n{"a": \n', "line 2: is not a JSON object"),
        ('{"a": 1}\n7\n', "line 2: is not a JSON object"),
        ('{"a": [1, 2]}\n', "line 1: 'a' is .1, 2."),
        ('{"a": "\\ud800"}\n', "'a' holds .* not valid Unicode"),
        ('{"a":' + "[" * 10**6, "line 1: is not a JSON object"),
        ('[{"a": 1} {"a": 2}]', "line 1: is not a JSON object"),
        ('[{"a": 1}, {"a": 2}', "line 1: is not a JSON object"),
        ('[{"a": 1}] {"a": 2}', "line 1: is not a JSON object"),
        ("", "is empty"),
    ],
)
def test_broken_json_lines_are_named(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(content)
    with pytest.raises(FileError, match=message):
        list(blocks(DataFile(path)))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("rows.csv", "a,label\n" + "1,2\n" * 10**6, "unpack it first"),
        ("rows.jsonl", "[" + '{"a": 1},\n' * 10**6, "unpack it first"),
        ("rows.csv", "a,label\n1," + "x" * 9_000, "line 3: has 1 cells"),
        ("rows.jsonl", '{"a": "' + "x" * 9_000, "line 1: is not a JSON object"),
    ],
)
def test_a_small_file_does_not_fill_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, content: str, message: str
) -> None:
    monkeypatch.setattr(data_file, "MAX_TEXT_BYTES", 10_000)
    monkeypatch.setattr(file_rows, "MAX_LINE_CHARACTERS", 2_000)
    path = tmp_path / f"{name}.gz"
    path.write_bytes(gzip.compress(content.encode()))
    with pytest.raises(FileError, match=message):
        list(blocks(DataFile(path)))
