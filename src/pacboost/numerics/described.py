"""What the docstring of a class says of a parameter: its only description, read where needed."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

SHARED = "estimators.inputs.documented"
"""Where parameters stand that several classes have."""


@cache
def _source(module: str) -> str:
    return files("pacboost").joinpath(f"{module.replace('.', '/')}.py").read_text(encoding="utf-8")


def described(kind: str, parameter: str) -> str:
    """Return the description of a parameter, without importing the class.

    >>> described("estimators.filtering.filter_boost.FilterBoostClassifier", "memory")
    'The maximum memory of the process, such as "2GB".'
    """
    module, _, name = kind.rpartition(".")
    _, _, own = _source(module).partition(f"\nclass {name}(")
    for text in (own, _source(SHARED)):
        found = re.search(rf"^( *){parameter} : .*\n((?:\1    .*\n)+)", text, re.MULTILINE)
        if found is not None:
            return " ".join(found[2].split())
    raise LookupError(f"{kind} does not describe {parameter}")
