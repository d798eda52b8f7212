"""``pacboost guide``: what a language model that helps with pacboost should ask, run and say."""

from __future__ import annotations

from importlib.resources import files

import click

from pacboost.cli import options
from pacboost.cli.output import print_json


@click.command(epilog=options.example("pacboost guide", "pacboost guide >> AGENTS.md"))
@options.as_json
def command(as_json: bool) -> None:
    """Print a page for language models: what to ask the user, what to run and what not to say."""
    text = files("pacboost.cli").joinpath("guide.md").read_text(encoding="utf-8").rstrip()
    if as_json:
        print_json({"guide": text})
    else:
        click.echo(text)
