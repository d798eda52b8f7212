"""``pacboost demo``: what pacboost does, on late parcels and on telephone calls, all invented."""

from __future__ import annotations

import shlex
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import click

from pacboost.cli import options
from pacboost.cli.output import bold, print_json, print_parts

STEPS = {
    "Train on 3,000 parcels, and say how wrong the model can be:": (
        "fit parcels.csv --target late --output parcels.pacb"
    ),
    "Certify it on 1,000 parcels that it has not seen:": (
        "certify parcels.pacb parcels_new.csv --target late"
    ),
    "The rows that it was trained on would flatter it, so they are refused:": (
        "certify parcels.pacb parcels.csv --target late"
    ),
    "Choose a threshold that finds 85 % of the late parcels, with a guarantee:": (
        "threshold parcels.pacb parcels_new.csv --target late --recall 0.85 --output alarms.pacb"
    ),
    "Ask about one parcel, with reasons:": (
        "ask parcels.pacb shipped=2025-12-19 carrier=Ember service=standard distance_km=900"
    ),
    "Write a report that explains the model:": "report parcels.pacb --output parcels.html",
    "Learn 14 types of calls to a telephone company from 600 calls:": (
        "fit calls.csv --text utterance --target type --output calls.pacb"
    ),
    "Ask what kind of call this is, and by which words:": (
        'ask calls.pacb "operator, may I charge this to my card"'
    ),
}


@click.command(epilog=options.example("pacboost demo"))
@click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where to write the parcels, the model and the report.  [default: a temporary folder]",
)
@options.flag("--theory", help="Show AdaBoost on ten points alone.")
@options.as_json
def command(folder: Path | None, theory: bool, as_json: bool) -> None:
    """Train, certify, ask and report, on parcels that arrived late or not and on phone calls."""
    from pacboost.sources.toy import write_calls, write_parcels

    if as_json:
        print_json({"commands": [] if theory else list(STEPS.values()), "points": _points()})
        return
    if not theory:
        folder = Path(mkdtemp(prefix="pacboost-")) if folder is None else folder
        folder.mkdir(parents=True, exist_ok=True)
        write_parcels(folder)
        write_calls(folder)
        for explanation, line in STEPS.items():
            print_parts(bold(explanation), f"$ pacboost {line}", "")
            _run(folder, line)
            print_parts("")
        print_parts(f"Everything is in {folder}; open {folder / 'parcels.html'} in a browser.", "")
    _ten_points()


def _run(folder: Path, line: str) -> None:
    """Run a command line on the files of a folder."""
    words = [str(folder / word) if word.startswith(("parcels", "alarms.", "calls.")) else word
             for word in shlex.split(line)]  # fmt: skip
    try:
        click.get_current_context().find_root().command.main(words)
    except SystemExit as exit_:
        # the step that certifies by training rows is there to be refused
        if exit_.code not in (0, None) and "parcels.csv" not in line:
            raise


def _points() -> dict[str, object]:
    from pacboost.estimators.boosting.adaboost import AdaBoostClassifier
    from pacboost.sources.toy import lecture_points

    toy = AdaBoostClassifier(n_estimators=3).fit(*lecture_points())
    rounds = toy.ledger_.rounds
    return {
        "rules": toy.rules(),
        "errors": [entry.error for entry in rounds],
        "bound": toy.certificate_.value,
        "training_error": rounds[-1].training_error,
    }


def _ten_points() -> None:
    toy: dict[str, Any] = _points()
    errors = " ".join(f"{error:.4f}" for error in toy["errors"])
    print_parts(
        bold("And why boosting works: three poor rules, one vote without a mistake (ten points)."),
        *toy["rules"],
        f"Their weighted errors are {errors}; the theorem bounds the training error of the vote by "
        f"{toy['bound']:.4f}, and it is {toy['training_error']:.0%}.",
    )
