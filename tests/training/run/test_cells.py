"""Cells that get values: the potential falls as recorded, and bounds the training error."""

import math
from itertools import islice
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

from pacboost.boosters import AdaBoost, Gentle, Logit, Mada
from pacboost.boosters.booster import Booster, Moved
from pacboost.bounds.training import product_bound
from pacboost.learners import SklearnLearner, Stump, Tree
from pacboost.learners.learner import Learner
from pacboost.samples.sample import Sample
from pacboost.theory.learners import Adversary
from pacboost.training.run.loop import Run
from pacboost.training.run.stop_reason import Stop, StopReason
from tests.examples import examples
from tests.grids import each_value, one_in
from tests.training.run.prefixes import (
    BOOSTERS,
    check_every_prefix,
    class_samples,
    sample_of,
    shares,
)
from tests.worlds import noisy

MANY = examples(30)
LEARNERS: list[Learner] = [
    Stump(),
    Tree(max_leaves=4, min_leaf_rows=1),
    Tree(max_leaves=3, min_leaf_rows=2, max_features=0.5),
    SklearnLearner(DecisionTreeClassifier(max_depth=2)),
    Adversary(0.2),
    Adversary(0.3, "heavy"),
]
TWO = st.just(2)


@given(class_samples(TWO), st.sampled_from(BOOSTERS), st.sampled_from(LEARNERS))
@MANY
def test_every_prefix(sample: Sample, booster: Booster[Any], learner: Learner) -> None:
    check_every_prefix(Run(sample, learner, booster, seed=3), 12)


@given(class_samples(TWO), st.sampled_from(BOOSTERS), st.sampled_from([0.3, 0.8]))
@MANY
def test_every_prefix_where_the_learner_sees_some_rows(
    sample: Sample, booster: Booster[Any], share: float
) -> None:
    tree = Tree(max_leaves=4, min_leaf_rows=1)
    check_every_prefix(Run(sample, tree, booster, seed=3, subsample=share), 12)


@pytest.mark.parametrize(
    "booster", [AdaBoost(10.0, confidence_rated=True, smoothing=0.0), Gentle(10.0), Gentle(1000.0),
                Logit(10.0), Logit(100.0), Mada(10.0)],
    ids=lambda b: f"{b.name}-{b.learning_rate:g}",
)  # fmt: skip
def test_large_steps_neither_overflow_nor_break_the_bound(booster: Booster[Any]) -> None:
    """Also where all rows are soon far from the border, and where votes throw them back."""
    for noise in (0.0, 0.3):
        X, signs = noisy(60, 3, seed=1, noise=noise)
        labels = (signs > 0).astype(np.int64)
        run = Run(sample_of(X, labels, 2), Tree(max_leaves=4, min_leaf_rows=1), booster)
        check_every_prefix(run, 40)


WEIGHED = ("exponential", "weight", "projected")


@one_in(3)
@pytest.mark.parametrize("booster", [b for b in BOOSTERS if b.potential in WEIGHED], ids=str)
def test_a_booster_that_forgets_to_weigh_anew_is_caught(booster: Booster[Any]) -> None:
    kind: Any = type(booster)

    class Forgetful(kind):  # type: ignore[misc]
        def move(self, state: Any, moved: Moved) -> Any:
            weights, total = state.weights.copy(), state.total
            after = super().move(state, moved)
            after.weights[:] = weights
            return type(after)(**{**after.__dict__, "total": total})

    X, signs = noisy(80, 3, seed=2)
    sample = sample_of(X, (signs > 0).astype(np.int64), 2)
    forgetful = Forgetful(**booster.__dict__)
    with pytest.raises(AssertionError):
        check_every_prefix(Run(sample, Tree(max_leaves=4, min_leaf_rows=5), forgetful), 8)


# -- confidence-rated votes, cell by cell


def distribution(sample: Sample, scores: np.ndarray) -> np.ndarray:
    logs = np.log(shares(sample))[:, None] - sample.signs * scores
    weights = np.exp(logs - logs.max())
    return np.asarray(weights / weights.sum())


@given(class_samples(), st.sampled_from([0.0, 0.5, 2.0]), st.sampled_from([1.0, 0.3]))
@MANY
def test_votes_of_cells(sample: Sample, smoothing: float, rate: float) -> None:
    """c_j = ½ ln((W₊ + s)/(W₋ + s)); without s and learning_rate, Z = 2 Σ √(W₊W₋) and the cell's
    correlation under D_{t+1} is 0 (where both signs occur: else the vote is capped)."""
    booster = AdaBoost(rate, confidence_rated=True, smoothing=smoothing)
    run = Run(sample, Tree(max_leaves=4, min_leaf_rows=1), booster)
    scores = np.zeros(sample.signs.shape)
    s = smoothing / sample.signs.size
    for done in islice(run, 6):
        before, cells = distribution(sample, scores), done.hypothesis.cells(sample)
        scores += done.hypothesis.values[cells]
        after = distribution(sample, scores)
        z, whole = 0.0, True
        for cell, values in enumerate(done.hypothesis.values):
            inside = (cells == cell)[:, None]
            plus = (before * (inside & (sample.signs > 0))).sum(axis=0)
            minus = (before * (inside & (sample.signs < 0))).sum(axis=0)
            both = np.minimum(plus, minus) > 1e-6
            whole &= bool((both | (plus + minus < 1e-15)).all())
            z += 2 * float(np.sqrt(plus * minus).sum())
            if smoothing or both.all():
                wanted = rate * 0.5 * np.log((plus + s) / (minus + s))
                assert values == pytest.approx(wanted, abs=1e-7)
            if smoothing == 0 and rate == 1:
                left = (after * inside * sample.signs).sum(axis=0)[both]
                assert left == pytest.approx(np.zeros(left.size), abs=1e-9)
        if smoothing == 0 and rate == 1 and whole:
            assert done.entry.normaliser == pytest.approx(z, rel=1e-9)


def test_a_vote_of_its_own_beats_one_vote_for_all() -> None:
    """For the same cells, minimising Z in each gives no larger Z than one vote for the rule."""
    X, signs = noisy(300, 3, seed=4)
    sample = sample_of(X, (signs > 0).astype(np.int64), 2)
    tree = Tree(max_leaves=6, criterion="z")
    own = next(iter(Run(sample, tree, AdaBoost(confidence_rated=True, smoothing=0.0))))
    one = next(iter(Run(sample, tree, AdaBoost())))
    assert (own.hypothesis.cells(sample) == one.hypothesis.cells(sample)).all()
    assert own.entry.normaliser < one.entry.normaliser
    assert one.entry.normaliser <= math.sqrt(1 - one.entry.edge**2) + 1e-9


# -- the ends of the range


SEPARABLE: list[Booster[Any]] = [
    AdaBoost(10.0, confidence_rated=True), AdaBoost(10.0), Gentle(10.0), Logit(10.0), Mada(10.0),
    AdaBoost(), Gentle(), Logit(), Mada(),
]  # fmt: skip


@each_value
@pytest.mark.parametrize("booster", SEPARABLE, ids=lambda b: f"{b.name}-{b.learning_rate:g}")
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("rounds", [200, pytest.param(2000, marks=pytest.mark.slow)])
def test_separable_rows(booster: Booster[Any], classes: int, rounds: int) -> None:
    """Every total in range and every number finite, while margins grow without end."""
    generator = np.random.default_rng(1)
    X = generator.normal(size=(40, 2))
    labels = np.digitize(X[:, 0], [-0.4, 0.4][: classes - 1])
    run = Run(sample_of(X, labels, classes), Tree(max_leaves=3, min_leaf_rows=1), booster)
    list(islice(run, rounds))
    ledger = run.ledger()
    assert ledger.rounds[-1].training_error == 0
    assert all(0 < e.weight <= 2**53 for e in ledger.rounds)
    assert all(math.isfinite(e.normaliser) and e.normaliser > 0 for e in ledger.rounds)
    assert len(ledger) == rounds or run.stopped
    assert product_bound(ledger) >= 0
    assert ledger.to_json()


@pytest.mark.parametrize("seed", [4, 297, 353])
def test_a_rule_without_mistakes_ends_a_run_only_if_the_vote_makes_none_either(seed: int) -> None:
    """MadaBoost's largest vote is 1/e: earlier rounds may outvote it for a while."""
    generator = np.random.default_rng(seed)
    rows = int(generator.integers(6, 20))
    X = generator.integers(4, size=(rows, 3)).astype(float)
    labels = generator.integers(int(generator.integers(2, 4)), size=rows)
    run = Run(sample_of(X, labels, 2), Tree(max_leaves=5, min_leaf_rows=1), Mada())
    ledger = check_every_prefix(run, 100)
    assert ledger.rounds[-1].error == 0
    assert ledger.rounds[-1].training_error == 0
    assert "without mistakes" in str(run.stopped)
    assert len(ledger) > 3


@pytest.mark.parametrize("classes", [2, 3])
def test_a_black_box_is_not_asked_when_no_row_pulls_any_more(classes: int) -> None:
    X = np.random.default_rng(1).normal(size=(40, 2))
    labels = np.digitize(X[:, 0], [-0.4, 0.4][: classes - 1])
    learner = SklearnLearner(DecisionTreeClassifier())
    run = Run(sample_of(X, labels, classes), learner, Logit())
    ledger = check_every_prefix(run, 100)
    assert run.stopped == StopReason(Stop.NO_EDGE)
    assert ledger.rounds[-1].training_error == 0


@given(
    st.integers(0, 10**6),
    st.sampled_from([AdaBoost(), AdaBoost(confidence_rated=True), Gentle(), Logit(), Mada()]),
    st.sampled_from([1.0, 10.0]),
    st.integers(2, 4),
)
@examples(40)
def test_weights_over_three_hundred_decades(
    seed: int, booster: Booster[Any], rate: float, classes: int
) -> None:
    """The record of mistakes never exceeds the bound, also where rows count almost nothing."""
    generator = np.random.default_rng(seed)
    X = generator.integers(3, size=(60, 2)).astype(float)
    labels = generator.integers(classes, size=60)
    base = np.maximum(10.0 ** generator.uniform(-300, 0, size=60), 1e-305)
    booster = type(booster)(**{**booster.__dict__, "learning_rate": rate})
    run = Run(sample_of(X, labels, classes, base), Tree(max_leaves=5, min_leaf_rows=0), booster)
    check_every_prefix(run, 30)
