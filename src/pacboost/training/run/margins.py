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
from pacboost.numerics.soft_margin import soft_margin
from pacboost.samples.sample import Sample

Floats = NDArray[np.float64]

NAMING = ("m1", "samme")
"""The values of ``multiclass`` for which a rule names one class, and votes for no other."""


def largest(rule: Hypothesis, vote: float) -> float:
    """Return the most that a round can add to a score."""
    return abs(float(vote)) * float(np.abs(rule.values).max())


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
