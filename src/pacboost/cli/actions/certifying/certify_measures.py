"""Certify recall, precision, costs and the like of a saved model by the rows of a file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from pacboost.bounds.family import Family
from pacboost.bounds.wording import sentence
from pacboost.cli.actions.certifying.order import order_of_rows
from pacboost.cli.inputs.data_files import data_file
from pacboost.cli.inputs.rows import column_names, read_all
from pacboost.cli.output import bold, certificate_facts, print_json, print_parts, working
from pacboost.errors import NotCertified, ParameterError
from pacboost.questions.certify import certify
from pacboost.reports.text import grid

OPTIONS = ("end", "top_k", "p_min", "clip", "larger_than", "delta", "models", "ordered", "copies")


def asks_for_measures(given: Mapping[str, Any]) -> bool:
    """Tell whether more than the error of all rows is asked for."""
    return bool(given["of"] or given["cost"] or given["by"] or given["end"] or given["positive"])


def _one_or_list(names: list[str]) -> Any:
    return names[0] if len(names) == 1 else names


def run_measures(model: Any, data: Path, target: str, given: Mapping[str, Any]) -> None:
    """Read the rows, certify what was asked for, and print it."""
    for name in ("epsilon", "target_error", "abstain_below"):
        if given[name] is not None:
            option = f"--{name.replace('_', '-')}"
            raise click.UsageError(f"{option} speaks of the error alone; leave out --of and --by")
    columns = [name for name in (given["groups"], given["by"]) if name is not None]
    outside = [name for name in columns if name not in column_names(model)]
    file = data_file(data, given)
    X, y, cells = read_all(model, file, target, given["text"], [*given["drop"], *outside])
    groups = None if given["groups"] is None else cells.of(given["groups"])
    by = None if given["by"] is None else [str(own) for own in cells.of(given["by"])]
    order = order_of_rows(model, X, y, given)
    with working("counting"):
        found = certify(
            model, X, y, of=_of(model, given), positive=class_named(model, given["positive"]),
            by=by, groups=groups, **{name: given[name] for name in OPTIONS},
        )  # fmt: skip
    if given["as_json"]:
        print_json({**found.to_dict(), **order})
    elif isinstance(found, Family):
        print_parts(str(found), *_about_groups(found, given))
    else:
        print_parts(bold(str(sentence(found))), "", grid(certificate_facts(found)))


def class_named(model: Any, name: str | None) -> Any:
    """Give the class of a model that prints as this name."""
    if name is None:
        return None
    for label in model.classes_.tolist():
        if str(label) == name:
            return label
    names = ", ".join(map(str, model.classes_.tolist()[:20]))
    raise ParameterError(f"--positive is {name}; the classes are {names}")


def _of(model: Any, given: Mapping[str, Any]) -> Any:
    names = [name.strip() for name in (given["of"] or "").split(",") if name.strip()]
    if not given["cost"]:
        return _one_or_list(names or ["error"])
    return [*names, _costs(model, given["cost"])] if names else _costs(model, given["cost"])


def _costs(model: Any, texts: tuple[str, ...]) -> dict[tuple[Any, Any], float]:
    found = {}
    for text in texts:
        pair, _, number = text.rpartition("=")
        true, _, said = pair.partition(":")
        try:
            cost = float(number)
        except ValueError:
            raise ParameterError(
                f"--cost is {text!r}; it has the form TRUE:SAID=NUMBER, as in sick:well=10"
            ) from None
        found[class_named(model, true), class_named(model, said)] = cost
    return found


def _about_groups(found: Family, given: Mapping[str, Any]) -> list[str]:
    if given["by"] is None:
        return []
    try:
        said = ["", f"Worst group: {found.worst_group}. {found.worst.claim}"]
        return [*said, found.gap.claim] if given["end"] == "both" else said
    except (NotCertified, ParameterError):  # of several measures none is the worst
        return []
