"""The way of every boosting classifier: read, set rows apart, boost, keep, certify."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from dataclasses import replace
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.utils import get_tags
from sklearn.utils.validation import check_random_state

from pacboost.boosters.adaboost import AdaBoost
from pacboost.boosters.base.booster import Booster
from pacboost.boosters.base.capabilities import FinalTable
from pacboost.boosters.majority import BROKEN
from pacboost.bounds.training import training_error
from pacboost.errors import NoEdgeWarning, NotCertified, OneClassWarning, ParameterError
from pacboost.estimators.boosting.certifying import CertifyingMixin
from pacboost.estimators.boosting.fit import BoostingFit, PreparedFit, Recipe
from pacboost.estimators.fitted.vote import VoteClassifier
from pacboost.estimators.inputs.division import CALIBRATE, Apart, Division
from pacboost.estimators.inputs.examples import (
    Examples,
    has_one_class,
    read_examples,
    read_known,
    read_validation,
    split_by_class,
    training_sample,
)
from pacboost.estimators.inputs.parameters import integer, real_number
from pacboost.estimators.inputs.tables import open_table, warn_of_dense
from pacboost.hypotheses.digest import vote_digest
from pacboost.hypotheses.stump import StumpRule
from pacboost.learners.function import FunctionLearner
from pacboost.learners.learner import Learner
from pacboost.learners.stump import Stump
from pacboost.models.calibration import calibrators
from pacboost.models.model import Model
from pacboost.samples.fingerprint import fingerprint
from pacboost.sources.levels import NO_LEVELS
from pacboost.sources.table import Table
from pacboost.training.metrics import Metric, metric
from pacboost.training.run.loop import NO_EDGE, Run

COUNTED = (
    "certify='train' counts stumps that have one vote each, for two classes; use "
    "AdaBoostClassifier() for that, or certify='holdout' with any learner"
)


class Boosting(BoostingFit, CertifyingMixin, VoteClassifier):
    """A classifier that boosts; what it boosts with is said by ``_means``."""

    random_state: Any
    max_bins: int
    class_weight: Any = None
    calibrate: str | None

    @abstractmethod
    def _means(self, examples: Examples) -> Recipe:
        """Choose learner, booster and the number of rounds."""

    @abstractmethod
    def _inner_estimator(self) -> Any:
        """Give the scikit-learn classifier that is boosted, if one is."""

    def _prepare(self, X: Any, y: Any, sample_weight: Any, X_val: Any, y_val: Any) -> PreparedFit:
        """Check everything, and set up the run."""
        seed = int(check_random_state(self.random_state).randint(2**31))
        divided = self._divide(X, y, sample_weight, seed)
        examples, prior = self._read_rows(divided, sample_weight)
        read, means = examples.table, self._means(examples)
        if examples.table.entries is not None and not means.learner.sparse:
            warn_of_dense(examples.table)
        self._refuse_several_labels(means.booster)
        self._refuse_to_count(means, examples)
        apart = divided.apart if prior is None else None
        if apart is not None:
            apart = self._watch_apart(apart, divided, X_val)
        examples, calibrating = self._hold_for_calibration(examples, seed)
        everyone = examples
        examples, held = self._hold_back(examples, X_val, y_val, seed)
        self._remember_all(read, divided.apart, held)

        def work(means: Recipe, examples: Examples, held: Examples | None) -> PreparedFit:
            examples = examples.counting()
            sample = training_sample(
                examples,
                self.classes_,
                integer("max_bins", self.max_bins),
                codes=means.learner.codes,
                bins_from=prior or examples,
            )
            if has_one_class(sample):
                constant = _constant_learner(int(sample.signs[0, 0]))
                means = replace(means, learner=constant, booster=AdaBoost())
            run = self._set_up(means, sample, seed, held, self.classes_)
            return PreparedFit(run, means.rounds, examples, apart, prior, calibrating)

        first = work(means, examples, held)
        if held is None or X_val is not None or not self._refits(everyone):
            return first
        return replace(first, again=lambda n: work(replace(means, rounds=n), everyone, None))

    def _read_rows(self, divided: Division, sample_weight: Any) -> tuple[Examples, Examples | None]:
        """Read the rows to learn from; with "train", the rows set apart give all else before."""
        prior: Examples | None = None
        if self.certify == "train":
            assert divided.apart is not None
            prior, self.classes_ = read_examples(self, divided.apart.X, divided.apart.y, None)
            if prior.signs.shape[1] > 1:
                raise NotCertified(COUNTED)
            examples = read_known(self, divided.X, divided.y, self.classes_, self.class_weight)
        else:
            examples, self.classes_ = read_examples(
                self,
                self._learned(divided.X),
                divided.y,
                sample_weight if divided.apart is None else None,
                self.class_weight,
            )
        if divided.apart is not None and examples.weights is not None:
            self._refuse_weights()
        self._several_labels = examples.signs.shape[1] > 1 and examples.labels is None
        return replace(examples, numbers=divided.rows), prior

    def _learned(self, X: Any) -> Any:
        """Learn how rows are read from those to learn from; here the levels, as they are opened."""
        return X

    def _remember_all(self, table: Table, apart: Apart | None, held: Examples | None) -> None:
        """Remember all rows that the fit was given, those set apart included."""
        tables = [table] if held is None else [table, held.table]
        if apart is not None:
            tables.append(open_table(self, apart.X, reset=False))
        self._remember(*tables)

    def _refuse_several_labels(self, booster: Booster[Any]) -> None:
        if self._several_labels and booster.multiclass not in ("mh", "pairs"):
            raise ParameterError(
                f"y holds several labels a row, and {booster.name} with multiclass="
                f"{booster.multiclass!r} takes one; use booster='adaboost' with multiclass='mh'"
            )

    def _refuse_to_count(self, means: Recipe, examples: Examples) -> None:
        """Say before the work, not after it, that a vote is not one that can be counted."""
        if self.certify == "train" and self.calibrate is not None:
            raise ParameterError(
                "certify='train' rounds the votes, so no calibration fits them; set calibrate=None"
            )
        votes = means.booster.plain and not isinstance(means.booster, FinalTable)
        stumps = isinstance(means.learner, Stump) and votes
        if self.certify == "train" and not (stumps and examples.signs.shape[1] == 1):
            raise NotCertified(COUNTED)

    def _hold_for_calibration(
        self, examples: Examples, seed: int
    ) -> tuple[Examples, Examples | None]:
        if self.calibrate is None:
            return examples, None
        if self.calibrate not in calibrators.NAMES:
            allowed = ", ".join(repr(name) for name in calibrators.NAMES)
            raise ParameterError(f"calibrate is {self.calibrate!r}; it may be {allowed} or None")
        if self._several_labels:
            raise ParameterError("calibrate is for one label a row; set calibrate=None")
        share = real_number("validation_fraction", self.validation_fraction)
        return split_by_class(examples, "validation_fraction", share, seed + CALIBRATE)

    def _read_validation(self, X: Any, y: Any) -> Examples:
        return read_validation(self, X, y, self.classes_)

    def _metric(self, booster: Booster[Any]) -> Metric:
        return metric(self.eval_metric, booster.potential)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = self._inner_estimator()
        foreign = isinstance(inner, BaseEstimator)
        tags.input_tags.allow_nan = not foreign or get_tags(inner).input_tags.allow_nan
        tags.input_tags.sparse = True
        return tags

    def _keep(self, work: PreparedFit) -> None:
        """Turn the finished rounds into a model with its certificate."""
        run, table = work.run, work.run.sample.table
        ledger, vote = run.ledger(), run.vote()
        ledger.vote_digest = vote_digest(vote)
        try:
            certificate = training_error(ledger)
        except NotCertified:
            certificate = None
        self.model_ = Model(
            self.classes_,
            table.n_columns,
            table.names,
            run.sample.bins,
            vote,
            ledger,
            certificate,
            getattr(self, "levels_", NO_LEVELS),
            self._calibrated(work),
            fingerprint=fingerprint(run.sample),
        )
        self.model_ = self._as_read(self.model_)
        self._certify_new_examples(work)

    def _as_read(self, model: Model) -> Model:
        """Add how rows are read before they are a table, where they are texts."""
        return model

    def _calibrated(self, work: PreparedFit) -> calibrators.Calibration | None:
        """Fit the calibration on rows held back for it, and measure how far it is off.

        The error is measured on halves of those rows that did not take part in the fit.
        """
        self.__dict__.pop("calibration_error_", None)
        rows = work.calibrating
        if rows is None or self.classes_.size == 1 or self.calibrate is None:
            return None
        scores = work.run.vote().scores(rows.table)
        labels = rows.classes()
        fitted = calibrators.fit(self.calibrate, scores, labels, rows.weights)
        self.calibration_error_ = calibrators.crossed_error(
            self.calibrate, scores, labels, rows.weights
        )
        return fitted

    def _warn(self, run: Run) -> None:
        if self.classes_.size == 1:
            only = self.classes_.tolist()[0]
            warnings.warn(
                f"y holds one class only ({only!r}); the classifier is constant",
                OneClassWarning,
                stacklevel=3,
            )
        elif not run.done:
            warnings.warn(
                "the weak learner found no rule better than guessing, so the vote is empty and "
                "every prediction is a tie; give it other features or a richer weak learner",
                NoEdgeWarning,
                stacklevel=3,
            )
        elif run.stopped == NO_EDGE and all(len(d.hypothesis.values) == 1 for d in run.done):
            warnings.warn(
                f"no split of the {run.sample.n_rows} rows was found, so every prediction is the "
                "same; give more rows, other features, or a smaller min_leaf_rows",
                NoEdgeWarning,
                stacklevel=3,
            )
        elif BROKEN in run.stopped:
            warnings.warn(
                f"boosting ended before its time (rounds done: {len(run.done)}): {run.stopped}",
                NoEdgeWarning,
                stacklevel=3,
            )


def _constant_learner(sign: int) -> Learner:
    """Answer for samples of one class."""
    constant = StumpRule.constant(sign)
    return FunctionLearner(lambda X, y, weights: constant)
