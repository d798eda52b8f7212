"""How every boosting classifier fits: read rows, set some apart, boost, keep, certify."""

from __future__ import annotations

from abc import abstractmethod
from contextlib import suppress
from dataclasses import replace
from typing import Any

from pacboost.bounds.training import training_error
from pacboost.errors import NoEdgeWarning, NotCertified, ParameterError, RareClassWarning, warn
from pacboost.estimators.boosting import certifying
from pacboost.estimators.boosting.calibrating import curve_for
from pacboost.estimators.boosting.fit import BoostingFit, FitInputs, Prepared
from pacboost.estimators.fitted.vote import VoteClassifier
from pacboost.estimators.fitting.continuing import begin_record
from pacboost.estimators.inputs.division import Division
from pacboost.estimators.inputs.examples import label_rows, read_examples
from pacboost.estimators.inputs.targets import warn_of_one_class
from pacboost.fit.fit import AUTO, plan
from pacboost.fit.recipe import Recipe
from pacboost.fit.roles import CALIBRATE, split_by_class
from pacboost.fit.rows import LabelledRows
from pacboost.models import calibration
from pacboost.models.schema import Schema, warn_of_dense
from pacboost.numerics.checks import real_number
from pacboost.training.run.loop import Run
from pacboost.training.run.rare_classes import never_named
from pacboost.training.run.stop_reason import Stop, StopReason

NEVER_NAMED = 0.1
"""A class is warned of if it has less than this share of an even division, and is never named."""


class Boosting(BoostingFit, VoteClassifier):
    """A classifier that boosts; ``_recipe`` chooses booster and learner."""

    calibrate: str | None = None
    certify: str | None = None
    holdout: float = 0.2
    delta: float = 0.05

    random_state = None
    class_weight = None

    @abstractmethod
    def _recipe(self, examples: LabelledRows, schema: Schema) -> Recipe:
        """Choose learner, booster and the number of rounds."""

    def _prepare(self, inputs: FitInputs) -> Prepared:
        self._record = begin_record(self, fitted=hasattr(self, "model_"))
        seed, X_val = self._record.seed, inputs.X_val
        divided = certifying.divide(self, inputs.X, inputs.y, inputs.sample_weight, seed)
        schema, examples = self._read_rows(divided, inputs.sample_weight)
        recipe = self._recipe(examples, schema)
        self._refuse_recipe(recipe, examples)
        apart = divided.apart
        if apart is not None:
            apart = replace(apart, weighted=examples.weights is not None)
            apart = certifying.watch_apart(self, schema, apart, X_val)
        everyone, calibrating = self._hold_for_calibration(examples, seed)
        ask = replace(self._ask(everyone), finds_slope=self.calibrate == AUTO)
        trial = plan(self._fit_rows(everyone, inputs, schema), recipe, ask)
        if schema.text is not None:
            came = [inputs.X] if X_val is None else [inputs.X, X_val]
            self._remember(*map(schema.remembered, came))
            return Prepared(trial, schema, apart, calibrating)
        looked_at = [examples.table]
        if trial.held is not None and not trial.is_drawn:
            looked_at.append(trial.held.table)
        if divided.apart is not None:
            looked_at.append(schema.read(divided.apart.X))
        self._remember(*looked_at)
        return Prepared(trial, schema, apart, calibrating)

    def _refuse_recipe(self, recipe: Recipe, examples: LabelledRows) -> None:
        """Warn of dense copies of sparse rows, and refuse several labels a row to most boosters."""
        if examples.table.entries is not None and not recipe.learner.sparse:
            warn_of_dense(examples.table)
        if self._several_labels and recipe.booster.multiclass not in ("mh", "pairs"):
            raise ParameterError(
                f"y holds several labels a row, and {recipe.booster.name} with multiclass="
                f"{recipe.booster.multiclass!r} takes one; use booster='adaboost' with "
                "multiclass='mh'"
            )

    def _read_rows(self, divided: Division, sample_weight: Any) -> tuple[Schema, LabelledRows]:
        """Read the training rows, which give levels, kinds of columns and classes."""
        schema, table = Schema.learn(divided.X, self._column_options())
        examples, self.classes_ = read_examples(
            table, divided.y, divided.weights(sample_weight), self.class_weight
        )
        self._several_labels = examples.signs.shape[1] > 1 and examples.labels is None
        return schema, replace(examples, numbers=divided.rows, copies=divided.number)

    def _hold_for_calibration(
        self, examples: LabelledRows, seed: int
    ) -> tuple[LabelledRows, LabelledRows | None]:
        usual = type(self).calibrate
        if self.calibrate in (None, usual):
            return examples, None
        if self.calibrate not in calibration.NAMES:
            names = calibration.NAMES if usual is None else (usual, *calibration.NAMES)
            allowed = ", ".join(repr(name) for name in names)
            raise ParameterError(f"calibrate is {self.calibrate!r}; it may be {allowed} or None")
        if self._several_labels:
            raise ParameterError("calibrate is for one label a row; set calibrate=None")
        share = real_number("validation_fraction", self.validation_fraction)
        return split_by_class(examples, "validation_fraction", share, seed + CALIBRATE)

    def _read_validation(self, schema: Schema, X: Any, y: Any) -> LabelledRows:
        return label_rows(schema.read(X), y, self.classes_, "y_val", several=self.several_labels_)

    def _keep(self, ready: Prepared, run: Run, found: calibration.Calibration | None) -> None:
        """Turn the finished rounds into a model with its certificate."""
        model = self._boosted(ready.schema, run, calibration=self._calibrated(ready, run, found))
        with suppress(NotCertified):
            model = replace(model, certificate=training_error(model.ledger))
        self.model_ = model
        if ready.apart is not None:
            self.model_ = certifying.certify_by(self, ready.apart)

    def _calibrated(
        self, ready: Prepared, run: Run, found: calibration.Calibration | None
    ) -> calibration.Calibration | None:
        """Fit the calibration on rows held back for it, and measure its calibration error.

        The error is measured on halves of those rows that did not take part in the fit.
        """
        self.__dict__.pop("calibration_error_", None)
        rows = ready.calibrating
        if rows is None or self.classes_.size == 1 or self.calibrate is None:
            return found
        scores = run.vote().scores(rows.table)
        labels = rows.classes()
        method = curve_for(self.calibrate, labels.size)
        fitted = calibration.fit(method, scores, labels, rows.weights)
        self.calibration_error_ = calibration.crossed_error(method, scores, labels, rows.weights)
        return fitted

    def _warn(self, run: Run) -> None:
        warn_of_one_class(self.classes_)
        said = ""
        if self.classes_.size == 1:
            return
        if not run.done:
            said = (
                "the weak learner found no rule better than guessing, so the vote is empty and "
                "every prediction is a tie; give it other features or a richer weak learner"
            )
        elif run.stopped == StopReason(Stop.NO_EDGE) and all(
            len(done.hypothesis.values) == 1 for done in run.done
        ):
            said = (
                f"no split of the {run.sample.n_rows} rows was found, so every prediction is the "
                "same; give more rows, other features, or a smaller min_leaf_rows"
            )
        elif run.stopped is not None and run.stopped.kind is Stop.BROKEN_PROMISE:
            said = f"boosting ended before its time (rounds done: {len(run.done)}): {run.stopped}"
        never = never_named(run, NEVER_NAMED) if run.done and not said else []
        if said:
            warn(said, NoEdgeWarning)
        elif never:
            warn(
                f"the model never says {self.classes_.tolist()[never[0]]!r}, a rare class, not "
                "even for a training row, so it will find hardly any of its rows. Fit with "
                'class_weight="balanced", or choose a threshold by what mistakes cost '
                "(pacboost.choose_threshold)",
                RareClassWarning,
            )
