"""``pacboost export``: a model that runs without pacboost."""

from __future__ import annotations

from pathlib import Path

import click

from pacboost.cli import options

KINDS = ("python", "c", "onnx")


@click.command(
    epilog=options.example(
        "pacboost export income.pacb --output income.py",
        "pacboost export income.pacb --to onnx --output income.onnx",
    )
)
@options.model_file
@click.option(
    "--to",
    type=click.Choice(KINDS),
    help="The format.  [default: by the extension of --output]",
)
@options.file("--output", "-o", required=True, help="Write the exported model to this file.")
@options.as_json
def command(model_path: Path, to: str | None, output: Path, as_json: bool) -> None:
    """Write a model as Python or C code without dependencies, or as ONNX.

    The exported model gives the same predictions.
    """
    from pacboost.cli.inputs.files import check_output, load
    from pacboost.cli.output import echo, print_json, working
    from pacboost.models.export.export import export

    check_output(output, model_path)
    fitted = load(model_path)
    with working("writing"):
        export(fitted, output, to)
    if as_json:
        size = output.stat().st_size
        print_json({"model": model_path, "output": output, "bytes": size})
    else:
        echo(f"The model is in {output}. It runs without pacboost.")
