"""Labels: their type in text, and labels that cannot be ordered or saved."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError


def label_kind(texts: Iterable[str]) -> type:
    """Return the type of labels: bool, int or float if all are such values, else str."""
    different = list(set(texts))
    for kind in (bool, int, float):
        with suppress(ValueError):
            read_labels(different, kind)
            return kind
    return str


def read_labels(texts: Sequence[str], kind: type | None = None) -> NDArray[Any]:
    """Convert labels to a type, by default that of ``label_kind``; else raise ValueError.

    >>> read_labels(["1", "0"]).tolist(), read_labels(["1_000", "1"]).tolist()
    ([1, 0], ['1_000', '1'])
    >>> read_labels(["True", "false"])
    array([ True, False])
    """
    if kind is None:
        kind = label_kind(texts)
    if kind is not str and any("_" in text for text in texts):
        raise ValueError("1_000 is not a number in a table, though Python reads it as one")
    if kind is bool:
        if not {text.lower() for text in texts} <= {"true", "false"}:
            raise ValueError("labels that are booleans are true or false")
        return np.array([text.lower() == "true" for text in texts])
    return np.array([kind(text) for text in texts])


def unmerged(labels: Any) -> Any:
    """Return a list as an array of objects if NumPy would make two of its labels one text.

    Other numbers beside text are read as text, which scikit-learn does, too.

    >>> unmerged(["1", 1])
    array(['1', 1], dtype=object)
    >>> unmerged([1, "a"])
    [1, 'a']
    """
    if not isinstance(labels, list | tuple) or not _mixed_kinds(labels):
        return labels
    texts = {label for label in labels if isinstance(label, str)}
    others = {label for label in labels if not isinstance(label, str)}
    if all(_is_number(label) and str(label) not in texts for label in others):
        return labels
    objects = np.empty(len(labels), dtype=object)
    objects[:] = labels
    return objects


def _is_number(label: Any) -> bool:
    return isinstance(label, int | float | np.number | np.bool_) and math.isfinite(label)


def _mixed_kinds(labels: Iterable[Any]) -> list[str]:
    """Return the names of the kinds of labels if they are text and others; missing ones are not.

    Cells with elements of their own are several labels of a row, and no kind of label.
    """
    kinds = {type(label) for label in labels}
    is_text = {issubclass(kind, str) for kind in kinds}
    if len(is_text) < 2 or any(issubclass(kind, list | tuple | np.ndarray) for kind in kinds):
        return []
    return sorted(kind.__name__ for kind in kinds)


def refuse_mixed_labels(labels: NDArray[Any]) -> None:
    """Raise if labels are text and others."""
    mixed = _mixed_kinds(labels.ravel().tolist()) if labels.dtype.kind == "O" else []
    if mixed:
        raise DataError(
            f"y mixes labels of kinds {', '.join(mixed)}, which cannot be put in order; make them "
            "all text or all numbers"
        )


def refuse_unsaved_labels(labels: NDArray[Any]) -> None:
    """Raise for labels that a model file cannot hold: numbers from 2**63 on, text ending in NUL."""
    if labels.dtype.kind == "u" and labels.size and int(labels.max()) >= 2**63:
        raise DataError(f"y holds {labels.max()}; whole numbers as labels are below 2**63")
    if labels.dtype.kind == "O":
        for label in labels.ravel().tolist():
            if isinstance(label, str | bytes) and label[-1:] in ("\0", b"\0"):
                raise DataError(f"y holds {label!r}, which ends in NUL; drop that character")
            if isinstance(label, int) and label >= 2**63:
                raise DataError(f"y holds {label}; whole numbers as labels are below 2**63")
