"""Finite classes of hypotheses behind the scikit-learn API."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import Any

import numpy as np

from pacboost.bounds import finite
from pacboost.bounds.certificate import Certificate
from pacboost.errors import DataError, ParameterError
from pacboost.estimators.inputs.aliases import accepts_aliases
from pacboost.estimators.inputs.documented import documented
from pacboost.estimators.single_rules.base import Rows, RuleClassifier
from pacboost.learners.version_space import (
    DEFAULT_GRID,
    Bands,
    Conjunctions,
    FiniteClass,
    Listed,
    Literals,
)
from pacboost.numerics.checks import probability
from pacboost.samples.sample import Signs

NAMES = ("conjunctions", "disjunctions", "thresholds", "intervals")


@accepts_aliases
@documented
@dataclass(eq=False, repr=False)
class VersionSpaceClassifier(RuleClassifier):
    """A learner that searches a finite class of hypotheses for one that fits all rows.

    The hypotheses that fit are the version space. Whichever of them is taken, its risk is at most
    (ln|H| + ln(1/delta))/n with probability 1 - delta. If none fits, the one with the fewest
    mistakes is taken, and the certificate counts them. Either way the class must have been chosen
    before the rows were seen: a grid made from the data is not covered.

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
        How many it makes.
    log_size_ : float
        Natural logarithm of the number of hypotheses.
    version_space_size_ : int or None
        How many hypotheses make no mistake; None for literals of more than 12 features, where only
        one is looked for (and, if none fits, few mistakes are found rather than surely the fewest).
    certificate_ : Certificate
        The bound on the risk.
    classes_, n_features_in_, feature_names_in_ : as in scikit-learn

    Examples
    --------
    >>> from pacboost.sources.worlds import BooleanConcept
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

    def epsilon_exhausted(self, epsilon: float) -> float:
        """Bound the chance that some hypothesis with risk above epsilon fits all rows.

        It is |H| exp(-epsilon·n). Where it is at most delta, the version space is epsilon-exhausted
        with probability 1 - delta.
        """
        self._need_fit("epsilon_exhausted")
        exponent = self.log_size_ - probability("epsilon", epsilon) * self.n_rows_
        return min(1.0, math.exp(min(exponent, 0.0)) * (1 + 1e-12))

    def exhausted_to(self, delta: float | None = None) -> float:
        """Give the epsilon to which the version space is exhausted with probability 1 - delta."""
        self._need_fit("exhausted_to")
        return finite.consistent(
            self.n_rows_, self.delta if delta is None else delta, self.log_size_
        )

    def _find(self, X: Rows, signs: Signs) -> None:
        chosen = self._class()
        found = chosen.search(X, signs)
        self.rule_, self.mistakes_ = found.rule, found.mistakes
        self.version_space_size_ = found.survivors
        self.log_size_ = math.log(chosen.size(X.shape[1]))
        self.hypothesis_ = self._words()
        self._low, self._high = X.min(axis=0), X.max(axis=0)

    def _certify(self) -> Certificate:
        return finite.certificate(self.mistakes_, self.n_rows_, self.delta, self.log_size_)

    def _answers(self, X: Rows) -> Any:
        if isinstance(self.rule_, Literals):
            self._refuse_third_value(X)
        return super()._answers(X)

    def _refuse_third_value(self, X: Rows) -> None:
        third = (self._low != X) & (self._high != X) & (self._low != self._high)
        if third.any():
            row, column = np.argwhere(third)[0].tolist()
            raise DataError(
                f"column {column} holds {X[row, column]:g} in row {row}; in fit it held only "
                f"{self._low[column]:g} and {self._high[column]:g}"
            )

    def _class(self) -> FiniteClass:
        name = self.hypotheses
        if isinstance(name, str) and name in NAMES[2:]:
            return Bands(self._grid(), self._feature(), name == "intervals")
        if self.grid is not None or self.feature is not None:
            raise ParameterError("grid and feature are for thresholds and intervals only")
        if isinstance(name, str) and name in NAMES:
            return Conjunctions(every=name == "conjunctions")
        if isinstance(name, Sequence) and name and all(callable(part) for part in name):
            return Listed(tuple(name))
        raise ParameterError(
            f"hypotheses is {name!r}; it may be {', '.join(NAMES)}, or a list of functions"
        )

    def _grid(self) -> tuple[float, ...]:
        if self.grid is None:
            return DEFAULT_GRID
        cuts = np.asarray(self.grid)
        if cuts.ndim != 1 or not cuts.size or cuts.dtype.kind not in "fiu":
            raise ParameterError(f"grid is {self.grid!r}; it must be a list of numbers")
        if not np.isfinite(cuts).all():
            raise ParameterError("grid holds NaN or infinity; its cuts must be finite")
        return tuple(np.unique(cuts.astype(np.float64)).tolist())

    def _feature(self) -> int | None:
        if self.feature is None:
            return None
        names = getattr(self, "feature_names_in_", None)
        if isinstance(self.feature, str) and names is not None and self.feature in names:
            return list(names).index(self.feature)
        whole = isinstance(self.feature, Integral) and not isinstance(self.feature, bool)
        if whole and 0 <= self.feature < self.n_features_in_:
            return int(self.feature)
        raise ParameterError(
            f"feature is {self.feature!r}; it must be None, a number from 0 to "
            f"{self.n_features_in_ - 1}, or the name of a column"
        )
