"""Which rows a model gets wrong, whatever library it comes from."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError, NotCertified
from pacboost.kernels.cuda.device import in_host_memory
from pacboost.samples.row_hashes import RowHasher
from pacboost.sources.table import Table


def mistakes(model: Any, X: Any, y: Any) -> NDArray[np.bool_]:
    """Which rows the model gets wrong; for a vote of ours, ties count as wrong."""
    if hasattr(model, "ledger_") and not hasattr(model, "mistakes"):
        raise NotCertified(
            "certify bounds how often a classifier is wrong; this model predicts numbers, which "
            "are never simply right or wrong. Certify of='absolute_error' with clip=, or "
            "of='large_errors' with larger_than=, or make intervals by pacboost.intervals"
        )
    several, classes = (
        bool(getattr(model, "several_labels_", False)),
        getattr(model, "classes_", ()),
    )
    if not several:
        refuse_other_labels(classes, y)
    if hasattr(model, "ledger_"):  # a vote of ours
        wrong: NDArray[np.bool_] = model.mistakes(X, y)
        return wrong
    labels = np.asarray(y)
    if labels.ndim != 1 + several or labels.size == 0:
        wanted = "one column for each label" if several else "one label a row"
        raise DataError(f"y has shape {labels.shape}; {wanted} is needed, and at least one")
    answers = np.asarray(in_host_memory(model.predict(X)))
    if answers.shape != labels.shape:
        raise DataError(f"predict gave shape {answers.shape} for labels of shape {labels.shape}")
    if not several and not len(classes):
        refuse_other_labels(answers, labels)
    wrong = np.asarray(answers != labels)
    return np.asarray(wrong.any(axis=1)) if several else wrong


def fresh_labels(y: Any, classes: Any = None) -> NDArray[Any]:
    """Return the labels of rows that had no part in a fit: one a row, none missing, of its type."""
    labels = np.asarray(in_host_memory(y))
    if labels.ndim != 1 or labels.size == 0:
        raise DataError(f"y has shape {labels.shape}; one label a row is needed, and at least one")
    if any(own is None or own != own for own in labels.tolist()):  # noqa: PLR0124
        raise DataError("y holds missing labels; drop those rows")
    if classes is not None:
        refuse_other_labels(classes, labels)
    return labels


def refuse_other_labels(classes: Any, y: Any) -> None:
    """Raise if a label is text and no class is, or the like: it could never be right."""
    labels, known = np.asarray(in_host_memory(y)), np.asarray(classes)
    other = _kinds(labels).keys() - _kinds(known).keys()
    if known.size and other:
        names = ", ".join(map(repr, list(dict.fromkeys(known.tolist()))[:10]))
        raise DataError(
            f"y holds {_kinds(labels)[min(other)]!r}, and the classes are {names}: a label of "
            "another type is never right. Give labels of the type that they had in the fit"
        )


def _kinds(values: NDArray[Any]) -> dict[str, Any]:
    """Return which of text, bytes and numbers there are, with an example of each."""
    some = values.reshape(-1)
    if some.dtype.kind != "O":
        some = some[:1]
    return {
        "text" if isinstance(own, str) else "bytes" if isinstance(own, bytes) else "number": own
        for own in some.tolist()
    }


# A number in [0, 1) made from the values of every row: what some prediction sets draw by.

SALT = 20200604


def share_of_row(table: Table) -> NDArray[np.float64]:
    """Make a number in [0, 1) from the values of every row.

    >>> from pacboost.sources.arrays import ArrayTable
    >>> some = share_of_row(ArrayTable(np.array([[1.0], [2.0], [1.0]])))
    >>> bool(some[0] == some[2] != some[1])
    True
    """
    hashes = RowHasher(SALT, np.ones(table.n_columns)).exact(table)
    return np.asarray((hashes >> np.uint64(11)) * 2.0**-53)
