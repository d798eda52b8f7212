"""Three learners on three parts of the rows, each filtered by the rules before it.

The practical version of the first booster, with which boosting was first used (Drucker, Schapire
and Simard 1992): the second learns from rows of which the first gets half wrong, the third from
those on which the two disagree, and the third decides where they do. Where theirs throws rows away
until right and wrong are as many, all are kept here and each side weighs half.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pacboost.hypotheses.hypothesis import Hypothesis
from pacboost.hypotheses.majority import Three, named
from pacboost.learners.learner import Learner
from pacboost.samples.sample import Sample
from pacboost.training.committees.majority_of import Rows, disjoint_parts, part_of
from pacboost.training.run.rows_shown import RowsShown

LEAST_FOUND = 10
"""The least number of examples that have to pass a filter to be learned from."""


@dataclass(frozen=True)
class Filtered:
    """The rows that passed the filters: mistakes of the first rule, disagreements of two rules."""

    rows: int
    mistakes: int
    disagreements: int
    looked_at: tuple[int, int]
    """The number of rows that each filter searched: all, where its part had too few."""

    @property
    def too_few(self) -> bool:
        """Whether a filter also searched rows that earlier rules were learned from."""
        return max(self.looked_at) == self.rows

    @property
    def needed(self) -> int:
        """An estimate of the rows needed, by the shares found; tenfold the rows if none was."""
        shares = (
            self.mistakes / max(1, self.looked_at[0]),
            self.disagreements / max(1, self.looked_at[1]),
        )
        least = min((share for share in shares if share > 0), default=1 / self.rows)
        return max(10 * self.rows if 0 in shares else 0, 3 * math.ceil(LEAST_FOUND / least))


def three_learners(sample: Sample, learner: Learner, seed: int) -> tuple[Hypothesis, Filtered]:
    """Learn three rules; or one, where it makes no mistake or the second never contradicts it."""
    *_, last = three_steps(sample, learner, seed)
    return last


def three_steps(
    sample: Sample, learner: Learner, seed: int
) -> Iterator[tuple[Hypothesis, Filtered]]:
    """Learn rule by rule, and give the result after each: the first alone, until all are there."""
    own, second, third = disjoint_parts(sample.n_rows, 3, seed)
    everyone = np.arange(sample.n_rows)
    seeds = RowsShown(sample.n_rows, seed)
    first_rule = _learn(sample, own if own.size else everyone, None, learner, seeds.seed_of(1, 0))
    yield first_rule, Filtered(sample.n_rows, 0, 0, (0, 0))
    said = named(first_rule, sample)
    wrong = said != _classes(sample)
    if np.count_nonzero(wrong[second]) < LEAST_FOUND:
        second = everyone
    mistakes = int(np.count_nonzero(wrong[second]))
    if mistakes == 0:
        yield first_rule, Filtered(sample.n_rows, 0, 0, (second.size, 0))
        return
    halves = np.where(wrong[second], second.size - mistakes, mistakes)
    halves = np.ones_like(halves) if mistakes == second.size else halves
    second_rule = _learn(sample, second, halves, learner, seeds.seed_of(2, 0))
    yield first_rule, Filtered(sample.n_rows, mistakes, 0, (second.size, 0))
    differ = said != named(second_rule, sample)
    if np.count_nonzero(differ[third]) < LEAST_FOUND:
        third = everyone
    disagreements = third[differ[third]]
    found = Filtered(sample.n_rows, mistakes, disagreements.size, (second.size, third.size))
    if disagreements.size == 0:
        yield first_rule, found
        return
    third_rule = _learn(sample, disagreements, None, learner, seeds.seed_of(3, 0))
    yield Three(first_rule, second_rule, third_rule), found


def _learn(
    sample: Sample, rows: Rows, weights: NDArray[np.int64] | None, learner: Learner, seed: int
) -> Hypothesis:
    part = part_of(sample, rows)
    answers = part.signs[:, 0] if part.labels is None else part.labels
    own = np.ones(rows.size, dtype=np.int64) if weights is None else weights
    return learner.on(part).find(own, answers, seed)


def _classes(sample: Sample) -> NDArray[np.int64]:
    if sample.labels is not None:
        return sample.labels
    return (sample.signs[:, 0] > 0).astype(np.int64)
