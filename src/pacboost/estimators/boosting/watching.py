"""Who follows the rounds of an estimator's fit: progress, callbacks, further validation rows."""

from __future__ import annotations

from contextlib import ExitStack
from itertools import islice
from typing import TYPE_CHECKING, Any

from pacboost.estimators.fitting.callbacks import TaskOfRounds
from pacboost.estimators.inputs.parameters import callables, progress_after
from pacboost.fit.ask import FitRows
from pacboost.fit.fit import model_of
from pacboost.fit.recipe import Recipe
from pacboost.fit.rows import validation_sample
from pacboost.fit.trial import Watcher
from pacboost.models.model import Model
from pacboost.training.run.loop import Run
from pacboost.training.run.stop_reason import Stop, StopReason

if TYPE_CHECKING:
    from pacboost.estimators.fitted.estimator import Estimator


def attributes(model: Model) -> dict[str, Any]:
    """Return the fitted attributes that predictions need; callbacks get them after a round."""
    return {"model_": model} | ({"classes_": model.classes} if model.classes.size else {})


class RoundsWatcher(Watcher):
    """Follows the rounds of an estimator's fit: progress, callbacks, further validation rows."""

    rows: FitRows

    def __init__(self, estimator: Estimator, first: str, told: dict[str, Any]) -> None:
        self.estimator, self.told = estimator, told
        self.first = first
        """The name of the first validation set."""
        self.curves: dict[str, list[float]] | None = None
        """The metric after every round, by validation sets."""

    def begins(self, rows: FitRows) -> None:
        """Keep the rows, which hold the further validation sets."""
        self.rows = rows

    def leads(self, recipe: Recipe, run: Run, *, last: bool) -> None:
        """Follow the curves of the run."""
        if run.watch is None:  # the curves stay those of the trial
            return
        for name, rows in self.rows.measured:
            run.watch_also(name, validation_sample(rows, run.sample))
        self.curves = run.validation_curves(self.first)

    def advance(self, run: Run, rounds: int, *, last: bool) -> None:
        """Run the rounds with a progress bar; callbacks see the last run only."""
        estimator, left = self.estimator, rounds - len(run.done)
        with ExitStack() as stack:
            watchers = callables("callbacks", estimator.callbacks if last else None)
            if self.told:
                tasks = TaskOfRounds(estimator, left, lambda: self._so_far(run), **self.told)
                watchers.append(stack.enter_context(tasks))
            one_by_one = bool(watchers)
            after = progress_after(estimator.verbose)
            if after is not None:
                from pacboost.reports.progress import RoundsBar

                bar = RoundsBar(rounds, loss=run.sample.targets is not None, after=after)
                watchers.append(stack.enter_context(bar))
            for done in islice(run, left) if one_by_one else run.up_to(rounds):
                wishes = [watcher(done.entry) for watcher in watchers]
                if any(wishes):
                    run.stopped = StopReason(Stop.CALLBACK)
        run.keep_best()

    def _so_far(self, run: Run) -> dict[str, Any]:
        assert self.leader is not None
        return attributes(model_of(self.rows, self.leader[0], run))
