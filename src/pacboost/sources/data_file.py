"""A file of rows as it comes: packed or not, of any kind, and the standard input.

What a name does not say, the first bytes do. Nothing here looks at cells.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from pacboost.errors import FileError
from pacboost.sources.optional import need

MISSING = frozenset({"", "na", "n/a", "#n/a", "nan", "none", "null", "-", "?"})
"""Texts that count as missing, in small or capital letters."""
UNREADABLE = (
    OSError, EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, UnicodeDecodeError
)  # fmt: skip
HEAD = 512

PACKED = {
    ".gz": b"\x1f\x8b",
    ".bz2": b"BZh",
    ".xz": b"\xfd7zXZ",
    ".zip": b"PK\x03\x04",
    ".zst": b"\x28\xb5\x2f\xfd",
}
PARQUET, FEATHER, JSON, TEXT = "parquet", "feather", "json", "text"
KINDS = {
    ".parquet": PARQUET, ".pq": PARQUET,
    ".feather": FEATHER, ".arrow": FEATHER, ".ipc": FEATHER,
    ".jsonl": JSON, ".ndjson": JSON, ".json": JSON,
    ".csv": TEXT, ".tsv": TEXT, ".txt": TEXT,
}  # fmt: skip
MAGIC = {b"PAR1": PARQUET, b"ARROW1": FEATHER, b"FEA1": FEATHER}
LARGE_FILE, LARGE_COLUMNS = 400_000_000, 100_000_000
"""Bytes; larger files of text, and of columns, are not read as a whole, but drawn from."""


@dataclass(frozen=True)
class DataFile:
    """Where rows are, and what is known about how they are written.

    >>> file = DataFile(Path("rows.tsv.gz"))
    >>> str(file), file.unpacked_name, file.where(3)
    ('rows.tsv.gz', 'rows.tsv', 'rows.tsv.gz, line 3')
    """

    path: Path
    sep: str | None = None
    """What separates cells of text files; None: it is detected."""
    encoding: str | None = None
    """None: UTF-8 or UTF-16, and Windows-1252 for what is neither."""
    missing: frozenset[str] = MISSING
    skip_unlabelled: bool = False
    """Whether rows without a label are left out instead of being an error."""
    day_first: bool | None = None
    """How to read dates such as 1/2/2024 if their column does not show it; None: as text."""
    content: bytes | None = None
    """What came on the standard input."""

    @classmethod
    def of(cls, file: str | Path | DataFile) -> DataFile:
        """Take a path, or what is one of these already."""
        return file if isinstance(file, DataFile) else cls(Path(file))

    def __str__(self) -> str:
        return str(self.path) if self.content is None else "standard input"

    @property
    def name(self) -> str:
        return self.path.name if self.content is None else str(self)

    @property
    def unpacked_name(self) -> str:
        """The name in small letters, without the suffix of a compressed file."""
        name = self.path.name.lower()
        packing = self._packing(b"")
        return name.removesuffix(packing) if packing else name

    def where(self, line: int) -> str:
        """Name a line, or a row where a file has no lines."""
        kind = self._kind_by_name if self.content is None else self.kind
        return f"{self}, {'row' if kind in {PARQUET, FEATHER} else 'line'} {line}"

    @property
    def kind(self) -> str:
        """What the file holds: text such as CSV, JSON lines, Parquet or Feather."""
        if self._kind_by_name is not None:
            return self._kind_by_name
        with self.opened() as stream:
            head = stream.read(HEAD)
        for magic, kind in MAGIC.items():
            if head.startswith(magic):
                return kind
        begins = head.removeprefix(b"\xef\xbb\xbf").lstrip()
        return JSON if begins.startswith((b"{", b"[{")) else TEXT

    @property
    def _kind_by_name(self) -> str | None:
        return KINDS.get(Path(self.unpacked_name).suffix)

    def _packing(self, head: bytes) -> str | None:
        by_name = self.path.suffix.lower()
        if by_name in PACKED:
            return by_name
        return next((s for s, magic in PACKED.items() if head.startswith(magic)), None)

    @contextmanager
    def opened(self) -> Iterator[IO[bytes]]:
        """Read the bytes, unpacked; what cannot be read is an error that names the file."""
        try:
            content = self.content
            with self.path.open("rb") if content is None else io.BytesIO(content) as raw:
                packing = self._packing(raw.read(8))
                raw.seek(0)
                if packing is None:
                    yield raw
                else:
                    with UNPACK[packing](raw) as stream:
                        yield stream
        except UNREADABLE as problem:
            if isinstance(problem, UnicodeDecodeError):
                raise
            reason = getattr(problem, "strerror", None) or problem
            raise FileError(f"{self}: cannot be read ({reason})") from problem


def read_as_a_whole(path: Path) -> bool:
    """Check whether a file is of a known kind and small enough to be read into memory.

    >>> read_as_a_whole(Path("rows.csv")), read_as_a_whole(Path("rows.svm"))
    (True, False)
    """
    file = DataFile(path)
    kind = file._kind_by_name
    if kind in {TEXT, JSON} and file.unpacked_name != path.name.lower():
        return True  # nobody can draw from a compressed file
    size = path.stat().st_size if path.is_file() else 0
    if kind in {PARQUET, FEATHER}:
        return 0 < size <= LARGE_COLUMNS
    return kind == JSON or (kind == TEXT and size <= LARGE_FILE)


def _unzip(raw: IO[bytes]) -> Any:
    archive = zipfile.ZipFile(raw)
    names = [name for name in archive.namelist() if not name.endswith("/")]
    names = [name for name in names if not name.startswith("__MACOSX")]
    if len(names) != 1:
        raise OSError(f"the archive holds {len(names)} files; it has to hold one")
    return archive.open(names[0])


UNPACK: dict[str, Callable[[IO[bytes]], Any]] = {
    ".gz": lambda raw: gzip.GzipFile(fileobj=raw),
    ".bz2": bz2.BZ2File,
    ".xz": lzma.LZMAFile,
    ".zip": _unzip,
    ".zst": lambda raw: need("pyarrow").CompressedInputStream(raw, "zstd"),
}
