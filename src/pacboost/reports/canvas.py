"""What all plots share: new figures, plain axes, shades for rounds."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from pacboost.errors import FileError, PacboostError
from pacboost.numerics.interactive import in_notebook


def figure(size: tuple[float, float] = (7, 4.5)) -> Any:
    """Make a figure, or say which package is missing.

    In a notebook, and where pyplot is loaded already, it is a figure of pyplot, so that the
    notebook or ``pyplot.show()`` shows it. Elsewhere pyplot does not know it, and it need not be
    closed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as problem:
        raise PacboostError(
            "plots need matplotlib, which is not installed: pip install 'pacboost[plots]'"
        ) from problem
    if "matplotlib.pyplot" in sys.modules or in_notebook():
        from matplotlib import pyplot

        return pyplot.figure(figsize=size, layout="constrained")
    return Figure(figsize=size, layout="constrained")


def tidy(axes: Any, *, legend: bool = False) -> Any:
    """Remove the lines at the top and the right."""
    axes.spines[["top", "right"]].set_visible(False)
    if legend:
        axes.legend(frameon=False)
    return axes


def shade(place: int, count: int) -> tuple[float, float, float]:
    """Give a blue for one of some curves: the later, the darker."""
    light = 0.85 - 0.8 * (place + 1) / count
    return 0.1 + 0.8 * light, 0.25 + 0.6 * light, 0.45 + 0.5 * light


def save(drawn: Any, path: Path) -> None:
    """Write a figure in the format that the name of the file says."""
    try:
        drawn.savefig(path)
    except (OSError, ValueError) as problem:
        raise FileError(f"{path}: cannot be written ({problem})") from problem
