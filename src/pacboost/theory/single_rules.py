"""Classifiers of two classes with a single rule: tightest boxes and finite classes."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from pacboost.bounds.certificate import Certificate
from pacboost.errors import DataError, NotCertified, ParameterError, invalid
from pacboost.estimators.fitted.estimator import Estimator
from pacboost.estimators.fitted.predicting import accuracy
from pacboost.estimators.fitting.attempt import all_or_nothing
from pacboost.estimators.inputs.aliases import accepts_aliases
from pacboost.estimators.inputs.documented import documented
from pacboost.estimators.inputs.rows import fits_rows, takes_rows
from pacboost.fit.noticing import counted
from pacboost.fit.targets import read_labels, two_classes, warn_of_one_class
from pacboost.hypotheses.hypothesis import Names, Rule
from pacboost.models.model import answer_names
from pacboost.numerics.checks import probability
from pacboost.samples.sample import Signs, unlabelled
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.explained_errors import explains_input
from pacboost.theory import finite, sample_sizes
from pacboost.theory.distinct_rows import read_numbers, take_rows
from pacboost.theory.learners import Box, tightest
from pacboost.theory.version_space import (
    DEFAULT_GRID,
    Bands,
    Conjunctions,
    FiniteClass,
    Listed,
    Literals,
)

Rows = NDArray[np.float64]


class RuleClassifier(ClassifierMixin, Estimator):  # type: ignore[misc]
    """The base of two-class classifiers with a single rule, ``rule_``."""

    _leaves_model = False
    delta: float
    rule_: Rule
    classes_: NDArray[Any]
    mistakes_: int
    n_rows_: int

    @fits_rows
    def fit(self, X: ArrayLike, y: ArrayLike, *, copies: str = "draws") -> Self:
        """Find the rule; after a failure the estimator is unchanged.

        With ``copies="distinct"``, one of several equal rows is used: see ``BoostClassifier.fit``.
        """
        with all_or_nothing(self):
            probability("delta", self.delta)
            rows = read_numbers(self, X, reset=True)
            labels = read_labels(y, len(rows))
            divided = take_rows(self, ArrayTable(rows), rows, labels, copies)
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

    @takes_rows
    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the class that the rule predicts."""
        check_is_fitted(self)
        positive = self._answers(read_numbers(self, X, reset=False)) > 0
        return np.asarray(self.classes_[(positive & (self.classes_.size == 2)).astype(int)])

    @takes_rows
    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the accuracy."""
        return accuracy(self, X, y, sample_weight)

    @property
    def certificate_(self) -> Certificate:
        """The bound on the risk; raises NotCertified if its theorem does not apply."""
        self._need_fit("certificate_")
        if self.classes_.size == 1:
            raise NotCertified(
                "y had one class, so the class that the rule predicts is unknown; fit on rows of "
                "both classes"
            )
        return counted(self._certify(), self._examples)

    @property
    def consistent_(self) -> bool:
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
            raise AttributeError(f"{name} is available after fit; this estimator is not fitted yet")

    def _answers(self, X: Rows) -> NDArray[Any]:
        return self.rule_.answers(unlabelled(ArrayTable(X)))

    def _words(self) -> str:
        names = getattr(self, "feature_names_in_", [f"x{j}" for j in range(self.n_features_in_)])
        return self.rule_.words(Names(list(names), answer_names(self.classes_)))


@accepts_aliases
class RectangleClassifier(RuleClassifier):
    """The tightest axis-parallel box around the rows of the second class, with its certificate.

    If some box labels all examples, it needs no more than about (2d + ln(1/delta))/epsilon examples
    for risk epsilon in d dimensions. On other labels it predicts, but has no certificate.

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
        The number of rows of the first class in the box.
    certificate_ : Certificate
        The bound on the risk, from the number of rows and features alone.
    hypothesis_ : str
        The box in words.
    classes_, n_features_in_, feature_names_in_ : as in scikit-learn

    Examples
    --------
    >>> from pacboost.theory.worlds import Boxes
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

    @takes_rows
    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the distance to the nearest side: above 0 in the box, below 0 outside."""
        check_is_fitted(self)
        return self.rule_.depth(read_numbers(self, X, reset=False))

    @property
    def hypothesis_(self) -> str:
        self._need_fit("hypothesis_")
        return self._words()

    def _find(self, X: Rows, signs: Signs) -> None:
        self.rule_ = tightest(X, signs)
        self.lower_, self.upper_ = self.rule_.lower, self.rule_.upper
        self.mistakes_ = int((self._answers(X) != signs).sum())

    def _certify(self) -> Certificate:
        return sample_sizes.box_certificate(
            self.n_rows_, self.delta, int(self.n_features_in_), self.mistakes_
        )


@accepts_aliases
@documented
@dataclass(eq=False, repr=False)
class VersionSpaceClassifier(RuleClassifier):
    """A learner that searches a finite class of hypotheses for one that fits all rows.

    The hypotheses that fit are the version space. The risk of each is at most
    (ln|H| + ln(1/delta))/n with probability 1 - delta. If none fits, the one with the fewest
    mistakes is chosen, and the certificate counts them. The class must be fixed before the rows are
    seen: a grid made from the data is not covered.

    Parameters
    ----------
    hypotheses : str or list of functions, default="thresholds"
        "conjunctions" or "disjunctions" of literals, for features with two values each;
        "thresholds" (above a cut, or up to it) or "intervals" on single features, with ends in
        ``grid``; or your own functions of rows that give a number above 0 for the second class.
    grid : sequence of numbers or None, default=None
        The cuts for thresholds and intervals, fixed before the data. None means the multiples of
        1/8 from -4 to 4, which suits standardised features.
    feature : int, str or None, default=None
        The only feature that thresholds and intervals look at, by number or name; None means each.

    Attributes
    ----------
    hypothesis_ : str
        The hypothesis in words.
    consistent_ : bool
        Whether it makes no mistake on the training rows.
    mistakes_ : int
        The number of its mistakes on the training rows.
    log_size_ : float
        Natural logarithm of the number of hypotheses.
    version_space_size_ : int or None
        The number of hypotheses without mistakes; None for literals of more than 12 features, for
        which one hypothesis is searched (and, if none fits, one with few mistakes).
    certificate_ : Certificate
        The bound on the risk.
    classes_, n_features_in_, feature_names_in_ : as in scikit-learn

    Examples
    --------
    >>> from pacboost.theory.finite_worlds import BooleanConcept
    >>> world = BooleanConcept(5, lambda X: (X[:, 0] == 1) & (X[:, 3] == 0))
    >>> model = VersionSpaceClassifier("conjunctions").fit(*world.draw(100, 0))
    >>> model.hypothesis_, model.version_space_size_
    ('x0 and not x3 → 1, else -1', 1)
    >>> round(model.certificate_.value, 4)
    0.0814
    """

    hypotheses: Any = "thresholds"
    delta: float = 0.05
    _: KW_ONLY
    grid: Any = None
    feature: Any = None

    @explains_input
    def epsilon_exhausted(self, epsilon: float) -> float:
        """Bound the chance that some hypothesis with risk above epsilon fits all rows.

        The bound is |H| exp(-epsilon·n). If it is at most delta, the version space is
        epsilon-exhausted with probability 1 - delta.
        """
        self._need_fit("epsilon_exhausted")
        exponent = self.log_size_ - probability("epsilon", epsilon) * self.n_rows_
        return min(1.0, math.exp(min(exponent, 0.0)) * (1 + 1e-12))

    @explains_input
    def exhausted_to(self, delta: float | None = None) -> float:
        """Return the epsilon to which the version space is exhausted with probability 1 - delta."""
        self._need_fit("exhausted_to")
        level = self.delta if delta is None else delta
        return finite.consistent(self.n_rows_, level, self.log_size_)

    def _find(self, X: Rows, signs: Signs) -> None:
        chosen = self._class()
        result = chosen.search(X, signs)
        self.rule_, self.mistakes_ = result.rule, result.mistakes
        self.version_space_size_ = result.survivors
        self.log_size_ = math.log(chosen.size(X.shape[1]))
        self.hypothesis_ = self._words()
        self._low, self._high = X.min(axis=0), X.max(axis=0)

    def _certify(self) -> Certificate:
        return finite.certificate(self.mistakes_, self.n_rows_, self.delta, self.log_size_)

    def _answers(self, X: Rows) -> Any:
        # literals were learned from two values of each feature: of a third one it is not known
        # whether it counts as true
        third = (self._low != X) & (self._high != X) & (self._low != self._high)
        if isinstance(self.rule_, Literals) and third.any():
            row, column = np.argwhere(third)[0].tolist()
            raise DataError(
                f"column {column} has {X[row, column]:g} in row {row}; in fit it had only "
                f"{self._low[column]:g} and {self._high[column]:g}"
            )
        return super()._answers(X)

    def _class(self) -> FiniteClass:
        kind = self.hypotheses
        if isinstance(kind, str) and kind in ("thresholds", "intervals"):
            return Bands(self._grid(), self._feature(), kind == "intervals")
        if self.grid is not None or self.feature is not None:
            raise ParameterError("grid and feature are for thresholds and intervals only")
        if isinstance(kind, str) and kind in ("conjunctions", "disjunctions"):
            return Conjunctions(every=kind == "conjunctions")
        if isinstance(kind, Sequence) and kind and all(callable(part) for part in kind):
            return Listed(tuple(kind))
        names = "conjunctions, disjunctions, thresholds, intervals"
        raise invalid("hypotheses", kind, f"may be {names}, or a list of functions")

    def _grid(self) -> tuple[float, ...]:
        if self.grid is None:
            return DEFAULT_GRID
        cuts = np.asarray(self.grid)
        if cuts.ndim != 1 or not cuts.size or cuts.dtype.kind not in "fiu":
            raise invalid("grid", self.grid, "must be a list of numbers")
        if not np.isfinite(cuts).all():
            raise ParameterError("grid has NaN or infinity; its cuts must be finite")
        return tuple(np.unique(cuts.astype(np.float64)).tolist())

    def _feature(self) -> int | None:
        if self.feature is None:
            return None
        names = getattr(self, "feature_names_in_", None)
        if isinstance(self.feature, str) and names is not None and self.feature in names:
            return list(names).index(self.feature)
        is_number = isinstance(self.feature, Integral) and not isinstance(self.feature, bool)
        if is_number and 0 <= self.feature < self.n_features_in_:
            return int(self.feature)
        last = self.n_features_in_ - 1
        allowed = f"must be None, a number from 0 to {last}, or the name of a column"
        raise invalid("feature", self.feature, allowed)
