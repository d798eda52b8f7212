"""Dask collections gathered into memory, for estimators that need all rows at once.

Their size is estimated first: a collection may be larger than the memory by any factor, and a
machine that runs out of it stops everything else, after minutes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from pacboost.errors import DataError
from pacboost.parallel.memory import available_bytes
from pacboost.sources.optional import MAX_PARTS, is_collection, need

COPIES_IN_MEMORY = 2
"""Partitions and the whole are in memory at the same time, before a fit takes anything."""
SAMPLED_SHARE = 0.1
MAX_SAMPLED = 3
"""A tenth of the partitions, and at most three, are computed twice: for the estimate, and later."""


BY_BLOCKS = "FilterBoostClassifier().fit(X, y) reads it block by block"
FEWER_ROWS = "Take fewer rows, such as X.sample(frac=0.1) of a data frame"


def gathered(arguments: Any, needed_by: str, advice: str) -> Any:
    """Return arguments with Dask collections computed; refuse collections that do not fit."""
    dask, available = need("dask"), available_bytes()
    if available is not None:
        X, *others = _collections(arguments)
        size = sum(map(nbytes, (X, *others)))
        if COPIES_IN_MEMORY * size > available:
            raise DataError(
                f"X is a Dask {type(X).__name__}, which takes about {size / 1e9:,.1f} GB with its "
                f"labels; {needed_by} needs all rows in memory at once. To gather them takes "
                f"{COPIES_IN_MEMORY * size / 1e9:,.1f} GB, and {available / 1e9:,.1f} GB are "
                f"available. {advice}; X.compute() gathers it all the same."
            )
    return dask.compute(arguments)[0]


def _collections(arguments: Any) -> Iterator[Any]:
    """Yield the Dask collections among arguments, and in pairs and lists of them."""
    if is_collection(arguments):
        yield arguments
    elif isinstance(arguments, Mapping):
        yield from (found for value in arguments.values() for found in _collections(value))
    elif isinstance(arguments, tuple | list) and len(arguments) <= MAX_PARTS:
        yield from (found for value in arguments for found in _collections(value))


def nbytes(collection: Any) -> float:
    """Return the bytes of a Dask collection in memory, estimated from a few of its partitions."""
    is_array = hasattr(collection, "numblocks")
    if is_array and not math.isnan(collection.nbytes) and collection.dtype != object:
        return float(collection.nbytes)
    parts = collection.blocks if is_array else collection.partitions
    n_parts = collection.numblocks[0] if is_array else collection.npartitions
    n_sampled = min(MAX_SAMPLED, math.ceil(SAMPLED_SHARE * n_parts))
    # to_delayed() would take minutes where there are many partitions
    dask, sizeof = need("dask"), need("dask.sizeof").sizeof
    sampled = [dask.delayed(sizeof)(parts[k * n_parts // n_sampled]) for k in range(n_sampled)]
    return float(n_parts * sum(dask.compute(*sampled)) / n_sampled)
