"""``pacboost demo``: boosting in half a minute."""

from __future__ import annotations

import click

from pacboost.cli import options


@click.command(epilog=options.example("pacboost demo"))
@click.option("--rounds", default=50, show_default=True, help="Rounds on the real data set.")
@options.as_json
def command(rounds: int, as_json: bool) -> None:
    """Boost ten points in three rounds, then a real data set, and show the certificates."""
    from pacboost.cli.actions.demo import run_demo

    run_demo(rounds, as_json=as_json)
