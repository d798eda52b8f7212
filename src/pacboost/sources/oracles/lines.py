"""Draw from CSV and svmlight files of any size, in blocks of complete lines.

One scan finds where blocks begin, without parsing. A line feed within quotes, that is, after an odd
number of quotes, does not end a row. This is correct as long as quotes come in pairs (within a
quoted cell, a quote is written twice).
"""

from __future__ import annotations

import io
from abc import abstractmethod
from collections.abc import Collection, Iterator, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pacboost.errors import DataError, FileError
from pacboost.numerics.checks import whole
from pacboost.sources.data_file import MISSING, DataFile
from pacboost.sources.file_rows import numbered_rows, separator
from pacboost.sources.optional import need
from pacboost.sources.oracles.arrow import release_memory
from pacboost.sources.oracles.blocks import BlockOracle
from pacboost.sources.oracles.files import (
    CHANGED,
    Source,
    check_unchanged,
    features,
    find_files,
    fingerprint,
    refuse_other,
    stamp,
)
from pacboost.sources.oracles.held import (
    NO_LABEL,
    Held,
    hold_arrow,
    plain_labels,
)
from pacboost.sources.oracles.oracle import in_time
from pacboost.sources.table import refuse_text
from pacboost.sources.written import Spelling, label_kind, read_labels

BLOCK_BYTES = 2**23
"""Approximate size of a block."""


class Lines(NamedTuple):
    """A block of complete lines: number of the file, byte range, first line, number of lines."""

    file: int
    start: int
    stop: int
    line: int
    lines: int


def cut(path: Path, file: int, start: int = 0, line: int = 1, *, quotes: bool) -> Iterator[Lines]:
    """Yield the blocks of a file from byte ``start``, where line number ``line`` begins."""
    inside = False
    here, stop, ends = start, start, 0
    with path.open("rb") as content:
        content.seek(start)
        for chunk in in_time(iter(partial(content.read, BLOCK_BYTES), b"")):
            last = last_end(chunk, inside, quotes=quotes) + 1
            if last:
                ends += chunk.count(b"\n", 0, last)
                yield Lines(file, here, stop + last, line, ends)
                line += ends
                here, ends = stop + last, 0
            ends += chunk.count(b"\n", last)
            inside ^= quotes and chunk.count(b'"') % 2 == 1
            stop += len(chunk)
    if inside:
        raise FileError(
            f"{path}, line {line}: a quote is opened here or later and never closed. Write a "
            "quote within a cell twice, and put the cell in quotes."
        )
    if here < stop:
        yield Lines(file, here, stop, line, ends + 1)


def last_end(chunk: bytes, inside: bool = False, *, quotes: bool = True) -> int:
    r"""Return the index of the last line feed that ends a row; -1 if there is none.

    >>> last_end(b'1,"a\nb"\n2,"c\n')
    7
    """
    end = chunk.rfind(b"\n")
    inside ^= quotes and chunk.count(b'"', 0, max(end, 0)) % 2 == 1
    while inside and end >= 0:
        before = chunk.rfind(b"\n", 0, end)
        inside ^= chunk.count(b'"', max(before, 0), end) % 2 == 1
        end = before
    return end


def read_lines(path: Path, lines: Lines) -> bytes:
    """Read the bytes of a block."""
    try:
        with path.open("rb") as content:
            content.seek(lines.start)
            block = content.read(lines.stop - lines.start)
    except OSError as problem:
        raise FileError(f"{path}: cannot be read ({problem.strerror})") from problem
    if len(block) != lines.stop - lines.start:
        raise FileError(f"{path}: {CHANGED}")
    return block


class LineOracle(BlockOracle):
    """The rows of text files, in blocks of complete lines."""

    suffixes: tuple[str, ...]
    quotes = False

    def __init__(self, source: Source, seed: int) -> None:
        self._files = find_files(source, self.suffixes)
        self._stamps = {path: stamp(path) for path in self._files}
        self._blocks = [
            lines
            for file, path in enumerate(self._files)
            for lines in cut(path, file, *self._beginning(path), quotes=self.quotes)
        ]
        if not self._blocks:
            raise DataError(f"{self._files[0]}: there are no rows; at least one is needed")
        super().__init__(seed, len(self._blocks))
        largest = max(self._blocks, key=self._bytes)
        self.largest_block = self._bytes(largest)
        self.largest_block_place = f"{self._files[largest.file]}, from line {largest.line} on"

    def _beginning(self, path: Path) -> tuple[int, int]:
        """Return the byte and the line where the rows of a file begin."""
        return 0, 1

    def _bytes(self, lines: Lines) -> int:
        """Return an upper estimate of the bytes of a block in memory."""
        return 10 * (lines.stop - lines.start)

    def _content(self, lines: Lines) -> bytes:
        content = read_lines(self._files[lines.file], lines)
        check_unchanged(self._stamps, self._files[lines.file])
        return content

    @abstractmethod
    def _rows(self, lines: Lines) -> Iterator[tuple[int, list[Any]]]:
        """Yield the line number and the cells of every row of a block."""

    def _estimate(self, rows: int) -> None:
        """Estimate the number of rows from that of the first block."""
        sizes = [lines.stop - lines.start for lines in self._blocks]
        self.estimated_rows = max(1, round(rows * sum(sizes) / sizes[0]))

    def place(self, row: int) -> str:
        lines = self._blocks[row >> 32]
        numbers = [line for line, _ in self._rows(lines)]
        return f"{self._files[lines.file]}, line {numbers[row & 0xFFFFFFFF]}"


def header_of(path: Path, sep: str) -> tuple[list[str], int, int]:
    """Return the column names, and the byte and line where the rows begin."""
    head, line = b"", 1
    try:
        with path.open("rb") as content:
            while len(head) < BLOCK_BYTES and (piece := content.readline(BLOCK_BYTES)):
                head, line = (head + piece).lstrip(b"\r\n"), line + 1
                if head and head.count(b'"') % 2 == 0:
                    break
            start = content.tell()
        text = io.StringIO(head.decode("utf-8-sig"), newline="")
        _, names = next(numbered_rows(path, text, sep), (0, []))
    except OSError as problem:
        raise FileError(f"{path}: cannot be read ({problem.strerror})") from problem
    except UnicodeDecodeError as problem:
        raise FileError(f"{path}: the header cannot be read ({problem})") from problem
    if not names:
        raise FileError(f"{path}: is empty; a header line and at least one row are needed")
    if b"\r" in head.rstrip(b"\r\n") or len(head) >= BLOCK_BYTES:
        raise FileError(f"{path}: has no lines that end in a line feed; is it a CSV file?")
    return [name.strip() for name in names], start, line


MAX_LETTERS_FOR_ALL_CASES = 8
"""Arrow needs a list of all spellings of words for missing values, 2^8 for 8 letters."""


class CsvOracle(LineOracle):
    """The rows of CSV files with a header; all columns but the target are numbers.

    ``missing`` lists the words for missing values, by default empty cells, NA, N/A, #N/A, NaN,
    None, null, - and ?. The separator is ``sep``, or detected in the first file. Labels are
    integers or floats if those of the first block are, else text. Files are sorted by path. Arrow
    parses the blocks; blocks that it refuses are parsed again cell by cell, to name the line of an
    error or to read numbers in unusual formats.
    """

    names: tuple[str, ...]
    suffixes = (".csv", ".tsv")
    quotes = True

    def __init__(
        self,
        source: Source,
        target: str,
        seed: int = 0,
        *,
        drop: Collection[str] = (),
        missing: Collection[str] = MISSING,
        sep: str | None = None,
    ) -> None:
        self._pa, self._csv = need("pyarrow"), need("pyarrow.csv")
        self._target, self._left_out, self._sep = target, drop, sep or ""
        self._headers: list[list[str]] = []
        super().__init__(source, seed)
        words = frozenset(word.strip().lower() for word in missing)
        self._spelling = Spelling(words, decimal_comma=self._sep == ";")
        self._nulls = sorted(text for word in words for text in _cases(word))
        self.n_columns = len(self.names)
        self._kind: type = str
        first = self.read(0)
        self._kind = label_kind(first.labels())
        self._estimate(first.n_rows)

    def _beginning(self, path: Path) -> tuple[int, int]:
        self._sep = self._sep or separator(DataFile(path))
        header, start, line = header_of(path, self._sep)
        names = features(header, self._target, self._left_out, str(path))
        self.names = names if not self._headers else self.names
        refuse_other(names, str(path), self.names, str(self._files[0]))
        self._headers.append(header)
        return start, line

    def _bytes(self, lines: Lines) -> int:
        """Return half of the bytes of two blocks, one in use while Arrow parses the other.

        Arrow stores the text twice, and the offset and the number of every cell.
        """
        return lines.stop - lines.start + 10 * lines.lines * len(self._headers[lines.file])

    def read(self, block: int) -> Held:
        release_memory()
        lines = self._blocks[block]
        content = self._content(lines)
        try:
            return self._parse(lines, content)
        except ValueError:  # also the class of Arrow's errors
            return self._parse_cells(lines, content)

    def _parse(self, lines: Lines, content: bytes) -> Held:
        """Parse a block with Arrow, whose errors do not name the line."""
        kinds = dict.fromkeys(self.names, self._pa.float64())
        kinds[self._target] = self._pa.dictionary(self._pa.int32(), self._pa.string())
        table = self._csv.read_csv(
            self._pa.BufferReader(content),
            read_options=self._csv.ReadOptions(
                use_threads=False,
                block_size=min(len(content) + 1, 2**30),
                column_names=self._headers[lines.file],
            ),
            parse_options=self._csv.ParseOptions(delimiter=self._sep, newlines_in_values=True),
            convert_options=self._csv.ConvertOptions(
                include_columns=[*self.names, self._target],
                column_types=kinds,
                null_values=self._nulls,
            ),
        )

        labels = plain_labels(table.column(self._target), self._labels)
        return hold_arrow(table, self._target, labels)

    def _labels(self, texts: Sequence[str]) -> NDArray[Any]:
        stripped = [text.strip() for text in texts]
        if any(map(self._spelling.is_missing, stripped)):
            raise ValueError("a label is missing")
        return read_labels(stripped, self._kind)

    def _parse_cells(self, lines: Lines, content: bytes) -> Held:
        """Parse a block cell by cell; errors name the line."""
        header, spelling = self._headers[lines.file], self._spelling
        rows: list[NDArray[np.float64]] = []
        labels: list[Any] = []
        for line, cells in self._rows(lines, content):
            where = f"{self._files[lines.file]}, line {line}"
            if len(cells) != len(header):
                raise FileError(
                    f"{where}: has {len(cells)} cells, but the header has {len(header)}. "
                    "Correct or remove the line."
                )
            cell = dict(zip(header, cells, strict=True))
            numbers, label = (
                spelling.numbers(cell[name] for name in self.names),
                cell[self._target].strip(),
            )
            if numbers is None:
                name = next(name for name in self.names if not spelling.is_number(cell[name]))
                raise FileError(f"{where}: {refuse_text([f'{name} ({cell[name]!r})'])}")
            if spelling.is_missing(label):
                raise DataError(f"{where}: {NO_LABEL}")
            try:
                labels.append(read_labels([label], self._kind)[0])
            except ValueError as problem:
                raise DataError(
                    f"{where}: the label is {label!r}, but those at the beginning of "
                    f"{self._files[0]} have type {self._kind.__name__}. Write all in the same way."
                ) from problem
            rows.append(numbers)
        values = np.array(rows, dtype=np.float64).reshape(len(rows), self.n_columns)
        return Held(values, np.array(labels), self.names)

    def _rows(self, lines: Lines, content: bytes | None = None) -> Iterator[tuple[int, list[str]]]:
        """Yield the number of the last line and the cells of each row of a block."""
        path = self._files[lines.file]
        content = self._content(lines) if content is None else content
        try:
            text = content.decode()
        except UnicodeDecodeError as problem:
            line = lines.line + content.count(b"\n", 0, problem.start)
            raise FileError(
                f"{path}, line {line}: is not UTF-8 text ({problem.reason})"
            ) from problem
        yield from numbered_rows(path, io.StringIO(text, newline=""), self._sep, lines.line - 1)

    def fingerprint(self) -> str:
        return fingerprint(self._files, self.names, self._target)


def _cases(word: str) -> Iterator[str]:
    """Yield a word in all mixtures of upper and lower case; only common ones for a long word."""
    if len(word) > MAX_LETTERS_FOR_ALL_CASES:
        return iter((word, word.upper(), word.capitalize(), word.title()))
    return map("".join, product(*({letter, letter.upper()} for letter in word)))


class SvmlightOracle(LineOracle):
    """The sparse rows of svmlight files (also called libsvm); labels are numbers.

    A line has a label and the features that are not 0, as number:value with ascending numbers.
    Comments after # and query ids (qid:…) are ignored. Features are numbered from 1, or from 0 if
    ``zero_based``. ``n_features`` is their number; None to find it in a scan of all lines.
    """

    suffixes = (".svm", ".svmlight", ".libsvm")
    sparse = True

    def __init__(
        self,
        source: Source,
        seed: int = 0,
        *,
        n_features: int | None = None,
        zero_based: bool = False,
    ) -> None:
        self._first = 0 if zero_based else 1
        super().__init__(source, seed)
        counted = self._count_features() if n_features is None else n_features
        self.n_columns = whole("n_features", counted, 1)
        self._estimate(sum(1 for _ in self._rows(self._blocks[0])))

    def read(self, block: int) -> Held:
        lines = self._blocks[block]
        labels: list[float] = []
        numbers: list[int] = []
        values: list[float] = []
        ends = [0]
        for line, cells in self._rows(lines):
            try:
                labels.append(_number(cells[0]))
                self._read_features(cells[1:], numbers, values)
            except ValueError as problem:
                raise FileError(f"{self._files[lines.file]}, line {line}: {problem}") from None
            ends.append(len(numbers))
        columns = np.array(numbers, dtype=np.int64) - self._first
        stored = np.array(values, dtype=np.float64), columns, ends
        matrix = sparse.csr_array(stored, shape=(len(labels), self.n_columns))
        return Held(matrix, np.array(labels))

    def _read_features(self, cells: list[bytes], numbers: list[int], values: list[float]) -> None:
        """Append the features of a line."""
        before, last = self._first - 1, self._first + self.n_columns - 1
        for cell in cells:
            text, colon, value = cell.partition(b":")
            if text == b"qid":
                continue
            if not (colon and text.isdigit()):
                raise ValueError(_no_feature(cell))
            number = int(text)
            if not before < number <= last:
                raise ValueError(
                    f"feature {number} follows feature {before}; numbers must ascend from "
                    f"{self._first} to {last}. Sort them, or set n_features or zero_based."
                )
            numbers.append(number)
            values.append(_number(value))
            before = number

    def _rows(self, lines: Lines) -> Iterator[tuple[int, list[bytes]]]:
        """Yield the number and the cells of each line that is not empty."""
        for line, text in enumerate(self._content(lines).split(b"\n"), lines.line):
            cells = text.partition(b"#")[0].split()
            if cells:
                yield line, cells

    def _count_features(self) -> int:
        """Return the number of features, from the last feature of each line, as numbers ascend."""
        largest = self._first
        for lines in self._blocks:
            for line, cells in self._rows(lines):
                number, colon, _ = cells[-1].partition(b":")
                if colon and number != b"qid":
                    if not number.isdigit():
                        where = f"{self._files[lines.file]}, line {line}"
                        raise FileError(f"{where}: {_no_feature(cells[-1])}")
                    largest = max(largest, int(number))
        return largest + 1 - self._first

    def fingerprint(self) -> str:
        return fingerprint(self._files, self.n_columns, self._first)


def _number(text: bytes) -> float:
    try:
        return float(b"text" if b"_" in text else text)  # Python reads 1_000 as 1000
    except ValueError:
        raise ValueError(f"{text.decode(errors='replace')!r} is not a number") from None


def _no_feature(cell: bytes) -> str:
    return f"{cell.decode(errors='replace')!r} is not a feature; write features as number:value"
