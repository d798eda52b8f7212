"""Who follows the rounds of an estimator's fit: progress, callbacks, further validation rows."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from itertools import islice
from typing import TYPE_CHECKING, Any

from pacboost.estimators.fitting.callbacks import TaskOfRounds
from pacboost.estimators.inputs.parameters import callables, progress_after
from pacboost.fit.recipe import Recipe
from pacboost.fit.rows import LabelledRows, validation_sample
from pacboost.fit.trial import Watcher
from pacboost.samples import sample as fingerprint
from pacboost.training.run.loop import Run
from pacboost.training.run.stop_reason import Stop, StopReason

if TYPE_CHECKING:
    from pacboost.estimators.boosting.fit import BoostingFit, Prepared


class RoundsWatcher(Watcher):
    """Follows the rounds of an estimator's fit: progress, callbacks, further validation rows."""

    def __init__(
        self,
        estimator: BoostingFit,
        ready: Prepared,
        first: str,
        others: Sequence[tuple[str, LabelledRows]],
        told: dict[str, Any],
    ) -> None:
        self.estimator, self.ready, self.told = estimator, ready, told
        self.first, self.others = first, others
        """The name of the first validation set, and the other sets."""
        self.run: Run | None = None
        """The run that is kept if the fit is interrupted."""
        estimator.__dict__.pop("validation_curves_", None)

    def leads(self, recipe: Recipe, run: Run, *, last: bool) -> None:
        """Show its settings and curves; the last run may go on from an earlier fit."""
        self.run, self.estimator.settings_ = run, recipe.settings()
        if last:
            fingerprint.begin(run.sample)
            self.estimator._go_on(run, recipe, self.ready)
        if run.watch is None:  # the curves stay those of the trial
            return
        for name, rows in self.others:
            run.watch_also(name, validation_sample(rows, run.sample))
        self.estimator.validation_curves_ = run.validation_curves(self.first)

    def advance(self, run: Run, rounds: int, *, last: bool) -> None:
        """Run the rounds with a progress bar; callbacks see the last run only."""
        estimator, left = self.estimator, rounds - len(run.done)
        with ExitStack() as stack:
            watchers = callables("callbacks", estimator.callbacks if last else None)
            if self.told:
                tasks = TaskOfRounds(
                    estimator,
                    left,
                    lambda: {"model_": estimator._boosted(self.ready.schema, run)},
                    **self.told,
                )
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
