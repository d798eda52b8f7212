"""Samples for training, from X and y as users pass them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.class_weight import compute_sample_weight

from pacboost.errors import DataError, invalid
from pacboost.fit import targets
from pacboost.fit.rows import LabelledRows
from pacboost.numerics.same_bits import mean
from pacboost.samples.sample import signs_of
from pacboost.sources.table import Table


def read_examples(
    table: Table, y: Any, sample_weight: Any = None, class_weight: Any = None
) -> tuple[LabelledRows, NDArray[Any]]:
    """Read the labels of training rows; also return the classes."""
    labels = targets.read_labels(y, table.n_rows, several=True)
    weights = training_weights(labels, table.n_rows, sample_weight, class_weight)
    if labels.ndim == 2:
        signs = np.where(np.ascontiguousarray(labels) > 0, np.int8(1), np.int8(-1))
        return LabelledRows(table, signs, weights), np.arange(labels.shape[1])
    classes, codes = targets.number_classes(labels)
    _refuse_weightless(classes, codes, weights)
    signs, numbers = signs_of(codes, classes.size)
    one_row = 1.0
    if weights is not None:
        raw = np.asarray(1.0 if sample_weight is None else sample_weight, dtype=np.float64)
        if class_weight is not None:
            raw = raw * class_weights(class_weight, np.asarray(labels))
        one_row = targets.weight_of_a_row(raw) / float(raw.max())
    return LabelledRows(table, signs, weights, numbers, one_row=one_row), classes


def training_weights(
    labels: Any, n_rows: int, sample_weight: Any, class_weight: Any
) -> NDArray[np.float64] | None:
    """Return the product of row weight and class weight; None if all are equal."""
    weights = targets.read_weights(sample_weight, n_rows)
    if class_weight is None:
        return weights
    rows = 1.0 if weights is None else weights
    return targets.read_weights(class_weights(class_weight, np.asarray(labels)) * rows, n_rows)


def read_numbers(table: Table, y: Any, sample_weight: Any = None, name: str = "y") -> LabelledRows:
    """Read the targets of rows, from the parameter ``name``."""
    numbers = targets.read_targets(y, table.n_rows, name)
    signs = np.ones((table.n_rows, 1), dtype=np.int8)
    weights, one_row = targets.read_weights(sample_weight, table.n_rows), 1.0
    if weights is not None:
        raw = np.asarray(sample_weight, dtype=np.float64)
        one_row = targets.weight_of_a_row(raw) / mean(raw[raw > 0])
    return LabelledRows(table, signs, weights, None, numbers, one_row=one_row)


def class_weights(class_weight: Any, labels: NDArray[Any]) -> NDArray[np.float64]:
    """Return the weight of each row's class, from a mapping or balanced."""
    try:
        weights = np.asarray(compute_sample_weight(class_weight, labels), dtype=np.float64)
        if not (np.isfinite(weights) & (weights >= 0)).all():
            raise ValueError("weights are 0 or more, and finite")
        return weights
    except ValueError as problem:
        allowed = f"may be 'balanced', None, or a mapping from classes to weights ({problem})"
        raise invalid("class_weight", class_weight, allowed) from problem


def _refuse_weightless(
    classes: NDArray[Any], codes: NDArray[np.integer], weights: NDArray[np.float64] | None
) -> None:
    if weights is None:
        return
    mass = np.bincount(codes, weights)
    if not mass.all():
        gone = classes.tolist()[int(mass.argmin())]
        raise DataError(
            f"all rows of class {gone!r} weigh 0 by sample_weight or class_weight, so it would "
            "vanish. Give its rows some weight, or leave them out of X and y."
        )


def label_rows(
    table: Table, y: Any, classes: NDArray[Any], name: str, *, several: bool = False
) -> LabelledRows:
    """Read the labels of rows, which must be among the classes."""
    labels = targets.read_labels(y, table.n_rows, several=several)
    if several:
        if labels.shape != (table.n_rows, classes.size):
            raise DataError(
                f"{name} has shape {labels.shape}; one column for each of the {classes.size} "
                "labels is needed"
            )
        signs = np.where(np.ascontiguousarray(labels) > 0, np.int8(1), np.int8(-1))
        return LabelledRows(table, signs)
    unknown = sorted(set(np.unique(labels).tolist()) - set(classes.tolist()))
    if unknown:
        raise DataError(
            f"{name} holds {unknown[0]!r}, which is not among the classes of y: {classes.tolist()}"
        )
    signs, numbers = signs_of(np.searchsorted(classes, labels), classes.size)
    return LabelledRows(table, signs, None, numbers)
