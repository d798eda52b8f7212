"""Bagged classifiers and regressors behind the scikit-learn API."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin, is_classifier, is_regressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.validation import check_is_fitted

from pacboost.bounds.certificate import Certificate
from pacboost.estimators.bagging import outside
from pacboost.estimators.bagging.answers import Classes, NumberAnswers, decided, shares_of
from pacboost.estimators.bagging.members import BaggingEstimator
from pacboost.estimators.fitted.predicting import accuracy, r_squared
from pacboost.estimators.inputs.aliases import accepts_aliases
from pacboost.estimators.inputs.documented import documented, documented_like
from pacboost.estimators.inputs.rows import takes_rows
from pacboost.ledgers.out_of_bag import OutOfBag
from pacboost.models.model import without_rounds
from pacboost.numerics.same_bits import mean_of


@accepts_aliases
@documented
@dataclass(eq=False, repr=False, kw_only=True)
class BaggingClassifier(ClassifierMixin, BaggingEstimator):  # type: ignore[misc]
    """The plurality vote of members, each fitted on a different bag of rows (Breiman 1996).

    Bagging helps unstable learners, whose classifier changes much with a few rows. The rows outside
    a bag are new to its member, so they give an estimate of the error, and with ``certify`` a
    certificate. Bags draw a row in proportion to its ``sample_weight``, and members learn from what
    was drawn; rows of weight 0 are left out. ``certify="holdout"`` counts rows without weights, and
    certificates out of bag do not allow them.

    Parameters
    ----------
    estimator : learner, default=None
        A scikit-learn classifier, "stump" or "tree", or a learner of pacboost. None: a tree
        grown until its leaves are pure, as in a forest (with some of the features only, one of
        scikit-learn's).
    n_estimators : int, default=100
        The maximum number of members. More never overfit; fewer are faster.
    max_samples : int or float, default=1.0
        How many rows are drawn for a bag: a share (float) or a number (int). Fewer are faster, and
        make members differ more.
    max_features : int or float, default=1.0
        How many features are drawn for a bag: a share (float) or a number (int). Fewer make members
        differ more.
    bootstrap : bool, default=True
        Whether rows are drawn with replacement. False with a ``max_samples`` below 1 is pasting.
    bootstrap_features : bool, default=False
        Whether features are drawn with replacement.
    oob_score : bool or None, default=None
        Compute predictions out of bag; None: if bags leave rows out.
    settle : int or None, default=None
        Stop when the out-of-bag error has changed by no more than its standard error over this
        number of members.
    certify : str or None, default=None
        "oob" certifies by the mistakes of members out of bag, with the bound that suits the number
        of rows; "first_order", "tandem" and "cantelli" name one. "holdout" holds a share
        ``holdout`` of the rows back, which gives a much tighter bound, often a third, for a vote
        made from fewer rows.
    max_bins : int, default=255
        The most bins of values per feature, for learners of pacboost that read codes. Fewer are
        faster, more are finer.
    callbacks : sequence of functions, default=None
        Each is called after every member with ``Made(members, error)``; a true answer stops.

    Attributes
    ----------
    estimators_, estimators_features_ : the members, and the features each looks at
    classes_, n_features_in_, feature_names_in_ : as in scikit-learn
    stopped_ : why the fit stopped
    out_of_bag_ : OutOfBag
        The counts that a certificate needs.
    oob_score_ : float
        Accuracy of the votes out of bag: an estimate, no bound.
    oob_decision_function_ : array of shape (rows, classes)
        Shares of the votes out of bag; NaN for rows that are in every bag.
    certificate_ : Certificate

    Examples
    --------
    >>> generator = np.random.default_rng(0)
    >>> X = generator.normal(size=(1000, 2))
    >>> y = X[:, 0] * X[:, 1] > 0
    >>> model = BaggingClassifier(certify="oob", random_state=0).fit(X, y)
    >>> round(model.oob_score_, 3)
    0.998
    >>> model.certificate_.claim
    'The plurality vote of 100 members is wrong on at most 9.28 % of new examples.'
    """

    certify: str | None = None
    holdout: float = 0.2
    delta: float = 0.05

    _answers_kind, _default = Classes, DecisionTreeClassifier
    _strange = is_regressor, "predicts numbers; take a classifier, or BaggingRegressor"

    @property
    def certificate_(self) -> Certificate:
        """The certificate that ``certify`` requests; raises NotCertified if there is none."""
        return outside.certificate(self)

    @property
    def out_of_bag_(self) -> OutOfBag:
        """The counts that a certificate by out-of-bag rows needs."""
        return outside.out_of_bag(self)

    @property
    def oob_decision_function_(self) -> NDArray[np.float64]:
        """Shares of the out-of-bag votes."""
        return outside.oob_decision_function(self)

    @takes_rows
    def predict(self, X: object) -> NDArray[Any]:
        """Return the class with the most votes; a tie goes to the first class."""
        return decided(self.votes(X), self.classes_)

    @takes_rows
    def predict_proba(self, X: object) -> NDArray[np.float64]:
        """Return the share of the votes for each class."""
        return shares_of(self.votes(X))

    @takes_rows
    def votes(self, X: object) -> NDArray[np.int64]:
        """Count the votes for each class, (rows, classes)."""
        votes: NDArray[np.int64] | None = None
        for classes in self._answers(X):
            if votes is None:
                votes = np.zeros((classes.size, self.classes_.size), dtype=np.int64)
            votes[np.arange(classes.size), classes] += 1
        assert votes is not None  # a fit makes one member at least
        return votes

    @takes_rows
    def score(self, X: object, y: object, sample_weight: object = None) -> float:
        """Return the accuracy."""
        return accuracy(self, X, y, sample_weight)

    @property
    def sentence_(self) -> str:
        """The certificate in a sentence, or what to call to get one."""
        from pacboost.estimators.fitted.judging import sentence_of

        check_is_fitted(self)
        return sentence_of(self._certificate, without_rounds("bagging"))


@accepts_aliases
@documented_like(BaggingClassifier)
class BaggingRegressor(RegressorMixin, BaggingEstimator):  # type: ignore[misc]
    """The average of members, each fitted on a different bag of rows (Breiman 1996).

    A fit certifies nothing, because a number is never simply right or wrong; ``pacboost.intervals``
    makes prediction intervals with certified coverage from new rows.

    Parameters
    ----------
    estimator : learner, default=None
        A scikit-learn regressor, "stump" or "tree", or a tree or stump of pacboost. None: a tree
        grown until its leaves are pure, as in a forest (with some of the features only, one of
        scikit-learn's).
    settle : int or None, default=None
        Stop when the out-of-bag mean squared error has changed by no more than its standard error
        over this number of members.
    warm_start : bool, default=False
        Continue the last fit, with the same rows and parameters and a larger ``n_estimators``: it
        ends as one longer fit would have.

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

    _answers_kind, _default = NumberAnswers, DecisionTreeRegressor
    _strange = is_classifier, "names classes; take a regressor, or BaggingClassifier"

    @property
    def certificate_(self) -> Certificate:
        """Raises NotCertified: the theorems bound classification errors only."""
        raise outside.no_certificate()

    @property
    def oob_prediction_(self) -> NDArray[np.float64]:
        """Means of the out-of-bag predictions."""
        return outside.oob_prediction(self)

    @takes_rows
    def predict(self, X: object) -> NDArray[np.float64]:
        """Return the average prediction of the members."""
        return mean_of(self._answers(X))

    @takes_rows
    def spread(self, X: object) -> NDArray[np.float64]:
        """Return the standard deviation of the members' predictions, for every row."""
        answers = list(self._answers(X))
        mean = mean_of(answers)
        return np.sqrt(mean_of((answer - mean) ** 2 for answer in answers))

    @takes_rows
    def score(self, X: object, y: object, sample_weight: object = None) -> float:
        """Return the R² of the predictions."""
        return r_squared(self, X, y, sample_weight)
