"""Which rows a model gets wrong, whatever library it comes from."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pacboost.errors import DataError, NotCertified
from pacboost.models.answers import asked
from pacboost.sources.explained_errors import explains_input


@explains_input
def mistakes(model: Any, X: object, y: Any) -> NDArray[np.bool_]:
    """Which rows the model gets wrong; for a vote of ours, ties count as wrong."""
    if hasattr(model, "ledger_") and not hasattr(model, "mistakes"):
        raise NotCertified(
            "certify bounds how often a classifier is wrong; this model predicts numbers, which "
            "are never simply right or wrong. Certify of=measures.absolute_error(clip=…) or "
            "of=measures.large_errors(larger_than=…), or make intervals by pacboost.intervals"
        )
    several = bool(getattr(model, "several_labels_", False))
    classes = getattr(model, "classes_", ())
    if not several:
        refuse_other_labels(classes, y)
    if hasattr(model, "ledger_"):  # a vote of ours
        wrong: NDArray[np.bool_] = model.mistakes(X, y)
        return wrong
    labels = np.asarray(y)
    if labels.ndim != 1 + several or labels.size == 0:
        needed = "one column for each label" if several else "one label a row"
        raise DataError(f"y has shape {labels.shape}; {needed} is needed, and at least one")
    answers = asked(model, X)
    if answers.shape != labels.shape:
        raise DataError(
            f"predict returned shape {answers.shape} for labels of shape {labels.shape}"
        )
    if not several and not len(classes):
        refuse_other_labels(answers, labels)
    wrong = np.asarray(answers != labels)
    return np.asarray(wrong.any(axis=1)) if several else wrong


def fresh_labels(y: object, classes: ArrayLike | None = None) -> NDArray[Any]:
    """Return the labels of rows that had no part in a fit: one a row, none missing, of its type."""
    labels = np.asarray(y)
    if labels.ndim != 1 or labels.size == 0:
        raise DataError(f"y has shape {labels.shape}; one label a row is needed, and at least one")
    if any(label is None or label != label for label in labels.tolist()):  # noqa: PLR0124
        raise DataError("y holds missing labels; drop those rows")
    if classes is not None:
        refuse_other_labels(classes, labels)
    return labels


def refuse_other_labels(classes: ArrayLike, y: ArrayLike) -> None:
    """Raise if a label is text and no class is, or the like: it could never be right."""
    labels, class_labels = np.asarray(y), np.asarray(classes)
    other = _kinds(labels).keys() - _kinds(class_labels).keys()
    if class_labels.size and other:
        names = ", ".join(map(repr, list(dict.fromkeys(class_labels.tolist()))[:10]))
        raise DataError(
            f"y holds {_kinds(labels)[min(other)]!r}, and the classes are {names}: a label of "
            "another type is never right. Give labels of the type that they had in the fit"
        )


def _kinds(values: NDArray[Any]) -> dict[str, Any]:
    """Return which of text, bytes and numbers there are, with an example of each."""
    examples = values.reshape(-1)
    if examples.dtype.kind != "O":
        examples = examples[:1]
    return {
        "text"
        if isinstance(value, str)
        else "bytes"
        if isinstance(value, bytes)
        else "number": value
        for value in examples.tolist()
    }
