"""Make a booster of what users name as one."""

from __future__ import annotations

from typing import Any

from pacboost.boosters.absolute import Absolute
from pacboost.boosters.adaboost import AdaBoost
from pacboost.boosters.booster import Booster
from pacboost.boosters.filter_boost import FilterBoost
from pacboost.boosters.gentle import Gentle
from pacboost.boosters.logit import Logit
from pacboost.boosters.mada import Mada
from pacboost.boosters.measure import Measure
from pacboost.boosters.projection import Projection
from pacboost.boosters.residual import Residual
from pacboost.boosters.smooth import Smooth
from pacboost.boosters.square import Square
from pacboost.errors import ParameterError

BOOSTERS: dict[str, type[Booster[Any]]] = {
    "adaboost": AdaBoost,
    "logit": Logit,
    "gentle": Gentle,
    "mada": Mada,
    "filter_boost": FilterBoost,
    "measure": Measure,
    "smooth": Smooth,
    "projection": Projection,
}
"""By the names of their files."""

LOSSES: dict[str, type[Residual]] = {"square": Square, "absolute": Absolute}
"""Boosters of regression, by the loss they lower."""


def as_loss(choice: Any) -> Residual:
    """Take the name of a loss.

    >>> as_loss("absolute")
    Absolute(learning_rate=1.0)
    """
    if isinstance(choice, str) and choice in LOSSES:
        return LOSSES[choice]()
    raise ParameterError(f"loss is {choice!r}; it may be {', '.join(map(repr, LOSSES))}")


def as_booster(choice: Any) -> Booster[Any]:
    """Take a name or a booster.

    >>> as_booster("gentle")
    Gentle(learning_rate=1.0)
    """
    if isinstance(choice, Booster):
        return choice
    if isinstance(choice, str) and choice in BOOSTERS:
        return BOOSTERS[choice]()
    raise ParameterError(
        f"booster is {choice!r}; it may be {', '.join(map(repr, BOOSTERS))}, or a booster of "
        "pacboost (an object, not a class)"
    )
