"""Cut text files into blocks of whole lines, in one scan that parses nothing.

A line end within quotes is no end of a row: it is one after which an odd number of quotes has been
seen. So cells that hold line ends cut nowhere, as long as quotes come in pairs (in a quoted cell a
quote is written twice).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from pacboost.errors import FileError

BLOCK = 2**23
"""About so many bytes make a block."""


class Lines(NamedTuple):
    """A range of whole lines: the number of its file, its bytes, and the number of the first."""

    file: int
    start: int
    stop: int
    line: int


def cut(path: Path, file: int, start: int = 0, line: int = 1, *, quotes: bool) -> Iterator[Lines]:
    """Give the blocks of a file, from a byte on that begins the line of this number."""
    inside = False
    here, stop, ends = start, start, 0
    with path.open("rb") as content:
        content.seek(start)
        while chunk := content.read(BLOCK):
            last = last_end(chunk, inside, quotes=quotes) + 1
            if last:
                yield Lines(file, here, stop + last, line)
                line += ends + chunk.count(b"\n", 0, last)
                here, ends = stop + last, 0
            ends += chunk.count(b"\n", last)
            inside ^= quotes and chunk.count(b'"') % 2 == 1
            stop += len(chunk)
    if inside:
        raise FileError(
            f"{path}, line {line}: a quote is opened here or later and never closed. Write quotes "
            "within a cell twice, and the cell in quotes."
        )
    if here < stop:
        yield Lines(file, here, stop, line)


def rows_by_bytes(rows: int, blocks: Sequence[Lines]) -> int:
    """Estimate how many rows all blocks hold, from how many the first one does.

    >>> rows_by_bytes(10, [Lines(0, 0, 200, 1), Lines(0, 200, 500, 11)])
    25
    """
    total = sum(block.stop - block.start for block in blocks)
    return max(1, round(rows * total / (blocks[0].stop - blocks[0].start)))


def last_end(chunk: bytes, inside: bool = False, *, quotes: bool = True) -> int:
    r"""Find the last line end that ends a row; -1 if there is none.

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
    """Read a block as it is."""
    try:
        with path.open("rb") as content:
            content.seek(lines.start)
            block = content.read(lines.stop - lines.start)
    except OSError as problem:
        raise FileError(f"{path}: cannot be read ({problem.strerror})") from problem
    if len(block) != lines.stop - lines.start:
        raise FileError(f"{path}: was cut short while it was being read")
    return block
