"""``pacboost ask``: the prediction for one example, with its confidence and the reasons."""

from __future__ import annotations

from pathlib import Path

import click

from pacboost.cli import options


@click.command(
    epilog=options.example(
        'pacboost ask intents.pacb "I lost my card"',
        "pacboost ask income.pacb age=37 education=Masters hours_per_week=50",
        "pacboost ask intents.pacb < questions.txt",
    )
)
@options.model_file
@click.argument("question", nargs=-1)
@click.option("--top", default=5, show_default=True, help="How many reasons to show.")
@options.abstain_below
@options.as_json
def command(
    model: Path, question: tuple[str, ...], top: int, abstain_below: float | None, as_json: bool
) -> None:
    """Ask a model about one text, or about one row as COLUMN=VALUE.

    Shows the answer, the probability that the model gives it, and the reasons for and against it.
    Columns that are not named count as missing. Without a question, every line of the standard
    input is a question.
    """
    from pacboost.cli.actions.ask import run_ask

    run_ask(model, question, top=top, abstain_below=abstain_below, as_json=as_json)
