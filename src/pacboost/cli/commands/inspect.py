"""``pacboost inspect``: what a model file contains."""

from __future__ import annotations

from pathlib import Path

import click

from pacboost.cli import options


@click.command(epilog=options.example("pacboost inspect income.pacb"))
@options.model_file
@options.as_json
def command(model_path: Path, as_json: bool) -> None:
    """Show what a model file contains: the fit, the columns it reads, and the certificate.

    The file is checked for damage, but the model is not built, so this is fast.
    """
    from pacboost.cli.inputs.files import model_memory
    from pacboost.cli.output import echo, print_json
    from pacboost.models.file.inspect import inspect

    contents = inspect(model_path, memory=model_memory())
    if as_json:
        print_json(contents.to_dict())
    else:
        echo(str(contents))
