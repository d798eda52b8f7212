"""Tasks on their way to a result, and values that several of them share.

A task whose worker fails or is slow is given to others. What it shares with other tasks is made
again on those, since it may be lost with the worker.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pacboost.errors import ClusterError
from pacboost.parallel.remote_task import Done, Failed

if TYPE_CHECKING:
    from pacboost.parallel.cluster import Cluster

Result = TypeVar("Result")

SILENT = "it does not answer"
MOST_TRIES = 4
"""So many workers are tried before a task is given up."""

Avoided = frozenset[str]


class Shared(Generic[Result]):
    """A value that several tasks need, made on a worker by a pure function.

    If workers have to be avoided, it is made again on others: it may be lost with those.
    """

    def __init__(
        self, cluster: Cluster, make: Callable[..., Result], given: tuple[Any, ...]
    ) -> None:
        self._cluster, self._make, self._given = cluster, make, given
        self._futures: dict[Avoided, Any] = {}

    def future(self, avoid: Avoided | None = None) -> Any:
        """Give the future of the value, made on any worker but some."""
        avoid = frozenset(self._cluster.unusable) if avoid is None else avoid
        if avoid not in self._futures:
            self._futures[avoid] = self._cluster.start(self._make, self._given, avoid)
        return self._futures[avoid]


class Job(Generic[Result]):
    """A task on its way."""

    def __init__(
        self, cluster: Cluster, function: Callable[..., Result], given: tuple[Any, ...]
    ) -> None:
        self._cluster, self._function, self._given = cluster, function, given
        self._avoid = frozenset(cluster.unusable)
        self._future = cluster.start(function, given, self._avoid)
        self.worker = ""
        self.makers: tuple[str, ...] = ()
        """When there is a result: who did the task, and who made what it was given as shared."""

    def result(self) -> Result:
        """Wait for the result; where a worker fails or is slow, have others try."""
        complaints: list[str] = []
        while True:
            self._leave_silent_workers()
            outcome = self._cluster.wait(self._future, self._cluster.timeout)
            if isinstance(outcome, Done):
                self._cluster.done[outcome.worker] += 1
                self._cluster.seconds += outcome.seconds
                self.worker, self.makers = outcome.worker, outcome.makers
                value: Result = outcome.value
                return value
            if isinstance(outcome, Failed) and not outcome.elsewhere:
                outcome.problem.add_note(f"raised on worker {outcome.worker}")
                raise outcome.problem
            for worker, why in self._complaints(outcome).items():
                complaints.append(f"worker {worker}: {why}")
                self._avoid |= {worker}
            others = [own for own in self._cluster.workers() if own not in self._avoid]
            if not others or len(complaints) >= MOST_TRIES:
                raise self._given_up(complaints, outcome)
            self._restart()

    def _restart(self) -> None:
        self._future = self._cluster.start(self._function, self._given, self._avoid)

    def _leave_silent_workers(self) -> None:
        """Start again elsewhere if the worker that has the task was lost in the meantime."""
        lost = frozenset(self._cluster.unusable) - self._avoid
        if lost and not self._future.done():
            self._avoid |= lost
            self._restart()

    def _complaints(self, outcome: Failed | None) -> dict[str, str]:
        """Say which workers have to be avoided, and why."""
        if outcome is not None:
            return {outcome.worker: str(outcome.problem) or type(outcome.problem).__name__}
        before, slow = set(self._cluster.unusable), self._cluster.worker_of(self._future)
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
