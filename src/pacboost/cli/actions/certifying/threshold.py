"""Choose the threshold of a saved model by the rows of a file, and save the model with it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pacboost.cli.actions.certifying.certify_measures import class_named
from pacboost.cli.actions.certifying.order import order_of_rows
from pacboost.cli.inputs.data_files import data_file
from pacboost.cli.inputs.model_files import check_output, load, model_first
from pacboost.cli.inputs.rows import read_all
from pacboost.cli.output import bold, print_json, print_parts, working
from pacboost.errors import FileError, ParameterError
from pacboost.estimators.fitted.decisions.answering import AnsweringClassifier
from pacboost.estimators.fitted.decisions.choosing import choose_threshold
from pacboost.estimators.fitted.decisions.threshold import ThresholdClassifier

WISHES = ("recall", "precision", "false_positive_rate", "target_error")


def run_threshold(
    model_path: Path, data: Path, target: str, output: Path | None, given: Mapping[str, Any]
) -> None:
    """Read the rows, choose the threshold, and print and save what is guaranteed."""
    model_path, data = model_first(model_path, data)
    check_output(output, model_path, data)
    model = load(model_path)
    if isinstance(model, ThresholdClassifier):
        model = model.estimator_
    asked = {name: given[name] for name in WISHES if given[name] is not None}
    if not hasattr(model, "classes_"):
        raise FileError(f"{model_path}: predicts numbers; only classes have a threshold")
    X, y, _ = read_all(model, data_file(data, given), target, given["text"], given["drop"])
    order = order_of_rows(model, X, y, given)
    with working("choosing"):
        found: Any = choose_threshold(
            model, X, y, positive=class_named(model, given["positive"]), cost=_cost(given["cost"]),
            **{name: given[name] for name in ("delta", "models", "copies")}, **asked,
        )  # fmt: skip
    if output is not None:
        found.save(output)
    if given["as_json"]:
        print_json({**_content(found), **order})
    else:
        written = [f"Written to {output}."] if output is not None else []
        sides = found.curve_.table() if given["target_error"] is not None else str(found.others_)
        print_parts(bold(found.sentence_), "", sides, "", *written)


def _content(found: ThresholdClassifier | AnsweringClassifier) -> dict[str, Any]:
    """Give what JSON says of a threshold."""
    known = {
        "threshold": found.threshold_,
        "sentence": found.sentence_,
        "certificate": found.certificate_.to_dict(),
    }
    if isinstance(found, AnsweringClassifier):
        return {**known, "answering": found.curve_.to_dict()}
    others = [own.to_dict() for own in found.others_]
    return {**known, "positive": found.positive, "others": others, "curve": found.curve_.columns}


def _cost(text: str | None) -> tuple[float, ...] | None:
    if text is None:
        return None
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise ParameterError(
            f"--cost is {text!r}; it holds two numbers, MISS,ALARM, as in 100,1"
        ) from None
