"""Schapire's recursion: a majority of three, each of which may be a majority of three.

    Learn(ε, δ, EX):  α = g⁻¹(ε)
        h1 = Learn(α, δ/5, EX);   return h1 if it surely is wrong on at most ε              (δ/5)
        h2 = Learn(α, δ/5, EX2);  return h2 if it surely is wrong on at most ε under EX     (δ/10)
        h3 = Learn(α, δ/5, EX3);  the run ends if EX3 is surely rarer than it can be    (δ/10)
        return majority(h1, h2, h3)

down to the weak learner, whose rules are tested as well: so nothing rests on its promise. With
probability 1 - δ the error of whatever is returned is at most ε (Schapire 1990; proved with these
tests in docs/proofs/three_way.md). Every test is a confidence sequence that ends at one of two
thresholds: a rule is returned early at U ≤ ε, and the call continues at L ≥ ε/2, which also says
that EX2 will find enough mistakes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import ParameterError
from pacboost.hypotheses.hypothesis import Hypothesis
from pacboost.hypotheses.majority import Three
from pacboost.learners.learner import Learner
from pacboost.numerics.checks import probability
from pacboost.numerics.growth import targets
from pacboost.theory.three_oracles import (
    LEAST_AT_ONCE,
    MOST_AT_ONCE,
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

# The record of Schapire's recursion: what it aimed at, and what every call did.


@dataclass(frozen=True)
class Node:
    """What one call of the recursion did."""

    path: str
    """Which of the three it is, level by level: "" for the root, "12" for h2 of the root's h1."""
    level: int
    """0 for a call of the weak learner."""
    target: float
    part: float | None
    """g⁻¹(target): the error that each of its three rules may have; None for a weak rule."""
    draws: int
    """Examples that were drawn from the source for it, those of its parts included."""
    error: float | None
    """The error measured of what was returned, under its own distribution; None if untested."""
    upper: float
    """What that error surely is at most."""
    returned: str


@dataclass
class Record:
    """The record of one recursion: what it aimed at, and every call in the order of their ends."""

    edge: float
    epsilon: float
    delta: float
    targets: list[float]
    nodes: list[Node] = field(default_factory=list)
    draws: int = 0
    again: int = 0
    """How many of the draws were of examples that had come before."""
    stopped: str = ""
    """Why it ended before it had reached epsilon; empty if it has."""
    measured_edge: float | None = None
    """The edge of the weak rule that broke the promise, if one did."""

    @property
    def levels(self) -> int:
        """How deep majorities are nested, if nothing returns early."""
        return len(self.targets) - 1


KEPT_EDGE = 0.75
"""The share of the promised edge that is tested for, so that a test of a true promise ends."""
LOWER = 0.5
"""The recursion continues where the error surely exceeds this share of the target."""
ROWS = 16
"""A weak rule is first learned from ROWS/edge² examples, and from twice as many if it fails."""
TRIES = 4


@dataclass(frozen=True)
class Found:
    """A rule, and an upper bound on its error under the oracle it was learned for."""

    rule: Hypothesis
    upper: float


class NoEdge(Exception):  # noqa: N818 - it ends the recursion, not the program
    """Rules surely have a smaller edge than promised; the text says which."""


class Settled(Exception):  # noqa: N818
    """EX2 has found so few mistakes that the rule of the call ``path`` is good enough."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


class Recursion:
    """One run; ``rule`` is always the best rule known so far for the source."""

    def __init__(
        self,
        source: Source,
        learner: Learner,
        edge: float,
        epsilon: float,
        delta: float,
        seed: int = 0,
    ) -> None:
        if not 0 < edge < 1:
            raise ParameterError(f"edge is {edge}; the edge that a learner promises is in (0, 1)")
        probability("delta", delta)
        self.record = Record(edge, epsilon, delta, targets(epsilon, (1 - KEPT_EDGE * edge) / 2))
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
            record.stopped = "interrupted"
            raise
        finally:
            self._count()
        return self.rule

    def _learn(self, level: int, delta: float, oracle: Oracle, path: str) -> Found:
        before = self._source.draws
        found, test, returned = (
            self._weak(delta, oracle, path)
            if level == 0
            else self._three(level, delta, oracle, path)
        )
        aims = self.record.targets
        self.record.nodes.append(
            Node(
                path,
                level,
                aims[level],
                aims[level - 1] if level else None,
                self._source.draws - before,
                test.mean if test is not None and test.count else None,
                found.upper,
                returned,
            )
        )
        if set(path) <= {"1"}:
            self.rule = found.rule
        self._count()
        if self.watch is not None:
            self.watch(self.record)
        return found

    def _three(
        self, level: int, delta: float, oracle: Oracle, path: str
    ) -> tuple[Found, MeanTest | None, str]:
        epsilon = self.record.targets[level]
        first = self._learn(level - 1, delta / 5, oracle, f"{path}1")
        if first.upper <= epsilon:  # as its own test has shown
            return first, None, "the first"
        test = MeanTest(delta / 5)
        if self._errs_little(test, oracle, first.rule, epsilon):
            return Found(first.rule, test.upper), test, "the first"

        second = self._second(level, delta, oracle, path, first, test)
        if second is None:
            return Found(first.rule, test.upper), test, "the first"
        test = MeanTest(delta / 10)
        if self._errs_little(test, oracle, second.rule, epsilon):
            return Found(second.rule, test.upper), test, "the second"
        third = self._third(level, delta, oracle, path, first, second)
        return Found(Three(first.rule, second.rule, third.rule), epsilon), None, "the majority"

    def _second(
        self, level: int, delta: float, oracle: Oracle, path: str, first: Found, test: MeanTest
    ) -> Found | None:
        """Learn from EX2; None if the first rule turns out to be good enough meanwhile."""
        target = self.record.targets[level]

        def watch(mistakes: NDArray[np.bool_]) -> None:
            test.add(mistakes.astype(np.float64))
            if test.mean < target and test.upper <= target:
                raise Settled(path)

        try:
            halves = Halves(oracle, first.rule, self._seed(), watch)
            return self._learn(level - 1, delta / 5, halves, f"{path}2")
        except Settled as settled:
            if settled.path != path:
                raise
            return None

    def _third(
        self, level: int, delta: float, oracle: Oracle, path: str, first: Found, second: Found
    ) -> Found:
        """Learn from EX3, unless disagreements are rarer than the earlier tests imply."""
        target, part = self.record.targets[level], self.record.targets[level - 1]
        test, least = MeanTest(delta / 10), LOWER * target * (1 - 2 * part)

        def watch(disagreements: NDArray[np.bool_]) -> None:
            test.add(disagreements.astype(np.float64))
            if test.mean < least and test.upper < least:
                raise NoEdge(
                    f"h1 and h2 of {_where(path)} disagree on {test.mean:.2g} of the examples and "
                    f"not on {least:.2g}, so a test has failed: that happens with probability delta"
                )

        disagreements = Disagreements(oracle, first.rule, second.rule, watch)
        return self._learn(level - 1, delta / 5, disagreements, f"{path}3")

    def _weak(self, delta: float, oracle: Oracle, path: str) -> tuple[Found, MeanTest, str]:
        """Learn a weak rule and test it; if it fails, learn from more examples."""
        promise = self.record.edge
        rows = math.ceil(ROWS / promise**2)
        for attempt in range(TRIES):
            examples = oracle.draw(rows << attempt)
            search = self._learner.on(as_sample(examples))
            weights = np.ones(examples.n_rows, dtype=np.int64)
            rule = search.find(weights, examples.signs[:, 0], self._seed())
            if self.rule is None:
                self.rule = rule  # better than nothing
            test = MeanTest(share_of(delta, attempt))
            aim = self.record.targets[0]
            if self._errs_little(test, oracle, rule, aim, (1 - promise) / 2):
                return Found(rule, test.upper), test, "a weak rule"
        self.record.measured_edge = 1 - 2 * test.mean
        raise NoEdge(
            f"the learner promised an edge of {promise:g}, and its rule for {_where(path)} has one "
            f"of {1 - 2 * test.mean:.3g}, surely below {1 - 2 * test.lower:.3g} "
            f"({test.count:,} examples)"
        )

    @staticmethod
    def _errs_little(
        test: MeanTest,
        oracle: Oracle,
        rule: Hypothesis,
        most: float,
        enough: float | None = None,
    ) -> bool:
        """Draw until the error is surely at most ``most``, or surely at least ``enough``."""
        enough = LOWER * most if enough is None else enough
        size = LEAST_AT_ONCE
        while True:
            test.add(wrong(rule, oracle.draw(size)).astype(np.float64))
            if test.upper <= most:
                return True
            if test.lower >= enough:
                return False
            size = min(MOST_AT_ONCE, max(LEAST_AT_ONCE, test.count // 2))

    def _seed(self) -> int:
        self._calls += 1
        return self._seeds.seed_of(self._calls, 0)

    def _count(self) -> None:
        self.record.draws, self.record.again = self._source.draws, self._source.again


def _where(path: str) -> str:
    """Return which distribution a call learns from.

    >>> _where("12"), _where("11")
    ('call 12 (h2 of h1)', 'the source')
    """
    if set(path) <= {"1"}:
        return "the source"
    return f"call {path} ({' of '.join(f'h{k}' for k in reversed(path))})"
