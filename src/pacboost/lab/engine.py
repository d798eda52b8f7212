"""Runs of the lab: boosting and bagging, advanced round by round, with a frame of each round.

The estimator of "show the code" is set up in the same way, and its loop is stepped here. So the
page shows the results of that code.
"""

from __future__ import annotations

import base64
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pacboost.boosters.booster import Booster
from pacboost.errors import ParameterError
from pacboost.estimators.bagging.answers import Classes
from pacboost.estimators.bagging.bagging import BaggingClassifier
from pacboost.estimators.bagging.fitting import prepare_bags
from pacboost.estimators.bagging.learners import Learners
from pacboost.estimators.boosting.boost import BoostClassifier
from pacboost.estimators.boosting.boosting import ask_of
from pacboost.estimators.inputs.parameters import draw_seed
from pacboost.estimators.parameters.values import Values
from pacboost.fit.fit import prepare
from pacboost.fit.trial import start
from pacboost.hypotheses.hypothesis import Answers, Hypothesis, Names, Rule
from pacboost.hypotheses.stump import StumpRule
from pacboost.hypotheses.tree import TreeRule
from pacboost.hypotheses.vote import Vote
from pacboost.lab import stopping
from pacboost.lab.choices import make_booster, make_learner
from pacboost.lab.data import Points
from pacboost.lab.spec import MAX_ROUNDS, RunSpec
from pacboost.ledgers.ledger import Ledger, Round
from pacboost.numerics.exact import wrong_margins
from pacboost.samples.sample import Sample, unlabelled
from pacboost.sources.arrays import ArrayTable
from pacboost.theory.learners import Scripted
from pacboost.training.bags.members import BagMember
from pacboost.training.run.margins import largest, norm, normalised
from pacboost.training.run.stop_reason import sentence_of

Doubles = NDArray[np.float64]
HEAVIEST = 8
CDF = np.linspace(-1.0, 1.0, 101)


@dataclass(frozen=True, eq=False)
class RoundFrame:
    """One finished round."""

    entry: Round
    rule: Hypothesis
    own: bool
    """Whether the rule was set by hand."""
    weights: Doubles
    """D_t."""
    agree: NDArray[np.int8]
    """+1 if the rule is right, -1 if it is wrong, 0 if it gives no answer."""
    margins: Doubles
    """Normalised margins after the round."""
    votes: Doubles
    """The votes of all rounds so far, after this round."""
    total: float
    """The sum of the largest votes, the divisor of scores."""
    error_after: float | None
    """The error of the rule under D_{t+1}."""
    wrong_test: int | None


def f32(values: ArrayLike) -> str:
    """Write numbers as base64 of 32-bit floats, little-endian."""
    return base64.b64encode(np.ascontiguousarray(values, dtype="<f4").tobytes()).decode()


def i8(values: ArrayLike) -> str:
    """Encode small whole numbers as base64 of bytes."""
    return base64.b64encode(np.ascontiguousarray(values, dtype=np.int8).tobytes()).decode()


def heaviest(weights: Doubles, ids: NDArray[np.int64]) -> list[list[float]]:
    """Return the points of the largest weight: pairs of id and weight."""
    order = np.argsort(-weights, kind="stable")[:HEAVIEST]
    return [[int(ids[row]), float(weights[row])] for row in order]


def effective_size(weights: Doubles) -> float:
    """Return 1/Σ D², the number of equally weighted points that D amounts to."""
    return float(1 / (weights**2).sum())


def cumulated(margins: Doubles) -> Doubles:
    """Return the share of points with margins up to -1, -0.98, …, 1.

    >>> cumulated(np.array([-0.5, 0.5]))[[0, 50, 100]].tolist()
    [0.0, 0.5, 1.0]
    """
    # Margins are sums of rounded votes, so 1 may be slightly exceeded.
    ranks = np.searchsorted(np.sort(margins), CDF + 1e-9, side="right")
    return np.asarray(ranks / margins.size)


def shape_of(rule: Hypothesis) -> dict[str, Any]:
    """Describe how to draw a rule."""
    inner = rule.unvalued
    if isinstance(inner, StumpRule):
        finite = bool(np.isfinite(inner.threshold))
        return {
            "kind": "stump", "feature": inner.feature,
            "threshold": float(inner.threshold) if finite else None, "above": inner.above,
        }  # fmt: skip
    if isinstance(inner, TreeRule):
        return {"kind": "tree", "leaves": len(inner.values)}
    fitted: Any = getattr(inner, "inner", None)
    coefficients = np.ravel(getattr(fitted, "coef_", ()))
    if coefficients.size == 2:
        sign = int(getattr(inner, "sign", 1))
        bias = sign * float(np.ravel(fitted.intercept_)[0])
        return {"kind": "halfspace", "weights": (sign * coefficients).tolist(), "bias": bias}
    return {"kind": "other"}


class LabRun(ABC):
    """A run whose frames are computed on demand."""

    sample: Sample
    model: Any
    """The estimator whose loop it steps."""
    revised = False
    restarted = False

    def __init__(self, spec: RunSpec, points: Points) -> None:
        self.spec, self.points = spec, points
        self.frames: list[RoundFrame] = []
        test = points.test
        self.test = None if test is None else (self._unlabelled(test[0]), test[1])
        self._test_scores = np.zeros(0 if test is None else len(test[1]))

    @property
    @abstractmethod
    def stopped(self) -> str:
        """Why no round can follow; empty if one can."""

    @abstractmethod
    def _step(self) -> bool:
        """Compute the next frame; return whether there is one."""

    @abstractmethod
    def ledger(self, rounds: int) -> Ledger:
        """Return the record of the first rounds."""

    @abstractmethod
    def next_weights(self) -> Doubles | None:
        """Return D of the next round; None if there is none."""

    def advance(self, rounds: int) -> None:
        """Run rounds up to this number, or until none can follow."""
        while len(self.frames) < min(rounds, MAX_ROUNDS) and not self.stopped and self._step():
            stopping.check()

    def weights_after(self, rounds: int) -> Doubles | None:
        """Return D of round ``rounds + 1``."""
        self.advance(rounds)
        if rounds < len(self.frames):
            return self.frames[rounds].weights
        return self.next_weights()

    def vote(self, rounds: int) -> Vote:
        """Return the vote of the first rounds."""
        votes = self.frames[rounds - 1].votes if rounds else np.empty(0)
        return Vote([frame.rule for frame in self.frames[:rounds]], votes)

    def scores(self, X: Doubles, rounds: int) -> Doubles:
        """Return F of rows after this number of rounds."""
        return self.vote(rounds).scores(self._unlabelled(X).table)

    @property
    def answers_elsewhere(self) -> bool:
        """Whether rules answer for points outside the training set."""
        return self.spec.current[1].name != "adversary"

    def _unlabelled(self, X: Doubles) -> Sample:
        return unlabelled(ArrayTable(X), getattr(self, "sample", None) and self.sample.bins)

    def _wrong_test(self, vote: Vote) -> int | None:
        """Count the mistakes on the test rows, after one more rule."""
        if self.test is None or not self.answers_elsewhere:
            return None
        sample, labels = self.test
        if self.revised:
            scores = vote.scores(sample.table)
        else:
            rule = vote.hypotheses[-1]
            values = rule.values[rule.cells(sample)][:, 0]
            self._test_scores = scores = self._test_scores + vote.votes[-1] * values
        return int(wrong_margins(scores * labels).sum())


class BoostRun(LabRun):
    """A run of a booster."""

    model: BoostClassifier

    def __init__(
        self, spec: RunSpec, points: Points, forced: dict[int, Hypothesis] | None = None
    ) -> None:
        booster, learner = make_booster(spec.current[0]), make_learner(spec.current[1])
        rules: dict[int, Any] = {**(forced or {}), **spec.own_rules}
        self.model = BoostClassifier(
            booster, Scripted(rules, learner) if rules else learner, early_stopping=False,
            random_state=spec.seed, verbose=False,
        )  # fmt: skip
        asked = Values.of(self.model.get_params(deep=False))
        chooser, columns = self.model._chooser(asked), self.model._column_options()
        ask = ask_of(asked, chooser, columns, draw_seed(spec.seed))
        trial, _ = prepare(points.X, points.y, None, ask)
        self.run = start(trial, trial.first)
        self.sample = self.run.sample
        self._blank = self.run.ledger()  # before any round
        self._rounds = iter(self.run)
        self.booster: Booster[Any] = self.run.booster
        self.revised = self.booster.revises
        super().__init__(spec, points)

    @property
    def stopped(self) -> str:
        return sentence_of(self.run.stopped)

    def _step(self) -> bool:
        weights = self.next_weights()
        done = None if weights is None else next(self._rounds, None)
        if weights is None or done is None:
            return False
        if len(self.run.done) <= len(self.frames):  # a rule without mistakes dropped the others
            self.frames, self.restarted = [], True
            self._test_scores = np.zeros_like(self._test_scores)
            weights = np.full(self.sample.n_rows, 1 / self.sample.n_rows)
        vote = self.run.vote()
        rule = done.hypothesis
        if self.revised or not self.frames:  # revised votes have to be added up again
            total = norm(vote)
        else:
            total = self.frames[-1].total + largest(vote.hypotheses[-1], vote.votes[-1])
        agree = np.sign(rule.values[rule.cells(self.sample)][:, 0] * self.points.y)
        after = self.next_weights()
        self.frames.append(
            RoundFrame(
                entry=done.entry, rule=rule, own=done.entry.number in dict(self.spec.rules),
                weights=weights, agree=agree.astype(np.int8), votes=np.array(vote.votes),
                margins=normalised(self.run.margins[:, 0], total).copy(), total=total,
                error_after=None if after is None else float(after[agree <= 0].sum()),
                wrong_test=self._wrong_test(vote),
            )
        )  # fmt: skip
        return True

    def next_weights(self) -> Doubles | None:
        """Return the weights of the next round as shares; None if all are 0."""
        weights = self.run.weights
        total = int(weights.sum())
        return None if total == 0 else weights / total

    def ledger(self, rounds: int) -> Ledger:
        entries = [frame.entry for frame in self.frames[:rounds]]
        if self.revised and rounds:
            votes = self.frames[rounds - 1].votes.tolist()
            entries = [
                replace(entry, vote=vote) for entry, vote in zip(entries, votes, strict=True)
            ]
        return replace(self._blank, rounds=entries, stopped=self.stopped)


def forced_rules(parent: LabRun, after: int) -> dict[int, Hypothesis]:
    """Return the rules of a parent's first rounds, for a fork to keep."""
    parent.advance(after)
    if len(parent.frames) < after:
        raise ParameterError(
            f"the run cannot be changed after round {after}: it has {len(parent.frames)} rounds "
            f"({parent.stopped or 'no more rules were found'})"
        )
    return {number: frame.rule for number, frame in enumerate(parent.frames[:after], start=1)}


@dataclass(frozen=True, eq=False)
class MemberRule(Rule):
    """A member of a bagged vote as a rule that answers -1 or +1."""

    tag: ClassVar[str] = "member"

    member: BagMember

    @property
    def inner(self) -> Any:
        """The fitted rule of pacboost, or a scikit-learn classifier."""
        return self.member.inner

    @property
    def unvalued(self) -> Hypothesis:
        return self.inner if isinstance(self.inner, Hypothesis) else self

    def answers(self, sample: Sample) -> Answers:
        return (2 * self.member.answers(sample) - 1).astype(np.int8)  # from numbers of classes

    def negated(self) -> Rule:
        raise ParameterError("a member of a bagged vote cannot be negated")

    def words(self, names: Names) -> str:
        is_ours = isinstance(self.inner, Hypothesis)
        return self.inner.words(names) if is_ours else type(self.inner).__name__


class BagRun(LabRun):
    """A run of bagging."""

    model: BaggingClassifier

    def __init__(self, spec: RunSpec, points: Points) -> None:
        if spec.learner.name in ("adversary", "weak_stump"):
            raise ParameterError(
                f"learner is {spec.learner.name!r}, which needs the weights of boosting; use "
                "'stump', 'tree' or 'halfspace'"
            )
        learner = make_learner(spec.learner)
        self.model = BaggingClassifier(learner, MAX_ROUNDS, random_state=spec.seed, verbose=False)
        self.bagging = prepare_bags(
            Learners(self.model, Classes(self.model)), points.X, points.y, None
        ).run
        self.sample = self.bagging.maker.sample
        self._members = self.bagging.run(MAX_ROUNDS, 1)
        self._names = Names(self.sample.table.names, ("-1", "1"))
        super().__init__(spec, points)

    @property
    def stopped(self) -> str:
        return sentence_of(self.bagging.stopped)

    def _step(self) -> bool:
        started = time.perf_counter()
        if next(self._members, None) is None:
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
        """Return the shares of the points in the next bag."""
        if len(self.frames) >= MAX_ROUNDS:
            return None
        counts = self.bagging.bags.bag(len(self.frames)).counts
        return np.asarray(counts / counts.sum())

    def ledger(self, rounds: int) -> Ledger:
        return Ledger(
            booster="bagging", potential="none", learner=make_learner(self.spec.learner).name,
            rows=self.sample.n_rows, classes=1, weighted=False, plain_votes=False,
            stopped=self.stopped, rounds=[frame.entry for frame in self.frames[:rounds]],
        )  # fmt: skip
