"""Forests: the same for any thread count and order of rows, and as good as scikit-learn's."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse
from sklearn.datasets import load_diabetes, load_digits
from sklearn.ensemble import RandomForestClassifier as TheirForest
from sklearn.ensemble import RandomForestRegressor as TheirRegressor

import pacboost
from pacboost import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    verify,
)
from pacboost.errors import DataError, FileError, NotCertified, ParameterError
from pacboost.estimators.bagging.bagging import BaggingClassifier
from pacboost.models.file.format import model_bytes, save
from pacboost.models.model import classes_of_sets
from pacboost.questions import verify as verifying
from pacboost.theory.finite_worlds import BooleanConcept
from pacboost.theory.worlds import LabelNoise
from tests.bounds.coverage import check_coverage, check_rejected
from tests.grids import each_value

EVERY = (RandomForestClassifier, ExtraTreesClassifier, RandomForestRegressor, ExtraTreesRegressor)
Data = tuple[NDArray[np.float64], NDArray[np.int64]]


def noisy(rows: int = 400, classes: int = 2, seed: int = 0) -> Data:
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(rows, 5))
    y = np.digitize(X[:, 0] * X[:, 1] + 0.5 * generator.normal(size=rows), [0.0, 0.7])
    return X, np.minimum(y, classes - 1)


@each_value
@pytest.mark.parametrize("kind", EVERY)
@pytest.mark.parametrize("classes", [2, 3])
def test_forest_is_the_same_for_any_thread_count_and_order(kind: Any, classes: int) -> None:
    X, y = noisy(300, classes)
    one = kind(20, n_jobs=1, random_state=3).fit(X, y)
    two = kind(20, n_jobs=2, random_state=3).fit(X, y)
    order = np.random.default_rng(1).permutation(len(y))
    shuffled = kind(20, n_jobs=2, random_state=3).fit(X[order], y[order])
    assert model_bytes(one.model_) == model_bytes(two.model_)
    assert model_bytes(one.model_) == model_bytes(shuffled.model_)
    assert model_bytes(one.model_) != model_bytes(kind(20, random_state=4).fit(X, y).model_)


def test_error_out_of_bag_is_that_of_scikit_learn() -> None:
    X, y = load_digits(return_X_y=True)
    own = RandomForestClassifier(150, oob_score=True, random_state=0).fit(X, y)
    theirs = TheirForest(150, oob_score=True, random_state=0, n_jobs=2).fit(X, y)
    error = 1 - theirs.oob_score_
    noise = math.sqrt(2 * error * (1 - error) / len(y))  # more than two runs on the same rows have
    assert abs(own.oob_score_ - theirs.oob_score_) < 2 * noise
    assert own.oob_decision_function_.shape == (len(y), 10)
    right = own.oob_decision_function_.argmax(axis=1) == y
    assert own.oob_score_ == pytest.approx(right.mean())


def test_regression_out_of_bag_is_that_of_scikit_learn() -> None:
    X, y = load_diabetes(return_X_y=True)
    own = RandomForestRegressor(200, oob_score=True, random_state=0).fit(X, y)
    theirs = TheirRegressor(200, oob_score=True, random_state=0, n_jobs=2).fit(X, y)
    assert abs(own.oob_score_ - theirs.oob_score_) < 0.03
    assert own.score(X, y) > 0.9


def test_trees_that_see_all_rows_say_what_they_saw() -> None:
    X, y = noisy(200)
    numbers = X[:, 2] * 1e6 + 1e8
    whole = RandomForestRegressor(3, bootstrap=False, max_features=1).fit(X, numbers)
    assert whole.predict(X) == pytest.approx(numbers, rel=1e-7)
    assert (ExtraTreesClassifier(3).fit(X, y).predict(X) == y).all()


def test_settling_stops_early_and_the_certificate_pays() -> None:
    X, y = noisy(3000)
    model = RandomForestClassifier(300, settle=20, certify="oob", random_state=0).fit(X, y)
    made = len(model.model_.vote)
    assert 20 < made < 300
    assert "its noise" in model.stopped_
    assert model.out_of_bag_.members_max == 300
    fixed = RandomForestClassifier(made, certify="oob", random_state=0).fit(X, y)
    assert model.certificate_.value > fixed.certificate_.value > 1 - model.oob_score_
    votes = model.predict_proba(X[:50]) * made
    assert votes == pytest.approx(np.rint(votes))  # every tree has one vote


def test_certificates_out_of_bag_cover_the_risk() -> None:
    """All rows are known, so risks are counts; half of the bound holds for the trees themselves.

    Copies of rows are the broken twin: outside its bag, a tree meets rows that it has seen.
    """
    clean = BooleanConcept(10, lambda X: X[:, :3].sum(axis=1) >= 2)
    world, every = LabelNoise(clean, 0.1), clean.domain()
    wrong = (clean.truth(every) < 0).astype(np.int64)  # the class that is not the true one

    def fails_for_trees(model: RandomForestClassifier) -> bool:
        errors = model.predict_proba(every)[np.arange(len(every)), wrong]
        return model.certificate_.value / 2 < world.noisy_risk(float(errors.mean()))

    runs, vote, trees, twin = 12, 0, 0, 0
    for run in range(runs):
        X, y = world.draw(600, run)
        model = RandomForestClassifier(30, settle=10, certify="oob", random_state=run).fit(X, y)
        assert model.certificate_.value < 1
        vote += model.certificate_.value < world.risk(model.predict)
        trees += fails_for_trees(model)
        copies = X.repeat(4, axis=0), y.repeat(4)
        twin += fails_for_trees(model.fit(*copies))
    check_coverage("forest out of bag, vote", vote, runs, 0.05)
    check_coverage("forest out of bag, trees", trees, runs, 0.05)
    check_rejected("forest out of bag, rows copied", twin, runs, 0.05)


@pytest.mark.parametrize("rows", [200, 1000, 3000])
def test_as_many_rows_give_bins_as_in_bagging(rows: int) -> None:
    X, y = noisy(rows)
    forest = RandomForestClassifier(3, certify="oob", random_state=0).fit(X, y)
    bagged = BaggingClassifier(n_estimators=3, certify="oob", random_state=0).fit(X, y)
    assert forest.out_of_bag_.rows == bagged.out_of_bag_.rows < rows


def test_holdout_certifies_what_is_predicted() -> None:
    X, y = noisy(2000, 3)
    model = RandomForestClassifier(50, certify="holdout", random_state=0).fit(X, y)
    assert model.certificate_.size == 400
    assert model.certificate_.value > 1 - model.score(*noisy(5000, 3, seed=1))


def test_certificates_refuse_in_words() -> None:
    X, y = noisy(12)
    few = RandomForestClassifier(10, certify="oob", random_state=0).fit(X, y)
    with pytest.raises(NotCertified, match="too few"):
        _ = few.certificate_
    with pytest.raises(NotCertified, match="nothing was certified"):
        _ = RandomForestClassifier(3).fit(X, y).certificate_
    with pytest.raises(NotCertified, match="simply right or wrong"):
        _ = RandomForestRegressor(3).fit(X, y).certificate_
    with pytest.raises(NotCertified, match="binomial interval"):
        _ = RandomForestClassifier(3, certify="binomial").fit(*noisy()).certificate_
    with pytest.raises(ParameterError, match="these have weights"):
        few.fit(X, y, sample_weight=np.arange(1, 13))
    more = RandomForestClassifier(10, certify="oob", warm_start=True, random_state=0)
    more.fit(*noisy()).set_params(n_estimators=20).fit(*noisy())
    with pytest.raises(NotCertified, match="10 members were planned"):
        _ = more.certificate_


def test_weights_stand_for_repeated_rows() -> None:
    X, y = noisy(120, 3)
    weights = np.random.default_rng(0).integers(0, 4, size=120)
    own = RandomForestClassifier(20, oob_score=True, random_state=0)
    own.fit(X, y, sample_weight=weights)
    repeated = RandomForestClassifier(20, random_state=0).fit(
        X.repeat(weights, axis=0), y.repeat(weights)
    )
    assert model_bytes(own.model_) == model_bytes(repeated.model_)
    assert np.isnan(own.oob_decision_function_[weights == 0]).all()


@pytest.mark.parametrize("share", [None, 0.9])
def test_sums_over_bags_of_many_copies_do_not_overflow(share: float | None) -> None:
    generator = np.random.default_rng(0)
    X, y = generator.normal(size=(1000, 3)), generator.exponential(size=1000)
    weights = generator.integers(5, 16, size=1000)  # bags are ten times as large as the sample
    model = RandomForestRegressor(5, max_depth=1, max_samples=share, random_state=0)
    own = model_bytes(model.fit(X, y, sample_weight=weights).model_)
    model.fit(X.repeat(weights, axis=0), y.repeat(weights))
    assert own == model_bytes(model.model_)
    assert abs(model.predict(X).mean() - y.mean()) < 0.1


@pytest.mark.parametrize("kind", [RandomForestClassifier, RandomForestRegressor])
def test_importances_name_the_features_that_matter(kind: Any) -> None:
    X, y = noisy(800)
    model = kind(60, random_state=0).fit(X, y)
    assert model.feature_importances_.sum() == pytest.approx(1)
    assert set(np.argsort(model.feature_importances_)[-2:]) == {0, 1}
    permuted = model.permutation_importances(*noisy(800, seed=5), repeats=2, random_state=0)
    assert set(np.argsort(permuted.mean)[-2:]) == {0, 1}
    assert permuted.mean[2:].max() < 0.3 * permuted.mean[:2].min()


def test_missing_values_go_to_the_better_side() -> None:
    generator = np.random.default_rng(0)
    X = generator.normal(size=(500, 3))
    y = (X[:, 0] > 0).astype(np.int64)
    X[:, 1] = np.where(y == 1, np.nan, X[:, 1])  # what is missing tells the class
    X[:, 0] = generator.normal(size=500)
    model = RandomForestClassifier(30, random_state=0).fit(X[:250], y[:250])
    assert model.score(X[250:], y[250:]) == 1.0


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"max_features": "some"}, "max_features is 'some'"),
        ({"min_weight_fraction_leaf": 0.7}, "must lie in"),
        ({"max_samples": 5000}, "there are 400 rows"),
        ({"max_bins": 256}, "max_bins is 256"),
        ({"bootstrap": False, "oob_score": True}, "every bag holds all rows"),
        ({"certify": "train"}, "certify is 'train'"),
        ({"class_weight": {0: -1.0, 1: 1.0}}, "class_weight"),
    ],
)
def test_bad_parameters_are_named(settings: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ParameterError, match=complaint):
        RandomForestClassifier(**settings).fit(*noisy())


FEW: dict[str, Any] = {"n_estimators": 12, "random_state": 0}


@pytest.fixture(scope="module", name="X")
def rows_of_three() -> Any:
    generator = np.random.default_rng(0)
    return np.column_stack([generator.integers(4, size=240), generator.normal(size=(240, 2))])


def test_a_curve_is_the_mean_prediction_with_the_feature_set(X: Any) -> None:
    y = (X[:, 0] + X[:, 1] > 1.5).astype(int)
    model = RandomForestClassifier(**FEW).fit(X, y)
    rows = X[:40]
    found = model.partial_dependence(X=rows)
    assert found.intercept == pytest.approx(model.predict_proba(rows)[:, 1].mean())
    for value in range(4):
        changed = rows.copy()
        changed[:, 0] = value
        expected = model.predict_proba(changed)[:, 1].mean() - found.intercept[0]
        assert found[0].at(np.array([float(value)]))[0, 0] == pytest.approx(expected)
    unknown = rows.copy()
    unknown[:, 0] = np.nan
    expected = model.predict_proba(unknown)[:, 1].mean() - found.intercept[0]
    assert found[0].missing == pytest.approx(expected)


def several(rows: int = 500, seed: int = 0, noise: float = 0.05) -> tuple[Any, Any]:
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(rows, 4))
    y = np.stack([X[:, 0] > 0, X[:, 1] > 0.5, X[:, 0] + X[:, 2] > 1], axis=1)
    return X, (y ^ (generator.random(y.shape) < noise)).astype(int)


X, Y = several()
NEW_X, NEW_Y = several(4000, 1)


def wrong(model: Any) -> float:
    return float(np.mean((model.predict(NEW_X) != NEW_Y).any(axis=1)))


@pytest.mark.parametrize("kind", [RandomForestClassifier, ExtraTreesClassifier])
def test_all_labels_are_learned_at_once(kind: Any) -> None:
    model = kind(60, random_state=0).fit(X, Y)
    assert model.several_labels_
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.predict(NEW_X).shape == model.predict_proba(NEW_X).shape == (4000, 3)
    assert wrong(model) < 0.3
    chances = model.predict_proba(NEW_X)
    assert chances.min() >= 0
    assert chances.max() <= 1 + 1e-9
    assert np.mean((chances > 0.5) == NEW_Y) > 0.85
    same = kind(60, random_state=0).fit(X, sparse.csr_array(Y))
    assert np.array_equal(model.predict_proba(X), same.predict_proba(X))


@pytest.mark.parametrize("way", ["holdout", "oob"])
def test_certificates_count_rows_with_any_wrong_label(way: str, tmp_path: Path) -> None:
    model = RandomForestClassifier(60, certify=way, random_state=0).fit(*several(2000))
    assert wrong(model) <= model.certificate_.value < 1
    model.save(tmp_path / "m.pacb")
    assert all(check.holds for check in verify(tmp_path / "m.pacb"))
    if way == "holdout":
        assert model.certificate_.size == 400
        said = verifying.sentence(tmp_path / "m.pacb")
        assert "any of its 3 labels" in said
        assert "Always saying" in said


def test_the_held_out_count_is_that_of_rows_with_a_wrong_label() -> None:
    model = RandomForestClassifier(40, certify="holdout", random_state=0).fit(X, Y)
    held = pacboost.certify(model, NEW_X, NEW_Y)
    assert held.inputs["k"] == round(wrong(model) * 4000)
    with pytest.raises(DataError, match="column for each label"):
        pacboost.certify(model, NEW_X, NEW_Y[:, 0])


def test_files_keep_the_sets_of_labels(tmp_path: Path) -> None:
    model = RandomForestClassifier(20, random_state=0).fit(X, Y)
    model.save(tmp_path / "m.pacb")
    again = pacboost.load(tmp_path / "m.pacb")
    assert again.several_labels_
    assert np.array_equal(again.predict(NEW_X), model.predict(NEW_X))
    assert np.array_equal(again.predict_proba(NEW_X), model.predict_proba(NEW_X))
    with pytest.raises(ParameterError, match="several labels"):
        pacboost.export(model, tmp_path / "m.py")
    page = model.report(tmp_path / "r.html", NEW_X[:200], NEW_Y[:200]).read_text()
    assert "Traceback" not in page
    kept = model.model_
    broken = replace(kept, classes=classes_of_sets(np.array([[0, 1], [0, 1]])), labels=2)
    save(broken, tmp_path / "b.pacb")
    with pytest.raises(FileError, match="no distinct sets"):
        pacboost.load(tmp_path / "b.pacb")
