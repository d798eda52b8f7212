"""AdaBoost behind the scikit-learn API."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.boosters.adaboost import AdaBoost
from pacboost.estimators.boosting.base import Boosting
from pacboost.estimators.boosting.fit import Recipe
from pacboost.estimators.fitting.parameters import is_truth
from pacboost.estimators.inputs.documented import accepts_aliases, documented
from pacboost.estimators.inputs.examples import LabelledRows
from pacboost.kernels.runtime import compile_helper
from pacboost.learners.choose import as_learner
from pacboost.learners.sklearn import SklearnLearner
from pacboost.numerics.checks import positive_whole, real_number
from pacboost.numerics.exact import MOST_VOTE
from pacboost.numerics.same_bits import total


@accepts_aliases
@documented
@dataclass(eq=False, repr=False)
class AdaBoostClassifier(Boosting):
    """AdaBoost with a certificate of its training error, by scikit-learn's name and parameters.

    Without an estimator it boosts decision stumps on binned features: fast, exact in its sums, the
    same for any number of threads, with missing values (NaN) allowed.

    Parameters
    ----------
    estimator : None, learner, scikit-learn classifier or function, default=None
        The weak learner. None means stumps. A scikit-learn classifier is fitted with sample weights
        where it takes them, on a weighted draw elsewhere; it gets sparse rows as they came if its
        tags say that it takes them, and rows of several dimensions. A function is called as
        ``f(X, y, weights)`` with y in {-1, +1} (class numbers, if there are more than two) and
        returns a function of rows.
    n_estimators : int, default=50
        The maximum number of rounds.
    learning_rate : float, default=1.0
        Scales every vote. The certificate stays valid: it uses what each round really did.
    resample : bool or int, default=False
        Train the weak learner on a draw from D_t (as many rows as there are, or this many) instead
        of on the weighted sample. The error and the update use the full sample either way.
    max_vote : float or None, default=None
        The largest vote that a rule may have; None does not limit it. Lower it if some labels are
        wrong.
    confidence_rated : bool, default=False
        Give each cell of a rule a separate vote (Real AdaBoost), instead of one vote to the rule.
    multiclass : "mh", "m1" or "samme", default="mh"
        How more than two classes are reduced to two; several labels a row (a 0/1 matrix y) need
        "mh". See boosters/adaboost.py. "samme" is scikit-learn's way, and has no training
        certificate.
    certify : "holdout", "train" or None, default=None
        What ``certificate_`` speaks of. None: the training error, without assumptions.
        "holdout": the error on new examples, by a random share of the rows that is held back
        before anything is learned: classes, levels and kinds of columns come from the other rows.
        "train": the error on new examples, by the rows it was trained on: that share gives bins,
        levels, kinds of columns and classes, the votes are rounded to small whole numbers, and
        ``choices_`` shows what rounding costs. Its bound is loose: "holdout" usually gives a
        smaller one, for a vote that errs less. The smallest bound is deployed first; it may err
        more than others, so look and ``choose``.

    Attributes
    ----------
    ledger_ : Ledger
        What the loop measured in every round.
    certificate_ : Certificate
        The training-error theorem applied to this run, or what ``certify`` asks for.
    choices_ : list of QuantisedVote
        With ``certify="train"``: every vote that may be deployed, with bound and error estimate.
    votes_ : ndarray
        The vote of every rule, ½ ln((1 - error)/error) unless scaled or capped.
    estimators_, estimator_weights_, estimator_errors_ : as in scikit-learn
        ``estimator_weights_`` is twice ``votes_``, which is scikit-learn's convention.
    classes_, n_features_in_, feature_names_in_, feature_importances_ : as in scikit-learn

    Examples
    --------
    >>> from pacboost import AdaBoostClassifier
    >>> from pacboost.sources.toy import ten_points
    >>> X, y = ten_points()
    >>> model = AdaBoostClassifier(n_estimators=3).fit(X, y)
    >>> model.votes_.round(4).tolist()
    [0.4236, 0.6496, 0.9229]
    >>> round(model.certificate_.value, 4), model.score(X, y)
    (0.5162, 1.0)
    """

    estimator: Any = None
    n_estimators: int = 50
    learning_rate: float = 1.0
    random_state: Any = None
    _: KW_ONLY
    resample: bool | int = False
    max_vote: float | None = None
    confidence_rated: bool = False
    multiclass: str = "mh"
    max_bins: int = 255
    categorical_features: Any = "from_dtype"
    early_stopping: Any = False
    validation_fraction: float = 0.1
    eval_metric: Any = "error"
    calibrate: str | None = None
    certify: str | None = None
    holdout: float = 0.2
    delta: float = 0.05
    warm_start: bool = False
    callbacks: Any = None
    n_jobs: int | None = None
    device: str = "cpu"
    verbose: bool | int | str = "auto"

    _rules = compile_helper.STUMPS
    _row_shape = ()

    @property
    def estimator_weights_(self) -> NDArray[np.float64]:
        """Twice the votes, as scikit-learn counts them."""
        return 2 * self._fitted("estimator_weights_").vote.votes

    @property
    def estimator_errors_(self) -> NDArray[np.float64]:
        """The weighted error of every rule in its round."""
        return np.array([e.error for e in self._fitted("estimator_errors_").ledger.rounds])

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """Return the accuracy after each round."""
        for predicted in self.staged_predict(X):
            right = predicted == np.asarray(y)
            right = right.all(axis=1) if right.ndim == 2 else right
            weights = np.asarray(1.0 if sample_weight is None else sample_weight, dtype=np.float64)
            weights = np.broadcast_to(weights, right.shape)
            yield total(right * weights) / total(weights)

    @property
    def _takes_shapes(self) -> bool:
        """Whether rows may have several dimensions: they are handed on as they came."""
        return hasattr(self.estimator, "fit")

    def _recipe(self, examples: LabelledRows) -> Recipe:
        cap = MOST_VOTE if self.max_vote is None else real_number("max_vote", self.max_vote)
        booster = AdaBoost(
            real_number("learning_rate", self.learning_rate),
            cap,
            bool(self.confidence_rated),
            self.multiclass,
            classes=max(2, self.classes_.size),
        )
        rounds = positive_whole("n_estimators", self.n_estimators)
        learner = as_learner(self.estimator)
        if isinstance(learner, SklearnLearner):
            learner = replace(learner, shape=self._row_shape)
        if is_truth(self.resample):
            drawn = -int(self.resample)
        else:
            drawn = positive_whole("resample", self.resample)
        return Recipe(learner, booster, rounds, drawn)
