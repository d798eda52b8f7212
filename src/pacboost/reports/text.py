"""Tables for the terminal, and small phrases that they share."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from pacboost.bounds.answering import Answering
from pacboost.bounds.certificate import Certificate
from pacboost.bounds.decision import ThresholdDecision
from pacboost.bounds.training import margin_distribution
from pacboost.errors import DataError
from pacboost.ledgers.ledger import HardRow, Ledger
from pacboost.numerics.percent import percent
from pacboost.reports.plots import figure, tidy

MOST_ROWS = 20
"""Of more rounds or samples, tables show the first and the last."""
WIDTHS = {"round": 5, "training\nerror": 8}


def rounds_table(ledger: Ledger, title: str = "") -> Table:
    """What happened round by round; of a long run, the first and the last rounds."""
    validated = any(entry.validation is not None for entry in ledger.rounds)
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for name in ("round", "error", "edge", "vote", "Z", "bound", "training\nerror"):
        table.add_column(name, justify="right", no_wrap=True, min_width=WIDTHS.get(name, 6))
    if validated:
        table.add_column("valid.", justify="right", no_wrap=True, min_width=6)
    table.add_column("rule", overflow="fold")
    bounds = ledger.columns()["bound"]
    n = len(ledger)
    shown = range(n) if n <= MOST_ROWS else [*range(MOST_ROWS // 2), *range(n - MOST_ROWS // 2, n)]
    before = -1
    for k in shown:
        if k != before + 1:
            table.add_row(*["…"] * len(table.columns))
        before = k
        entry = ledger.rounds[k]
        cells = [
            str(entry.number),
            f"{entry.error:.4f}",
            f"{entry.edge:.4f}",
            f"{entry.vote:.4f}",
            f"{entry.normaliser:.4f}",
            f"{bounds[k]:.4f}" if bounds[k] >= 1e-4 else f"{bounds[k]:.0e}",
            f"{entry.training_error:.4f}",
        ]
        if validated:
            cells.append("" if entry.validation is None else f"{entry.validation:.4f}")
        table.add_row(*cells, Text(entry.rule.split(", else ")[0]))
    return table


def certificate_panel(certificate: Certificate, ledger: Ledger) -> RenderableType:
    """The claim first, the grounds after, and what follows for margins where the theorem tells."""
    claim = Text(str(certificate))
    if ledger.potential != "exponential" or ledger.classes > 1:
        return Panel(claim, title="certificate", title_align="left")
    margins = Table(box=None, header_style="bold", pad_edge=False)
    margins.add_column("at most this share of training rows", justify="right")
    margins.add_column("has a margin of at most", justify="right")
    for theta, share in margin_distribution(ledger):
        margins.add_row("1 (vacuous)" if share >= 1 else f"{share:.4g}", f"{theta:g}")
    return Panel(Group(claim, Text(""), margins), title="certificate", title_align="left")


def grid(facts: Sequence[tuple[str, str]] = ()) -> Table:
    """Lay out names and texts in two columns."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True, style="dim")
    table.add_column(overflow="fold")
    for name, text in facts:
        table.add_row(name, Text(text))
    return table


def counted(number: int, thing: str) -> str:
    """Write a number of things, with the plural.

    >>> counted(1, "row"), counted(1200, "row"), counted(2, "class")
    ('1 row', '1,200 rows', '2 classes')
    """
    plural = thing + ("es" if thing.endswith("s") else "s")
    return f"{number:,} {thing if number == 1 else plural}"


def listed(names: Sequence[object], most: int) -> str:
    """Name things, or the first of many.

    >>> listed(["no", "yes"], 6), listed(range(77), 3)
    ('no, yes', '0, 1, 2 and 74 more')
    """
    shown, left = ", ".join(map(str, names[:most])), len(names) - most
    return f"{shown} and {left} more" if left > 0 else shown


# The curves around a threshold: what was seen, and what is guaranteed for all thresholds.

SEEN, SURE = "tab:blue", "tab:orange"


def threshold_curves(decision: ThresholdDecision, ax: Any = None) -> NDArray[Any]:
    """Draw recall and false alarms by the threshold, and recall by false alarms; give the axes."""
    if ax is None:
        grid = figure((10, 4)).subplots(1, 2)
    else:
        grid = np.atleast_1d(np.asarray(ax, dtype=object)).ravel()
    if grid.size < 2:
        raise DataError(f"there is {grid.size} axis for 2 pictures; give two axes, or none")
    found = {name: np.array(own) for name, own in decision.curve.columns.items()}
    _by_threshold(grid[0], found, decision)
    _by_alarms(grid[1], found, decision)
    return np.asarray(grid[:2])


def _by_threshold(ax: Any, found: dict[str, Any], decision: ThresholdDecision) -> None:
    at = found["threshold"]
    for name, side, colour in (
        ("recall", "recall_at_least", SEEN),
        ("false_positive_rate", "false_positive_rate_at_most", SURE),
    ):
        words = name.replace("_", " ")
        ax.plot(at, found[name], color=colour, label=f"{words}, seen")
        ax.fill_between(at, found[name], found[side], color=colour, alpha=0.25, lw=0,
                        label=f"{words}, certified within")  # fmt: skip
    ax.axvline(decision.threshold, color="0.4", lw=0.8, ls="--", label="chosen")
    ax.set(xlabel=f"threshold for class '{decision.positive}'", ylabel="share", ylim=(0, 1))
    tidy(ax, legend=True)


def _by_alarms(ax: Any, found: dict[str, Any], decision: ThresholdDecision) -> None:
    ax.plot(found["false_positive_rate"], found["recall"], color=SEEN, label="seen")
    most, least = found["false_positive_rate_at_most"], found["recall_at_least"]
    order = np.lexsort((least, most))
    most, least = most[order], np.maximum.accumulate(least[order])
    ax.plot(most, least, color=SURE, label="guaranteed")
    ax.fill_between(most, 0, least, color=SURE, alpha=0.2, lw=0, step=None)
    here = int(np.argmin(np.abs(found["threshold"] - decision.threshold)))
    ax.plot(
        found["false_positive_rate"][here], found["recall"][here], "o", color="0.3", label="chosen"
    )
    ax.set(xlabel="false positive rate", ylabel="recall", xlim=(0, 1), ylim=(0, 1))
    tidy(ax, legend=True)


def answering_curve(found: Answering, ax: Any = None) -> Any:
    """Draw the error among the answered by the share of rows that are answered; give the axes."""
    ax = figure().subplots() if ax is None else ax
    share = np.array([own.answered / found.rows for own in found.points])
    seen = np.array([own.mistakes / max(1, own.answered) for own in found.points])
    most = np.array(found.errors)
    ax.plot(share, seen, color=SEEN, marker=".", label="seen")
    ax.fill_between(share, seen, most, color=SURE, alpha=0.25, lw=0)
    ax.plot(share, most, color=SURE, marker=".", label="certified: at most")
    if found.chosen is not None:
        ax.axvline(share[found.chosen], color="0.4", lw=0.8, ls="--", label="chosen")
    ax.set(xlabel="share of rows that are answered", ylabel="error among the answered")
    ax.set_ylim(0, min(1.0, 1.3 * float(np.median(most)) + 1e-3))
    return tidy(ax, legend=True)


# The curves of a monitor.

Points = Sequence[Sequence[float]]
LOG_10 = math.log(10)


def monitor_curves(
    mistakes: Mapping[str, Sequence[float]],
    drift: Points | None,
    *,
    error: float,
    delta: float,
    run_length: int,
    ax: Any = None,
) -> NDArray[Any]:
    """Draw the error with its interval, both capitals, and the detector, one below the other."""
    panels = 3 if drift is None else 4
    if ax is None:
        drawn = figure((7, 2.1 * panels))
        grid = drawn.subplots(panels, 1, squeeze=False).ravel()
    else:
        grid = np.atleast_1d(np.asarray(ax, dtype=object)).ravel()
    if grid.size < panels:
        raise DataError(f"there are {grid.size} axes for {panels} curves; give more axes")
    if not mistakes["row"] and not drift:
        raise DataError("there is nothing to draw yet; a curve begins after 64 rows")
    _draw_mistakes(grid, {name: np.array(own, float) for name, own in mistakes.items()}, error)
    _goal(grid[1], -math.log10(delta), "refuted")
    _goal(grid[2], math.log10(run_length), "sounds")
    if drift is not None:
        rows, capital = np.array(drift, dtype=np.float64).reshape(-1, 2).T
        grid[3].plot(rows, capital / LOG_10)
        grid[3].set(xlabel="row", ylabel="drift: capital, log₁₀")
        _goal(grid[3], -math.log10(delta), "drift")
    found: NDArray[Any] = grid[:panels]
    return found


def _draw_mistakes(grid: Any, curves: Mapping[str, NDArray[np.float64]], error: float) -> None:
    rows = curves["row"]
    grid[0].fill_between(rows, curves["lower"], curves["upper"], alpha=0.25, label="interval")
    grid[0].plot(rows, curves["error"], label="mean error so far")
    grid[0].axhline(error, color="tab:red", lw=0.8, label="certified")
    grid[0].set_ylabel("error")
    grid[0].set_ylim(0, min(1.0, max(3 * error, 1.2 * float(curves["error"].max(initial=0.0)))))
    tidy(grid[0], legend=True)
    grid[1].plot(rows, curves["log_capital"] / LOG_10)
    grid[1].set_ylabel("capital, log₁₀")
    grid[2].plot(rows, np.log10(np.maximum(curves["detector"], 1e-300)))
    grid[2].set(xlabel="labelled row", ylabel="detector, log₁₀")


def _goal(axes: Any, height: float, label: str) -> None:
    axes.axhline(height, color="tab:red", lw=0.8, ls="--", label=label)
    tidy(axes, legend=True)


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
