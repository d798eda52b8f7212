"""Find the files of a source: paths, folders, patterns, and addresses such as s3://bucket/data."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from glob import glob, has_magic
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any

from pacboost.errors import DataError, FileError
from pacboost.sources.data_file import PANDAS_INDEX
from pacboost.sources.optional import named_twice
from pacboost.sources.oracles.remote_files import (
    CHANGED,
    RemoteFile,
    find_remote,
    is_data_file,
    is_remote,
    storage_errors,
)

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
        below = (file for file in path.rglob("*") if file.is_file())
        files = [file for file in below if is_data_file(file.relative_to(path), suffixes)]
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
    columns = tuple(n for n in names if n not in excluded and not n.startswith(PANDAS_INDEX))
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
