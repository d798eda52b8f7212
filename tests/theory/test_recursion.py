"""Schapire's recursion reaches epsilon by rules no better than promised, from three oracles."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chisquare

from pacboost.hypotheses.decision import Decision
from pacboost.hypotheses.function import Function
from pacboost.hypotheses.hypothesis import Hypothesis
from pacboost.hypotheses.three import Three
from pacboost.hypotheses.vote import Vote
from pacboost.learners.learner import Weights
from pacboost.numerics.growth import majority_error
from pacboost.samples.sample import Sample
from pacboost.sources.oracles.arrays import ArrayOracle
from pacboost.sources.oracles.stream import StreamOracle
from pacboost.theory.recursion import TESTED_EDGE_SHARE, BoundedRule, Node, Recursion
from pacboost.theory.three_oracles import Disagreements, Halves, Oracle, RanOut, Source, wrong
from pacboost.training.filtering.plan import MeanTest
from pacboost.training.filtering.rows import CodedBatch, RowEncoder
from tests.bounds.coverage import check_coverage, check_rejected
from tests.grids import each_value
from tests.theory.points import Careless, CarelessSearch, recursion, risk

RUNS = 10


@pytest.mark.parametrize(
    ("edge", "epsilon", "share"),
    [(0.6, 0.1, 1.0), (0.4, 0.15, 1.0), (0.7, 0.05, 1.0), (0.6, 0.3, 1.0), (0.6, 0.1, 0.9)],
)
def test_reaches_epsilon_by_rules_of_the_promised_edge_or_a_little_less(
    edge: float, epsilon: float, share: float
) -> None:
    run = recursion(Careless(share * edge), edge, epsilon, seed=1)
    rule = run.run()
    assert rule is not None
    assert run.record.stopped == ""
    assert risk(rule) <= epsilon
    assert risk(rule) < (1 - edge) / 2 or run.record.levels == 0
    assert run.record.again == 0


def test_promise_is_kept_run_after_run() -> None:
    failed = 0
    for seed in range(RUNS):
        run = recursion(Careless(0.6), 0.6, 0.1, seed)
        rule = run.run()
        assert rule is not None
        failed += bool(run.record.stopped) or risk(rule) > 0.1
    check_coverage("three oracles, recursion to 0.1", failed, RUNS, 0.05)


class Stubborn(Recursion):
    """The broken twin: takes the learner at its word, and returns no rule early."""

    def _errs_little(self, test: Any, *others: Any) -> bool:  # type: ignore[override]
        return len(others) > 3  # only tests of weak rules pass


def test_trusting_the_learner_is_found_out() -> None:
    failed = 0
    for seed in range(RUNS):
        rule = recursion(Careless(0.3), 0.6, 0.1, seed, kind=Stubborn).run()
        assert rule is not None
        failed += risk(rule) > 0.1
    check_rejected("three oracles, weak rules not tested", failed, RUNS, 0.05)


@pytest.mark.parametrize("given", [0.0, 0.2, 0.3])
def test_an_edge_larger_than_the_learner_gives_stops_with_the_measured_one(given: float) -> None:
    run = recursion(Careless(given), 0.6, 0.1, seed=2)
    rule = run.run()
    assert rule is not None  # the best there is
    assert run.record.measured_edge == pytest.approx(given, abs=0.1)
    assert "promised an edge of 0.6" in run.record.stopped
    assert "for the source" in run.record.stopped


def test_a_strong_learner_is_returned_at_once() -> None:
    run = recursion(Careless(1.0), 0.4, 0.05, seed=4)
    rule = run.run()
    assert rule is not None
    assert not isinstance(rule, Three)
    assert risk(rule) == 0
    assert {node.returned for node in run.record.nodes} == {"a weak rule", "the first"}
    assert run.record.draws < 5000


def test_record_shows_every_call() -> None:
    run = recursion(Careless(0.4), 0.4, 0.15, seed=5)
    run.run()
    record = run.record
    assert record.levels == 3
    assert record.targets[0] >= (1 - TESTED_EDGE_SHARE * 0.4) / 2
    assert sum(node.draws for node in record.nodes if node.path == "") == record.draws
    by_path: dict[str, Node] = {node.path: node for node in record.nodes}
    for path, node in by_path.items():
        assert node.level == record.levels - len(path)
        assert node.upper <= node.target + 1e-15
        if node.returned == "the majority":
            assert node.part is not None
            assert majority_error(node.part) == pytest.approx(node.target)
            assert all(by_path[path + k].level == node.level - 1 for k in "123")


class Budget(Recursion):
    """Writes down what every test may fail with."""

    spent: list[float]

    def _errs_little(self, test: MeanTest, *others: Any) -> bool:  # type: ignore[override]
        self.spent.append(test.delta)
        if len(others) == 3:  # a test for an early return: never, so that all calls are made
            super()._errs_little(test, *others)
            return False
        return super()._errs_little(test, *others)

    def _learn(self, level: int, delta: float, oracle: Oracle, path: str) -> BoundedRule:
        if level:
            self.spent.append(delta / 10)  # the watch over the third oracle
        return super()._learn(level, delta, oracle, path)


def test_all_tests_together_fail_with_delta_at_most() -> None:
    run = recursion(Careless(0.6), 0.6, 0.1, seed=6, kind=Budget)
    assert isinstance(run, Budget)
    run.spent = []
    run.run()
    assert len(run.spent) > 15
    assert 0.02 < math.fsum(run.spent) <= 0.05


def test_a_filter_that_looks_for_mistakes_in_vain_ends_the_call() -> None:
    """Nothing is returned early, so the filters have to find out that there is nothing."""
    run = recursion(Careless(1.0), 0.4, 0.1, seed=9, kind=Stubborn)
    rule = run.run()
    assert rule is not None
    assert not run.record.stopped
    assert risk(rule) == 0
    assert {node.returned for node in run.record.nodes} == {"a weak rule", "the first"}


class Repeating(Careless):
    """Has one rule only, whatever it is shown."""

    def on(self, sample: Sample) -> CarelessSearch:
        return RepeatingSearch(sample, self.edge)


class RepeatingSearch(CarelessSearch):
    def find(self, weights: Weights, answers: NDArray[np.int8], seed: int) -> Function:
        return super().find(weights, answers, 0)


def test_a_filter_that_looks_for_quarrels_in_vain_ends_the_call() -> None:
    run = recursion(Repeating(0.6), 0.6, 0.1, seed=9, kind=Stubborn)
    run.run()
    assert "a test has failed" in run.record.stopped
    assert not run.ran_out
    honest = recursion(Repeating(0.6), 0.6, 0.1, seed=9)  # the second rule is no better than a coin
    honest.run()
    assert honest.record.measured_edge == pytest.approx(0, abs=0.1)
    assert "(h2 of h1)" in honest.record.stopped


def test_best_rule_so_far_is_kept_when_examples_run_out() -> None:
    run = recursion(Careless(0.4), 0.4, 0.05, seed=8)
    run._source._max_draws = 30_000
    rule: Hypothesis | None = run.run()
    assert rule is not None
    assert "30,000 examples are used up" in run.record.stopped
    assert run.ran_out
    best = max(
        (node for node in run.record.nodes if set(node.path) <= {"1"}), key=lambda node: node.level
    )
    assert risk(rule) <= best.upper


SIZE = 12
ROWS = np.arange(SIZE, dtype=np.float64)[:, None]
CLASSES = np.array([-1, 1])
TRUTH = np.where(np.arange(SIZE) % 3 == 0, 1, -1)


def rule(mistakes: list[int]) -> Function:
    """A rule that errs on these points."""
    answers = TRUTH.copy()
    answers[mistakes] *= -1
    return Function(lambda X: answers[X[:, 0].astype(int)], str(mistakes))


def source(*, replace: bool = True, **options: Any) -> Source:
    """Points drawn evenly, without end."""
    oracle = ArrayOracle(ROWS, TRUTH, 0, replace=replace)
    return Source(oracle, RowEncoder(CLASSES, None), **options)


def points(examples: CodedBatch) -> NDArray[np.int64]:
    return examples.table.rows()[:, 0].astype(np.int64)


def ignore(wanted: NDArray[np.bool_]) -> None:
    """Watch nothing."""


def fits(drawn: NDArray[np.int64], expected: NDArray[np.float64]) -> bool:
    counts = np.bincount(drawn, minlength=SIZE)
    assert (counts[expected == 0] == 0).all()
    used = expected > 0
    return bool(chisquare(counts[used], expected[used] / expected.sum() * drawn.size).pvalue > 1e-4)


def draws(oracle: Halves | Disagreements, sizes: list[int]) -> NDArray[np.int64]:
    return np.concatenate([points(oracle.draw(size)) for size in sizes])


@each_value
@pytest.mark.parametrize("sizes", [[20_000], [1] * 1000, [7, 900] * 20])
@pytest.mark.parametrize("mistakes", [[3], [0, 1, 2, 3, 4]])
def test_half_of_the_second_oracle_is_wrong(mistakes: list[int], sizes: list[int]) -> None:
    drawn = draws(Halves(source(), rule(mistakes), 1, ignore), sizes)
    halves = np.where(np.isin(np.arange(SIZE), mistakes), 0.5 / len(mistakes), 0.0)
    halves[halves == 0] = 0.5 / (SIZE - len(mistakes))
    assert fits(drawn, halves)


def test_examples_of_the_second_oracle_do_not_hang_together() -> None:
    drawn = draws(Halves(source(), rule([3, 7]), 1, ignore), [30_000])
    bad = np.isin(drawn, [3, 7])
    pairs = np.bincount(2 * bad[:-1] + bad[1:], minlength=4)
    assert chisquare(pairs).pvalue > 1e-4


def test_the_judge_rejects_a_filter_without_coins() -> None:
    """The broken twin: draws that are not filtered are wrong less often than half of the time."""
    assert not fits(points(source().draw(20_000)), np.where(np.arange(SIZE) == 3, 0.5, 0.5 / 11))


@pytest.mark.parametrize("sizes", [[5000], [1] * 1000])
def test_third_oracle_gives_quarrels(sizes: list[int]) -> None:
    oracle = Disagreements(source(), rule([1, 2, 3]), rule([3, 4]), ignore)
    assert fits(draws(oracle, sizes), np.isin(np.arange(SIZE), [1, 2, 4]).astype(np.float64))


def test_a_rule_that_says_nothing_is_wrong() -> None:
    assert wrong(Decision(Vote([], np.empty(0))), source().draw(5)).all()


def test_rows_that_come_again_are_counted() -> None:
    once = source(replace=False)
    assert sorted(points(once.draw(SIZE)).tolist()) == list(range(SIZE))
    assert (once.draws, once.again) == (SIZE, 0)
    once.draw(2 * SIZE)
    assert (once.draws, once.again) == (3 * SIZE, 2 * SIZE)


def test_spare_rows_follow_the_first_pass() -> None:
    both = source(replace=False, spare=ArrayOracle(ROWS, TRUTH, 0, replace=True))
    drawn = points(both.draw(SIZE + 5000))
    assert sorted(drawn[:SIZE].tolist()) == list(range(SIZE))
    assert (both.draws, both.again) == (SIZE + 5000, 5000)
    assert fits(drawn[SIZE:], np.ones(SIZE))


def test_the_end_of_a_stream_and_of_patience() -> None:
    def batches() -> Iterator[tuple[NDArray[np.float64], NDArray[np.int64]]]:
        yield np.zeros((10, 1)), np.ones(10, dtype=np.int64)

    oracle = StreamOracle(batches(), None, 0)
    ending = Source(oracle, RowEncoder(CLASSES, None))
    with pytest.raises(RanOut, match="ended after 10 examples"):
        ending.draw(11)
    limited = source(max_draws=100)
    limited.draw(100)
    with pytest.raises(RanOut, match="max_draws = 100"):
        limited.draw(1)
