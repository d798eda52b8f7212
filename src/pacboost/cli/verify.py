"""``pacboost verify``: does the certificate in a model file stand?"""

from __future__ import annotations

from pathlib import Path

import click

from pacboost.cli import options
from pacboost.cli.commands import the_answer_is_no


@click.command(epilog=options.example("pacboost verify income.pacb"))
@options.model_file
@options.as_json
def command(model: Path, as_json: bool) -> None:
    """Recompute the certificate of a saved model, without its data.

    Ends with 1 if it does not stand.
    """
    from pacboost.cli import telling
    from pacboost.questions.verify import verify

    checks = verify(model)
    stands = all(check.holds for check in checks)
    if as_json:
        looked = [{"name": c.name, "holds": c.holds, "words": c.words} for c in checks]
        telling.tell_json({"model": model, "stands": stands, "checks": looked})
    else:
        for check in checks:
            click.echo(f"{'holds' if check.holds else 'FAILS'}  {check.name}: {check.words}")
        said = "stands" if stands else "does not stand"
        click.echo(f"{model}: the certificate {said}.")
    if not stands:
        raise the_answer_is_no()
