"""Boosting the confidence of a learner that often fails, as a scikit-learn estimator."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted

from pacboost.bounds import holdout
from pacboost.bounds.certificate import Certificate
from pacboost.errors import DataError, NotCertified, TooFewRowsWarning, warn
from pacboost.estimators.boosting.adaboost import AdaBoostClassifier
from pacboost.estimators.fitted.estimator import Estimator
from pacboost.estimators.fitted.predicting import accuracy
from pacboost.estimators.inputs.aliases import accepts_aliases
from pacboost.estimators.inputs.documented import documented
from pacboost.estimators.inputs.parameters import check_estimator, random_numbers
from pacboost.estimators.inputs.rows import fits_rows, takes_rows
from pacboost.fit.noticing import counted
from pacboost.fit.targets import read_labels
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.explained_errors import checked_by_scikit_learn
from pacboost.theory.distinct_rows import read_numbers, take_rows
from pacboost.theory.sample_sizes import runs_needed, selection_size


@accepts_aliases
@documented
@dataclass(eq=False, repr=False)
class ConfidenceBoost(ClassifierMixin, Estimator):  # type: ignore[misc]
    """Fit a learner that may fail several times, and keep the best fit.

    The learner promises risk ≤ ``epsilon`` except with probability ``failure``. k independent runs
    on disjoint parts of the rows all fail with probability ≤ δ/2; the one with the fewest mistakes
    on rows that no run has seen has risk ≤ ``epsilon + gap`` with probability ≥ 1 - δ, if those
    rows are enough (theory/sample_sizes.py has the sizes and the proof).

    Parameters
    ----------
    estimator : classifier, default=None
        The learner; None means ``AdaBoostClassifier()``.
    epsilon : float, default=0.1
        The risk that the learner promises.
    failure : float, default=0.5
        The probability that a run of the learner exceeds that risk.
    gap : float, default=0.1
        How much worse than epsilon the result may be. A smaller gap needs more rows.

    Attributes
    ----------
    estimators_ : list of the runs
    best_ : the best run
    mistakes_ : mistakes of each run on the selection rows
    runs_, selection_rows_ : numbers of runs and of selection rows
    runs_needed_, selection_rows_needed_ : the numbers that the theorem requires
    certificate_ : Certificate
        A bound on the risk of the best run by its mistakes on the selection rows, with a union
        bound over the runs. Raises NotCertified if there were too few runs or rows.
    """

    estimator: Any = None
    _: KW_ONLY
    epsilon: float = 0.1
    failure: float = 0.5
    gap: float = 0.1
    delta: float = 0.05
    random_state: Any = None

    _leaves_model = False

    @fits_rows
    def fit(self, X: Any, y: Any, *, copies: str = "draws") -> Self:
        """Fit the learner on disjoint parts of the rows, and choose on rows new to all fits.

        With ``copies="distinct"``, one of several equal rows is used: see ``BoostClassifier.fit``.
        """
        check_estimator(self.estimator)
        self.runs_needed_ = runs_needed(self.failure, self.delta)
        needed = selection_size(self.epsilon, self.gap, self.runs_needed_, self.delta)
        self.selection_rows_needed_ = needed
        rows = read_numbers(self, X, reset=True, allow_nan=self._takes_nan())
        labels = read_labels(y, len(rows))
        with checked_by_scikit_learn():
            check_classification_targets(labels)
        divided = take_rows(self, ArrayTable(rows), rows, labels, copies)
        X, y = divided.X, divided.y
        self.classes_ = np.unique(y)
        if self.classes_.size > 2 and not get_tags(self._learner()).classifier_tags.multi_class:
            raise DataError(
                "Only binary classification is supported. The type of the target is "
                f"{type_of_target(y)}, and the learner takes two classes."
            )
        generator = random_numbers(self.random_state)
        order = generator.permutation(len(y))
        # Where rows are too few for the theorem, a third is left to choose by: the fit is of use,
        # but not certified.
        n_selection = min(needed, max(1, len(y) // 3))
        runs = min(self.runs_needed_, max(1, (len(y) - n_selection) // 2))
        if n_selection < needed or runs < self.runs_needed_:
            warn(
                f"{len(y)} rows are too few: {self.runs_needed_} runs and {needed} selection rows "
                f"are needed, {runs} runs and {n_selection} rows were used; nothing is certified",
                TooFewRowsWarning,
            )
        chosen = order[:n_selection]
        # disjoint parts: failures of runs on common rows are not independent, and their
        # probabilities do not multiply
        parts = np.array_split(order[n_selection:], runs) if len(y) > n_selection else [order]
        self.estimators_ = [self._run(X[part], y[part], generator) for part in parts]
        self.mistakes_ = np.array(
            [int((run.predict(X[chosen]) != y[chosen]).sum()) for run in self.estimators_]
        )
        self.runs_, self.selection_rows_ = len(parts), n_selection
        self.best_ = self.estimators_[int(self.mistakes_.argmin())]
        return self

    @takes_rows
    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict with the best of the fits."""
        check_is_fitted(self)
        rows = read_numbers(self, X, reset=False, allow_nan=self._takes_nan())
        answers: NDArray[Any] = self.best_.predict(rows)
        return answers

    @takes_rows
    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the accuracy."""
        return accuracy(self, X, y, sample_weight)

    @property
    def certificate_(self) -> Certificate:
        """The bound on the error of the best fit."""
        check_is_fitted(self)
        if self.runs_ < self.runs_needed_ or self.selection_rows_ < self.selection_rows_needed_:
            raise NotCertified(
                f"too few rows: {self.runs_needed_} runs and {self.selection_rows_needed_} "
                f"selection rows are needed, there were {self.runs_} and {self.selection_rows_}"
            )
        mistakes = int(self.mistakes_.min())
        # the best of k runs was chosen on these rows, so each run has delta/k
        certificate = holdout.certificate(mistakes, self.selection_rows_, self.delta, self.runs_)
        return counted(certificate, self._examples)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self._learner())
        tags.classifier_tags.multi_class = inner.classifier_tags.multi_class
        tags.classifier_tags.poor_score = True  # each run sees a small part of the rows only
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        return tags

    def _learner(self) -> Any:
        return AdaBoostClassifier() if self.estimator is None else self.estimator

    def _takes_nan(self) -> bool:
        return bool(get_tags(self._learner()).input_tags.allow_nan)

    def _run(self, X: ArrayLike, y: ArrayLike, generator: np.random.RandomState) -> Any:
        model = clone(self._learner())
        if "random_state" in model.get_params():
            model.set_params(random_state=int(generator.randint(2**31)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # a part may have rows of one class only
            return model.fit(X, y)
