"""The tightest axis-parallel box behind the scikit-learn API."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from pacboost.bounds import rectangle
from pacboost.bounds.certificate import Certificate
from pacboost.estimators.inputs.aliases import accepts_aliases
from pacboost.estimators.single_rules.base import Rows, RuleClassifier
from pacboost.learners.rectangle import Box, tightest
from pacboost.samples.sample import Signs


@accepts_aliases
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
