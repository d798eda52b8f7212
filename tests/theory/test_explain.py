"""D_t and the proof of AdaBoost on the lecture's ten points, and what is refused."""

from itertools import islice, product

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.metrics import hamming_loss, label_ranking_loss

import pacboost
from pacboost import AdaBoostClassifier, BoostClassifier
from pacboost.boosters.registry import BOOSTERS
from pacboost.errors import DataError, ParameterError
from pacboost.learners.learner import Learner
from pacboost.learners.stump import Stump
from pacboost.learners.tree import Tree
from pacboost.learners.words import Words
from pacboost.sources.toy import lecture_points
from pacboost.theory import proof, weights
from pacboost.training.run.loop import Run
from tests.worlds import make_sample


@pytest.fixture(scope="module")
def toy() -> AdaBoostClassifier:
    return AdaBoostClassifier(n_estimators=3).fit(*lecture_points())


def test_lecture_points_split_x_x_y_with_the_errors_of_the_slides(toy: AdaBoostClassifier) -> None:
    assert [rule[:2] for rule in (e.rule for e in toy.ledger_.rounds)] == ["x0", "x0", "x1"]
    assert np.allclose(toy.estimator_errors_, [3 / 10, 3 / 14, 3 / 22], atol=1e-9)


def test_weights_are_those_of_the_recursion(toy: AdaBoostClassifier) -> None:
    X, y = lecture_points()
    expected = np.full(10, 0.1)
    before = np.zeros(10)
    for t, scores in enumerate(toy.staged_decision_function(X), start=1):
        assert np.allclose(weights(toy, t, X, y), expected, atol=1e-9)
        expected = expected * np.exp(-(scores - before) * y)
        expected /= expected.sum()
        before = scores
    assert np.allclose(weights(toy, 4, X, y), expected, atol=1e-9)


def test_every_quantity_of_the_proof(toy: AdaBoostClassifier) -> None:
    steps = proof(toy, *lecture_points())
    assert len(steps) == 3
    for step in steps.steps:
        assert step.weights.sum() == pytest.approx(1)
        assert step.error_after == pytest.approx(0.5, abs=1e-9)
        assert step.normaliser == pytest.approx(step.by_formula, abs=1e-9)
        assert step.training_error <= step.product
    assert steps[2].product == pytest.approx(toy.certificate_.value, rel=1e-9)
    assert "rule under D_4 = 0.5000" in str(steps)


def test_the_proof_counts_rows_on_which_a_rule_abstains_as_half_wrong() -> None:
    random = np.random.default_rng(0)
    texts = np.array([" ".join(random.choice(list("abcdefgh"), 2)) for _ in range(80)])[:, None]
    y = np.array(["a" in text[0] for text in texts]) ^ (random.random(80) < 0.2)
    model = BoostClassifier("adaboost", Words(1, None), n_estimators=3, certify=None).fit(texts, y)
    steps = proof(model, texts, y).steps
    assert any(step.abstained > 0 for step in steps)
    for step, entry in zip(steps, model.model_.ledger.rounds, strict=True):
        assert step.error == pytest.approx(entry.error, abs=1e-6)
        assert step.normaliser == pytest.approx(step.by_formula, abs=0.05)
        assert step.abstained <= step.by_formula <= step.normaliser + 1e-9


def test_capped_votes_do_not_leave_the_rule_at_one_half() -> None:
    X, y = lecture_points()
    steps = proof(AdaBoostClassifier(n_estimators=2, max_vote=0.1).fit(X, y), X, y)
    assert steps[0].error_after < 0.4
    assert steps[0].normaliser > steps[0].by_formula


BY_MARGIN = ["filter_boost", "gentle", "logit", "mada", "measure", "smooth"]


@pytest.mark.parametrize(
    ("name", "learner"), list(product(BY_MARGIN, [Stump(), Tree(max_leaves=4)]))
)
def test_weights_of_other_boosters_are_those_of_the_run(name: str, learner: Learner) -> None:
    signs, booster = np.where(Y > 1, 1, -1), BOOSTERS[name]()
    model = BoostClassifier(booster, learner, 9, early_stopping=False).fit(X, signs)
    run = Run(make_sample(X, signs.astype(np.int8)), learner, booster)
    for t, done in enumerate(islice(run, 9), start=1):
        result = weights(model, t, X, signs)
        assert result.effective_rows == pytest.approx(done.entry.effective_size, rel=1e-9)
        after = np.asarray(weights(model, t + 1, X, signs))
        assert np.allclose(after, run.weights / run.weights.sum(), rtol=1e-9, atol=1e-15)
    with pytest.raises(DataError, match="not the 150 rows"):
        weights(model, 2, X, -signs)


def test_sample_and_class_weights_are_part_of_the_weights() -> None:
    X, y = lecture_points()
    row_weights = np.arange(10.0)
    weigh = {-1: 2, 1: 1}
    model = BoostClassifier("adaboost", "stump", 3, class_weight=weigh).fit(X, y, row_weights)
    first = np.asarray(weights(model, 1, X, y, row_weights))
    expected = row_weights * np.where(y < 0, 2, 1)
    assert np.allclose(first, expected / expected.sum())
    assert proof(model, X, y, row_weights)[0].weights[0] == 0
    with pytest.raises(DataError, match="not the 9 rows"):
        weights(model, 1, X, y)


def test_confidence_rated_trees_have_weights() -> None:
    model = BoostClassifier("adaboost", n_estimators=3, min_leaf_rows=2).fit(X, Y > 1)
    assert weights(model, 4, X, Y > 1).by_row.sum() == pytest.approx(1)


X, Y = load_iris(return_X_y=True)


@pytest.mark.parametrize("multiclass", ["mh", "m1", "samme"])
def test_more_classes(multiclass: str) -> None:
    model = AdaBoostClassifier("tree", n_estimators=4, multiclass=multiclass).fit(X, Y)
    result = weights(model, 3, X, Y)
    assert result.by_row.shape == (150,)
    assert result.by_row.sum() == pytest.approx(1)
    assert result.effective_rows == pytest.approx(model.ledger_.rounds[2].effective_size, rel=1e-6)
    with pytest.raises(ParameterError, match="two classes"):
        proof(model, X, Y)


def test_what_is_refused(toy: AdaBoostClassifier) -> None:
    X, y = lecture_points()
    for t in (0, 5, 1.5):
        with pytest.raises(ParameterError, match="t is"):
            weights(toy, t, X, y)  # type: ignore[arg-type]
    # With -y, the twin that weighs right rows up instead of wrong ones.
    for rows, labels in ((X[:9], y[:9]), (X[:, ::-1], y), (X, -y)):
        with pytest.raises(DataError, match="not the 10 rows"):
            proof(toy, rows, labels)
    with pytest.raises(ParameterError, match="weights of brown"):
        weights(BoostClassifier("brown", "stump", n_estimators=2).fit(X, y), 1, X, y)
    with pytest.raises(ParameterError, match="the booster is logit"):
        proof(BoostClassifier("logit", "stump", n_estimators=2).fit(X, y), X, y)
    with pytest.raises(NotFittedError):
        weights(AdaBoostClassifier(), 1, X, y)


def test_several_labels() -> None:
    labels = np.column_stack([Y == 1, Y > 0, X[:, 0] > 6]).astype(int)
    model = AdaBoostClassifier(n_estimators=6).fit(X[::2], labels[::2])
    result, scores = pacboost.theory.ranking(model, X, labels), model.decision_function(X)
    assert result.hamming_loss == pytest.approx(hamming_loss(labels, model.predict(X)))
    assert result.ranking_loss == pytest.approx(label_ranking_loss(labels, scores))
    assert (result.rows, result.labels) == (150, 3)


@pytest.mark.parametrize("classes", [2, 3])
def test_one_label_a_row(classes: int) -> None:
    names = np.array(["setosa", "versicolor", "virginica"])[np.minimum(Y, classes - 1)]
    model = BoostClassifier(n_estimators=2).fit(X[::3], names[::3])
    result = pacboost.theory.ranking(model, X, names)
    assert result.one_error == model.mistakes(X, names).mean() > 0
    errors = (model.predict(X) != names).mean()
    assert result.hamming_loss == pytest.approx(2 * errors / classes)
    assert result.labels == classes
