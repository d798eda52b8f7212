"""Which rows a model gets wrong, whatever library it comes from."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError, NotCertified
from pacboost.kernels.cuda.device import in_host_memory


def mistakes(model: Any, X: Any, y: Any) -> NDArray[np.bool_]:
    """Which rows the model gets wrong; for a vote of ours, ties count as wrong."""
    if hasattr(model, "ledger_") and not hasattr(model, "mistakes"):
        raise NotCertified(
            "certify bounds how often a classifier is wrong; this model predicts numbers, which "
            "are never simply right or wrong. Certify of='absolute_error' with clip=, or "
            "of='large_errors' with larger_than=, or make intervals by pacboost.intervals"
        )
    _refuse_other_labels(model, y)
    if hasattr(model, "ledger_"):  # a vote of ours
        wrong: NDArray[np.bool_] = model.mistakes(X, y)
        return wrong
    labels = np.asarray(y)
    several = bool(getattr(model, "several_labels_", False))
    if labels.ndim != 1 + several or labels.size == 0:
        wanted = "one column for each label" if several else "one label a row"
        raise DataError(f"y has shape {labels.shape}; {wanted} is needed, and at least one")
    answers = np.asarray(in_host_memory(model.predict(X)))
    if answers.shape != labels.shape:
        raise DataError(f"predict gave shape {answers.shape} for labels of shape {labels.shape}")
    wrong = np.asarray(answers != labels)
    return np.asarray(wrong.any(axis=1)) if several else wrong


def _refuse_other_labels(model: Any, y: Any) -> None:
    """Raise if labels are text and the classes numbers, or the reverse: none could be right."""
    if bool(getattr(model, "several_labels_", False)) or not hasattr(model, "classes_"):
        return
    labels, classes = np.asarray(in_host_memory(y)), np.asarray(model.classes_)
    kinds = {labels.dtype.kind in "US", classes.dtype.kind in "US"}
    if len(kinds) == 1 or "O" in labels.dtype.kind + classes.dtype.kind or not labels.size:
        return
    raise DataError(
        f"no label in y is a class of the model: y holds {labels.reshape(-1)[0].item()!r}, and the "
        f"classes are {', '.join(map(repr, classes.tolist()[:10]))}. Give labels of the type "
        "that they had in the fit"
    )
