"""Bagging in the lab: every round fits the learner to a bag of rows, and all votes are equal.

Bagging keeps no ledger, so what is measured of a round is measured here, by the same definitions:
the error of the rule on all points alike. No weights are passed on, so there is no product bound.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from pacboost.errors import ParameterError
from pacboost.estimators.bagging.bagging import BaggingClassifier
from pacboost.hypotheses.hypothesis import Answers, Hypothesis, Names, Rule
from pacboost.hypotheses.vote import Vote
from pacboost.lab.choices import make_learner
from pacboost.lab.data import Points
from pacboost.lab.engine import Doubles, LabRun, RoundFrame, effective_size
from pacboost.lab.spec import MOST_ROUNDS, RunSpec
from pacboost.ledgers.ledger import Ledger, Round
from pacboost.numerics.exact import wrong_margins
from pacboost.samples.sample import Sample
from pacboost.training.bags.members import Member


@dataclass(frozen=True, eq=False)
class MemberRule(Rule):
    """A member of a bagged vote as a rule that answers -1 or +1."""

    member: Member

    @property
    def inner(self) -> Any:
        """What was fitted: a rule of ours or a scikit-learn classifier."""
        return self.member.inner

    @property
    def unvalued(self) -> Hypothesis:
        """The rule of ours behind the member, if it is one."""
        return self.inner if isinstance(self.inner, Hypothesis) else self

    def answers(self, sample: Sample) -> Answers:
        """Turn the number of a class into a sign."""
        return (2 * self.member.answers(sample) - 1).astype(np.int8)

    def negated(self) -> Rule:
        """Members are never turned round."""
        raise ParameterError("a member of a bagged vote is taken as it is")

    def words(self, names: Names) -> str:
        """Return the rule, or name the classifier."""
        if isinstance(self.inner, Hypothesis):
            return self.inner.words(names)
        return type(self.inner).__name__


class BagRun(LabRun):
    """A run of bagging."""

    model: BaggingClassifier

    def __init__(self, spec: RunSpec, points: Points) -> None:
        if spec.learner.name in ("adversary", "weak_stump"):
            raise ParameterError(
                "bagging has no weights for this learner to be weak under; take 'stump', 'tree' or "
                "'halfspace'"
            )
        self.model = BaggingClassifier(
            make_learner(spec.learner), MOST_ROUNDS, random_state=spec.seed, verbose=False,
        )  # fmt: skip
        self.bagging, *_ = self.model._prepare(points.X, points.y, None)
        self.sample = self.bagging.maker.sample
        self._made = self.bagging.run(MOST_ROUNDS, 1)
        self._names = Names(self.sample.table.name, ("-1", "1"))
        super().__init__(spec, points)

    @property
    def stopped(self) -> str:
        """Bagging never ends by itself before the limit."""
        return self.bagging.stopped

    def _step(self) -> bool:
        started = time.perf_counter()
        if next(self._made, None) is None:
            return False
        number = len(self.frames) + 1
        rule = MemberRule(self.bagging.members[-1])
        counts = self.bagging.bags.bag(number - 1).counts
        agree = (rule.answers(self.sample) * self.points.y).astype(np.int8)
        earlier = self.frames[-1].margins * (number - 1) if self.frames else 0.0
        margins = (earlier + agree) / number
        weights = counts / counts.sum()
        error = float((agree < 0).mean())
        entry = Round(
            number=number, error=error, edge=1 - 2 * error, vote=1.0, normaliser=1.0,
            training_error=float(wrong_margins(np.round(margins * number)).mean()),
            effective_size=effective_size(weights), weight=int(counts.sum()), memory=[],
            rule=rule.words(self._names), seconds=time.perf_counter() - started,
        )  # fmt: skip
        vote = Vote([*(frame.rule for frame in self.frames), rule], np.ones(number))
        self.frames.append(
            RoundFrame(
                entry=entry, rule=rule, own=False, weights=weights, agree=agree, margins=margins,
                votes=vote.votes, total=float(number), error_after=None,
                wrong_test=self._wrong_test(vote),
            )
        )  # fmt: skip
        return True

    def next_weights(self) -> Doubles | None:
        """Return the next bag: how often each point is in it."""
        if len(self.frames) >= MOST_ROUNDS:
            return None
        counts = self.bagging.bags.bag(len(self.frames)).counts
        found: Doubles = counts / counts.sum()
        return found

    def ledger(self, rounds: int) -> Ledger:
        """Return the rounds as a record without a potential: nothing bounds its error."""
        return Ledger(
            booster="bagging", potential="none", learner=make_learner(self.spec.learner).name,
            rows=self.sample.n_rows, classes=1, weighted=False, plain_votes=False,
            stopped=self.stopped, rounds=[frame.entry for frame in self.frames[:rounds]],
        )  # fmt: skip
