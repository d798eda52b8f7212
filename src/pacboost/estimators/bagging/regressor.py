"""Bagged regressors behind the scikit-learn API."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin, is_classifier
from sklearn.metrics import r2_score
from sklearn.tree import DecisionTreeRegressor

from pacboost.bounds.certificate import Certificate
from pacboost.errors import NotCertified, ParameterError
from pacboost.estimators.bagging.base import BaggingBase
from pacboost.estimators.bagging.classifier import BaggingClassifier
from pacboost.estimators.fitted.decisions import calibrated
from pacboost.estimators.inputs.aliases import accepts_aliases
from pacboost.estimators.inputs.documented import documented_like
from pacboost.estimators.inputs.examples import LabelledRows, read_numbers
from pacboost.learners.learner import Learner
from pacboost.learners.sklearn import SklearnLearner
from pacboost.numerics.same_bits import mean_of
from pacboost.training.bags.bagging import Bagging
from pacboost.training.bags.bags import Bags
from pacboost.training.bags.out_of_bag import Averages


@accepts_aliases
@documented_like(BaggingClassifier)
class BaggingRegressor(RegressorMixin, BaggingBase):  # type: ignore[misc]
    """The average of members, each fitted on a different bag of rows (Breiman 1996).

    A fit certifies nothing, because a number is never simply right or wrong; ``certify_intervals``
    makes intervals that hold the number as often as was asked for, by rows that are new.

    Parameters
    ----------
    estimator : learner, default=None
        A scikit-learn regressor, "stump" or "tree", or a tree or stump of pacboost. None: a tree
        grown until its leaves are pure, as in a forest (with some of the features only, one of
        scikit-learn's).
    settle : int or None, default=None
        Stop when the mean squared error out of bag has changed by no more than its standard error
        over so many members.
    warm_start : bool, default=False
        Go on from the last fit: it ends as one longer fit would have.

    Attributes
    ----------
    estimators_, estimators_features_, n_features_in_, feature_names_in_, stopped_
        As in BaggingClassifier.
    oob_prediction_ : array of shape (rows,)
        Average of the members that did not see a row; NaN for rows that are in every bag.
    oob_score_ : float
        R² of these averages: an estimate, no bound.

    Examples
    --------
    >>> X = np.linspace(0, 1, 200)[:, None]
    >>> y = np.sin(9 * X[:, 0])
    >>> round(BaggingRegressor(random_state=0).fit(X, y).oob_score_, 3)
    0.999
    """

    certify_intervals = calibrated.certify_intervals
    predict_interval = calibrated.predict_interval
    intervals_ = property(calibrated.kept_intervals)

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Average what the members predict."""
        return mean_of(self._answers(X))

    def spread(self, X: Any) -> NDArray[np.float64]:
        """Give the standard deviation of what the members predict, for every row."""
        answers = list(self._answers(X))
        mean = mean_of(answers)
        return np.sqrt(mean_of((answer - mean) ** 2 for answer in answers))

    @property
    def certificate_(self) -> Certificate:
        """Raises NotCertified: the theorems bound classification errors only."""
        raise NotCertified(
            "the certificates of a fit bound how often a vote of classes errs; numbers are never "
            "simply right or wrong. certify_intervals certifies intervals by new rows; oob_score_ "
            "is an estimate"
        )

    def _read(self, X: Any, y: Any) -> LabelledRows:
        return read_numbers(self, X, y, None)

    def _targets(self, examples: LabelledRows) -> tuple[NDArray[Any], int]:
        assert examples.targets is not None
        return examples.targets, 0

    def _default(self) -> Any:
        return DecisionTreeRegressor()

    def _learner(self) -> Learner:
        learner = super()._learner()
        if isinstance(learner, SklearnLearner) and is_classifier(learner.estimator):
            raise ParameterError(
                f"estimator is {learner.estimator!r}, which names classes; take a regressor, or "
                "BaggingClassifier"
            )
        return learner

    def _ask_outside(
        self, targets: NDArray[Any], most: int, bags: Bags, counted: NDArray[np.bool_] | None
    ) -> Averages:
        return Averages(targets)

    def _keep(self, run: Bagging) -> None:
        super()._keep(run)
        for name in ("oob_score_", "oob_prediction_"):
            self.__dict__.pop(name, None)  # of an earlier fit
        if isinstance(run.outside, Averages):
            self.oob_prediction_ = run.outside.mean()
            seen = run.outside.counts > 0
            if np.count_nonzero(seen) > 1:
                self.oob_score_ = r2_score(run.outside.truth[seen], self.oob_prediction_[seen])
