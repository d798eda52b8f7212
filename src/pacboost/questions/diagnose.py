"""Is my weak learner weak enough to boost? Its edge, measured before boosting.

The weak-learning assumption asks for an edge under *every* distribution. The distributions that
boosting makes can be tested: half of the rows are boosted for a while; on the other half, rows are
kept with probability min(1, exp(-yF(x))), so that those kept are independent draws from the
reweighted distribution, and a fresh rule's error on them has an exact binomial interval.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.boosters.adaboost import AdaBoost
from pacboost.bounds.holdout import clopper_pearson, clopper_pearson_lower
from pacboost.errors import ParameterError
from pacboost.hypotheses.hypothesis import Rule
from pacboost.hypotheses.vote import Vote
from pacboost.learners.choose import as_learner
from pacboost.learners.learner import Learner
from pacboost.numerics.checks import probability, whole
from pacboost.numerics.markup import bold, table
from pacboost.numerics.same_bits import exp, mean
from pacboost.questions.two_classes import two_classes
from pacboost.samples.bins import fit_bins
from pacboost.samples.sample import Sample
from pacboost.sources.explained_errors import explains_input
from pacboost.sources.table import SomeRows, Table
from pacboost.training.run.loop import Run

STAGES = (0, 1, 5, 20)
SMALL_EDGE = 0.1
"""An edge surely below this promises little: 0.1 needs 917 rounds for a training error of 1 %."""


@dataclass(frozen=True)
class Stage:
    """The edge of the learner under the weights after some rounds."""

    rounds: int
    rows: int
    kept: float
    """The share it kept: the mean weight."""
    edge: float
    lower: float
    upper: float


@dataclass(frozen=True)
class Diagnosis:
    """The edges at all stages; their intervals hold together with probability 1 - delta."""

    stages: tuple[Stage, ...]
    delta: float

    @property
    def sentence(self) -> str:
        """The prospects of boosting, in a sentence."""
        certain = min(stage.lower for stage in self.stages)
        if certain > 0:
            needed = math.ceil(math.log(100) / (-0.5 * math.log1p(-(certain**2))))
            return (
                f"The learner has an edge of at least {certain:.3f} on every distribution tried. "
                f"If it keeps that, {needed:,} rounds bring the training error to 1 %."
            )
        if max(stage.upper for stage in self.stages) <= 0:
            return "The learner is no better than guessing: boosting will not help."
        first = next(stage for stage in self.stages if stage.lower <= 0)
        between = f"between {first.lower:.3f} and {first.upper:.3f}"
        if first.upper < SMALL_EDGE:
            return (
                f"After {first.rounds} rounds the edge is small ({between}): expect little from "
                "boosting beyond that, or give a richer learner."
            )
        return (
            f"After {first.rounds} rounds {first.rows:,} rows are too few to tell whether the "
            f"learner has an edge ({between}): about {self.rows_to_tell:,} rows in all would show "
            f"one of {max(first.edge, SMALL_EDGE):.2g}."
        )

    @property
    def rows_to_tell(self) -> int:
        """The rows that would tell the first uncertain edge from 0; 0 if every edge is certain.

        n kept rows find an edge to within √(2 ln(2/δ')/n), δ' = delta/stages (Hoeffding). Half of
        all rows are tested, and of these the share ``kept`` is kept.
        """
        first = next((stage for stage in self.stages if stage.lower <= 0), None)
        if first is None:
            return 0
        kept = 2 * math.log(2 * len(STAGES) / self.delta) / max(first.edge, SMALL_EDGE) ** 2
        return math.ceil(2 * kept / max(first.kept, 1 / (1 + first.rows)))

    def _repr_html_(self) -> str:
        lines = [
            [s.rounds, f"{s.rows:,}", *(f"{x:.3f}" for x in (s.kept, s.edge, s.lower, s.upper))]
            for s in self.stages
        ]
        heads = ["after rounds", "rows", "share kept", "edge", "at least", "at most"]
        return bold(self.sentence) + table(heads, lines)

    def __str__(self) -> str:
        lines = [self.sentence, "", "  after   rows    kept    edge   between"]
        lines += [
            f"  {s.rounds:>5} {s.rows:>6} {s.kept:>7.3f} {s.edge:>7.3f}   "
            f"{s.lower:.3f} and {s.upper:.3f}"
            for s in self.stages
        ]
        return "\n".join(lines)


@explains_input
def diagnose(
    X: Any, y: Any, learner: Any = None, *, delta: float = 0.05, seed: int = 0
) -> Diagnosis:
    """Measure the edge of a weak learner on the distributions that boosting makes."""
    probability("delta", delta)
    seed = whole("seed", seed)
    weak = as_learner(learner, "learner")
    rows, signs = two_classes(X, y)
    order = np.random.default_rng(seed).permutation(rows.n_rows)
    half = rows.n_rows // 2
    train = _sample(rows, signs, np.sort(order[:half]), weak)
    test = _sample(rows, signs, np.sort(order[half:]), weak, train)
    run = Run(train, weak, AdaBoost(), seed=seed)
    stages = []
    for rounds in STAGES:
        list(islice(run, max(0, rounds - len(run.done))))
        if len(run.done) < rounds or run.stopped:
            break  # the run has ended: there is no such distribution
        stages.append(_stage(run.vote(), train, test, weak, delta / len(STAGES), seed))
    return Diagnosis(tuple(stages), delta)


def _sample(
    table: Table,
    signs: NDArray[np.int8],
    rows: NDArray[np.intp],
    learner: Learner,
    training: Sample | None = None,
) -> Sample:
    part = SomeRows(table, rows)
    bins = None
    if learner.codes:
        bins = fit_bins(part) if training is None else training.bins
    return Sample(part, signs[rows][:, None], bins=bins)


def _stage(
    vote: Vote, train: Sample, test: Sample, learner: Learner, delta: float, seed: int
) -> Stage:
    """Find a rule under the clipped weights, and measure it on filtered rows."""
    whole_weights = np.maximum(1, np.rint(_clipped(vote, train) * 2**30)).astype(np.int64)
    rule = learner.on(train).find(whole_weights, train.signs[:, 0], seed)
    if not isinstance(rule, Rule):
        raise ParameterError(
            "diagnose looks at rules that answer -1 or +1, such as stumps", parameter="learner"
        )
    weights = _clipped(vote, test)
    generator = np.random.default_rng((seed, len(vote.votes)))
    is_kept = generator.random(test.n_rows) < weights
    wrong = (rule.answers(test) != test.signs[:, 0])[is_kept]
    n, k = int(wrong.size), int(wrong.sum())
    if n == 0:
        return Stage(len(vote.votes), 0, mean(weights), 0.0, -1.0, 1.0)
    high = clopper_pearson(k, n, delta / 2)
    low = clopper_pearson_lower(k, n, delta / 2)
    return Stage(len(vote.votes), n, mean(weights), 1 - 2 * k / n, 1 - 2 * high, 1 - 2 * low)


def _clipped(vote: Vote, sample: Sample) -> NDArray[np.float64]:
    margins = vote.scores(sample.table) * sample.signs[:, 0]
    return np.asarray(exp(-np.maximum(margins, 0.0)))
