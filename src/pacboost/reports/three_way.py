"""What Schapire's recursion did: a table, a picture, and a view while it runs."""

from __future__ import annotations

from typing import Any

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.status import Status
from rich.table import Table

from pacboost.ledgers.three_way import Record
from pacboost.numerics.three_way import majority_error
from pacboost.reports import canvas
from pacboost.reports.progress import LiveView, error_console

RETURNED = ("the first", "the second", "the majority")


def levels_table(record: Record) -> Table:
    """Show every level: what its calls aimed at, how they ended, and what they drew.

    Parts that err on at most x make a majority that is wrong on at most g(x) = 3x² - 2x³.
    """
    ended = record.stopped or f"error ≤ {record.epsilon:g} is reached"
    caption = f"{record.draws:,} examples drawn, {record.again:,} of them again; {ended}"
    table = Table(
        title=f"three oracles, {record.levels} levels, g(x) = 3x² − 2x³",
        title_justify="left",
        caption=caption,
        caption_justify="left",
        box=SIMPLE_HEAD,
    )
    columns = ("level", "parts\n≤ x", "target\ng(x)", "calls", "early:\nfirst", "early:\nsecond")
    for name in (*columns, "all\nthree", "examples", "worst\nerror"):
        table.add_column(name, justify="right", no_wrap=True)
    for level in range(record.levels, -1, -1):
        nodes = [node for node in record.nodes if node.level == level]
        worst = max((node.error for node in nodes if node.error is not None), default=None)
        part = record.targets[level - 1] if level else None
        table.add_row(
            str(level) if level else "weak",
            "–" if part is None else f"{part:.4f}",
            f"{record.targets[level]:.4f}",
            str(len(nodes)),
            *(str(sum(n.returned == how for n in nodes)) if level else "–" for how in RETURNED),
            f"{sum(node.draws for node in nodes):,}",
            "–" if worst is None else f"{worst:.4f}",
        )
    return table


def plot_levels(record: Record, ax: Any = None) -> Any:
    """Draw g under the diagonal, and the stairs from a weak rule's error down to epsilon.

    Give ``ax`` to draw there; the axes are returned.
    """
    axes = canvas.figure((4.5, 4.5)).subplots() if ax is None else ax
    x = np.linspace(0, 0.5, 200)
    axes.plot(x, x, color="0.7", lw=1)
    axes.plot(x, [majority_error(part) for part in x], color="#1f5fa8", label="g(x) = 3x² − 2x³")
    stairs = np.repeat(record.targets, 2)
    axes.plot(stairs[:-1], stairs[1:], color="#b5382a", lw=1, label="targets, level by level")
    axes.plot(record.targets[0], record.targets[0], "o", color="#b5382a", ms=4)
    axes.axhline(record.epsilon, color="0.4", lw=0.8, ls=":")
    axes.set(
        xlabel="the parts err on at most x", ylabel="their majority is wrong on at most",
        xlim=(0, 0.5), ylim=(0, 0.5), aspect="equal",
    )  # fmt: skip
    return canvas.tidy(axes, legend=True)


class RecursionView(LiveView):
    """Call it with the record whenever a call has ended; use it as a context."""

    def __init__(self, console: Console | None = None, *, after: float = 0.0) -> None:
        super().__init__(after)
        self._display: Status = Status(
            "the first examples are drawn", console=console or error_console()
        )

    def __call__(self, record: Record) -> None:
        """Say how far the recursion has come."""
        self._begin_if_due()
        last = record.nodes[-1]
        self._display.update(
            f"{record.draws:,} examples, {len(record.nodes)} calls; the last, on level "
            f"{last.level} of {record.levels}, returned {last.returned}, error ≤ {last.upper:.3f}"
        )
