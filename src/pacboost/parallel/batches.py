"""Tasks on a cluster that do several small things each: a task costs its scheduler a millisecond.

How many a task does follows from the time that earlier ones took. That changes no result.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterable
from itertools import islice
from time import perf_counter
from typing import Any, TypeVar

from pacboost.parallel.cluster import Cluster
from pacboost.parallel.cluster_jobs import Shared
from pacboost.parallel.remote_task import worker_name

Result = TypeVar("Result")

LONG_ENOUGH = 0.2
"""A task does as many things as take about so many seconds."""
MOST_AT_ONCE = 64


def in_batches(
    cluster: Cluster,
    function: Callable[..., Result],
    shared: Shared[Any] | None,
    arguments: Iterable[tuple[Any, ...]],
    *,
    most: int = MOST_AT_ONCE,
    calls: Counter[str] | None = None,
) -> Generator[Result]:
    """Have workers call a function with every tuple of arguments; give the results in order.

    ``shared``, if there is one, is the first argument of every call. A task makes at most ``most``
    calls. ``calls`` adds up how many each worker has made.
    """
    at_once, rest = 1, iter(arguments)
    first = () if shared is None else (shared,)

    def tasks() -> Generator[tuple[Any, ...]]:
        while some := list(islice(rest, at_once)):
            yield function, some, *first

    for results, seconds, worker in cluster.each(_call, tasks()):
        at_once = max(1, min(most, round(LONG_ENOUGH * len(results) / max(seconds, 1e-9))))
        if calls is not None:
            calls[worker] += len(results)
        yield from results


def _call(
    function: Callable[..., Result], arguments: list[tuple[Any, ...]], *first: Any
) -> tuple[list[Result], float, str]:
    """Call a function some times; also say how long it took, and which worker did it."""
    started = perf_counter()
    results = [function(*first, *given) for given in arguments]
    return results, perf_counter() - started, worker_name()
