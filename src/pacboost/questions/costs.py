"""What each kind of mistake costs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import ParameterError


def cost_matrix(costs: Any, classes: NDArray[Any]) -> NDArray[np.float64]:
    """Read costs: a matrix, true classes down and predictions across, or {(true, said): cost}.

    >>> cost_matrix({("sick", "well"): 10, ("well", "sick"): 1}, np.array(["sick", "well"]))
    array([[ 0., 10.],
           [ 1.,  0.]])
    """
    number = classes.size
    if isinstance(costs, Mapping):
        places = {name: place for place, name in enumerate(classes.tolist())}
        matrix = np.zeros((number, number))
        for pair, cost in costs.items():
            if not isinstance(pair, tuple) or len(pair) != 2 or not set(pair) <= set(places):
                raise ParameterError(
                    f"costs name {pair!r}; keys are pairs (true class, predicted class) of "
                    f"{', '.join(map(repr, places))}"
                )
            matrix[places[pair[0]], places[pair[1]]] = cost
    else:
        matrix = np.asarray(costs, dtype=np.float64)
    if matrix.shape != (number, number) or not ((matrix >= 0) & (matrix < math.inf)).all():
        raise ParameterError(
            f"costs have shape {matrix.shape}; for {number} classes they are {number} by {number} "
            "finite numbers, 0 or more, true classes down and predictions across"
        )
    if matrix.max() <= 0:
        raise ParameterError("all costs are 0; at least one has to be larger")
    return matrix
