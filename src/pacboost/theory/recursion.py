"""Schapire's recursion: a majority of three rules, which may be majorities of three themselves.

    Learn(ε, δ, EX):  α = g⁻¹(ε)
        h1 = Learn(α, δ/5, EX);   return h1 if it surely is wrong on at most ε              (δ/5)
        h2 = Learn(α, δ/5, EX2);  return h2 if it surely is wrong on at most ε under EX     (δ/10)
        h3 = Learn(α, δ/5, EX3);  the run ends if EX3 is surely rarer than it can be    (δ/10)
        return majority(h1, h2, h3)

down to the weak learner, whose rules are also tested, so the result does not depend on its promise.
With probability 1 - δ the error of the returned rule is at most ε (Schapire 1990; proved with these
tests in docs/proofs/three_way.md). Every test is a confidence sequence that ends at one of two
thresholds: a rule is returned early at U ≤ ε, and the call continues at L ≥ ε/2, which also
guarantees that EX2 finds enough mistakes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import invalid
from pacboost.hypotheses.hypothesis import Hypothesis
from pacboost.hypotheses.three import Three
from pacboost.learners.learner import Learner
from pacboost.numerics.checks import probability
from pacboost.numerics.growth import targets
from pacboost.theory.three_oracles import (
    MAX_BATCH_ROWS,
    MIN_BATCH_ROWS,
    Disagreements,
    Halves,
    Oracle,
    RanOut,
    Source,
    as_sample,
    wrong,
)
from pacboost.training.filtering.plan import MeanTest, share_of
from pacboost.training.run.rounds import RowsShown

INTERRUPTED = "interrupted"
"""Why a recursion has ended that Ctrl-C stopped."""


@dataclass(frozen=True)
class Node:
    """The record of one call of the recursion."""

    path: str
    """The number of the rule on each level: "" for the root, "12" for h2 of the root's h1."""
    level: int
    """0 for a call of the weak learner."""
    target: float
    part: float | None
    """g⁻¹(target): the error that each of its three rules may have; None for a weak rule."""
    draws: int
    """Number of examples drawn from the source, including those of its parts."""
    error: float | None
    """The measured error of the returned rule under its distribution; None if untested."""
    upper: float
    """An upper bound on that error."""
    returned: str


@dataclass
class Record:
    """The targets of one recursion, and its calls in the order in which they ended."""

    edge: float
    epsilon: float
    delta: float
    targets: list[float]
    nodes: list[Node] = field(default_factory=list)
    draws: int = 0
    again: int = 0
    """Number of draws that repeated an example."""
    stopped: str = ""
    """Why it ended before it reached epsilon; empty if it reached it."""
    measured_edge: float | None = None
    """The edge of the weak rule that broke the promise, if one did."""

    @property
    def levels(self) -> int:
        """The depth of nested majorities if no call returns early."""
        return len(self.targets) - 1


TESTED_EDGE_SHARE = 0.75
"""Share of the promised edge for which rules are tested, so that a test of a true promise ends."""
# Where an error is between the two, either end of the test is right, so one of them comes soon.
MIN_TARGET_SHARE = 0.5
"""The recursion continues if the error surely exceeds this share of the target."""
WEAK_ROWS = 16
"""Number of examples, times 1/edge², for a weak rule; it doubles if the rule fails its test."""
MAX_WEAK_TRIES = 4


@dataclass(frozen=True)
class BoundedRule:
    """A rule, and an upper bound on its error under the oracle it was learned for."""

    rule: Hypothesis
    upper: float


class NoEdge(Exception):  # noqa: N818 - it ends the recursion, not the program
    """The edge of a rule is smaller than promised; the message names the rule."""


class Settled(Exception):  # noqa: N818
    """The first rule of the call ``path`` is good enough, since EX2 found few mistakes."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


class Recursion:
    """One run of the recursion; ``rule`` is the best rule so far for the source."""

    def __init__(
        self, source: Source, learner: Learner, edge: float, epsilon: float, delta: float, seed: int
    ) -> None:
        if not 0 < edge < 1:
            raise invalid("edge", edge, "must be in (0, 1), as the edge that a learner promises")
        probability("delta", delta)
        aims = targets(epsilon, (1 - TESTED_EDGE_SHARE * edge) / 2)
        self.record = Record(edge, epsilon, delta, aims)
        self.rule: Hypothesis | None = None
        self.ran_out = False
        """Whether the run ended because the examples ran out."""
        self._source, self._learner = source, learner
        self._seeds = RowsShown(0, seed)
        self._calls = 0
        self.watch: Callable[[Record], None] | None = None

    def run(self) -> Hypothesis | None:
        """Recurse until a rule is wrong on at most epsilon, or the recursion cannot continue."""
        record = self.record
        try:
            self._learn(record.levels, record.delta, self._source, "")
        except (NoEdge, RanOut) as problem:
            record.stopped, self.ran_out = str(problem), isinstance(problem, RanOut)
        except KeyboardInterrupt:
            record.stopped = INTERRUPTED
            raise
        finally:
            self._count()
        return self.rule

    def _learn(self, level: int, delta: float, oracle: Oracle, path: str) -> BoundedRule:
        before = self._source.draws
        test: MeanTest | None
        if level == 0:
            learned, test, returned = self._weak(delta, oracle, path)
        else:
            learned, test, returned = self._three(level, delta, oracle, path)
        aims, error = self.record.targets, test.mean if test is not None and test.count else None
        part, draws = aims[level - 1] if level else None, self._source.draws - before
        node = Node(path, level, aims[level], part, draws, error, learned.upper, returned)
        self.record.nodes.append(node)
        if set(path) <= {"1"}:
            self.rule = learned.rule
        self._count()
        if self.watch is not None:
            self.watch(self.record)
        return learned

    def _three(
        self, level: int, delta: float, oracle: Oracle, path: str
    ) -> tuple[BoundedRule, MeanTest | None, str]:
        epsilon = self.record.targets[level]
        first = self._learn(level - 1, delta / 5, oracle, f"{path}1")
        if first.upper <= epsilon:  # as its own test has shown
            return first, None, "the first"
        test, second = MeanTest(delta / 5), None
        if not self._errs_little(test, oracle, first.rule, epsilon):
            second = self._second(level, delta, oracle, path, first.rule, test)
        if second is None:
            return BoundedRule(first.rule, test.upper), test, "the first"
        test = MeanTest(delta / 10)
        if self._errs_little(test, oracle, second, epsilon):
            return BoundedRule(second, test.upper), test, "the second"
        third = self._third(level, delta, oracle, path, (first.rule, second))
        return BoundedRule(Three(first.rule, second, third), epsilon), None, "the majority"

    def _second(
        self, level: int, delta: float, oracle: Oracle, path: str, first: Hypothesis, test: MeanTest
    ) -> Hypothesis | None:
        """Learn from EX2; None if the first rule turns out to be good enough."""
        target = self.record.targets[level]

        def watch(mistakes: NDArray[np.bool_]) -> None:
            test.add(mistakes.astype(np.float64))
            if test.mean < target and test.upper <= target:
                raise Settled(path)

        try:
            halves = Halves(oracle, first, self._seed(), watch)
            return self._learn(level - 1, delta / 5, halves, f"{path}2").rule
        except Settled as settled:
            if settled.path != path:
                raise
            return None

    def _third(
        self, level: int, delta: float, oracle: Oracle, path: str,
        rules: tuple[Hypothesis, Hypothesis],
    ) -> Hypothesis:  # fmt: skip
        """Learn from EX3, unless disagreements are rarer than the earlier tests imply."""
        target, part = self.record.targets[level], self.record.targets[level - 1]
        test, minimum = MeanTest(delta / 10), MIN_TARGET_SHARE * target * (1 - 2 * part)

        def watch(disagreements: NDArray[np.bool_]) -> None:
            test.add(disagreements.astype(np.float64))
            # h1 errs on ε/2 or more, and there h2 errs on at most 2α, since it errs on α of both
            # halves of EX2 together
            if test.mean < minimum and test.upper < minimum:
                raise NoEdge(
                    f"h1 and h2 of {_where(path)} disagree on {test.mean:.2g} of the examples, and "
                    f"at least {minimum:.2g} is implied, so a test has failed (probability delta)"
                )

        disagreements = Disagreements(oracle, *rules, watch)
        return self._learn(level - 1, delta / 5, disagreements, f"{path}3").rule

    def _weak(self, delta: float, oracle: Oracle, path: str) -> tuple[BoundedRule, MeanTest, str]:
        """Learn a weak rule and test it; if it fails, learn from more examples."""
        promise = self.record.edge
        # errors on n rows are off by about 1/√n, and an edge has to stand out of that
        rows = math.ceil(WEAK_ROWS / promise**2)
        for attempt in range(MAX_WEAK_TRIES):
            examples = oracle.draw(rows << attempt)
            search = self._learner.on(as_sample(examples))
            weights = np.ones(examples.n_rows, dtype=np.int64)
            rule = search.find(weights, examples.signs[:, 0], self._seed())
            if self.rule is None:
                self.rule = rule  # better than nothing
            test = MeanTest(share_of(delta, attempt))
            aim = self.record.targets[0]
            if self._errs_little(test, oracle, rule, aim, (1 - promise) / 2):
                return BoundedRule(rule, test.upper), test, "a weak rule"
        self.record.measured_edge = 1 - 2 * test.mean
        raise NoEdge(
            f"the learner promised an edge of {promise:g}, and its rule for {_where(path)} has one "
            f"of {1 - 2 * test.mean:.3g}, surely below {1 - 2 * test.lower:.3g} "
            f"({test.count:,} examples)"
        )

    @staticmethod
    def _errs_little(
        test: MeanTest, oracle: Oracle, rule: Hypothesis, limit: float, enough: float | None = None
    ) -> bool:
        """Draw until the error is certified to be at most ``limit``, or at least ``enough``."""
        enough = MIN_TARGET_SHARE * limit if enough is None else enough
        size = MIN_BATCH_ROWS
        while True:
            test.add(wrong(rule, oracle.draw(size)).astype(np.float64))
            if test.upper <= limit:
                return True
            if test.lower >= enough:
                return False
            # batches grow with what was drawn: at most a half more than needed is drawn, in a
            # logarithm of batches
            size = min(MAX_BATCH_ROWS, max(MIN_BATCH_ROWS, test.count // 2))

    def _seed(self) -> int:
        self._calls += 1
        return self._seeds.seed_of(self._calls, 0)

    def _count(self) -> None:
        self.record.draws, self.record.again = self._source.draws, self._source.again


def _where(path: str) -> str:
    """Describe the distribution that a call learns from.

    >>> _where("12"), _where("11")
    ('call 12 (h2 of h1)', 'the source')
    """
    if set(path) <= {"1"}:
        return "the source"
    return f"call {path} ({' of '.join(f'h{k}' for k in reversed(path))})"
