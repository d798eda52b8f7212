"""Checks of the parameters that boosters share."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pacboost.errors import ParameterError


def check_rate(name: str, value: float) -> None:
    """Raise unless a number is finite and above 0."""
    if not (math.isfinite(value) and value > 0):
        raise ParameterError(f"{name} is {value}; it must be above 0")


def check_not_negative(name: str, value: float) -> None:
    """Raise unless a number is finite, and 0 or more."""
    if not (math.isfinite(value) and value >= 0):
        raise ParameterError(f"{name} is {value}; it must be 0 or more")


def check_shrinkage(name: str, value: float) -> None:
    """Raise unless a number lies in (0, 1]: what the loss needs to fall in every round."""
    if not 0 < value <= 1:
        raise ParameterError(
            f"{name} is {value}; it must lie in (0, 1]: a longer step than the best one can make "
            "the loss rise"
        )


def same_setting(name: str, value: float, memory: Sequence[float]) -> None:
    """Raise unless the earlier rounds of a run that goes on were made with the same setting."""
    if memory and memory[0] != value:
        raise ParameterError(
            f"{name} is {value}, but it was {memory[0]} in the last fit, and one model cannot hold "
            "both; keep it, or set warm_start=False to start afresh"
        )
