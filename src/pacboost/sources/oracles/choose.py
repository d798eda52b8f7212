"""Make an oracle of what users have: files, arrays, frames, worlds, streams."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from pacboost.errors import FileError, ParameterError
from pacboost.sources.dataframe import is_frame
from pacboost.sources.oracles import csv, parquet, svmlight
from pacboost.sources.oracles.arrays import ArrayOracle
from pacboost.sources.oracles.files import File, find_files
from pacboost.sources.oracles.held import split_frame
from pacboost.sources.oracles.oracle import AbstractOracle
from pacboost.sources.oracles.remote_files import RemoteFile
from pacboost.sources.oracles.sql import sql
from pacboost.sources.oracles.stream import StreamOracle

COMPRESSED = (".csv.gz", ".csv.bz2", ".csv.zst", ".csv.xz", ".csv.zip")
DATABASES = (".duckdb", ".ddb")
KINDS: dict[tuple[str, ...], Callable[..., AbstractOracle]] = {
    parquet.SUFFIXES: parquet.ParquetOracle,
    csv.SUFFIXES: csv.CsvOracle,
    svmlight.SUFFIXES: svmlight.SvmlightOracle,
    DATABASES: sql,
}


def as_oracle(
    source: Any, target: str | None = None, seed: int = 0, **options: Any
) -> AbstractOracle:
    """Draw from a source, whatever it is; an oracle is given back as it is.

    A source is a path, a folder, a pattern or a list of those; a pair (X, y); a data frame whose
    column ``target`` holds the labels; a world; or an iterator of batches, a list of them, or a
    function that gives a fresh iterator. ``options`` are those of its kind of oracle.

    >>> import numpy as np
    >>> as_oracle((np.zeros((4, 2)), [0, 1, 0, 1])).draw(10).n_rows
    4
    """
    if isinstance(source, AbstractOracle):
        return source
    if _is_path(source) or (isinstance(source, list | tuple) and source and _are_paths(source)):
        return _from_files(source, target, seed, options)
    if isinstance(source, tuple) and len(source) == 2:
        return ArrayOracle(*source, seed, **options)
    if callable(source) or (isinstance(source, Iterable) and not is_frame(source)):
        return StreamOracle(source, target, seed, **options)
    return _from_object(source, target, seed, options)


def _from_object(
    source: Any, target: str | None, seed: int, options: dict[str, Any]
) -> AbstractOracle:
    if hasattr(source, "cursor"):
        return sql(source, _named(target, "a database"), seed, **options)
    if hasattr(source, "as_oracle"):  # a world
        oracle: AbstractOracle = source.as_oracle(seed, **options)
        return oracle
    if is_frame(source):
        X, y = split_frame(source, _named(target, "a data frame"), options.pop("drop", ()))
        return ArrayOracle(X, y, seed, **options)
    raise ParameterError(
        f"the source is a {type(source).__name__}; it has to be a path, a pattern or a list of "
        "them, a pair (X, y), a data frame, a world, or an iterator of batches"
    )


def _from_files(
    source: Any, target: str | None, seed: int, options: dict[str, Any]
) -> AbstractOracle:
    files = find_files(source, (*(suffix for kind in KINDS for suffix in kind), *COMPRESSED))
    packed = [file for file in files if file.name.lower().endswith(COMPRESSED)]
    if packed:
        raise FileError(
            f"{packed[0]}: a compressed file cannot be read from the middle. Unpack it, or write "
            "it as Parquet, which is smaller still."
        )
    kinds = {file: _kind(file) for file in files}
    first, *others = dict.fromkeys(kinds.values())
    if others:
        other = next(file for file, kind in kinds.items() if kind != first)
        raise FileError(
            f"{files[0]} and {other} are files of different kinds; name those of one kind, for "
            f"example by a pattern such as '*{files[0].suffix}'"
        )
    if isinstance(files[0], RemoteFile) and first != parquet.SUFFIXES:
        raise FileError(
            f"{files[0]}: Parquet files alone are read from addresses; copy it to this machine, or "
            "write it as Parquet"
        )
    make = KINDS[first]
    if first == DATABASES:
        if len(files) > 1:
            raise FileError(f"{files[0]} and {files[1]}: draw from one database at a time")
        return make(files[0], _named(target, "a database"), seed, **options)
    if first == svmlight.SUFFIXES:  # whose labels have no name
        return make(files, seed, **options)
    return make(files, _named(target, str(files[0])), seed, **options)


def _kind(file: File) -> tuple[str, ...]:
    for suffixes in KINDS:
        if file.name.lower().endswith(suffixes):
            return suffixes
    known = ", ".join(suffix for suffixes in KINDS for suffix in suffixes)
    raise FileError(f"{file}: files that end in {file.suffix!r} are not known; known are {known}")


def _named(target: str | None, what: str) -> str:
    if target is None:
        raise ParameterError(f"target is None; name the column of {what} that holds the labels")
    return target


def _is_path(source: object) -> bool:
    return isinstance(source, str | Path)


def _are_paths(sources: Iterable[object]) -> bool:
    return all(map(_is_path, sources))
