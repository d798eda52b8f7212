"""Tables for the terminal, and comparisons of boosters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from pacboost.bounds.certificate import Certificate
from pacboost.bounds.rounding import confidence
from pacboost.bounds.training import margin_distribution
from pacboost.errors import DataError
from pacboost.ledgers.ledger import HardRow, Ledger, Refill
from pacboost.numerics import markup
from pacboost.numerics.percent import percent, percent_above
from pacboost.reports.plots import BLUE, RED, figure, label_text, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_ROWS = 20
WIDTHS = {"round": 5, "training\nerror": 8}


def rounds_table(ledger: Ledger, title: str = "") -> Table:
    """Return a table of the rounds; of a long run, the first and the last rounds."""
    validated = any(entry.validation is not None for entry in ledger.rounds)
    names = ["round", "error", "edge", "vote", "Z", "bound", "training\nerror"]
    further = ledger.shown()
    table = _table(title, *names, *(["valid."] if validated else []), *further, widths=WIDTHS)
    table.add_column("rule", overflow="fold")
    rows: list[list[RenderableType]] = []
    columns = zip(ledger.rounds, ledger.columns()["bound"], *further.values(), strict=True)
    for entry, bound, *others in columns:
        cells = [
            str(entry.number), f"{entry.error:.4f}", f"{entry.edge:.4f}", f"{entry.vote:.4f}",
            f"{entry.normaliser:.4f}", f"{bound:.4f}" if bound >= 1e-4 else f"{bound:.0e}",
            f"{entry.training_error:.4f}",
        ]  # fmt: skip
        numbers = [entry.validation, *others] if validated else others
        cells += ["" if number is None else f"{number:.4f}" for number in numbers]
        rows.append([*cells, Text(entry.rule.split(", else ")[0])])
    _fill(table, rows)
    return table


def _table(title: str, *names: str, widths: Mapping[str, int] | None = None) -> Table:
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for name in names:
        min_width = None if widths is None else widths.get(name, 6)
        table.add_column(name, justify="right", no_wrap=True, min_width=min_width)
    return table


def _fill(table: Table, rows: Sequence[Sequence[RenderableType]]) -> None:
    """Add all rows, or the first and the last of many."""
    half = MAX_ROWS // 2
    dots = ["…"] * len(table.columns)
    is_short = len(rows) <= MAX_ROWS
    for cells in rows if is_short else [*rows[:half], dots, *rows[-half:]]:
        table.add_row(*cells)


def certificate_panel(certificate: Certificate, ledger: Ledger) -> RenderableType:
    """Return a panel with the claim and, for exponential potentials, bounds on margins."""
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
    """Return names and texts in two columns."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True, style="dim")
    table.add_column(overflow="fold")
    for name, text in facts:
        table.add_row(name, Text(text))
    return table


def counted(number: int, thing: str) -> str:
    """Return a number and a noun, in the plural if needed.

    >>> counted(1, "row"), counted(1200, "row"), counted(2, "class")
    ('1 row', '1,200 rows', '2 classes')
    """
    plural = thing + ("es" if thing.endswith("s") else "s")
    return f"{number:,} {thing if number == 1 else plural}"


def listed(names: Sequence[object], limit: int) -> str:
    """Join names, or the first ``limit`` of them.

    >>> listed(["no", "yes"], 6), listed(range(77), 3)
    ('no, yes', '0, 1, 2 and 74 more')
    """
    shown, n_more = ", ".join(map(str, names[:limit])), len(names) - limit
    return f"{shown} and {n_more} more" if n_more > 0 else shown


def hardest_table(rows: Sequence[HardRow], title: str = "") -> Table:
    """Return a table of the hardest rows."""
    table = _table(title, "row", "margin", "rules\nwrong")
    table.add_column("label", overflow="fold")
    for entry in rows:
        cells = (str(entry.row), f"{entry.margin:.4f}", percent(entry.wrong, 1))
        table.add_row(*cells, Text(entry.label))
    return table


def refills_table(ledger: Ledger, title: str = "") -> Table:
    """Return a table of the refills; for a long run, only of the first and the last ones."""
    table = _table(title, "rounds\nbefore", "draws", "kept", "μ", "interval of μ", "error\nseen",
                   "certified\nat most")  # fmt: skip
    _fill(table, [_cells(refill) for refill in ledger.refills])
    if any(map(came_before, ledger.refills)):
        table.caption = "* rows that were all drawn before: about this source only"
    return table


def _cells(refill: Refill) -> list[str]:
    mark = "*" if came_before(refill) else ""
    return [
        str(refill.rounds), f"{refill.draws:,}", percent(refill.acceptance, 1),
        f"{refill.mean:.4f}", f"{refill.lower:.4f} – {refill.upper:.4f}",
        percent(refill.error, 2) + mark if refill.rounds else "",
        percent_above(refill.error_upper, 2) + mark if refill.error_upper < 1 else "",
    ]  # fmt: skip


def summary(ledger: Ledger, *certificates: Certificate | None, details: bool = False) -> Table:
    """Return a summary of a run: its rounds, why it stopped, and its certificates."""
    draws = sum(refill.draws for refill in ledger.refills)
    tested = ledger.refills[-1].fresh if ledger.refills else 0
    accepted = sum(refill.accepted for refill in ledger.refills)
    lines = grid()
    method = f"booster {ledger.booster}, learner {ledger.learner}"
    lines.add_row("rounds", f"{len(ledger):,} ({method})")
    lines.add_row("draws", f"{draws:,} examples")
    if tested:
        lines.add_row("tested on", f"{tested:,} new examples, in the last test")
    samples, share = counted(len(ledger.refills), "sample"), percent(accepted / max(1, draws), 1)
    lines.add_row("kept", f"{accepted:,} of them ({share}), in {samples}")
    if ledger.asked:
        lines.add_row("labels", labels_in_words(ledger))
    lines.add_row("stopped", ledger.stopped)
    scored = [refill for refill in ledger.refills if refill.rounds and not came_before(refill)]
    if scored:
        when = f"the examples drawn after {counted(scored[-1].rounds, 'round')}"
        note = "before they were used for training (an estimate)"
        lines.add_row("error seen", f"{percent(scored[-1].error, 2)} of {when}, {note}")
    available = [certificate for certificate in certificates if certificate is not None]
    for certificate in available:
        lines.add_row("", "")
        lines.add_row("certificate", Text(certificate.claim, style="bold"))
        lines.add_row("counted on", f"{certificate.size:,} rows: {certificate.rows_in_words}")
        if details:
            lines.add_row("assumes", "; ".join(certificate.assumptions) or "nothing")
            lines.add_row("confidence", confidence(certificate.delta))
    if not available:
        lines.add_row("certificate", "none: no rows were held out, and none were drawn at the end")
    return lines


def labels_in_words(ledger: Ledger) -> str:
    """Say how many labels were asked for, and what they cost if a price is known.

    >>> ledger = Ledger("logit", "logistic", "stump", 0, 1, False, False, asked=3100, price=2.0)
    >>> labels_in_words(ledger)
    '3,100 labels, 6,200'
    """
    words = f"{ledger.asked:,} labels"
    if ledger.asked_to_certify:
        words += f" ({ledger.asked_to_certify:,} of them to certify)"
    return words + (f", {ledger.cost:,.10g}" if ledger.price else "")


def came_before(refill: Refill) -> bool:
    """Return whether all rows of a refill were drawn before."""
    return refill.again >= refill.draws and refill.fresh == 0


Columns = Mapping[str, Sequence[Any]]

NOTHING = "–"


def table(
    columns: Columns, title: str, share: float, caption: str = "", lines: Sequence[str] = ()
) -> RenderableType:
    """Return a table of rounds, seconds, errors, bounds and margins of every booster."""
    # narrow, so that the longest name fits into eighty characters
    grid = Table(title=title, title_justify="left", box=SIMPLE_HEAD, padding=0, show_edge=False)
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
    """Return the table as HTML for a notebook."""
    below = [caption] if caption and _tested(columns) else []
    heads = ["booster", *(head.replace("\n", " ") for head in _heads(columns, share))]
    notes = "".join(markup.paragraph(line) for line in [*below, *lines])
    return markup.bold(title) + markup.table(heads, _rows(columns)) + notes


def _tested(columns: Columns) -> bool:
    return any(value is not None for value in columns["test_error"])


def _heads(columns: Columns, share: float) -> list[str]:
    heads = ["rounds", "seconds", "train\nerror", "bound", "least\nmarg.", f"worst\n{share:.3g}"]
    heads.append("median\nmargin")
    return [*heads, "test\nerror", "between"] if _tested(columns) else heads


def _rows(columns: Columns) -> Iterator[list[str]]:
    """Yield the name and the cells of every booster; one that failed has no numbers."""
    tested = _tested(columns)
    for k, name in enumerate(columns["name"]):
        booster = {key: values[k] for key, values in columns.items()}
        failed = ["failed", *[""] * (8 if tested else 6)]
        yield [name, *(failed if booster["failed"] else _booster_cells(booster, tested))]


def _booster_cells(booster: Mapping[str, Any], tested: bool) -> list[str]:
    cells = [
        NOTHING if booster["rounds"] is None else f"{booster['rounds']:,}",
        f"{booster['seconds']:.2f}", short(booster["training_error"]), _bound(booster["bound"]),
        *(short(booster[f"{which}_margin"], 3) for which in ("least", "soft", "median")),
    ]  # fmt: skip
    if not tested:
        return cells
    mark = " " if booster["worse"] else "*"
    between = f"{short(booster['lower'], 3)}–{short(booster['upper'], 3)}"
    return [*cells, f"{short(booster['test_error'])}{mark}", between]


def _bound(value: float | None) -> str:
    """Format a bound: tiny ones are not 0, and those of 1 or more are vacuous."""
    if value is None or 5e-5 <= value < 1:
        return short(value)
    return "≥ 1" if value >= 1 else f"{value:.0e}"


def short(value: float | None, digits: int = 4) -> str:
    """Format a rate or margin without a zero before the point.

    >>> short(0.04213), short(-0.3, 3), short(1.0), short(None)
    ('.0421', '-.300', '1', '–')
    """
    if value is None:
        return NOTHING
    if value in (0, 1, -1):
        return f"{value:.0f}"
    return f"{value:.{digits}f}".replace("0.", ".", 1)


def picture(columns: Columns, share: float, ax: Axes | None = None) -> Any:
    """Draw errors, with intervals and bounds, and margins of every booster; return the axes.

    ``ax`` may be one axes, for the errors, or two.
    """
    done = [k for k, failed in enumerate(columns["failed"]) if not failed]
    if not done:
        raise DataError("every booster failed, so there is nothing to draw")
    shown = {key: [values[k] for k in done] for key, values in columns.items()}
    if ax is None:
        panels = figure((9, 1.4 + 0.32 * len(done))).subplots(1, 2, sharey=True)
    else:
        panels = np.atleast_1d(np.asarray(ax, dtype=object)).ravel()
    _errors(panels[0], shown)
    if len(panels) > 1:
        _margins(panels[1], shown, share)
    places = np.arange(len(done))
    panels[0].set_yticks(places, [label_text(name) for name in shown["name"]])
    if not panels[0].yaxis_inverted():
        panels[0].invert_yaxis()
    above = {"loc": "lower left", "bbox_to_anchor": (0, 1), "ncol": 3}
    for axes in panels:
        tidy(axes).tick_params(axis="y", length=0)
        axes.locator_params(axis="x", nbins=6)
        axes.legend(frameon=False, fontsize="small", **above)
    return panels if ax is None or len(panels) > 1 else panels[0]


def _errors(axes: Axes, columns: Columns) -> None:
    """Draw training error, bound, and test error with its interval; arrows mark large bounds."""
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


def _margins(axes: Axes, columns: Columns, share: float) -> None:
    places = np.arange(len(columns["name"]))
    marks = {"least": "<", "soft": "o", "median": "|"}
    words = {"least": "least", "soft": f"mean of the worst {share:.3g}", "median": "median"}
    for which, mark in marks.items():
        values = np.array(columns[f"{which}_margin"], dtype=np.float64)
        size = 12 if mark == "|" else 5
        axes.plot(values, places, mark, ms=size, color=BLUE, label=words[which])
    axes.axvline(0, color=RED, lw=0.8)
    axes.set_xlabel("margin of the training rows")
