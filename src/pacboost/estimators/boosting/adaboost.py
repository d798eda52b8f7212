"""AdaBoost behind the scikit-learn API."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score

from pacboost.boosters.adaboost import AdaBoost
from pacboost.estimators.boosting.boosted import Boosted
from pacboost.estimators.boosting.boosting import EstimatorChooser
from pacboost.estimators.fitted.classifier import Classifier
from pacboost.estimators.inputs.aliases import accepts_aliases
from pacboost.estimators.inputs.documented import documented
from pacboost.estimators.inputs.rows import takes_rows
from pacboost.estimators.parameters.values import Values
from pacboost.fit.ask import Ask, FitRows
from pacboost.fit.recipe import Candidate, Recipe
from pacboost.learners.choose import as_learner
from pacboost.models.schema import ColumnOptions
from pacboost.numerics.checks import positive_whole, real_number
from pacboost.numerics.exact import MAX_VOTE
from pacboost.sources.explained_errors import checked_by_scikit_learn


@accepts_aliases
@documented
@dataclass(eq=False, repr=False)
class AdaBoostClassifier(Boosted, Classifier):
    """AdaBoost with a certificate of its training error, by scikit-learn's name and parameters.

    Without an estimator it boosts decision stumps on binned features: fast, exact in its sums, the
    same for any number of threads, with missing values (NaN) allowed.

    Parameters
    ----------
    estimator : None, learner, scikit-learn classifier or function, default=None
        The weak learner. None means stumps. A scikit-learn classifier is fitted with sample weights
        where it takes them, on a weighted draw elsewhere. A function is called as
        ``f(X, y, weights)`` with y in {-1, +1} (class numbers, if there are more than two) and
        returns a function of rows. ``f(X, y)``, and objects with ``fit`` and ``predict`` alone,
        get rows drawn by weight. All of them get rows as they came: texts, mappings, graphs, data
        frames, images; sparse ones, unless the tags of a classifier refuse them.
    n_estimators : int, default=50
        The maximum number of rounds.
    learning_rate : float, default=1.0
        Scales every vote; any number above 0, as in scikit-learn. The certificate stays valid: it
        uses what each round really did.
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
    certify : "holdout" or None, default=None
        What ``certificate_`` is about. None: the training error, without assumptions.
        "holdout": the error on new examples, by a random share of the rows that is held back
        before anything is learned: classes, levels and kinds of columns come from the other rows.

    Attributes
    ----------
    ledger_ : Ledger
        What the loop measured in every round.
    certificate_ : Certificate
        The training-error theorem applied to this run, or what ``certify`` asks for.
    votes_ : ndarray
        The vote of every rule, ½ ln((1 - error)/error) unless scaled or capped.
    estimators_, estimator_weights_, estimator_errors_ : as in scikit-learn
        ``estimator_weights_`` is twice ``votes_``, which is scikit-learn's convention.
    classes_, n_features_in_, feature_names_in_, feature_importances_ : as in scikit-learn

    Examples
    --------
    >>> from pacboost import AdaBoostClassifier
    >>> from pacboost.sources.toy import lecture_points
    >>> X, y = lecture_points()
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

    _keeps_sparse = True

    @property
    def estimator_weights_(self) -> NDArray[np.float64]:
        """Twice the votes, as scikit-learn counts them."""
        return 2 * self.votes_

    @property
    def estimator_errors_(self) -> NDArray[np.float64]:
        """The weighted error of every rule in its round."""
        return np.array([e.error for e in self._fitted("estimator_errors_").ledger.rounds])

    @takes_rows
    def staged_score(self, X: object, y: object, sample_weight: object = None) -> Iterator[float]:
        """Return the accuracy after each round."""
        for predicted in self.staged_predict(X):
            with checked_by_scikit_learn():
                accuracy = accuracy_score(y, predicted, sample_weight=sample_weight)
            yield float(accuracy)

    def _column_options(self) -> ColumnOptions:
        given = as_learner(self.estimator).reads_given
        return replace(super()._column_options(), as_they_came=given)

    def _chooser(self, asked: Values) -> EstimatorChooser:
        return AdaBoostChooser(asked)


@dataclass(frozen=True, eq=False)
class AdaBoostChooser(EstimatorChooser):
    """Makes the recipe of AdaBoostClassifier, from its parameters alone."""

    asked: Values

    def candidate(self, rows: FitRows, ask: Ask) -> Candidate:
        """Return AdaBoost with the learner of the parameters."""
        asked = self.asked
        cap = MAX_VOTE if asked.max_vote is None else real_number("max_vote", asked.max_vote)
        booster = AdaBoost(
            asked.learning_rate,
            cap,
            bool(asked.confidence_rated),
            asked.multiclass,
            classes=max(2, rows.classes.size),
        )
        learner = as_learner(asked.estimator)
        if isinstance(asked.resample, bool):
            # -1 stands for as many rows as there are
            drawn = -int(asked.resample)
        else:
            drawn = positive_whole("resample", asked.resample)
        return Candidate(Recipe(learner, booster, asked.n_estimators, drawn))
