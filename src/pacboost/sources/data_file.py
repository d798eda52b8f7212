"""A data file, compressed or not, or the standard input: its format and its bytes.

The format follows from the file name, or else from the first bytes. No cells are read here.
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
"""Texts that count as missing, in lower case."""
PERHAPS_CLASSES = frozenset({"none", "null", "-", "?"})
"""Those that may be the name of a class: as labels they are refused unless an option allows it."""
UNREADABLE = (
    OSError, EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, UnicodeDecodeError
)  # fmt: skip
HEAD_BYTES = 512
PANDAS_INDEX = "__index_level_"
"""Prefix of the columns in which pandas stores the index of a frame; they are not features."""

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
MAX_TEXT_BYTES, MAX_COLUMN_BYTES = 400_000_000, 100_000_000
"""Larger text files, or Parquet and Feather files, are sampled from, not read into memory."""
MAX_UNPACKED_RATIO = 50
"""Text is compressed 3 to 20 times; a small file that fills the memory, a thousand times."""


@dataclass(frozen=True)
class DataFile:
    """The path of a data file, and the options for reading it.

    >>> file = DataFile(Path("rows.tsv.gz"))
    >>> str(file), file.unpacked_name, file.where(3)
    ('rows.tsv.gz', 'rows.tsv', 'rows.tsv.gz, line 3')
    """

    path: Path
    sep: str | None = None
    """Separator between the cells of a text file; None to detect it."""
    encoding: str | None = None
    """Text encoding; None for UTF-8 or UTF-16 if the file is valid, else Windows-1252."""
    missing: frozenset[str] = MISSING
    skip_unlabelled: bool = False
    """Whether rows whose label is one of ``PERHAPS_CLASSES`` are dropped, too."""
    day_first: bool | None = None
    """Whether the day comes first in ambiguous dates such as 1/2/2024; None: read them as text."""
    content: bytes | None = None
    """The bytes read from elsewhere, such as the standard input; None for a file."""
    origin: str = "standard input"
    """The name that messages give to ``content``."""

    @classmethod
    def of(cls, file: str | Path | DataFile) -> DataFile:
        """Return the file for a path; a ``DataFile`` is returned unchanged."""
        return file if isinstance(file, DataFile) else cls(Path(file))

    def __str__(self) -> str:
        return str(self.path) if self.content is None else self.origin

    @property
    def name(self) -> str:
        return self.path.name if self.content is None else str(self)

    @property
    def unpacked_name(self) -> str:
        """The name in lower case, without the suffix of a compressed file."""
        name = self.path.name.lower()
        packing = self._packing(b"")
        return name.removesuffix(packing) if packing else name

    def where(self, line: int) -> str:
        """Return the file name with a line number, or a row number for Parquet and Feather."""
        kind = self._kind_by_name if self.content is None else self.kind
        return f"{self}, {'row' if kind in {PARQUET, FEATHER} else 'line'} {line}"

    @property
    def unlabelled(self) -> frozenset[str]:
        """The labels whose rows are left out."""
        refused = self.missing == MISSING and not self.skip_unlabelled
        return self.missing - PERHAPS_CLASSES if refused else self.missing

    @property
    def kind(self) -> str:
        """The format: text such as CSV, JSON lines, Parquet or Feather."""
        if self._kind_by_name is not None:
            return self._kind_by_name
        with self.opened() as stream:
            head = stream.read(HEAD_BYTES)
        for magic, kind in MAGIC.items():
            if head.startswith(magic):
                return kind
        begins = head.removeprefix(b"\xef\xbb\xbf").lstrip()
        return JSON if begins.startswith((b"{", b"[{")) else TEXT

    @property
    def _kind_by_name(self) -> str | None:
        return KINDS.get(Path(self.unpacked_name).suffix)

    @property
    def max_unpacked_bytes(self) -> int:
        """The bytes up to which a compressed text is unpacked."""
        content = self.content
        size = self.path.stat().st_size if content is None else len(content)
        return max(MAX_TEXT_BYTES, MAX_UNPACKED_RATIO * size)

    def _packing(self, head: bytes) -> str | None:
        by_name = self.path.suffix.lower()
        if by_name in PACKED:
            return by_name
        return next((s for s, magic in PACKED.items() if head.startswith(magic)), None)

    @contextmanager
    def opened(self) -> Iterator[IO[bytes]]:
        """Open the file and decompress it; read errors are raised with the name of the file."""
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
    """Check whether a file has a known format and is small enough to read into memory."""
    file = DataFile(path)
    kind = file._kind_by_name
    if kind in {TEXT, JSON} and file.unpacked_name != path.name.lower():
        return True  # compressed files cannot be sampled from
    size = path.stat().st_size if path.is_file() else 0
    if kind in {PARQUET, FEATHER}:
        return 0 < size <= MAX_COLUMN_BYTES
    return kind == JSON or (kind == TEXT and size <= MAX_TEXT_BYTES)


def _unzip(raw: IO[bytes]) -> Any:
    archive = zipfile.ZipFile(raw)
    names = [name for name in archive.namelist() if not name.endswith("/")]
    names = [name for name in names if not name.startswith("__MACOSX")]
    if len(names) != 1:
        raise OSError(f"the archive holds {len(names)} files; it must hold one")
    return archive.open(names[0])


UNPACK: dict[str, Callable[[IO[bytes]], Any]] = {
    ".gz": lambda raw: gzip.GzipFile(fileobj=raw),
    ".bz2": bz2.BZ2File,
    ".xz": lzma.LZMAFile,
    ".zip": _unzip,
    ".zst": lambda raw: need("pyarrow").CompressedInputStream(raw, "zstd"),
}
