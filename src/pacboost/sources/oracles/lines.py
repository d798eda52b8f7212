"""Draw from text files of any size, in blocks of complete lines.

One scan finds where blocks begin, without parsing. A line feed within quotes, that is, after an odd
number of quotes, does not end a row. This is correct as long as quotes come in pairs (within a
quoted cell, a quote is written twice).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from pacboost.errors import DataError, FileError
from pacboost.sources.oracles.blocks import BlockOracle
from pacboost.sources.oracles.files import Source, check_unchanged, find_files, stamp
from pacboost.sources.oracles.oracle import in_time
from pacboost.sources.oracles.remote_files import CHANGED

BLOCK_BYTES = 2**23


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
    r"""Return the index of the last line feed that ends a row; -1 if there is none."""
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
