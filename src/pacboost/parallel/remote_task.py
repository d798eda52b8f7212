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
from typing import Any

import numpy as np

from pacboost.errors import ClusterError, DataError, FileError, ParameterError

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
        """Tell the scheduler how much memory the value takes, if the value knows."""
        return int(getattr(self.value, "nbytes", 0)) + 1024


@dataclass(frozen=True, eq=False)
class Failed:
    """Why a worker could not do a task."""

    problem: Exception
    worker: str

    @property
    def elsewhere(self) -> bool:
        """Whether another worker may succeed."""
        kind = self.problem
        of_data = isinstance(kind, DataError | ParameterError)
        return isinstance(kind, OF_THE_WORKER) and not of_data


Outcome = Done | Failed


def versions() -> dict[str, str]:
    """Give the versions that have to be the same everywhere for the same model.

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
    """Give the address of the worker that does this task; "this process" outside of one."""
    try:
        worker = import_module("distributed").get_worker()
    except (ImportError, ValueError):  # ValueError: this is not a task of a worker
        return THIS_PROCESS
    return str(worker.address)


def _portable(problem: Exception) -> Exception:
    """Give the error without those that led to it, or its words where it cannot be sent."""
    problem.__cause__ = problem.__context__ = problem.__traceback__ = None
    try:
        pickle.loads(pickle.dumps(problem))
    except Exception:  # pickling calls code of others, which may raise anything
        return RuntimeError(f"{type(problem).__name__}: {problem}")
    return problem
