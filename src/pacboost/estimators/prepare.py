"""From what users hand in to the samples a run works on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError, ParameterError
from pacboost.estimators import door
from pacboost.models.model import answer_names
from pacboost.samples.bins import fit_bins
from pacboost.samples.sample import Sample, Signs
from pacboost.sources.table import SomeRows, Table


@dataclass(frozen=True, eq=False)
class Examples:
    """Rows of a table with their signs (rows,) and, unless all are equal, their weights."""

    table: Table
    signs: Signs
    weights: NDArray[np.float64] | None = None

    def take(self, rows: NDArray[np.intp]) -> Examples:
        """Give some of the rows."""
        weights = None if self.weights is None else self.weights[rows]
        return Examples(SomeRows(self.table, rows), self.signs[rows], weights)

    def counting(self) -> Examples:
        """Give the rows whose weight is not zero: the others are as good as absent."""
        if self.weights is None or self.weights.all():
            return self
        if not self.weights.any():
            raise DataError(
                "all rows whose sample_weight is not zero are held back for validation; give more "
                "rows a weight, or give validation rows of your own (X_val)"
            )
        return self.take(np.flatnonzero(self.weights))


def read_examples(
    estimator: Any, X: Any, y: Any, sample_weight: Any
) -> tuple[Examples, NDArray[Any]]:
    """Read what fit was given; also give the classes."""
    table = door.open_table(estimator, X, reset=True)
    classes, signs = door.two_classes(door.read_labels(y, table.n_rows))
    return Examples(table, signs, door.read_weights(sample_weight, table.n_rows)), classes


def read_validation(estimator: Any, X: Any, y: Any, classes: NDArray[Any]) -> Examples:
    """Read validation rows, whose labels must be among the classes."""
    if y is None:
        raise ParameterError("X_val was given without y_val; give both or neither")
    table = door.open_table(estimator, X, reset=False)
    labels = door.read_labels(y, table.n_rows)
    unknown = sorted(set(np.unique(labels).tolist()) - set(classes.tolist()))
    if unknown:
        raise DataError(
            f"y_val holds {unknown[0]!r}, which is not among the classes of y: {classes.tolist()}"
        )
    return Examples(table, np.where(labels == classes[-1], np.int8(1), np.int8(-1)))


def split(examples: Examples, name: str, share: float, seed: int) -> tuple[Examples, Examples]:
    """Hold a random share of the rows back; ``name`` is the parameter that says how many."""
    rows = examples.signs.size
    held = round(rows * share) if 0 < share < 1 else 0
    if not 0 < held < rows:
        raise ParameterError(
            f"{name} is {share} and there are {rows} rows; it must lie in (0, 1) and "
            "leave at least 1 sample on both sides"
        )
    order = np.random.default_rng(seed).permutation(rows)
    return examples.take(np.sort(order[held:])), examples.take(np.sort(order[:held]))


def training_sample(
    examples: Examples,
    classes: NDArray[Any],
    max_bins: int,
    *,
    codes: bool,
    bins_from: Examples | None = None,
) -> Sample:
    """Bin the rows if the learner reads codes, and refuse them if no two can be told apart."""
    seen = examples if bins_from is None else bins_from
    bins = fit_bins(seen.table, max_bins, seen.weights) if codes else None
    base = np.ones(1) if examples.weights is None else examples.weights
    sample = Sample(examples.table, examples.signs[:, None], base, bins, answer_names(classes))
    if codes and not one_class(sample):
        _refuse_constant(sample)
    return sample


def watched_sample(examples: Examples, training: Sample) -> Sample:
    """Validation rows, coded like the training rows."""
    return Sample(examples.table, examples.signs[:, None], bins=training.bins)


def one_class(sample: Sample) -> bool:
    """Tell whether all rows have the same sign."""
    return bool((sample.signs == sample.signs[0]).all())


def _refuse_constant(sample: Sample) -> None:
    if sample.bins is None or any(thresholds.size for thresholds in sample.bins.thresholds):
        return
    if sample.codes is not None and np.ptp(sample.codes, axis=1).any():
        return  # one value and missing ones: that tells rows apart
    raise DataError(
        f"all {sample.table.n_columns} features are constant: no rule can tell rows apart. Give at "
        "least one feature that varies (values that differ by less than a 32-bit float are equal)."
    )
