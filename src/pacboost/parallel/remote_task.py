"""Tasks on a worker of a cluster: check versions, run the task, report the outcome.

Errors are returned as values that name the worker. The client can then distinguish an error of the
data, which is the same everywhere, from an error of the worker (no such file, no memory, another
version of pacboost), which another worker may not have.
"""

from __future__ import annotations

import pickle
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from pacboost.errors import ClusterError, DataError, FileError, ParameterError

if TYPE_CHECKING:
    from pacboost.parallel.cluster import Cluster


THIS_PROCESS = "this process"
WORKER_ERRORS = (FileError, ClusterError, OSError, MemoryError, ImportError)
"""Types of errors that another worker may not have."""


@dataclass(frozen=True, eq=False)
class Done:
    """The value of a finished task, and the worker that computed it."""

    value: Any
    worker: str
    seconds: float
    makers: tuple[str, ...] = ()
    """The workers that computed its shared arguments."""
    total_seconds: float = 0.0
    """With the time that its shared arguments took."""

    def __sizeof__(self) -> int:
        """Return the size of the value in bytes, which the scheduler asks for."""
        return int(getattr(self.value, "nbytes", 0)) + 1024


@dataclass(frozen=True, eq=False)
class Failed:
    """The error of a task, and the worker that ran it."""

    problem: Exception
    worker: str

    @property
    def elsewhere(self) -> bool:
        """True if the task may succeed on another worker."""
        kind = self.problem
        of_data = isinstance(kind, DataError | ParameterError)
        return isinstance(kind, WORKER_ERRORS) and not of_data


Outcome = Done | Failed


def versions() -> dict[str, str]:
    """Return the versions that must be equal on all workers for equal models."""
    package: Any = sys.modules["pacboost"]  # in a higher layer, and always imported
    return {"pacboost": str(package.__version__), "numpy": np.__version__}


def run(expected: dict[str, str], function: Callable[..., Any], *arguments: Any) -> Outcome:
    """Run a task; values of other tasks are unwrapped, and an error of one is returned."""
    for value in arguments:
        if isinstance(value, Failed):
            return value
    worker = worker_name()
    different = [
        f"{name} {version}, and the client {name} {expected.get(name)}"
        for name, version in versions().items()
        if version != expected.get(name)
    ]
    if different:
        return Failed(ClusterError(f"the worker has {'; '.join(different)}"), worker)
    started = time.perf_counter()
    try:
        value = function(*(item.value if isinstance(item, Done) else item for item in arguments))
    except Exception as problem:  # becomes a value that names the worker
        return Failed(_portable(problem), worker)
    seconds, makers = time.perf_counter() - started, [a for a in arguments if isinstance(a, Done)]
    before = max((maker.total_seconds for maker in makers), default=0.0)
    return Done(value, worker, seconds, tuple(maker.worker for maker in makers), before + seconds)


def worker_name() -> str:
    """Return the address of the worker that runs this task; "this process" outside a task."""
    try:
        worker = import_module("distributed").get_worker()
    except (ImportError, ValueError):  # ValueError: this is not a task of a worker
        return THIS_PROCESS
    return str(worker.address)


def _portable(problem: Exception) -> Exception:
    """Return the error without its causes, or its message if it cannot be pickled."""
    problem.__cause__ = problem.__context__ = problem.__traceback__ = None
    try:
        pickle.loads(pickle.dumps(problem))
    except Exception:  # pickling calls foreign code, which may raise anything
        return RuntimeError(f"{type(problem).__name__}: {problem}")
    return problem


Result = TypeVar("Result")

SILENT = "it does not answer"
DEAD = "it died"
SECONDS_BETWEEN_LOOKS = 0.25
MAX_TRIES = 4
"""Maximum number of workers that try a task."""

Avoided = frozenset[str]


class Shared(Generic[Result]):
    """A value that several tasks need; it is computed again if workers have to be avoided."""

    def __init__(
        self, cluster: Cluster, make: Callable[..., Result], arguments: tuple[Any, ...]
    ) -> None:
        self._cluster, self._make, self._arguments = cluster, make, arguments
        self._futures: dict[Avoided, Any] = {}

    def future(self, avoid: Avoided | None = None) -> Any:
        """Return the future of the value, computed on any worker but those to avoid."""
        avoid = frozenset(self._cluster.unusable) if avoid is None else avoid
        if avoid not in self._futures:
            self._futures[avoid] = self._cluster.start(self._make, self._arguments, avoid)
        return self._futures[avoid]


class Job(Shared[Result]):
    """A running task whose result the client waits for."""

    def __init__(
        self, cluster: Cluster, function: Callable[..., Result], arguments: tuple[Any, ...]
    ) -> None:
        super().__init__(cluster, function, arguments)
        self._avoid = frozenset(cluster.unusable)
        self.future(self._avoid)
        self._started = time.monotonic()
        self._seconds: float | None = None
        cluster.open_jobs.add(self)
        self.worker = ""
        self.makers: tuple[str, ...] = ()
        """The workers that computed the shared arguments, once there is a result."""

    def result(self) -> Result:
        """Wait for the result; if a worker fails or is slow, try another one."""
        complaints: list[str] = []
        while True:
            lost = frozenset(self._cluster.unusable) - self._avoid
            if lost and not self.future(self._avoid).done():
                self._restart(lost)
            outcome = self._first_outcome()
            if isinstance(outcome, Done):
                self._cluster.done[outcome.worker] += 1
                self._cluster.open_jobs.discard(self)
                self._cluster.note_seconds(self.kind, outcome.total_seconds)
                self.worker, self.makers = outcome.worker, outcome.makers
                value: Result = outcome.value
                return value
            if isinstance(outcome, Failed) and not outcome.elsewhere:
                outcome.problem.add_note(f"raised on worker {outcome.worker}")
                raise outcome.problem
            reasons = self._complaints(outcome)
            complaints += [f"worker {worker}: {why}" for worker, why in reasons.items()]
            tried = self._avoid | reasons.keys()
            if tried >= self._cluster.workers().keys() or len(complaints) >= MAX_TRIES:
                raise self._failure(complaints, outcome)
            self._restart(tried)

    def seconds_until_done(self) -> float | None:
        """Return the time until the task was first seen to be done, or None if it is not."""
        if self._seconds is None and self.future(self._avoid).done():
            self._seconds = time.monotonic() - self._started
        return self._seconds

    @property
    def kind(self) -> tuple[str, ...]:
        """The names of the functions that the task calls: such tasks take about the same time."""
        functions = filter(callable, (self._make, *self._arguments[:1]))
        return tuple(getattr(own, "__name__", type(own).__name__) for own in functions)

    def _first_outcome(self) -> Outcome | None:
        """Wait for the outcome; a late task gets a copy elsewhere, and the first answer counts.

        Tasks are pure, so that both answers are the same, and the time alone depends on who wins.
        """
        cluster, future, begun = self._cluster, self.future(self._avoid), time.monotonic()
        end = begun + cluster.timeout
        while time.monotonic() < min(end, begun + cluster.patience(self.kind)):
            outcome = cluster.wait(future, min(SECONDS_BETWEEN_LOOKS, end - time.monotonic()))
            if outcome is not None:
                return outcome
        shared = [own.future(self._avoid) for own in self._arguments if isinstance(own, Shared)]
        slow = cluster.workers_of([future, *shared])
        avoid = self._avoid | slow
        if not slow or cluster.workers().keys() <= avoid:
            return cluster.wait(future, end - time.monotonic())
        copy = cluster.start(self._make, self._arguments, avoid)
        cluster.wait_for_one([future, copy], end - time.monotonic())
        for own in (future, copy):
            answer = cluster.wait(own, 1.0, strict=False) if own.done() else None
            if isinstance(answer, Done):
                if own is copy:
                    cluster.give_little_to(slow)
                return answer
        return cluster.wait(future, max(0.0, end - time.monotonic()))

    def _restart(self, avoid: Avoided) -> None:
        self._avoid |= avoid
        self._futures.clear()
        self.future(self._avoid)

    def _complaints(self, outcome: Failed | None) -> dict[str, str]:
        if outcome is not None:
            return {outcome.worker: str(outcome.problem) or type(outcome.problem).__name__}
        before = set(self._cluster.unusable)
        slow = self._cluster.worker_of(self.future(self._avoid))
        self._cluster.find_silent()
        silent = set(self._cluster.unusable) - before
        late = f"no result after {self._cluster.timeout:g} s"
        reasons = dict.fromkeys(silent, f"{late}; {SILENT}")
        return reasons or {"(none has taken it)" if slow is None else slow: late}

    def _failure(self, complaints: list[str], outcome: Failed | None) -> Exception:
        remedy = (
            "Check that the workers are running and not overloaded; a larger timeout= waits longer."
            if outcome is None
            else "Every worker needs the same files at the same paths, enough memory, and the "
            "client's versions of pacboost and NumPy."
        )
        return ClusterError(f"a task could not be done. {'; '.join(complaints)}. {remedy}")
