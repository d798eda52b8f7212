"""LogitBoost beside the paper's algorithms 3 and 6, transcribed here for given cells."""

import math
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from pacboost import BoostClassifier
from pacboost.boosters.logit import MAX_STEP, Logit
from pacboost.learners.learner import Learner
from pacboost.learners.stump import Stump
from pacboost.learners.tree import Tree
from pacboost.numerics.exact import FRESH_TOTAL
from pacboost.samples.sample import Sample
from pacboost.training.run.loop import Run
from tests.examples import examples
from tests.grids import each_value
from tests.training.run.prefixes import class_samples, sample_of, shares
from tests.worlds import noisy

Floats = NDArray[np.float64]
LEARNERS: list[Learner] = [Stump(), Tree(max_leaves=5, min_leaf_rows=3)]


def regress(cells: NDArray[Any], count: int, z: Floats, w: Floats, most: float) -> Floats:
    """Weighted least squares of z by a function that is constant on cells."""
    means = [np.average(z[cells == c], weights=w[cells == c]) for c in range(count)]
    return np.asarray(np.clip(means, -most, most))


@dataclass
class AlgorithmThree:
    """Two classes: y* in {0, 1}, F = 0 and p = 1/2 to start with."""

    second: Floats
    base: Floats
    most_target: float
    scores: Floats = field(init=False)

    def __post_init__(self) -> None:
        self.scores = np.zeros(self.second.size)

    def round(self, cells: NDArray[Any], count: int) -> tuple[Floats, Floats]:
        p = 1 / (1 + np.exp(-2 * self.scores))
        w = p * (1 - p)
        z = np.clip((self.second - p) / w, -self.most_target, self.most_target)
        f = regress(cells, count, z, w * self.base, MAX_STEP)
        self.scores += f[cells] / 2
        return f[:, None] / 2, w[:, None]


@dataclass
class AlgorithmSix:
    """K classes: y* a matrix of indicators, all F = 0 and all p = 1/K to start with."""

    own: Floats
    base: Floats
    most_target: float
    scores: Floats = field(init=False)

    def __post_init__(self) -> None:
        self.scores = np.zeros(self.own.shape)

    def round(self, cells: NDArray[Any], count: int) -> tuple[Floats, Floats]:
        classes = self.own.shape[1]
        p = np.exp(self.scores) / np.exp(self.scores).sum(axis=1, keepdims=True)
        w = p * (1 - p)
        z = np.clip((self.own - p) / w, -self.most_target, self.most_target)
        columns = [
            regress(cells, count, z[:, j], w[:, j] * self.base, max(MAX_STEP, classes))
            for j in range(classes)
        ]
        f = np.stack(columns, axis=1)
        f = (classes - 1) / classes * (f - f.mean(axis=1, keepdims=True))
        self.scores += f[cells]
        return f, w


def clusters(rows: int, classes: int, seed: int) -> Sample:
    """Overlapping classes, so that no probability comes near 0 or 1 in a few rounds."""
    generator = np.random.default_rng(seed)
    labels = generator.integers(classes, size=rows)
    X = generator.normal(size=(rows, 3)) + 0.4 * labels[:, None]
    base = generator.uniform(0.5, 2.0, rows) if seed % 2 else None
    return sample_of(X, labels, classes, base)


@each_value
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize("most_target", [4.0, math.inf])
@pytest.mark.parametrize("learner", LEARNERS, ids=["stump", "tree"])
def test_equals_the_papers_algorithm(
    seed: int, classes: int, most_target: float, learner: Learner
) -> None:
    sample = clusters(300, classes, seed)
    booster = Logit(max_target=most_target)
    run = Run(sample, learner, booster)
    part = (sample.signs > 0).astype(float)
    base = np.broadcast_to(sample.base, (300,))
    paper = (
        AlgorithmThree(part[:, 0], base, most_target)
        if classes == 2
        else AlgorithmSix(part, base, most_target)
    )
    first = shares(sample)[:, None] * FRESH_TOTAL / sample.signs.shape[1]
    for _ in range(8):
        weights = booster.request(run.state).weights.copy()
        done = next(iter(run))
        values, curve = paper.round(done.hypothesis.cells(sample), len(done.hypothesis.values))
        assert weights == pytest.approx(curve * first, rel=1e-9, abs=1.0)
        assert done.hypothesis.values == pytest.approx(values, abs=1e-9)
        scores = run.vote().scores(sample.table)
        assert scores == pytest.approx(paper.scores, abs=1e-9)


@given(class_samples(st.integers(2, 5)), st.sampled_from([0.5, 3.0, 100.0]))
@examples(40)
def test_l2_is_counted_in_rows(sample: Sample, l2: float) -> None:
    """The first cells add Σ(y* - p) / (Σ p(1 - p) + l2·4p(1 - p))."""
    sample = replace(sample, base=np.ones(1))
    done = next(iter(Run(sample, Tree(max_leaves=3, min_leaf_rows=1), Logit(l2=l2))), None)
    if done is None:
        return
    outputs = sample.signs.shape[1]
    p = 1 / 2 if outputs == 1 else 1 / outputs
    gaps = (sample.signs > 0) - p
    cells = done.hypothesis.cells(sample)
    for cell, values in enumerate(done.hypothesis.values):
        inside = cells == cell
        mean = gaps[inside].sum(axis=0) / ((inside.sum() + 4 * l2) * p * (1 - p))
        if outputs == 1:
            assert values == pytest.approx(mean / 2, abs=1e-9)
        else:
            step = (outputs - 1) / outputs * (mean - mean.mean())
            assert values == pytest.approx(step, abs=1e-9)


@each_value
@pytest.mark.parametrize("classes", [2, 3, 6])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("most_target", [4.0, math.inf])
def test_the_prior_gives_the_shares_of_the_classes(
    classes: int, weighted: bool, most_target: float
) -> None:
    generator = np.random.default_rng(classes)
    labels = np.minimum(generator.geometric(0.4, size=300) - 1, classes - 1)
    X, base = generator.normal(size=(300, 2)), generator.uniform(0.2, 4.0, 300)
    booster = Logit(0.1, max_target=most_target, prior=True)
    model = BoostClassifier(booster, callbacks=[lambda _: True])  # one round
    model.fit(X, labels, sample_weight=base if weighted else None)
    share = np.bincount(labels, base if weighted else None) / (base.sum() if weighted else 300)
    assert model.predict_proba(X[:1])[0] == pytest.approx(share, abs=1e-9)


@pytest.mark.parametrize("classes", [2, 3])
def test_where_classes_are_equally_large_the_first_tree_is_an_ordinary_one(classes: int) -> None:
    """The prior has nothing to say, and the learning rate holds from the first round on."""
    X = np.random.default_rng(0).normal(size=(60, 2))
    labels = np.arange(60) % classes
    tree = Tree(max_leaves=4, min_leaf_rows=5)
    with_prior, without = (
        next(iter(Run(sample_of(X, labels, classes), tree, Logit(0.01, prior=prior)))).hypothesis
        for prior in (True, False)
    )
    assert (with_prior.values == without.values).all()


def test_targets_of_far_rows_do_not_run_away() -> None:
    """Rows deep on the wrong side ask for 1/p; the cell's mean is held to 8, or to K."""
    signs = np.ones((50, 1), dtype=np.int8)
    booster = Logit()
    state = booster.resume(booster.init(signs, np.ones(1)), np.full((50, 1), -12.0), [1.0], [])
    request = booster.request(state)
    assert (request.pulls > 1000 * request.weights).all()
    limited = booster.resume(Logit(max_target=4).init(signs, np.ones(1)), state.margins, [1.0], [])
    limited = Logit(max_target=4).resume(limited, state.margins, [], [])
    ratio = limited.pulls / limited.weights
    assert ratio == pytest.approx(np.full((50, 1), 4.0), rel=1e-3)


@given(class_samples(), st.sampled_from([0.05, 1.0]))
@examples(40)
def test_probabilities_and_pulls_sum_to_nothing(sample: Sample, rate: float) -> None:
    """For each row Σ_k (y*_k - p_k) = 0, to the rounding of whole numbers."""
    booster = Logit(rate)
    run = Run(sample, Tree(max_leaves=4, min_leaf_rows=1), booster)
    list(islice(run, 6))
    request = booster.request(run.state)
    assert request.weight == max(1, int(request.weights.sum()))
    assert request.pull == max(1, int(np.abs(request.pulls).sum()))
    assert request.weight <= FRESH_TOTAL
    assert request.pull <= 2 * FRESH_TOTAL
    assert (request.weights >= 0).all()
    assert (request.pulls * sample.signs >= 0).all()
    if sample.signs.shape[1] > 1:
        assert (np.abs(request.pulls.sum(axis=1)) <= sample.signs.shape[1]).all()


def test_two_classes_equal_softmax_of_two_scores() -> None:
    """Algorithm 6 with K = 2 is algorithm 3: p = softmax(F, -F) = 1/(1 + exp(-2F))."""
    X, signs = noisy(200, 3, seed=3)
    labels = (signs > 0).astype(np.int64)
    run = Run(sample_of(X, labels, 2), Stump(), Logit())
    table = run.sample
    six = AlgorithmSix(np.eye(2)[labels], np.ones(200), math.inf)
    for done in islice(run, 10):
        six.round(done.hypothesis.cells(table), len(done.hypothesis.values))
        assert run.vote().scores(table.table) == pytest.approx(six.scores[:, 1], abs=1e-9)
