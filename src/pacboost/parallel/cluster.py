"""Pure tasks on the workers of a Dask cluster, with results in the order of the blocks.

Any worker may do a task, and do it again, so the death of a worker costs time but changes nothing.
What tasks share (a vote, a block) is made on a worker by a task as well: the scheduler passes it on
to other workers, once to each, and has it made again if it is lost. There are no actors, nothing is
scattered, and workers hold nothing that cannot be made again.

Every wait has a time limit. A task that takes longer, or fails for a reason that lies with its
worker, is given to other workers; if none is left, the error names the worker and what to do.
"""

from __future__ import annotations

import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator
from importlib import import_module
from itertools import count, islice
from time import perf_counter
from typing import Any, TypeVar
from uuid import uuid4

from pacboost.errors import ClusterError
from pacboost.parallel.remote_task import (
    SILENT,
    THIS_PROCESS,
    Avoided,
    Done,
    Failed,
    Job,
    Outcome,
    Shared,
    run,
    versions,
    worker_name,
)

Result = TypeVar("Result")

TIMEOUT = 300.0
"""A task that has no result after so many seconds of waiting is given to another worker."""
ANSWER = 30.0
"""The scheduler, and workers at the start, have so many seconds to answer a question."""
PING = 5.0
"""A worker that says nothing for so many seconds, when a result is late, is taken as lost."""
RESTART = (
    "Start the cluster again and call fit again: with checkpoint=... it goes on from the last "
    "checkpoint to the same model."
)


class Cluster:
    """The workers that a Dask client knows."""

    def __init__(self, client: Any, timeout: float | None = None) -> None:
        if getattr(client, "asynchronous", False):
            raise ClusterError(
                "the client is asynchronous, and a fit waits for results: give a Client that was "
                "made without asynchronous=True"
            )
        self.client = client
        self.timeout = TIMEOUT if timeout is None else timeout
        self._dask = import_module("distributed")
        self._name, self._numbers = f"pacboost-{uuid4().hex[:12]}", count()
        self.unusable: dict[str, str] = {}
        """Workers that get no tasks, and why."""
        self.done: Counter[str] = Counter()
        """How many tasks each worker has done."""
        self.blocks: Counter[str] = Counter()
        """How many blocks each worker has read."""
        self._greet()

    def _greet(self) -> None:
        """Find workers that have another version, or do not answer."""
        waiting = {
            worker: self.start(worker_name, (), frozenset(self.workers()) - {worker})
            for worker in self.workers()
        }
        if not waiting:
            raise ClusterError(
                f"the cluster of the scheduler {self.address} has no workers; start some first, "
                "for example by cluster.scale(2)"
            )
        end = time.monotonic() + min(ANSWER, self.timeout)
        for worker, future in waiting.items():
            outcome = None
            while outcome is None and time.monotonic() < end and worker in self.workers():
                outcome = self.wait(future, 1.0, strict=False)
            if not isinstance(outcome, Done):
                problem = outcome.problem if outcome else SILENT
                self.unusable[worker] = str(problem)
        if len(self.unusable) == len(waiting):
            worker, why = next(iter(self.unusable.items()))
            raise ClusterError(
                f"no worker can be used; worker {worker}: {why}. Install the same versions "
                "everywhere, and see that workers are running."
            )

    @property
    def address(self) -> str:
        scheduler = getattr(self.client, "scheduler", None)
        return str(getattr(scheduler, "address", "that is closed"))

    def workers(self) -> dict[str, int]:
        """Return the number of threads of every worker."""
        found: dict[str, int] = self._ask("ncores", workers=None)
        return {worker: int(threads) for worker, threads in found.items()}

    def memory_limits(self) -> dict[str, int]:
        """Return how many bytes each worker may use; 0 where that is not limited."""
        found: dict[str, Any] = self._ask("identity", n_workers=-1)["workers"]
        return {own: int(facts["memory_limit"] or 0) for own, facts in found.items()}

    @property
    def threads(self) -> int:
        """How many tasks can be done at the same time."""
        return max(1, sum(n for own, n in self.workers().items() if own not in self.unusable))

    def each(
        self, function: Callable[..., Result], arguments: Iterable[tuple[Any, ...]]
    ) -> Iterator[Result]:
        """Call a function with arguments, some perhaps shared; give the results in their order.

        Workers are kept busy while results are used: at most two tasks are open for every thread.
        When results are no longer wanted, tasks that have not begun are dropped.
        """
        open_jobs, ahead = deque[Job[Result]](), 2 * self.threads
        for given in arguments:
            open_jobs.append(self.submit(function, *given))
            if len(open_jobs) >= ahead:
                yield open_jobs.popleft().result()
        while open_jobs:
            yield open_jobs.popleft().result()

    def submit(self, function: Callable[..., Result], *given: Any) -> Job[Result]:
        """Have a pure function called on a worker; what is ``Shared`` comes as its value."""
        return Job(self, function, given)

    def share(self, make: Callable[..., Result], *given: Any) -> Shared[Result]:
        """Have something made on a worker that several tasks need."""
        return Shared(self, make, given)

    def share_value(self, value: Result) -> Shared[Result]:
        """Have a value on workers: it is sent once, and they pass it on to each other."""
        return Shared(self, _same, (value,))

    def start(self, function: Callable[..., Any], given: tuple[Any, ...], avoid: Avoided) -> Any:
        """Submit a task to any worker but some; give its future."""
        ready = [own.future(avoid) if isinstance(own, Shared) else own for own in given]
        only = self._others(avoid) if avoid else None
        key = f"{self._name}-{getattr(function, '__name__', 'task')}-{next(self._numbers)}"
        try:
            return self.client.submit(
                run, versions(), function, *ready, key=key, pure=False, workers=only
            )
        except Exception as problem:
            raise self._lost() from problem

    def _others(self, avoid: Avoided) -> list[str]:
        """Return the workers that are left; if there is none, one may be about to start again."""
        end = time.monotonic() + min(ANSWER, self.timeout)
        while True:
            found = [worker for worker in self.workers() if worker not in avoid]
            if found:
                return found
            if time.monotonic() >= end:
                reasons = (
                    f"{own} ({self.unusable.get(own, 'was tried')})" for own in sorted(avoid)
                )
                raise ClusterError(f"no worker is left: {', '.join(reasons)}. {RESTART}")
            time.sleep(0.2)

    def wait(self, future: Any, seconds: float, *, strict: bool = True) -> Outcome | None:
        """Wait for the outcome of a task; None if it does not come in time."""
        end = time.monotonic() + seconds
        while not future.done():
            if self.client.status not in {"running", "connecting"}:
                raise self._lost()
            if time.monotonic() >= end:
                return None
            try:
                with self.client.as_current():
                    self._dask.wait([future], timeout=min(1.0, max(0.01, end - time.monotonic())))
            except TimeoutError as late:
                late.__traceback__ = None  # Dask keeps it, and with it all that this call refers to
            except Exception as problem:
                raise self._lost() from problem
        if future.status == "cancelled":
            raise self._lost()
        if future.status == "error":
            error = future.exception(timeout=ANSWER)
            if strict:
                raise self._explained(error) from error
            return Failed(error, "")
        try:
            outcome: Outcome = future.result(timeout=seconds)
            return outcome
        except TimeoutError as late:  # the worker that has it died, and nobody does it again
            late.__traceback__ = None
            return None
        except Exception as problem:
            if future.status == "error":
                raise self._explained(problem) from problem
            raise self._lost() from problem

    def _explained(self, problem: Any) -> ClusterError:
        if isinstance(problem, self._dask.KilledWorker):
            where = getattr(problem.last_worker, "address", problem.last_worker)
            return ClusterError(
                f"workers died again and again at the same task, the last one was {where}. The "
                "usual reason is too little memory: give workers more of it, fewer threads each, "
                "or smaller blocks (row groups, partitions)."
            )
        return ClusterError(
            f"a worker could not run a task: {type(problem).__name__}: {problem}. Do all workers "
            f"have pacboost {versions()['pacboost']} and what the data needs?"
        )

    def _lost(self) -> ClusterError:
        return ClusterError(
            f"the scheduler {self.address} was lost, or it dropped our tasks. {RESTART}"
        )

    def _ask(self, question: str, **more: Any) -> Any:
        """Ask the scheduler, which has some seconds to answer."""
        try:
            ask = getattr(self.client.scheduler, question)
            return self.client.sync(ask, callback_timeout=min(ANSWER, self.timeout), **more)
        except Exception as problem:
            raise self._lost() from problem

    def find_silent(self) -> None:
        """Ask all workers whether they are there; those that say nothing get no tasks."""
        for worker in self.workers():
            if worker not in self.unusable and not self._answers(worker):
                self.unusable[worker] = SILENT

    def _answers(self, worker: str) -> bool:
        seconds = min(PING, self.timeout)
        try:
            said = self.client.sync(
                self.client._run, worker_name, workers=[worker], callback_timeout=seconds
            )
        except Exception as problem:  # whatever the reason, it gave no answer
            problem.__traceback__ = None
            return False
        return bool(said.get(worker))

    def worker_of(self, future: Any) -> str | None:
        processing: dict[str, Any] = self._ask("processing", workers=None)
        return next((own for own, keys in processing.items() if future.key in keys), None)


# Tasks on a cluster that do several small things each: a task costs its scheduler a millisecond.
#
# How many a task does follows from the time that earlier ones took. That changes no result.

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


# Objects that tasks on workers need whole: the rows of a fit, and how its members are made.
#
# An object is sent in pieces, each as the argument of a task, and put together on a worker; other
# workers get it from there. The scheduler keeps the pieces as long as the object is needed, so it
# can be made again if it is lost with a worker.

PIECE = 2**23
"""Bytes sent at once; Dask warns of tasks that are larger than ten million."""
TIMES_HELD = 4
"""A worker holds an object, its pieces, and what it makes of it: so many times its size."""


def joblib_cluster() -> Cluster | None:
    """Return the cluster of ``joblib.parallel_config("dask")``, if this is called within that.

    A task of a worker does not hand work on to others: it would wait for them and block its worker.

    >>> joblib_cluster() is None
    True
    """
    if "joblib._dask" not in sys.modules or worker_name() != THIS_PROCESS:
        return None
    backend, _ = sys.modules["joblib.parallel"].get_active_backend()
    client = getattr(backend, "client", None)
    return None if client is None else Cluster(client)


def send(cluster: Cluster, thing: Any, what: str) -> Shared[Any]:
    """Have an object on workers; refuse one that is too large for any of them."""
    try:
        content = import_module("cloudpickle").dumps(thing, protocol=5)
    except Exception as problem:  # pickling calls code of others, which may raise anything
        raise ClusterError(
            f"{what} cannot be sent to workers of a cluster ({type(problem).__name__}: {problem}). "
            'Fit without joblib.parallel_config("dask").'
        ) from problem
    for worker, limit in cluster.memory_limits().items():
        if limit and TIMES_HELD * len(content) > limit:
            raise ClusterError(
                f"{what} take {len(content) / 1e6:,.0f} MB, and a worker needs "
                f"{TIMES_HELD * len(content) / 1e6:,.0f} MB for them; worker {worker} may use "
                f"{limit / 1e6:,.0f} MB. Give workers more memory, take fewer rows, or use "
                "FilterBoostClassifier, which does not need all rows in one memory."
            )
    pieces = (content[k : k + PIECE] for k in range(0, len(content), PIECE))
    return cluster.share(_put_together, *(cluster.share_value(piece) for piece in pieces))


def _same(value: Result) -> Result:
    return value


def _put_together(*pieces: bytes) -> Any:
    return import_module("cloudpickle").loads(b"".join(pieces))
