"""The workers of a Dask client: which ones can be used, and what has to be waited for.

Every wait has a time limit, and a worker that does not answer gets no more tasks.
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import Callable, Iterable
from importlib import import_module
from itertools import count
from statistics import median_low
from typing import Any
from uuid import uuid4
from weakref import WeakSet

from pacboost.errors import ClusterError
from pacboost.parallel.remote_task import Done, Failed, Outcome, run, versions, worker_name

Avoided = frozenset[str]
SILENT = "it does not answer"
DEAD = "it died"
TASK_SECONDS = 300.0
"""Time to wait for the result of a task before another worker gets it."""
ANSWER_SECONDS = 30.0
"""Time for the scheduler, and for workers at the start, to answer a request."""
PING_SECONDS = 5.0
"""Time for a worker to answer a ping when a result is late; a silent worker counts as lost."""
MEDIANS_OF_PATIENCE, MIN_PATIENCE = 3, 1.0
"""A task that takes longer than three others, and than a second, gets a copy on another worker."""
MIN_TIMES, TIMES_KEPT = 2, 50
SLOW_FOR_SECONDS = 60.0
"""A worker that was slower than a copy of its task may have been busy with something else."""
SECONDS_BETWEEN_LOOKS = 0.01
RESTART = (
    "Restart the cluster and call fit again: with checkpoint=... it continues from the last "
    "checkpoint to the same model."
)


class OnWorkers(ABC):
    """A value that is computed on a worker."""

    @property
    def kind(self) -> tuple[str, ...]:
        """The names of the functions that compute it: such tasks take about the same time."""
        return ()

    @abstractmethod
    def future(self, avoid: Avoided | None = None) -> Any:
        """Return the future of the value, computed on any worker but those to avoid."""

    def seconds_until_done(self) -> float | None:
        """Return the time until the task was first seen to be done, or None if it is not."""
        return None


class Workers:
    """The workers of a Dask client."""

    def __init__(self, client: Any, timeout: float | None = None) -> None:
        if getattr(client, "asynchronous", False):
            raise ClusterError(
                "the client is asynchronous, but fit waits for results; pass a Client created "
                "without asynchronous=True"
            )
        self.client = client
        self.timeout = TASK_SECONDS if timeout is None else timeout
        self._dask = import_module("distributed")
        self._name, self._numbers = f"pacboost-{uuid4().hex[:12]}", count()
        self.unusable: dict[str, str] = {}
        """Workers that get no tasks, and why."""
        self._slow_until: dict[str, float] = {}
        """Workers that gave an answer later than a copy, and the time until which they get few."""
        self._seconds: dict[tuple[str, ...], deque[float]] = {}
        self.open_jobs: WeakSet[OnWorkers] = WeakSet()
        """Tasks whose results have not been used."""
        self.done: Counter[str] = Counter()
        self.blocks: Counter[str] = Counter()
        self._check_workers()

    def _check_workers(self) -> None:
        """Mark workers that have another version or do not answer as unusable.

        While all have died, or none has started yet, a nanny may be about to start one.
        """
        end = time.monotonic() + min(ANSWER_SECONDS, self.timeout)
        asked: dict[str, Any] = {}
        outcomes: dict[str, Outcome | str] = {}
        while time.monotonic() < end:
            present = frozenset(self.workers())
            for worker in present - asked.keys():
                asked[worker] = self.start(worker_name, (), present - {worker})
            for worker in asked.keys() - outcomes.keys():
                if worker not in present:
                    outcomes[worker] = DEAD
                elif asked[worker].done():
                    outcomes[worker] = self.wait(asked[worker], 1.0, strict=False) or SILENT
            kinds = {type(outcome) for outcome in outcomes.values()}
            if asked.keys() == outcomes.keys() and kinds & {Done, Failed}:
                break
            time.sleep(0.02)
        for worker in asked:
            outcome = outcomes.get(worker, SILENT)
            if not isinstance(outcome, Done):
                self.unusable[worker] = str(getattr(outcome, "problem", outcome))
        if not asked:
            raise ClusterError(
                f"the cluster of the scheduler {self.address} has no workers; start some first, "
                "for example by cluster.scale(2)"
            )
        if len(self.unusable) == len(asked):
            others = any(isinstance(outcome, Failed) for outcome in outcomes.values())
            worker, why = list(self.unusable.items())[-1]
            advice = "Install the same versions everywhere" if others else "Start others"
            raise ClusterError(
                f"no worker can be used; worker {worker}: {why}. {advice}, and check that the "
                "workers are running."
            )

    @property
    def address(self) -> str:
        scheduler = getattr(self.client, "scheduler", None)
        return str(getattr(scheduler, "address", "that is closed"))

    def workers(self) -> dict[str, int]:
        """Return the number of threads of every worker."""
        threads_of_workers: dict[str, int] = self._ask("ncores", workers=None)
        return {worker: int(threads) for worker, threads in threads_of_workers.items()}

    def memory_limits(self) -> dict[str, int]:
        """Return the memory limit of each worker in bytes; 0 means no limit."""
        workers: dict[str, Any] = self._ask("identity", n_workers=-1)["workers"]
        return {worker: int(facts["memory_limit"] or 0) for worker, facts in workers.items()}

    @property
    def threads(self) -> int:
        """The number of tasks that can run at the same time."""
        return max(1, sum(n for worker, n in self.workers().items() if worker not in self.unusable))

    def start(
        self, function: Callable[..., Any], arguments: tuple[Any, ...], avoid: Avoided
    ) -> Any:
        """Submit a task to any worker but those to avoid; return its future."""
        ready = [
            value.future(avoid) if isinstance(value, OnWorkers) else value for value in arguments
        ]
        only = self._others(avoid) if avoid else None
        slow = {own for own, until in self._slow_until.items() if until > time.monotonic()}
        faster = [own for own in only or self.workers() if own not in slow] if slow else None
        key = f"{self._name}-{getattr(function, '__name__', 'task')}-{next(self._numbers)}"
        try:
            return self.client.submit(
                run, versions(), function, *ready, key=key, pure=False, workers=faster or only,
                allow_other_workers=bool(faster and not avoid),
            )  # fmt: skip
        except Exception as problem:
            raise self._lost() from problem

    def _others(self, avoid: Avoided) -> list[str]:
        """Return the workers that are not avoided; wait for one to start if there is none."""
        end = time.monotonic() + min(ANSWER_SECONDS, self.timeout)
        while True:
            usable = [worker for worker in self.workers() if worker not in avoid]
            if usable:
                return usable
            if time.monotonic() >= end:
                reasons = (
                    f"{worker} ({self.unusable.get(worker, 'was tried')})"
                    for worker in sorted(avoid)
                )
                raise ClusterError(f"no worker is available: {', '.join(reasons)}. {RESTART}")
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
                late.__traceback__ = None  # Dask keeps it, and with it all objects of this call
            except Exception as problem:
                raise self._lost() from problem
        if future.status == "cancelled":
            raise self._lost()
        if future.status == "error":
            error = future.exception(timeout=ANSWER_SECONDS)
            if strict:
                raise self._explained(error) from error
            return Failed(error, "")
        try:
            outcome: Outcome = future.result(timeout=seconds)
            return outcome
        except TimeoutError as late:  # the worker that has it died, and the task is not run again
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
                f"workers died repeatedly at the same task, the last one was {where}. The usual "
                "reason is too little memory: give workers more memory, fewer threads, or smaller "
                "blocks (row groups, partitions)."
            )
        return ClusterError(
            f"a worker could not run a task: {type(problem).__name__}: {problem}. Install "
            f"pacboost {versions()['pacboost']} and the libraries of the data on all workers."
        )

    def _lost(self) -> ClusterError:
        return ClusterError(
            f"the scheduler {self.address} was lost, or it dropped our tasks. {RESTART}"
        )

    def _ask(self, question: str, **options: Any) -> Any:
        """Send a request to the scheduler and wait a limited time for its answer."""
        try:
            ask = getattr(self.client.scheduler, question)
            return self.client.sync(
                ask, callback_timeout=min(ANSWER_SECONDS, self.timeout), **options
            )
        except Exception as problem:
            raise self._lost() from problem

    def find_silent(self) -> None:
        """Ping all workers; those that do not answer get no tasks."""
        for worker in self.workers():
            if worker not in self.unusable and not self._answers(worker):
                self.unusable[worker] = SILENT

    def _answers(self, worker: str) -> bool:
        seconds = min(PING_SECONDS, self.timeout)
        try:
            answers = self.client.sync(
                self.client._run, worker_name, workers=[worker], callback_timeout=seconds
            )
        except Exception as problem:  # any error means that there is no answer
            problem.__traceback__ = None
            return False
        return bool(answers.get(worker))

    def worker_of(self, future: Any) -> str | None:
        return next(iter(self.workers_of([future])), None)

    def workers_of(self, futures: Iterable[Any]) -> frozenset[str]:
        """Return the workers that have begun one of these tasks, or have it in their queues."""
        keys = {future.key for future in futures if not future.done()}
        processing: dict[str, Any] = self._ask("processing", workers=None)
        return frozenset(own for own, tasks in processing.items() if keys.intersection(tasks))

    def wait_for_one(self, futures: list[Any], seconds: float) -> None:
        """Wait until one of some tasks is done, or the time is over."""
        end = time.monotonic() + seconds
        while not any(future.done() for future in futures) and time.monotonic() < end:
            if self.client.status not in {"running", "connecting"}:
                raise self._lost()
            time.sleep(SECONDS_BETWEEN_LOOKS)

    def note_seconds(self, kind: tuple[str, ...], seconds: float) -> None:
        """Note how long a task took, with the shared values that were computed for it."""
        self._seconds.setdefault(kind, deque(maxlen=TIMES_KEPT)).append(seconds)

    def patience(self, kind: tuple[str, ...]) -> float:
        """Return the time to wait for a task before it gets a copy on another worker.

        The lower median counts: half of the answers may have come from the slow one of two workers.
        Results are used in order, so that the first task may be the late one: those that are done
        but not used count, too.
        """
        unused = [job.seconds_until_done() for job in list(self.open_jobs) if job.kind == kind]
        times = [*self._seconds.get(kind, ()), *(own for own in unused if own is not None)]
        if len(times) < MIN_TIMES:
            return math.inf
        return max(MIN_PATIENCE, MEDIANS_OF_PATIENCE * float(median_low(times)))

    def give_little_to(self, workers: Iterable[str]) -> None:
        """Prefer others for some time to workers that were slower than a copy of their task."""
        until = time.monotonic() + SLOW_FOR_SECONDS
        self._slow_until |= dict.fromkeys(workers, until)
