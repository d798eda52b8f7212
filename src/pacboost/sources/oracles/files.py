"""Find the files of a source: paths, folders, patterns, and addresses such as s3://bucket/data.

Addresses are read through fsspec, which loads the library for each scheme (s3fs for s3://, gcsfs
for gs://). These libraries find credentials on every worker; none are sent. Their errors become
``FileError``, so that another worker of a cluster may try.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from glob import glob, has_magic
from hashlib import file_digest, sha256
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from types import SimpleNamespace
from typing import Any

from pacboost.errors import DataError, FileError
from pacboost.sources.optional import named_twice, need

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
    fsspec = need("fsspec", "dask")
    try:
        with storage_errors(url):
            system, path = fsspec.core.url_to_fs(url)
    except ImportError as problem:
        implementations = need("fsspec.registry", "dask").known_implementations
        classes = [
            implementations[scheme]["class"]
            for scheme in _schemes(url)
            if scheme in implementations
        ]
        lacking = [
            module
            for module in (each.partition(".")[0] for each in classes)
            if not find_spec(module)
        ]
        remedy = f"; here and on every worker: pip install {' '.join(lacking)}" if lacking else ""
        raise FileError(f"{url}: cannot be opened ({problem}){remedy}") from problem
    except (ValueError, OSError) as problem:
        raise FileError(f"{url}: cannot be opened ({problem})") from problem
    return system, str(path)


@contextmanager
def storage_errors(url: str) -> Iterator[None]:
    """Raise the errors of a storage library as ``FileError``.

    >>> with storage_errors("s3://bucket/data"):
    ...     raise PermissionError("Forbidden")
    Traceback (most recent call last):
    pacboost.errors.FileError: s3://bucket/data: access is refused (Forbidden). Set ...
    """
    try:
        yield
    except Exception as problem:  # each library has its own classes of errors
        ours = type(problem).__module__.partition(".")[0] in CONTENT_ERROR_MODULES
        if ours and not isinstance(problem, STORAGE_ERRORS):
            raise
        fsspec = need("fsspec", "dask")
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
    """Check whether a source is an address for fsspec rather than a path.

    >>> is_remote("s3://bucket/data"), is_remote("data/a.parquet"), is_remote("C:/data")
    (True, False, False)
    """
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
            files |= {
                name: facts
                for name, facts in system.find(folder, detail=True).items()
                if _belongs(name.removeprefix(folder.rstrip("/")), suffixes)
            }
    if not files:
        raise FileError(
            f"{url}: no file matches this pattern; check the bucket and the folder"
            if pattern
            else f"{url}: this folder holds no file that ends in {' or '.join(suffixes)}"
        )
    return [
        RemoteFile(
            f"{system.unstrip_protocol(name)}{link}{rest}",
            int(facts["size"]),
            next((f"{version}={facts[version]}" for version in VERSIONS if facts.get(version)), ""),
        )
        for name, facts in files.items()
    ]


def _belongs(below: str | Path, suffixes: tuple[str, ...]) -> bool:
    """Check whether a file in a folder has one of the suffixes and is not hidden."""
    hidden = any(part.startswith((".", "_")) for part in Path(below).parts)
    return str(below).lower().endswith(suffixes) and not hidden


File = Path | RemoteFile
Source = str | Path | Iterable[str | File]


def find_files(source: Source, suffixes: tuple[str, ...]) -> list[Any]:
    """Return each file once, sorted by path, so that the order of listing does not matter.

    A folder stands for all files in it and its subfolders with one of the suffixes, except hidden
    ones and those that begin with an underscore, which are internal files of other programs.
    """
    listed: list[str | File] = [source] if isinstance(source, str | Path) else list(source)
    local = [one for one in listed if not is_remote(one)]
    if local and len(local) < len(listed):
        raise FileError(
            f"{local[0]} is a path but {listed[0]} an address; name only paths or only addresses"
        )
    expand: Callable[..., list[Any]] = _expand if local else find_remote
    by_path = {file.absolute(): file for one in listed for file in expand(str(one), suffixes)}
    if not by_path:
        raise FileError("no file was named; name a file, a folder or a pattern such as 'data/*'")
    files = [by_path[place] for place in sorted(by_path, key=lambda place: place.parts)]
    _refuse_equal(files)
    return files


@contextmanager
def opened(file: File) -> Iterator[Any]:
    """Yield the path of a local file, or an open remote file, for Arrow."""
    if isinstance(file, RemoteFile):
        with storage_errors(file.url), file.open("rb") as content:
            yield content
    else:
        yield file


def _refuse_equal(files: Sequence[File]) -> None:
    """Raise if two files have the same content: duplicate rows would invalidate certificates."""
    sizes: dict[int, list[File]] = {}
    for file in files:
        sizes.setdefault(file.stat().st_size, []).append(file)
    for alike in sizes.values():
        by_content: dict[bytes, File] = {}
        for file in alike if len(alike) > 1 else ():
            other = by_content.setdefault(_content(file), file)
            if other is not file and file.stat().st_size:
                raise FileError(f"{file}: holds the same bytes as {other}; name each file once")


def _content(file: File) -> bytes:
    """Return a hash of the content of a file; use the ETag of a bucket if there is one."""
    if isinstance(file, RemoteFile) and file.version.startswith("ETag="):
        return file.version.encode()
    with file.open("rb") as opened:
        return file_digest(opened, "sha256").digest()


def _expand(one: str | Path, suffixes: tuple[str, ...]) -> list[Path]:
    path = Path(one)
    if path.is_dir():
        files = [
            file
            for file in path.rglob("*")
            if _belongs(file.relative_to(path), suffixes) and file.is_file()
        ]
        if not files:
            raise FileError(
                f"{path}: this folder holds no file that ends in {' or '.join(suffixes)}"
            )
        return files
    if path.exists():
        return [path]
    if not has_magic(str(one)):
        raise FileError(f"{path}: there is no such file or folder")
    matching = [Path(name) for name in glob(str(one), recursive=True)]  # noqa: PTH207 - may begin at /
    if not matching:
        raise FileError(f"{path}: no file matches this pattern")
    return [file for match in matching for file in _expand(match, suffixes)]


def fingerprint(files: Iterable[File], *content: object) -> str:
    """Hash the names and sizes of files, and further values."""
    sizes = [(file.name, file.stat().st_size) for file in files]
    return sha256(repr((sizes, content)).encode()).hexdigest()


def check_unchanged(stamps: dict[File, tuple[int, int]], path: File, shown: str = "") -> None:
    """Raise if a file has changed since its stamp was taken.

    Held-out rows are chosen by position: in a changed file, a training row might certify.
    """
    if stamp(path) != stamps[path]:
        raise FileError(f"{shown or path}: {CHANGED}")


def stamp(path: File) -> tuple[int, int]:
    """Return the size of a file and the time of its last change."""
    try:
        status = path.stat()
    except OSError as problem:
        raise FileError(f"{path}: cannot be read ({problem.strerror})") from problem
    return status.st_size, getattr(status, "st_mtime_ns", 0)  # remote files may lack it


INDEX = "__index_level_"
"""Prefix of the columns in which pandas stores the index of a frame; they are not features."""


def features(
    names: Sequence[str], target: str, drop: Collection[str] = (), where: str = "the source"
) -> tuple[str, ...]:
    """Return the names of the columns other than the target and dropped ones.

    >>> features(["id", "a", "y", "b"], "y", drop=["id"])
    ('a', 'b')
    """
    if twice := named_twice(names):
        raise DataError(f"{where}: has duplicate columns: {', '.join(twice)}")
    for name in (target, *drop):
        if name not in names:
            raise DataError(
                f"{where}: has no column {name!r}; its columns are {', '.join(map(repr, names))}"
            )
    excluded = {target, *drop}
    columns = tuple(name for name in names if name not in excluded and not name.startswith(INDEX))
    if not columns:
        raise DataError(f"{where}: has no features, only {', '.join(map(repr, names))}")
    return columns


def refuse_other(
    names: Collection[str], where: str, expected: Collection[str], elsewhere: str
) -> None:
    """Raise if the features of a file differ from those of another, ignoring their order."""
    present, expected_names = set(names), set(expected)
    lacking = [name for name in expected if name not in present]
    besides = [name for name in names if name not in expected_names]
    if lacking or besides:
        differences = [
            f"{word} {', '.join(map(repr, some[:5]))}{', …' if len(some) > 5 else ''}"
            for word, some in (("lacks", lacking), ("also has", besides))
            if some
        ]
        raise DataError(
            f"{where}: has other columns than {elsewhere}: it {' and '.join(differences)}. All "
            "files of a source must have the same columns; drop those that some lack."
        )
