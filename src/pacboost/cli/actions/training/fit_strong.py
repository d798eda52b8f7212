"""Fit in memory, with booster and learner chosen automatically and rows held out to certify."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from pacboost.cli.fit_result import certificate_of, report_model, save_model
from pacboost.cli.group import the_answer_is_no
from pacboost.cli.inputs.data_files import data_file
from pacboost.cli.inputs.examples import about, read_examples, take_weights
from pacboost.cli.inputs.model_files import check_output
from pacboost.cli.inputs.rows import text_features
from pacboost.cli.output import bold, certificate_facts, print_parts
from pacboost.errors import ParameterError
from pacboost.estimators.strong.classifier import StrongClassifier
from pacboost.numerics.checks import probability
from pacboost.numerics.percent import percent
from pacboost.reports.text import grid, listed
from pacboost.sources.mixed import MixedFeatures

PARTS = {"learn": "for training", "watch": "for early stopping", "certify": "to certify"}
CLASSES_NAMED = 6


def run_chosen(data: Path, target: str, output: Path | None, given: Mapping[str, Any]) -> None:
    """Fit, show the result, and save it if asked to; the answer is no if epsilon was missed."""
    check_output(output, data)
    for name in ("epsilon", "delta", "recall", "precision"):
        if given[name] is not None:
            probability(name, given[name])
    text, groups, time = given["text"], given["groups"], given["time_column"]
    file = data_file(data, given)
    examples = read_examples(
        file,
        target,
        given["drop"],
        categories=given["categories"],
        text=text,
        others=[name for name in (groups, time, given["weight"]) if name is not None],
    )
    examples, weights = take_weights(file, examples, given["weight"])
    model = StrongClassifier(
        given["epsilon"],
        given["delta"],
        recall=given["recall"],
        precision=given["precision"],
        positive=class_of(examples.labels, given["positive"]),
        n_rounds=given["rounds"],
        text_columns=list(text) or "auto",
        class_weight=given["class_weight"],
        random_state=given["seed"],
        n_jobs=given["jobs"],
        device=given["device"],
        verbose=sys.stderr.isatty(),
    )
    copies = given["copies"]
    model.fit(examples.table, examples.labels, weights, groups=groups, time=time, copies=copies)
    save_model(model, output, forget_rows=given["forget_rows"])
    features = text_features(model)
    texts = features.text if isinstance(features, MixedFeatures) else ()
    said = about(file, examples.table, texts, (groups, time))
    if not given["as_json"]:
        facts = grid(_facts(model, said))
        print_parts(bold(model.sentence_), "", facts, "")
    more = {"sentence": model.sentence_, "verdict": model.verdict_.to_dict()}
    report_model(model, said, output, as_json=given["as_json"], **more)
    if model.verdict_.reached is False:
        raise the_answer_is_no()


def class_of(labels: Any, name: str | None) -> Any:
    """Give the class that prints as this name."""
    if name is None:
        return None
    known = np.unique(np.asarray(labels)).tolist()
    for label in known:
        if str(label) == name:
            return label
    names = ", ".join(map(str, known[:20]))
    raise ParameterError(f"--positive is {name}; the classes are {names}")


def _facts(model: StrongClassifier, said: str) -> list[tuple[str, str]]:
    ledger, certificate = model.ledger_, certificate_of(model)
    parts = [f"{rows:,} {PARTS[part]}" for part, rows in model.parts_.items() if rows]
    facts = [
        ("data", said),
        ("classes", listed(model.classes_.tolist(), CLASSES_NAMED)),
        ("rows", ", ".join(parts)),
        ("chosen", model.choice_),
        ("rounds", f"{len(ledger):,}; {ledger.stopped}"),
    ]
    if len(ledger):
        error = percent(ledger.rounds[-1].training_error, 2)
        how = ", counted by their weights" if ledger.weighted else ""
        facts.append(("training error", f"{error} of the training rows{how}"))
    if certificate is not None and certificate.delta > 0:
        facts += certificate_facts(certificate)
    return facts
