"""Files as they come: separators, encodings, packing, kinds, words for missing values."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from pacboost.errors import FileError, InputWarning
from pacboost.sources.csv import read_csv
from pacboost.sources.data_file import DataFile, read_as_a_whole
from pacboost.sources.file_rows import blocks, whole
from pacboost.sources.levels import Levels

PLAIN = "a,b,label\n1,2.5,yes\n-3,100,no\n"
VALUES = [[1, 2.5], [-3, 100]]


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
def test_compressed_files_read_like_plain_ones(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"rows.csv{suffix}"
    PACKING[suffix](PLAIN.encode(), path)
    read = read_csv(path, "label")
    assert read.table.rows().tolist() == VALUES
    assert read.labels.tolist() == ["yes", "no"]


@pytest.mark.parametrize("suffix", PACKING)
def test_compressed_standard_input_is_known_by_its_first_bytes(tmp_path: Path, suffix: str) -> None:
    PACKING[suffix](PLAIN.encode(), tmp_path / "packed")
    file = DataFile(Path("-"), content=(tmp_path / "packed").read_bytes())
    assert read_csv(file, "label").table.rows().tolist() == VALUES


def test_an_archive_of_two_files_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "rows.zip", "w") as archive:
        archive.writestr("a.csv", PLAIN)
        archive.writestr("b.csv", PLAIN)
    with pytest.raises(FileError, match="holds 2 files; it has to hold one"):
        read_csv(tmp_path / "rows.zip", "label")


@pytest.mark.parametrize("sep", [",", ";", "\t", "|"])
def test_the_separator_is_detected(tmp_path: Path, sep: str) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(PLAIN.replace(",", sep))
    assert read_csv(path, "label").table.rows().tolist() == VALUES


def test_the_separator_is_the_one_that_all_rows_have(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("a;b, or c;label\n1;2,3;x\n4;5;y\n")
    read = read_csv(path, "label")
    assert read.table.names == ("a", "b, or c")
    assert read.table.rows().tolist() == [[1, 2.3], [4, 5]]  # a decimal comma


def test_the_separator_may_be_named(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(PLAIN.replace(",", "~"))
    assert read_csv(DataFile(path, sep="~"), "label").table.rows().tolist() == VALUES


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_marks_at_the_beginning_tell_the_encoding(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes("größe,label\n1,ñ\n2,m\n".encode(encoding))
    read = read_csv(path, "label")
    assert (read.table.names, read.labels.tolist()) == (("größe",), ["ñ", "m"])


def test_what_is_not_utf8_is_read_as_windows_1252_with_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes("größe,label\n1,5 €\n2,m\n".encode("cp1252"))
    with pytest.warns(InputWarning, match=r"rows.csv: is not UTF-8 and is read as Windows-1252"):
        read = read_csv(path, "label")
    assert (read.table.names, read.labels.tolist()) == (("größe",), ["5 €", "m"])


def test_an_encoding_may_be_named(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes("a,label\n1,д\n2,m\n".encode("koi8-r"))
    assert read_csv(DataFile(path, encoding="koi8-r"), "label").labels.tolist() == ["д", "m"]
    with pytest.raises(FileError, match="'klingon' is no encoding"):
        read_csv(DataFile(path, encoding="klingon"), "label")


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(b"\x00\x01\x02")
    with pytest.raises(FileError, match="is not a text file"):
        read_csv(path, "label")


@pytest.mark.parametrize(
    "word", ["", "NA", "N/A", "n/a", "None", "null", "-", "#N/A", "?", "NaN", " NULL "]
)
def test_words_for_missing_values(tmp_path: Path, word: str) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(f"a,town,label\n1,Ulm,x\n{word},{word},y\n2,Hof,y\n")
    table = read_csv(path, "label", categories=True).table
    np.testing.assert_array_equal(table.rows(), [[1, 1], [np.nan, np.nan], [2, 0]])


def test_words_for_missing_values_may_be_changed(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("a,town,label\n1,None,x\n-999,unknown,y\n,Hof,y\n")
    file = DataFile(path, missing=frozenset({"", "-999", "unknown"}))
    table = read_csv(file, "label", categories=True).table
    assert table.levels == Levels({1: ("Hof", "None")})
    np.testing.assert_array_equal(table.rows(), [[1, 1], [np.nan, np.nan], [np.nan, 0]])


def test_a_word_that_is_a_known_level_is_not_missing(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("town\nNone\nNA\n")
    assert whole(DataFile(path)).levels("town", ("Hof", "None")).tolist() == ["None", None]


def test_numbers_with_thousands_and_booleans(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text('a,b,c,label\n"1,234.5",true,yes,x\n-12,FALSE,no,y\n"1,000,000",,-,y\n')
    table = read_csv(path, "label").table
    np.testing.assert_array_equal(
        table.rows(), [[1234.5, 1, 1], [-12, 0, 0], [1_000_000, np.nan, np.nan]]
    )


@pytest.mark.parametrize("cells", [["1,2", "3"], ["true", "3"], ["yes", "maybe"]])
def test_columns_where_not_all_cells_parse_are_categories(tmp_path: Path, cells: list[str]) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("a,label\n" + "".join(f'"{cell}",{k}\n' for k, cell in enumerate(cells)))
    table = read_csv(path, "label", categories=True).table
    assert table.levels == Levels({0: tuple(sorted(cells))})


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
    days = "when (days since 2000-01-01)"
    made = ("when (year)", "when (month)", "when (weekday)", "when (hour)", days)
    assert read.table.names == ("a", "n", "town", "ok", *made)
    assert read.table.levels == Levels({2: ("Ulm", "東京")})
    np.testing.assert_allclose(
        read.table.rows(),
        [
            [1.5, 1, 0, 1, 2024, 1, 3, 8, 8796 + 8.5 / 24],
            [np.nan, 2, np.nan, 0, 2024, 2, 4, 0, 8797],
            [-3, 3, 1, 1, *[np.nan] * 5],
        ],
    )
    assert read.labels.tolist() == ["x", "y", "x"]
    assert read_as_a_whole(path)


def test_parts_of_dates_are_made_again_from_new_rows(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("when\n2024-01-31\n\n1.2.2025\n")
    cells = whole(DataFile(path, sep=","))
    np.testing.assert_array_equal(cells.numbers("when (year)"), [2024, 2025])
    path.write_text("when\n2024-01-31\nsoon\n")
    with pytest.raises(FileError, match=r"line 3: 'when' is 'soon', which is no date"):
        whole(DataFile(path)).numbers("when (year)")


def test_dates_may_stay_text(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("when,a,label\n2024-01-31,1,x\n2024-02-01,2,y\n")
    table = read_csv(path, "label", categories=True, as_text=["when"]).table
    assert table.names == ("when", "a")
    assert read_csv(path, "label", drop=["when"]).table.names == ("a",)


def test_broken_json_lines_are_named(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    for content, message in (
        ('{"a": 1}\n{"a": \n', "line 2: is no JSON object"),
        ('{"a": 1}\n7\n', "line 2: is no JSON object"),
        ('{"a": [1, 2]}\n', "line 1: 'a' is .1, 2."),
        ("", "is empty"),
    ):
        path.write_text(content)
        with pytest.raises(FileError, match=message):
            list(blocks(DataFile(path)))


def test_names_that_a_json_line_leaves_out_are_missing(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in ({"a": 1, "y": 0}, {"b": 2, "y": 1})))
    np.testing.assert_array_equal(read_csv(path, "y").table.rows(), [[1, np.nan], [np.nan, 2]])


def test_a_damaged_parquet_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    path.write_bytes(b"PAR1 and nothing else")
    with pytest.raises(FileError, match=r"rows.parquet: cannot be read"):
        read_csv(path, "y")


def test_rows_without_labels_are_left_out_on_request(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("a,label\n1,x\n2,\n3,NA\n4,y\n")
    with pytest.raises(FileError, match="line 3: has no 'label'"):
        read_csv(path, "label")
    with pytest.warns(InputWarning, match="2 of 4 rows have no 'label' and are left out"):
        read = read_csv(DataFile(path, skip_unlabelled=True), "label")
    assert read.table.rows().tolist() == [[1], [4]]
    path.write_text("a,label\n1,\n")
    with pytest.raises(FileError, match="holds no label in 1 rows"):
        read_csv(DataFile(path, skip_unlabelled=True), "label")


def test_a_file_of_nothing_but_the_target_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("label\nx\ny\n")
    with pytest.raises(FileError, match="holds no column but 'label' to learn from"):
        read_csv(path, "label")
