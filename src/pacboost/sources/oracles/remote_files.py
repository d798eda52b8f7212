"""Files at addresses such as s3://bucket/data/*.parquet, through fsspec.

fsspec loads what an address needs (s3fs for s3://, gcsfs for gs://). Credentials are found as those
libraries find them, by every worker for itself: none is sent.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from glob import has_magic
from pathlib import Path, PurePosixPath
from typing import Any

from pacboost.errors import FileError
from pacboost.sources.optional import need

SCHEME = re.compile("[a-z][a-z0-9+.-]+", re.IGNORECASE)
ADDRESS = re.compile("[a-z][a-z0-9+.-]+(::|://)", re.IGNORECASE)


def is_remote(source: object) -> bool:
    """Tell whether a source is an address for fsspec rather than a path.

    >>> is_remote("s3://bucket/data"), is_remote("data/a.parquet"), is_remote("C:/data")
    (True, False, False)
    """
    if isinstance(source, RemoteFile):
        return True
    return isinstance(source, str) and ADDRESS.match(source) is not None


def address_of(path: Path) -> str:
    """Give an address that was read as a path in full again; a path as it is.

    >>> [address_of(Path(one)) for one in ("s3://bucket/data", "file:///data", "a")]
    ['s3://bucket/data', 'file:///data', 'a']
    """
    scheme, colon, rest = path.as_posix().partition(":/")
    if not colon or not SCHEME.fullmatch(scheme):
        return str(path)
    return f"{scheme}:///{rest}" if scheme.lower() in {"file", "local"} else f"{scheme}://{rest}"


@dataclass(frozen=True)
class FileStatus:
    """What a file system says of a file, as ``Path.stat`` would."""

    st_size: int


@dataclass(frozen=True)
class RemoteFile:
    """A file at an address; it is used as a path is."""

    url: str
    size: int

    @property
    def name(self) -> str:
        """The last part of the address."""
        return self._path.name

    @property
    def suffix(self) -> str:
        """How the name ends."""
        return self._path.suffix

    @property
    def _path(self) -> PurePosixPath:
        """The path of the file itself; an archive in which it lies may follow it in the address."""
        return PurePosixPath(self.url.partition("::")[0])

    def absolute(self) -> RemoteFile:
        """Give the file itself: an address is the same everywhere."""
        return self

    def stat(self) -> FileStatus:
        """Give the size as it was when the file was found."""
        return FileStatus(self.size)

    def open(self, mode: str = "rb") -> Any:
        """Open the file."""
        system, path = _system(self.url)
        opened = system.open(path, mode)
        opened.file_system = system  # which closes an archive when nothing refers to it
        return opened

    def __str__(self) -> str:
        return self.url


def find_remote(url: str, suffixes: tuple[str, ...]) -> list[RemoteFile]:
    """Give the files at an address: one, those that match a pattern, or those of a folder."""
    system, path = _system(url)
    _, link, rest = url.partition("::")  # zip://*.parquet::s3://bucket/archive.zip
    try:
        if has_magic(path):
            found = system.glob(path, detail=True)
        elif system.isdir(path):
            found = {
                name: facts
                for name, facts in system.find(path, detail=True).items()
                if name.lower().endswith(suffixes) and not _hidden(name, path)
            }
        else:
            found = {path: system.info(path)}
    except (OSError, ValueError) as problem:
        raise FileError(f"{url}: cannot be listed ({problem})") from problem
    files = [
        RemoteFile(f"{system.unstrip_protocol(name)}{link}{rest}", int(facts["size"]))
        for name, facts in found.items()
        if facts.get("type") == "file"
    ]
    if not files:
        raise FileError(f"{url}: there is no file that ends in {' or '.join(suffixes)}")
    return files


def _hidden(name: str, folder: str) -> bool:
    """Tell whether other programs wrote the file for themselves."""
    below = name.removeprefix(folder.rstrip("/"))
    return any(part.startswith((".", "_")) for part in Path(below).parts)


def _system(url: str) -> tuple[Any, str]:
    """Give the file system of an address, and the path on it."""
    fsspec = need("fsspec", "dask")
    try:
        system, path = fsspec.core.url_to_fs(url)
    except (ImportError, ValueError, OSError) as problem:
        raise FileError(f"{url}: cannot be opened ({problem})") from problem
    return system, str(path)
