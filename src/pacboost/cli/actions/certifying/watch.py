"""Watch a saved model by the rows of a file, and keep the state for the next run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from pacboost.cli.group import alarm
from pacboost.cli.inputs.data_files import data_file
from pacboost.cli.inputs.model_files import check_output, load, model_first
from pacboost.cli.inputs.rows import Reader, read_all
from pacboost.cli.output import bold, print_json, print_parts, working
from pacboost.errors import FileError, ParameterError
from pacboost.monitoring.monitor import Monitor
from pacboost.sources.file_rows import whole

SETTINGS = ("error", "delta", "run_length")


def run_watch(model_path: Path, data: Path, target: str | None, given: Mapping[str, Any]) -> None:
    """Read the rows, continue the watch, print what is known, and end with 3 on an alarm."""
    model_path, data = model_first(model_path, data)
    if target is None and given["reference"] is None:
        raise click.UsageError(
            "nothing can be watched without --target (labels) or --reference (rows from the time "
            "when all was well); give one of them, or both"
        )
    for output in (given["state"], given["plot"], given["report"]):
        check_output(output, model_path, data)
    model = load(model_path)
    if not hasattr(model, "classes_"):
        raise FileError(f"{model_path}: predicts numbers; watch is for models that predict classes")
    monitor = _monitor(model, target, given)
    _update(monitor, model, data, target, given)
    if given["state"] is not None:
        monitor.save(given["state"])
    if given["plot"] is not None:
        from pacboost.reports.canvas import save

        save(monitor.plot()[0].figure, given["plot"])
    if given["report"] is not None:
        monitor.report(given["report"], title=model_path.name)
    status = monitor.status()
    if given["as_json"]:
        print_json(status.to_dict())
    else:
        first, *others = status.sentences
        print_parts(bold(first), *others)
    if status.alarm:
        raise alarm()


def _monitor(model: Any, target: str | None, given: Mapping[str, Any]) -> Monitor:
    """Continue from the state, or begin."""
    reference = None
    if given["reference"] is not None:
        reference = _rows(model, given["reference"], target, given)
    asked = {name: given[name] for name in SETTINGS if given[name] is not None}
    path = given["state"]
    if path is None or not path.exists():
        return Monitor(model, reference=reference, **asked)
    monitor = Monitor.load(path, model, reference=reference)
    for name, wanted in asked.items():
        known = getattr(monitor, name)
        if known != wanted:
            raise ParameterError(
                f"{path}: was begun with {name}={known:g}, and {wanted:g} is asked for; leave the "
                "option out, or begin with another file"
            )
    return monitor


def _update(
    monitor: Monitor, model: Any, data: Path, target: str | None, given: Mapping[str, Any]
) -> None:
    if target is not None:
        rows, labels, _ = read_all(
            model, data_file(data, given), target, given["text"], given["drop"]
        )
        monitor.update(rows, labels)
    if given["reference"] is not None:
        with working("comparing rows"):
            monitor.update_rows(_rows(model, data, target, given))


def _rows(model: Any, path: Path, target: str | None, given: Mapping[str, Any]) -> Any:
    with working(f"reading {path.name}"):
        others = [*given["drop"], *([target] if target is not None else [])]
        return Reader(model, given["text"], others).as_written(whole(data_file(path, given)))
