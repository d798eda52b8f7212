"""Forests that predict classes: votes of trees, the error out of bag, and certificates."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.metrics import r2_score

from pacboost.bounds import out_of_bag
from pacboost.bounds.certificate import Certificate
from pacboost.bounds.held_out import HeldOut
from pacboost.errors import DataError, NotCertified
from pacboost.estimators.bagging import certifying
from pacboost.estimators.bagging.bags import rows_to_count
from pacboost.estimators.bagging.certifying import NOT_ASKED, out_of_bag_tally, shares_of
from pacboost.estimators.forests.base import ForestBase
from pacboost.estimators.inputs import division
from pacboost.estimators.inputs.division import Division, refuse_weights
from pacboost.estimators.inputs.examples import (
    LabelledRows,
    label_rows,
    read_examples,
    read_numbers,
)
from pacboost.estimators.inputs.labels import read_targets
from pacboost.estimators.inputs.parameters import threads
from pacboost.estimators.inputs.tables import open_table
from pacboost.estimators.inputs.warn import warn_of_one_class
from pacboost.hypotheses.vote import vote_digest
from pacboost.kernels.runtime.threads import using
from pacboost.kernels.same_bits import log
from pacboost.numerics.same_bits import product
from pacboost.samples.sample import Sample, signs_of
from pacboost.training.bags.bagging import TORN, Bagging
from pacboost.training.bags.bags import Averages, Bags, OutOfBagVotes
from pacboost.training.metrics import METRICS, Metric, regression_metric, square

MOST_CLASSES = 2**16


@dataclass(eq=False, repr=False, kw_only=True)
class ForestClassifier(ClassifierMixin, ForestBase):  # type: ignore[misc]
    """A forest whose fit leaves a ``model_`` and ``classes_``."""

    class_weight: Any = None
    certify: str | None = None
    holdout: float = 0.2
    delta: float = 0.05

    _refusal = NOT_ASKED

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class with the largest share; a tie goes to the first class.

        Where a row may have several labels, it is the set of labels with the largest share.
        """
        return self._said(self._shares(X))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Average the shares of classes in the leaves that a row falls into.

        With a certificate out of bag every tree has one vote instead, and these are their shares.
        Where a row may have several labels, the share of a label is that of the sets that hold it.
        """
        shares = self._shares(X)
        return shares if self._sets is None else product(shares, self._sets)

    @property
    def several_labels_(self) -> bool:
        """Whether a row may have several labels."""
        return self._sets is not None

    def _shares(self, X: Any) -> NDArray[np.float64]:
        """Return the share of every class, or of every set of labels."""
        table = self._open(X)
        with using(threads(self.n_jobs)):
            return self.model_.forest.shares(table)[:, : self._n_answers]

    def _said(self, shares: NDArray[Any]) -> NDArray[Any]:
        """Return the answer with the largest share."""
        answers: NDArray[Any] = self.classes_ if self._sets is None else self._sets
        said: NDArray[Any] = answers[shares.argmax(axis=1)]
        return said

    @property
    def _n_answers(self) -> int:
        return len(self.classes_ if self._sets is None else self._sets)

    @property
    def _answer_names(self) -> NDArray[Any]:
        if self._sets is None:
            return self.classes_
        return np.array(["".join(map(str, labels)) for labels in self._sets.tolist()])

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the logarithms of the shares; that of 0 is minus infinity."""
        return np.asarray(log(self.predict_proba(X)))

    @property
    def certificate_(self) -> Certificate:
        """The bound that ``certify`` asked for; raises NotCertified if there is none."""
        if not hasattr(self, "model_"):
            raise AttributeError("certificate_ is there after fit; fit first")
        if self.model_.certificate is None:
            raise NotCertified(self._refusal)
        return self.model_.certificate

    def _divide(self, X: Any, y: Any, sample_weight: Any, seed: int) -> Division:
        divided = certifying.divide(self, X, y, seed, sample_weight)
        self._apart, self._examples = divided.apart, divided.examples
        return divided

    def _number_look(self, *, goes_on: bool) -> None:
        certifying.number_look(self, self._apart, goes_on=goes_on)

    def _read(self, X: Any, y: Any, sample_weight: Any, seed: int) -> LabelledRows:
        """Read the rows; where those outside the bags certify, the others define the levels."""
        if self._certifies_outside:
            number = division.number_of_rows(X)
            others = np.flatnonzero(~rows_to_count(number, seed))
            open_table(self, division.alone(X, others), reset=True)
        examples, self.classes_ = read_examples(
            self, X, y, sample_weight, self.class_weight, reset=not self._certifies_outside
        )
        self._sets = None
        if examples.labels is None and examples.signs.shape[1] > 1:
            found, numbers = np.unique(examples.signs > 0, axis=0, return_inverse=True)
            self._sets = found.astype(np.int64)
            signs, codes = signs_of(numbers.ravel(), len(found))
            examples = replace(examples, signs=signs, labels=codes)
        if self._n_answers > MOST_CLASSES:
            raise DataError(
                f"y holds {self._n_answers} classes; a forest takes up to {MOST_CLASSES}. Are "
                "these numbers to predict? Then take the regressor"
            )
        if examples.weights is not None and self._certifies_outside:
            refuse_weights(self.certify)
        if self._apart is not None:
            self._apart = replace(self._apart, weighted=examples.weights is not None)
        return examples

    def _warn(self) -> None:
        if self._sets is None:
            warn_of_one_class(self.classes_)

    def _targets(self, examples: LabelledRows) -> tuple[NDArray[Any], int]:
        only = self._n_answers == 1
        return examples.classes() * (not only), max(2, self._n_answers)

    @property
    def _asked(self) -> tuple[Any, ...]:
        return self.certify, self.holdout, self.delta, self._equal_rows

    @property
    def _certifies_outside(self) -> bool:
        return self.certify not in (None, "holdout")

    def _ask_outside(
        self, targets: NDArray[Any], bags: Bags, counted: NDArray[np.bool_] | None
    ) -> OutOfBagVotes | Averages:
        classes = max(2, self._n_answers)
        if not self._certifies_outside:
            return Averages(targets, classes)
        return out_of_bag_tally(self.certify, targets, self.n_estimators, classes, bags, counted)

    def _keep_outside(self, outside: Any, examples: LabelledRows, rows: int) -> None:
        if isinstance(outside, OutOfBagVotes):
            self.out_of_bag_ = outside.result()
            shares = shares_of(outside.votes)
        else:
            shares = outside.mean()
        error, _ = outside.estimate()
        if error is not None:
            self.oob_score_ = 1 - error
        own = slice(None) if examples.numbers is None else examples.numbers
        self.oob_decision_function_ = np.full((rows, self.classes_.size), np.nan)
        shares = shares[:, : self._n_answers]
        self.oob_decision_function_[own] = (
            shares if self._sets is None else product(shares, self._sets)
        )

    def _keep(self, run: Bagging, examples: LabelledRows, rows: int) -> None:
        super()._keep(run, examples, rows)
        self._refusal = NOT_ASKED
        if self.certify is not None:
            try:
                made = self._certified().of(vote_digest(self.model_.forest))
                self.model_ = replace(self.model_, certificate=made)
            except NotCertified as problem:
                self._refusal = str(problem)
        self._apart = None

    def _certified(self) -> Certificate:
        if self._apart is not None:
            shares = self.model_.forest.shares(self._open(self._apart.X))
            said = self._said(shares)
            known = shares if self._sets is None else product(shares, self._sets)
            counted = HeldOut.of(self._apart.y, said, self.classes_, known)
            self.model_ = replace(self.model_, held_out=counted)
            return certifying.certify_by(self, self._apart, shares)
        changed = TORN if self._torn else ""
        if self.n_estimators > self._planned:
            changed = (
                f"{self._planned} trees were planned, and warm_start has gone on to more after a "
                "look at them. Fit afresh with the largest number that may be wanted; fewer, if "
                "the error settles, cost little"
            )
        way = None if self.certify == "oob" else self.certify
        found = out_of_bag.certificate(self.out_of_bag_, self.delta, way, changed=changed)
        return division.counted(found, self._examples)

    def _labelled(self, X: Any, y: Any) -> tuple[Sample, Metric]:
        table = self._open(X)
        if self._sets is not None:
            raise DataError(
                "permutation_importances are for one label a row, and this forest gives several; "
                "see feature_importances_"
            )
        known = label_rows(table, y, self.classes_, "y")
        return Sample(table, known.signs, labels=known.labels), METRICS["error"]


# Forests that predict numbers: means over trees, and the error out of bag.


@dataclass(eq=False, repr=False, kw_only=True)
class ForestRegressor(RegressorMixin, ForestBase):  # type: ignore[misc]
    """A forest whose fit leaves a ``model_`` that predicts numbers."""

    max_features: Any = 1.0

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Average what the trees predict."""
        table = self._open(X)
        with using(threads(self.n_jobs)):
            return self.model_.forest.numbers(table)

    def spread(self, X: Any) -> NDArray[np.float64]:
        """Return the standard deviation of what the trees predict, for every row."""
        table = self._open(X)
        with using(threads(self.n_jobs)):
            return self.model_.forest.spread(table)

    @property
    def certificate_(self) -> Certificate:
        """Raises NotCertified: the theorems bound classification errors only."""
        raise NotCertified(
            "the certificates of a fit bound how often a vote of classes errs; numbers are never "
            "simply right or wrong. pacboost.intervals certifies intervals by new rows; oob_score_ "
            "is an estimate"
        )

    def _read(self, X: Any, y: Any, sample_weight: Any, seed: int) -> LabelledRows:
        return read_numbers(self, X, y, sample_weight)

    def _targets(self, examples: LabelledRows) -> tuple[NDArray[Any], int]:
        assert examples.targets is not None
        return examples.targets, 0

    def _ask_outside(
        self, targets: NDArray[Any], bags: Bags, counted: NDArray[np.bool_] | None
    ) -> Averages:
        return Averages(targets)

    def _keep_outside(self, outside: Any, examples: LabelledRows, rows: int) -> None:
        predicted, seen = outside.mean(), outside.counts > 0
        own = slice(None) if examples.numbers is None else examples.numbers
        self.oob_prediction_ = np.full(rows, np.nan)
        self.oob_prediction_[own] = predicted
        if np.count_nonzero(seen) > 1:
            self.oob_score_ = float(r2_score(outside.truth[seen], predicted[seen]))

    def _labelled(self, X: Any, y: Any) -> tuple[Sample, Metric]:
        table = self._open(X)
        targets = read_targets(y, table.n_rows)
        signs = np.ones((table.n_rows, 1), dtype=np.int8)  # not looked at
        return Sample(table, signs, targets=targets), regression_metric("square", square)
