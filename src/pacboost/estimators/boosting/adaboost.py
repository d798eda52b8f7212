"""AdaBoost behind the scikit-learn API."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.ensemble import BaseEnsemble
from sklearn.metrics import accuracy_score, r2_score
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from pacboost.boosters.adaboost import AdaBoost
from pacboost.boosters.booster import check_rate
from pacboost.bounds.training import R2_LOSSES, median_misses
from pacboost.errors import invalid
from pacboost.estimators.boosting.boost import BoostClassifier
from pacboost.estimators.boosting.boosting import EstimatorChooser, FitData, boost
from pacboost.estimators.fitted.classifier import Classifier
from pacboost.estimators.fitted.estimator import Estimator
from pacboost.estimators.fitted.predicting import r_squared
from pacboost.estimators.fitting.attempt import all_or_nothing
from pacboost.estimators.fitting.callbacks import CallbackSupportMixin
from pacboost.estimators.inputs.aliases import accepts_aliases
from pacboost.estimators.inputs.documented import described_by, documented
from pacboost.estimators.inputs.parameters import check_estimator, random_numbers
from pacboost.estimators.inputs.rows import fits_rows, takes_rows
from pacboost.estimators.inputs.validation_sets import read_sets
from pacboost.estimators.parameters.values import Values
from pacboost.fit.ask import Ask, FitRows
from pacboost.fit.recipe import Candidate, Recipe
from pacboost.fit.targets import read_targets, read_weights
from pacboost.learners.choose import as_learner
from pacboost.learners.sklearn import SklearnLearner, shaped
from pacboost.models.schema import ColumnOptions, Schema
from pacboost.numerics.checks import positive_whole, real_number
from pacboost.numerics.exact import MAX_VOTE
from pacboost.numerics.same_bits import exp, log_of, total
from pacboost.samples.sample import unlabelled
from pacboost.sources.explained_errors import checked_by_scikit_learn, explains_input
from pacboost.sources.table import Table


@accepts_aliases
@documented
@dataclass(eq=False, repr=False)
class AdaBoostClassifier(CallbackSupportMixin, Classifier):  # type: ignore[misc]
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
        returns a function of rows. ``f(X, y)``, and objects with ``fit`` and ``predict`` alone,
        get rows drawn by weight.
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

    @fits_rows
    @described_by(BoostClassifier.fit)
    def fit(
        self, X: object, y: object, sample_weight: object = None, *, X_val: object = None,
        y_val: object = None, eval_set: object = None, copies: str = "draws",
    ) -> Self:  # fmt: skip
        """Fit the model."""
        boost(self, FitData(X, y, sample_weight, read_sets(X_val, y_val, eval_set)), copies)
        return self

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
        return replace(super()._column_options(), keeps_shape=hasattr(self.estimator, "get_params"))

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
        if isinstance(learner, SklearnLearner):
            learner = replace(learner, shape=rows.schema.row_shape or ())
        if isinstance(asked.resample, bool):
            drawn = -int(asked.resample)
        else:
            drawn = positive_whole("resample", asked.resample)
        return Candidate(Recipe(learner, booster, asked.n_estimators, drawn))


# AdaBoost.R2 behind the scikit-learn API.


@accepts_aliases
@documented
@dataclass(eq=False, repr=False)
class AdaBoostRegressor(RegressorMixin, Estimator, BaseEnsemble):  # type: ignore[misc]
    """AdaBoost.R2 (Drucker 1997) with scikit-learn's parameters and a bound on its training error.

    Every round draws rows by their weights, fits a regressor to them, and gives less weight to rows
    that it predicts well; the answer is the weighted median of all regressors. Draws are those of
    scikit-learn: the same ``random_state`` gives the same regressors.

    Parameters
    ----------
    estimator : scikit-learn regressor, default=None
        What is fitted in every round; None means ``DecisionTreeRegressor(max_depth=3)``. It gets
        sparse rows as they came if its tags say that it takes them, and rows of several dimensions.
    n_estimators : int, default=50
        The maximum number of rounds. It stops at a regressor without any error, and before one
        whose mean loss is 1/2 or more.
    learning_rate : float, default=1.0
        Scales every vote. ``training_bound`` stays valid: it uses what each round really did.
    loss : "linear", "square" or "exponential", default="linear"
        The loss of an error e, as a share of the largest error of its round: e, e² or 1 - exp(-e).

    Attributes
    ----------
    estimators_, estimator_weights_, estimator_errors_ : as in scikit-learn
        One for each round that was kept.
    n_features_in_, feature_names_in_, feature_importances_ : as in scikit-learn

    Examples
    --------
    >>> from pacboost import AdaBoostRegressor
    >>> X = np.linspace(0, 1, 200)[:, None]
    >>> y = np.sin(9 * X[:, 0])
    >>> model = AdaBoostRegressor(random_state=0).fit(X, y)
    >>> round(model.score(X, y), 2)
    0.96
    >>> misses = abs(model.predict(X) - y)
    >>> [(tolerance, bool(np.mean(misses > tolerance) <= model.training_bound(tolerance)))
    ...  for tolerance in (0.1, 0.5)]
    [(0.1, True), (0.5, True)]
    """

    estimator: Any = None
    _: KW_ONLY
    n_estimators: int = 50
    learning_rate: float = 1.0
    loss: str = "linear"
    random_state: Any = None

    _leaves_model = False
    estimator_params = ()

    @fits_rows
    def fit(self, X: object, y: object, sample_weight: object = None) -> Self:
        """Fit the model; a fit that fails leaves the estimator unchanged."""
        check_estimator(self.estimator)
        rounds, rate = self.n_estimators, self.learning_rate
        check_rate("learning_rate", rate)
        if self.loss not in list(R2_LOSSES):
            names = ", ".join(map(repr, R2_LOSSES))
            raise invalid("loss", self.loss, f"may be {names}")
        with all_or_nothing(self):
            self._schema, table = Schema.learn(X, self._column_options())
            targets = read_targets(y, table.n_rows)
            weights = read_weights(sample_weight, table.n_rows)
            self._boost(table, targets, weights, rounds, rate)
            self._remember(table)
        return self

    def _boost(
        self,
        table: Table,
        targets: NDArray[np.float64],
        weights: NDArray[np.float64] | None,
        rounds: int,
        rate: float,
    ) -> None:
        self.estimator_ = self._inner
        random, rows = random_numbers(self.random_state), self._raw(table)
        start = np.ones(targets.size) if weights is None else weights
        weights, counts = start / total(start), start > 0
        self.estimators_: list[Any] = []
        kept: list[tuple[float, float, float, float]] = []
        for _ in range(rounds):
            weights = np.where(counts, np.maximum(weights, np.finfo(np.float64).eps), 0.0)
            model = self._make_estimator(append=False, random_state=random)
            chosen = random.choice(targets.size, targets.size, p=weights)
            model.fit(rows[chosen], targets[chosen])
            errors = np.where(counts, np.abs(model.predict(rows) - targets), 0.0)
            largest = float(errors.max())
            losses = R2_LOSSES[self.loss](errors / (largest or 1.0))
            error = total(weights * losses)
            if error >= 0.5 and kept:
                break
            self.estimators_.append(model)
            if error <= 0 or error >= 0.5:  # nothing is left to learn, or nothing was learned
                vote = float(error <= 0)
                kept.append((vote, error, largest, -vote))
                break
            vote = rate * log_of((1 - error) / error)
            weights *= exp(vote * (losses - losses.max()))
            mass = total(weights)
            weights /= mass
            kept.append((vote, error, largest, log_of(mass) - vote * (1 - float(losses.max()))))
        columns = np.array(kept).T
        self.estimator_weights_, self.estimator_errors_, self._largest, self._log_masses = columns

    @takes_rows
    def predict(self, X: object) -> NDArray[np.float64]:
        """Return the weighted median of the regressors' predictions for each row."""
        return self._median(self._predictions(X))

    @takes_rows
    def score(self, X: object, y: object, sample_weight: object = None) -> float:
        """Return the R² of the predictions."""
        return r_squared(self, X, y, sample_weight)

    @takes_rows
    def staged_predict(self, X: object) -> Iterator[NDArray[np.float64]]:
        """Return the predictions after each round."""
        predictions = self._predictions(X)
        for rounds in range(1, len(predictions) + 1):
            yield self._median(predictions[:rounds])

    @takes_rows
    def staged_score(self, X: object, y: object, sample_weight: object = None) -> Iterator[float]:
        """Return R² after each round."""
        for predicted in self.staged_predict(X):
            with checked_by_scikit_learn():
                score = float(r2_score(y, predicted, sample_weight=sample_weight))
            yield score

    @explains_input
    def training_bound(self, tolerance: float) -> float:
        """Bound the share of training rows that are missed by more than ``tolerance``.

        It follows from the errors of the rounds alone, and always holds (docs/proofs/training.md);
        with weights it is the share of the weight. It says nothing about new rows:
        ``pacboost.intervals`` and ``pacboost.certify`` do.
        """
        check_is_fitted(self)
        tolerance = real_number("tolerance", tolerance)
        rounds = self.estimator_weights_, self._log_masses, self._largest
        return median_misses(tolerance, *rounds, loss=self.loss)

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """The importances of the regressors, averaged by their votes, if all have importances."""
        check_is_fitted(self)
        votes = self.estimator_weights_ if len(self) > 1 else np.ones(1)
        shares = zip(votes / total(votes), self.estimators_, strict=True)
        summed: NDArray[np.float64] = sum(vote * one.feature_importances_ for vote, one in shares)
        return summed

    @property
    def _inner(self) -> Any:
        return DecisionTreeRegressor(max_depth=3) if self.estimator is None else self.estimator

    def _column_options(self) -> ColumnOptions:
        keeps_sparse = SklearnLearner(self._inner).sparse
        return ColumnOptions(type(self).__name__, keeps_sparse=keeps_sparse, keeps_shape=True)

    def _raw(self, table: Table) -> Any:
        sample = unlabelled(table)
        if table.entries is not None and SklearnLearner(self._inner).sparse:
            return sample.sparse_rows
        return shaped(sample.rows, self._schema.row_shape or ())

    def _predictions(self, X: object) -> NDArray[np.float64]:
        check_is_fitted(self)
        rows = self._raw(self._schema.read(X))
        return np.array([model.predict(rows) for model in self.estimators_])

    def _median(self, predictions: NDArray[np.float64]) -> NDArray[np.float64]:
        order = np.argsort(predictions, axis=0, kind="stable")
        votes = np.cumsum(self.estimator_weights_[order], axis=0)
        middle = order[(votes >= 0.5 * votes[-1]).argmax(axis=0), np.arange(order.shape[1])]
        medians: NDArray[np.float64] = predictions[middle, np.arange(middle.size)]
        return medians

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = get_tags(self._inner).input_tags.allow_nan
        tags.input_tags.sparse = True
        return tags
