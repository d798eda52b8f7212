"""AdaBoost.R2 behind the scikit-learn API."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.ensemble import BaseEnsemble
from sklearn.metrics import r2_score
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from pacboost.boosters.booster import check_rate
from pacboost.bounds.training import R2_LOSSES, median_misses
from pacboost.errors import invalid
from pacboost.estimators.fitted.estimator import Estimator
from pacboost.estimators.fitted.predicting import r_squared
from pacboost.estimators.fitting.attempt import all_or_nothing
from pacboost.estimators.inputs.aliases import accepts_aliases
from pacboost.estimators.inputs.documented import documented
from pacboost.estimators.inputs.parameters import check_estimator, random_numbers
from pacboost.estimators.inputs.rows import fits_rows, takes_rows
from pacboost.fit.targets import read_targets, read_weights
from pacboost.learners.sklearn import SklearnLearner
from pacboost.models.schema import ColumnOptions, Schema
from pacboost.numerics.checks import real_number
from pacboost.numerics.same_bits import exp, log_of, total
from pacboost.samples.sample import unlabelled
from pacboost.sources.explained_errors import checked_by_scikit_learn, explains_input
from pacboost.sources.given import some_rows
from pacboost.sources.table import Table


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
            options = self._column_options()
            self._schema, table = Schema.learn(options.divisible(X), options)
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
            # scikit-learn keeps weights at epsilon or more; equal draws need equal weights
            weights = np.where(counts, np.maximum(weights, np.finfo(np.float64).eps), 0.0)
            model = self._make_estimator(append=False, random_state=random)
            chosen = random.choice(targets.size, targets.size, p=weights)
            model.fit(some_rows(rows, chosen), targets[chosen])
            errors = np.where(counts, np.abs(model.predict(rows) - targets), 0.0)
            largest = float(errors.max())
            losses = R2_LOSSES[self.loss](errors / (largest or 1.0))
            error = total(weights * losses)
            # the vote of such a regressor would be below 0, which the bound does not allow
            if error >= 0.5 and kept:
                break
            self.estimators_.append(model)
            if error <= 0 or error >= 0.5:  # nothing is left to learn, or nothing was learned
                vote = float(error <= 0)
                kept.append((vote, error, largest, -vote))
                break
            vote = rate * log_of((1 - error) / error)
            # exponents of at most 0 do not overflow; ``log_masses`` have the factor again, since
            # the bound multiplies the sums of w·exp(-vote·(1 - loss)) (docs/proofs/training.md)
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
        # a single regressor may have a vote of 0, which is no share of anything
        votes = self.estimator_weights_ if len(self) > 1 else np.ones(1)
        shares = zip(votes / total(votes), self.estimators_, strict=True)
        summed: NDArray[np.float64] = sum(vote * one.feature_importances_ for vote, one in shares)
        return summed

    @property
    def _inner(self) -> Any:
        return DecisionTreeRegressor(max_depth=3) if self.estimator is None else self.estimator

    def _column_options(self) -> ColumnOptions:
        keeps_sparse = SklearnLearner(self._inner).sparse
        return ColumnOptions(type(self).__name__, keeps_sparse=keeps_sparse, as_they_came=True)

    def _raw(self, table: Table) -> Any:
        sample = unlabelled(table)
        if table.entries is not None and SklearnLearner(self._inner).sparse:
            return sample.sparse_rows
        return sample.rows

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
