"""Graph separation: pairs that are told apart, round by round, and the table at the end."""

import math
from dataclasses import dataclass
from itertools import islice

import numpy as np
import pytest
from hypothesis import given

from pacboost.boosters.graph_separation import GraphSeparation, PairState
from pacboost.bounds.training import training_error
from pacboost.errors import ParameterError
from pacboost.learners.stump import Stump
from pacboost.samples.sample import Request, Sample
from pacboost.theory.learners import Adversary
from pacboost.training.run.loop import Run
from pacboost.training.run.stop_reason import Stop
from tests.examples import examples
from tests.grids import each_value
from tests.training.run.prefixes import class_samples
from tests.worlds import make_sample, noisy, small_samples


def pairs_left(run: Run) -> float:
    """Count pairs of opposite rows that no rule told apart, one by one."""
    signs = run.sample.signs[:, 0]
    base = np.broadcast_to(run.sample.base, signs.shape) / run.sample.base.min()
    answers_by_hand = [
        np.sign(d.hypothesis.values[d.hypothesis.cells(run.sample), 0]) for d in run.done
    ]
    same = np.ones((signs.size, signs.size), dtype=bool)
    for column in answers_by_hand:
        same &= column[:, None] == column
    opposite = (signs[:, None] > 0) & (signs < 0)
    return float((np.outer(base, base) * (same & opposite)).sum())


def separate(rules: GraphSeparation, edge: float, order: str) -> Run:
    """Let an adversary be boosted until the pairs must be gone."""
    run = Run(make_sample(*noisy(300, 2, seed=2)), Adversary(edge, order), rules, seed=7)
    list(islice(run, math.floor(math.log(300**2 / 4) / edge) + 1))
    return run


@each_value
@pytest.mark.parametrize("order", ["random", "heavy", "light"])
@pytest.mark.parametrize("edge", [0.05, 0.1, 0.2, 0.5])
def test_so_many_rounds_leave_no_mixed_pattern(edge: float, order: str) -> None:
    run = separate(GraphSeparation(), edge, order)
    assert run.stopped is not None
    assert run.stopped.kind is Stop.BOOSTER
    assert run.state.pairs == 0
    assert run.done[-1].entry.training_error == 0
    assert pairs_left(run) == 0


@given(small_samples())
@examples(60)
def test_every_rule_tells_its_share_of_the_pairs_apart(sample: Sample) -> None:
    """Also with weights, where a pair counts by the product of its rows'."""
    if abs(int(sample.signs.sum())) == sample.n_rows:
        return
    run = Run(sample, Stump(), GraphSeparation())
    before = pairs_left(run)
    for done in islice(run, 20):
        now = pairs_left(run)
        assert now == pytest.approx(run.state.pairs)
        if len(run.done) > 1 or done.entry.number == 1:
            assert now <= (1 - done.entry.edge) * before * (1 + 1e-9)
        before = now
        entry = done.entry
        assert entry.training_error <= training_error(run.ledger()).value


@dataclass(frozen=True)
class Careless(GraphSeparation):
    """Weigh all rows alike for ever."""

    def request(self, state: PairState) -> Request:
        weights = np.full(state.signs.shape, 1000, dtype=np.int64)
        return Request(weights, state.signs, weights.size * 1000, weights.size * 1000, "error")


def test_equal_weights_are_caught() -> None:
    """Rules that are right on the same rows again and again tell no more pairs apart."""
    run = Run(make_sample(*noisy(300, 2, seed=2)), Adversary(0.2, "light"), Careless(), seed=7)
    list(islice(run, 60))
    with pytest.raises(AssertionError):
        assert pairs_left(run) == 0


def test_the_table_answers_as_the_margins_say() -> None:
    X, signs = noisy(200, 3, seed=4)
    run = Run(make_sample(X, signs), Stump(), GraphSeparation())
    list(islice(run, 6))
    scores = run.vote().scores(run.sample.table)
    assert (scores * signs == run.margins[:, 0]).all()
    assert 0 < run.done[-1].entry.training_error == (scores * signs <= 0).mean()


def test_weights_are_as_good_as_repeated_rows() -> None:
    X, signs = noisy(80, 3, seed=4)
    counts = np.random.default_rng(0).integers(1, 5, size=80)
    weighted = Run(make_sample(X, signs, np.asarray(counts * 0.1)), Stump(), GraphSeparation())
    repeated = Run(
        make_sample(X.repeat(counts, 0), signs.repeat(counts)), Stump(), GraphSeparation()
    )
    for mine, theirs in islice(zip(weighted, repeated, strict=True), 12):
        assert mine.entry.edge == theirs.entry.edge
        assert mine.hypothesis == theirs.hypothesis
    assert (weighted.margins[:, 0].repeat(counts) == repeated.margins[:, 0]).all()


@given(class_samples())
@examples(10)
def test_more_than_two_classes_are_refused(sample: Sample) -> None:
    if sample.signs.shape[1] > 1:
        with pytest.raises(ParameterError, match="OneVsRestClassifier"):
            Run(sample, Stump(), GraphSeparation())
