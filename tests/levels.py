"""The levels of processors that this machine can run kernels of."""

import importlib.util

from pacboost.kernels.native import LEVELS, native


def all_levels() -> list[str]:
    """Return the levels that are built and that this processor has."""
    best = native.level_of_processor()
    built = [level for level in LEVELS
             if importlib.util.find_spec(f"pacboost.kernels.native_{level}")]  # fmt: skip
    return [level for level in built if level == "base" or int(level[1:]) <= best]


def levels_here() -> list[str]:
    """Return them, but for the one in use."""
    return [level for level in all_levels() if not native.__name__.endswith(level)]
