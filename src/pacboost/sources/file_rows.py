"""Read the rows of a file some thousand at a time, whatever its kind."""

from __future__ import annotations

import codecs
import csv
import io
import json
import re
import warnings
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import FileError, InputWarning
from pacboost.sources.arrow import text_column
from pacboost.sources.cells import Cells, as_text
from pacboost.sources.data_file import JSON, PARQUET, TEXT, DataFile
from pacboost.sources.frame_table import FrameTable
from pacboost.sources.optional import named_twice, need
from pacboost.sources.table import refuse_text
from pacboost.sources.written import read_labels

# Text files with a header: CSV, TSV and the like; separator and encoding are detected.

ROWS_AT_ONCE = 10_000
SEPARATORS = (",", ";", "\t", "|")
SAMPLE_ROWS, SAMPLE_LETTERS = 20, 2**16
PIECE = 2**20
VALUE = re.compile(r"[+-]?\d+[.,]\d+")
"""A number with decimals; whole numbers may well be names, such as years."""
FALLBACK = "cp1252"
"""Windows-1252, which is what text files that are not UTF-8 mostly are."""
LONGEST_CELL = 2**27
"""A cell of a text file may have so many letters; Python's own limit is 2^17."""


def csv_blocks(file: DataFile, most_columns: int | None = None) -> Iterator[Cells]:
    """Read a file some thousand rows at a time; one with too many columns is not read at all."""
    encoding = file.encoding or _encoding(file)
    if encoding.lower().replace("_", "-") in {"utf-8", "utf8"}:
        encoding = "utf-8-sig"
    try:
        sep = file.sep or separator(file, encoding)
        with file.opened() as stream, _text(stream, encoding) as text:
            rows = _rows(file, text, sep)
            header = _header(file, next(rows, (0, []))[1])
            if most_columns is not None and len(header) > most_columns:
                raise FileError(f"{file}: has {len(header):,} columns; it may have {most_columns}")
            while chunk := list(islice(rows, ROWS_AT_ONCE)):
                lines, cells = zip(*chunk, strict=True)
                texts = map(text_column, zip(*cells, strict=True))
                columns = dict(zip(header, texts, strict=True))
                yield Cells(file, columns, lines, decimal_comma=sep == ";")
    except UnicodeDecodeError as problem:
        raise _undecodable(file, encoding, problem) from problem
    except LookupError as problem:
        raise FileError(
            f"{file}: {encoding!r} is not an encoding; name one such as utf-8"
        ) from problem


def _text(stream: IO[bytes], encoding: str, errors: str = "strict") -> io.TextIOWrapper:
    return io.TextIOWrapper(stream, encoding, errors, newline="")


def _encoding(file: DataFile) -> str:
    """Find the encoding: by a mark at the beginning, else UTF-8 if the whole file is."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    with file.opened() as stream:
        piece = stream.read(PIECE)
        if piece.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            return "utf-16"
        if b"\0" in piece:
            raise FileError(f"{file}: is not a text file; name a CSV, Parquet or JSON lines file")
        try:
            while piece:
                decoder.decode(piece)
                piece = stream.read(PIECE)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            warnings.warn(
                f"{file}: is not UTF-8 and is read as Windows-1252; name another encoding by "
                "--encoding, or save the file as UTF-8",
                InputWarning,
                stacklevel=2,
            )
            return FALLBACK
    return "utf-8-sig"


def separator(file: DataFile, encoding: str = "utf-8-sig") -> str:
    """Find what separates cells: it gives the most columns, and as many in the first rows."""
    if file.unpacked_name.endswith(".tsv"):
        return "\t"
    with file.opened() as stream, _text(stream, encoding, "replace") as text:
        sample = text.read(SAMPLE_LETTERS)
    whole = len(sample) < SAMPLE_LETTERS
    best, found = (False, 1), SEPARATORS[0]
    for sep in SEPARATORS:
        widths = _widths(sample, sep, whole=whole)
        if widths and widths[0] > 1:
            score = (len(set(widths)) == 1, widths[0])
            if score > best:
                best, found = score, sep
    return found


def _widths(sample: str, sep: str, *, whole: bool) -> list[int]:
    """Count the cells of the first rows; a row that may be cut off is left out."""
    widths: list[int] = []
    try:
        for row in csv.reader(io.StringIO(sample, newline=""), delimiter=sep):
            if row:
                widths.append(len(row))
            if len(widths) > SAMPLE_ROWS:
                break
        else:
            widths = widths if whole else widths[:-1] or widths
    except csv.Error:
        return widths
    return widths


def numbered_rows(
    file: object, text: Iterable[str], sep: str, before: int = 0
) -> Iterator[tuple[int, list[str]]]:
    """Return the cells of lines that hold something, each with its number, after those before."""
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST_CELL))
    reader = csv.reader(text, delimiter=sep, strict=True)
    try:
        for row in reader:
            if row:
                yield before + reader.line_num, row
    except csv.Error as problem:
        where = f"{file}, line {before + reader.line_num}"
        if "field limit" in str(problem):
            raise FileError(
                f"{where}: a cell has more than {LONGEST_CELL:,} letters. Is a quote opened and "
                "never closed? Else shorten the cell, or leave its column out of the file."
            ) from problem
        raise FileError(f"{where}: {problem}") from problem


def _rows(file: DataFile, text: Iterable[str], sep: str) -> Iterator[tuple[int, list[str]]]:
    """Return the lines that hold something, each with its number; all have as many cells."""
    width = 0
    for line, row in numbered_rows(file, text, sep):
        width = width or len(row)
        if len(row) != width:
            raise FileError(
                f"{file}, line {line}: has {len(row)} cells where the header has {width}, "
                f"separated by {sep!r}. Mend or remove the line, or name the separator by --sep."
            )
        yield line, row


def _header(file: DataFile, cells: list[str]) -> list[str]:
    if not cells:
        raise FileError(f"{file}: is empty; a header line and at least one row are needed")
    names = [name.strip() for name in cells]
    if twice := named_twice(names):
        raise FileError(
            f"{file}: the header names {', '.join(map(repr, twice))} twice. Rename one of "
            "the columns; if the first line is a row of values, put a line of names above it"
        )
    values = [name for name in names if VALUE.fullmatch(name)]
    if values:
        warnings.warn(
            f"{file}: the first line is read as the names of the columns, and {values[0]!r} looks "
            "like a value. If it is one, put a line of names above it",
            InputWarning,
            stacklevel=2,
        )
    return names


def _undecodable(file: DataFile, encoding: str, problem: UnicodeDecodeError) -> FileError:
    shown = "UTF-8" if encoding == "utf-8-sig" else encoding
    said = f"is not {shown} text"
    escaped = "surrogateescape"  # which UTF-16 does not know
    with suppress(UnicodeDecodeError), file.opened() as s, _text(s, encoding, escaped) as text:
        for number, line in enumerate(text, start=1):
            stray = re.search("[\udc80-\udcff]", line)
            if stray is not None:
                byte = ord(stray[0]) - 0xDC00
                return FileError(
                    f"{file}, line {number}: {said} (it holds the byte 0x{byte:02x}). "
                    "Save the file as UTF-8, or name its encoding by --encoding."
                )
    return FileError(f"{file}: {said} ({problem.reason}). Name its encoding by --encoding.")


# JSON lines: one object a line, which maps column names to values. A list of objects also does.


def json_blocks(file: DataFile) -> Iterator[Cells]:
    """Read a file some thousand rows at a time; a name that a row leaves out is missing there."""
    names: dict[str, None] = {}
    with file.opened() as stream:
        text = io.TextIOWrapper(stream, file.encoding or "utf-8-sig")
        rows = _objects(file, text)
        while chunk := list(islice(rows, ROWS_AT_ONCE)):
            names |= dict.fromkeys(name for _, row in chunk for name in row)
            columns = {}
            for name in names:
                texts = [as_text(row.get(name), file, name, line) for line, row in chunk]
                try:
                    columns[name] = text_column(texts)
                except UnicodeEncodeError as problem:
                    raise FileError(
                        f"{file}: {name!r} holds {problem.object!a:.40}, which is not valid Unicode"
                    ) from problem
            yield Cells(file, columns, [line for line, _ in chunk])
    if not names:
        raise FileError(f"{file}: is empty; at least one line with an object is needed")


def _objects(file: DataFile, text: IO[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    try:
        for number, line in enumerate(text, start=1):
            if number == 1 and line.lstrip().startswith("["):
                yield from enumerate(map(_object, json.loads(line + text.read())), start=1)
                return
            if line.strip():
                yield number, _object(json.loads(line))
    except UnicodeDecodeError as problem:
        raise FileError(f"{file}: is not UTF-8 text; name its encoding by --encoding") from problem
    except (ValueError, TypeError) as problem:
        raise FileError(
            f"{file}, line {number}: is not a JSON object ({problem}). Write one object a line, "
            'such as {"age": 37, "city": "Rome"}.'
        ) from problem


def _object(row: Any) -> dict[str, Any]:
    if not isinstance(row, dict):
        raise TypeError(f"it holds {row!r:.40}")
    return row


# Parquet and Feather files: columns stay what they are, and read as they would in a CSV file.


def arrow_blocks(file: DataFile) -> Iterator[Cells]:
    """Read a file some thousand rows at a time; rows are numbered from 1."""
    before = 0
    with file.opened() as stream:
        try:
            if file.kind == PARQUET:
                batches = need("pyarrow.parquet").ParquetFile(stream).iter_batches(ROWS_AT_ONCE)
            else:
                batches = need("pyarrow.feather").read_table(stream).to_batches(ROWS_AT_ONCE)
            for batch in batches:
                lines = list(range(before + 1, before + batch.num_rows + 1))
                before += batch.num_rows
                if lines:
                    yield Cells(file, _columns(file, batch), lines)
        except (need("pyarrow").ArrowException, OSError) as problem:
            raise FileError(
                f"{file}: cannot be read ({problem}). Is it a Parquet or Feather file, and whole?"
            ) from problem
    if not before:
        raise FileError(f"{file}: has columns but no rows; at least one row is needed")


def _columns(file: DataFile, batch: Any) -> dict[str, Any]:
    names = [str(name).strip() for name in batch.schema.names]
    if twice := named_twice(names):
        raise FileError(f"{file}: {', '.join(twice)} is the name of two columns")
    columns = dict(zip(names, batch.columns, strict=True))
    return {n: own for n, own in columns.items() if not n.startswith("__index_level_")}  # pandas'


def blocks(file: DataFile) -> Iterator[Cells]:
    """Return the rows of a file in blocks; there is at least one row."""
    read = {TEXT: csv_blocks, JSON: json_blocks}.get(file.kind, arrow_blocks)
    empty = True
    for cells in read(file):
        empty = False
        yield cells
    if empty:
        raise FileError(f"{file}: has a header but no rows; at least one is needed")


def labelled_blocks(file: DataFile, target: str) -> Iterator[Cells]:
    """Return the rows that have labels; if others are left out, say how many."""
    rows = kept = 0
    for cells in blocks(file):
        some = cells.labelled(target)
        rows, kept = rows + cells.n_rows, kept + some.n_rows
        if some.n_rows:
            yield some
    if not kept:
        raise FileError(
            f"{file}: column {target!r} holds no label in {rows:,} rows; name another column as "
            "the target"
        )
    if kept < rows:
        warnings.warn(
            f"{file}: {rows - kept:,} of {rows:,} rows have no {target!r} and are left out",
            InputWarning,
            stacklevel=2,
        )


def whole(file: DataFile, target: str | None = None) -> Cells:
    """Read all rows of a file; those with labels, if a target is named."""
    parts = list(blocks(file) if target is None else labelled_blocks(file, target))
    columns: dict[str, Any] = {}
    for name in dict.fromkeys(name for part in parts for name in part.columns):
        empty = (text_column([""] * part.n_rows) for part in parts if name not in part.columns)
        own = (part.columns[name] for part in parts if name in part.columns)
        columns[name] = need("pyarrow").chunked_array([*empty, *own])  # names come, and never go
    lines = np.concatenate([np.array(part.lines) for part in parts])
    return Cells(file, columns, lines, parts[0].decimal_comma)


# Examples from a file, read into memory as a table and its labels.


@dataclass(frozen=True)
class LabelledTable:
    """The examples of a file: a table and the label of each row."""

    table: FrameTable
    labels: NDArray[Any]


def read_csv(
    file: str | Path | DataFile,
    target: str,
    *,
    categories: bool = False,
    drop: Collection[str] = (),
    raw: Collection[str] = (),
) -> LabelledTable:
    """Read a file whose column ``target`` holds the labels.

    With ``categories``, columns of text that are neither numbers nor dates are categories, else
    they are refused. The columns ``drop`` are left out; those named ``raw`` stay text.
    """
    file = DataFile.of(file)
    cells = whole(file, target)
    labels = read_labels(cells.labels(target))
    if not any(name != target and name not in drop for name in cells.columns):
        raise FileError(
            f"{file}: holds no column but {target!r} to learn from; at least one more is needed"
        )
    table = cells.table(raw, {target, *drop})
    if table.levels and not categories:
        text = [table.name(j) for j in table.levels.columns]
        raise FileError(f"{file}: {refuse_text([cells.first_text(name) for name in text])}")
    return LabelledTable(table, labels)
