"""Boosting by majority behind the scikit-learn API."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.boosters.majority import Majority
from pacboost.errors import ParameterError
from pacboost.estimators.boosting.base import Boosting
from pacboost.estimators.boosting.boost import BoostClassifier
from pacboost.estimators.boosting.fit import Recipe
from pacboost.estimators.inputs.documented import accepts_aliases, documented_like
from pacboost.estimators.inputs.examples import LabelledRows
from pacboost.learners.choose import as_learner
from pacboost.numerics.checks import positive_whole, real_number

MOST_FOR_TABLE = 5_001
"""A larger table than this would take more than 200 MB: (k + 1)² numbers of 8 bytes."""


@accepts_aliases
@documented_like(BoostClassifier)
@dataclass(eq=False, repr=False)
class BoostByMajority(Boosting):
    """Freund's boosting by majority: optimal in the number of rounds for a promised edge.

    The number of rounds follows from ``edge`` and ``epsilon`` before any row is seen, and every
    rule has the same vote. If all rules keep the promise, the training error is at most epsilon
    after the last round. If one breaks it by more than was to spare, the run stops and says which
    edge the learner gave; the certificate then holds for the rounds that were done.
    ``FilterBoostClassifier(booster="majority", edge=…, epsilon=…)`` does the same without storing
    the rows.

    Parameters
    ----------
    edge : float, default=0.1
        The promised edge: every rule has a weighted error of at most (1 - edge)/2.
    epsilon : float, default=0.05
        The training error to be reached.
    n_estimators : int or None, default=None
        Stop after so many rounds, if that is earlier.

    Attributes
    ----------
    rounds_ : int
        The number of rounds k that the promised edge needs.
    potentials_ : ndarray of shape (k + 1, k + 1)
        ``potentials_[i, r]`` is the chance that a row is lost which r of the first i rules got
        right, if all others keep the promise and no more; NaN for r > i.
    ledger_, certificate_, classes_, feature_importances_ : as in AdaBoostClassifier

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = BoostByMajority(edge=0.4, epsilon=0.1).fit(X, y)
    >>> model.rounds_, round(float(model.potentials_[0, 0]), 4)
    (9, 0.0988)
    >>> model.ledger_.rounds[-1].training_error <= 0.1
    True
    """

    edge: float = 0.1
    epsilon: float = 0.05
    learner: Any = "tree"
    n_estimators: int | None = None
    _: KW_ONLY
    max_bins: int = 255
    categorical_features: Any = "from_dtype"
    class_weight: Any = None
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
    random_state: Any = None

    def _recipe(self, examples: LabelledRows) -> Recipe:
        self._promise = Majority(
            real_number("edge", self.edge), real_number("epsilon", self.epsilon)
        )
        rounds = self._promise.rounds
        if self.n_estimators is not None:
            rounds = min(rounds, positive_whole("n_estimators", self.n_estimators))
        return Recipe(as_learner(self.learner, "learner"), self._promise, rounds)

    @property
    def rounds_(self) -> int:
        """The number of rounds that the promised edge needs."""
        self._fitted("rounds_")
        return self._promise.rounds

    @property
    def potentials_(self) -> NDArray[np.float64]:
        """The potentials of all rounds, as an array of shape (rounds_ + 1, rounds_ + 1)."""
        rounds = self.rounds_
        if rounds > MOST_FOR_TABLE:
            raise ParameterError(
                f"the table of {rounds} rounds is too large: {8e-6 * (rounds + 1) ** 2:,.0f} MB, "
                "and about 200 are allowed; Majority(edge, epsilon).potentials(i) of "
                "pacboost.boosters.majority gives a line of it"
            )
        table = np.full((rounds + 1, rounds + 1), np.nan)
        for i, line in enumerate(table):
            line[: i + 1] = self._promise.potentials(i)
        return table
