"""Majorities of boosters: the rows on which each is trained, and how they are boosted in parallel.

AdaBoost alone needs more examples than the best possible learner, by a logarithmic factor at least
(Høgsgaard, Larsen and Ritzert 2023). Majorities reach R = O(d/(γ²n) + ln(1/δ)/n), which is optimal
up to the constant, with high probability or in expectation. The constants are unknown, so these
results certify nothing.

Three learners on three parts of the rows, each filtered by the rules before it, are the practical
version of the first booster (Drucker, Schapire and Simard 1992): the first rule is wrong on half of
the weight that the second learns from, the third learns from rows on which the two disagree, and
decides there. Their method discards rows until right and wrong ones are equally many; here all rows
stay, and each side has half of the weight.
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
from pacboost.hypotheses.decision import named
from pacboost.hypotheses.hypothesis import Hypothesis
from pacboost.hypotheses.stump import StumpRule
from pacboost.hypotheses.three import Three
from pacboost.hypotheses.vote import Vote
from pacboost.learners.learner import Learner
from pacboost.ledgers.ledger import Ledger
from pacboost.parallel.cores import in_order
from pacboost.samples.coded_table import CodedTable
from pacboost.samples.sample import Sample
from pacboost.sources.table import SomeRows, Table
from pacboost.training.run.loop import Run
from pacboost.training.run.rounds import RowsShown
from pacboost.training.run.stop_reason import Stop, StopReason

Rows = NDArray[np.intp]
MAX_UNDIVIDED_ROWS = 3
"""Recursive sub-sampling ends with this number of rows to divide, or fewer."""
MIN_FILTERED_ROWS = 10
"""Minimum number of rows that pass a filter for a rule to be learned from its part."""


def disjoint_parts(rows: int, n: int, seed: int) -> list[Rows]:
    """Divide the rows at random into n parts whose sizes differ by at most one.

    >>> [part.size for part in disjoint_parts(11, 3, seed=0)]
    [4, 4, 3]
    """
    order = np.random.default_rng(seed).permutation(rows)
    return [np.sort(part) for part in np.array_split(order, n)]


def sub_samples(rows: int, seed: int, limit: int | None = None) -> list[Rows]:
    """Return the recursive sub-samples of Hanneke 2016, which omit different rows.

    Sub(A, B), from A = all rows and B = nothing: A falls into A0 and three parts of ⌊|A|/4⌋ rows;
    Sub(A0, B and two of the three) follows for each pair of them. If |A| ≤ 3 the sub-sample is A
    and B. There are 3^k of them, about n^0.79, each of about 2n/3 rows; ``limit`` bounds their
    number.

    >>> parts = sub_samples(64, seed=0)
    >>> len(parts), {part.size for part in parts}
    (27, {43})
    >>> len(sub_samples(64, seed=0, limit=10))
    9
    """
    order = np.random.default_rng(seed).permutation(rows)
    pairs: list[tuple[Rows, Rows]] = [(order, order[:0])]
    while pairs[0][0].size > MAX_UNDIVIDED_ROWS and (limit is None or 3 * len(pairs) <= limit):
        pairs = [pair for A, B in pairs for pair in _three_calls(A, B)]
    return [np.sort(np.concatenate(pair)) for pair in pairs]


def _three_calls(A: Rows, B: Rows) -> list[tuple[Rows, Rows]]:
    quarter = A.size // 4
    start = A.size - 3 * quarter
    parts = [A[start + k * quarter : start + (k + 1) * quarter] for k in range(3)]
    return [
        (A[:start], np.concatenate([parts[i], parts[j], B])) for i, j in ((1, 2), (0, 2), (0, 1))
    ]


def bags(rows: int, count: int, size: int, seed: int) -> list[Rows]:
    """Draw bags of rows with replacement, each with its own generator."""
    seeds = np.random.SeedSequence(seed).spawn(count)
    return [np.random.default_rng(sequence).integers(rows, size=size) for sequence in seeds]


def bags_needed(rows: int, delta: float) -> int:
    """Return the number of bags for which the majority of their learners is optimal: 18 ln(2n/δ).

    Larsen 2023 proves it for learners without mistakes on bags of 0.02 n to n rows.

    >>> bags_needed(10_000, 0.05)
    233
    """
    return math.ceil(18 * math.log(2 * rows / delta))


@dataclass(frozen=True, eq=False)
class BoostedMember:
    """The vote of a member and the ledger of its run, which is None if its rows had one class."""

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
    """Boost on some rows of a sample; a row that is listed twice counts twice.

    Setting ``unwanted`` ends the run between two rounds.
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
    """Boost on every part, several at a time, and yield the members in order.

    ``done`` receives each member as soon as it is ready, by the number of its part. After an
    interrupt it includes members that were waiting for an earlier one.
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
    """Return some rows of a sample with their codes; a row that is listed twice counts twice."""
    chosen, counts = np.unique(rows, return_counts=True)
    # a row drawn k times weighs k times as much: the codes are stored once
    base = np.ones(1) if (counts == counts[0]).all() else counts / counts.max()
    table: Table
    if sample.codes is not None and sample.bins is not None:
        source = sample.table
        table = CodedTable(sample.codes[:, chosen], sample.bins, source.names, source.levels)
    else:
        table = SomeRows(sample.table, chosen)
    labels = None if sample.labels is None else sample.labels[chosen]
    return Sample(table, sample.signs[chosen], base, sample.bins, sample.answers, labels)


@dataclass(frozen=True)
class Filtered:
    """Numbers of rows that passed the filters for mistakes and for disagreements."""

    rows: int
    mistakes: int
    disagreements: int
    looked_at: tuple[int, int]
    """The number of rows that each filter searched: all rows, if its part had too few."""

    @property
    def too_few(self) -> bool:
        """Whether a filter also searched training rows of earlier rules."""
        return max(self.looked_at) == self.rows

    @property
    def needed(self) -> int:
        """An estimate of the number of rows needed; ten times the rows if a filter found none."""
        pairs = zip((self.mistakes, self.disagreements), self.looked_at, strict=True)
        shares = [passed / max(1, searched) for passed, searched in pairs]
        rarest = min((share for share in shares if share > 0), default=1 / self.rows)
        return max(10 * self.rows if 0 in shares else 0, 3 * math.ceil(MIN_FILTERED_ROWS / rarest))


def three_steps(
    sample: Sample, learner: Learner, seed: int
) -> Iterator[tuple[Hypothesis, Filtered]]:
    """Learn the three rules, and yield the result after each: the first rule until all exist.

    It ends with the first rule if that makes no mistake, or if the second never disagrees with it.
    """
    first, second, third = disjoint_parts(sample.n_rows, 3, seed)
    everyone = np.arange(sample.n_rows)
    seeds = RowsShown(sample.n_rows, seed)
    first_rule = _learn(
        sample, first if first.size else everyone, None, learner, seeds.seed_of(1, 0)
    )
    yield first_rule, Filtered(sample.n_rows, 0, 0, (0, 0))
    predictions = named(first_rule, sample)
    wrong = predictions != (sample.signs[:, 0] > 0 if sample.labels is None else sample.labels)
    if np.count_nonzero(wrong[second]) < MIN_FILTERED_ROWS:
        second = everyone
    mistakes = int(np.count_nonzero(wrong[second]))
    if mistakes == 0:
        yield first_rule, Filtered(sample.n_rows, 0, 0, (second.size, 0))
        return
    # each side of the filter has the same total: mistakes times right rows
    halves = np.where(wrong[second], max(1, second.size - mistakes), mistakes)
    second_rule = _learn(sample, second, halves, learner, seeds.seed_of(2, 0))
    yield first_rule, Filtered(sample.n_rows, mistakes, 0, (second.size, 0))
    differ = predictions != named(second_rule, sample)
    if np.count_nonzero(differ[third]) < MIN_FILTERED_ROWS:
        third = everyone
    disagreements = third[differ[third]]
    report = Filtered(sample.n_rows, mistakes, disagreements.size, (second.size, third.size))
    if disagreements.size == 0:
        yield first_rule, report
        return
    third_rule = _learn(sample, disagreements, None, learner, seeds.seed_of(3, 0))
    yield Three(first_rule, second_rule, third_rule), report


def _learn(
    sample: Sample, rows: Rows, weights: NDArray[np.int64] | None, learner: Learner, seed: int
) -> Hypothesis:
    part = part_of(sample, rows)
    weights = np.ones(rows.size, dtype=np.int64) if weights is None else weights
    return learner.on(part).find(
        weights, part.signs[:, 0] if part.labels is None else part.labels, seed
    )
