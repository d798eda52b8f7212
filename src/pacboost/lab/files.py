"""CSV files of one's own: read from memory, known by a digest of their bytes, never written."""

from __future__ import annotations

import hashlib
import threading
from collections import Counter, OrderedDict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError, FileError, ParameterError
from pacboost.lab.spec import LimitError, LinkError
from pacboost.sources.data_file import DataFile
from pacboost.sources.file_rows import csv_blocks
from pacboost.sources.written import Spelling, part_of, read_text, ways_of

MOST_BYTES = 32 * 2**20
MOST_ROWS = 200_000
MOST_COLUMNS = 500
MOST_FILES = 8
MOST_LEVELS = 50


@dataclass(frozen=True, eq=False)
class LabFile:
    """The cells of a file, column by column: numbers where all cells are, else text."""

    digest: str
    name: str
    rows: int
    numbers: dict[str, NDArray[np.float64]]
    texts: dict[str, NDArray[Any]]
    """The cells of every column, as they are written."""

    def info(self) -> dict[str, Any]:
        """Describe the file to the page."""
        columns = [self._column(name) for name in self.texts]
        targets = [c["name"] for c in columns if 2 <= c["distinct"] <= MOST_LEVELS]
        suggest = self._suggestion(targets)
        return {
            "digest": self.digest, "name": self.name, "rows": self.rows, "columns": columns,
            "targets": targets, "suggest": suggest,
        }  # fmt: skip

    def _column(self, name: str) -> dict[str, Any]:
        cells = self.texts[name]
        kind = "number" if name in self.numbers else "text"
        missing = int(np.isnan(self.numbers[name]).sum()) if kind == "number" else 0
        return {
            "name": name, "kind": kind, "distinct": len(set(cells.tolist())), "missing": missing,
        }  # fmt: skip

    def suggestion(self, target: str | None = None) -> dict[str, Any]:
        """Return data to begin with: the named target, or the last column that can be one."""
        targets = self.info()["targets"] if target is None else [target]
        found = self._suggestion(targets)
        if found is None:
            raise DataError(self._why_not(target))
        return found

    def _suggestion(self, targets: list[str]) -> dict[str, Any] | None:
        for target in reversed(targets):
            features = [name for name in self.numbers if name != target][:2]
            levels = self.levels(target)
            if len(features) == 2 and len(levels) > 1:
                return {
                    "kind": "csv", "digest": self.digest, "target": target, "features": features,
                    "positive": levels[-1][0], "test": 0.3, "seed": 0,
                }  # fmt: skip
        return None

    def _why_not(self, target: str | None) -> str:
        usable = [name for name in self.numbers if name != target]
        if len(usable) < 2:
            return (
                f"{self.name} has {len(usable)} columns of numbers besides the labels; the lab "
                "draws two features, so two columns of numbers are needed"
            )
        of = "none of its columns" if target is None else f"its column {target!r} does not"
        return f"{self.name}: {of} hold two classes or more (and at most {MOST_LEVELS})"

    def levels(self, target: str) -> list[tuple[str, int]]:
        """Return the values of a column and how often each comes, in the order of their names."""
        if target not in self.texts:
            raise ParameterError(
                f"{self.name} has no column {target!r}; its columns are {', '.join(self.texts)}"
            )
        counts = Counter(self.texts[target].tolist())
        if len(counts) > MOST_LEVELS:
            raise DataError(
                f"column {target!r} has {len(counts)} different values; labels are columns with 2 "
                f"to {MOST_LEVELS} of them"
            )
        return sorted(counts.items())


def read_file(name: str, content: bytes) -> LabFile:
    """Read a CSV file from its bytes.

    >>> read_file("a.csv", b"x,y,label\\n1,2,yes\\n3,4,no\\n").info()["suggest"]["features"]
    ['x', 'y']
    """
    if len(content) > MOST_BYTES:
        raise LimitError(too_large(name, len(content)))
    cells: dict[str, list[str]] = {}
    spelling, rows = Spelling(), 0
    try:
        for block in csv_blocks(
            DataFile(Path("upload.csv"), content=content), max_columns=MOST_COLUMNS
        ):
            rows += block.n_rows
            if rows > MOST_ROWS:
                raise LimitError(
                    f"{name} has more than {MOST_ROWS:,} rows, which the lab does not read; choose "
                    "some thousand rows at random and save them as a file of their own"
                )
            spelling = block.spelling
            for column in block.columns:
                cells.setdefault(column, []).extend(block.of(column))
    except FileError as problem:
        raise DataError(str(problem).replace("standard input", name)) from problem
    if rows == 0:
        raise DataError(f"{name} has 0 rows; the lab needs a header and rows of cells")
    numbers = {}
    for column, values in cells.items():
        texts_of = sorted({cell.strip() for cell in values if not spelling.is_missing(cell)})
        ways = ways_of(texts_of, spelling) if texts_of else None
        if ways is not None and part_of(ways[0]) is None:
            numbers[column] = np.array([read_text(cell, ways[0], spelling) for cell in values])
    texts = {column: np.array(values, dtype=object) for column, values in cells.items()}
    known = hashlib.sha256(content).hexdigest()[:24]
    return LabFile(known, name[:200], rows, numbers, texts)


def too_large(name: str, size: int) -> str:
    """Explain that a file is too large, and what to do."""
    return (
        f"{name} has {size / 2**20:.0f} MB; the lab reads files of up to {MOST_BYTES >> 20} MB. "
        "Choose some thousand rows at random and save them as a file of their own"
    )


@dataclass
class Shelf:
    """The files that this server was given, the most recent ones."""

    files: OrderedDict[str, LabFile] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, file: LabFile) -> LabFile:
        """Keep a file; beyond some, the one that was used longest ago goes."""
        with self._lock:
            self.files[file.digest] = file
            self.files.move_to_end(file.digest)
            while len(self.files) > MOST_FILES:
                self.files.popitem(last=False)
        return file

    def get(self, digest: Any, name: str = "") -> LabFile:
        """Return a file by its digest."""
        with self._lock:
            if isinstance(digest, str) and digest in self.files:
                self.files.move_to_end(digest)
                return self.files[digest]
        called = f" {name!r}" if name else ""
        raise LinkError(
            f"this link needs the CSV file{called} it was made with, which is not open here; "
            "choose that file again"
        )
