"""Find the files of a source: paths, folders and patterns, in any order and listed as often."""

from __future__ import annotations

from collections.abc import Iterable
from glob import glob, has_magic
from hashlib import file_digest, sha256
from importlib import import_module
from pathlib import Path
from typing import Any

from pacboost.errors import FileError, PacboostError

Source = str | Path | Iterable[str | Path]


def find_files(source: Source, suffixes: tuple[str, ...]) -> list[Path]:
    """Give each file once, sorted by its path, so that the order of listing has no part.

    A folder stands for the files in it and below that have one of the suffixes, except hidden ones
    and those that begin with an underscore, which other programs write for themselves.
    """
    listed = [source] if isinstance(source, str | Path) else list(source)
    found = {path.absolute(): path for one in listed for path in _expand(one, suffixes)}
    if not found:
        raise FileError("no file was named; name a file, a folder or a pattern such as 'data/*'")
    files = [found[path] for path in sorted(found, key=lambda path: path.parts)]
    _refuse_equal(files)
    return files


def _refuse_equal(files: list[Path]) -> None:
    """Raise if two files hold the same bytes: rows that come twice would certify themselves."""
    sizes: dict[int, list[Path]] = {}
    for file in files:
        sizes.setdefault(file.stat().st_size, []).append(file)
    for alike in sizes.values():
        seen: dict[bytes, Path] = {}
        for file in alike if len(alike) > 1 else ():
            with file.open("rb") as opened:
                other = seen.setdefault(file_digest(opened, "sha256").digest(), file)
            if other is not file and file.stat().st_size:
                raise FileError(f"{file}: holds the same bytes as {other}; name each file once")


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


def fingerprint(files: Iterable[Path], *content: object) -> str:
    """Hash the names and sizes of files, and what is known of their content."""
    known = [(file.name, file.stat().st_size) for file in files]
    return sha256(repr((known, content)).encode()).hexdigest()


def need(module: str, extra: str) -> Any:
    """Import a library that not everybody needs.

    >>> need("math", "parquet").pi
    3.141592653589793
    """
    try:
        return import_module(module)
    except ImportError as problem:
        library = module.partition(".")[0]
        raise PacboostError(
            f"reading this source needs {library}, which is not installed: "
            f"pip install 'pacboost[{extra}]'"
        ) from problem
