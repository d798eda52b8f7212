"""Values on workers, and running tasks whose results the client waits for.

A task that fails because of its worker is started again on another one, and a late task gets a copy
elsewhere: tasks are pure, so that either answer is the same.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from pacboost.errors import ClusterError
from pacboost.parallel.remote_task import Done, Failed, Outcome
from pacboost.parallel.workers import SILENT, Avoided, OnWorkers, Workers

Result = TypeVar("Result")

SECONDS_BETWEEN_LOOKS = 0.25
MAX_TRIES = 4
"""Maximum number of workers that try a task."""


class Shared(OnWorkers, Generic[Result]):
    """A value that several tasks need; it is computed again if workers have to be avoided."""

    def __init__(
        self, cluster: Workers, make: Callable[..., Result], arguments: tuple[Any, ...]
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
        self, cluster: Workers, function: Callable[..., Result], arguments: tuple[Any, ...]
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
