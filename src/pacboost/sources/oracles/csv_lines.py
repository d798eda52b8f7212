"""Draw from CSV files of any size."""

from __future__ import annotations

import io
from collections.abc import Collection, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError, FileError
from pacboost.sources.data_file import MISSING, DataFile
from pacboost.sources.file_rows import numbered_rows, separator
from pacboost.sources.optional import need
from pacboost.sources.oracles.arrow import release_memory
from pacboost.sources.oracles.files import Source, features, fingerprint, refuse_other
from pacboost.sources.oracles.learned_columns import blocks_to_learn, plain_numbers
from pacboost.sources.oracles.lines import BLOCK_BYTES, LineOracle, Lines
from pacboost.sources.oracles.oracle import in_time
from pacboost.sources.oracles.row_block import NO_LABEL, RowBlock, hold_arrow, plain_labels
from pacboost.sources.spelling import Spelling
from pacboost.sources.table import refuse_text
from pacboost.sources.targets import label_kind, read_labels


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


BLOCKS_TO_CHECK = 4
"""Number of blocks that are parsed to see whether all columns are numbers: 30 MB in .2 s."""
MAX_LETTERS_FOR_ALL_CASES = 8
"""Arrow needs a list of all spellings of words for missing values, 2^8 for 8 letters."""


class TextCellError(FileError):
    """A cell of a column of numbers holds text."""


class CsvOracle(LineOracle):
    """The rows of CSV files with a header.

    What columns hold that are no numbers is learned from some blocks.

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
        self._sources, self.n_columns = self.names, len(self.names)
        self._kind: type = str
        if not self._are_numbers():
            self.learned = self.learn_columns(self._texts, str(self._files[0]), self._spelling)
            self.names, self._sources = self.learned.names, self.learned.sources
        self.n_columns = len(self.names)
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

    def _are_numbers(self) -> bool:
        """Check whether the columns of some blocks are numbers, as Arrow or Python reads them."""
        for block in in_time(blocks_to_learn(len(self._blocks))[:BLOCKS_TO_CHECK]):
            lines = self._blocks[block]
            content = self._content(lines)
            try:
                self._parse(lines, content)
            except ValueError:
                try:
                    self._parse_cells(lines, content)
                except TextCellError:
                    return False
        return True

    def _texts(self, block: int) -> Any:
        """Read the features of a block as texts, to learn what they hold."""
        lines = self._blocks[block]
        texts, content = dict.fromkeys(self.names, self._pa.string()), self._content(lines)
        try:
            return self._arrow(lines, content, texts, [])
        except ValueError:  # also the class of Arrow's errors
            rows = [cell for _, cell in self._cells(lines, content)]
            return self._pa.table({name: [cell[name] for cell in rows] for name in self.names})

    def read(self, block: int) -> RowBlock:
        release_memory()
        lines = self._blocks[block]
        content = self._content(lines)
        try:
            return self._parse(lines, content)
        except ValueError:  # also the class of Arrow's errors
            return self._parse_cells(lines, content)

    def _parse(self, lines: Lines, content: bytes) -> RowBlock:
        """Parse a block with Arrow, whose errors do not name the line."""
        kinds = dict.fromkeys(self._sources, self._pa.float64())
        if self.learned is not None:
            plain = plain_numbers(self.learned)
            texts = {name for name in self._sources if name not in plain}
            # as text, so that words for missing values and dates are read as in small files
            kinds |= dict.fromkeys(texts, self._pa.string())
        kinds[self._target] = self._pa.dictionary(self._pa.int32(), self._pa.string())
        table = self._arrow(lines, content, kinds, self._nulls)
        labels = plain_labels(table.column(self._target), self._labels)
        return hold_arrow(table, self._target, labels, self.learned)

    def _arrow(
        self, lines: Lines, content: bytes, kinds: dict[str, Any], nulls: Sequence[str]
    ) -> Any:
        """Parse the columns that have a type in ``kinds``."""
        return self._csv.read_csv(
            self._pa.BufferReader(content),
            read_options=self._csv.ReadOptions(
                use_threads=False,
                block_size=min(len(content) + 1, 2**30),
                column_names=self._headers[lines.file],
            ),
            parse_options=self._csv.ParseOptions(delimiter=self._sep, newlines_in_values=True),
            convert_options=self._csv.ConvertOptions(
                include_columns=list(kinds),
                column_types=kinds,
                null_values=nulls,
            ),
        )

    def _labels(self, texts: Sequence[str]) -> NDArray[Any]:
        stripped = [text.strip() for text in texts]
        if any(map(self._spelling.is_missing, stripped)):
            raise ValueError("a label is missing")
        return read_labels(stripped, self._kind)

    def _parse_cells(self, lines: Lines, content: bytes) -> RowBlock:
        """Parse a block cell by cell; errors name the line."""
        spelling = self._spelling
        plain = self._sources if self.learned is None else sorted(plain_numbers(self.learned))
        rows: list[Any] = []
        labels: list[Any] = []
        for where, cell in self._cells(lines, content):
            label = cell[self._target].strip()
            numbers = spelling.numbers(cell[name] for name in plain)
            if numbers is None:
                name = next(name for name in plain if not spelling.is_number(cell[name]))
                raise TextCellError(f"{where}: {refuse_text([f'{name} ({cell[name]!r})'])}")
            if spelling.is_missing(label):
                raise DataError(f"{where}: {NO_LABEL}")
            try:
                labels.append(read_labels([label], self._kind)[0])
            except ValueError as problem:
                raise DataError(
                    f"{where}: the label is {label!r}, but the first labels of "
                    f"{self._files[0]} have type {self._kind.__name__}. Use one type for all."
                ) from problem
            rows.append(numbers if self.learned is None else [cell[n] for n in self._sources])
        if self.learned is not None:
            columns = zip(self._sources, zip(*rows, strict=True), strict=True)
            read = {name: np.array(column, dtype=object) for name, column in columns}
            return RowBlock(read, np.array(labels), learned=self.learned)
        values = np.array(rows, dtype=np.float64).reshape(len(rows), self.n_columns)
        return RowBlock(values, np.array(labels), self.names)

    def _cells(self, lines: Lines, content: bytes) -> Iterator[tuple[str, dict[str, str]]]:
        """Yield the place and the cells by name of each row of a block."""
        header = self._headers[lines.file]
        for line, cells in self._rows(lines, content):
            where = f"{self._files[lines.file]}, line {line}"
            if len(cells) != len(header):
                raise FileError(
                    f"{where}: has {len(cells)} cells, but the header has {len(header)}. "
                    "Correct or remove the line."
                )
            yield where, dict(zip(header, cells, strict=True))

    def _rows(self, lines: Lines, content: bytes | None = None) -> Iterator[tuple[int, list[str]]]:
        """Yield the number of the last line and the cells of each row of a block."""
        path = self._files[lines.file]
        content = self._content(lines) if content is None else content
        try:
            text = content.decode()
        except UnicodeDecodeError as problem:
            line = lines.line + content.count(b"\n", 0, problem.start)
            complaint = f"is not UTF-8 text ({problem.reason})"
            raise FileError(f"{path}, line {line}: {complaint}") from problem
        yield from numbered_rows(path, io.StringIO(text, newline=""), self._sep, lines.line - 1)

    def fingerprint(self) -> str:
        return fingerprint(self._files, self.names, self._target)


def _cases(word: str) -> Iterator[str]:
    """Yield a word in all mixtures of upper and lower case; only common ones for a long word."""
    if len(word) > MAX_LETTERS_FOR_ALL_CASES:
        return iter((word, word.upper(), word.capitalize(), word.title()))
    return map("".join, product(*({letter, letter.upper()} for letter in word)))
