"""Labelled rows, and how they become samples."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError
from pacboost.models.model import answer_names
from pacboost.samples.bins import fit_bins
from pacboost.samples.sample import Sample, Signs
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
        fields: dict[str, Any] = {
            name: None if (values := getattr(self, name)) is None else values[rows]
            for name in ("weights", "labels", "targets", "copies")
        }
        numbers = rows if self.numbers is None else self.numbers[rows]
        return replace(
            self, table=self.table.take(rows), signs=self.signs[rows], numbers=numbers, **fields
        )

    def divided(self, held: NDArray[np.bool_]) -> tuple[LabelledRows, LabelledRows]:
        """Divide into the rows that are not held back, and those that are."""
        return self.take(np.flatnonzero(~held)), self.take(np.flatnonzero(held))

    def counting(self) -> LabelledRows:
        """Return the rows whose weight is not zero."""
        if self.weights is None or self.weights.all():
            return self
        if not self.weights.any():
            raise DataError(
                "all rows whose sample_weight is not zero are held back for validation; give more "
                "rows a weight, or give validation rows of your own (X_val)"
            )
        return self.take(np.flatnonzero(self.weights))

    def classes(self) -> NDArray[np.int64]:
        """The class number of each row, for stratified splits."""
        if self.labels is not None:
            return self.labels
        # numbers have no classes; of several labels too many combinations are rare
        if self.targets is not None or self.signs.shape[1] > 1:
            return np.zeros(self.n_rows, dtype=np.int64)
        return (self.signs[:, 0] > 0).astype(np.int64)


def training_sample(
    examples: LabelledRows,
    classes: NDArray[Any],
    max_bins: int,
    *,
    codes: bool,
    bins_from: LabelledRows | None = None,
) -> Sample:
    """Bin the rows if the learner reads codes; raise if all features are constant."""
    # a refit that takes rules over from a trial needs the trial's bins, since rules speak of bins
    binned = examples if bins_from is None else bins_from
    bins = fit_bins(binned.table, max_bins, binned.weights) if codes else None
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
    """Code validation rows like the training rows."""
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
    # a fit of constant columns would succeed, and answer the larger class whatever it is asked
    if sample.bins is None or any(thresholds.size for thresholds in sample.bins.thresholds):
        return
    if sample.codes is not None and np.ptp(sample.codes, axis=1).any():
        return  # one value, and missing ones, which rules can tell apart
    raise DataError(
        f"all {sample.table.n_columns} features are constant: no rule can tell rows apart. Give at "
        "least one feature that varies (values that differ by less than a 32-bit float are equal)."
    )
