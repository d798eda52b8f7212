"""More than two classes, and several labels: each way's theorem, and what is not one."""

import math
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.ensemble import AdaBoostClassifier as SklearnAdaBoost
from sklearn.tree import DecisionTreeClassifier

from pacboost import AdaBoostClassifier, BoostClassifier
from pacboost.boosters import AdaBoost, Logit
from pacboost.boosters.booster import Booster
from pacboost.bounds.training import product_bound, training_error
from pacboost.errors import NotCertified
from pacboost.learners import SklearnLearner, Stump, Tree
from pacboost.learners.learner import Learner
from pacboost.samples.sample import Sample
from pacboost.training.run.loop import Run
from pacboost.training.run.potentials import POTENTIALS
from tests.examples import examples
from tests.grids import each_value
from tests.training.run.prefixes import (
    BOOSTERS,
    check_every_prefix,
    class_samples,
    sample_of,
    shares,
    wrong,
)

MANY = examples(30)
SOME = st.integers(3, 5)
LEARNERS: list[Learner] = [
    Stump(),
    Tree(max_leaves=4, min_leaf_rows=1),
    Tree(max_leaves=4, min_leaf_rows=1, sketch=1),
    SklearnLearner(DecisionTreeClassifier(max_depth=2)),
]


@given(class_samples(SOME), st.sampled_from(BOOSTERS), st.sampled_from(LEARNERS))
@MANY
def test_every_prefix(sample: Sample, booster: Booster[Any], learner: Learner) -> None:
    ledger = check_every_prefix(Run(sample, learner, booster, seed=3), 12)
    softmax, halved = booster.multiclass == "softmax", POTENTIALS[booster.potential].convex
    pairs = ledger.classes / 2 if halved else ledger.classes
    assert ledger.factor == (math.log2(ledger.classes) if softmax else pairs)


@given(class_samples(SOME), st.sampled_from(["m1", "samme"]), st.sampled_from(LEARNERS))
@MANY
def test_every_prefix_of_rules_that_name_a_class(
    sample: Sample, multiclass: str, learner: Learner
) -> None:
    booster = AdaBoost(multiclass=multiclass, classes=sample.signs.shape[1])
    run = Run(sample, learner, booster, seed=3)
    ledger = check_every_prefix(run, 12, certified=multiclass == "m1")
    assert ledger.factor == 1
    forms = 1.0
    for entry in ledger.rounds:
        forms *= 2 * math.sqrt(entry.error * (1 - entry.error))
        if multiclass == "m1" and entry.error > 0:
            assert entry.error < 0.5
            assert entry.training_error <= forms * (1 + 1e-9)
            more = 0.0
        else:
            more = 0.5 * math.log(sample.signs.shape[1] - 1) if multiclass == "samme" else 0.0
        if entry.error > 0:
            vote = 0.5 * math.log((1 - entry.error) / entry.error) + more
            assert entry.vote == pytest.approx(vote, abs=1e-9)
            assert entry.vote > 0


@given(
    class_samples(st.integers(2, 4), several=True),
    st.sampled_from([b for b in BOOSTERS if b.name != "logit"]),
    st.sampled_from(LEARNERS[:3]),
)
@MANY
def test_several_labels_a_row(sample: Sample, booster: Booster[Any], learner: Learner) -> None:
    """The Hamming loss is at most the product itself."""
    ledger = check_every_prefix(Run(sample, learner, booster, seed=3), 12)
    assert ledger.factor == 1
    assert ledger.several_labels


@given(class_samples(SOME), st.sampled_from(BOOSTERS[:4]))
@MANY
def test_the_hamming_loss_of_single_labels_is_at_most_the_product(
    sample: Sample, booster: Booster[Any]
) -> None:
    """1/K of the pairs of a row may be wrong while its class is right: only K/2 serves for both."""
    run = Run(sample, Tree(max_leaves=4, min_leaf_rows=1), booster)
    ledger = check_every_prefix(run, 10)
    several = replace(sample, labels=None)
    product = 1.0
    for entry, scores in zip(ledger.rounds, run.vote().staged(sample.table), strict=True):
        product *= entry.normaliser
        hamming = float((shares(sample) * wrong(scores, several)).sum())
        assert hamming <= product * (1 + 1e-9)


# -- what is no theorem must be seen to fail


def random_classes(seed: int, classes: int = 6) -> Sample:
    """Classes in stripes along one feature, with noise."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(41, 2))
    stripes = np.digitize(X[:, 0], np.linspace(-1, 1, classes - 1))
    noise = generator.integers(classes, size=41)
    return sample_of(X, np.where(generator.random(41) < 0.7, stripes, noise), classes)


@pytest.mark.parametrize("wrong_factor", [0.5, 1.0])
def test_pairs_without_their_factor_are_caught(wrong_factor: float) -> None:
    caught = 0
    for seed in range(10):
        run = Run(random_classes(seed), Stump(), AdaBoost())
        for done in islice(run, 10):
            ledger = run.ledger()
            assert done.entry.training_error <= product_bound(ledger)
            broken = replace(ledger, factor=wrong_factor)
            caught += done.entry.training_error > product_bound(broken)
    assert caught >= 5


def test_softmax_without_its_start_is_caught() -> None:
    """Of six classes, features tell three pairs apart: at best p(y|x) = 1/2, and all are ties."""
    pair = np.repeat(np.arange(3), 20)
    sample = sample_of(pair[:, None].astype(float), 2 * pair + np.tile([0, 1], 30), 6)
    ledger = check_every_prefix(Run(sample, Tree(min_leaf_rows=1), Logit(0.5)), 20)
    assert ledger.rounds[-1].training_error == 1
    assert product_bound(replace(ledger, factor=1.0)) < 0.5


def test_sammes_own_product_is_no_bound() -> None:
    """Its loss exp(-F_y/(K-1)) bounds P[F_y ≤ 0] only; the factor of a round is known in full."""
    caught = 0
    for seed in range(10):
        sample = random_classes(seed)
        run = Run(sample, Stump(), AdaBoost(multiclass="samme", classes=6))
        product = 1.0
        for done in islice(run, 20):
            error = done.entry.error
            product *= 6 / 5 * error * (5 * (1 - error) / error) ** (1 / 6)
            caught += done.entry.training_error > product
    assert caught >= 20


def test_samme_is_refused_with_the_reason() -> None:
    run = Run(random_classes(1), Stump(), AdaBoost(multiclass="samme", classes=6))
    list(islice(run, 5))
    with pytest.raises(NotCertified, match="multiclass='mh' or 'm1'"):
        training_error(run.ledger())
    model = AdaBoostClassifier(multiclass="samme", n_estimators=5).fit(*load_iris(return_X_y=True))
    with pytest.raises(NotCertified, match="scores more"):
        _ = model.certificate_


# -- scikit-learn's AdaBoost is an independent program


def gaussians(rows: int, classes: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    y = generator.integers(classes, size=rows)
    centres = generator.normal(size=(classes, 4)) * 1.2
    return centres[y] + generator.normal(size=(rows, 4)), y


def iris() -> tuple[np.ndarray, np.ndarray]:
    """Two features of which no two splits are equally good."""
    X, y = load_iris(return_X_y=True)
    return X[:, 1:3], y


DATA = [iris(), *(gaussians(150, k, seed) for k, seed in [(2, 1), (2, 2), (3, 3), (4, 4), (6, 5)])]


@each_value
@pytest.mark.parametrize("data", DATA, ids=["iris", "2a", "2b", "3", "4", "6"])
@pytest.mark.parametrize("rate", [1.0, 0.5])
@pytest.mark.parametrize("depth", [1, 2])
def test_samme_equals_scikit_learn(
    data: tuple[np.ndarray, np.ndarray], rate: float, depth: int
) -> None:
    X, y = data
    tree = DecisionTreeClassifier(max_depth=depth)
    theirs = SklearnAdaBoost(tree, n_estimators=15, learning_rate=rate, random_state=0).fit(X, y)
    ours = AdaBoostClassifier(
        tree, n_estimators=15, learning_rate=rate, multiclass="samme", random_state=0
    ).fit(X, y)
    assert len(ours.ledger_) == len(theirs.estimators_)
    assert ours.estimator_errors_ == pytest.approx(theirs.estimator_errors_, abs=1e-9)
    assert ours.estimator_weights_ == pytest.approx(theirs.estimator_weights_, abs=1e-8)
    assert (ours.predict(X) == theirs.predict(X)).all()
    classes, scores = len(theirs.classes_), ours.decision_function(X)
    whole = ours.votes_.sum()
    # They take 1/(K-1) of a vote from every class not named, and of two give the difference.
    scores = 2 * scores if classes == 2 else scores - (whole - scores) / (classes - 1)
    assert scores / whole == pytest.approx(theirs.decision_function(X), abs=1e-8)


# -- through the doors


def test_estimators_with_several_labels() -> None:
    generator = np.random.default_rng(0)
    X = generator.normal(size=(200, 3))
    y = np.stack([X[:, 0] > 0, X[:, 1] + X[:, 2] > 0, generator.random(200) < 0.3], axis=1)
    models = (
        AdaBoostClassifier(n_estimators=20),
        AdaBoostClassifier(n_estimators=20, confidence_rated=True),
        BoostClassifier("adaboost", n_estimators=20),
        BoostClassifier("adaboost", "stump", n_estimators=20),
        BoostClassifier("gentle", n_estimators=20),
        BoostClassifier("mada", n_estimators=20),
    )
    for model in models:
        model.fit(X, y.astype(int))
        scores = model.decision_function(X)
        hamming = float((np.where(y, scores, -scores) <= 0).mean())
        assert model.ledger_.rounds[-1].training_error == pytest.approx(hamming, abs=1e-15)
        product = math.prod(e.normaliser for e in model.ledger_.rounds)
        assert hamming <= product <= model.certificate_.value <= product * (1 + 1e-6)
        assert ((model.predict(X) > 0) == (scores > 0)).all()


@each_value
@pytest.mark.parametrize("way", ["mh", "m1"])
@pytest.mark.parametrize("learner", ["stump", "tree", DecisionTreeClassifier(max_depth=2)])
def test_the_certificate_covers_what_predict_says(way: str, learner: Any) -> None:
    X, y = iris()
    model = BoostClassifier("adaboost", learner, n_estimators=25, random_state=0)
    model.set_params(booster__multiclass=way)
    model.fit(X, y)
    assert model.mistakes(X, y).mean() <= model.certificate_.value
    assert (model.predict(X) != y).mean() <= model.ledger_.rounds[-1].training_error + 1e-12
