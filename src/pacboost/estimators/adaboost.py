"""AdaBoost behind the scikit-learn API."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, check_random_state

from pacboost.boosters.adaboost import AdaBoost
from pacboost.bounds.certificate import Certificate
from pacboost.bounds.training import training_error
from pacboost.errors import DataError, NoEdgeWarning, OneClassWarning, ParameterError
from pacboost.estimators import door
from pacboost.hypotheses.function import Function
from pacboost.hypotheses.stump import Stump
from pacboost.kernels.threads import using
from pacboost.learners.function import FunctionLearner
from pacboost.learners.learner import Learner
from pacboost.ledgers.ledger import Ledger, Round
from pacboost.models import format as model_file
from pacboost.models.model import Model, answer_names
from pacboost.numerics.exact import MOST_VOTE
from pacboost.samples.bins import fit_bins
from pacboost.samples.sample import Sample
from pacboost.sources.table import SomeRows, Table
from pacboost.training.loop import NO_EDGE, Run
from pacboost.training.metrics import metric
from pacboost.training.watch import Watch

Callback = Callable[[Round], bool | None]


class AdaBoostClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """AdaBoost for two classes, with the proof of its training error.

    Without an estimator it boosts decision stumps on binned features: fast, exact in its sums, the
    same for any number of threads, and at home with missing values (NaN).

    Parameters
    ----------
    estimator : None, learner, scikit-learn classifier or function, default=None
        The weak learner. None means stumps. A scikit-learn classifier is fitted with sample weights
        where it takes them, on a weighted draw elsewhere. A function is called as
        ``f(X, y, weights)`` with y in {-1, +1} and returns a function of rows.
    n_estimators : int, default=50
        The most rounds to run.
    learning_rate : float, default=1.0
        Scales every vote. The certificate stays valid: it uses what each round really did.
    random_state : int, RandomState or None, default=None
        Seed for resampling, for the validation split, and for weak learners that use chance.
    resample : bool or int, default=False
        Train the weak learner on a draw from D_t (as many rows as there are, or this many) instead
        of on the weighted sample. The error and the update use the full sample either way.
    max_bins : int, default=255
        The most bins of values per feature, up to 65,535. A feature with no more distinct values
        is represented exactly.
    max_vote : float or None, default=None
        Caps every vote.
    early_stopping : bool, default=False
        Hold ``validation_fraction`` of the rows back, stop when ``eval_metric`` on them has not
        improved by more than ``tol`` for ``n_iter_no_change`` rounds, and keep the best round.
        Passing ``X_val`` to fit does the same on rows of your own.
    validation_fraction : float, default=0.1
    n_iter_no_change : int, default=10
    tol : float, default=0.0
    eval_metric : str or function, default="error"
        "error", "log_loss", "exponential_loss", "auc", or a function of (signs, scores) that gets
        smaller as the fit gets better.
    warm_start : bool, default=False
        Go on from the last fit: it ends as one longer run would have.
    callbacks : sequence of functions, default=None
        Each is called with every ``Round``; a true answer stops the run.
    n_jobs : int or None, default=None
        Threads; None and -1 mean all cores. The model does not depend on it.
    verbose : bool, default=False
        Show a progress bar.

    Attributes
    ----------
    ledger_ : Ledger
        What the loop measured in every round.
    certificate_ : Certificate
        The training-error theorem applied to this run.
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

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 50,
        learning_rate: float = 1.0,
        random_state: Any = None,
        *,
        resample: bool | int = False,
        max_bins: int = 255,
        max_vote: float | None = None,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 0.0,
        eval_metric: Any = "error",
        warm_start: bool = False,
        callbacks: Sequence[Callback] | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.random_state = random_state
        self.resample = resample
        self.max_bins = max_bins
        self.max_vote = max_vote
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.eval_metric = eval_metric
        self.warm_start = warm_start
        self.callbacks = callbacks
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, X_val: Any = None, y_val: Any = None
    ) -> Self:
        """Boost.

        Ctrl-C keeps the rounds done so far on the estimator, and is raised again.
        """
        rounds = door.at_least_one("n_estimators", self.n_estimators)
        learner = door.as_learner(self.estimator)
        booster = AdaBoost(
            self.learning_rate, MOST_VOTE if self.max_vote is None else self.max_vote
        )
        seed = int(check_random_state(self.random_state).randint(2**31))
        earlier = getattr(self, "model_", None) if self.warm_start else None
        with using(self.n_jobs):
            sample, held = self._samples(X, y, sample_weight, X_val, y_val, learner, seed)
            if (sample.signs == sample.signs[0]).all():
                learner = _constant_learner(int(sample.signs[0, 0]))
            run = Run(
                sample,
                learner,
                booster,
                seed=seed,
                resample=self._resample_size(sample.n_rows),
                watch=held,
            )
            if earlier is not None and len(earlier.ledger) <= rounds:
                run.resume(earlier.vote.hypotheses, earlier.ledger.rounds)
            self._boost(run, rounds)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Give the class each row is voted into; a tie goes to the first class."""
        return self._decide(self.decision_function(X))

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Give the score F(x), the sum of signed votes; above 0 means the second class."""
        table = self._open(X)
        with using(self.n_jobs):
            return self.model_.vote.scores(table)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Give 1/(1 + exp(-2F)) for the second class (Friedman, Hastie and Tibshirani 2000)."""
        return self._probabilities(self.decision_function(X))

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Give the logarithm of the probabilities, without taking it of 0."""
        scores = self.decision_function(X)
        if self.classes_.size == 1:
            return np.zeros((scores.size, 1))
        return -np.logaddexp(0.0, np.column_stack([2 * scores, -2 * scores]))

    def staged_decision_function(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Give the score after each round."""
        table = self._open(X)
        for scores in self.model_.vote.staged(table):
            yield scores.copy()

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Give the predictions after each round."""
        for scores in self.staged_decision_function(X):
            yield self._decide(scores)

    def staged_predict_proba(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Give the probabilities after each round."""
        for scores in self.staged_decision_function(X):
            yield self._probabilities(scores)

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """Give the accuracy after each round."""
        for predicted in self.staged_predict(X):
            yield float(np.average(predicted == np.asarray(y), weights=sample_weight))

    def rules(self) -> list[str]:
        """Give every rule in words, with its vote, in the order of rounds."""
        check_is_fitted(self)
        return self.model_.words()

    def save(self, path: str | Path) -> None:
        """Write the model to a file that ``pacboost.load`` reads; no code is stored in it."""
        check_is_fitted(self)
        model_file.save(self.model_, path)

    @property
    def ledger_(self) -> Ledger:
        """What the loop measured."""
        return self._fitted("ledger_").ledger

    @property
    def certificate_(self) -> Certificate:
        """The bound on the training error, computed from the ledger."""
        return training_error(self._fitted("certificate_").ledger)

    @property
    def votes_(self) -> NDArray[np.float64]:
        """The vote of every rule."""
        return self._fitted("votes_").vote.votes

    @property
    def estimators_(self) -> list[Any]:
        """The rules; for black boxes, the fitted classifiers themselves."""
        hypotheses = self._fitted("estimators_").vote.hypotheses
        return [h.inner if isinstance(h, Function) else h for h in hypotheses]

    @property
    def estimator_weights_(self) -> NDArray[np.float64]:
        """Twice the votes, as scikit-learn counts them."""
        return 2 * self._fitted("estimator_weights_").vote.votes

    @property
    def estimator_errors_(self) -> NDArray[np.float64]:
        """The weighted error of every rule in its round."""
        return np.array([e.error for e in self._fitted("estimator_errors_").ledger.rounds])

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Each feature's share of the votes."""
        return self._fitted("feature_importances_").importances()

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.allow_nan = self.estimator is None or isinstance(self.estimator, Learner)
        tags.input_tags.sparse = True
        return tags

    def _fitted(self, name: str) -> Model:
        if not hasattr(self, "model_"):
            raise AttributeError(f"{name} is there after fit; this estimator is not fitted yet")
        return self.model_

    def _open(self, X: Any) -> Table:
        check_is_fitted(self)
        return door.open_table(self, X, reset=False)

    def _decide(self, scores: NDArray[np.float64]) -> NDArray[Any]:
        second = (scores > 0) & (self.classes_.size == 2)
        decided: NDArray[Any] = self.classes_[second.astype(np.intp)]
        return decided

    def _probabilities(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.classes_.size == 1:
            return np.ones((scores.size, 1))
        return np.column_stack([expit(-2 * scores), expit(2 * scores)])

    def _samples(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        X_val: Any,
        y_val: Any,
        learner: Learner,
        seed: int,
    ) -> tuple[Sample, Watch | None]:
        """Turn the input into the sample to learn from, and perhaps one to watch."""
        table = door.open_table(self, X, reset=True)
        labels = door.read_labels(y, table.n_rows)
        self.classes_, signs = door.two_classes(labels)
        weights = door.read_weights(sample_weight, table.n_rows)
        watched: tuple[Table, NDArray[np.int8]] | None = None
        if X_val is not None:
            other = door.open_table(self, X_val, reset=False)
            watched = other, self._signs_of(door.read_labels(y_val, other.n_rows))
        elif self.early_stopping:
            learned, held = self._split(table.n_rows, seed)
            watched = SomeRows(table, held), signs[held]
            table, signs = SomeRows(table, learned), signs[learned]
            weights = None if weights is None else weights[learned]
        if weights is not None and (weights == 0).any():
            kept = np.flatnonzero(weights)
            table, signs, weights = SomeRows(table, kept), signs[kept], weights[kept]
        bins = fit_bins(table, self.max_bins, weights) if learner.codes else None
        answers = answer_names(self.classes_)
        base = np.ones(1) if weights is None else weights
        sample = Sample(table, signs[:, None], base, bins, answers)
        if learner.codes and np.unique(signs).size == 2:
            _refuse_constant(sample)
        if watched is None:
            return sample, None
        patience = door.at_least_one("n_iter_no_change", self.n_iter_no_change)
        held_sample = Sample(watched[0], watched[1][:, None], bins=bins)
        return sample, Watch(held_sample, metric(self.eval_metric), patience, self.tol)

    def _signs_of(self, labels: NDArray[Any]) -> NDArray[np.int8]:
        unknown = sorted(set(np.unique(labels).tolist()) - set(self.classes_.tolist()))
        if unknown:
            raise DataError(
                f"y_val holds {unknown[0]!r}, which is not among the classes of y: "
                f"{self.classes_.tolist()}"
            )
        return np.where(labels == self.classes_[-1], np.int8(1), np.int8(-1))

    def _split(self, rows: int, seed: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        share = self.validation_fraction
        held = round(rows * share) if 0 < share < 1 else 0
        if not 0 < held < rows:
            raise ParameterError(
                f"validation_fraction is {share} and there are {rows} rows; it must lie in (0, 1) "
                "and leave rows on both sides"
            )
        order = np.random.default_rng(seed).permutation(rows)
        return np.sort(order[held:]), np.sort(order[:held])

    def _resample_size(self, rows: int) -> int:
        if isinstance(self.resample, (bool, np.bool_)):
            return rows if self.resample else 0
        return door.at_least_one("resample", self.resample)

    def _boost(self, run: Run, rounds: int) -> None:
        """Run the rounds; whatever ends them, what is done is kept."""
        with ExitStack() as stack:
            watchers: list[Callback] = list(self.callbacks or ())
            if self.verbose:
                from pacboost.reports.progress import RoundsBar

                watchers.append(stack.enter_context(RoundsBar(rounds)))
            try:
                for done in islice(run, rounds - len(run.done)):
                    wishes = [watcher(done.entry) for watcher in watchers]
                    if any(wishes):
                        run.stopped = "a callback stopped it"
                run.stopped = run.stopped or f"all {rounds} rounds are done"
            except KeyboardInterrupt as interrupt:
                run.stopped = "interrupted"
                interrupt.add_note(
                    f"pacboost: the {len(run.done)} rounds done before the interrupt are kept; "
                    "the estimator can be used, or go on with warm_start=True"
                )
                raise
            finally:
                self._keep(run)

    def _keep(self, run: Run) -> None:
        run.keep_best()
        table = run.sample.table
        self.model_ = Model(
            self.classes_,
            table.n_columns,
            table.names,
            run.sample.bins,
            run.vote(),
            run.ledger(),
        )
        self._warn(run)

    def _warn(self, run: Run) -> None:
        if self.classes_.size == 1:
            warnings.warn(
                f"y holds one class only ({self.classes_[0]!r}); the classifier is constant",
                OneClassWarning,
                stacklevel=5,
            )
        elif run.stopped == NO_EDGE and not run.done:
            warnings.warn(
                "the weak learner found no rule better than guessing, so the vote is empty and "
                "every prediction is a tie; give it other features or a richer weak learner",
                NoEdgeWarning,
                stacklevel=5,
            )


def load(path: str | Path) -> AdaBoostClassifier:
    """Read a model file; the estimator it gives predicts as the one that was saved did."""
    model = model_file.load(path)
    estimator = AdaBoostClassifier(n_estimators=max(1, len(model.ledger)))
    estimator.model_ = model
    estimator.classes_ = model.classes
    estimator.n_features_in_ = model.n_features
    if model.names is not None:
        estimator.feature_names_in_ = np.array(model.names, dtype=object)
    return estimator


def _constant_learner(sign: int) -> Learner:
    """Answer for samples of one class."""
    constant = Stump(0, math.inf, 2**31, -sign, sign)
    return FunctionLearner(lambda X, y, weights: constant)


def _refuse_constant(sample: Sample) -> None:
    """Raise if no feature tells any two rows apart."""
    assert sample.bins is not None
    if any(thresholds.size for thresholds in sample.bins.thresholds):
        return
    if sample.codes is not None and np.ptp(sample.codes, axis=1).any():
        return  # one value and missing ones: that tells rows apart
    raise DataError(
        f"all {sample.table.n_columns} features are constant: no rule can tell rows apart. Give at "
        "least one feature that varies (values that differ by less than a 32-bit float are equal)."
    )
