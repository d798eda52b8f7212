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

ROWS_TO_SPARE = 25_000
"""Of so many rows a tenth can be spared to stop early on; and so many bear larger steps."""


def stops_early(early_stopping: Any, rows: int, enough: int) -> bool:
    """Tell whether rows are held back to stop early on; with "auto", if there are ``enough``.

    >>> [stops_early(choice, 100, 200) for choice in (False, True, 10, "refit", "auto")]
    [False, True, True, True, False]
    """
    if is_truth(early_stopping):
        return bool(early_stopping)
    if isinstance(early_stopping, str) and early_stopping in ("auto", "refit"):
        return early_stopping == "refit" or rows >= enough
    if isinstance(early_stopping, str):
        raise ParameterError(
            f"early_stopping is {early_stopping!r}; it may be True, False, a number of rounds "
            "without progress, 'refit' or 'auto'"
        )
    return positive_integer("early_stopping", early_stopping) > 0


def refits(estimator: Any, rows: int, enough: int) -> bool:
    """Tell whether a second run boosts on all rows, those held back to stop early included."""
    if estimator.warm_start or not isinstance(estimator.early_stopping, str):
        return False
    few = rows < ROWS_TO_SPARE or estimator.early_stopping == "refit"
    return few and stops_early(estimator.early_stopping, rows, enough)


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
