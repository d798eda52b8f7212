"""``pacboost fit``: a file in, rounds and certificate out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from pacboost.errors import FileError
from pacboost.reports.text import certificate_panel, rounds_table
from pacboost.sources.csv import read_csv

if TYPE_CHECKING:
    from pacboost.estimators.boosting import Boosting


def run_fit(
    model: Boosting, data: Path, target: str, output: Path | None, *, categories: bool = False
) -> None:
    """Read, boost, show, and save if asked to."""
    if output is not None:  # looked at before the work, not after
        if not output.absolute().parent.is_dir():
            raise FileError(f"{output}: its folder does not exist; make it first")
        if output.is_dir():
            raise FileError(f"{output}: is a folder; name a file in it")
    examples = read_csv(data, target, categories=categories)
    try:
        model.fit(examples.table, examples.labels)
    finally:  # after Ctrl-C too: what is done is shown and kept
        if hasattr(model, "model_"):
            show(model, f"{data.name}: {examples.table.n_rows:,} rows")
            if output is not None:
                model.save(output)


def show(model: Boosting, title: str, console: Console | None = None) -> None:
    """Print the rounds, why they ended, and the certificate."""
    console = console or Console()
    ledger = model.ledger_
    console.print(rounds_table(ledger, title))
    console.print(f"Stopped: {ledger.stopped}.")
    console.print(certificate_panel(model.certificate_, ledger))
