"""``pacboost report``: one HTML page about a model."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from pacboost.cli import options


@click.command(
    epilog=options.example(
        "pacboost report income.pacb",
        "pacboost report income.pacb --data fresh.csv --target income --output income.html",
    )
)
@options.model_file
@options.output("Write the page to this file.  [default: the model's name with .html]")
@options.file(
    "--data",
    help="A file of labelled rows, for margins, mistakes and curves. Best are rows that the model "
    "was not trained on; others are marked.",
)
@options.column("--target", help="The column of --data that holds the labels.")
@options.text
@options.format_options
@options.skip_unlabelled
@options.drop
@options.as_json
def command(
    model_path: Path, output: Path | None, data: Path | None, target: str | None, **arguments: Any
) -> None:
    """Write one HTML page about a model; it works offline and loads nothing.

    The page shows the certificate, the rounds, the rules and a curve for each column, and if rows
    were held out, their confusion matrix and their ROC and precision-recall curves. With --data and
    --target these are of the rows in that file, and margins, calibration and the hardest rows are
    shown, too. Rows of that file that the model was not trained on also certify its error, with
    95 % confidence.
    """
    from pacboost.cli.inputs.files import check_output, data_file, load
    from pacboost.cli.inputs.rows import read_all
    from pacboost.cli.output import echo, print_json, working
    from pacboost.errors import NotCertified
    from pacboost.questions.certify import certify

    if (data is None) != (target is None):
        raise click.UsageError("--data and --target have to be given together")
    path = output or model_path.with_suffix(".html")
    check_output(path, model_path, *([] if data is None else [data]))
    fitted = load(model_path)
    rows: tuple[Any, ...] = ()
    found: dict[str, Any] = {}
    if data is not None:
        file = data_file(data, arguments)
        rows = read_all(fitted, file, str(target), arguments["text"], arguments["drop"])[:2]
        # rows of the fit, or numbers: the page shows them, and nothing is certified
        with suppress(NotCertified):
            found["certified"] = certify(fitted, *rows)
    with working("writing the page"):
        fitted.report(path, *rows, **found)
    certificate = found.get("certified")
    if arguments["as_json"]:
        content = {"model": model_path, "output": path, "bytes": path.stat().st_size}
        print_json(content | {"certificate": certificate and certificate.to_dict()})
    else:
        echo(f"The report is in {path}. Open it in a browser.")
