"""Make an oracle of what users have: files, arrays, frames, worlds, streams."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError, DataTypeError, FileError, ParameterError
from pacboost.parallel.cluster import Cluster, in_batches
from pacboost.parallel.remote_task import THIS_PROCESS, worker_name
from pacboost.sources.dataframe import is_frame
from pacboost.sources.oracles import arrow
from pacboost.sources.oracles.arrays import ArrayOracle
from pacboost.sources.oracles.files import File, RemoteFile, find_files, refuse_other
from pacboost.sources.oracles.held import (
    BadCell,
    Held,
    distinct,
    hold,
    hold_frame,
    split_frame,
)
from pacboost.sources.oracles.lines import CsvOracle, SvmlightOracle
from pacboost.sources.oracles.oracle import AbstractOracle
from pacboost.sources.oracles.remote import RemoteOracle, SpreadOracle
from pacboost.sources.oracles.stream import StreamOracle, sql

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
    listed = source if isinstance(source, list | tuple) else [source]
    if listed and all(isinstance(one, str | Path) for one in listed):
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
    if isinstance(files[0], RemoteFile) and first != arrow.SUFFIXES:
        raise FileError(
            f"{files[0]}: Parquet files alone are read from addresses; copy it to this machine, or "
            "write it as Parquet"
        )
    make = KINDS[first]
    if first == DATABASES:
        if len(files) > 1:
            raise FileError(f"{files[0]} and {files[1]}: draw from one database at a time")
        return make(files[0], _named(target, "a database"), seed, **options)
    if first == SvmlightOracle.suffixes:  # whose labels have no name
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


# Draw from Dask collections: a partition is a block.
#
# A data frame with a column of labels, or a pair of examples and labels, both Dask's: data frames,
# series or arrays with the same partitions. Partitions are computed when they are needed and let go
# afterwards, so each has to give the same rows in the same order whenever it is computed.


def is_collection(data: object) -> bool:
    """Check whether this is a Dask data frame, series or array.

    >>> is_collection([1, 2])
    False
    """
    return type(data).__module__.startswith("dask.") and hasattr(data, "__dask_graph__")


class Facts(NamedTuple):
    """What a look at a partition tells."""

    number: int
    rows: int
    nbytes: int
    labels: NDArray[Any]
    names: tuple[str, ...] | None
    columns: int


def hold_partition(
    target: str | None, drop: Collection[str], number: int, *parts: Any, rows: int | None = None
) -> Held:
    """Hold a computed partition, or a pair of them; ``rows`` is how many it had before."""
    if len(parts) == 1:
        held = hold_frame(parts[0], str(target), drop, f"partition {number}")
    else:
        X, y = parts
        held = hold(X, y[:, 0] if isinstance(y, np.ndarray) and y.ndim == 2 else y)
    if rows not in (None, held.n_rows):
        raise DataError(
            f"partition {number}: has {held.n_rows} rows, and had {rows} before. A partition has "
            "to be the same whenever it is computed: call persist() first, or write the data to "
            "Parquet files."
        )
    return held


def facts_of(target: str | None, drop: Collection[str], number: int, *parts: Any) -> Facts:
    """Count the rows of a partition, and find its labels."""
    held = hold_partition(target, drop, number, *parts)
    try:
        labels = held.labels()
    except BadCell as bad:
        raise DataError(f"partition {number}, row {bad.row}: {bad}") from bad
    nbytes = held.nbytes or 8 * held.n_rows * held.n_columns
    found = distinct([labels]) if labels.size else labels
    return Facts(number, held.n_rows, nbytes, found, held.names, held.n_columns)


class DaskOracle(SpreadOracle):
    """The rows of Dask collections; a first pass counts rows and finds the labels."""

    reads_ahead = False
    reads_in_tasks = False
    n_rows: int

    def __init__(
        self,
        source: Any,
        target: str | None = None,
        seed: int = 0,
        *,
        drop: Collection[str] = (),
        cluster: Cluster | None = None,
    ) -> None:
        self._how = target, tuple(drop)
        self._parts = _partitions(source, target)
        numbers, look = range(len(self._parts)), partial(facts_of, *self._how)
        surveyed: Iterable[Facts] = (look(number, *self._computed(number)) for number in numbers)
        if cluster is not None:
            given = ((number, *self._futures(number, cluster)) for number in numbers)
            surveyed = in_batches(cluster, look, None, given, max_calls=1, calls=cluster.blocks)
        self._facts = [facts for facts in surveyed if facts.rows]
        if not self._facts:
            raise DataError("the Dask collection holds no rows; at least one is needed")
        first = self._facts[0]
        for facts in self._facts:
            where, elsewhere = f"partition {facts.number}", f"partition {first.number}"
            refuse_other(facts.names or (), where, first.names or (), elsewhere)
        super().__init__(seed, len(self._facts))
        self.names, self.n_columns = first.names, first.columns
        self.n_rows = sum(facts.rows for facts in self._facts)
        largest = max(self._facts, key=lambda facts: facts.nbytes)
        self.largest_block = largest.nbytes
        self.largest_block_place = f"partition {largest.number}"

    def _computed(self, number: int) -> list[Any]:
        """Compute a partition in this process."""
        return [part.compute(scheduler="sync") for part in self._parts[number]]

    def _futures(self, number: int, cluster: Cluster) -> list[Any]:
        """Have a partition computed; the scheduler computes it again if it is lost."""
        return [cluster.client.compute(part) for part in self._parts[number]]

    def read(self, block: int) -> Held:
        facts = self._facts[block]
        parts = self._computed(facts.number)
        return hold_partition(*self._how, facts.number, *parts, rows=facts.rows)

    def reading(self, block: int, cluster: Cluster) -> tuple[Any, ...]:
        facts = self._facts[block]
        futures = self._futures(facts.number, cluster)
        return partial(hold_partition, *self._how, rows=facts.rows), facts.number, *futures

    def block_rows(self, block: int) -> int:
        return self._facts[block].rows

    def block_place(self, block: int) -> str:
        return f"partition {self._facts[block].number}"

    def classes(self, cluster: Cluster | None = None) -> NDArray[Any]:
        return distinct(facts.labels for facts in self._facts)

    def fingerprint(self) -> str:
        """Hash the keys of the partitions, which Dask makes from their content or their files."""
        keys = [str(part.key) for parts in self._parts for part in parts]
        rows = [facts.rows for facts in self._facts]
        return sha256(repr((keys, rows, self.names, self._how[0])).encode()).hexdigest()


def _partitions(source: Any, target: str | None) -> list[tuple[Any, ...]]:
    if not isinstance(source, tuple):
        if not hasattr(source, "columns"):
            raise DataTypeError(
                f"the source is a Dask {type(source).__name__}; give a Dask DataFrame with "
                "target=, or a pair (X, y) of Dask collections"
            )
        if target is None:
            raise ParameterError(
                "target is None; name the column of the Dask DataFrame that holds the labels"
            )
        return [(part,) for part in source.to_delayed()]
    X, y = source
    if not is_collection(y):
        raise DataTypeError(
            f"X is a Dask collection and y a {type(y).__name__}; give y as a Dask collection with "
            "the same partitions, for example a column of the same data frame"
        )
    parts = _rows_of(X), _rows_of(y)
    if len(parts[0]) != len(parts[1]):
        raise DataError(
            f"X has {len(parts[0])} partitions and y {len(parts[1])}; give both the same ones"
        )
    return list(zip(*parts, strict=True))


def _rows_of(collection: Any) -> list[Any]:
    """Return the partitions of a collection; arrays must not be cut between columns."""
    pieces = collection.to_delayed()
    if isinstance(pieces, np.ndarray):
        if pieces.ndim == 2 and pieces.shape[1] > 1:
            raise DataError(
                f"the array is cut into {pieces.shape[1]} pieces of columns; rechunk it so that a "
                "chunk has whole rows: X.rechunk({1: -1})"
            )
        return list(pieces.ravel())
    return list(pieces)


# Which cluster reads a source: the one of a client that is given, else of the current client.


def current_client() -> Any | None:
    """Return the Dask client of this process, if there is one; in a task of a worker there is none.

    >>> current_client() is None
    True
    """
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
    client: Any = None,
    timeout: float | None = None,
    **options: Any,
) -> AbstractOracle:
    """Draw from a source, by workers where there are some and the source can be read anywhere.

    ``client=False`` keeps it in this process. A client that is given, rather than current, is not
    passed over: a source that workers cannot read is refused.
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
        raise ParameterError("client is True, and there is no current Dask client; make one first")
    raise ParameterError(
        "the workers of a cluster read Parquet files and Dask collections, not what a "
        f"{type(oracle).__name__} reads; write the data as Parquet files, or give client=False"
    )
