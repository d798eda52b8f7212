"""Text files with a header: CSV, TSV and the like; separator and encoding are detected."""

from __future__ import annotations

import codecs
import csv
import io
import re
import warnings
from collections.abc import Iterator
from typing import IO, Any

from pacboost.errors import FileError, InputWarning
from pacboost.sources.cells import Cells
from pacboost.sources.data_file import DataFile

ROWS_AT_ONCE = 10_000
SEPARATORS = (",", ";", "\t", "|")
SAMPLE_ROWS, SAMPLE_LETTERS = 20, 2**16
PIECE = 2**20
VALUE = re.compile(r"[+-]?\d+[.,]\d+")
"""A number with decimals; whole numbers may well be names, such as years."""
FALLBACK = "cp1252"
"""Windows-1252, which is what text files that are not UTF-8 mostly are."""


def csv_blocks(file: DataFile) -> Iterator[Cells]:
    """Read a file some thousand rows at a time."""
    encoding = file.encoding or _encoding(file)
    if encoding.lower().replace("_", "-") in {"utf-8", "utf8"}:
        encoding = "utf-8-sig"
    try:
        sep = file.sep or separator(file, encoding)
        with file.opened() as stream, _text(stream, encoding) as text:
            rows = _rows(file, csv.reader(text, delimiter=sep, strict=True))
            header = _header(file, next(rows, (0, []))[1])
            for lines, part in _chunks(file, rows, len(header), sep):
                columns = dict(zip(header, zip(*part, strict=True), strict=True))
                yield Cells(file, columns, lines, decimal_comma=sep == ";")
    except UnicodeDecodeError as problem:
        raise _undecodable(file, encoding, problem) from problem
    except LookupError as problem:
        raise FileError(f"{file}: {encoding!r} is no encoding; name one such as utf-8") from problem


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


def _rows(file: DataFile, reader: Any) -> Iterator[tuple[int, list[str]]]:
    """Give the lines that hold something, each with its number."""
    while True:
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as problem:
            raise FileError(f"{file}, line {reader.line_num}: {problem}") from problem
        if row:
            yield reader.line_num, row


def _header(file: DataFile, cells: list[str]) -> list[str]:
    if not cells:
        raise FileError(f"{file}: is empty; a header line and at least one row are needed")
    names = [name.strip() for name in cells]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise FileError(
            f"{file}: the header names {', '.join(map(repr, sorted(twice)))} twice. Rename one of "
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


def _chunks(
    file: DataFile, rows: Iterator[tuple[int, list[str]]], width: int, sep: str
) -> Iterator[tuple[list[int], list[list[str]]]]:
    """Collect rows, with the line of each; all of them have as many cells as the header."""
    lines: list[int] = []
    chunk: list[list[str]] = []
    for line, row in rows:
        if len(row) != width:
            raise FileError(
                f"{file}, line {line}: has {len(row)} cells where the header has {width}, "
                f"separated by {sep!r}. Mend or remove the line, or name the separator by --sep."
            )
        lines.append(line)
        chunk.append(row)
        if len(chunk) == ROWS_AT_ONCE:
            yield lines, chunk
            lines, chunk = [], []
    if chunk:
        yield lines, chunk


def _undecodable(file: DataFile, encoding: str, problem: UnicodeDecodeError) -> FileError:
    """Say where a file is not in the encoding that it should be in."""
    shown = "UTF-8" if encoding == "utf-8-sig" else encoding
    said = f"is not {shown} text"
    with file.opened() as stream, _text(stream, encoding, "surrogateescape") as text:
        for number, line in enumerate(text, start=1):
            stray = re.search("[\udc80-\udcff]", line)
            if stray is not None:
                byte = ord(stray[0]) - 0xDC00
                return FileError(
                    f"{file}, line {number}: {said} (it holds the byte 0x{byte:02x}). "
                    "Save the file as UTF-8, or name its encoding by --encoding."
                )
    return FileError(f"{file}: {said} ({problem.reason}). Name its encoding by --encoding.")
