"""CSV files of the user, read from memory and identified by a digest."""

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
from pacboost.sources.kinds.column import CellOrigin, InputColumn
from pacboost.sources.kinds.order import learned
from pacboost.sources.spelling import Spelling

MAX_BYTES = 32 * 2**20
MAX_ROWS = 200_000
MAX_COLUMNS = 500
MAX_FILES = 8
MAX_LEVELS = 50


@dataclass(frozen=True, eq=False)
class LabFile:
    """The columns of a file: texts, and numbers if all cells are numbers."""

    digest: str
    name: str
    rows: int
    numbers: dict[str, NDArray[np.float64]]
    texts: dict[str, NDArray[Any]]
    """The unparsed cells of every column."""

    def info(self) -> dict[str, Any]:
        """Describe the file for the page."""
        columns: list[dict[str, Any]] = [
            {
                "name": name, "kind": "number" if name in self.numbers else "text",
                "distinct": len(set(cells.tolist())),
                "missing": int(np.isnan(self.numbers.get(name, 0.0)).sum()),
            }
            for name, cells in self.texts.items()
        ]  # fmt: skip
        targets = [c["name"] for c in columns if 2 <= c["distinct"] <= MAX_LEVELS]
        return {
            "digest": self.digest, "name": self.name, "rows": self.rows, "columns": columns,
            "targets": targets, "suggest": self._suggestion(targets),
        }  # fmt: skip

    def suggestion(self, target: str | None = None) -> dict[str, Any]:
        """Return a first choice of data, with this target or the last possible one."""
        targets = self.info()["targets"] if target is None else [target]
        choice = self._suggestion(targets)
        if choice is None:
            raise DataError(self._why_not(target))
        return choice

    def _suggestion(self, targets: list[str]) -> dict[str, Any] | None:
        # labels are most often the last column
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
                "needs two of them"
            )
        column = "no column has" if target is None else f"column {target!r} does not have"
        return f"{self.name}: {column} 2 to {MAX_LEVELS} classes"

    def levels(self, target: str) -> list[tuple[str, int]]:
        """Return the values of a column and their counts, sorted by value."""
        if target not in self.texts:
            raise ParameterError(
                f"{self.name} has no column {target!r}; its columns are {', '.join(self.texts)}"
            )
        counts = Counter(self.texts[target].tolist())
        if len(counts) > MAX_LEVELS:
            raise DataError(
                f"column {target!r} has {len(counts)} different values; a column of labels has 2 "
                f"to {MAX_LEVELS}"
            )
        return sorted(counts.items())


def read_file(name: str, content: bytes) -> LabFile:
    """Read a CSV file from its bytes.

    >>> read_file("a.csv", b"x,y,label\\n1,2,yes\\n3,4,no\\n").info()["suggest"]["features"]
    ['x', 'y']
    """
    if len(content) > MAX_BYTES:
        raise LimitError(too_large(name, len(content)))
    cells: dict[str, list[str]] = {}
    spelling, rows = Spelling(), 0
    try:
        file = DataFile(Path("upload.csv"), content=content, origin=name)
        for block in csv_blocks(file, max_columns=MAX_COLUMNS):
            rows += block.n_rows
            if rows > MAX_ROWS:
                raise LimitError(
                    f"{name} has more than {MAX_ROWS:,} rows, the maximum of the lab; save a "
                    "random sample of some thousand rows as another file"
                )
            spelling = block.spelling
            for column in block.columns:
                cells.setdefault(column, []).extend(block.of(column))
    except FileError as problem:
        raise DataError(str(problem)) from problem
    if rows == 0:
        raise DataError(f"{name} has 0 rows; the lab needs a header and rows of cells")
    numbers = {}
    for column, values in cells.items():
        opened = InputColumn(column, np.array(values, dtype=object), CellOrigin(spelling))
        kinds = learned(opened) if opened.texts else None
        if kinds is not None and len(kinds) == 1:
            numbers[column] = np.asarray(kinds[0].read(opened), dtype=np.float64)
    texts = {column: np.array(values, dtype=object) for column, values in cells.items()}
    # a link names its file by content, and does not hold it: rows stay on this machine
    digest = hashlib.sha256(content).hexdigest()[:24]
    return LabFile(digest, name[:200], rows, numbers, texts)


def too_large(name: str, size: int) -> str:
    """Explain that a file is too large, and what to do."""
    return (
        f"{name} has {size / 2**20:.0f} MB; the lab reads files of up to {MAX_BYTES >> 20} MB. "
        "Save a random sample of some thousand rows as another file"
    )


@dataclass
class Shelf:
    """The most recent files of a server."""

    files: OrderedDict[str, LabFile] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, file: LabFile) -> LabFile:
        """Keep a file; drop the least recently used one if there are too many."""
        with self._lock:
            self.files[file.digest] = file
            self.files.move_to_end(file.digest)
            while len(self.files) > MAX_FILES:
                self.files.popitem(last=False)
        return file

    def get(self, digest: object, name: str = "") -> LabFile:
        """Return a file by its digest."""
        with self._lock:
            if isinstance(digest, str) and digest in self.files:
                self.files.move_to_end(digest)
                return self.files[digest]
        called = f" {name!r}" if name else ""
        raise LinkError(
            f"the CSV file{called} of this link is not open here; choose that file again"
        )
