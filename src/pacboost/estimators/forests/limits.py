"""Parameters of forests that may be shares, numbers or words, as scikit-learn reads them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pacboost.errors import ParameterError
from pacboost.estimators.inputs.parameters import positive_integer, real_number


def portion(name: str, value: Any, whole: int) -> int:
    """Read a share or a number of the rows.

    >>> portion("max_samples", 0.5, 7), portion("min_samples_leaf", 3, 7)
    (4, 3)
    """
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return positive_integer(name, value)
    share = real_number(name, value)
    if not 0 < share <= 1:
        raise ParameterError(
            f"{name} is {share}; it must be a share in (0, 1], or a whole number from 1 on"
        )
    return max(1, math.ceil(float(share) * whole))


def share_of_weight(value: Any) -> float:
    """Read the share of all weight that a leaf has at least."""
    share = float(real_number("min_weight_fraction_leaf", value))
    if not 0 <= share <= 0.5:
        raise ParameterError(f"min_weight_fraction_leaf is {share}; it must lie in [0, 0.5]")
    return share


def tries(value: Any, columns: int) -> int:
    """Read how many features are drawn at a split."""
    if value is None:
        return columns
    if isinstance(value, str):
        if value not in ("sqrt", "log2"):
            raise ParameterError(
                f"max_features is {value!r}; it may be 'sqrt', 'log2', a share, a number or None"
            )
        root = math.sqrt(columns) if value == "sqrt" else math.log2(columns)
        return max(1, int(root))
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return int(min(columns, positive_integer("max_features", value)))
    share = real_number("max_features", value)
    if not 0 < share <= 1:
        raise ParameterError(
            f"max_features is {share}; it must be a share in (0, 1], a whole number from 1 on, "
            "'sqrt', 'log2' or None"
        )
    return max(1, int(float(share) * columns))
