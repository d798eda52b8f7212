"""What classifiers of two classes with a single rule share."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from pacboost.bounds.certificate import Certificate
from pacboost.errors import DataError, NotCertified
from pacboost.estimators.fitted.training_rows import RemembersRows
from pacboost.estimators.fitting.atomic import all_or_nothing
from pacboost.estimators.inputs.division import counted, once_each
from pacboost.estimators.inputs.labels import read_labels, two_classes
from pacboost.estimators.inputs.tables import open_table
from pacboost.estimators.inputs.warn import warn_of_one_class
from pacboost.hypotheses.hypothesis import Names, Rule
from pacboost.models.model import answer_names
from pacboost.numerics.checks import probability
from pacboost.samples.equal_rows import Examples, check_copies
from pacboost.samples.sample import Signs, unlabelled
from pacboost.sources.arrays import ArrayTable

Rows = NDArray[np.float64]


class RuleClassifier(ClassifierMixin, RemembersRows, BaseEstimator):  # type: ignore[misc]
    """A classifier of two classes whose fit leaves one rule, ``rule_``, and ``classes_``."""

    delta: float
    rule_: Rule
    classes_: NDArray[Any]
    mistakes_: int
    n_rows_: int
    _copies: str = ""
    """What is wrong with the training rows, if some are surely copies of others."""
    _examples: Examples | None = None
    """Which training rows are one example."""

    def fit(self, X: Any, y: Any, *, copies: str = "auto") -> Self:
        """Find the rule; after a failure the estimator is as it was before.

        Of rows that are copies of one example, one is learned from; ``copies`` is that of
        BoostClassifier.fit.
        """
        check_copies(copies)
        with all_or_nothing(self):
            probability("delta", self.delta)
            rows = self._read(X, reset=True)
            self._remember(ArrayTable(rows))
            divided, self._copies = once_each(rows, read_labels(y, len(rows)), copies)
            self._examples = divided.examples
            self.classes_, signs = two_classes(divided.y)
            self.n_rows_ = len(divided.X)
            self._find(divided.X, signs)
        warn_of_one_class(self.classes_, certified=False)
        return self

    @abstractmethod
    def _find(self, X: Rows, signs: Signs) -> None:
        """Set ``rule_``, ``mistakes_`` and the other fitted attributes."""

    @abstractmethod
    def _certify(self) -> Certificate:
        """Apply the theorem to the fitted rule."""

    def predict(self, X: Any) -> NDArray[Any]:
        """Give the class that the rule predicts."""
        check_is_fitted(self)
        positive = self._answers(self._read(X, reset=False)) > 0
        predicted: NDArray[Any] = self.classes_[(positive & (self.classes_.size == 2)).astype(int)]
        return predicted

    @property
    def certificate_(self) -> Certificate:
        """The bound on the risk; raises NotCertified where its theorem does not apply."""
        self._need_fit("certificate_")
        if self.classes_.size == 1:
            raise NotCertified(
                "y held one class only, so it is not known which class the rule speaks of; fit on "
                "rows of both classes"
            )
        if self._copies:
            raise NotCertified(self._copies)
        return counted(self._certify(), self._examples)

    @property
    def consistent_(self) -> bool:
        """Whether the rule makes no mistake on the training rows."""
        self._need_fit("consistent_")
        return self.mistakes_ == 0

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "rule_")

    def _need_fit(self, name: str) -> None:
        if not hasattr(self, "rule_"):
            raise AttributeError(f"{name} is there after fit; this estimator is not fitted yet")

    def _answers(self, X: Rows) -> NDArray[Any]:
        return self.rule_.answers(unlabelled(ArrayTable(X)))

    def _words(self) -> str:
        names = getattr(self, "feature_names_in_", None)
        minus, plus = answer_names(self.classes_)
        return self.rule_.words(
            Names(lambda j: f"x{j}" if names is None else names[j], (minus, plus))
        )

    def _read(self, X: Any, *, reset: bool) -> Rows:
        """Take rows as they come, as doubles; refuse sparse ones and missing values."""
        if sparse.issparse(X):
            raise DataError("X is sparse; dense rows are needed here. Give X.toarray() instead.")
        table = open_table(self, X, reset=reset)
        rows = np.asarray(table.rows(), dtype=np.float64)
        missing = np.argwhere(np.isnan(rows))
        if missing.size:
            row, column = missing[0].tolist()
            raise DataError(
                f"column {table.name(column)} holds NaN in row {row}; {type(self).__name__} needs "
                "every value. Fill missing ones in or drop those rows."
            )
        return rows
