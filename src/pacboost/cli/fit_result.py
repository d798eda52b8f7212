"""How every fit ends: the model is written, and what to do with it is said."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from pacboost.bounds.certificate import Certificate
from pacboost.cli.output import certificate_sentence, print_json
from pacboost.errors import NotCertified


def save_model(model: Any, output: Path | None, *, forget_rows: bool = False) -> None:
    """Write the model if asked to, before anything is said: whoever listens may have gone."""
    if forget_rows:
        model.forget_rows()
    if output is not None:
        model.save(output)


def report_model(
    model: Any, about: str, output: Path | None, *, as_json: bool, **more: Any
) -> None:
    """Say where the model is; or say everything in JSON."""
    if as_json:
        print_json({**model_content(model, about), **more, "model": output})
    elif output is None:
        click.echo("Nothing was written: give --output to keep the model.")
    else:
        click.echo(f"The model is in {output}. To see all of it: pacboost report {output}")


def model_content(model: Any, about: str) -> dict[str, Any]:
    """Give what a program wants to know of a fit."""
    certificate = certificate_of(model)
    ledger = model.ledger_
    return {
        "data": about,
        "estimator": type(model).__name__,
        "booster": ledger.booster,
        "learner": ledger.learner.lower(),
        "classes": model.classes_,
        "rounds": len(ledger),
        "stopped": ledger.stopped,
        "training_error": ledger.rounds[-1].training_error if len(ledger) else None,
        "sentence": None if certificate is None else certificate_sentence(certificate),
        "certificate": None if certificate is None else certificate.to_dict(),
    }


def certificate_of(model: Any) -> Certificate | None:
    """Give the certificate of a fitted model, if any theorem applies to it."""
    with suppress(NotCertified):
        certificate: Certificate | None = model.certificate_
        return certificate
    return None
