"""Tasks on a cluster that do several small things each: a task costs its scheduler a millisecond.

How many a task does follows from the time that earlier ones took. That changes no result.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from itertools import islice
from time import perf_counter
from typing import Any, TypeVar

from pacboost.parallel.cluster import Cluster
from pacboost.parallel.cluster_jobs import Shared

Result = TypeVar("Result")

LONG_ENOUGH = 0.2
"""A task does as many things as take about so many seconds."""
MOST_AT_ONCE = 64


def in_batches(
    cluster: Cluster,
    function: Callable[..., Result],
    shared: Shared[Any] | None,
    arguments: Iterable[tuple[Any, ...]],
) -> Generator[Result]:
    """Have workers call a function with every tuple of arguments; give the results in order.

    ``shared``, if there is one, is the first argument of every call.
    """
    at_once, rest = 1, iter(arguments)
    first = () if shared is None else (shared,)

    def tasks() -> Generator[tuple[Any, ...]]:
        while some := list(islice(rest, at_once)):
            yield function, some, *first

    for results, seconds in cluster.each(_call, tasks()):
        at_once = max(1, min(MOST_AT_ONCE, round(LONG_ENOUGH * len(results) / max(seconds, 1e-9))))
        yield from results


def _call(
    function: Callable[..., Result], arguments: list[tuple[Any, ...]], *first: Any
) -> tuple[list[Result], float]:
    """Call a function some times; also say how long it took."""
    started = perf_counter()
    results = [function(*first, *given) for given in arguments]
    return results, perf_counter() - started
