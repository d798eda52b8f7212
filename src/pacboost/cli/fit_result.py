"""The end of every fit: the model is written, and where it is, is printed."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

from pacboost.bounds.certificate import Certificate
from pacboost.cli.output import certificate_sentence, echo, print_json
from pacboost.errors import NotCertified


def save_model(model: Any, output: Path | None, *, forget_rows: bool = False) -> None:
    """Write the model if asked to, before anything is printed: the output may be a closed pipe."""
    if forget_rows:
        model.forget_rows()
    if output is not None:
        model.save(output)


def report_model(
    model: Any, about: str, output: Path | None, *, as_json: bool, **more: Any
) -> None:
    """Print where the model is; or print everything as JSON."""
    if as_json:
        print_json({**model_content(model, about), **more, "model": output})
    else:
        report_saved(output)


def report_saved(output: Path | None) -> None:
    """Print where the model is."""
    if output is None:
        echo("The model was not saved: use --output to save it.")
    else:
        echo(f"The model is in {output}. For a report on it: pacboost report {output}")


def model_content(model: Any, about: str) -> dict[str, Any]:
    """Give the content of the JSON document about a fit."""
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
        "sentence": sentence_of(model),
        "certificate": None if certificate is None else certificate.to_dict(),
    }


def sentence_of(model: Any) -> str | None:
    """Give the sentence of a fitted model, if any theorem applies to it."""
    certificate = certificate_of(model)
    if certificate is None:
        return None
    return certificate_sentence(certificate, model.model_.held_out, model.classes_.tolist())


def certificate_of(model: Any) -> Certificate | None:
    """Give the certificate of a fitted model, if any theorem applies to it."""
    with suppress(NotCertified):
        certificate: Certificate | None = model.certificate_
        return certificate
    return None
