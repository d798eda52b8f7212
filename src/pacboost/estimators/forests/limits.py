"""Parameters of forests, as scikit-learn reads them."""

from __future__ import annotations

import math
from typing import Any

from pacboost.errors import ParameterError
from pacboost.estimators.inputs.parameters import real_number, share_or_count


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
    words = "'sqrt', 'log2' or None"
    return min(columns, share_or_count("max_features", value, columns, int, words))
