"""Descriptions of parameters, read from the docstrings of classes."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

SHARED_DOCSTRINGS = "estimators.inputs.documented"
"""The module that describes parameters shared by several classes."""


@cache
def _source(module: str) -> str:
    return files("pacboost").joinpath(f"{module.replace('.', '/')}.py").read_text(encoding="utf-8")


def described(kind: str, parameter: str) -> str:
    """Return the description of a parameter, without importing the class.

    >>> described("estimators.filtering.filter_boost.FilterBoostClassifier", "memory")
    'The maximum memory of the process, such as "2GB".'
    """
    module, _, name = kind.rpartition(".")
    _, _, class_text = _source(module).partition(f"\nclass {name}(")
    for text in (class_text, _source(SHARED_DOCSTRINGS)):
        match = re.search(rf"^( *){parameter} : .*\n((?:\1    .*\n)+)", text, re.MULTILINE)
        if match is not None:
            return " ".join(match[2].split())
    raise LookupError(f"{kind} does not describe {parameter}")
