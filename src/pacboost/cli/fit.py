"""``pacboost fit``: a file in, rounds and certificate out."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console

from pacboost.cli.filter_options import FILTERING_ALONE
from pacboost.errors import FileError
from pacboost.estimators.adaboost import AdaBoostClassifier
from pacboost.estimators.boost import BoostClassifier
from pacboost.reports.margins import hardest_table
from pacboost.reports.text import certificate_panel, rounds_table
from pacboost.sources.csv import read_csv

if TYPE_CHECKING:
    from pacboost.estimators.boosting import Boosting


def in_memory_model(given: Mapping[str, Any]) -> AdaBoostClassifier | BoostClassifier:
    """Make the estimator that the options of the command ask for."""
    booster, learner = given["booster"] or "adaboost", given["learner"] or "stump"
    if booster in FILTERING_ALONE:
        raise click.UsageError(f"--booster {booster} boosts by filtering: add --filter")
    validation, certify = given["validation"], given["certify"]
    common: dict[str, Any] = {
        "n_estimators": 50 if given["rounds"] is None else given["rounds"],
        "max_bins": given["max_bins"],
        "early_stopping": validation > 0,
        "validation_fraction": validation or 0.1,
        "certify": None if certify == "train-error" else certify,
        "delta": given["delta"],
        "random_state": given["seed"],
        "n_jobs": given["jobs"],
        "verbose": sys.stderr.isatty(),
    }
    rate, leaves, resample = given["learning_rate"], given["leaves"], given["resample"]
    if (booster, learner) == ("adaboost", "stump") and leaves is None:
        return AdaBoostClassifier(
            learning_rate=1.0 if rate is None else rate, resample=resample, **common
        )
    if resample:
        raise click.UsageError("--resample goes with --booster adaboost --learner stump")
    return BoostClassifier(booster, learner, learning_rate=rate, max_leaves=leaves, **common)


def run_fit(
    model: Boosting,
    data: Path,
    target: str,
    output: Path | None,
    *,
    categories: bool = False,
    hardest: int = 0,
) -> None:
    """Read, boost, show, and save if asked to."""
    check_output(output)
    examples = read_csv(data, target, categories=categories)
    try:
        model.fit(examples.table, examples.labels)
    finally:  # after Ctrl-C too: what is done is shown and kept
        if hasattr(model, "model_"):
            show(model, f"{data.name}: {examples.table.n_rows:,} rows")
            if hardest:
                found = model.ledger_.hardest(min(hardest, len(model.ledger_.hard) or 1))
                Console().print(hardest_table(found, "hardest rows, counted from 0"))
            if output is not None:
                model.save(output)


def check_output(output: Path | None) -> None:
    """Look at where the model shall go before the work, not after."""
    if output is None:
        return
    if not output.absolute().parent.is_dir():
        raise FileError(f"{output}: its folder does not exist; make it first")
    if output.is_dir():
        raise FileError(f"{output}: is a folder; name a file in it")


def show(model: Boosting, title: str, console: Console | None = None) -> None:
    """Print the rounds, why they ended, and the certificate."""
    console = console or Console()
    ledger = model.ledger_
    console.print(rounds_table(ledger, title))
    console.print(f"Stopped: {ledger.stopped}.")
    console.print(certificate_panel(model.certificate_, ledger))
