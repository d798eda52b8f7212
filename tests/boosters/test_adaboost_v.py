"""AdaBoostV: the largest margin within the tolerance, in the promised rounds."""

from __future__ import annotations

import math
from itertools import islice

import numpy as np
import pytest

from pacboost.boosters.adaboost import ExponentialState
from pacboost.boosters.booster import Measured
from pacboost.boosters.maximal_margin import AdaBoostV
from pacboost.estimators.boosting.boost import BoostClassifier
from pacboost.learners.stump import Stump
from pacboost.numerics.exact import MOST_VOTE
from pacboost.theory.learners import Adversary
from pacboost.training.run.loop import Run
from tests.boosters.largest_margin import all_stumps, largest_margin, small_set
from tests.worlds import make_sample, noisy


@pytest.mark.parametrize("order", ["random", "heavy", "light"])
@pytest.mark.parametrize(("edge", "tolerance"), [(0.1, 0.15), (0.2, 0.1), (0.4, 0.1), (0.6, 0.3)])
def test_in_the_promised_rounds_all_rows_have_the_margin(
    edge: float, tolerance: float, order: str
) -> None:
    X, signs = noisy(300, 2, seed=2)
    rules = AdaBoostV(tolerance)
    run = Run(make_sample(X, signs), Adversary(edge, order), rules, seed=7)
    rounds = len(list(islice(run, math.ceil(rules.most_rounds(300)))))
    assert run.stopped.startswith("the margin is") or rounds >= rules.most_rounds(300)
    last = run.done[-1].entry
    least = min(done.entry.edge for done in run.done)
    assert least >= edge - 1e-9
    assert last.margin is not None
    assert last.gap is not None
    assert last.margin >= least - tolerance
    assert last.gap <= tolerance
    assert (run.margins[:, 0] >= (edge - tolerance - 1e-9) * rules.votes(run.state).sum()).all()


@pytest.mark.parametrize("seed", range(10))
def test_within_the_tolerance_of_a_linear_program(seed: int) -> None:
    X, signs = small_set(seed)
    best = largest_margin(signs[:, None] * all_stumps(X))
    rules = AdaBoostV(0.05)
    run = Run(make_sample(X, signs), Stump(), rules)
    list(islice(run, math.ceil(rules.most_rounds(len(X)))))
    last = run.done[-1].entry
    assert last.margin is not None
    assert best - 0.05 - 1e-9 <= last.margin <= best + 1e-9
    assert last.gap is not None
    assert last.gap >= best - last.margin - 1e-9  # what is said to be missing is no less
    if run.stopped.startswith("a rule without mistakes"):
        assert best == pytest.approx(1)


def test_a_tolerance_counted_twice_is_caught() -> None:
    """A goal of 2ν below the least edge, as if edges were advantages, loses the theorem."""

    class Twice(AdaBoostV):
        def goal(self, state: ExponentialState, edge: float) -> float:
            return min(state.extra[0], edge) - 2 * self.tolerance

        def stop(self, state: ExponentialState) -> None:
            return None

    X, signs = noisy(300, 2, seed=2)
    run = Run(make_sample(X, signs), Adversary(0.4), Twice(0.1), seed=7)
    list(islice(run, math.ceil(Twice(0.1).most_rounds(300))))
    with pytest.raises(AssertionError):
        assert run.done[-1].entry.margin >= 0.4 - 0.1  # type: ignore[operator]


def test_a_rule_without_mistakes_stands_alone() -> None:
    rules = AdaBoostV()
    state = rules.init(np.ones((3, 1), dtype=np.int8), np.ones(1))
    state = rules.step(state, np.ones((3, 1), dtype=np.int8), Measured(3, 0))
    assert 0 < rules.last_vote(state) < MOST_VOTE
    assert rules.margin(state) == 1


def test_by_name_with_early_stopping_and_many_classes() -> None:
    generator = np.random.default_rng(3)
    X = generator.normal(size=(300, 4))
    y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5)
    model = BoostClassifier(
        "adaboost_v", "stump", n_estimators=60, early_stopping=True, random_state=1
    )
    model.fit(X, y)
    entries = model.ledger_.rounds
    assert all(entry.validation is not None and entry.margin is not None for entry in entries)
    assert model.score(X, y) > 0.7
    assert model.certificate_.value >= entries[-1].training_error
