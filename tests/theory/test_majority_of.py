"""Which rows the members of a majority get, and how each of them learns."""

from dataclasses import dataclass, field

import numpy as np
import pytest
from numpy.typing import NDArray

from pacboost.boosters.adaboost import AdaBoost
from pacboost.hypotheses.decision import named
from pacboost.hypotheses.function import Function
from pacboost.hypotheses.hypothesis import Hypothesis
from pacboost.hypotheses.three import Three
from pacboost.learners.learner import Learner, Search, Weights
from pacboost.learners.stump import Stump
from pacboost.samples.coded_table import CodedTable
from pacboost.samples.sample import Sample
from pacboost.sources.arrays import ArrayTable
from pacboost.theory.majority_of import (
    MIN_FILTERED_ROWS,
    Filtered,
    bags,
    boost,
    boost_each,
    disjoint_parts,
    sub_samples,
    three_steps,
)
from pacboost.training.run.loop import Run
from tests.worlds import make_sample, noisy


@pytest.mark.parametrize(("rows", "n"), [(10, 3), (99, 5), (3, 3)])
def test_parts_are_disjoint_and_hold_every_row(rows: int, n: int) -> None:
    parts = disjoint_parts(rows, n, seed=1)
    assert sorted(np.concatenate(parts).tolist()) == list(range(rows))
    assert max(p.size for p in parts) - min(p.size for p in parts) <= 1


def written_out(A: list[int], B: list[int]) -> list[list[int]]:
    """The recursion of Hanneke, as it is printed."""
    if len(A) <= 3:
        return [sorted(A + B)]
    quarter = len(A) // 4
    A0, rest = A[: len(A) - 3 * quarter], A[len(A) - 3 * quarter :]
    A1, A2, A3 = rest[:quarter], rest[quarter : 2 * quarter], rest[2 * quarter :]
    return (
        written_out(A0, A2 + A3 + B) + written_out(A0, A1 + A3 + B) + written_out(A0, A1 + A2 + B)
    )


@pytest.mark.parametrize("rows", [1, 3, 4, 17, 64, 100, 257])
def test_sub_samples_are_hannekes(rows: int) -> None:
    order = np.random.default_rng(5).permutation(rows).tolist()
    parts = sub_samples(rows, seed=5)
    assert [part.tolist() for part in parts] == written_out(order, [])


def test_every_row_is_left_out_by_a_third_of_the_members() -> None:
    parts = sub_samples(256, seed=0)
    assert len(parts) == 3**4
    left_out = np.zeros(256, dtype=np.int64)
    for part in parts:
        left_out[np.setdiff1d(np.arange(256), part)] += 1
    # one row is never divided; each other is in one of three parts, on one scale
    assert sorted(np.unique(left_out, return_counts=True)[0].tolist()) == [0, 27]
    assert np.count_nonzero(left_out == 0) == 1


def test_most_members_ends_the_recursion_early() -> None:
    assert [len(sub_samples(10_000, 0, limit)) for limit in (1, 2, 3, 80, 81)] == [1, 1, 3, 27, 81]
    sizes = {part.size for part in sub_samples(10_000, 0, 81)}
    assert max(sizes) - min(sizes) == 0
    assert sizes.pop() == pytest.approx(2 / 3 * 10_000, rel=0.01)


def test_bags_are_drawn_evenly() -> None:
    drawn = np.concatenate(bags(10, 200, 50, seed=3))
    assert drawn.size == 10_000
    assert np.bincount(drawn, minlength=10) == pytest.approx(1000, rel=0.15)
    assert [b.tolist() for b in bags(10, 3, 5, 1)] == [b.tolist() for b in bags(10, 3, 5, 1)]


def test_a_bag_is_boosted_as_its_rows_written_out() -> None:
    X, y = noisy(60, 4, 2)
    X = np.round(X, 1)
    rows = np.random.default_rng(0).integers(60, size=60)
    sample = make_sample(X, y)
    by_weight = boost(sample, rows, Stump(), AdaBoost(), 15, seed=1)
    assert sample.codes is not None
    assert sample.bins is not None
    table = CodedTable(sample.codes[:, rows], sample.bins)
    run = Run(Sample(table, sample.signs[rows], bins=sample.bins), Stump(), AdaBoost(), seed=1)
    for _ in range(15):
        next(iter(run), None)
    assert by_weight.vote.hypotheses == run.vote().hypotheses
    assert by_weight.vote.votes == pytest.approx(run.vote().votes, rel=1e-9)


def test_members_do_not_depend_on_threads() -> None:
    X, y = noisy(600, 5, 0)
    sample = make_sample(X, y)
    parts = disjoint_parts(600, 5, 0)
    runs = [
        [member.vote for member in boost_each(sample, parts, Stump(), AdaBoost(), 10, 3, threads)]
        for threads in (1, 3)
    ]
    for one, other in zip(*runs, strict=True):
        assert one.hypotheses == other.hypotheses
        assert one.votes.tolist() == other.votes.tolist()


def test_rows_of_one_class_give_a_constant() -> None:
    X, y = noisy(50, 3, 0)
    sample = make_sample(X, y)
    plus = np.flatnonzero(y > 0)
    member = boost(sample, plus, Stump(), AdaBoost(), 10, 0)
    assert member.ledger is None
    assert (member.vote.scores(sample.table) == 1).all()


ROWS = 300


@dataclass(frozen=True, eq=False)
class Scripted(Learner):
    """Errs on the points it is told to, and remembers what it was shown."""

    mistakes: list[list[int]]
    shown: list[tuple[NDArray[np.int64], Weights]] = field(default_factory=list)

    def on(self, sample: Sample) -> "ScriptedSearch":
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
