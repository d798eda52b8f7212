"""Three learners: what each is shown, and what happens where filters find little."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pacboost.hypotheses.function import Function
from pacboost.hypotheses.hypothesis import Hypothesis
from pacboost.hypotheses.majority import Three, named
from pacboost.learners.learner import Learner, Search, Weights
from pacboost.samples.sample import Sample
from pacboost.sources.arrays import ArrayTable
from pacboost.theory.majority_of import MIN_FILTERED_ROWS, Filtered, three_steps

ROWS = 300


@dataclass(frozen=True, eq=False)
class Scripted(Learner):
    """Errs on the points it is told to, and remembers what it was shown."""

    mistakes: list[list[int]]
    shown: list[tuple[NDArray[np.int64], Weights]] = field(default_factory=list)

    def on(self, sample: Sample) -> ScriptedSearch:
        return ScriptedSearch(sample, self)


@dataclass(frozen=True)
class ScriptedSearch(Search):
    sample: Sample
    learner: Scripted

    def find(self, weights: Weights, answers: NDArray[np.int8], seed: int) -> Hypothesis:
        wrong = self.learner.mistakes[len(self.learner.shown)]
        self.learner.shown.append((self.sample.rows[:, 0].astype(np.int64), weights))
        answer = truth().copy()
        answer[wrong] *= -1
        return Function(lambda X: answer[X[:, 0].astype(np.int64)], "scripted")


def truth() -> NDArray[np.int8]:
    return np.where(np.arange(ROWS) % 2 == 0, np.int8(1), np.int8(-1))


def sample() -> Sample:
    return Sample(ArrayTable(np.arange(ROWS, dtype=np.float64)[:, None]), truth()[:, None])


def test_each_is_shown_what_the_theorem_says() -> None:
    first, second = list(range(0, 120)), list(range(60, 200))
    learner = Scripted([first, second, []])
    *_, (rule, report) = three_steps(sample(), learner, seed=0)
    (own, _), (halves, weights), (disagreements, _) = learner.shown
    assert own.size == 100
    assert not set(own) & set(halves)
    assert not set(disagreements) & (set(own) | set(halves))
    wrong = np.isin(halves, first)
    assert weights[wrong].sum() == weights[~wrong].sum()
    assert np.ptp(weights[wrong]) == 0
    assert set(disagreements) <= set(range(0, 60)) | set(range(120, 200))
    assert report == Filtered(ROWS, int(wrong.sum()), disagreements.size, (100, 100))
    assert not report.too_few
    # the third is right: only where the first two err together the majority does
    mistakes = named(rule, sample()) != (truth() > 0)
    assert np.flatnonzero(mistakes).tolist() == list(range(60, 120))


def test_a_first_without_mistakes_stands_alone() -> None:
    learner = Scripted([[]])
    *_, (rule, report) = three_steps(sample(), learner, seed=0)
    assert not isinstance(rule, Three)
    assert len(learner.shown) == 1
    assert report.too_few  # all rows were looked at for a mistake


def test_few_mistakes_are_looked_for_among_all_rows() -> None:
    learner = Scripted([list(range(15)), list(range(3)), []])
    *_, (rule, report) = three_steps(sample(), learner, seed=0)
    assert isinstance(rule, Three)
    assert report.looked_at == (ROWS, ROWS)
    assert (report.mistakes, report.disagreements) == (15, 12)
    assert report.needed == 3 * MIN_FILTERED_ROWS * ROWS // 12


def test_a_second_that_never_contradicts_leaves_the_first() -> None:
    learner = Scripted([list(range(100)), list(range(100))])
    *_, (rule, report) = three_steps(sample(), learner, seed=0)
    assert not isinstance(rule, Three)
    assert report.disagreements == 0
    assert report.needed >= 10 * ROWS
