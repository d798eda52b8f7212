"""Fit in memory, with a booster and a learner given as options."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console

from pacboost.cli.fit_result import report_model, save_model, sentence_of
from pacboost.cli.inputs.constraints import constraints
from pacboost.cli.inputs.data_files import data_file
from pacboost.cli.inputs.examples import about, read_examples, take_weights
from pacboost.cli.inputs.model_files import check_output
from pacboost.cli.output import bold, make_console, print_parts
from pacboost.estimators.boosting.adaboost import AdaBoostClassifier
from pacboost.estimators.boosting.boost import BoostClassifier
from pacboost.estimators.strong.row_roles import FEWEST
from pacboost.reports.margins import hardest_table
from pacboost.reports.text import certificate_panel, rounds_table

if TYPE_CHECKING:
    from pacboost.estimators.boosting.base import Boosting


def in_memory_model(given: Mapping[str, Any], rows: int) -> AdaBoostClassifier | BoostClassifier:
    """Make the estimator from the options of the command, for a number of rows."""
    booster, learner = given["booster"] or "adaboost", given["learner"] or "stump"
    validation = given["validation"]
    certify = given["certify"] or ("train-error" if rows < FEWEST else "holdout")
    common: dict[str, Any] = {
        "n_estimators": 50 if given["rounds"] is None else given["rounds"],
        "max_bins": given["max_bins"],
        "early_stopping": validation > 0,
        "validation_fraction": validation or 0.1,
        "certify": None if certify == "train-error" else certify,
        "delta": given["delta"],
        "random_state": given["seed"],
        "n_jobs": given["jobs"],
        "device": given["device"],
        "verbose": sys.stderr.isatty(),
    }
    if learner != "tree" and (given["monotone"] or given["interact"]):
        raise click.UsageError(
            "--monotone and --interact are for trees; add --learner tree, or --loss for numbers"
        )
    rate, leaves, resample = given["learning_rate"], given["leaves"], given["resample"]
    balance = given["class_weight"]
    if (booster, learner) == ("adaboost", "stump") and leaves is None and balance is None:
        return AdaBoostClassifier(
            learning_rate=1.0 if rate is None else rate, resample=resample, **common
        )
    if resample:
        raise click.UsageError(
            "--resample requires --booster adaboost and --learner stump, without --class-weight"
        )
    common["class_weight"] = balance
    common |= constraints(given)
    return BoostClassifier(booster, learner, learning_rate=rate, max_leaves=leaves, **common)


def run_fit(data: Path, target: str, output: Path | None, given: Mapping[str, Any]) -> None:
    """Fit, show the result, and save it if asked to; after Ctrl-C, the rounds done so far."""
    check_output(output, data)
    file = data_file(data, given)
    weight = given["weight"]
    examples = read_examples(
        file,
        target,
        given["drop"],
        categories=given["categories"],
        others=() if weight is None else (weight,),
    )
    examples, weights = take_weights(file, examples, weight)
    model = in_memory_model(given, examples.table.n_rows)
    said = about(file, examples.table)
    try:
        model.fit(examples.table, examples.labels, weights, copies=given["copies"])
    finally:
        if hasattr(model, "model_"):
            save_model(model, output, forget_rows=given["forget_rows"])
            if not given["as_json"]:
                print_parts(*([bold(sentence), ""] if (sentence := sentence_of(model)) else []))
                show(model, said)
                _show_hardest(model, given["hardest"])
            report_model(model, said, output, as_json=given["as_json"])


def show(model: Boosting, title: str, console: Console | None = None) -> None:
    """Print the rounds, why they ended, and the certificate."""
    console = console or make_console()
    ledger = model.ledger_
    console.print(rounds_table(ledger, title))
    console.print(f"Stopped: {ledger.stopped}.")
    console.print(certificate_panel(model.certificate_, ledger))


def _show_hardest(model: Boosting, number: int) -> None:
    if number:
        found = model.ledger_.hardest(min(number, len(model.ledger_.hard) or 1))
        make_console().print(hardest_table(found, "hardest rows, numbered from 0"))
