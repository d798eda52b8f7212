"""The mean cost of the predictions, by a matrix of costs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pacboost.bounds.measure import MeanLoss
from pacboost.bounds.scored_rows import Doubles, ScoredRows
from pacboost.errors import ParameterError


@dataclass(frozen=True, eq=False)
class Cost(MeanLoss):
    """Mean cost of the predictions.

    Parameters
    ----------
    costs : matrix or mapping
        A matrix with true classes down and predictions across, or {(true, predicted): cost}; a
        pair that a mapping does not name costs 0.
    """

    costs: ArrayLike | Mapping[Any, float]

    name = "cost"
    words = "the mean cost on {new}, where one costs at most {scale}, is {at} {value}"
    rare = True
    needs = "what each mistake costs"
    call = "measures.cost({(1, 0): 50, (0, 1): 1})"

    def losses(self, rows: ScoredRows) -> tuple[Doubles, float]:
        """Return the cost of each row; that of a label not known, or of no answer, is the most."""
        matrix = cost_matrix(self.costs, rows.classes)
        scale, predicted = float(matrix.max()), rows.places_of(rows.predictions)
        costs = matrix[np.maximum(rows.places, 0), predicted]
        # the most that one can cost: a label that the model does not know may not make the claim
        # better
        return np.where((rows.places >= 0) & (predicted >= 0), costs, scale) / scale, scale


def cost_matrix(
    costs: ArrayLike | Mapping[Any, float], classes: NDArray[Any]
) -> NDArray[np.float64]:
    """Read costs: a matrix (true, predicted), or a mapping {(true, predicted): cost}."""
    number = classes.size
    if isinstance(costs, Mapping):
        places = {name: place for place, name in enumerate(classes.tolist())}
        matrix = np.zeros((number, number))
        for pair, cost in costs.items():
            if not isinstance(pair, tuple) or len(pair) != 2 or not set(pair) <= set(places):
                raise ParameterError(
                    f"costs name {pair!r}; keys are pairs (true class, predicted class) of "
                    f"{', '.join(map(repr, places))}",
                    parameter="cost",
                )
            matrix[places[pair[0]], places[pair[1]]] = cost
    else:
        matrix = np.asarray(costs, dtype=np.float64)
    if matrix.shape != (number, number) or not ((matrix >= 0) & (matrix < math.inf)).all():
        raise ParameterError(
            f"costs have shape {matrix.shape}; for {number} classes they are {number} by {number} "
            "finite numbers, 0 or more, true classes down and predictions across",
            parameter="cost",
        )
    if matrix.max() <= 0:
        raise ParameterError("all costs are 0; at least one has to be larger", parameter="cost")
    return matrix
