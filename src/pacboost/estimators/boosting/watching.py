"""Who follows the rounds of an estimator's fit: progress, callbacks, further validation rows."""

from __future__ import annotations

import math
from contextlib import ExitStack
from dataclasses import replace
from itertools import islice
from time import monotonic
from typing import TYPE_CHECKING, Any

from sklearn.base import BaseEstimator

from pacboost.estimators.fitting.callbacks import TaskOfRounds
from pacboost.estimators.inputs.parameters import callables, progress_after
from pacboost.estimators.parameters.values import Values
from pacboost.fit.ask import FitRows
from pacboost.fit.fit import model_of
from pacboost.fit.rows import validation_sample
from pacboost.fit.trial import Outcome, Watcher
from pacboost.models.model import Model
from pacboost.training.run.loop import Run
from pacboost.training.run.stop_reason import Stop, StopReason

if TYPE_CHECKING:
    from pacboost.training.run.early_stopping import EarlyStopping

# A refit on all rows takes 1.4 times as long as the first run of a trial, on four fifths of them:
# 1.1 times the rounds of 1.25 times the rows. Two candidates and this refit fit into the rest.
TRIAL_RUN_SHARE_OF_TIME = 0.25


def attributes(model: Model) -> dict[str, Any]:
    """Return the attributes that predictions need; callbacks get them after a round."""
    return {"model_": model} | ({"classes_": model.classes} if model.classes.size else {})


class RoundsWatcher(Watcher):
    """Follows the rounds of an estimator's fit: progress, callbacks, further validation rows."""

    rows: FitRows

    def __init__(
        self, asked: Values, first: str = "validation_0", estimator: BaseEstimator | None = None,
        told: dict[str, Any] | None = None,
    ) -> None:  # fmt: skip
        self.asked, self.first = asked, first
        self.estimator, self.told = estimator, told or {}
        """Whom scikit-learn's callbacks are told of, if any are set, and the data of its fit."""
        self.curves: dict[str, list[float]] | None = None
        """The metric after every round, by validation sets."""
        self.watch: EarlyStopping | None = None
        """What was measured on validation rows."""
        limit = asked.time_limit
        self.ends = math.inf if limit is None else monotonic() + limit
        self.is_late = False
        """Whether the time was up before a run had ended."""

    def begins(self, rows: FitRows) -> None:
        """Keep the rows, which include the further validation sets."""
        self.rows = rows

    def leads(self, best: Outcome, *, last: bool) -> None:
        """Keep the validation curves of the run."""
        run = best.run
        if run.watch is None:  # the curves stay those of the trial
            return
        for name, rows in self.rows.measured:
            run.watch_also(name, validation_sample(best.recipe.widened(rows), run.sample))
        self.curves, self.watch = run.validation_curves(self.first), run.watch

    def advance(self, run: Run, rounds: int, *, last: bool) -> None:
        """Run the rounds with a progress bar; callbacks are called in the last run only."""
        left = rounds - len(run.done)
        assert self.leader is not None
        now = monotonic()
        # a run that is to choose pairs of columns is followed by one of these pairs
        share = 1.0 if last and not self.leader.candidate.pairs else TRIAL_RUN_SHARE_OF_TIME
        deadline = now + share * (self.ends - now)
        with ExitStack() as stack:
            watchers = callables("callbacks", self.asked.callbacks if last else None)
            if self.estimator is not None:
                tasks = TaskOfRounds(self.estimator, left, lambda: self._so_far(run), **self.told)
                watchers.append(stack.enter_context(tasks))
            one_by_one = bool(watchers)
            after = progress_after(self.asked.verbose)
            if after is not None:
                from pacboost.reports.progress import RoundsBar

                bar = RoundsBar(rounds, loss=run.sample.targets is not None, after=after)
                watchers.append(stack.enter_context(bar))
            for done in islice(run, left) if one_by_one else run.up_to(rounds):
                wishes = [watcher(done.entry) for watcher in watchers]
                if any(wishes):
                    run.stopped = StopReason(Stop.CALLBACK)
                if run.stopped is None and monotonic() >= deadline:
                    run.stopped, self.is_late = StopReason(Stop.TIME_IS_UP), True

    def complete(self, run: Run, rounds: int, *, last: bool) -> None:
        """Run the rounds, and keep those up to the best one."""
        self.advance(run, rounds, last=last)
        run.keep_best()
        # a refit that has done all rounds of a trial that was cut would have had more of them
        if last and self.is_late and run.stopped and run.stopped.kind is Stop.ALL_ROUNDS:
            run.stopped = replace(run.stopped, kind=Stop.TIME_IS_UP)

    def _so_far(self, run: Run) -> dict[str, Any]:
        assert self.leader is not None
        return attributes(model_of(self.rows, self.leader.recipe, run))
