"""Pure tasks on the workers of a Dask cluster, with results in the order of the blocks.

Any worker may run a task, and run it again, so the death of a worker costs time but changes no
result. Values that tasks share (a vote, a block) are computed on a worker by a task as well, and
copied or recomputed as needed. Every wait has a time limit. A task that takes longer, or fails
because of its worker, moves to another worker; if no worker remains, the error names the worker and
says what to do.
"""

from __future__ import annotations

import sys
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator
from importlib import import_module
from itertools import islice
from time import perf_counter
from typing import Any, TypeVar

from pacboost.errors import ClusterError
from pacboost.parallel.jobs import Job, Shared
from pacboost.parallel.remote_task import THIS_PROCESS, worker_name
from pacboost.parallel.workers import Workers

Result = TypeVar("Result")


class Cluster(Workers):
    """Tasks on the workers of a Dask client."""

    def each(
        self, function: Callable[..., Result], arguments: Iterable[tuple[Any, ...]]
    ) -> Iterator[Result]:
        """Call a function with every tuple of arguments, and yield the results in order.

        Arguments may be ``Shared``. At most two tasks are open for every thread, so that workers
        stay busy while results are used. Tasks that have not begun are dropped when the caller
        stops iterating.
        """
        open_jobs, ahead = deque[Job[Result]](), 2 * self.threads
        for values in arguments:
            open_jobs.append(self.submit(function, *values))
            if len(open_jobs) >= ahead:
                yield open_jobs.popleft().result()
        while open_jobs:
            yield open_jobs.popleft().result()

    def submit(self, function: Callable[..., Result], *arguments: Any) -> Job[Result]:
        """Call a pure function on a worker; ``Shared`` arguments are replaced by their values."""
        return Job(self, function, arguments)

    def share(self, make: Callable[..., Result], *arguments: Any) -> Shared[Result]:
        """Compute a value on a worker that several tasks need."""
        return Shared(self, make, arguments)

    def share_value(self, value: Result) -> Shared[Result]:
        """Send a value to one worker, from which the others copy it."""
        return Shared(self, _identity, (value,))


BATCH_SECONDS = 0.2
"""Target duration of a task that makes several calls: a task costs the scheduler a millisecond."""
MAX_CALLS_PER_TASK = 64


def in_batches(
    cluster: Cluster,
    function: Callable[..., Result],
    shared: Shared[Any] | None,
    arguments: Iterable[tuple[Any, ...]],
    *,
    max_calls: int = MAX_CALLS_PER_TASK,
    calls: Counter[str] | None = None,
) -> Generator[Result]:
    """Call a function on workers with every tuple of arguments, and yield the results in order.

    ``shared``, if any, is the first argument of every call. A task makes at most ``max_calls``
    calls; the number follows from the duration of earlier tasks and changes no result. ``calls``
    counts the calls of each worker.
    """
    batch_size, remaining = 1, iter(arguments)
    first = () if shared is None else (shared,)

    def tasks() -> Generator[tuple[Any, ...]]:
        while batch := list(islice(remaining, batch_size)):
            yield function, batch, *first

    for results, seconds, worker in cluster.each(_call, tasks()):
        batch_size = max(
            1, min(max_calls, round(BATCH_SECONDS * len(results) / max(seconds, 1e-9)))
        )
        if calls is not None:
            calls[worker] += len(results)
        yield from results


def _call(
    function: Callable[..., Result], arguments: list[tuple[Any, ...]], *first: Any
) -> tuple[list[Result], float, str]:
    """Call a function with each tuple of arguments; return results, seconds and the worker."""
    started = perf_counter()
    results = [function(*first, *values) for values in arguments]
    return results, perf_counter() - started, worker_name()


PIECE_BYTES = 2**23
"""Bytes sent at once; Dask warns of tasks that are larger than ten million bytes."""
MEMORY_PER_BYTE_SENT = 4
"""Memory that a worker needs for an object, as a multiple of its size: pieces, object, results."""


def joblib_cluster() -> Cluster | None:
    """Return the cluster of ``joblib.parallel_config("dask")``, if it is active.

    Return None within a task of a worker: waiting for other tasks would block the worker.
    """
    if "joblib._dask" not in sys.modules or worker_name() != THIS_PROCESS:
        return None
    backend, _ = sys.modules["joblib.parallel"].get_active_backend()
    client = getattr(backend, "client", None)
    return None if client is None else Cluster(client)


def send(cluster: Cluster, thing: Any, what: str) -> Shared[Any]:
    """Send an object to workers in pieces; raise ClusterError if it is too large for one of them.

    Each piece is the argument of a task. One worker joins them, and the others copy the object from
    it. The scheduler keeps the pieces, so the object can be restored if its worker is lost.
    """
    try:
        content = import_module("cloudpickle").dumps(thing, protocol=5)
    except Exception as problem:  # pickling calls foreign code, which may raise anything
        raise ClusterError(
            f"{what} cannot be sent to workers of a cluster ({type(problem).__name__}: {problem}). "
            'Fit without joblib.parallel_config("dask").'
        ) from problem
    needed = MEMORY_PER_BYTE_SENT * len(content)
    for worker, limit in cluster.memory_limits().items():
        if limit and needed > limit:
            raise ClusterError(
                f"{what} take {len(content) / 1e6:,.0f} MB, and a worker needs "
                f"{needed / 1e6:,.0f} MB for them; worker {worker} may use "
                f"{limit / 1e6:,.0f} MB. Give workers more memory, take fewer rows, or use "
                "FilterBoostClassifier, which does not need all rows in one memory."
            )
    pieces = (content[k : k + PIECE_BYTES] for k in range(0, len(content), PIECE_BYTES))
    return cluster.share(_join, *(cluster.share_value(piece) for piece in pieces))


def _identity(value: Result) -> Result:
    return value


def _join(*pieces: bytes) -> Any:
    return import_module("cloudpickle").loads(b"".join(pieces))
