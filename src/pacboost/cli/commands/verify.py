"""``pacboost verify``: does the certificate in a model file hold?"""

from __future__ import annotations

import sys
from dataclasses import asdict
from importlib import resources
from pathlib import Path

import click

from pacboost.cli import options
from pacboost.cli.group import THE_ANSWER_IS_NO


@click.command(
    epilog=options.example(
        "pacboost verify income.pacb",
        "pacboost verify --checker check.py && python check.py income.pacb",
    )
)
@click.argument("model", type=options.FILE, required=False)
@options.model_memory
@options.file(
    "--checker",
    help="Write a program to this file that checks model files without pacboost: 400 lines that "
    "need nothing but Python.",
)
@options.as_json
def command(model: Path | None, checker: Path | None, as_json: bool) -> None:
    """Recompute the certificate of a saved model, without its data.

    The exit code is 1 if the certificate does not hold, or if something could not be checked.
    Whether mistakes were counted correctly in the first place cannot be checked without the data,
    nor who wrote the file.
    """
    from pacboost.cli.inputs.files import model_memory
    from pacboost.cli.output import echo, print_json
    from pacboost.questions.verify import CONSISTENT, of_training, sentence, verify
    from pacboost.sources.optional import atomic_write

    if checker is None and model is None:
        raise click.UsageError(
            "Missing argument 'MODEL'; name a model file, or a file for --checker"
        )
    if checker is not None:
        with atomic_write(checker) as part:
            # the checker is one file that imports nothing of pacboost: who distrusts the package
            # can read it
            part.write_bytes((resources.files("pacboost") / "pacboost_check.py").read_bytes())
    if model is None:
        return
    checks = verify(model, memory=model_memory())
    stands = all(check.holds for check in checks)
    claim = sentence(model, memory=model_memory()) if stands else ""
    if as_json:
        content = {"stands": stands, "sentence": claim, "checks": list(map(asdict, checks))}
        print_json({"model": model, **content, "note": CONSISTENT})
    else:
        for check in checks:
            echo(f"{'holds' if check.holds else 'FAILS'}  {check.name}: {check.words}")
        if stands and of_training(model, memory=model_memory()):
            echo("The file is consistent. It holds no certificate about new examples.")
        else:
            echo(f"{model}: the certificate {'holds' if stands else 'does not hold'}.")
        if claim:
            echo(claim)
        echo(CONSISTENT)
    if not stands:
        sys.exit(THE_ANSWER_IS_NO)
