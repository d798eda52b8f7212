"""The names of all boosters, found by looking into the folder that holds them.

One file holds one booster, and both have the same name, so that listing the files is enough to know
the names: the command line offers them without loading a single booster. A booster is imported when
it is first asked for.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pacboost.boosters.base.booster import Booster


class Registry(Mapping[str, "type[Booster[Any]]"]):
    """The booster classes of a package by their names; packages inside it are not searched.

    >>> "arc_gv" in BOOSTERS, "booster" in BOOSTERS, list(LOSSES)[:3]
    (True, False, ['absolute', 'gamma', 'huber'])
    >>> BOOSTERS["arc_gv"].__name__
    'ArcGV'
    """

    def __init__(self, package: str) -> None:
        self._package = package
        self._known: dict[str, type[Booster[Any]]] = {}

    def __iter__(self) -> Iterator[str]:
        """Give the names in alphabetical order, without importing any booster."""
        found = pkgutil.iter_modules(import_module(self._package).__path__)
        return iter(sorted(module.name for module in found if not module.ispkg))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, name: object) -> bool:
        return name in self._known or name in tuple(self)  # the folder is read for new names only

    def __getitem__(self, name: str) -> type[Booster[Any]]:
        """Import the file of a booster and give its class, the one that has the same name."""
        if name in self._known:
            return self._known[name]
        if name not in self:
            raise KeyError(name)
        module = import_module(f"{self._package}.{name}")
        for value in vars(module).values():
            if isinstance(value, type) and getattr(value, "name", None) == name:
                self._known[name] = value
                return value
        raise TypeError(f"{module.__file__} holds no booster class whose name is {name!r}")


BOOSTERS = Registry("pacboost.boosters")
LOSSES = Registry("pacboost.boosters.regression")
"""Boosters of regression, by the loss that they lower."""
LOSS_NAMES = {"squared_error": "square", "absolute_error": "absolute"}
"""Scikit-learn's names of losses, and ours."""


def loss_names() -> list[str]:
    """Give the names of all losses that scikit-learn knows, without loading any.

    >>> loss_names()
    ['squared_error', 'absolute_error', 'gamma', 'huber', 'poisson', 'quantile']
    """
    return [*LOSS_NAMES, *(name for name in LOSSES if name not in LOSS_NAMES.values())]
