"""Libraries that not everybody needs."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from pacboost.errors import PacboostError


def need(module: str, extra: str) -> Any:
    """Import a library that not everybody needs.

    >>> need("math", "parquet").pi
    3.141592653589793
    """
    try:
        return import_module(module)
    except ImportError as problem:
        library = module.partition(".")[0]
        raise PacboostError(
            f"reading this source needs {library}, which is not installed: "
            f"pip install 'pacboost[{extra}]'"
        ) from problem
