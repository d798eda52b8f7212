"""Which rows a model gets wrong, whatever library it comes from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pacboost.bounds.held_out import class_numbers
from pacboost.errors import DataError, InputWarning, NotCertified, ParameterError, warn
from pacboost.models.answers import asked
from pacboost.sources.explained_errors import explains_input

MAX_LABELS_NAMED = 5


@explains_input
def mistakes(model: Any, X: object, y: Any) -> NDArray[np.bool_]:
    """Return which rows the model gets wrong; for a vote of pacboost, ties count as wrong."""
    return judged(model, X, y)[0]


def judged(model: Any, X: object, y: Any) -> tuple[NDArray[np.bool_], NDArray[Any]]:
    """Return which rows are wrong, and the predictions."""
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
        return model._mistakes_and_predictions(X, y)  # type: ignore[no-any-return]
    labels = np.asarray(y)
    if labels.ndim != 1 + several or labels.size == 0:
        needed = "a column for each label" if several else "one label per row"
        raise DataError(f"y has shape {labels.shape}; it must hold {needed}, of at least one row")
    answers = asked(model, X)
    if answers.shape != labels.shape:
        raise DataError(
            f"predict returned shape {answers.shape} for labels of shape {labels.shape}"
        )
    if several:
        return np.asarray((answers != labels).any(axis=1)), answers
    if not len(classes):
        refuse_other_labels(answers, labels)
    check_answers(answers, labels, classes)
    return np.asarray(answers != labels), answers


def check_answers(answers: NDArray[Any], labels: NDArray[Any], classes: ArrayLike = ()) -> None:
    """Warn of answers that are not among the labels, and raise if none is.

    ``classes`` count as labels, whether or not a row has them. None is no answer.
    """
    if (class_numbers(answers, np.asarray(classes)) < np.size(classes)).all():
        return
    allowed = {*labels.tolist(), *np.asarray(classes).tolist()}
    counted = Counter(answer for answer in answers.tolist() if answer is not None)
    others = Counter({answer: n for answer, n in counted.items() if answer not in allowed})
    if not others or len(allowed) < 2:  # of one class, anything else may be another class
        return
    number, total = sum(others.values()), sum(counted.values())
    [(example, _)] = others.most_common(1)
    names = ", ".join(repr(label) for label in sorted(allowed, key=str)[:MAX_LABELS_NAMED])
    if number == total:
        advice = "Write answers as labels are written; name other classes by answers(classes=…)"
        if isinstance(example, float):
            advice = (
                "Turn scores into labels, as in pacboost.answers(model.predict(X) > 0.5); for a "
                "model of numbers certify of=measures.absolute_error(clip=…)"
            )
        raise DataError(
            f"none of the {total:,} answers is a label: {example!r} came, and labels are {names}. "
            f"{advice}"
        )
    # answers of language models come as "Yes." or "yes" for the label yes: all of them would count
    # as wrong, and only the spelling be certified
    spelt = {_letters(label): label for label in allowed}
    shown = [
        f"{answer!r} ({n:,} times" + (f", for {spelt[key]!r})" if key in spelt else ")")
        for answer, n in others.most_common(MAX_LABELS_NAMED)
        for key in [_letters(answer)]
    ]
    warn(
        f"{number:,} of {total:,} answers are none of the labels: {', '.join(shown)}. They count "
        "as wrong. Write answers as labels are written, or name all classes",
        InputWarning,
    )


def _letters(label: object) -> str:
    """Return a label in lower case without spaces and punctuation."""
    return "".join(filter(str.isalnum, str(label))).casefold()


def check_order(call: str, models: Mapping[str, object], X: object, y: object) -> None:
    """Raise if arguments of ``call`` are in another order: a model as rows, or rows as labels."""
    for name, value in (("X", X), ("y", y)):
        # certify(X, y, model) would otherwise fail deep inside another library, or not at all
        if callable(getattr(value, "predict", None)):
            raise ParameterError(f"a model came as {name}; call {call}", parameter=name)
    several = any(getattr(model, "several_labels_", False) for model in models.values())
    if getattr(X, "ndim", 0) == 1 and getattr(y, "ndim", 0) == 2 and not several:
        raise ParameterError(
            f"X has one dimension and y has two, so they seem to be swapped; call {call}",
            parameter="X",
        )


def fresh_labels(y: object, classes: ArrayLike | None = None) -> NDArray[Any]:
    """Return labels of rows that no fit has used: one per row, none missing."""
    labels = np.asarray(y)
    if labels.ndim != 1 or labels.size == 0:
        raise DataError(f"y has shape {labels.shape}; it must hold one label per row")
    if any(label is None or label != label for label in labels.tolist()):  # noqa: PLR0124
        raise DataError("y holds missing labels; drop those rows")
    if classes is not None:
        refuse_other_labels(classes, labels)
    return labels


def refuse_other_labels(classes: ArrayLike, y: ArrayLike) -> None:
    """Raise if labels differ in type from all classes, such as text from numbers."""
    labels, class_labels = np.asarray(y), np.asarray(classes)
    other = _kinds(labels).keys() - _kinds(class_labels).keys()
    if class_labels.size and other:
        names = ", ".join(map(repr, list(dict.fromkeys(class_labels.tolist()))[:10]))
        raise DataError(
            f"y holds {_kinds(labels)[min(other)]!r}, and the classes are {names}: a label of "
            "another type is never right. Give labels of the type that they had in the fit"
        )


def _kinds(values: NDArray[Any]) -> dict[str, Any]:
    """Return an example of each kind of label: text, bytes and numbers."""
    examples = values.reshape(-1)[: None if values.dtype.kind == "O" else 1].tolist()
    return {
        "text"
        if isinstance(value, str)
        else "bytes"
        if isinstance(value, bytes)
        else "number": value
        for value in dict(zip(map(type, examples), examples, strict=True)).values()
    }


def predicts_numbers(model: object) -> bool:
    """Check whether a model predicts numbers, not classes."""
    if hasattr(model, "classes_") or hasattr(model, "predict_proba"):
        return False
    if hasattr(model, "ledger_"):  # of ours: one that predicts numbers has no mistakes
        return not hasattr(model, "mistakes")
    tags = getattr(model, "__sklearn_tags__", lambda: None)()
    kinds = getattr(model, "_estimator_type", ""), getattr(tags, "estimator_type", None)
    return "regressor" in kinds
