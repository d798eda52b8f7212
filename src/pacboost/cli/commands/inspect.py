"""``pacboost inspect``: what is in a model file?"""

from __future__ import annotations

from pathlib import Path

import click

from pacboost.cli import options


@click.command(epilog=options.example("pacboost inspect income.pacb"))
@options.model_file
@options.as_json
def command(model: Path, as_json: bool) -> None:
    """Say what is in a model file: what was fitted, what it reads, what is certified.

    The file is checked to be whole, but nothing in it is run: that takes a moment only.
    """
    from pacboost.cli.output import print_json
    from pacboost.models.file.inspect import inspect

    found = inspect(model)
    if as_json:
        print_json(found.to_dict())
    else:
        click.echo(str(found))
