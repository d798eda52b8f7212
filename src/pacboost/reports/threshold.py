"""The curves around a threshold: what was seen, and what is guaranteed for all thresholds."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.bounds.answering import Answering
from pacboost.bounds.decision import ThresholdDecision
from pacboost.errors import DataError
from pacboost.reports.canvas import figure, tidy

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
