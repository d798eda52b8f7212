"""The compiled kernels, from the extension for the best level that the processor has.

The sources are in src/native. One module is compiled for each level of x86-64 processors (v2, v3
with AVX2, v4 with AVX-512), and one for others; all give the same bits. The environment variable
``PACBOOST_LEVEL`` chooses a lower level, for tests that compare them.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

from pacboost.errors import PacboostError

LEVELS = ("v4", "v3", "v2", "base")


def _built(level: str) -> Any:
    try:
        return import_module(f"pacboost.kernels.native_{level}")
    # Whoever works on kernels builds one level, which is faster.
    except ModuleNotFoundError:
        return None


def _load() -> Any:
    """Return the module of the level that is asked for, or of the best one."""
    asked = os.environ.get("PACBOOST_LEVEL")
    if asked is not None and asked not in LEVELS:
        allowed = ", ".join(map(repr, LEVELS))
        raise PacboostError(f"PACBOOST_LEVEL is {asked!r}; it may be {allowed}, or unset")
    # The lowest level is asked first: the other modules may fail while they are loaded.
    base = _built("base") or _built("v2")
    best = 4 if base is None else base.level_of_processor()
    for level in LEVELS if asked is None else (asked,):
        if level == "base" or int(level[1:]) <= best:
            module = _built(level)
            if module is not None:
                return module
    raise PacboostError(
        "the compiled kernels of pacboost are missing for this processor; install pacboost anew "
        "('pip install .' in a clone), or 'make native' in a clone that is being edited"
    )


native: Any = _load()
LINE: int = native.LINE
"""What members of a team write lies so many numbers apart, so that no two share a cache line."""
