"""Bagged classifiers behind the scikit-learn API, and the certificates that go with them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, is_regressor
from sklearn.tree import DecisionTreeClassifier

from pacboost.bounds import out_of_bag
from pacboost.bounds.certificate import Certificate
from pacboost.errors import DataError, NotCertified, OneClassWarning, ParameterError
from pacboost.estimators.bagging.base import BaggingBase, Callback
from pacboost.estimators.fitting.looks import Looks, look_at, next_look
from pacboost.estimators.inputs import division
from pacboost.estimators.inputs.division import Apart, Division
from pacboost.estimators.inputs.examples import Examples, numbers_of, read_examples
from pacboost.estimators.inputs.parameters import real_number
from pacboost.estimators.inputs.tables import open_table
from pacboost.learners.learner import Learner
from pacboost.learners.sklearn import SklearnLearner
from pacboost.ledgers.out_of_bag import OutOfBag
from pacboost.numerics.checks import probability
from pacboost.numerics.mistakes import wrong_classes
from pacboost.samples.hidden_copies import refuse_hidden_copies
from pacboost.training.bags.bagging import TORN, Bagging
from pacboost.training.bags.bags import Bags
from pacboost.training.bags.out_of_bag import OutOfBagVotes

WAYS = ("oob", *out_of_bag.WAYS, "holdout")


class BaggingClassifier(BaggingBase, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The plurality vote of members, each made from a bag of rows of its own (Breiman 1996).

    It helps learners that are unstable: those that a few other rows would have made into another
    classifier. Rows outside a bag are new to its member; they give an estimate of the error for
    nothing, and with ``certify`` a certificate. Rows have no weights, for bags draw them alike:
    repeat rows (not with ``certify``: copies are no independent rows), or give the learner a
    ``class_weight``.

    Parameters
    ----------
    estimator : learner, default=None
        A scikit-learn classifier, "stump" or "tree", or a learner of pacboost. None: a tree
        grown until its leaves are pure, as in a forest (with some of the features only, one of
        scikit-learn's).
    n_estimators : int, default=100
        The most members to make.
    max_samples, max_features : int or float, default=1.0
        How many rows are drawn for a bag and how many features it shows: a share, or a number.
    bootstrap, bootstrap_features : bool, default=True and False
        Whether rows (features) are drawn with replacement. ``bootstrap=False`` with a
        ``max_samples`` below 1 is pasting.
    oob_score : bool or None, default=None
        Ask members about the rows outside their bags; None: if there are some.
    settle : int or None, default=None
        Stop when, over so many members, the error out of bag moved by no more than its own
        standard error.
    certify : str or None, default=None
        "oob" certifies by the mistakes of members out of bag, with the bound that suits the number
        of rows; "first_order", "tandem" and "cantelli" name one. "holdout" holds a share
        ``holdout`` of the rows back, which gives a tighter bound for a vote made from fewer rows.
    holdout, delta : float, default=0.2 and 0.05
    max_bins : int, default=255
        For learners of pacboost that read codes.
    warm_start : bool, default=False
        Go on from the last fit: it ends as one longer fit would have. With ``certify="holdout"``
        the k-th certificate pays delta/(k(k + 1)), the first one delta/2.
    callbacks : sequence of functions, default=None
        Each is called after every member with ``Made(members, error)``; a true answer stops.
    n_jobs : int or None, default=None
        Threads; None and -1 mean all cores. The vote does not depend on it.
    random_state : int, RandomState or None, default=None
    verbose : bool, default=False
        Show a progress bar.

    Attributes
    ----------
    estimators_, estimators_features_ : the members, and the features each looks at
    classes_, n_features_in_, feature_names_in_ : as in scikit-learn
    stopped_ : why no more members were made
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

    classes_: NDArray[Any]
    out_of_bag_: OutOfBag
    oob_score_: float
    oob_decision_function_: NDArray[np.float64]
    _apart: Apart | None = None
    _looks: Looks | None = None
    _look = 0
    """Which look at the rows set apart the certificate pays for."""

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 100,
        *,
        max_samples: float = 1.0,
        max_features: float = 1.0,
        bootstrap: bool = True,
        bootstrap_features: bool = False,
        oob_score: bool | None = None,
        settle: int | None = None,
        certify: str | None = None,
        holdout: float = 0.2,
        delta: float = 0.05,
        max_bins: int = 255,
        warm_start: bool = False,
        callbacks: Sequence[Callback] | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.bootstrap_features = bootstrap_features
        self.oob_score = oob_score
        self.settle = settle
        self.certify = certify
        self.holdout = holdout
        self.delta = delta
        self.max_bins = max_bins
        self.warm_start = warm_start
        self.callbacks = callbacks
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def predict(self, X: Any) -> NDArray[Any]:
        """Name the class with the most votes; of several, the first."""
        votes = self.votes(X)
        named: NDArray[Any] = self.classes_[votes.argmax(axis=1)]
        return named

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Give the share of the votes for each class."""
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
        """The bound that ``certify`` asked for; refuses in words where it does not hold."""
        self._made()
        way, delta = self._asked
        if way is None:
            raise NotCertified(
                "nothing was certified: fit with certify='oob' to certify by the rows outside the "
                "bags, or certify='holdout' to hold rows back"
            )
        if way == "holdout":
            return self._held
        changed = TORN if self._torn else ""
        chosen = None if way == "oob" else way
        return out_of_bag.certificate(self.out_of_bag_, delta, chosen, changed=changed)

    def _read(self, X: Any, y: Any) -> Examples:
        examples, self.classes_ = read_examples(self, X, y, None)
        if examples.labels is None and examples.signs.shape[1] > 1:
            raise DataError("y has several labels a row; bag one classifier for each label")
        return examples

    def _warn(self) -> None:
        if self.classes_.size == 1:
            warnings.warn(
                f"y holds one class only ({self.classes_.tolist()[0]!r}); the classifier is "
                "constant",
                OneClassWarning,
                stacklevel=3,
            )

    def _divide(self, X: Any, y: Any, seed: int) -> Division:
        if self.certify not in (None, *WAYS):
            raise ParameterError(
                f"certify is {self.certify!r}; it may be {', '.join(map(repr, WAYS))} or None"
            )
        probability("delta", self.delta)
        divided = Division(X, y)
        if self._certifies_outside:
            refuse_hidden_copies(X)
        if self.certify == "holdout":
            share = real_number("holdout", self.holdout)
            divided = division.divide(X, y, "holdout", share, seed + division.CERTIFY)
        self._apart = divided.apart
        return divided

    def _watch_apart(self, *, goes_on: bool) -> None:
        apart = self._apart
        if apart is not None:
            now = look_at(self, (open_table(self, apart.X, reset=False), apart.y))
            self._looks = next_look(self._looks, now, goes_on=goes_on)

    def _targets(self, examples: Examples) -> tuple[NDArray[Any], int]:
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

    def _tell_outside(
        self, targets: NDArray[Any], most: int, bags: Bags, counted: NDArray[np.bool_] | None
    ) -> OutOfBagVotes:
        rows = bags.rows if counted is None else int(np.count_nonzero(counted))
        way = out_of_bag.way_for(rows) if self.certify == "oob" else self.certify
        return OutOfBagVotes(
            targets, most, self.classes_.size,
            outside=bags.chance_outside, pairs=way in ("tandem", "cantelli"), counted=counted,
        )  # fmt: skip

    def _keep(self, run: Bagging) -> None:
        super()._keep(run)
        self._asked = self.certify, self.delta
        if self._apart is not None:
            votes = self.votes(self._apart.X)
            own, known = numbers_of(self._apart.y, self.classes_)
            look = 0 if self._looks is None else self._looks.number
            wrong = wrong_classes(votes, own) | ~known
            self._held = self._apart.certificate(wrong, self.delta, look)
            self._apart = None
        for name in ("out_of_bag_", "oob_score_", "oob_decision_function_"):
            self.__dict__.pop(name, None)  # of an earlier fit
        if isinstance(run.outside, OutOfBagVotes):
            self.out_of_bag_ = run.outside.result()
            cast = run.outside.votes
            total = cast.sum(axis=1, keepdims=True)
            shares = np.full(cast.shape, np.nan)
            self.oob_decision_function_ = np.divide(cast, total, out=shares, where=total > 0)
            if self.out_of_bag_.vote_error is not None:
                self.oob_score_ = 1 - self.out_of_bag_.vote_error
