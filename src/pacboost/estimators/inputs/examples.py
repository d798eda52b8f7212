"""Samples for training, from X and y as users pass them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.class_weight import compute_sample_weight

from pacboost.errors import DataError, ParameterError
from pacboost.estimators.inputs.division import draw
from pacboost.estimators.inputs.labels import (
    number_classes,
    read_labels,
    read_targets,
    read_weights,
    weight_of_a_row,
)
from pacboost.estimators.inputs.tables import open_table
from pacboost.models.model import answer_names
from pacboost.numerics.same_bits import mean
from pacboost.samples.bins import fit_bins
from pacboost.samples.sample import Sample, Signs, signs_of
from pacboost.sources.table import Table


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """Rows of a table with their signs (rows, outputs), and weights if these differ.

    ``labels`` holds the numbers of classes where there are more than two, ``targets`` the numbers
    to predict in regression. ``numbers`` says which of the rows given to fit they are, if not all.
    Rows with the same number in ``copies`` are one example, and stay together.
    """

    table: Table
    signs: Signs
    weights: NDArray[np.float64] | None = None
    labels: NDArray[np.int64] | None = None
    targets: NDArray[np.float64] | None = None
    numbers: NDArray[np.intp] | None = None
    copies: NDArray[np.intp] | None = None
    one_row: float = 1.0
    """The weight that counts as one row, as a share of the heaviest or, of numbers, of the mean."""

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self.table.n_rows

    def take(self, rows: NDArray[np.intp]) -> LabelledRows:
        """Return some of the rows."""
        known: dict[str, Any] = {
            name: None if (values := getattr(self, name)) is None else values[rows]
            for name in ("weights", "labels", "targets", "copies")
        }
        numbers = rows if self.numbers is None else self.numbers[rows]
        return replace(
            self, table=self.table.take(rows), signs=self.signs[rows], numbers=numbers, **known
        )

    def divided(self, held: NDArray[np.bool_]) -> tuple[LabelledRows, LabelledRows]:
        """Return the rows that are not held back, and those that are."""
        return self.take(np.flatnonzero(~held)), self.take(np.flatnonzero(held))

    def counting(self) -> LabelledRows:
        """Return the rows whose weight is not zero: the others are as good as absent."""
        if self.weights is None or self.weights.all():
            return self
        if not self.weights.any():
            raise DataError(
                "all rows whose sample_weight is not zero are held back for validation; give more "
                "rows a weight, or give validation rows of your own (X_val)"
            )
        return self.take(np.flatnonzero(self.weights))

    def classes(self) -> NDArray[np.int64]:
        """The number of each row's class, for holding rows back class by class."""
        if self.labels is not None:
            return self.labels
        if self.targets is not None or self.signs.shape[1] > 1:
            return np.zeros(self.n_rows, dtype=np.int64)
        return (self.signs[:, 0] > 0).astype(np.int64)


def read_examples(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any,
    class_weight: Any = None,
    *,
    reset: bool = True,
) -> tuple[LabelledRows, NDArray[Any]]:
    """Read rows to learn from; also give the classes. Without ``reset`` the levels are known."""
    table = open_table(estimator, X, reset=reset)
    labels = read_labels(y, table.n_rows, several=True)
    weights = training_weights(labels, table.n_rows, sample_weight, class_weight)
    if labels.ndim == 2:
        signs = np.where(labels > 0, np.int8(1), np.int8(-1))
        return LabelledRows(table, signs, weights), np.arange(labels.shape[1])
    classes, codes = number_classes(labels)
    _refuse_weightless(classes, codes, weights)
    signs, numbers = signs_of(codes, classes.size)
    one_row = 1.0
    if weights is not None:
        raw = np.asarray(1.0 if sample_weight is None else sample_weight, dtype=np.float64)
        if class_weight is not None:
            raw = raw * class_weights(class_weight, np.asarray(labels))
        one_row = weight_of_a_row(raw) / float(raw.max())
    return LabelledRows(table, signs, weights, numbers, one_row=one_row), classes


def training_weights(
    labels: Any, n_rows: int, sample_weight: Any, class_weight: Any
) -> NDArray[np.float64] | None:
    """Return the weight of every row, its own times that of its class; None if all are equal."""
    weights = read_weights(sample_weight, n_rows)
    if class_weight is None:
        return weights
    own = 1.0 if weights is None else weights
    return read_weights(class_weights(class_weight, np.asarray(labels)) * own, n_rows)


def read_numbers(
    estimator: Any, X: Any, y: Any, sample_weight: Any = None, name: str = "y"
) -> LabelledRows:
    """Read the training rows of a regressor, or as ``y_val`` its validation rows."""
    table = open_table(estimator, X, reset=name == "y")
    targets = read_targets(y, table.n_rows, name)
    signs = np.ones((table.n_rows, 1), dtype=np.int8)
    weights, one_row = read_weights(sample_weight, table.n_rows), 1.0
    if weights is not None:
        raw = np.asarray(sample_weight, dtype=np.float64)
        one_row = weight_of_a_row(raw) / mean(raw[raw > 0])
    return LabelledRows(table, signs, weights, None, targets, one_row=one_row)


def class_weights(class_weight: Any, labels: NDArray[Any]) -> NDArray[np.float64]:
    """Return every row the weight of its class: as a mapping says, or balanced."""
    try:
        weights = np.asarray(compute_sample_weight(class_weight, labels), dtype=np.float64)
        if not (np.isfinite(weights) & (weights >= 0)).all():
            raise ValueError("weights are 0 or more, and finite")
        return weights
    except ValueError as problem:
        raise ParameterError(
            f"class_weight is {class_weight!r}; it may be 'balanced', None, or a mapping from "
            f"classes to weights ({problem})"
        ) from problem


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
    """Check the labels of rows, which must be among the classes."""
    labels = read_labels(y, table.n_rows, several=several)
    if several:
        if labels.shape != (table.n_rows, classes.size):
            raise DataError(
                f"{name} has shape {labels.shape}; one column for each of the {classes.size} "
                "labels is needed"
            )
        return LabelledRows(table, np.where(labels > 0, np.int8(1), np.int8(-1)))
    unknown = sorted(set(np.unique(labels).tolist()) - set(classes.tolist()))
    if unknown:
        raise DataError(
            f"{name} holds {unknown[0]!r}, which is not among the classes of y: {classes.tolist()}"
        )
    signs, numbers = signs_of(np.searchsorted(classes, labels), classes.size)
    return LabelledRows(table, signs, None, numbers)


def split_by_class(
    examples: LabelledRows, name: str, share: float, seed: int
) -> tuple[LabelledRows, LabelledRows]:
    """Hold a random share of each class back, so that none is missing on either side if it can be.

    ``name`` is the parameter that says how many. Copies of an example stay together.

    Certificates need a share of all rows instead: they count on rows held back by chance alone.
    """
    if examples.copies is None:
        held = _held_back(examples.classes(), name, share, seed)
    else:
        _, first, place = np.unique(examples.copies, return_index=True, return_inverse=True)
        held = _held_back(examples.classes()[first], name, share, seed)[place]
    return examples.divided(held)


def _held_back(classes: NDArray[np.int64], name: str, share: float, seed: int) -> NDArray[np.bool_]:
    held = np.zeros(classes.size, dtype=np.bool_)
    counts = np.bincount(classes)
    quota = np.floor(counts * share + 0.5).astype(np.int64) if 0 < share < 1 else counts * 0
    quota = np.minimum(np.maximum(quota, counts > 1), np.maximum(counts - 1, 0))
    if not 0 < share < 1 or not quota.any():
        held[draw(classes.size, name, share, seed)[1]] = True
        return held
    order = np.random.default_rng(seed).permutation(classes.size)
    order = order[np.argsort(classes[order], kind="stable")]
    place = np.arange(order.size) - np.repeat(np.cumsum(counts) - counts, counts)
    held[order[place < quota[classes[order]]]] = True
    return held


def training_sample(
    examples: LabelledRows,
    classes: NDArray[Any],
    max_bins: int,
    *,
    codes: bool,
    bins_from: LabelledRows | None = None,
) -> Sample:
    """Bin the rows if the learner reads codes, and refuse them if no two can be told apart."""
    seen = examples if bins_from is None else bins_from
    bins = fit_bins(seen.table, max_bins, seen.weights) if codes else None
    base = np.ones(1) if examples.weights is None else examples.weights
    sample = Sample(
        examples.table,
        examples.signs,
        base,
        bins,
        answer_names(classes),
        examples.labels,
        examples.targets,
        examples.numbers,
    )
    if codes and not has_one_class(sample) and not has_one_target(sample):
        _refuse_constant(sample)
    return sample


def validation_sample(examples: LabelledRows, training: Sample) -> Sample:
    """Validation rows, coded like the training rows."""
    return Sample(
        examples.table,
        examples.signs,
        bins=training.bins,
        labels=examples.labels,
        targets=examples.targets,
    )


def has_one_class(sample: Sample) -> bool:
    """Check whether all rows have the same sign, in classification."""
    binary = sample.targets is None and sample.signs.shape[1] == 1
    return binary and bool((sample.signs == sample.signs[0]).all())


def has_one_target(sample: Sample) -> bool:
    """Check whether all rows have the same target, in regression."""
    return sample.targets is not None and bool((sample.targets == sample.targets[0]).all())


def _refuse_constant(sample: Sample) -> None:
    if sample.bins is None or any(thresholds.size for thresholds in sample.bins.thresholds):
        return
    if sample.codes is not None and np.ptp(sample.codes, axis=1).any():
        return  # one value and missing ones: that tells rows apart
    raise DataError(
        f"all {sample.table.n_columns} features are constant: no rule can tell rows apart. Give at "
        "least one feature that varies (values that differ by less than a 32-bit float are equal)."
    )
