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
from typing import Any

import numpy as np

from pacboost.errors import ClusterError, DataError, FileError, ParameterError

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
