"""Boosters side by side: a table and a picture."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from pacboost.errors import DataError
from pacboost.numerics import markup
from pacboost.reports.plots import BLUE, RED, figure, tidy

Columns = Mapping[str, Sequence[Any]]

NOTHING = "–"


def table(
    columns: Columns, title: str, share: float, caption: str = "", lines: Sequence[str] = ()
) -> RenderableType:
    """Rounds, seconds, training error against bound, margins and test error of every booster."""
    grid = Table(
        title=title, title_justify="left", box=SIMPLE_HEAD, padding=0, show_edge=False
    )  # as narrow as it can be: eighty characters hold the longest name
    grid.add_column("booster", overflow="fold", min_width=8)
    tested, heads = _tested(columns), _heads(columns, share)
    for head in heads:
        grid.add_column(head, justify="right", no_wrap=True)
    for name, *cells in _rows(columns):
        grid.add_row(Text(name), *cells)
    below = [Text(line) for line in ([caption] if caption and tested else [])]
    below += [Text(line, style="dim") for line in lines]
    return Group(grid, *below)


def html_table(
    columns: Columns, title: str, share: float, caption: str = "", lines: Sequence[str] = ()
) -> str:
    """Return the same for a notebook."""
    below = [caption] if caption and _tested(columns) else []
    heads = ["booster", *(head.replace("\n", " ") for head in _heads(columns, share))]
    said = "".join(markup.paragraph(line) for line in [*below, *lines])
    return markup.bold(title) + markup.table(heads, _rows(columns)) + said


def _tested(columns: Columns) -> bool:
    return any(value is not None for value in columns["test_error"])


def _heads(columns: Columns, share: float) -> list[str]:
    heads = ["rounds", "seconds", "train\nerror", "bound", "least\nmarg.", f"worst\n{share:.3g}"]
    heads.append("median\nmargin")
    return [*heads, "test\nerror", "between"] if _tested(columns) else heads


def _rows(columns: Columns) -> Iterator[list[str]]:
    """Return the name of every booster, and its cells; one that failed has no numbers."""
    tested = _tested(columns)
    for k, name in enumerate(columns["name"]):
        own = {key: values[k] for key, values in columns.items()}
        cells = ["failed", *[""] * (8 if tested else 6)] if own["failed"] else _cells(own, tested)
        yield [name, *cells]


def _cells(own: Mapping[str, Any], tested: bool) -> list[str]:
    cells = [
        NOTHING if own["rounds"] is None else f"{own['rounds']:,}",
        f"{own['seconds']:.2f}",
        short(own["training_error"]),
        _bound(own["bound"]),
        *(short(own[f"{which}_margin"], 3) for which in ("least", "soft", "median")),
    ]
    if not tested:
        return cells
    mark = " " if own["worse"] else "*"
    between = f"{short(own['lower'], 3)}–{short(own['upper'], 3)}"
    return [*cells, f"{short(own['test_error'])}{mark}", between]


def _bound(value: float | None) -> str:
    """A bound of 1 or more says nothing, and one that is tiny is not 0."""
    if value is None or 5e-5 <= value < 1:
        return short(value)
    return "≥ 1" if value >= 1 else f"{value:.0e}"


def short(value: float | None, digits: int = 4) -> str:
    """Write a rate or margin with some digits and no zero before the point.

    >>> short(0.04213), short(-0.3, 3), short(1.0), short(None)
    ('.0421', '-.300', '1', '–')
    """
    if value is None:
        return NOTHING
    if value in (0, 1, -1):
        return f"{value:.0f}"
    return f"{value:.{digits}f}".replace("0.", ".", 1)


def picture(columns: Columns, share: float, ax: Any = None) -> Any:
    """Draw errors (with intervals and bounds) and margins, a line for every booster.

    ``ax`` may be one axes, which then shows the errors, or two. Gives the axes drawn on.
    """
    done = [k for k, failed in enumerate(columns["failed"]) if not failed]
    if not done:
        raise DataError("every booster failed, so there is nothing to draw")
    kept = {key: [values[k] for k in done] for key, values in columns.items()}
    if ax is None:
        panels = figure((9, 1.4 + 0.32 * len(done))).subplots(1, 2, sharey=True)
    else:
        panels = np.atleast_1d(np.asarray(ax, dtype=object)).ravel()
    _errors(panels[0], kept)
    if len(panels) > 1:
        _margins(panels[1], kept, share)
    places = np.arange(len(done))
    panels[0].set_yticks(places, kept["name"])
    if not panels[0].yaxis_inverted():
        panels[0].invert_yaxis()
    for axes in panels:
        tidy(axes).tick_params(axis="y", length=0)
        axes.locator_params(axis="x", nbins=6)
        axes.legend(
            frameon=False, fontsize="small", ncol=3, loc="lower left", bbox_to_anchor=(0, 1)
        )
    return panels if ax is None or len(panels) > 1 else panels[0]


def _errors(axes: Any, columns: Columns) -> None:
    """Training error, bound, and test error with its interval; bounds off the scale are arrows."""
    places = np.arange(len(columns["name"]))
    training, bound, test, lower, upper = (
        np.array(columns[name], dtype=np.float64)
        for name in ("training_error", "bound", "test_error", "lower", "upper")
    )
    right = 1.15 * float(np.nanmax(np.concatenate([training, upper, [1e-3]])))
    inside = bound <= right
    axes.plot(training, places, "o", mfc="none", color=BLUE, label="training error")
    axes.plot(bound[inside], places[inside], "|", ms=12, color="grey", label="its bound")
    beyond = bound > right
    axes.plot(np.full(beyond.sum(), right), places[beyond], ">", ms=4, color="grey", clip_on=False)
    if not np.isnan(test).all():
        spread = np.array([test - lower, upper - test])
        axes.errorbar(test, places, xerr=spread, fmt="o", color=RED, capsize=3, label="test error")
    axes.set(xlim=(-0.02 * right, right), xlabel="share of the rows that are wrong")


def _margins(axes: Any, columns: Columns, share: float) -> None:
    places = np.arange(len(columns["name"]))
    marks = {"least": "<", "soft": "o", "median": "|"}
    words = {"least": "least", "soft": f"mean of the worst {share:.3g}", "median": "median"}
    for which, mark in marks.items():
        values = np.array(columns[f"{which}_margin"], dtype=np.float64)
        size = 12 if mark == "|" else 5
        axes.plot(values, places, mark, ms=size, color=BLUE, label=words[which])
    axes.axvline(0, color=RED, lw=0.8)
    axes.set_xlabel("margin of the training rows")
