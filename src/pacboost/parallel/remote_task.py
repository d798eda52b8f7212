"""What a worker of a cluster does with a task: check its version, do the task, report the outcome.

Errors come back as values that name the worker. So the client can tell an error of the data, which
is the same everywhere, from one of the worker (no such file, no memory, another version of
pacboost), which another worker may not have.
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
OF_THE_WORKER = (FileError, ClusterError, OSError, MemoryError, ImportError)
"""Kinds of errors that another worker may not have."""


@dataclass(frozen=True, eq=False)
class Done:
    """The value of a task, and who made it."""

    value: Any
    worker: str
    seconds: float
    makers: tuple[str, ...] = ()
    """The workers that made what it shares with other tasks."""

    def __sizeof__(self) -> int:
        """Return for the scheduler how much memory the value takes, if the value knows."""
        return int(getattr(self.value, "nbytes", 0)) + 1024


@dataclass(frozen=True, eq=False)
class Failed:
    """Why a worker could not do a task."""

    problem: Exception
    worker: str

    @property
    def elsewhere(self) -> bool:
        kind = self.problem
        of_data = isinstance(kind, DataError | ParameterError)
        return isinstance(kind, OF_THE_WORKER) and not of_data


Outcome = Done | Failed


def versions() -> dict[str, str]:
    """Return the versions that have to be the same everywhere for the same model.

    >>> sorted(versions())
    ['numpy', 'pacboost']
    """
    package: Any = sys.modules["pacboost"]  # which is above this room, and always there
    return {"pacboost": str(package.__version__), "numpy": np.__version__}


def run(expected: dict[str, str], function: Callable[..., Any], *given: Any) -> Outcome:
    """Do a task; values of other tasks are unwrapped, and an error of one is passed on.

    >>> run(versions(), abs, Done(-3, "a", 0.0)).value
    3
    >>> run(versions() | {"pacboost": "0"}, abs, -3).elsewhere
    True
    """
    for value in given:
        if isinstance(value, Failed):
            return value
    worker = worker_name()
    different = [
        f"{name} {own}, and the client {name} {expected.get(name)}"
        for name, own in versions().items()
        if own != expected.get(name)
    ]
    if different:
        return Failed(ClusterError(f"the worker has {'; '.join(different)}"), worker)
    started = time.perf_counter()
    try:
        value = function(*(own.value if isinstance(own, Done) else own for own in given))
    except Exception as problem:  # becomes a value that says which worker it is from
        return Failed(_portable(problem), worker)
    makers = tuple(own.worker for own in given if isinstance(own, Done))
    return Done(value, worker, time.perf_counter() - started, makers)


def worker_name() -> str:
    """Return the address of the worker that does this task; "this process" outside of one."""
    try:
        worker = import_module("distributed").get_worker()
    except (ImportError, ValueError):  # ValueError: this is not a task of a worker
        return THIS_PROCESS
    return str(worker.address)


def _portable(problem: Exception) -> Exception:
    """Return the error without those that led to it, or its words where it cannot be sent."""
    problem.__cause__ = problem.__context__ = problem.__traceback__ = None
    try:
        pickle.loads(pickle.dumps(problem))
    except Exception:  # pickling calls code of others, which may raise anything
        return RuntimeError(f"{type(problem).__name__}: {problem}")
    return problem


# Tasks on their way to a result, and values that several of them share.
#
# A task whose worker fails or is slow is given to others. What it shares with other tasks is made
# again on those, since it may be lost with the worker.

Result = TypeVar("Result")

SILENT = "it does not answer"
MOST_TRIES = 4
"""So many workers are tried before a task is given up."""

Avoided = frozenset[str]


class Shared(Generic[Result]):
    """A value that several tasks need; it is made again where workers have to be avoided."""

    def __init__(
        self, cluster: Cluster, make: Callable[..., Result], given: tuple[Any, ...]
    ) -> None:
        self._cluster, self._make, self._given = cluster, make, given
        self._futures: dict[Avoided, Any] = {}

    def future(self, avoid: Avoided | None = None) -> Any:
        """Return the future of the value, made on any worker but some."""
        avoid = frozenset(self._cluster.unusable) if avoid is None else avoid
        if avoid not in self._futures:
            self._futures[avoid] = self._cluster.start(self._make, self._given, avoid)
        return self._futures[avoid]


class Job(Shared[Result]):
    """A task on its way, whose result the client waits for."""

    def __init__(
        self, cluster: Cluster, function: Callable[..., Result], given: tuple[Any, ...]
    ) -> None:
        super().__init__(cluster, function, given)
        self._avoid = frozenset(cluster.unusable)
        self.future(self._avoid)
        self.worker = ""
        self.makers: tuple[str, ...] = ()
        """When there is a result: who did the task, and who made what it was given as shared."""

    def result(self) -> Result:
        """Wait for the result; where a worker fails or is slow, have others try."""
        complaints: list[str] = []
        while True:
            lost = frozenset(self._cluster.unusable) - self._avoid
            if lost and not self.future(self._avoid).done():
                self._restart(lost)
            outcome = self._cluster.wait(self.future(self._avoid), self._cluster.timeout)
            if isinstance(outcome, Done):
                self._cluster.done[outcome.worker] += 1
                self.worker, self.makers = outcome.worker, outcome.makers
                value: Result = outcome.value
                return value
            if isinstance(outcome, Failed) and not outcome.elsewhere:
                outcome.problem.add_note(f"raised on worker {outcome.worker}")
                raise outcome.problem
            found = self._complaints(outcome)
            complaints += [f"worker {worker}: {why}" for worker, why in found.items()]
            tried = self._avoid | found.keys()
            if tried >= self._cluster.workers().keys() or len(complaints) >= MOST_TRIES:
                raise self._given_up(complaints, outcome)
            self._restart(tried)

    def _restart(self, avoid: Avoided) -> None:
        """Start again elsewhere; the task is no longer wanted where it was."""
        self._avoid |= avoid
        self._futures.clear()
        self.future(self._avoid)

    def _complaints(self, outcome: Failed | None) -> dict[str, str]:
        if outcome is not None:
            return {outcome.worker: str(outcome.problem) or type(outcome.problem).__name__}
        before, slow = (
            set(self._cluster.unusable),
            self._cluster.worker_of(self.future(self._avoid)),
        )
        self._cluster.find_silent()
        silent = set(self._cluster.unusable) - before
        late = f"no result after {self._cluster.timeout:g} s"
        found = dict.fromkeys(silent, f"{late}; {SILENT}")
        return found or {"(none has taken it)" if slow is None else slow: late}

    def _given_up(self, complaints: list[str], outcome: Failed | None) -> Exception:
        remedy = (
            "See that workers are running, and whether one is overloaded; a larger timeout= waits "
            "longer."
            if outcome is None
            else "Every worker needs the same files at the same paths, enough memory, and the "
            "client's versions of pacboost and NumPy."
        )
        return ClusterError(f"a task could not be done. {'; '.join(complaints)}. {remedy}")
