"""``pacboost watch``: is the certificate of a model in use still true?"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pacboost.cli import options
from pacboost.cli.group import ALARM
from pacboost.cli.inputs.files import FittedModel, data_file, open_model
from pacboost.cli.output import answer, bold, working
from pacboost.errors import FileError

if TYPE_CHECKING:
    from pacboost.monitoring.monitor import Monitor


SETTINGS = ("error", "delta", "run_length")


@click.command(
    epilog=options.example(
        "pacboost watch income.pacb today.csv --target income --state income.watch",
        "pacboost watch income.pacb today.csv --reference last_year.csv --state income.watch",
        "pacboost watch today.csv --said verdict --truth label --error 0.1 --state judge.watch",
    )
)
@options.model_file
@click.argument("data", type=options.FILE, required=False)
@options.column(
    "--target",
    "--truth",
    help="The column that holds the labels. Without it, only the rows are compared.",
)
@options.answer_column
@options.file(
    "--state",
    help="Continue from this file if it exists, and save to it. Without it, the watch begins anew.",
)
@options.file(
    "--reference",
    help="Compare the rows with those of this file, from the time when all was well. Give the same "
    "file every time.",
)
@options.real("--error", help="The error to hold the model to.  [default: certified]")
@options.real("--delta", help="The probability of ever giving a false alarm.  [default: 0.05]")
@click.option(
    "--run-length",
    type=int,
    help="The average number of labelled rows to a false alarm of the change detector, at least.  "
    "[default: 100000]",
)
@options.flag("--again", help="Count a file even if the same bytes were counted before.")
@options.text
@options.drop
@options.format_options
@options.skip_unlabelled
@options.file("--plot", help="Draw the curves into this file.")
@options.file("--report", help="Write a page with the curves to this file.")
@options.as_json
def command(model_path: Path, data: Path | None, target: str | None, **arguments: Any) -> None:
    """Watch a model in use: its mistakes as labels come back, and its rows.

    With --said no model is needed: a column of the file holds answers, whoever gave them.

    Give every row once, in the order of time, for instance every night. The exit code is 3 if the
    certificate is refuted, the change detector has sounded, or the rows have drifted; also in later
    runs with the same --state.
    """
    from pacboost.cli.inputs.rows import answers_or_rows, read_all

    if target is None and (arguments["said"] or arguments["reference"] is None):
        raise click.UsageError(
            "nothing can be watched without --target (labels) or --reference (rows from the time "
            "when all was well); give one of them, or both"
        )
    outputs = [arguments[name] for name in ("state", "plot", "report")]
    if arguments["said"]:
        model, rows, labels, _ = answers_or_rows(model_path, data, str(target), arguments, *outputs)
        data = model_path
    else:
        hint = "watch is for models that predict classes"
        model, model_path, data = open_model(model_path, data, *outputs, numbers=hint)
    monitor = _monitor(model, target, arguments)
    _count_once(monitor, data, target, arguments)
    if target is not None:
        if not arguments["said"]:
            file = data_file(data, arguments)
            rows, labels, _ = read_all(model, file, target, arguments["text"], arguments["drop"])
        monitor.update(rows, labels)
    if arguments["reference"] is not None:
        with working("comparing rows"):
            monitor.update_rows(_rows(model, data, target, arguments))
    if arguments["state"] is not None:
        monitor.save(arguments["state"])
    if arguments["plot"] is not None:
        from pacboost.reports.plots import save

        save(monitor.plot()[0].figure, arguments["plot"])
    if arguments["report"] is not None:
        monitor.report(arguments["report"], title=model_path.name)
    status = monitor.status()
    first, *others = status.sentences
    answer(arguments["as_json"], status.to_dict(), bold(first), *others)
    if status.alarm:
        sys.exit(ALARM)


def _monitor(model: FittedModel, target: str | None, arguments: Mapping[str, Any]) -> Monitor:
    from pacboost.monitoring.monitor import Monitor

    reference = None
    if arguments["reference"] is not None:
        reference = _rows(model, arguments["reference"], target, arguments)
    asked = {name: arguments[name] for name in SETTINGS if arguments[name] is not None}
    path = arguments["state"]
    if path is None or not path.exists():
        return Monitor(model, reference=reference, **asked)
    monitor = Monitor.load(path, model, reference=reference)
    for name, value in asked.items():
        current = getattr(monitor, name)
        # the capital was bet against another claim; with a new one it would prove neither
        if current != value:
            raise click.UsageError(
                f"{path}: was begun with --{name} {current:g}, and {value:g} is asked for; leave "
                "the option out, or begin with another file",
            )
    return monitor


def _count_once(
    monitor: Monitor, path: Path, target: str | None, arguments: Mapping[str, Any]
) -> None:
    """Refuse a file whose labels, or whose rows, were counted before."""
    if not path.is_file():  # the standard input
        return
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    parts = (("labels", target), ("rows", arguments["reference"]))
    # a file that was compared as rows may bring its labels later, and both count once
    digests = [f"{part} {digest}" for part, is_counted in parts if is_counted is not None]
    # a nightly job that runs twice would count the same mistakes twice, and raise a false alarm
    if not arguments["again"] and (twice := {*digests} & {*monitor.files}):
        raise FileError(
            f"{path}: its {min(twice).split()[0]} were counted before, and each row counts once; "
            "name a new file, or add --again if the same bytes are new rows"
        )
    monitor.files += [one for one in digests if one not in monitor.files]


def _rows(model: FittedModel, path: Path, target: str | None, arguments: Mapping[str, Any]) -> Any:
    from pacboost.cli.inputs.rows import Reader, as_frame
    from pacboost.sources.file_rows import whole

    with working(f"reading {path.name}"):
        others = [*arguments["drop"], *([target] if target is not None else [])]
        if arguments["said"]:
            return as_frame(whole(data_file(path, arguments)), [*others, arguments["said"]])
        cells = whole(data_file(path, arguments))
        return Reader(model, arguments["text"], others).as_written(cells)
