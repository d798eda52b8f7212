"""Fit a regressor in memory: boosted trees that predict a number."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from pacboost.cli.fit_result import report_saved, save_model
from pacboost.cli.inputs.constraints import constraints
from pacboost.cli.inputs.data_files import data_file
from pacboost.cli.inputs.examples import about, read_examples, take_weights
from pacboost.cli.inputs.model_files import check_output
from pacboost.cli.output import bold, print_json, print_parts
from pacboost.errors import FileError
from pacboost.estimators.boosting.regressor import BoostRegressor
from pacboost.reports.text import grid


def number_model(given: Mapping[str, Any]) -> BoostRegressor:
    """Make the estimator from the options of the command."""
    validation, shares = given["validation"], _shares(given)
    return BoostRegressor(
        given["loss"],
        given["rounds"],
        given["learning_rate"],
        **shares,
        **constraints(given),
        max_leaves=given["leaves"],
        max_bins=given["max_bins"],
        early_stopping=True if validation > 0 else "auto",
        validation_fraction=validation or 0.1,
        random_state=given["seed"],
        n_jobs=given["jobs"],
        device=given["device"],
        verbose=sys.stderr.isatty(),
    )


def _shares(given: Mapping[str, Any]) -> dict[str, Any]:
    """Read --quantile and --alpha, which belong to one or two losses."""
    quantile, alpha, loss = given["quantile"], given["alpha"], given["loss"]
    if alpha is not None and loss not in ("huber", "quantile"):
        raise click.UsageError(f"--alpha belongs to --loss huber and quantile, not to {loss}")
    if alpha is not None and quantile is not None:
        raise click.UsageError("--alpha and --quantile were both given; leave one of them out")
    if loss == "quantile" and alpha is not None:
        return {"quantile": alpha}
    found = {"quantile": quantile, "alpha": alpha}
    return {name: share for name, share in found.items() if share is not None}


def run_numbers(data: Path, target: str, output: Path | None, given: Mapping[str, Any]) -> None:
    """Fit, show the result, and save it if asked to; after Ctrl-C, the rounds done so far."""
    check_output(output, data)
    file, weight = data_file(data, given), given["weight"]
    examples = read_examples(
        file,
        target,
        given["drop"],
        categories=given["categories"],
        others=() if weight is None else (weight,),
        classes=False,
    )
    if examples.labels.dtype.kind not in "iufb":
        raise FileError(
            f"{file}: column {target!r} holds text, such as {str(examples.labels[0])!r}, and "
            "--loss predicts numbers; name another column by --target, or leave --loss out to "
            "predict classes"
        )
    examples, weights = take_weights(file, examples, weight)
    model, said = number_model(given), about(file, examples.table)
    try:
        model.fit(examples.table, examples.labels, weights, copies=given["copies"])
    finally:
        if hasattr(model, "model_"):
            save_model(model, output, forget_rows=given["forget_rows"])
            _show(model, said, output, as_json=given["as_json"])


def _show(model: BoostRegressor, said: str, output: Path | None, *, as_json: bool) -> None:
    ledger = model.ledger_
    last = ledger.rounds[-1] if len(ledger) else None
    loss = None if last is None else last.training_error
    best = min(
        (min(own) for own in model.__dict__.get("validation_curves_", {}).values()), default=None
    )
    if as_json:
        print_json(
            {
                "data": said,
                "estimator": type(model).__name__,
                "loss": model.loss,
                "quantile": model.quantile,
                "rounds": len(ledger),
                "stopped": ledger.stopped,
                "training_loss": loss,
                "validation_loss": best,
                "model": output,
            }
        )
        return
    facts = [("data", said), ("rounds", f"{len(ledger):,}; {ledger.stopped}")]
    if loss is not None:
        facts.append((f"mean {model.loss}", f"{loss:.6g} on the training rows"))
    if best is not None:
        facts.append(("", f"{best:.6g} on the validation rows, which chose the number of rounds"))
    sentence = "It predicts numbers, for which a fit gives no certificate; measure it on new rows."
    print_parts(bold(sentence), "", grid(facts), "")
    report_saved(output)
