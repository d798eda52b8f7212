"""Make a booster of what users name as one."""

from __future__ import annotations

from typing import Any

from pacboost.boosters.absolute import Absolute
from pacboost.boosters.adaboost import AdaBoost
from pacboost.boosters.adaboost_v import AdaBoostV
from pacboost.boosters.arc_gv import ArcGV
from pacboost.boosters.booster import Booster
from pacboost.boosters.brown import Brown
from pacboost.boosters.corrective_erlp import CorrectiveERLP
from pacboost.boosters.erlp import ERLP
from pacboost.boosters.filter_boost import FilterBoost
from pacboost.boosters.gentle import Gentle
from pacboost.boosters.graph_separation import GraphSeparation
from pacboost.boosters.logit import Logit
from pacboost.boosters.lp import LP
from pacboost.boosters.mada import Mada
from pacboost.boosters.majority import Majority
from pacboost.boosters.measure import Measure
from pacboost.boosters.mlp import MLP
from pacboost.boosters.projection import Projection
from pacboost.boosters.residual import Residual
from pacboost.boosters.smooth import Smooth
from pacboost.boosters.soft import Soft
from pacboost.boosters.square import Square
from pacboost.boosters.total import Total
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
    "adaboost_v": AdaBoostV,
    "arc_gv": ArcGV,
    "lp": LP,
    "total": Total,
    "soft": Soft,
    "erlp": ERLP,
    "corrective_erlp": CorrectiveERLP,
    "mlp": MLP,
    "brown": Brown,
    "majority": Majority,
    "graph_separation": GraphSeparation,
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
