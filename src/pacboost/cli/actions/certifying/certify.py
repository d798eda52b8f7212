"""Certify a saved model by the rows of a file: all of its answers, or the confident ones."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
import numpy as np

from pacboost.bounds import estimates
from pacboost.bounds.answering import Answering
from pacboost.bounds.certificate import Certificate
from pacboost.bounds.held_out import HeldOut
from pacboost.cli.actions.certifying.certify_measures import asks_for_measures, run_measures
from pacboost.cli.actions.certifying.order import order_of_rows
from pacboost.cli.group import the_answer_is_no
from pacboost.cli.inputs.data_files import data_file
from pacboost.cli.inputs.model_files import load, model_first
from pacboost.cli.inputs.rows import read_all
from pacboost.cli.output import (
    bold,
    certificate_facts,
    certificate_sentence,
    print_json,
    print_parts,
    working,
)
from pacboost.errors import FileError
from pacboost.models.answers import confidence
from pacboost.numerics.checks import probability
from pacboost.questions.certify import certify
from pacboost.questions.selective import certify_answers
from pacboost.reports.text import grid


def run_certify(model_path: Path, data: Path, target: str, given: Mapping[str, Any]) -> None:
    """Read the rows, count mistakes, and print the certificate; the answer is no above epsilon."""
    model_path, data = model_first(model_path, data)
    epsilon = given["epsilon"]
    if epsilon is not None:
        probability("epsilon", epsilon)
    confident = given["target_error"] is not None or given["abstain_below"] is not None
    if confident and (given["groups"] or given["ordered"]):
        raise click.UsageError(
            "--groups and --ordered cannot be combined with --abstain-below or --target-error; "
            "leave them out"
        )
    model = load(model_path)
    if asks_for_measures(given):
        run_measures(model, data, target, given)
        return
    if not hasattr(model, "classes_"):
        raise FileError(
            f"{model_path}: predicts numbers; certify --of absolute_error --clip NUMBER, or "
            "--of large_errors --larger-than NUMBER"
        )
    groups = [] if given["groups"] is None else [given["groups"]]
    file, others = data_file(data, given), [*given["drop"], *groups]
    X, y, cells = read_all(model, file, target, given["text"], others)
    order = order_of_rows(model, X, y, given)
    with working("counting mistakes"):
        if confident:
            certificate, document, parts = _of_confident_answers(model, X, y, given)
        else:
            named = cells.of(groups[0]) if groups else None
            certificate, document, parts = _of_all_answers(model, X, y, named, given)
    met = None if epsilon is None else certificate.value <= epsilon
    if given["as_json"]:
        content = {**document, **order, "met": met, "certificate": certificate.to_dict()}
        print_json(content)
    else:
        wanted = "" if met is None else f"Is this at most {epsilon:g}? {'Yes' if met else 'NO'}."
        print_parts(*parts, *(["", wanted] if wanted else []))
    if met is False:
        raise the_answer_is_no()


Certified = tuple[Certificate, dict[str, Any], list[Any]]
"""A certificate, what JSON adds to it, and the parts to print."""


def _of_all_answers(model: Any, X: Any, y: Any, groups: Any, given: Mapping[str, Any]) -> Certified:
    options = {name: given[name] for name in ("delta", "models", "ordered", "copies")}
    found = certify(model, X, y, groups=groups, **options)
    counted = HeldOut.of(y, model.predict(X), model.classes_)
    said = certificate_sentence(found, counted, model.classes_.tolist())
    parts = [bold(said), "", grid(certificate_facts(found))]
    return found, {"sentence": said}, parts


def _of_confident_answers(model: Any, X: Any, y: Any, given: Mapping[str, Any]) -> Certified:
    asked = ("delta", "models", "target_error", "abstain_below", "copies")
    options = {name: given[name] for name in asked}
    answering = certify_answers(model, X, y, **options)
    found, names = answering.certificate, [str(name) for name in model.classes_.tolist()]
    claim, note = estimates.in_full(found, _answered(model, X, y, answering), names)
    said = f"{claim} {answering.answers()} {note}"
    parts = [bold(said), "", answering.table()]
    return found, {"sentence": said, "answering": answering.to_dict()}, parts


def _answered(model: Any, X: Any, y: Any, answering: Answering) -> HeldOut | None:
    """Count the rows that are answered."""
    decided, chances = np.asarray(model.predict(X)), np.asarray(model.predict_proba(X))
    sure = np.asarray(confidence(decided, chances, np.asarray(model.classes_)))
    rows = sure >= answering.point.threshold
    return HeldOut.of(np.asarray(y)[rows], decided[rows], model.classes_)
