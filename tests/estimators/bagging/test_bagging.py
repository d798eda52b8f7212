"""Bagged votes: what scikit-learn asks, the same vote on any threads, and certificates."""

from copy import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import r2_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import pacboost
from pacboost.bounds import out_of_bag
from pacboost.errors import DataError, NotCertified, ParameterError
from pacboost.estimators.bagging.bagging import BaggingClassifier, BaggingRegressor
from pacboost.estimators.bagging.fitting import WAYS
from pacboost.learners.tree import Tree
from pacboost.theory.finite_worlds import BooleanConcept
from pacboost.theory.learners import Rectangle
from tests.bounds.coverage import check_coverage, out_of_bag_sizes
from tests.grids import each_value
from tests.runs import several_runs
from tests.worlds import noisy

Table = NDArray[np.float64]


def three_classes(rows: int, seed: int) -> tuple[Table, NDArray[np.str_]]:
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(rows, 4))
    place = (X[:, 0] > 0).astype(int) + (X[:, 0] + X[:, 1] > 1)
    return X, np.array(["a", "b", "c"])[place]


LEARNERS = [
    None,
    DecisionTreeClassifier(max_depth=3),
    "stump",
    Tree(max_leaves=8, min_leaf_rows=2),
    KNeighborsClassifier(1),
]


@each_value
@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("many", [False, True])
def test_the_vote_is_the_plurality_of_its_members(learner: Any, many: bool) -> None:
    X, y = three_classes(300, 1) if many else noisy(300, 4, 1)
    model = BaggingClassifier(learner, 15, random_state=0).fit(X, y)
    votes = model.votes(X)
    assert (votes.sum(axis=1) == 15).all()
    assert np.array_equal(model.predict(X), model.classes_[votes.argmax(axis=1)])
    assert np.allclose(model.predict_proba(X), votes / 15)
    assert len(model.estimators_) == 15
    assert model.stopped_ == "all 15 members are made"


def test_members_are_those_of_scikit_learn_on_repeated_rows() -> None:
    """An independent program: draw the bag, copy its rows, fit to them."""
    X, y = noisy(200, 5, 2)
    model = BaggingClassifier(SVC(C=2.0, gamma=0.3), 4, random_state=3).fit(X, y)
    for b, member in enumerate(model.estimators_):
        rows = np.repeat(np.arange(200), model._bags.bag(b).counts)
        alone = SVC(C=2.0, gamma=0.3).fit(X[rows], y[rows])
        assert np.array_equal(model.classes_[member.predict(X)], alone.predict(X))


def test_out_of_bag_votes_are_those_of_members_that_did_not_see_a_row() -> None:
    X, y = three_classes(120, 3)
    model = BaggingClassifier(DecisionTreeClassifier(), 6, random_state=1).fit(X, y)
    cast = np.zeros((120, 3))
    for b, member in enumerate(model.estimators_):
        outside = model._bags.bag(b).outside
        cast[outside, member.predict(X[outside])] += 1
    seen = cast.any(axis=1)
    assert model.out_of_bag_.unseen == (~seen).sum() > 0
    shares = model.oob_decision_function_
    assert np.isnan(shares[~seen]).all()
    assert np.allclose(shares[seen], cast[seen] / cast[seen].sum(axis=1, keepdims=True))
    right = model.classes_[cast.argmax(axis=1)] == y
    assert model.oob_score_ == pytest.approx(right[seen].mean())


@pytest.mark.parametrize("learner", LEARNERS)
def test_same_vote_on_any_number_of_threads(learner: Any) -> None:
    X, y = noisy(400, 4, 4)
    one, many = (
        BaggingClassifier(learner, 12, random_state=2, n_jobs=n, settle=5).fit(X, y) for n in (1, 4)
    )
    assert np.array_equal(one.votes(X), many.votes(X))
    assert np.array_equal(one.oob_decision_function_, many.oob_decision_function_, equal_nan=True)
    assert one.stopped_ == many.stopped_


def test_settles_and_pays_for_it() -> None:
    X, y = noisy(1_000, 4, 9)
    model = BaggingClassifier(
        n_estimators=300, settle=15, certify="first_order", random_state=1
    ).fit(X, y)
    made = len(model.estimators_)
    assert 15 < made < 150
    assert "over the last 15 members" in model.stopped_
    price = model.certificate_.inputs["divergence"]
    assert isinstance(price, float)
    assert price >= np.log(300 / made)
    longer = BaggingClassifier(n_estimators=300, random_state=1).fit(X, y)
    error = 1 - longer.oob_score_
    assert abs(model.oob_score_ - longer.oob_score_) < 3 * np.sqrt(error * (1 - error) / 1_000)


def test_pasting_and_features() -> None:
    X, y = noisy(300, 6, 11)
    model = BaggingClassifier(
        n_estimators=5, bootstrap=False, max_samples=100, max_features=0.5, random_state=0
    ).fit(X, y)
    assert [own.size for own in model.estimators_features_] == [3] * 5
    assert model.out_of_bag_.sizes.tolist() == [200] * 5
    own = BaggingClassifier("tree", 5, max_features=2, random_state=0).fit(X, y)
    assert [own.size for own in own.estimators_features_] == [2] * 5
    assert own.score(X, y) > 0.6
    twice = BaggingClassifier("stump", 3, bootstrap_features=True, random_state=0).fit(X, y)
    assert twice.votes(X).shape == (300, 2)


def test_a_bag_of_one_class_is_not_drawn_again() -> None:
    """LogisticRegression cannot fit it; a constant member stands in."""
    X, y = np.arange(12.0)[:, None], np.array([0] * 11 + [1])
    model = BaggingClassifier(LogisticRegression(), 20, random_state=0).fit(X, y)
    alone = [b for b in range(20) if not model._bags.bag(b).counts[11]]
    assert alone
    assert all(model.estimators_[b] == 0 for b in alone)


def test_without_rows_outside_there_is_no_estimate() -> None:
    X, y = noisy(100, 3, 12)
    for asked in ({"oob_score": True}, {"oob_score": False, "certify": "oob"}):
        with pytest.raises(ParameterError, match="set bootstrap"):
            BaggingClassifier(n_estimators=3, bootstrap=False).set_params(**asked).fit(X, y)
    whole = BaggingClassifier(n_estimators=3, bootstrap=False, max_features=2).fit(X, y)
    assert not hasattr(whole, "oob_score_")
    plain = BaggingClassifier(n_estimators=3, oob_score=False).fit(X, y)
    assert not hasattr(plain, "out_of_bag_")
    with pytest.raises(NotCertified, match="nothing was certified"):
        _ = plain.certificate_


@pytest.mark.parametrize("way", ["first_order", "tandem", "cantelli"])
def test_certificates_of_a_fit(way: str) -> None:
    X, y = noisy(4_000, 4, 13, noise=0.02)
    model = BaggingClassifier(DecisionTreeClassifier(), 25, certify=way, random_state=0).fit(X, y)
    certificate, counts = model.certificate_, model.out_of_bag_
    again = getattr(out_of_bag, certificate.bound.removeprefix("pac_bayes."))
    assert again(**certificate.inputs) == certificate.value < 0.7
    assert counts.rows == 4_000
    bags = np.array([model._bags.bag(b).counts > 0 for b in range(25)])
    fewest, pair = out_of_bag_sizes(bags)
    assert counts.least_size == fewest
    assert counts.pair_least_size in (None, pair)


@pytest.mark.parametrize("learner", [None, "stump", "tree"])
def test_rows_that_gave_the_bins_are_not_counted(learner: Any) -> None:
    X, y = noisy(2_000, 4, 14)
    model = BaggingClassifier(learner, 10, certify="oob", random_state=0).fit(X, y)
    assert model.out_of_bag_.rows == 2_000 - 256
    rows = BaggingClassifier("stump", 10, certify="oob", max_features=2, random_state=0).fit(X, y)
    assert rows.out_of_bag_.rows == 2_000  # each bag has bins of its own


@each_value
@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize("learner", [None, "stump", "tree"])
def test_certified_members_do_not_know_features_outside(learner: Any, many: bool) -> None:
    """Other features of counted rows outside the bag change the bins of all rows, but no member."""
    X, y = three_classes(900, 23) if many else noisy(900, 4, 23)
    for certify, same in (("oob", True), (None, False)):
        model = BaggingClassifier(learner, 1, certify=certify, random_state=0).fit(X, y)
        other = X.copy()
        outside = model._bags.bag(0).outside
        counted = model._outside._counted
        moved = outside if counted is None else outside[counted[outside]]
        other[moved] = np.random.default_rng(0).normal(size=(moved.size, 4)) / 50
        again = clone(model).fit(other, y)
        grid = np.random.default_rng(1).normal(size=(20_000, 4))
        assert np.array_equal(model.votes(grid), again.votes(grid)) == same


def test_holdout() -> None:
    X, y = noisy(2_000, 4, 15)
    model = BaggingClassifier(n_estimators=20, certify="holdout", random_state=0).fit(X, y)
    inputs = model.certificate_.inputs
    assert inputs["n"] == 400
    assert model._bags.rows == 1_600
    votes = model.votes(X)
    assert 0 < float(inputs["k"]) < 200
    assert votes.shape == (2_000, 2)
    assert model.certificate_.value < 0.5


@several_runs(8, 40)
def test_coverage_of_fits_that_settle(runs: int) -> None:
    """All 64 rows of a Boolean world are known, so the risk of the vote is a count."""
    world = BooleanConcept(6, lambda X: X[:, :3].sum(axis=1) >= 2)
    ways = ("first_order", "tandem", "cantelli")
    failed = dict.fromkeys(ways, 0)
    for run in range(runs):
        X, y = world.draw(800, run)
        for way in ways:
            learner = Tree(max_leaves=4, min_leaf_rows=1)
            model = BaggingClassifier(learner, 60, settle=10, certify=way, random_state=run)
            failed[way] += model.fit(X, y).certificate_.value < world.risk(model.predict)
    for way, count in failed.items():
        check_coverage(f"bagged trees that settle, {way}", count, runs, 0.05)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"max_samples": 101, "bootstrap": False}, "100 to draw from"),
        ({"max_features": 4}, "3 to draw from"),
        ({"certify": "cp"}, f"it may be {', '.join(map(repr, WAYS))}"),
        ({"settle": 5, "bootstrap": False}, "every bag holds all rows"),
        ({"estimator": LinearRegression()}, "predicts numbers"),
        ({"estimator": "forest"}, "estimator is 'forest'"),
        ({"max_bins": 300}, "for trees it may be 2 to 255"),
    ],
)
def test_bad_parameters(parameters: dict[str, Any], words: str) -> None:
    X, y = noisy(100, 3, 17)
    model = BaggingClassifier(n_estimators=3)
    with pytest.raises(ParameterError, match=words):
        clone(model).set_params(**parameters).fit(X, y)


def test_bad_data() -> None:
    X, y = noisy(100, 3, 18)
    with pytest.raises(DataError, match="several labels"):
        BaggingClassifier("stump", 3).fit(X, np.column_stack([y > 0, y < 0]).astype(int))
    model = BaggingClassifier("stump", 3).fit(X, y)
    with pytest.raises(ValueError, match="NaN"):
        clone(model).set_params(estimator=LogisticRegression()).fit(np.where(X > 2, np.nan, X), y)


def waves(rows: int, seed: int) -> tuple[Table, Table]:
    generator = np.random.default_rng(seed)
    X = generator.uniform(size=(rows, 3))
    return X, 10 * np.sin(6 * X[:, 0]) + 5 * X[:, 1] + generator.normal(size=rows)


@pytest.mark.parametrize("learner", [DecisionTreeRegressor(), "stump", None, LinearRegression()])
def test_the_prediction_is_the_average(learner: Any) -> None:
    X, y = waves(300, 1)
    model = BaggingRegressor(learner, 8, random_state=0).fit(X, y)
    alone = [copy(model) for _ in range(8)]
    for own, member in zip(alone, model._members, strict=True):
        own._members = [member]
    said = [own.predict(X) for own in alone]
    if hasattr(model.estimators_[0], "predict"):
        assert np.array_equal(said, [member.predict(X) for member in model.estimators_])
    assert np.std(said, axis=0).max() > 0
    assert model.predict(X) == pytest.approx(np.mean(said, axis=0))
    again = BaggingRegressor(learner, 8, random_state=0, n_jobs=1).fit(X, y)
    assert np.array_equal(model.predict(X), again.predict(X))


def test_out_of_bag_prediction() -> None:
    X, y = waves(200, 2)
    model = BaggingRegressor(DecisionTreeRegressor(), 7, random_state=0).fit(X, y)
    sums, counts = np.zeros(200), np.zeros(200)
    for b, member in enumerate(model.estimators_):
        outside = model._bags.bag(b).outside
        sums[outside] += member.predict(X[outside])
        counts[outside] += 1
    seen = counts > 0
    assert model.oob_prediction_[seen] == pytest.approx(sums[seen] / counts[seen])
    assert np.isnan(model.oob_prediction_[~seen]).all()
    assert model.oob_score_ == pytest.approx(r2_score(y[seen], sums[seen] / counts[seen]))


def test_leaves_of_own_trees_say_the_mean_of_their_bag() -> None:
    """Also where targets are far from 0 and lie close together."""
    X, y = waves(500, 4)
    y = 1e6 + 1e-3 * y
    model = BaggingRegressor(Tree(max_leaves=6), 1, random_state=0).fit(X, y)
    counts, said = model._bags.bag(0).counts, model.predict(X)
    for value in np.unique(said):
        own = said == value
        assert value == pytest.approx(np.average(y[own], weights=counts[own]), abs=1e-8)
    assert np.unique(said).size == 6


def test_bad_learners() -> None:
    X, y = waves(60, 8)
    with pytest.raises(ParameterError, match="names classes"):
        BaggingRegressor(DecisionTreeClassifier(), 3).fit(X, y)
    with pytest.raises(ParameterError, match="to predict numbers take"):
        BaggingRegressor(Rectangle(), 3).fit(X, y)


WEIGHTED_BAGS: list[Any] = [
    {}, {"estimator": "stump"}, {"estimator": DecisionTreeClassifier(max_depth=3)},
    {"max_samples": 0.5, "bootstrap": False}, {"max_features": 0.5},
]  # fmt: skip


@pytest.mark.parametrize("more", WEIGHTED_BAGS)
def test_rows_are_drawn_by_their_weights_and_those_without_are_left_out(more: Any) -> None:
    X, y = noisy(400, 4, 1)
    heavy = np.where(np.arange(400) % 4 == 0, 3.0, 1.0)
    model = BaggingClassifier(**more, n_estimators=40, random_state=0).fit(X, y, heavy)
    drawn = np.mean([model._bags.bag(k).counts for k in range(40)], axis=0)
    ratio = drawn[heavy == 3].mean() / drawn[heavy == 1].mean()
    assert ratio > 1.6 if "bootstrap" in more else ratio == pytest.approx(3, rel=0.1)
    none = np.where(np.arange(400) < 100, 0.0, 1.0)
    less = BaggingClassifier(**more, n_estimators=10, random_state=0).fit(X, y, none)
    rest = BaggingClassifier(**more, n_estimators=10, random_state=0).fit(X[100:], y[100:])
    assert less._bags.rows == rest._bags.rows == 300
    assert np.isnan(less.oob_decision_function_[:100]).all()


def test_weights_steer_bags_as_repeated_rows_would() -> None:
    generator = np.random.default_rng(3)
    X = generator.normal(size=(600, 3))
    y = X[:, 0] + generator.normal(size=600) > 1.2
    weights = np.where(y, 6, 1)
    plain, heavy, repeated = (
        BaggingClassifier("stump", 50, max_samples=600, random_state=0).fit(*given)
        for given in ((X, y), (X, y, weights), (X.repeat(weights, 0), y.repeat(weights)))
    )
    found = [float(model.predict(X)[y].mean()) for model in (plain, heavy, repeated)]
    assert found[0] + 0.2 < found[1] == pytest.approx(found[2], abs=0.1)
    numbers, bags = y.astype(float), BaggingRegressor("stump", 50, max_samples=600, random_state=0)
    first, second = (
        clone(bags).fit(*given).predict(X)
        for given in ((X, numbers, weights), (X.repeat(weights, 0), numbers.repeat(weights)))
    )
    assert first.mean() > numbers.mean() + 0.2
    assert np.abs(first - second).max() < 0.1


def test_certificates_count_held_out_rows_without_weights_and_none_out_of_bag() -> None:
    X, y = noisy(300, 4, 1)
    weights = np.where(y == y[0], 2.0, 1.0)
    held = BaggingClassifier("stump", 10, certify="holdout", random_state=0).fit(X, y, weights)
    assert held.certificate_.claim.endswith("counted without weights.")
    for way in set(WAYS) - {"holdout"}:
        with pytest.raises(ParameterError) as caught:
            BaggingClassifier("stump", 10, certify=way).fit(X, y, weights)
        assert caught.value.parameter == "certify"
    model = BaggingClassifier("stump", 10, random_state=0).fit(X, y, weights)
    assert 0 < model.oob_score_ <= 1
    with pytest.raises(AttributeError):
        model.out_of_bag_  # noqa: B018
    with pytest.raises(ParameterError) as caught:
        BaggingClassifier("stump", 10, bootstrap=False).fit(X, y, weights)
    assert caught.value.parameter == "sample_weight"


@each_value
@pytest.mark.parametrize("way", [None, "oob", "tandem", "holdout"])
@pytest.mark.parametrize("many", [False, True])
def test_a_file_of_bagged_trees_answers_and_certifies_the_same(
    way: str | None, many: bool, tmp_path: Path
) -> None:
    X, y = three_classes(900, 1) if many else noisy(900, 4, 1)
    model = BaggingClassifier(n_estimators=24, certify=way, random_state=0).fit(X, y)
    model.save(tmp_path / "bags.pacb")
    again = pacboost.load(tmp_path / "bags.pacb")
    rows = np.random.default_rng(5).normal(size=(2000, 4))
    assert np.array_equal(again.predict(rows), model.predict(rows))
    assert np.allclose(again.predict_proba(rows), model.predict_proba(rows), atol=1e-12)
    if way is not None:
        assert all(check.holds for check in pacboost.verify(tmp_path / "bags.pacb"))
        assert again.certificate_.inputs == model.certificate_.inputs
        assert again.certificate_.claim == model.certificate_.claim
    assert again.sentence_ == model.sentence_
    with pytest.raises(NotCertified):
        pacboost.certify(again, X, y)  # rows of the fit


def test_a_file_of_bagged_regression_trees_answers_the_same(tmp_path: Path) -> None:
    X, _ = noisy(300, 4, 1)
    model = BaggingRegressor(n_estimators=9, random_state=0).fit(X, X[:, 0] ** 2)
    model.save(tmp_path / "bags.pacb")
    again = pacboost.load(tmp_path / "bags.pacb")
    assert np.allclose(again.predict(X), model.predict(X), atol=1e-12)
    with pytest.raises(NotCertified):
        again.certificate_  # noqa: B018


@pytest.mark.parametrize("more", [{"estimator": "stump"}, {"max_features": 0.5}])
def test_files_of_other_members_are_refused(more: Any, tmp_path: Path) -> None:
    X, y = noisy(100, 4, 1)
    model = BaggingClassifier(**more, n_estimators=3, random_state=0).fit(X, y)
    with pytest.raises(ParameterError) as caught:
        model.save(tmp_path / "bags.pacb")
    assert caught.value.parameter == "estimator"
    assert not list(tmp_path.iterdir())
