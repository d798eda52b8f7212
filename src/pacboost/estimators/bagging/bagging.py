"""Bagged classifiers behind the scikit-learn API, and the certificates that go with them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin, is_classifier, is_regressor
from sklearn.metrics import r2_score
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from pacboost.bounds import out_of_bag
from pacboost.bounds.certificate import Certificate
from pacboost.errors import DataError, NotCertified, ParameterError
from pacboost.estimators.bagging import certifying
from pacboost.estimators.bagging.base import BaggingBase
from pacboost.estimators.bagging.certifying import NOT_ASKED, out_of_bag_tally, shares_of
from pacboost.estimators.inputs.division import Division, counted
from pacboost.estimators.inputs.documented import accepts_aliases, documented, documented_like
from pacboost.estimators.inputs.examples import LabelledRows, read_examples, read_numbers
from pacboost.estimators.inputs.warn import warn_of_one_class
from pacboost.learners.learner import Learner
from pacboost.learners.sklearn import SklearnLearner
from pacboost.numerics.same_bits import mean_of
from pacboost.training.bags.bagging import TORN, Bagging
from pacboost.training.bags.bags import Averages, Bags, OutOfBagVotes


@accepts_aliases
@documented
@dataclass(eq=False, repr=False, kw_only=True)
class BaggingClassifier(ClassifierMixin, BaggingBase):  # type: ignore[misc]
    """The plurality vote of members, each fitted on a different bag of rows (Breiman 1996).

    Bagging helps unstable learners, whose classifier changes much with a few rows. The rows outside
    a bag are new to its member, so they give an estimate of the error, and with ``certify`` a
    certificate. Rows cannot have weights, because bags draw all rows alike: repeat rows instead
    (with ``certify`` they count once), or give the learner a
    ``class_weight``.

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
        Stop when the error out of bag has changed by no more than its standard error over so many
        members.
    certify : str or None, default=None
        "oob" certifies by the mistakes of members out of bag, with the bound that suits the number
        of rows; "first_order", "tandem" and "cantelli" name one. "holdout" holds a share
        ``holdout`` of the rows back, which gives a much tighter bound, often a third, for a vote
        made from fewer rows.
    holdout : float, default=0.2
        The share of rows that ``certify="holdout"`` holds out. More of them give a tighter bound,
        and leave fewer to learn from.
    max_bins : int, default=255
        The most bins of values per feature, for learners of pacboost that read codes. Fewer are
        faster, more are finer.
    warm_start : bool, default=False
        Go on from the last fit: it ends as one longer fit would have. With ``certify="holdout"``
        the k-th certificate pays delta/(k(k + 1)), the first one delta/2.
    callbacks : sequence of functions, default=None
        Each is called after every member with ``Made(members, error)``; a true answer stops.
    n_jobs : int or None, default=None
        Threads; None and -1 mean all cores. The vote does not depend on it.

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

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class with the most votes; a tie goes to the first class."""
        votes = self.votes(X)
        named: NDArray[Any] = self.classes_[votes.argmax(axis=1)]
        return named

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the share of the votes for each class."""
        votes = self.votes(X)
        shares: NDArray[np.float64] = votes / votes.sum(axis=1, keepdims=True)
        return shares

    def votes(self, X: Any) -> NDArray[np.int64]:
        """Count the votes for each class, (rows, classes)."""
        counted: NDArray[np.int64] | None = None
        for named in self._answers(X):
            if counted is None:
                counted = np.zeros((named.size, self.classes_.size), dtype=np.int64)
            counted[np.arange(named.size), named] += 1
        assert counted is not None  # a fit makes one member at least
        return counted

    @property
    def certificate_(self) -> Certificate:
        """The bound that ``certify`` asked for; raises NotCertified if there is none."""
        self._made()
        way, delta = self._asked
        if way is None:
            raise NotCertified(NOT_ASKED)
        if way == "holdout":
            return self._held
        changed = TORN if self._torn else ""
        chosen = None if way == "oob" else way
        found = out_of_bag.certificate(self.out_of_bag_, delta, chosen, changed=changed)
        return counted(found, self._examples)

    def _read(self, X: Any, y: Any) -> LabelledRows:
        examples, self.classes_ = read_examples(self, X, y, None)
        if examples.labels is None and examples.signs.shape[1] > 1:
            raise DataError("y has several labels a row; bag one classifier for each label")
        return examples

    def _warn(self) -> None:
        warn_of_one_class(self.classes_)

    def _divide(self, X: Any, y: Any, seed: int) -> Division:
        divided = certifying.divide(self, X, y, seed)
        self._apart, self._examples = divided.apart, divided.examples
        return divided

    def _number_look(self, *, goes_on: bool) -> None:
        certifying.number_look(self, self._apart, goes_on=goes_on)

    def _targets(self, examples: LabelledRows) -> tuple[NDArray[Any], int]:
        most = self.classes_.size
        return np.minimum(examples.classes(), most - 1), most

    def _default(self) -> Any:
        return DecisionTreeClassifier()

    def _learner(self) -> Learner:
        learner = super()._learner()
        if isinstance(learner, SklearnLearner) and is_regressor(learner.estimator):
            raise ParameterError(
                f"estimator is {learner.estimator!r}, which predicts numbers; take a classifier, "
                "or BaggingRegressor"
            )
        return learner

    @property
    def _certifies_outside(self) -> bool:
        return self.certify not in (None, "holdout")

    def _ask_outside(
        self, targets: NDArray[Any], most: int, bags: Bags, counted: NDArray[np.bool_] | None
    ) -> OutOfBagVotes:
        classes = self.classes_.size
        return out_of_bag_tally(self.certify, targets, most, classes, bags, counted)

    def _keep(self, run: Bagging) -> None:
        super()._keep(run)
        self._asked = self.certify, self.delta
        if self._apart is not None:
            votes = self.votes(self._apart.X)
            self._held = certifying.certify_by(self, self._apart, votes)
            self._apart = None
        for name in ("out_of_bag_", "oob_score_", "oob_decision_function_"):
            self.__dict__.pop(name, None)  # of an earlier fit
        if isinstance(run.outside, OutOfBagVotes):
            self.out_of_bag_ = run.outside.result()
            self.oob_decision_function_ = shares_of(run.outside.votes)
            if self.out_of_bag_.vote_error is not None:
                self.oob_score_ = 1 - self.out_of_bag_.vote_error


# Bagged regressors behind the scikit-learn API.


@accepts_aliases
@documented_like(BaggingClassifier)
class BaggingRegressor(RegressorMixin, BaggingBase):  # type: ignore[misc]
    """The average of members, each fitted on a different bag of rows (Breiman 1996).

    A fit certifies nothing, because a number is never simply right or wrong; ``pacboost.intervals``
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

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Average what the members predict."""
        return mean_of(self._answers(X))

    def spread(self, X: Any) -> NDArray[np.float64]:
        """Return the standard deviation of what the members predict, for every row."""
        answers = list(self._answers(X))
        mean = mean_of(answers)
        return np.sqrt(mean_of((answer - mean) ** 2 for answer in answers))

    @property
    def certificate_(self) -> Certificate:
        """Raises NotCertified: the theorems bound classification errors only."""
        raise NotCertified(
            "the certificates of a fit bound how often a vote of classes errs; numbers are never "
            "simply right or wrong. pacboost.intervals certifies intervals by new rows; oob_score_ "
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
