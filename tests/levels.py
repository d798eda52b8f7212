"""The levels of processors that this machine can run kernels of."""

import importlib.util

from pacboost.kernels.native import LEVELS, native


def levels_here() -> list[str]:
    """Return the levels that are built and that this processor has, but for the one in use."""
    best = native.level_of_processor()
    built = [level for level in LEVELS
             if importlib.util.find_spec(f"pacboost.kernels.native_{level}")]  # fmt: skip
    able = [level for level in built if level == "base" or int(level[1:]) <= best]
    return [level for level in able if not native.__name__.endswith(level)]
