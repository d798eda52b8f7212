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
from pacboost.kernels.threads import span_size
from pacboost.ledgers.ledger import MAX_HARD_ROWS, HardRow
from pacboost.numerics.memory import in_host_memory
from pacboost.samples.sample import Sample

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]


def largest(rule: Hypothesis, vote: float) -> float:
    """Return the largest number that a round can add to a score."""
    return abs(float(vote)) * rule.largest


def norm(vote: Vote) -> float:
    """Return S, the sum over all rounds."""
    pairs = zip(vote.hypotheses, vote.votes, strict=True)
    return sum((largest(rule, cast) for rule, cast in pairs), 0.0)


def normalised(margins: Floats, total: float) -> Floats:
    """Divide margins by the sum of votes; all are 0 if there are no votes."""
    return margins / total if total > 0 else np.zeros_like(margins)


def margin_and_gap(
    margins: Floats, base: Floats, share: float, total: float, edges: Sequence[float]
) -> tuple[float, float]:
    """Return the margin of the worst ``share`` of the rows, and how much another vote may gain.

    Under any weights of the rows, the margin of no vote exceeds the largest edge of a rule. So the
    least edge of all rounds is a bound, if the learner found the best rule in each.
    """
    from pacboost.numerics.soft_margin import soft_margin

    margin = soft_margin(margins, base, share) / total
    return margin, min(edges) - margin


def margins_of(sample: Sample, scores: Scores, *, naming: bool) -> Floats:
    """Return the margins before division by S: (rows,), or (rows, labels) for several labels."""
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
    others = scores.copy()
    others[rows, labels] = -np.inf
    return np.asarray(scores[rows, labels] - others.max(axis=1))


def hardest(
    sample: Sample, margins: Floats, total: float, class_scores: Floats | None = None
) -> list[HardRow]:
    """Return the rows of the smallest margins in increasing order; of equal ones, the first.

    They are outliers, or have wrong labels (Freund and Schapire 1999, A short introduction to
    boosting). ``margins`` are y·F(x) of rows and outputs, perhaps on a GPU if there is one output,
    and ``total`` is the largest score that all rounds can add up to. If rules name one of many
    classes, ``class_scores`` are F(x) of every class.
    """
    decided = _decided(sample, margins, class_scores)
    rows = lowest(decided, MAX_HARD_ROWS)
    margins, decided = (in_host_memory(array[rows.tolist()]) for array in (margins, decided))
    outputs = margins.argmin(axis=1) if sample.labels is None else sample.labels[rows]
    label_margins = margins[np.arange(rows.size), outputs if margins.shape[1] > 1 else 0]
    numbers = rows if sample.numbers is None else sample.numbers[rows]
    words = [_words(sample, row, output) for row, output in zip(rows, outputs, strict=True)]
    decided, against = (normalised(m, total) for m in (decided, label_margins))
    return [
        HardRow(int(number), label, float(margin), float(1 - right) / 2)
        for number, label, margin, right in zip(numbers, words, decided, against, strict=True)
    ]


def _decided(sample: Sample, margins: Floats, class_scores: Floats | None) -> Floats:
    if sample.labels is None:
        return margins[:, 0] if margins.shape[1] == 1 else margins.min(axis=1)
    decided, size = np.empty(sample.n_rows), span_size(margins.shape[1])
    for first in range(0, sample.n_rows, size):  # copies of all scores would be large
        part = slice(first, first + size)
        scores = margins[part] * sample.signs[part] if class_scores is None else class_scores[part]
        decided[part] = lead(scores, sample.labels[part])
    return decided / 2 if class_scores is None else decided


VALUES_SAMPLED_PER_RESULT = 100


def lowest(values: Floats, count: int) -> Rows:
    """Return the places of the smallest values in order; of equal ones, the first."""
    if values.size <= count:
        return np.argsort(in_host_memory(values), kind="stable")
    # Sorting all values would take longer than the rest of the ledger. The lowest of a sample are
    # no lower than the lowest of all, so they exclude nearly all rows.
    some = in_host_memory(values[:: max(1, values.size // (VALUES_SAMPLED_PER_RESULT * count))])
    candidates = (values <= float(np.partition(some, count - 1)[count - 1])).nonzero()[0]
    low, rows = in_host_memory(values[candidates]), in_host_memory(candidates)
    lowest_places = np.flatnonzero(low <= np.partition(low, count - 1)[count - 1])
    order = np.argsort(low[lowest_places], kind="stable")[:count]
    return np.asarray(rows[lowest_places[order]])


def _words(sample: Sample, row: int, output: int) -> str:
    if sample.labels is not None:
        return sample.answers[output]
    positive = bool(sample.signs[row, output] > 0)
    if sample.signs.shape[1] == 1:
        return sample.answers[-1 if positive else 0]
    return f"{'' if positive else 'not '}{sample.answers[output]}"
