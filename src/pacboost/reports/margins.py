"""Rows as a vote sees them: the equaliser, and the hardest ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from pacboost.errors import DataError
from pacboost.ledgers.hard import HardRow
from pacboost.numerics.percent import percent
from pacboost.reports.canvas import figure, shade, tidy

MOST_POINTS = 500
"""Of more rows, as many quantiles are drawn."""


def equaliser(curves: Mapping[int, ArrayLike], ax: Any = None) -> Any:
    """Draw the weighted share of rules that err on each row, after some rounds, from margins.

    Rows stand side by side, those that are wrong most often first. Where all were wrong equally
    often, the line would be flat: boosting presses it towards that (Breiman 1999). The legend has
    the spread, which is the standard deviation over rows.
    """
    if not curves:
        raise DataError("there are no margins to draw; give those of one round at least")
    axes = figure().subplots() if ax is None else ax
    for later, number in enumerate(sorted(curves)):
        wrong = (1 - np.asarray(curves[number], dtype=np.float64)) / 2
        if wrong.ndim != 1 or not wrong.size:
            raise DataError(f"the margins after round {number} are not a list of numbers")
        places = np.linspace(0, 1, min(wrong.size, MOST_POINTS))
        axes.plot(
            places,
            np.quantile(wrong, 1 - places),
            color=shade(later, len(curves)),
            label=f"after round {number}: spread {wrong.std():.3f}",
        )
    axes.axhline(0.5, color="tab:red", lw=0.8)
    axes.set(xlim=(0, 1), ylim=(-0.02, 1.02))
    axes.set(xlabel="rows, hardest first", ylabel="weighted share of rules that are wrong")
    return tidy(axes, legend=True)


def hardest(rows: Sequence[HardRow], ax: Any = None) -> Any:
    """Draw the margin of each of the hardest rows as a bar, with its number and label."""
    axes = figure((7, 1 + 0.28 * len(rows))).subplots() if ax is None else ax
    places = np.arange(len(rows))
    colours = ["tab:red" if entry.margin <= 0 else "tab:blue" for entry in rows]
    axes.barh(places, [entry.margin for entry in rows], height=0.7, color=colours)
    axes.set_yticks(places, [f"row {entry.row}: {entry.label}" for entry in rows])
    axes.invert_yaxis()
    axes.axvline(0, color="grey", lw=0.8)
    axes.set_xlabel("margin (below 0: the vote is wrong)")
    axes.tick_params(axis="y", length=0)
    return tidy(axes)


def hardest_table(rows: Sequence[HardRow], title: str = "") -> Table:
    """The hardest rows for the terminal."""
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for name in ("row", "margin", "rules\nwrong"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("label", overflow="fold")
    for entry in rows:
        cells = (str(entry.row), f"{entry.margin:.4f}", percent(entry.wrong, 1))
        table.add_row(*cells, Text(entry.label))
    return table
