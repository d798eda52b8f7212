"""How every estimator that boosts fits: set a run up, advance it, keep what it found."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import ParameterError
from pacboost.estimators.boosting.certifying import apart_digest, without_shared
from pacboost.estimators.fitted.vote import NO_CLASSES, VoteBase
from pacboost.estimators.fitting import parameters
from pacboost.estimators.fitting.attempt import all_or_nothing
from pacboost.estimators.fitting.callbacks import (
    CallbackSupportMixin,
    TaskOfRounds,
    has_callbacks,
    with_callbacks,
)
from pacboost.estimators.fitting.continuing import (
    RunRecord,
    digest,
    refuse,
    refuse_fewer,
    written_parameters,
)
from pacboost.estimators.inputs.division import Apart
from pacboost.estimators.inputs.estimator import fits_rows
from pacboost.estimators.inputs.parameters import callables, progress_after
from pacboost.fit.recipe import OF_TREES, Recipe
from pacboost.fit.rows import (
    LabelledRows,
    split_by_class,
    validation_sample,
)
from pacboost.fit.settings import PATIENCE_OF_CLASSES, ramp
from pacboost.fit.trial import Stopping, Trial, Watcher, race, refit
from pacboost.hypotheses.majority import rules_behind
from pacboost.hypotheses.shapes import Counts
from pacboost.hypotheses.tree import TreeRule
from pacboost.kernels.runtime.threads import using
from pacboost.ledgers.ledger import Round
from pacboost.models.calibration import Calibration
from pacboost.models.model import Model
from pacboost.numerics.checks import real_number
from pacboost.numerics.memory import in_host_memory
from pacboost.samples import sample as fingerprint
from pacboost.samples.same_example import check_copies
from pacboost.samples.sketch import Sketch
from pacboost.sources.table import Table
from pacboost.training.run.loop import Run
from pacboost.training.run.stop_reason import Stop, StopReason

Pair = tuple[Any, Any]


def read_sets(X_val: Any, y_val: Any, eval_set: Any) -> dict[str, Pair]:
    """Return all sets by name; the first one decides when to stop, the others are only measured.

    >>> read_sets(None, None, [("rows", "labels"), ("more rows", "more labels")])
    {'validation_0': ('rows', 'labels'), 'validation_1': ('more rows', 'more labels')}
    """
    if eval_set is None:
        return {"validation_0": (X_val, y_val)}
    if X_val is not None or y_val is not None:
        raise ParameterError(
            "eval_set and X_val (or y_val) were both given; put all validation rows into eval_set, "
            "first those that stop early"
        )
    if not isinstance(eval_set, Mapping | list | tuple):
        raise ParameterError(
            f"eval_set is a {type(eval_set).__name__}; it must be a list of pairs (X, y), or a "
            "mapping from names to such pairs"
        )
    if not eval_set:
        raise ParameterError("eval_set is empty; give at least one pair (X, y), or leave it out")
    if isinstance(eval_set, Mapping):
        return {str(name): _pair(repr(name), own) for name, own in eval_set.items()}
    single = isinstance(eval_set, tuple) and len(eval_set) == 2
    if single and not all(isinstance(own, tuple) for own in eval_set):
        eval_set = [eval_set]  # one pair, as LightGBM takes it
    pairs = enumerate(eval_set)
    return {f"validation_{number}": _pair(f"number {number}", own) for number, own in pairs}


def _pair(which: str, own: Any) -> Pair:
    if not isinstance(own, list | tuple) or len(own) != 2:
        raise ParameterError(
            f"set {which} of eval_set is not a pair (X, y): give rows and their labels or numbers"
        )
    X, y = own
    if X is None or y is None:
        raise ParameterError(f"set {which} of eval_set holds None; a pair is (X, y)")
    return X, in_host_memory(y)


Callback = Callable[[Round], bool | None]


@dataclass(frozen=True, eq=False)
class Prepared:
    """What a fit runs, and the rows for its certificate and calibration."""

    trial: Trial
    apart: Apart | None = None
    """Rows that nothing has looked at, to count mistakes on."""
    calibrating: LabelledRows | None = None


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
                    estimator, left, lambda: {"model_": estimator._boosted(run)}, **self.told
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


class BoostingFit(CallbackSupportMixin, VoteBase):  # type: ignore[misc]
    """How classifiers and regressors fit; ``_prepare`` and ``_keep`` differ between them."""

    quality: str = "auto"
    early_stopping: Any = False
    validation_fraction: float = 0.1
    _patience: int = PATIENCE_OF_CLASSES
    """How many rounds without progress end a run, where ``early_stopping`` is not a number."""
    _watching: NDArray[np.bool_] | None = None
    """The rows to hold back in place of drawn ones, where others know which belong together."""
    eval_metric: Any = "error"
    max_bins: int = 255
    warm_start: bool = False
    callbacks: Sequence[Callback] | None = None
    n_jobs: int | None = None
    device: str = "cpu"
    verbose: bool | int | str = "auto"

    _equal_rows = "draws"
    """The ``copies`` of the last fit."""
    _keeps_sparse = True
    """Whether a sparse table is boosted on as it is, if the learner reads codes."""
    _record: RunRecord

    @fits_rows
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        X_val: Any = None,
        y_val: Any = None,
        eval_set: Any = None,
        copies: str = "draws",
    ) -> Self:
        """Boost.

        ``X_val`` and ``y_val`` are validation rows, by which ``early_stopping`` stops. Several sets
        of them are given as ``eval_set``: a list of pairs (X, y), or a mapping from names to pairs.
        The first pair stops early; the others are only measured. ``validation_curves_`` then has
        ``eval_metric`` after every round, of all sets by name ("validation_0", "validation_1" and
        so on in a list), also of rounds that early stopping has dropped in the end.

        ``copies`` says what equal rows are: "draws", each of which counts, or "distinct", copies of
        one example that count once where rows certify (docs/certificates.md, "Equal rows").

        Ctrl-C keeps the rounds done so far on the estimator, and is raised again. After any other
        failure the estimator is as it was before.

        With scikit-learn 1.9 and later, ``set_callbacks`` takes its callbacks, such as ProgressBar.
        """
        sets = read_sets(X_val, y_val, eval_set)
        self._equal_rows = check_copies(copies)
        boost = with_callbacks(type(self)._fit) if has_callbacks(self) else type(self)._fit
        boost(self, X, y, sample_weight, sets)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any, sets: dict[str, Pair]) -> None:
        (name, first), *others = sets.items()
        told: dict[str, Any] = {}
        if has_callbacks(self):
            weights = {} if sample_weight is None else {"sample_weight": sample_weight}
            told = {"X": X, "y": y, "metadata": weights}
            task = self._init_callback_context(max_subtasks=None)
            task.call_on_fit_task_begin(estimator=self, **told)
        with all_or_nothing(self) as attempt, using(self.n_jobs), self._boosting(X):
            X_val, y_val = self._given(first[0]), first[1]
            ready = self._prepare(self._given(X), y, sample_weight, X_val, y_val)
            ready, more = self._read_others(ready, others)
            watcher = RoundsWatcher(self, ready, name, more, told)
            attempt.keep = lambda: self._keep_interrupted(ready, watcher.run)
            outcome = race(ready.trial, watcher)
            run = refit(ready.trial, outcome, watcher) if ready.trial.refits else outcome.run
            self._await_sketches()
            self._keep(ready, run, outcome.calibration)
            self._keep_record(ready, run)
        if told:
            task.call_on_fit_task_end(estimator=self, **told, reconstruction_attributes={})
        self._warn(run)

    def _read_others(
        self, ready: Prepared, others: list[tuple[str, Pair]]
    ) -> tuple[Prepared, list[tuple[str, LabelledRows]]]:
        """Read further validation rows; rows set apart that equal some of them are left out."""
        read = []
        for name, (X, y) in others:
            given = self._given(X)
            rows = self._read_validation(given, y)
            if ready.apart is not None:
                ready = replace(ready, apart=without_shared(self, ready.apart, given))
            self._await_sketches()
            (table,) = self._seen([given], [rows.table])
            self._sketches = (*self._sketches, Sketch.from_table(table))
            read.append((name, rows))
        return ready, read

    def _given(self, X: Any) -> Any:
        """Read rows so far that they can be divided, where they have to be."""
        return X

    def _seen(self, given: Sequence[Any], tables: Iterable[Table]) -> Iterable[Table]:
        """Return what is remembered of rows: their tables, or what is made of texts."""
        return tables

    @abstractmethod
    def _prepare(self, X: Any, y: Any, sample_weight: Any, X_val: Any, y_val: Any) -> Prepared:
        """Check everything, and say what to run."""

    @abstractmethod
    def _keep(self, ready: Prepared, run: Run, found: Calibration | None) -> None:
        """Turn the finished rounds into a model; ``found`` is the calibration of a trial."""

    @abstractmethod
    def _read_validation(self, X: Any, y: Any) -> LabelledRows:
        """Read the validation rows that the user gave."""

    @abstractmethod
    def _warn(self, run: Run) -> None:
        """Warn of a model that is of little use."""

    def _boosted(self, run: Run, **more: Any) -> Model:
        """Turn the finished rounds into a model."""
        sample, seen = run.sample, fingerprint.fingerprint(run.sample)
        bins, ledger = sample.bins, run.ledger()
        if getattr(self, "settings_", {}).get("interactions"):
            groups = run.learner.interactions  # type: ignore[attr-defined]
            pairs = [own for own in groups if len(own) == 2]
            more["counts"] = Counts.of(sample, sorted({j for pair in pairs for j in pair}))
        return self._model_of(sample.table, bins, run.vote(), ledger, fingerprint=seen, **more)

    def _hold_back(
        self, examples: LabelledRows, X_val: Any, y_val: Any, seed: int
    ) -> tuple[LabelledRows, LabelledRows | None]:
        """Return the training rows, and the validation rows if there are some."""
        stops = self._stops_early(examples)
        if (X_val is None) != (y_val is None):
            given, absent = ("X_val", "y_val") if y_val is None else ("y_val", "X_val")
            raise ParameterError(f"{given} was given without {absent}; give both or neither")
        if X_val is not None:
            return examples, self._read_validation(X_val, y_val)
        if stops and self._watching is not None:
            return examples.divided(self._watching)
        if stops:
            share = self._held_share(examples.n_rows)
            return split_by_class(examples, "validation_fraction", share, seed)
        return examples, None

    def _held_share(self, rows: int) -> float:
        """Return the share of rows that is held back to stop early."""
        share = float(real_number("validation_fraction", self.validation_fraction))
        if self.early_stopping == "auto" and 0 < share < 1:
            return self._spared(rows, share)
        return share

    def _stops_early(self, examples: LabelledRows) -> bool:
        return parameters.stops_early(self.early_stopping, self._spared(examples.n_rows, 1.0))

    def _spared(self, rows: int, share: float) -> float:
        """Return what early_stopping="auto" holds back, where many rows can spare ``share``."""
        return share * ramp(rows)

    def _refits(self, examples: LabelledRows) -> bool:
        """Whether the rows held back to find the number of rounds are boosted on after all."""
        return not self.warm_start and self.early_stopping == "refit"

    def _stopping(self) -> Stopping:
        """Return how validation rows are measured, and when they stop a run."""
        patience = parameters.patience(self)
        return Stopping(self.eval_metric, patience, needs_rows=self.early_stopping != "auto")

    def _go_on(self, run: Run, recipe: Recipe, ready: Prepared) -> None:
        """Continue after the rounds of the last fit, if asked and if this is the same run."""
        if not (self.warm_start and hasattr(self, "model_")):
            return
        earlier, record = self.model_, self._record
        ledger, seen = earlier.ledger, fingerprint.fingerprint(run.sample)
        same_rows = (seen, self._rows_of(run, ready)) == (earlier.fingerprint, record.rows)
        refuse([] if same_rows else ["rows, or what was chosen by them,"])
        refuse([] if ledger.vote_digest == record.vote else ["the votes"])
        refuse_fewer(recipe.rounds, len(ledger), "rounds")
        whole = ledger.revised or not ledger.cells
        cast = [entry.vote if whole else 1.0 for entry in ledger.rounds]
        bins = run.sample.bins
        rules = [  # trees share the bins of their sample
            replace(rule, bins=bins) if isinstance(rule, TreeRule) and bins is not None else rule
            for rule in rules_behind(earlier.vote).hypotheses
        ]
        run.resume(rules, cast, ledger.rounds)

    def _rows_of(self, run: Run, ready: Prepared) -> str:
        """Return a digest of what the fingerprint of the training rows leaves open.

        That is classes, levels, bins, the other rows, and settings that depend on rows.
        """
        sample, bins = run.sample, run.sample.bins
        others = [] if run.watch is None else [run.watch.sample]
        if ready.calibrating is not None:
            others.append(validation_sample(ready.calibrating, sample))
        numbers = {n: v for n, v in vars(run.booster).items() if not callable(v)}
        trees = {n: getattr(run.learner, n) for n in OF_TREES if hasattr(run.learner, n)}
        words = [
            getattr(self, "classes_", NO_CLASSES).tolist(), sample.table.levels, self._reading,
            run.booster.name, numbers, run.learner.name, trees,
        ]  # fmt: skip
        parts = [repr(words), *map(fingerprint.fingerprint, others)]
        if ready.apart is not None and self.warm_start:  # else they are not looked at again
            parts += [apart_digest(self, ready.apart)]
        return digest(*parts, *(() if bins is None else bins.thresholds))

    def _keep_record(self, ready: Prepared, run: Run) -> None:
        self._record = replace(
            self._record,
            parameters=written_parameters(self),  # learners may count their calls
            rows=self._rows_of(run, ready),
            vote=self.model_.ledger.vote_digest,
        )

    def _keep_interrupted(self, ready: Prepared, run: Run | None) -> str | None:
        """Keep the rounds done before Ctrl-C, and say so."""
        if run is None or not run.done:
            return None
        run.stopped = StopReason(Stop.INTERRUPTED)
        self._await_sketches()
        self._keep(ready, run, None)
        self._keep_record(ready, run)
        counted = ready.apart is not None and not self.warm_start
        goes_on = "" if counted else ", or go on with warm_start=True"
        return (
            f"the {len(run.done)} rounds done before the interrupt are kept; the estimator "
            f"can be used{goes_on}"
        )
