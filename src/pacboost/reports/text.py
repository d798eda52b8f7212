"""Tables for the terminal, and small phrases that they share."""

from __future__ import annotations

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from pacboost.bounds.certificate import Certificate
from pacboost.bounds.training import margin_distribution
from pacboost.ledgers.ledger import Ledger

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
