"""Classes that are found by their names, in the files of a folder.

A file is imported when its class is first asked for: a command line may offer all names without
importing any of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules
from typing import TypeVar

T = TypeVar("T")


class Registry(Mapping[str, type[T]]):
    """The classes of a folder by their names: the class ``name`` lies in the file ``name``.

    ``modules`` names the file of each class instead, for a folder whose files hold families.
    ``others`` are the files that hold no such class. ``attribute`` is the class attribute that
    holds the name.

    >>> boosters = Registry("pacboost.boosters", {"arc_gv": "maximal_margin"})
    >>> "arc_gv" in boosters, "booster" in boosters, boosters["arc_gv"].__name__
    (True, False, 'ArcGV')
    >>> list(Registry("pacboost.learners", others=("learner",)))[:2]
    ['choose', 'cuda_growing']
    """

    def __init__(
        self,
        folder: str,
        modules: Mapping[str, str] | None = None,
        others: Collection[str] = (),
        attribute: str = "name",
    ) -> None:
        self._folder, self._others, self._attribute = folder, others, attribute
        self._given = modules

    @cached_property
    def _modules(self) -> Mapping[str, str]:
        if self._given is not None:
            return self._given
        spec = find_spec(self._folder)
        paths = None if spec is None else spec.submodule_search_locations
        names = [module.name for module in iter_modules(paths) if module.name not in self._others]
        return dict(zip(names, names, strict=True))

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._modules))

    def __len__(self) -> int:
        return len(self._modules)

    def __getitem__(self, name: str) -> type[T]:
        module = import_module(f"{self._folder}.{self._modules[name]}")
        for kind in vars(module).values():
            # a subclass may inherit the name of its base, so only a name of its own counts
            if isinstance(kind, type) and vars(kind).get(self._attribute) == name:
                return kind
        raise KeyError(name)
