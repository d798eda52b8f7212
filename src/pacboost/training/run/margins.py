"""Normalised margins: how clearly a vote decides, on a scale from -1 to 1.

For two classes it is y·F(x)/S, where S is the sum of the largest vote that each round could give.
With more classes it is the score of the right class minus the best other score: divided by S where
every rule names one class, and by 2S where a rule may give each class a vote of either sign
(Schapire and Singer 1999).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pacboost.hypotheses.hypothesis import Hypothesis
from pacboost.hypotheses.vote import Scores, Vote
from pacboost.kernels.runtime.threads import span_size
from pacboost.ledgers.ledger import MAX_HARD_ROWS, HardRow
from pacboost.numerics.memory import in_host_memory
from pacboost.numerics.soft_margin import soft_margin
from pacboost.samples.sample import Sample

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

NAMING = ("m1", "samme")
"""The values of ``multiclass`` for which a rule names one class, and votes for no other."""


def largest(rule: Hypothesis, vote: float) -> float:
    """Return the most that a round can add to a score."""
    return abs(float(vote)) * rule.largest


def norm(vote: Vote) -> float:
    """Return S, the sum over all rounds."""
    pairs = zip(vote.hypotheses, vote.votes, strict=True)
    return sum((largest(rule, cast) for rule, cast in pairs), 0.0)


def normalised(margins: Floats, total: float) -> Floats:
    """Divide by the sum of votes; where nothing was voted, all margins are 0."""
    return margins / total if total > 0 else np.zeros_like(margins)


def margin_and_gap(
    margins: Floats, base: Floats, share: float, total: float, edges: Sequence[float]
) -> tuple[float, float]:
    """Return the margin of the worst ``share`` of the rows, and by how much another may exceed it.

    Under any weights of the rows, the margin of no vote exceeds the largest edge of a rule. So the
    least edge of all rounds is a bound, if the learner found the best rule in each.
    """
    margin = soft_margin(margins, base, share) / total
    return margin, min(edges) - margin


def margins_of(sample: Sample, scores: Scores, *, naming: bool) -> Floats:
    """Return what is divided by S: (rows,), or (rows, labels) where a row may have several."""
    scores = scores.reshape(sample.n_rows, -1)
    if sample.labels is None:
        signed = sample.signs * scores
        return np.asarray(signed[:, 0] if signed.shape[1] == 1 else signed)
    return lead(scores, sample.labels) / (1 if naming else 2)


def lead(scores: Scores, labels: NDArray[np.int64]) -> Floats:
    """Return by how much the score of each row's class exceeds the largest of the others.

    >>> lead(np.array([[0.5, 2.0, 1.0]]), np.array([1])).tolist()
    [1.0]
    """
    rows = np.arange(labels.size)
    own, others = scores[rows, labels], scores.copy()
    others[rows, labels] = -np.inf
    return np.asarray(own - others.max(axis=1))


# The rows that a finished vote finds hardest.
#
# Boosting moves its weight to rows on which the rules are often wrong. The rows with the smallest
# margins in the end are outliers, or have wrong labels (Freund and Schapire 1999, A short
# introduction to boosting).


def hardest(
    sample: Sample, margins: Floats, total: float, class_scores: Floats | None = None
) -> list[HardRow]:
    """Return rows of the smallest margins, the hardest first; of equal ones, earlier rows first.

    ``margins`` are y·F(x) of rows and outputs, on a GPU maybe if there is one output, and ``total``
    is the most that all rounds can add. Where rules name one of many classes, ``class_scores`` are
    F(x) of every class.
    """
    decided = _decided(sample, margins, class_scores)
    rows = lowest(decided, MAX_HARD_ROWS)
    margins, decided = (in_host_memory(array[rows.tolist()]) for array in (margins, decided))
    outputs = _outputs(sample, margins, rows)
    own = margins[np.arange(rows.size), outputs if margins.shape[1] > 1 else 0]
    numbers = rows if sample.numbers is None else sample.numbers[rows]
    words = [_words(sample, row, output) for row, output in zip(rows, outputs, strict=True)]
    decided, against = (normalised(m, total) for m in (decided, own))
    return [
        HardRow(int(number), label, float(margin), float(1 - right) / 2)
        for number, label, margin, right in zip(numbers, words, decided, against, strict=True)
    ]


def _decided(sample: Sample, margins: Floats, class_scores: Floats | None) -> Floats:
    """Return the margin of each row, not yet normalised; of several labels, the least."""
    if sample.labels is None:
        return margins[:, 0] if margins.shape[1] == 1 else margins.min(axis=1)
    decided, size = np.empty(sample.n_rows), span_size(margins.shape[1])
    for first in range(0, sample.n_rows, size):  # copies of all scores would be large
        own = slice(first, first + size)
        scores = margins[own] * sample.signs[own] if class_scores is None else class_scores[own]
        decided[own] = lead(scores, sample.labels[own])
    return decided / 2 if class_scores is None else decided


ROWS_LOOKED_AT = 100
"""Of so many values for each that is wanted, the lowest say where to look."""


def lowest(values: Floats, count: int) -> Rows:
    """Return the places of the smallest values in order; of equal ones, the first.

    >>> lowest(np.array([0.5, -1.0, 0.5, 0.0]), 3).tolist()
    [1, 3, 0]
    """
    if values.size <= count:
        return np.argsort(in_host_memory(values), kind="stable")
    # Sorting them all would cost more than the rest together, and so would looking at them twice.
    some = in_host_memory(values[:: max(1, values.size // (ROWS_LOOKED_AT * count))])
    candidates = (values <= float(np.partition(some, count - 1)[count - 1])).nonzero()[0]
    found, rows = in_host_memory(values[candidates]), in_host_memory(candidates)
    kept = np.flatnonzero(found <= np.partition(found, count - 1)[count - 1])
    return np.asarray(rows[kept[np.argsort(found[kept], kind="stable")[:count]]])


def _outputs(sample: Sample, margins: Floats, rows: Rows) -> Rows:
    """Return the output of each row's label; of several labels, the one with the least margin.

    ``margins`` are those of these rows.
    """
    if sample.labels is not None:
        return sample.labels[rows].astype(np.intp)
    worst: Rows = margins.argmin(axis=1)
    return worst


def _words(sample: Sample, row: int, output: int) -> str:
    if sample.labels is not None:
        return sample.answers[output]
    positive = bool(sample.signs[row, output] > 0)
    if sample.signs.shape[1] == 1:
        return sample.answers[-1 if positive else 0]
    return f"{'' if positive else 'not '}{sample.answers[output]}"
