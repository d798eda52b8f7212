"""The toy example of the lectures: three rounds of AdaBoost on ten points, and the final vote."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pacboost.errors import DataError
from pacboost.estimators.boosting.adaboost import AdaBoostClassifier
from pacboost.models.explain.proof import ProofStep
from pacboost.numerics.checks import positive_whole
from pacboost.pictures.regions import regions
from pacboost.reports.canvas import figure
from pacboost.sources.toy import lecture_points

MOST_ROUNDS = 11


class Single:
    """The rule of one round, as a classifier."""

    def __init__(self, model: AdaBoostClassifier, number: int) -> None:
        self._model, self._number = model, number

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict by the score that the round adds."""
        scores = np.array([s for s, _ in zip(self._staged(X), range(self._number), strict=False)])
        before = scores[-2] if self._number > 1 else 0.0
        second = (scores[-1] - before > 0).astype(np.intp)
        return np.asarray(self._model.classes_[second])

    def _staged(self, X: Any) -> Any:
        return self._model.staged_decision_function(X)


def toy(X: ArrayLike | None = None, y: ArrayLike | None = None, rounds: int = 3) -> NDArray[Any]:
    """Draw D_t and the rule of every round, then the vote of all; give the axes.

    Points have areas in proportion to D_t. Without rows it is the lecture's example: ten points,
    three stumps, errors 3/10, 3/14 and 3/22, and a vote without mistakes. Your own rows have two
    features and two classes.

    >>> len(toy())
    4
    """
    if (X is None) != (y is None):
        raise DataError("X and y come together; give both, or neither for the ten points")
    if X is None or y is None:
        X, y = lecture_points()
    count = positive_whole("rounds", rounds)
    if count > MOST_ROUNDS:
        raise DataError(f"rounds is {count}; up to {MOST_ROUNDS} can be drawn beside each other")
    model = AdaBoostClassifier(n_estimators=count).fit(X, y)
    proof = model.proof(X, y)
    wide = min(len(proof) + 1, 4)
    high = -(-(len(proof) + 1) // wide)
    grid: NDArray[Any] = figure((3.1 * wide, 3.3 * high)).subplots(high, wide, squeeze=False)
    axes = grid.ravel()
    for place, step in zip(axes, proof.steps, strict=False):
        _round(place, model, X, y, step)
    _final(axes[len(proof)], model, X, y)
    for place in axes[len(proof) + 1 :]:
        place.set_axis_off()
    return axes[: len(proof) + 1]


def _round(
    place: Any, model: AdaBoostClassifier, X: ArrayLike, y: ArrayLike, step: ProofStep
) -> None:
    regions(Single(model, step.number), X, y, place, weights=step.weights)
    place.set_title(
        f"round {step.number}: ε = {step.error:.3f}, α = {step.vote:.2f}", fontsize="medium"
    )
    _plain(place)


def _final(place: Any, model: AdaBoostClassifier, X: ArrayLike, y: ArrayLike) -> None:
    regions(model, X, y, place)
    votes = " + ".join(f"{vote:.2f}" for vote in model.votes_[:3])
    more = " + …" if model.votes_.size > 3 else ""
    place.set_title(f"the vote: {votes}{more}", fontsize="medium")
    _plain(place, legend=True)


def _plain(place: Any, *, legend: bool = False) -> None:
    if not legend:
        place.get_legend().remove()
    place.set_box_aspect(1)
