"""Files at addresses such as s3://bucket/data, read through fsspec.

The libraries that fsspec loads find credentials on every worker; none are sent. Their errors become
``FileError``, so that another worker of a cluster may try.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from glob import has_magic
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from types import SimpleNamespace
from typing import Any

from pacboost.errors import FileError
from pacboost.sources.optional import need

CHANGED = "was changed while it was being read; fit again when nothing writes to it"
CONTENT_ERROR_MODULES = ("builtins", "pacboost", "pyarrow")
"""Errors from these modules are about the content of a file and are raised unchanged, ..."""
STORAGE_ERRORS = (FileNotFoundError, PermissionError, ConnectionError, TimeoutError)
"""... except for these, which mean that the file cannot be reached."""
CREDENTIALS = {
    "s3": "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, or for a public bucket "
    "FSSPEC_S3_ANON=true",
    "gs": "GOOGLE_APPLICATION_CREDENTIALS",
    "abfs": "AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY",
}


def file_system(url: str) -> tuple[Any, str]:
    """Return the file system of an address, and the path on it."""
    fsspec = need("fsspec")
    try:
        with storage_errors(url):
            system, path = fsspec.core.url_to_fs(url)
    except ImportError as problem:
        implementations = need("fsspec.registry").known_implementations
        classes = (implementations[s]["class"] for s in _schemes(url) if s in implementations)
        modules = (name.partition(".")[0] for name in classes)
        lacking = [module for module in modules if not find_spec(module)]
        remedy = f"; here and on every worker: pip install {' '.join(lacking)}" if lacking else ""
        raise FileError(f"{url}: cannot be opened ({problem}){remedy}") from problem
    except (ValueError, OSError) as problem:
        raise FileError(f"{url}: cannot be opened ({problem})") from problem
    return system, str(path)


@contextmanager
def storage_errors(url: str) -> Iterator[None]:
    """Raise the errors of a storage library as ``FileError``."""
    try:
        yield
    except Exception as problem:  # each library has its own classes of errors
        ours = type(problem).__module__.partition(".")[0] in CONTENT_ERROR_MODULES
        if ours and not isinstance(problem, STORAGE_ERRORS):
            raise
        fsspec = need("fsspec")
        for scheme in _schemes(url):  # so that a second try reads new credentials
            with suppress(ImportError, ValueError):
                fsspec.get_filesystem_class(scheme).clear_instance_cache()
        raise FileError(f"{url}: {_explained(problem, url)}") from problem


def _explained(problem: Exception, url: str) -> str:
    kind, text = type(problem).__name__, str(problem) or type(problem).__name__
    if isinstance(problem, FileNotFoundError):
        return "there is no such file or folder" + ("" if text in url else f" ({text})")
    if kind == "FileExpired":  # s3fs requests the version that it saw first
        return CHANGED
    if isinstance(problem, PermissionError) or "Credential" in kind:
        variables = CREDENTIALS.get(_schemes(url)[-1], "the variables of its fsspec library")
        return (
            f"access is refused ({text}). Set {variables} in the environment of this process and "
            "of every worker of a cluster"
        )
    server = " and is AWS_ENDPOINT_URL right" if _schemes(url)[-1] == "s3" else ""
    return f"the storage cannot be reached ({kind}: {text}). Is it running{server}?"


def _schemes(url: str) -> list[str]:
    """Return the schemes of an address; for a file in an archive, that of the archive is last.

    >>> _schemes("zip://*.parquet::s3://bucket/archive.zip")
    ['zip', 's3']
    """
    return [link.partition("://")[0].lower() for link in url.split("::")]


SCHEME = re.compile("[a-z][a-z0-9+.-]+", re.IGNORECASE)
ADDRESS = re.compile("[a-z][a-z0-9+.-]+(::|://)", re.IGNORECASE)
VERSIONS = ("ETag", "generation", "mtime")
"""Facts in file systems that change when a file is written again."""


def is_remote(source: object) -> bool:
    """Check whether a source is an address for fsspec rather than a path."""
    if isinstance(source, RemoteFile):
        return True
    return isinstance(source, str) and ADDRESS.match(source) is not None


def address_of(path: Path) -> str:
    """Restore an address that was converted to a path; return other paths unchanged.

    >>> [address_of(Path(one)) for one in ("s3://bucket/data", "file:///data", "a")]
    ['s3://bucket/data', 'file:///data', 'a']
    """
    scheme, colon, rest = path.as_posix().partition(":/")
    if not colon or not SCHEME.fullmatch(scheme):
        return str(path)
    return f"{scheme}:///{rest}" if scheme.lower() in {"file", "local"} else f"{scheme}://{rest}"


@dataclass(frozen=True)
class RemoteFile:
    """A file at an address, with the interface of a path."""

    url: str
    size: int
    version: str = ""
    """One of ``VERSIONS`` with its value, such as ETag=…; "" if the file system has none."""

    @property
    def name(self) -> str:
        return self._path.name

    @property
    def suffix(self) -> str:
        return self._path.suffix

    @property
    def parts(self) -> tuple[str, ...]:
        return (self.url,)

    @property
    def _path(self) -> PurePosixPath:
        """The path of the file, without the address of an archive that contains it."""
        return PurePosixPath(self.url.partition("::")[0])

    def absolute(self) -> RemoteFile:
        """Return the file itself, because an address is always absolute."""
        return self

    def stat(self) -> Any:
        """Return the size at the time when the file was found, like ``Path.stat``."""
        return SimpleNamespace(st_size=self.size)

    def open(self, mode: str = "rb") -> Any:
        """Open the file; refuse it if its version has changed."""
        system, path = file_system(self.url)
        with storage_errors(self.url):
            opened = system.open(path, mode)
        name, _, value = self.version.partition("=")
        now = getattr(opened, "details", {}).get(name)
        if now is not None and str(now) != value:
            opened.close()
            raise FileError(f"{self.url}: {CHANGED}")
        opened.file_system = system  # an archive is closed when nothing refers to it
        return opened

    def __str__(self) -> str:
        return self.url


def find_remote(url: str, suffixes: tuple[str, ...]) -> list[RemoteFile]:
    """Return the files at an address: one file, the matches of a pattern, or a folder's files."""
    system, path = file_system(url)
    _, link, rest = url.partition("::")  # zip://*.parquet::s3://bucket/archive.zip
    with storage_errors(url):
        system.invalidate_cache()  # files may have been written since the last listing
        pattern = has_magic(path)
        first = system.glob(path, detail=True) if pattern else {path: system.info(path)}
        files = {name: facts for name, facts in first.items() if facts.get("type") == "file"}
        for folder in first.keys() - files.keys():
            for name, facts in system.find(folder, detail=True).items():
                if is_data_file(name.removeprefix(folder.rstrip("/")), suffixes):
                    files[name] = facts
    if not files and pattern:
        raise FileError(f"{url}: no file matches this pattern; check the bucket and the folder")
    if not files:
        ends = " or ".join(suffixes)
        raise FileError(f"{url}: this folder holds no file that ends in {ends}")
    remote_files = []
    for name, facts in files.items():
        versions = (f"{version}={facts[version]}" for version in VERSIONS if facts.get(version))
        address = f"{system.unstrip_protocol(name)}{link}{rest}"
        remote_files.append(RemoteFile(address, int(facts["size"]), next(versions, "")))
    return remote_files


def is_data_file(below: str | Path, suffixes: tuple[str, ...]) -> bool:
    """Check whether a file in a folder has one of the suffixes and is not hidden."""
    hidden = any(part.startswith((".", "_")) for part in Path(below).parts)
    return str(below).lower().endswith(suffixes) and not hidden
