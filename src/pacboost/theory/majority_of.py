"""Majorities of boosters: the rows on which each is trained, and how they are boosted in parallel.

AdaBoost alone needs more examples than the best learner there is, by a logarithm at least
(Høgsgaard, Larsen and Ritzert 2023). These reach R = O(d/(γ²n) + ln(1/δ)/n), which is best
possible up to the constant, or reach it in expectation. The constants are not known, so nothing is
certified by them.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass
from itertools import islice
from threading import Event
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.boosters.booster import Booster
from pacboost.hypotheses.hypothesis import Hypothesis
from pacboost.hypotheses.majority import Three, named
from pacboost.hypotheses.stump import StumpRule
from pacboost.hypotheses.vote import Vote
from pacboost.learners.learner import Learner
from pacboost.ledgers.ledger import Ledger
from pacboost.parallel.cores import in_order
from pacboost.samples.blocks import CodedTable
from pacboost.samples.sample import Sample
from pacboost.sources.table import SomeRows, Table
from pacboost.training.run.loop import Run
from pacboost.training.run.rounds import RowsShown
from pacboost.training.run.stop_reason import Stop, StopReason

Rows = NDArray[np.intp]
SMALLEST = 3
"""Recursive sub-sampling ends where no more rows than this are left to divide."""


def disjoint_parts(rows: int, n: int, seed: int) -> list[Rows]:
    """Divide the rows at random into n parts of the same size, but for one row.

    >>> [part.size for part in disjoint_parts(11, 3, seed=0)]
    [4, 4, 3]
    """
    order = np.random.default_rng(seed).permutation(rows)
    return [np.sort(part) for part in np.array_split(order, n)]


def sub_samples(rows: int, seed: int, most: int | None = None) -> list[Rows]:
    """Divide as Hanneke 2016 does: each sub-sample leaves other rows out, on every scale.

    Sub(A, B), from A = all rows and B = nothing: A falls into A0 and three parts of ⌊|A|/4⌋ rows;
    Sub(A0, B and two of the three) follows for each pair of them. Where |A| ≤ 3 the sub-sample is
    A and B. There are 3^k of them, about n^0.79, each of about 2n/3 rows. ``most`` ends the
    recursion before there are more than so many.

    >>> found = sub_samples(64, seed=0)
    >>> len(found), {part.size for part in found}
    (27, {43})
    >>> len(sub_samples(64, seed=0, most=10))
    9
    """
    order = np.random.default_rng(seed).permutation(rows)
    found: list[tuple[Rows, Rows]] = [(order, order[:0])]
    while found[0][0].size > SMALLEST and (most is None or 3 * len(found) <= most):
        found = [pair for A, B in found for pair in _three_calls(A, B)]
    return [np.sort(np.concatenate(pair)) for pair in found]


def _three_calls(A: Rows, B: Rows) -> list[tuple[Rows, Rows]]:
    quarter = A.size // 4
    start = A.size - 3 * quarter
    parts = [A[start + k * quarter : start + (k + 1) * quarter] for k in range(3)]
    return [
        (A[:start], np.concatenate([parts[i], parts[j], B])) for i, j in ((1, 2), (0, 2), (0, 1))
    ]


def bags(rows: int, count: int, size: int, seed: int) -> list[Rows]:
    """Draw bags of rows with replacement; each has its own generator."""
    seeds = np.random.SeedSequence(seed).spawn(count)
    return [np.random.default_rng(own).integers(rows, size=size) for own in seeds]


def bags_needed(rows: int, delta: float) -> int:
    """Count the bags with which a majority of their learners is optimal: 18 ln(2n/δ).

    (Larsen 2023, for learners without mistakes on their bags, of 0.02 n to n rows each.)

    >>> bags_needed(10_000, 0.05)
    233
    """
    return math.ceil(18 * math.log(2 * rows / delta))


@dataclass(frozen=True, eq=False)
class BoostedMember:
    """One of the boosters: its vote and the ledger of its run, which is None for one class."""

    vote: Vote
    ledger: Ledger | None


def boost(
    sample: Sample,
    rows: Rows,
    learner: Learner,
    booster: Booster[Any],
    rounds: int,
    seed: int,
    unwanted: Event | None = None,
) -> BoostedMember:
    """Boost on some rows of a sample; a row that is named twice counts twice.

    The run ends between two rounds if it is ``unwanted``.
    """
    part = part_of(sample, rows)
    signs = part.signs
    if signs.shape[1] == 1 and (signs == signs[0]).all():
        return BoostedMember(Vote([StumpRule.constant(int(signs[0, 0]))], np.ones(1)), None)
    run = Run(part, learner, booster, seed=seed)
    for _ in islice(run, rounds):
        if unwanted is not None and unwanted.is_set():
            raise CancelledError
    run.stopped = run.stopped or StopReason(Stop.ALL_ROUNDS, {"rounds": rounds})
    return BoostedMember(run.vote(), run.ledger())


def boost_each(
    sample: Sample,
    parts: Sequence[Rows],
    learner: Learner,
    booster: Booster[Any],
    rounds: int,
    seed: int,
    threads: int = 1,
    done: dict[int, BoostedMember] | None = None,
) -> Generator[BoostedMember]:
    """Boost on every part, several at a time, and give the members in order.

    ``done`` also receives them, by the number of their part and as soon as they are made. After an
    interrupt it holds even those that were waiting for an earlier one.
    """
    if sample.codes is None:  # made before threads start
        _ = sample.rows
    seeds = np.random.SeedSequence(seed).generate_state(len(parts)).tolist()
    unwanted = Event()

    def make(number: int) -> BoostedMember:
        member = boost(sample, parts[number], learner, booster, rounds, seeds[number], unwanted)
        if done is not None:
            done[number] = member
        return member

    return in_order(make, range(len(parts)), threads, unwanted=unwanted)


def part_of(sample: Sample, rows: Rows) -> Sample:
    """Return some rows of a sample with their codes; a row that is named twice counts twice."""
    chosen, counts = np.unique(rows, return_counts=True)
    base = np.ones(1) if (counts == counts[0]).all() else counts / counts.max()
    table: Table
    if sample.codes is not None and sample.bins is not None:
        own = sample.table
        table = CodedTable(sample.codes[:, chosen], sample.bins, own.names, own.levels)
    else:
        table = SomeRows(sample.table, chosen)
    labels = None if sample.labels is None else sample.labels[chosen]
    return Sample(table, sample.signs[chosen], base, sample.bins, sample.answers, labels)


# Three learners on three parts of the rows, each filtered by the rules before it.
#
# The practical version of the first booster, with which boosting was first used (Drucker, Schapire
# and Simard 1992): the second learns from rows of which the first gets half wrong, the third from
# those on which the two disagree, and the third decides where they do. Where theirs throws rows
# away until right and wrong are as many, all are kept here and each side weighs half.

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
    wrong = said != (sample.signs[:, 0] > 0 if sample.labels is None else sample.labels)
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
