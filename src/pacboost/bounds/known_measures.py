"""The measures that ``certify`` knows: each is the file of its name in ``bounds/measures``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # commands offer the names, and must not load NumPy for that
    from pacboost.bounds.quantity import Measure

FOLDER = Path(__file__).with_name("measures")


class Measures(Mapping[str, "type[Measure]"]):
    """Measures by their names; a file is imported when its measure is first asked for.

    >>> "recall" in MEASURES, MEASURES["recall"].__name__
    (True, 'Recall')
    """

    def __iter__(self) -> Iterator[str]:
        return iter(_names())

    def __len__(self) -> int:
        return len(_names())

    def __getitem__(self, name: str) -> type[Measure]:
        # Only names of files are imported: a name may come from the file of a stranger.
        if name not in _names():
            raise KeyError(name)
        module = import_module(f"pacboost.bounds.{FOLDER.name}.{name}")
        # a file may import the class of another measure, as f1 does jaccard's; the name decides
        kinds = [kind for kind in vars(module).values() if isinstance(kind, type)]
        return next(kind for kind in kinds if getattr(kind, "name", None) == name)


@cache
def _names() -> tuple[str, ...]:
    # Looking through the folder takes as long as predicting thousands of rows.
    return tuple(module.name for module in iter_modules([str(FOLDER)]))


MEASURES = Measures()
