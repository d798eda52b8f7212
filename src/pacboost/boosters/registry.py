"""The names of all boosters, read from their source files.

A class with ``name: ClassVar[str] = "its_name"`` is a booster of that name, so the command line
offers all names without importing a booster. Its file is imported on first use.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pacboost.boosters.booster import Booster

NAME_PATTERN = re.compile(r'^    name: ClassVar\[str\] = "(\w+)"', re.MULTILINE)


class Registry(Mapping[str, "type[Booster[Any]]"]):
    """Booster classes by their names.

    >>> "arc_gv" in BOOSTERS, "booster" in BOOSTERS, list(LOSSES)[:3]
    (True, False, ['absolute', 'gamma', 'huber'])
    >>> BOOSTERS["arc_gv"].__name__
    'ArcGV'
    """

    def __init__(self, *, regression: bool) -> None:
        self._regression = regression

    @cached_property
    def _files(self) -> dict[str, str]:
        """The name of the module of every booster."""
        files = [
            file
            for folder in import_module("pacboost.boosters").__path__
            for file in Path(folder).glob("*.py")
            if (file.stem == "regression") == self._regression and file.stem != "objective"
        ]
        texts = {file.stem: file.read_text("utf-8") for file in files}
        return {name: stem for stem, text in texts.items() for name in NAME_PATTERN.findall(text)}

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._files))

    def __len__(self) -> int:
        return len(self._files)

    def __getitem__(self, name: str) -> type[Booster[Any]]:
        module = import_module(f"pacboost.boosters.{self._files[name]}")
        kinds = [kind for kind in vars(module).values() if isinstance(kind, type)]
        return next(kind for kind in kinds if getattr(kind, "name", None) == name)


BOOSTERS = Registry(regression=False)
LOSSES = Registry(regression=True)
"""Boosters of regression, by their loss."""
LOSS_NAMES = {"squared_error": "square", "absolute_error": "absolute"}
"""Names of losses in scikit-learn, and in pacboost."""


def loss_names() -> list[str]:
    """Return the names of all losses, by scikit-learn's names, without importing a booster.

    >>> loss_names()
    ['squared_error', 'absolute_error', 'gamma', 'huber', 'poisson', 'quantile']
    """
    return [*LOSS_NAMES, *(name for name in LOSSES if name not in LOSS_NAMES.values())]
