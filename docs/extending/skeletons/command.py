"""``pacboost edges``: how much better than guessing the rules of a model were."""

from __future__ import annotations

from pathlib import Path

import click

from pacboost.cli import options


@click.command(epilog=options.example("pacboost edges model.pacb"))
@options.model_file
def command(model_path: Path) -> None:
    """Show the edge of the rule of every round."""
    import pacboost

    for entry in pacboost.load(model_path).ledger_.rounds:
        click.echo(f"{entry.number:>5} {entry.edge:.4f}")
