"""How estimators that boost fit: their parameters become an ``Ask``, and ``fit.fit`` does the rest.

A fit is all or nothing: a failure leaves the estimator unchanged, and Ctrl-C keeps the rounds done.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import warn
from pacboost.estimators.boosting.watching import RoundsWatcher
from pacboost.estimators.fitted.vote import VoteBase, VoteClassifier
from pacboost.estimators.fitting import parameters
from pacboost.estimators.fitting.attempt import all_or_nothing
from pacboost.estimators.fitting.callbacks import (
    CallbackSupportMixin,
    has_callbacks,
    with_callbacks,
)
from pacboost.estimators.fitting.continuing import begin_record, written_parameters
from pacboost.estimators.inputs.estimator import fits_rows
from pacboost.estimators.inputs.validation_sets import read_sets
from pacboost.fit.ask import Ask, Chooser, Earlier, EvalMetric, Stopping, ValidationSet
from pacboost.fit.continuing import RunRecord
from pacboost.fit.division import Certifying
from pacboost.fit.fit import Fitted, fit
from pacboost.fit.settings import PATIENCE_OF_CLASSES
from pacboost.ledgers.ledger import Round
from pacboost.models.model import Model
from pacboost.models.schema import ColumnOptions
from pacboost.numerics.checks import integer
from pacboost.samples.same_example import check_copies

Callback = Callable[[Round], bool | None]


class BoostingFit(CallbackSupportMixin, VoteBase):  # type: ignore[misc]
    """A classifier or regressor that boosts; ``_chooser`` chooses what."""

    quality: str = "auto"
    early_stopping: bool | int | str = False
    validation_fraction: float = 0.1
    eval_metric: EvalMetric = "error"
    max_bins: int = 255
    class_weight: Any = None
    calibrate: str | None = None
    certify: str | None = None
    holdout: float = 0.2
    delta: float = 0.05
    warm_start: bool = False
    callbacks: Sequence[Callback] | None = None
    n_jobs: int | None = None
    device: str = "cpu"
    verbose: bool | int | str = "auto"
    random_state: Any = None

    settings_: dict[str, Any]
    calibration_error_: float | None
    _equal_rows = "draws"
    """The ``copies`` of the last fit."""
    _curves: dict[str, list[float]] | None = None
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
        """Fit the model.

        ``X_val`` and ``y_val`` are the validation rows for ``early_stopping``. They have to be
        other rows than those of ``X``: rounded copies of held-out rows are not noticed, and would
        make the certificate false. Pass several validation sets as ``eval_set``: a list of pairs
        (X, y), or a mapping from names to pairs. Early stopping uses the first pair; the others are
        only measured. ``validation_curves_`` then has ``eval_metric`` after every round for each
        set by name ("validation_0", "validation_1" and so on for a list), including rounds that
        early stopping drops.

        ``copies`` states what equal rows are: "draws", each of which counts, or "distinct", copies
        of one example that count once in certificates (docs/certificates.md, "Equal rows").

        Ctrl-C keeps the finished rounds, and KeyboardInterrupt is raised again. After any other
        failure the estimator is unchanged.

        With scikit-learn 1.9 and later, ``set_callbacks`` takes its callbacks, such as ProgressBar.
        """
        sets = read_sets(X_val, y_val, eval_set)
        self._equal_rows = check_copies(copies)
        boost = with_callbacks(type(self)._fit) if has_callbacks(self) else type(self)._fit
        boost(self, X, y, sample_weight, sets)
        return self

    @fits_rows
    def _fit_divided(
        self, X: Any, y: Any, sample_weight: Any = None, *, validate: NDArray[np.bool_]
    ) -> Self:
        """Boost as ``fit`` does, with validation rows chosen by a caller who knows groups or time.

        ``validate`` says which of the rows these are.
        """
        self._equal_rows = "draws"
        self._fit(X, y, sample_weight, (), validate)
        return self

    def _fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        sets: tuple[ValidationSet, ...],
        validates: NDArray[np.bool_] | None = None,
    ) -> None:
        told: dict[str, Any] = {}
        if has_callbacks(self):
            weights = {} if sample_weight is None else {"sample_weight": sample_weight}
            told = {"X": X, "y": y, "metadata": weights}
            task = self._init_callback_context(max_subtasks=None)
            task.call_on_fit_task_begin(estimator=self, **told)
        with all_or_nothing(self):
            record = begin_record(self, fitted=hasattr(self, "model_"))
            ask = replace(self._ask(record), validation_sets=sets, validates=validates)
            watcher = RoundsWatcher(self, sets[0].name if sets else "validation_0", told)
            fitted = fit(X, y, sample_weight, ask, watcher)
            self._keep(fitted, replace(record, looks=self._looks(record)))
            self._curves = watcher.curves
        if fitted.interrupt is not None:
            raise self._explained_interrupt(fitted.interrupt)
        if told:
            task.call_on_fit_task_end(estimator=self, **told, reconstruction_attributes={})
        for warning in fitted.warnings:
            warn(str(warning), type(warning))

    def _ask(self, record: RunRecord) -> Ask:
        """Return the parameters of the fit as values."""
        early_stopping = parameters.early_stopping_of(self)
        chooser = self._chooser()
        patience = parameters.patience(self, chooser.patience)
        goes_on = self.warm_start and hasattr(self, "model_")
        return Ask(
            chooser=chooser,
            columns=self._column_options(),
            seed=record.seed,
            stopping=Stopping(self.eval_metric, patience, needs_rows=early_stopping != "auto"),
            certifying=Certifying(
                self.certify, self.holdout, self.delta, self._equal_rows, self._looks(record) or 0
            ),
            max_bins=integer("max_bins", self.max_bins),
            quality=parameters.quality_of(self),
            early_stopping=early_stopping,
            validation_fraction=self.validation_fraction,
            class_weight=self.class_weight,
            calibrate=parameters.calibration_of(self),
            sets_rounds=getattr(self, "n_estimators", None) is not None,
            warm_start=self.warm_start,
            earlier=Earlier(self.model_, record) if goes_on else None,
            device=self.device,
            n_jobs=self.n_jobs,
        )

    @abstractmethod
    def _chooser(self) -> EstimatorChooser:
        """Return what chooses booster, learner and rounds by the parameters."""

    def _column_options(self) -> ColumnOptions:
        return replace(super()._column_options(), keeps_sparse=True)

    def _looks(self, record: RunRecord) -> int | None:
        """Count the looks at held-out rows, this one included; 0 if there is only one."""
        if self.certify != "holdout":
            return record.looks
        return 1 + (record.looks or 0) if self.warm_start else 0

    def _keep(self, fitted: Fitted, record: RunRecord) -> None:
        """Take over what a fit leaves behind."""
        for name, value in self._attributes(fitted.model).items():
            setattr(self, name, value)
        self.settings_ = fitted.settings
        self.calibration_error_ = fitted.calibration_error
        self._sketches = fitted.memory.result()
        self._record = replace(
            record,
            parameters=written_parameters(self),  # learners may count their calls
            rows=fitted.rows_digest,
            vote=fitted.model.ledger.vote_digest,
        )

    def _attributes(self, model: Model) -> dict[str, Any]:
        """Return the fitted attributes that predictions need; callbacks get them after a round."""
        return {"model_": model}

    def _explained_interrupt(self, interrupt: KeyboardInterrupt) -> KeyboardInterrupt:
        """Add to Ctrl-C what is kept."""
        # one look at certifying rows has spent all of delta, so that nothing can go on
        counted = self.certify == "holdout" and not self.warm_start
        goes_on = "" if counted else ", or go on with warm_start=True"
        interrupt.add_note(
            f"pacboost: the {len(self.model_.ledger)} rounds done before the interrupt are kept; "
            f"the estimator can be used{goes_on}"
        )
        return interrupt

    @property
    def validation_curves_(self) -> dict[str, list[float]]:
        """The metric after every round, by the names of the validation sets."""
        if self._curves is None:
            raise AttributeError("validation_curves_ is there after a fit with validation rows")
        return self._curves


class EstimatorChooser(Chooser):
    """Chooses by the parameters of an estimator."""

    patience = PATIENCE_OF_CLASSES
    """Rounds without progress that end a run, where ``early_stopping`` is not a number."""


class Boosting(BoostingFit, VoteClassifier):
    """A classifier that boosts."""

    def _attributes(self, model: Model) -> dict[str, Any]:
        several = model.ledger.several_labels
        return {"model_": model, "classes_": model.classes, "_several_labels": several}
