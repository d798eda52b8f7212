"""What ``early_stopping`` means, for every estimator that has it.

False never stops early: validation rows, if there are some, are measured and recorded. True, a
number of rounds, "refit" and "auto" stop by validation rows that are given (``X_val``); without
them, rows are held back.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pacboost.errors import ParameterError
from pacboost.estimators.inputs.parameters import positive_integer

FEW_ROWS, MANY_ROWS = 20_000, 30_000
"""Of few rows none can be spared to stop early on; many can, and they bear larger steps. Between
them all settings change in proportion to the number of rows, so that none of them jumps."""


def many(rows: int) -> float:
    """Say how far a number of rows is from few to many: 0 for few, 1 for many.

    >>> [many(rows) for rows in (100, 20_000, 22_500, 25_000, 30_000, 10**6)]
    [0.0, 0.0, 0.25, 0.5, 1.0, 1.0]
    """
    return min(1.0, max(0.0, (rows - FEW_ROWS) / (MANY_ROWS - FEW_ROWS)))


def stops_early(early_stopping: Any, spared: float) -> bool:
    """Tell whether rows are held back to stop early on; with "auto", if some can be ``spared``.

    >>> [stops_early(choice, 0.0) for choice in (False, True, 10, "refit", "auto")]
    [False, True, True, True, False]
    """
    if is_truth(early_stopping):
        return bool(early_stopping)
    if isinstance(early_stopping, str) and early_stopping in ("auto", "refit"):
        return early_stopping == "refit" or spared > 0
    if isinstance(early_stopping, str):
        raise ParameterError(
            f"early_stopping is {early_stopping!r}; it may be True, False, a number of rounds "
            "without progress, 'refit' or 'auto'"
        )
    return positive_integer("early_stopping", early_stopping) > 0


def patience(estimator: Any) -> int | None:
    """Give the number of rounds without progress after which a run stops, None for never."""
    rounds = positive_integer("n_iter_no_change", estimator.n_iter_no_change)
    asked = estimator.early_stopping
    if is_truth(asked) or isinstance(asked, str):
        return rounds if asked else None
    return positive_integer("early_stopping", asked)


def is_truth(value: Any) -> bool:
    """Tell whether a value is True or False, of Python or NumPy."""
    return isinstance(value, bool | np.bool_)
