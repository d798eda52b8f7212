"""Read the rows of a file of any format in blocks, or as a table with labels."""

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
from functools import partial
from itertools import islice
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import FileError, InputWarning
from pacboost.sources.arrow import ArrowTable, one_column, text_column
from pacboost.sources.cells import Cells, as_text
from pacboost.sources.data_file import JSON, PANDAS_INDEX, PARQUET, TEXT, DataFile
from pacboost.sources.frame_table import FrameTable
from pacboost.sources.optional import named_twice, need
from pacboost.sources.table import refuse_text
from pacboost.sources.targets import read_labels

ROWS_PER_BLOCK = 10_000
SEPARATORS = (",", ";", "\t", "|")
SAMPLE_ROWS, SAMPLE_CHARACTERS = 20, 2**16
PIECE_BYTES = 2**20
DECIMAL = re.compile(r"[+-]?\d+[.,]\d+")
"""A number with decimals. Whole numbers, such as years, may be column names."""
FALLBACK_ENCODING = "cp1252"
"""Windows-1252, the usual encoding of text files that are not UTF-8."""
SPACES: Any = re.compile(r"\s*")
MAX_CELL_CHARACTERS, MAX_LINE_CHARACTERS = 2**27, 2**28
"""Longest cell and line of a text file; Python's default limit of cells is 2^17."""


def csv_blocks(file: DataFile, max_columns: int | None = None) -> Iterator[Cells]:
    """Yield the rows of a text file with a header, such as CSV; detect separator and encoding.

    A file with more than ``max_columns`` columns is refused.
    """
    encoding = file.encoding or _encoding(file)
    if encoding.lower().replace("_", "-") in {"utf-8", "utf8"}:
        encoding = "utf-8-sig"
    try:
        sep = file.sep or separator(file, encoding)
        with file.opened() as stream, _text(file, stream, encoding) as text:
            rows = _rows(file, _lines(text), sep)
            header = _header(file, next(rows, (0, []))[1])
            if max_columns is not None and len(header) > max_columns:
                raise FileError(
                    f"{file}: there are {len(header):,} columns; at most {max_columns} are allowed"
                )
            while chunk := list(islice(rows, ROWS_PER_BLOCK)):
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


class Unpacked(io.RawIOBase):
    """The bytes of a text file; raises once they are more than such a small file may hold."""

    def __init__(self, file: DataFile, stream: Any) -> None:
        self._file, self._stream, self._left = file, stream, file.max_unpacked_bytes

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count: int = self._stream.readinto(buffer)
        self._left -= count
        if self._left < 0:
            raise FileError(
                f"{self._file}: holds more than {self._file.max_unpacked_bytes / 1e6:,.0f} MB, too "
                "much for a compressed file of its size; unpack it first"
            )
        return count


def _text(
    file: DataFile, stream: IO[bytes], encoding: str, errors: str = "strict"
) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BufferedReader(Unpacked(file, stream)), encoding, errors, newline="")


def _lines(text: IO[str]) -> Iterator[str]:
    """Yield the lines of a text; one that would fill the memory is cut, and then refused."""
    return iter(partial(text.readline, MAX_LINE_CHARACTERS), "")


def _encoding(file: DataFile) -> str:
    """Return the encoding: UTF-16 by its mark, else UTF-8 if the whole file is valid."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    with file.opened() as stream:
        piece = stream.read(PIECE_BYTES)
        if piece.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            return "utf-16"
        if b"\0" in piece:
            raise FileError(f"{file}: is not a text file; name a CSV, Parquet or JSON lines file")
        try:
            while piece:
                decoder.decode(piece)
                piece = stream.read(PIECE_BYTES)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            warnings.warn(
                f"{file}: is not UTF-8 and is read as Windows-1252; name another encoding "
                "by --encoding, or save the file as UTF-8",
                InputWarning,
                stacklevel=2,
            )
            return FALLBACK_ENCODING
    return "utf-8-sig"


def separator(file: DataFile, encoding: str = "utf-8-sig") -> str:
    """Return the separator that gives the most columns, the same number in the first rows."""
    if file.unpacked_name.endswith(".tsv"):
        return "\t"
    with file.opened() as stream, _text(file, stream, encoding, "replace") as text:
        sample = text.read(SAMPLE_CHARACTERS)
    is_complete = len(sample) < SAMPLE_CHARACTERS
    best_score, best_separator = (False, 1), SEPARATORS[0]
    for sep in SEPARATORS:
        widths = _widths(sample, sep, is_complete=is_complete)
        if widths and widths[0] > 1:
            score = (len(set(widths)) == 1, widths[0])
            if score > best_score:
                best_score, best_separator = score, sep
    return best_separator


def _widths(sample: str, sep: str, *, is_complete: bool) -> list[int]:
    """Count the cells of the first rows, without a last row that may be incomplete."""
    widths: list[int] = []
    try:
        for row in csv.reader(io.StringIO(sample, newline=""), delimiter=sep):
            if row:
                widths.append(len(row))
            if len(widths) > SAMPLE_ROWS:
                break
        else:
            widths = widths if is_complete else widths[:-1] or widths
    except csv.Error:
        return widths
    return widths


def numbered_rows(
    file: object, text: Iterable[str], sep: str, before: int = 0
) -> Iterator[tuple[int, list[str]]]:
    """Yield the line number and the cells of each line that is not empty.

    Lines are numbered from ``before + 1``.
    """
    csv.field_size_limit(max(csv.field_size_limit(), MAX_CELL_CHARACTERS))
    reader = csv.reader(text, delimiter=sep, strict=True)
    try:
        for row in reader:
            if row:
                yield before + reader.line_num, row
    except csv.Error as problem:
        where = f"{file}, line {before + reader.line_num}"
        if "field limit" in str(problem):
            raise FileError(
                f"{where}: a cell has more than {MAX_CELL_CHARACTERS:,} characters. Is a quote "
                "never closed? If not, shorten the cell, or remove its column from the file."
            ) from problem
        raise FileError(f"{where}: {problem}") from problem


def _rows(file: DataFile, text: Iterable[str], sep: str) -> Iterator[tuple[int, list[str]]]:
    width = 0
    for line, row in numbered_rows(file, text, sep):
        width = width or len(row)
        if len(row) != width:
            raise FileError(
                f"{file}, line {line}: has {len(row)} cells, but the header has {width}, "
                f"separated by {sep!r}. Correct or remove the line, or set the separator by --sep."
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
    values = [name for name in names if DECIMAL.fullmatch(name)]
    if values:
        warnings.warn(
            f"{file}: the first line is read as column names, but {values[0]!r} looks like a "
            "value. If it is one, put a line of names above it",
            InputWarning,
            stacklevel=2,
        )
    return names


def _undecodable(file: DataFile, encoding: str, problem: UnicodeDecodeError) -> FileError:
    shown = "UTF-8" if encoding == "utf-8-sig" else encoding
    complaint = f"is not {shown} text"
    escaped = "surrogateescape"  # not available in UTF-16
    with (
        suppress(UnicodeDecodeError),
        file.opened() as s,
        _text(file, s, encoding, escaped) as text,
    ):
        for number, line in enumerate(_lines(text), start=1):
            stray = re.search("[\udc80-\udcff]", line)
            if stray is not None:
                byte = ord(stray[0]) - 0xDC00
                return FileError(
                    f"{file}, line {number}: {complaint} (it contains the byte 0x{byte:02x}). "
                    "Save the file as UTF-8, or name its encoding by --encoding."
                )
    return FileError(f"{file}: {complaint} ({problem.reason}). Name its encoding by --encoding.")


def json_blocks(file: DataFile) -> Iterator[Cells]:
    """Yield the rows of a file of JSON lines, or of one JSON list of objects.

    Each object maps column names to values; absent names are missing values.
    """
    names: dict[str, None] = {}
    with file.opened() as stream:
        text = _text(file, stream, file.encoding or "utf-8-sig")
        rows = _objects(file, text)
        while chunk := list(islice(rows, ROWS_PER_BLOCK)):
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
        for number, line in enumerate(_lines(text), start=1):
            if number == 1 and line.lstrip().startswith("["):
                yield from enumerate(map(_object, _entries(line, text)), start=1)
                return
            if line.strip():
                yield number, _object(json.loads(line))
    except UnicodeDecodeError as problem:
        raise FileError(f"{file}: is not UTF-8 text; name its encoding by --encoding") from problem
    except (ValueError, TypeError, RecursionError) as problem:
        raise FileError(
            f"{file}, line {number}: is not a JSON object ({problem}). Write one object per "
            'line, such as {"age": 37, "city": "Rome"}.'
        ) from problem


def _entries(line: str, text: IO[str]) -> Iterator[object]:
    """Yield the entries of a JSON list one by one: together they may take 50 times its memory."""
    whole = line + text.read()
    decoder, place = json.JSONDecoder(), SPACES.match(whole, whole.index("[") + 1).end()
    while whole[place : place + 1] != "]":
        entry, place = decoder.raw_decode(whole, place)
        yield entry
        mark = SPACES.match(whole, place).end()
        if whole[mark : mark + 1] not in (",", "]"):
            raise ValueError(f"the list ends at character {mark:,} without a ]")
        place = SPACES.match(whole, mark + 1).end() if whole[mark] == "," else mark
    if whole[place + 1 :].strip():
        raise ValueError(f"more follows after its end, at character {place:,}")


def _object(row: object) -> dict[str, Any]:
    if not isinstance(row, dict):
        raise TypeError(f"it holds {row!r:.40}")
    return row


def arrow_blocks(file: DataFile) -> Iterator[Cells]:
    """Yield the rows of a Parquet or Feather file, numbered from 1."""
    before = 0
    with file.opened() as stream:
        try:
            if file.kind == PARQUET:
                batches = need("pyarrow.parquet").ParquetFile(stream).iter_batches(ROWS_PER_BLOCK)
            else:
                batches = need("pyarrow.feather").read_table(stream).to_batches(ROWS_PER_BLOCK)
            for batch in batches:
                lines = list(range(before + 1, before + batch.num_rows + 1))
                before += batch.num_rows
                if lines:
                    yield Cells(file, _columns(file, batch), lines)
        except (need("pyarrow").ArrowException, OSError) as problem:
            raise FileError(
                f"{file}: cannot be read ({problem}). Is it a complete Parquet or Feather file?"
            ) from problem
    if not before:
        raise FileError(f"{file}: has columns but no rows; at least one row is needed")


def _columns(file: DataFile, batch: ArrowTable) -> dict[str, Any]:
    names = [str(name).strip() for name in batch.schema.names]
    if twice := named_twice(names):
        raise FileError(f"{file}: {', '.join(twice)} is the name of two columns; rename one")
    columns = zip(names, batch.columns, strict=True)
    return {name: column for name, column in columns if not name.startswith(PANDAS_INDEX)}


def blocks(file: DataFile) -> Iterator[Cells]:
    """Yield the rows of a file of any format in blocks; refuse a file without rows."""
    reader = {TEXT: csv_blocks, JSON: json_blocks}.get(file.kind, arrow_blocks)
    empty = True
    for cells in reader(file):
        empty = False
        yield cells
    if empty:
        raise FileError(f"{file}: has a header but no rows; at least one is needed")


def labelled_blocks(file: DataFile, target: str) -> Iterator[Cells]:
    """Yield the rows that have labels, and warn about the number of others."""
    n_rows = n_labelled = 0
    for cells in blocks(file):
        some = cells.take(cells.labelled_rows(target))
        n_rows, n_labelled = n_rows + cells.n_rows, n_labelled + some.n_rows
        if some.n_rows:
            yield some
    if not n_labelled:
        raise FileError(
            f"{file}: column {target!r} is empty in all {n_rows:,} rows; name another column as "
            "the target"
        )
    if n_labelled < n_rows:
        warnings.warn(
            f"{file}: {n_rows - n_labelled:,} of {n_rows:,} rows have no {target!r} and are left "
            "out; all results are about rows that have one",
            InputWarning,
            stacklevel=2,
        )


def whole(file: DataFile, target: str | None = None) -> Cells:
    """Read all rows of a file, or with a target those that have labels."""
    parts = list(blocks(file) if target is None else labelled_blocks(file, target))
    columns: dict[str, Any] = {}
    for name in dict.fromkeys(name for part in parts for name in part.columns):
        empty = (text_column([""] * part.n_rows) for part in parts if name not in part.columns)
        chunks = (part.columns[name] for part in parts if name in part.columns)
        columns[name] = one_column([*empty, *chunks])  # columns may begin in a later block
    lines = np.concatenate([np.array(part.lines) for part in parts])
    return Cells(file, columns, lines, parts[0].decimal_comma)


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
    reads_text: bool = False,
) -> LabelledTable:
    """Read a file whose column ``target`` holds the labels.

    With ``categories``, columns of text that are not numbers, booleans or dates are categorical;
    otherwise they are refused. Columns in ``drop`` are not used, and those in ``raw`` stay text.
    With ``reads_text``, sentences will be read word by word, so no note says that they are not.
    """
    file = DataFile.of(file)
    cells = whole(file, target)
    labels = read_labels(cells.labels(target))
    if not any(name != target and name not in drop for name in cells.columns):
        raise FileError(
            f"{file}: the only column is {target!r}; at least one more is needed to learn from"
        )
    table = cells.table(raw, {target, *drop}, reads_text=reads_text)
    if table.levels and not categories:
        text = [table.name(j) for j in table.levels.columns]
        raise FileError(f"{file}: {refuse_text([cells.first_text(name) for name in text])}")
    return LabelledTable(table, labels)
