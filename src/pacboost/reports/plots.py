"""Pictures, with matplotlib where it is installed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from pacboost.errors import FileError, PacboostError

COUNTS = ("examples", "rounds", "draws", "runs", "lower")


def plan_curve(ask: Callable[..., Any], given: Mapping[str, Any], path: Path) -> None:
    """Draw the answers to a question against its first fractional parameter."""
    figure, axes = _figure()
    name = next((key for key, value in given.items() if isinstance(value, float)), None)
    if name is None:
        raise PacboostError("this question has no fractional parameter to draw a curve over")
    asked = given[name]
    values = np.append(np.geomspace(asked / 4, min(asked * 4, (1 + asked) / 2), 24), asked)
    curves: dict[str, list[tuple[float, int]]] = {}
    for value in np.sort(values):
        try:
            answer = ask(**{**given, name: float(value)})
        except PacboostError:  # nothing can be promised there: the curve has a gap
            continue
        for count in COUNTS:
            number = getattr(answer, count)
            if number is not None:
                curves.setdefault(count, []).append((float(value), number))
    for count, points in curves.items():
        label = "no method with fewer" if count == "lower" else f"{count} that suffice"
        axes.loglog(*zip(*points, strict=True), label=label, ls="--" if count == "lower" else "-")
    axes.axvline(asked, color="grey", lw=0.8)
    axes.set(xlabel=name, ylabel="number needed")
    axes.legend()
    try:
        figure.savefig(path)
    except (OSError, ValueError) as problem:
        raise FileError(f"{path}: cannot be written ({problem})") from problem


def _figure() -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError as problem:
        raise PacboostError(
            "plots need matplotlib, which is not installed: pip install 'pacboost[plots]'"
        ) from problem
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    return figure, figure.subplots()
