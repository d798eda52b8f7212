"""How every estimator that boosts fits: set a run up, advance it, keep what it found."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import ParameterError
from pacboost.estimators.boosting.certifying import apart_digest, without_shared
from pacboost.estimators.boosting.watching import RoundsWatcher
from pacboost.estimators.fitted.vote import NO_CLASSES, VoteBase
from pacboost.estimators.fitting import parameters
from pacboost.estimators.fitting.attempt import all_or_nothing
from pacboost.estimators.fitting.callbacks import (
    CallbackSupportMixin,
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
from pacboost.estimators.inputs.validation_sets import Pair, read_sets
from pacboost.fit.fit import AUTO, Ask, FitRows, fit, spared_share
from pacboost.fit.recipe import OF_TREES, Recipe
from pacboost.fit.rows import LabelledRows, validation_sample
from pacboost.fit.settings import PATIENCE_OF_CLASSES
from pacboost.fit.trial import Stopping, Trial
from pacboost.hypotheses.majority import rules_behind
from pacboost.hypotheses.shapes import Counts
from pacboost.hypotheses.tree import TreeRule
from pacboost.kernels.runtime.threads import using
from pacboost.ledgers.ledger import Round
from pacboost.models.calibration import Calibration
from pacboost.models.model import Model
from pacboost.models.schema import ColumnOptions, Schema
from pacboost.numerics.checks import integer
from pacboost.samples import sample as fingerprint
from pacboost.samples.same_example import check_copies
from pacboost.samples.sketch import Sketch
from pacboost.training.run.loop import Run
from pacboost.training.run.stop_reason import Stop, StopReason

Callback = Callable[[Round], bool | None]


@dataclass(frozen=True, eq=False)
class FitInputs:
    """What a fit was given: rows with labels or numbers, weights, and validation rows."""

    X: Any
    y: Any
    sample_weight: Any = None
    X_val: Any = None
    y_val: Any = None
    validates: NDArray[np.bool_] | None = None
    """Which of the rows validate, where a caller knows which belong together."""


@dataclass(frozen=True, eq=False)
class Prepared:
    """What a fit runs, and the rows for its certificate and calibration."""

    trial: Trial
    schema: Schema
    apart: Apart | None = None
    """Rows that nothing has looked at, to count mistakes on."""
    calibrating: LabelledRows | None = None


class BoostingFit(CallbackSupportMixin, VoteBase):  # type: ignore[misc]
    """How classifiers and regressors fit; ``_prepare`` and ``_keep`` differ between them."""

    quality: str = "auto"
    early_stopping: Any = False
    validation_fraction: float = 0.1
    _patience: int = PATIENCE_OF_CLASSES
    """How many rounds without progress end a run, where ``early_stopping`` is not a number."""
    eval_metric: Any = "error"
    max_bins: int = 255
    warm_start: bool = False
    callbacks: Sequence[Callback] | None = None
    n_jobs: int | None = None
    device: str = "cpu"
    verbose: bool | int | str = "auto"

    _equal_rows = "draws"
    """The ``copies`` of the last fit."""
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
        boost(self, FitInputs(X, y, sample_weight), sets)
        return self

    @fits_rows
    def _fit_divided(
        self, X: Any, y: Any, sample_weight: Any = None, *, validate: NDArray[np.bool_]
    ) -> Self:
        """Boost as ``fit`` does, with validation rows chosen by a caller who knows groups or time.

        ``validate`` says which of the rows these are.
        """
        self._equal_rows = check_copies("draws")
        inputs = FitInputs(X, y, sample_weight, validates=validate)
        self._fit(inputs, read_sets(None, None, None))
        return self

    def _fit(self, inputs: FitInputs, sets: dict[str, Pair]) -> None:
        (name, first), *others = sets.items()
        X, sample_weight = inputs.X, inputs.sample_weight
        told: dict[str, Any] = {}
        if has_callbacks(self):
            weights = {} if sample_weight is None else {"sample_weight": sample_weight}
            told = {"X": X, "y": inputs.y, "metadata": weights}
            task = self._init_callback_context(max_subtasks=None)
            task.call_on_fit_task_begin(estimator=self, **told)
        with all_or_nothing(self) as attempt, using(self.n_jobs), self._boosting(X):
            rows = self._column_options().divisible
            given = replace(inputs, X_val=rows(first[0]), y_val=first[1])
            ready = self._prepare(replace(given, X=rows(X)))
            ready, more = self._read_others(ready, others)
            watcher = RoundsWatcher(self, ready, name, more, told)
            attempt.keep = lambda: self._keep_interrupted(ready, watcher.run)
            fitted = fit(ready.trial, watcher)
            run = fitted.run
            self._await_sketches()
            self._keep(ready, run, fitted.calibration)
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
            given = self._column_options().divisible(X)
            rows = self._read_validation(ready.schema, given, y)
            if ready.apart is not None:
                ready = replace(ready, apart=without_shared(ready.schema, ready.apart, given))
            self._await_sketches()
            table = ready.schema.remembered(given, rows.table)
            self._sketches = (*self._sketches, Sketch.from_table(table))
            read.append((name, rows))
        return ready, read

    def _column_options(self) -> ColumnOptions:
        return replace(super()._column_options(), keeps_sparse=True)

    @abstractmethod
    def _prepare(self, inputs: FitInputs) -> Prepared:
        """Check everything, and say what to run."""

    @abstractmethod
    def _keep(self, ready: Prepared, run: Run, found: Calibration | None) -> None:
        """Turn the finished rounds into a model; ``found`` is the calibration of a trial."""

    @abstractmethod
    def _read_validation(self, schema: Schema, X: Any, y: Any) -> LabelledRows:
        """Read the validation rows that the user gave."""

    @abstractmethod
    def _warn(self, run: Run) -> None:
        """Warn of a model that is of little use."""

    def _boosted(self, schema: Schema, run: Run, **more: Any) -> Model:
        """Turn the finished rounds into a model."""
        sample, seen = run.sample, fingerprint.fingerprint(run.sample)
        bins, ledger = sample.bins, run.ledger()
        if getattr(self, "settings_", {}).get("interactions"):
            groups = run.learner.interactions  # type: ignore[attr-defined]
            pairs = [own for own in groups if len(own) == 2]
            more["counts"] = Counts.of(sample, sorted({j for pair in pairs for j in pair}))
        return self._model_of(schema, bins, run.vote(), ledger, fingerprint=seen, **more)

    def _fit_rows(self, everyone: LabelledRows, inputs: FitInputs, schema: Schema) -> FitRows:
        """Read the validation rows that the user gave, if any."""
        X_val, y_val = inputs.X_val, inputs.y_val
        if (X_val is None) != (y_val is None):
            present, absent = ("X_val", "y_val") if y_val is None else ("y_val", "X_val")
            raise ParameterError(f"{present} was given without {absent}; give both or neither")
        validation = None if X_val is None else self._read_validation(schema, X_val, y_val)
        return FitRows(everyone, validation, inputs.validates)

    def _ask(self, everyone: LabelledRows, *, tried: float = 0.0) -> Ask:
        """Return the parameters of the fit as values; regressors and classifiers add to them."""
        spared = spared_share(everyone.n_rows, 1.0, tried)
        needs_rows = self.early_stopping != AUTO
        return Ask(
            seed=self._record.seed,
            classes=getattr(self, "classes_", NO_CLASSES),
            max_bins=integer("max_bins", self.max_bins),
            quality=self.quality,
            stopping=Stopping(self.eval_metric, parameters.patience(self), needs_rows),
            early_stopping=self.early_stopping,
            stops=parameters.stops_early(self.early_stopping, spared),
            validation_fraction=self.validation_fraction,
            warm_start=self.warm_start,
            sets_rounds=getattr(self, "n_estimators", None) is not None,
            tried=tried,
        )

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
            getattr(self, "classes_", NO_CLASSES).tolist(), sample.table.levels, ready.schema.text,
            run.booster.name, numbers, run.learner.name, trees,
        ]  # fmt: skip
        parts = [repr(words), *map(fingerprint.fingerprint, others)]
        if ready.apart is not None and self.warm_start:  # else they are not looked at again
            parts += [apart_digest(ready.schema, ready.apart)]
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
