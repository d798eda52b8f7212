"""The tightest axis-parallel box behind the scikit-learn API."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from pacboost.bounds import rectangle
from pacboost.bounds.certificate import Certificate
from pacboost.errors import DataError, NotCertified, OneClassWarning
from pacboost.estimators import door
from pacboost.hypotheses.hypothesis import Hypothesis, Names
from pacboost.learners.rectangle import Box, tightest
from pacboost.models.model import answer_names
from pacboost.numerics.checks import probability
from pacboost.samples.sample import Signs, unlabelled
from pacboost.sources.arrays import ArrayTable

Rows = NDArray[np.float64]


class RuleClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier of two classes whose fit leaves one rule, ``rule_``, and ``classes_``."""

    delta: float
    rule_: Hypothesis
    classes_: NDArray[Any]
    mistakes_: int
    n_rows_: int

    def fit(self, X: Any, y: Any) -> Self:
        """Find the rule; after a failure the estimator is as it was before."""
        before = self.__dict__.copy()
        try:
            probability("delta", self.delta)
            rows = self._read(X, reset=True)
            self.classes_, signs = door.two_classes(door.read_labels(y, len(rows)))
            self.n_rows_ = len(rows)
            self._find(rows, signs)
        except BaseException:
            self.__dict__ = before
            raise
        if self.classes_.size == 1:
            warnings.warn(
                f"y holds one class only ({self.classes_.tolist()[0]!r}); the classifier is "
                "constant and not certified",
                OneClassWarning,
                stacklevel=2,
            )
        return self

    @abstractmethod
    def _find(self, X: Rows, signs: Signs) -> None:
        """Set ``rule_``, ``mistakes_`` and whatever else is told."""

    @abstractmethod
    def _certify(self) -> Certificate:
        """Apply the theorem to what fit left."""

    def predict(self, X: Any) -> NDArray[Any]:
        """Give the class the rule answers."""
        check_is_fitted(self)
        positive = self._answers(self._read(X, reset=False)) > 0
        predicted: NDArray[Any] = self.classes_[(positive & (self.classes_.size == 2)).astype(int)]
        return predicted

    @property
    def certificate_(self) -> Certificate:
        """The bound on the risk; refuses in words where its theorem does not apply."""
        self._need_fit("certificate_")
        if self.classes_.size == 1:
            raise NotCertified(
                "y held one class only, so it is not known which class the rule speaks of; fit on "
                "rows of both classes"
            )
        return self._certify()

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
            Names(lambda j: f"x{j}" if names is None else names[j], minus, plus)
        )

    def _read(self, X: Any, *, reset: bool) -> Rows:
        """Take rows as they come, as doubles; refuse sparse ones and missing values."""
        if sparse.issparse(X):
            raise DataError("X is sparse; dense rows are needed here. Give X.toarray() instead.")
        table = door.open_table(self, X, reset=reset)
        rows = np.asarray(table.rows(), dtype=np.float64)
        missing = np.argwhere(np.isnan(rows))
        if missing.size:
            row, column = missing[0].tolist()
            raise DataError(
                f"column {table.name(column)} holds NaN in row {row}; {type(self).__name__} needs "
                "every value. Fill missing ones in or drop those rows."
            )
        return rows


class RectangleClassifier(RuleClassifier):
    """The tightest axis-parallel box around the rows of the second class, with its certificate.

    Where some box labels all examples, this one learns it: it needs no more than about
    (2d + ln(1/delta))/epsilon examples for risk epsilon in d dimensions. On labels that no box
    explains it still predicts, but its certificate refuses.

    Parameters
    ----------
    delta : float, default=0.05
        The probability with which the certificate may fail.

    Attributes
    ----------
    lower_, upper_ : ndarray
        The ends of the box, which belong to it.
    consistent_ : bool
        Whether no row of the first class lies in the box.
    mistakes_ : int
        How many do.
    certificate_ : Certificate
        The bound on the risk, from the number of rows and features alone.
    hypothesis_ : str
        The box in words.
    classes_, n_features_in_, feature_names_in_ : as in scikit-learn

    Examples
    --------
    >>> from pacboost.sources.worlds import Boxes
    >>> world = Boxes((0.2, 0.3), (0.7, 0.9))
    >>> model = RectangleClassifier().fit(*world.draw(1000, 0))
    >>> round(model.certificate_.value, 4), model.consistent_
    (0.0077, True)
    >>> world.box_risk(model.lower_, model.upper_) <= model.certificate_.value
    True
    """

    rule_: Box

    def __init__(self, delta: float = 0.05) -> None:
        self.delta = delta

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Give the distance to the nearest side: above 0 in the box, below 0 outside."""
        check_is_fitted(self)
        return self.rule_.depth(self._read(X, reset=False))

    @property
    def hypothesis_(self) -> str:
        """The box in words."""
        self._need_fit("hypothesis_")
        return self._words()

    def _find(self, X: Rows, signs: Signs) -> None:
        self.rule_ = tightest(X, signs)
        self.lower_, self.upper_ = self.rule_.lower, self.rule_.upper
        self.mistakes_ = int((self._answers(X) != signs).sum())

    def _certify(self) -> Certificate:
        return rectangle.certificate(
            self.n_rows_, self.delta, int(self.n_features_in_), self.mistakes_
        )
