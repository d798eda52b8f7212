"""scikit-learn's callbacks (1.9 and later), which are called after every round."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from sklearn.base import BaseEstimator

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # an earlier version: there is no set_callbacks

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in for scikit-learn's mixin, which older versions lack."""

    def with_callbacks(method: Any) -> Any:
        """Return the method unchanged."""
        return method


__all__ = ["CallbackSupportMixin", "TaskOfRounds", "has_callbacks", "with_callbacks"]


def has_callbacks(estimator: BaseEstimator) -> bool:
    """Check whether callbacks of scikit-learn were set."""
    return hasattr(estimator, "_skl_callbacks")


class TaskOfRounds:
    """Report a run to callbacks as one task, and its rounds as tasks of it."""

    def __init__(
        self,
        estimator: BaseEstimator,
        rounds: int,
        so_far: Callable[[], dict[str, Any]],
        **data: Any,
    ) -> None:
        self._told = {"estimator": estimator, **data}
        self._so_far = so_far
        self._run = estimator._callback_fit_ctx.subcontext("boosting", max_subtasks=rounds)
        self._left = rounds

    def _begin_round(self) -> None:
        self._left -= 1
        number = self._run.max_subtasks - self._left
        self._round = self._run.subcontext(f"round {number}")
        self._round.call_on_fit_task_begin(**self._told)

    def __enter__(self) -> Self:
        self._run.call_on_fit_task_begin(**self._told)
        if self._left:
            self._begin_round()
        return self

    def __call__(self, entry: Any) -> bool:
        """Report a finished round; return whether a callback wants to stop."""
        stop = self._round.call_on_fit_task_end(
            **self._told, reconstruction_attributes=self._so_far
        )
        if self._left:
            self._begin_round()
        return bool(stop)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        if error is None:
            self._run.call_on_fit_task_end(**self._told, reconstruction_attributes=self._so_far)
