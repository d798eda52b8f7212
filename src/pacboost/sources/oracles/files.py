"""Find the files of a source: paths, folders and patterns, in any order and listed as often."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from glob import glob, has_magic
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any

from pacboost.errors import FileError
from pacboost.sources.oracles.remote_files import RemoteFile, find_remote, is_remote, storage_errors

File = Path | RemoteFile
Source = str | Path | Iterable[str | File]


def find_files(source: Source, suffixes: tuple[str, ...]) -> list[Any]:
    """Return each file once, sorted by its path, so that the order of listing has no part.

    A folder stands for the files in it and below that have one of the suffixes, except hidden ones
    and those that begin with an underscore, which other programs write for themselves.
    """
    listed: list[str | File] = [source] if isinstance(source, str | Path) else list(source)
    if any(map(is_remote, listed)):
        return _on_remote(listed, suffixes)
    found = {path.absolute(): path for one in listed for path in _expand(str(one), suffixes)}
    if not found:
        raise FileError("no file was named; name a file, a folder or a pattern such as 'data/*'")
    files = [found[path] for path in sorted(found, key=lambda path: path.parts)]
    _refuse_equal(files)
    return files


def _on_remote(listed: list[str | File], suffixes: tuple[str, ...]) -> list[RemoteFile]:
    """Find files at addresses such as s3://bucket/folder."""
    local = [one for one in listed if not is_remote(one)]
    if local:
        raise FileError(f"{local[0]} is a path and {listed[0]} an address; name one kind of them")
    found = {file.url: file for one in listed for file in find_remote(str(one), suffixes)}
    files = [found[url] for url in sorted(found)]
    _refuse_equal(files)
    return files


@contextmanager
def opened(file: File) -> Iterator[Any]:
    """Return what Arrow reads a file from: its path, or an open file."""
    if isinstance(file, RemoteFile):
        with storage_errors(file.url), file.open("rb") as content:
            yield content
    else:
        yield file


def _refuse_equal(files: Sequence[File]) -> None:
    """Raise if two files hold the same bytes: rows that come twice would certify themselves."""
    sizes: dict[int, list[File]] = {}
    for file in files:
        sizes.setdefault(file.stat().st_size, []).append(file)
    for alike in sizes.values():
        seen: dict[bytes, File] = {}
        for file in alike if len(alike) > 1 else ():
            other = seen.setdefault(_content(file), file)
            if other is not file and file.stat().st_size:
                raise FileError(f"{file}: holds the same bytes as {other}; name each file once")


def _content(file: File) -> bytes:
    """Return a hash of what a file holds; that of a bucket, if any, saves reading it."""
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
            if file.name.lower().endswith(suffixes)
            and file.is_file()
            and not any(part.startswith((".", "_")) for part in file.relative_to(path).parts)
        ]
        if not files:
            raise FileError(f"{path}: this folder holds no file that ends in {_either(suffixes)}")
        return files
    if path.exists():
        return [path]
    if not has_magic(str(one)):
        raise FileError(f"{path}: there is no such file or folder")
    matching = [Path(name) for name in glob(str(one), recursive=True)]  # noqa: PTH207 - may begin at /
    if not matching:
        raise FileError(f"{path}: no file matches this pattern")
    return [file for match in matching for file in _expand(match, suffixes)]


def _either(suffixes: tuple[str, ...]) -> str:
    return " or ".join(suffixes)


def fingerprint(files: Iterable[File], *content: object) -> str:
    """Hash the names and sizes of files, and what is known of their content."""
    known = [(file.name, file.stat().st_size) for file in files]
    return sha256(repr((known, content)).encode()).hexdigest()


# Files that have to stay as they are while rows are drawn from them, again and again.
#
# Rows are set apart by their place. If another program writes the file meanwhile, a row that was
# learned from may come to a place that certifies, so the fit ends with an error that names the
# file.

Stamp = tuple[int, int]
"""Size, and when it was written last."""


def stamps_of(files: Iterable[File]) -> dict[File, Stamp]:
    """Remember how files are now."""
    return {path: _stamp(path) for path in files}


def check_unchanged(stamps: dict[File, Stamp], path: File) -> None:
    """Raise if a file is no longer as it was."""
    if _stamp(path) != stamps[path]:
        raise FileError(
            f"{path}: was changed while it was being read; fit again when nothing writes to it"
        )


def _stamp(path: File) -> Stamp:
    try:
        found = path.stat()
    except OSError as problem:
        raise FileError(f"{path}: cannot be read ({problem.strerror})") from problem
    return found.st_size, getattr(found, "st_mtime_ns", 0)  # remote files may not know
