"""The final vote, scored by one table per feature where it is made of stumps.

A vote of stumps is a sum of step functions, one per feature: after adding up, a row costs one
look-up per feature, whatever the number of rounds. Votes are multiples of a fixed unit
(numerics/exact.py), so the tables give bit for bit what adding round by round gives.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pacboost.hypotheses.hypothesis import Hypothesis
from pacboost.hypotheses.stump import Stump
from pacboost.kernels import lookup
from pacboost.kernels.threads import each, row_spans
from pacboost.samples.bins import upper_cuts
from pacboost.samples.sample import Sample, unlabelled
from pacboost.sources.table import Table

Scores = NDArray[np.float64]


@dataclass(frozen=True)
class Steps:
    """One feature's share of the score: a step function, and a value for missing."""

    thresholds: NDArray[np.float32]
    values: NDArray[np.float64]
    """One more than thresholds: values[k] is the score above k thresholds."""
    missing: float


@dataclass(frozen=True, eq=False)
class Vote:
    """F(x) = Σ votes[t] · hypotheses[t](x); the answer is its sign, and a tie is no answer."""

    hypotheses: Sequence[Hypothesis]
    votes: NDArray[np.float64]

    def scores(self, table: Table) -> Scores:
        """Give F for every row."""
        scores = np.zeros(table.n_rows)
        for first, values in table.blocks():
            self._add_steps(first, values, scores)
        others = [
            (h, v)
            for h, v in zip(self.hypotheses, self.votes, strict=True)
            if not isinstance(h, Stump)
        ]
        if others:
            sample = unlabelled(table)
            for hypothesis, vote in others:
                scores += vote * hypothesis.answers(sample)
        return scores

    def staged(self, table: Table) -> Iterator[Scores]:
        """Give F after each round; the array is used again for the next."""
        scores = np.zeros(table.n_rows)
        sample = unlabelled(table)
        for hypothesis, vote in zip(self.hypotheses, self.votes, strict=True):
            scores += vote * hypothesis.answers(sample)
            yield scores

    @cached_property
    def steps(self) -> dict[int, Steps]:
        """The step function of every feature that a stump asks for."""
        stumps: dict[int, list[tuple[Stump, float]]] = {}
        for hypothesis, vote in zip(self.hypotheses, self.votes, strict=True):
            if isinstance(hypothesis, Stump):
                stumps.setdefault(hypothesis.feature, []).append((hypothesis, float(vote)))
        return {feature: _add_up(stumps[feature]) for feature in sorted(stumps)}

    def _add_steps(self, first: int, values: NDArray[np.floating], scores: Scores) -> None:
        used = [j for j in self.steps if first <= j < first + values.shape[1]]
        if not used:
            return
        steps = [self.steps[j] for j in used]
        cuts = upper_cuts(np.concatenate([s.thresholds for s in steps]))
        offsets = np.cumsum([0] + [s.thresholds.size for s in steps]).astype(np.int64)
        heights = np.concatenate([np.append(s.values, s.missing) for s in steps])
        columns = np.array(used) - first
        runs = np.split(np.arange(columns.size), np.flatnonzero(np.diff(columns) != 1) + 1)

        def task(start: int, stop: int) -> None:
            for run in runs:  # a run of neighbouring columns is a view, so nothing is copied
                a, b = run[0], run[-1] + 1
                lookup.score(
                    values[:, columns[a] : columns[b - 1] + 1],
                    cuts,
                    offsets[a : b + 1],
                    heights[2 * a :],
                    scores,
                    start,
                    stop,
                )

        each(task, row_spans(scores.size))


def _add_up(stumps: list[tuple[Stump, float]]) -> Steps:
    finite = [stump.threshold for stump, _ in stumps if not math.isinf(stump.threshold)]
    thresholds = np.unique(np.array(finite, dtype=np.float32))
    jumps = np.zeros(thresholds.size + 1)
    missing = 0.0
    for stump, vote in stumps:
        jumps[0] -= vote * stump.above
        missing += vote * stump.missing
        if not math.isinf(stump.threshold):
            jumps[1 + np.searchsorted(thresholds, np.float32(stump.threshold))] += (
                2 * vote * stump.above
            )
    return Steps(thresholds, np.cumsum(jumps), missing)
