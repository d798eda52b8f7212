"""The names of all boosters, and the modules that define them.

The command line offers all names without importing a booster; a module is imported when one of its
boosters is first asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pacboost.boosters.booster import Booster


class Registry(Mapping[str, "type[Booster[Any]]"]):
    """Booster classes by their names.

    >>> "arc_gv" in BOOSTERS, "booster" in BOOSTERS, list(LOSSES)[:3]
    (True, False, ['absolute', 'gamma', 'huber'])
    >>> BOOSTERS["arc_gv"].__name__
    'ArcGV'
    """

    def __init__(self, modules: Mapping[str, str]) -> None:
        self._modules = modules

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._modules))

    def __len__(self) -> int:
        return len(self._modules)

    def __getitem__(self, name: str) -> type[Booster[Any]]:
        module = import_module(f"pacboost.boosters.{self._modules[name]}")
        kinds = [kind for kind in vars(module).values() if isinstance(kind, type)]
        return next(kind for kind in kinds if getattr(kind, "name", None) == name)


MODULES = {
    "adaboost": "adaboost",
    "adaboost_v": "maximal_margin",
    "arc_gv": "maximal_margin",
    "brown": "brown",
    "corrective_erlp": "soft_margin",
    "erlp": "soft_margin",
    "filter_boost": "filtering",
    "gentle": "newton",
    "graph_separation": "graph_separation",
    "logit": "logit",
    "lp": "soft_margin",
    "mada": "filtering",
    "majority": "majority",
    "measure": "filtering",
    "mlp": "soft_margin",
    "projection": "projection",
    "smooth": "filtering",
    "soft": "soft_margin",
    "total": "soft_margin",
}
"""The module of each booster, by its ``name``."""
BOOSTERS = Registry(MODULES)
LOSSES = Registry(
    dict.fromkeys(["absolute", "gamma", "huber", "poisson", "quantile", "square"], "regression")
)
"""Boosters of regression, by the loss that they lower."""
LOSS_NAMES = {"squared_error": "square", "absolute_error": "absolute"}
"""Names of losses in scikit-learn, and in pacboost."""


def loss_names() -> list[str]:
    """Return the names of all losses, by scikit-learn's names, without importing a booster.

    >>> loss_names()
    ['squared_error', 'absolute_error', 'gamma', 'huber', 'poisson', 'quantile']
    """
    return [*LOSS_NAMES, *(name for name in LOSSES if name not in LOSS_NAMES.values())]
