"""The rows that a finished vote finds hardest.

Boosting moves its weight to rows on which the rules are often wrong. The rows with the smallest
margins in the end are outliers, or have wrong labels (Freund and Schapire 1999, A short
introduction to boosting).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pacboost.ledgers.hard import KEPT, HardRow
from pacboost.samples.sample import Sample
from pacboost.training.run.records.margins import Floats, leads, normalised

Rows = NDArray[np.intp]

CELLS_AT_ONCE = 2**18
"""Rows times classes that are copied at a time: all of them would be the largest array of a fit."""


def hardest(
    sample: Sample, margins: Floats, total: float, class_scores: Floats | None = None
) -> list[HardRow]:
    """Give the rows of the smallest margins, the hardest first; of equal ones, earlier rows first.

    ``margins`` are y·F(x) of rows and outputs, and ``total`` is the most that all rounds can add.
    Where rules name one of many classes, ``class_scores`` are F(x) of every class.
    """
    decided = _decided(sample, margins, class_scores)
    rows = lowest(decided, KEPT)
    outputs = _outputs(sample, margins, rows)
    own = margins[rows, outputs if margins.shape[1] > 1 else 0]
    numbers = rows if sample.numbers is None else sample.numbers[rows]
    words = [_words(sample, row, output) for row, output in zip(rows, outputs, strict=True)]
    decided, against = (normalised(m, total) for m in (decided[rows], own))
    return [
        HardRow(int(number), label, float(margin), float(1 - right) / 2)
        for number, label, margin, right in zip(numbers, words, decided, against, strict=True)
    ]


def _decided(sample: Sample, margins: Floats, class_scores: Floats | None) -> Floats:
    """Give the margin of each row, not yet normalised; of several labels, the least."""
    if sample.labels is None:
        return margins[:, 0] if margins.shape[1] == 1 else margins.min(axis=1)
    found, naming = np.empty(len(margins)), class_scores is not None
    step = max(1, CELLS_AT_ONCE // margins.shape[1])
    for rows in (slice(first, first + step) for first in range(0, found.size, step)):
        scores = margins[rows] * sample.signs[rows] if class_scores is None else class_scores[rows]
        found[rows] = leads(sample.labels[rows], scores, naming=naming)
    return found


def lowest(values: Floats, count: int) -> Rows:
    """Give the places of the smallest values in order; of equal ones, the first.

    >>> lowest(np.array([0.5, -1.0, 0.5, 0.0]), 3).tolist()
    [1, 3, 0]
    """
    if values.size <= count:
        return np.argsort(values, kind="stable")
    # Sorting them all would cost more than the rest together.
    candidates = np.flatnonzero(values <= np.partition(values, count - 1)[count - 1])
    return candidates[np.argsort(values[candidates], kind="stable")][:count]


def _outputs(sample: Sample, margins: Floats, rows: Rows) -> Rows:
    """Give the output of each row's label; of several labels, the one with the least margin."""
    if sample.labels is not None:
        return sample.labels[rows].astype(np.intp)
    worst: Rows = margins[rows].argmin(axis=1)
    return worst


def _words(sample: Sample, row: int, output: int) -> str:
    if sample.labels is not None:
        return sample.answers[output]
    positive = bool(sample.signs[row, output] > 0)
    if sample.signs.shape[1] == 1:
        return sample.answers[-1 if positive else 0]
    return f"{'' if positive else 'not '}{sample.answers[output]}"
