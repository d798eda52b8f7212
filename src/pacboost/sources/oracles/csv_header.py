"""The header of a CSV file, and where its rows begin."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from pacboost.errors import FileError
from pacboost.sources.oracles.lines import BLOCK


def header_of(path: Path, sep: str) -> tuple[list[str], int, int]:
    """Give the names of the columns, and the byte and the line where rows begin."""
    head, line = b"", 1
    try:
        with path.open("rb") as content:
            while len(head) < BLOCK and (piece := content.readline(BLOCK)):
                head, line = (head + piece).lstrip(b"\r\n"), line + 1
                if head and head.count(b'"') % 2 == 0:
                    break
            start = content.tell()
        text = io.StringIO(head.decode("utf-8-sig"), newline="")
        names = next(csv.reader(text, delimiter=sep, strict=True), [])
    except OSError as problem:
        raise FileError(f"{path}: cannot be read ({problem.strerror})") from problem
    except (UnicodeDecodeError, csv.Error) as problem:
        raise FileError(f"{path}: the header cannot be read ({problem})") from problem
    if not names:
        raise FileError(f"{path}: is empty; a header line and at least one row are needed")
    if b"\r" in head.rstrip(b"\r\n") or len(head) >= BLOCK:
        raise FileError(f"{path}: has no lines that end in a line feed; is it a CSV file?")
    return [name.strip() for name in names], start, line
