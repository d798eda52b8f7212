"""Make an oracle of a source: files, arrays, data frames, worlds, streams, Dask collections."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from pacboost.errors import FileError, ParameterError
from pacboost.parallel.cluster import Cluster
from pacboost.parallel.remote_task import THIS_PROCESS, worker_name
from pacboost.sources.dataframe import is_frame
from pacboost.sources.optional import is_collection
from pacboost.sources.oracles import arrow
from pacboost.sources.oracles.arrays import ArrayOracle
from pacboost.sources.oracles.csv_lines import CsvOracle
from pacboost.sources.oracles.dask_collections import DaskOracle
from pacboost.sources.oracles.examples import ExampleOracle, is_example
from pacboost.sources.oracles.files import File, find_files
from pacboost.sources.oracles.oracle import AbstractOracle
from pacboost.sources.oracles.remote import RemoteOracle, SpreadOracle
from pacboost.sources.oracles.remote_files import RemoteFile
from pacboost.sources.oracles.row_block import split_frame
from pacboost.sources.oracles.sql import sql
from pacboost.sources.oracles.stream import StreamOracle
from pacboost.sources.oracles.svmlight import SvmlightOracle

COMPRESSED = (".csv.gz", ".csv.bz2", ".csv.zst", ".csv.xz", ".csv.zip")
DATABASES = (".duckdb", ".ddb")
KINDS: dict[tuple[str, ...], Callable[..., AbstractOracle]] = {
    arrow.SUFFIXES: arrow.ParquetOracle,
    CsvOracle.suffixes: CsvOracle,
    SvmlightOracle.suffixes: SvmlightOracle,
    DATABASES: sql,
}


def as_oracle(
    source: Any, target: str | None = None, seed: int = 0, **options: Any
) -> AbstractOracle:
    """Return an oracle that draws from a source; an oracle is returned unchanged.

    A source is a path, a folder, a pattern or a list of those; a pair (X, y); a data frame whose
    column ``target`` holds the labels; a world; or an iterator of batches or of single
    examples (x, y), a list of them, or a function that returns a new iterator or one example.
    ``options`` are passed to the class of the oracle.
    """
    if isinstance(source, AbstractOracle):
        return source
    listed = source if isinstance(source, list | tuple) else [source]
    if listed and all(isinstance(one, str | Path) for one in listed):
        return _from_files(source, target, seed, options)
    if isinstance(source, tuple) and len(source) == 2:
        return ArrayOracle(*source, seed, **options)
    if callable(source) and not hasattr(source, "as_oracle"):
        return _from_function(source, target, seed, options)
    if isinstance(source, Iterable) and not is_frame(source):
        return StreamOracle(source, target, seed, **options)
    return _from_object(source, target, seed, options)


def _from_function(
    source: Callable[[], Any], target: str | None, seed: int, options: dict[str, Any]
) -> AbstractOracle:
    """Return an oracle of a function that gives one example, or a new iterator of batches."""
    if options.get("label") is not None:
        return ExampleOracle(source, **options)
    first = [source()]
    if is_example(first[0]):
        return ExampleOracle(source, first=first, **options)
    # What is read is not referred to from here: a result that stays open locks its database.
    return StreamOracle(lambda: first.pop() if first else source(), target, seed, **options)


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
        f"the source is a {type(source).__name__}; it must be a path, a pattern or a list of "
        "them, a pair (X, y), a data frame, a world, or an iterator of batches",
        parameter="source",
    )


def _from_files(
    source: Any, target: str | None, seed: int, options: dict[str, Any]
) -> AbstractOracle:
    files = find_files(source, (*(suffix for kind in KINDS for suffix in kind), *COMPRESSED))
    packed = [file for file in files if file.name.lower().endswith(COMPRESSED)]
    if packed:
        raise FileError(
            f"{packed[0]}: rows cannot be drawn from a compressed file. Decompress it, or write it "
            "as Parquet, which is smaller still."
        )
    kinds = {file: _kind(file) for file in files}
    first, *others = dict.fromkeys(kinds.values())
    if others:
        other = next(file for file, kind in kinds.items() if kind != first)
        raise FileError(
            f"{files[0]} and {other} have different formats; name files of one format, for "
            f"example by a pattern such as '*{files[0].suffix}'"
        )
    if isinstance(files[0], RemoteFile) and first != arrow.SUFFIXES:
        raise FileError(
            f"{files[0]}: only Parquet files can be read from addresses; copy the file to this "
            "machine, or write it as Parquet"
        )
    make = KINDS[first]
    if first == DATABASES:
        if len(files) > 1:
            raise FileError(f"{files[0]} and {files[1]}: draw from one database at a time")
        return make(files[0], _named(target, "a database"), seed, **options)
    if first == SvmlightOracle.suffixes:  # the column of labels has no name
        return make(files, seed, **options)
    return make(files, _named(target, str(files[0])), seed, **options)


def _kind(file: File) -> tuple[str, ...]:
    for suffixes in KINDS:
        if file.name.lower().endswith(suffixes):
            return suffixes
    all_suffixes = ", ".join(suffix for suffixes in KINDS for suffix in suffixes)
    raise FileError(
        f"{file}: files that end in {file.suffix!r} are not supported; use one of {all_suffixes}"
    )


def _named(target: str | None, what: str) -> str:
    if target is None:
        raise ParameterError(
            f"target is None; name the column of {what} that holds the labels", parameter="target"
        )
    return target


def current_client() -> Any | None:
    """Return the Dask client of this process, or None; always None in a task of a worker."""
    distributed = sys.modules.get("distributed")
    if distributed is None or worker_name() != THIS_PROCESS:
        return None
    try:
        return distributed.default_client()
    except ValueError:  # there is none
        return None


def open_source(
    source: Any,
    target: str | None,
    seed: int,
    client: object = None,
    timeout: float | None = None,
    **options: Any,
) -> AbstractOracle:
    """Return an oracle that draws from a source, through the workers of a cluster if possible.

    ``client`` is a Dask client, None for the current client if any, or False to read in this
    process. With an explicit client, a source that workers cannot read is refused.
    """
    pair = isinstance(source, tuple) and len(source) == 2
    chosen = current_client() if client is None or client is True else client or None
    if is_collection(source[0] if pair else source):
        cluster = None if chosen is None else Cluster(chosen, timeout)
        dask = DaskOracle(source, target, seed, cluster=cluster, **options)
        return dask if cluster is None else RemoteOracle(dask, cluster)
    oracle = as_oracle(source, target, seed, **options)
    if isinstance(oracle, SpreadOracle) and chosen is not None:
        return RemoteOracle(oracle, Cluster(chosen, timeout))
    if client is None or client is False:
        return oracle
    if chosen is None:
        raise ParameterError(
            "client is True, but there is no current Dask client; create one first",
            parameter="client",
        )
    raise ParameterError(
        f"the workers of a cluster cannot read the source of a {type(oracle).__name__}, only "
        "Parquet files and Dask collections; write Parquet files, or pass client=False",
        parameter="client",
    )
