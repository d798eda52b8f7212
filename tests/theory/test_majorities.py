"""Majorities of boosters, and of three learners, as estimators."""

import signal
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from pacboost.errors import (
    NoEdgeWarning,
    NotCertified,
    OneClassWarning,
    ParameterError,
    TooFewRowsWarning,
)
from pacboost.estimators.boosting.adaboost import AdaBoostClassifier
from pacboost.hypotheses.three import Three
from pacboost.learners.growing import TreeSearch
from pacboost.learners.tree import Tree
from pacboost.loading import load
from pacboost.models.file.format import model_bytes
from pacboost.questions.verify import verify
from pacboost.samples.sample import Sample
from pacboost.sources.arrays import ArrayTable
from pacboost.theory.committee import RowCommittee
from pacboost.theory.majorities import (
    BaggedBoost,
    MajorityOfBoosters,
    SubsampledBoost,
    ThreeLearnerBoost,
)
from pacboost.theory.majority_of import bags_needed, disjoint_parts
from pacboost.theory.worlds import Halfspaces, hastie
from tests.bounds.coverage import check_coverage
from tests.data import real_data
from tests.grids import each_value
from tests.theory.points import Interrupted
from tests.worlds import noisy

Rows = NDArray[np.float64]


def test_five_boosters_are_five_fits_on_disjoint_parts() -> None:
    """Against the same thing done by hand, with thresholds at every value."""
    X, y = noisy(1000, 4, 0)
    X = np.round(X, 1)
    model = MajorityOfBoosters(5, n_estimators=20, random_state=3).fit(X, y)
    seed = int(np.random.RandomState(3).randint(2**31))
    members = [
        AdaBoostClassifier(n_estimators=20).fit(X[part], y[part])
        for part in disjoint_parts(1000, 5, seed)
    ]
    votes = np.sum([np.sign(m.decision_function(X)) for m in members], axis=0)
    by_hand = np.where(votes > 0, 1, -1)
    assert np.mean(by_hand == model.predict(X)) > 0.98  # bins are those of all rows
    assert model.part_sizes_.tolist() == [200] * 5
    assert all(ledger is not None and len(ledger) == 20 for ledger in model.ledgers_)
    assert {len(vote.hypotheses) for vote in model.votes_of_members_} == {20}


def test_probabilities_are_shares_of_the_members() -> None:
    X, y = noisy(600, 4, 0)
    model = MajorityOfBoosters(5, n_estimators=5, random_state=0).fit(X, y)
    shares = model.predict_proba(X)
    table = ArrayTable(X)
    said = np.array([vote.scores(table) for vote in model.votes_of_members_])
    assert shares[:, 1] == pytest.approx((said > 0).mean(axis=0))
    assert np.unique(shares[:, 1]).size > 2
    assert shares.sum(axis=1) == pytest.approx(1)
    assert (model.classes_[shares.argmax(axis=1)] == model.predict(X)).all()
    assert model.mistakes(X, y).mean() == pytest.approx(1 - model.score(X, y))


def test_defaults_follow_the_theorems() -> None:
    X, y = noisy(600, 4, 0, noise=0)
    three = MajorityOfBoosters(n_estimators=5, random_state=0).fit(X, y)
    five = MajorityOfBoosters(5, n_estimators=5, random_state=0).fit(X, y)
    assert {ledger.booster for ledger in three.ledgers_ if ledger} == {"adaboost_v"}
    assert {ledger.booster for ledger in five.ledgers_ if ledger} == {"adaboost"}
    bagged = BaggedBoost(n_estimators=1, random_state=0).fit(X[:200], y[:200])
    assert len(bagged.votes_of_members_) == bags_needed(200, 0.05)
    sub = SubsampledBoost(n_estimators=2, random_state=0).fit(X, y)
    assert len(sub.votes_of_members_) == 81
    assert sub.part_sizes_ == pytest.approx(400, abs=5)
    every = SubsampledBoost(None, n_estimators=1, random_state=0).fit(X[:100], y[:100])
    assert len(every.votes_of_members_) == 3**4


@pytest.mark.parametrize("kind", [MajorityOfBoosters, SubsampledBoost, BaggedBoost])
def test_nothing_is_certified_but_by_rows_held_out(kind: type[RowCommittee]) -> None:
    X, y = noisy(500, 4, 0)
    few = {MajorityOfBoosters: "n", SubsampledBoost: "max_members", BaggedBoost: "n_bags"}
    small: dict[str, Any] = {"n_estimators": 5, "random_state": 0, few[kind]: 3}
    with pytest.raises(NotCertified, match="set certify='holdout'"):
        _ = kind(**small).fit(X, y).certificate_
    certificate = kind(**small, certify="holdout", delta=0.01).fit(X, y).certificate_
    assert certificate.bound == "holdout.clopper_pearson"
    assert (certificate.size, certificate.delta) == (100, 0.01)


def test_hold_out_certificate_covers() -> None:
    world = Halfspaces((1.0, 1.0, 0.5), 0.2)
    runs, failures = 25, 0
    for seed in range(runs):
        X, y = world.draw(500, seed)
        model = MajorityOfBoosters(n_estimators=15, certify="holdout", random_state=seed).fit(X, y)
        risk = world.risk(model.decision_function, 2**13)
        failures += risk - 4 * risk.standard_error > model.certificate_.value
    check_coverage("majority of three boosters, hold-out", failures, runs, 0.05)


def test_too_few_rows_get_bags_instead_and_say_so() -> None:
    X, y = noisy(120, 3, 0)
    with pytest.warns(TooFewRowsWarning, match="120 rows .* 300"):
        model = MajorityOfBoosters(n_estimators=5, random_state=0).fit(X, y)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model.fit(X, y)
    assert [warning.filename for warning in told] == [__file__]
    assert model.part_sizes_.tolist() == [120] * 3
    for members, words in ((81, " 100 .*3 boosters"), (1, " 100 .*one booster")):
        with pytest.warns(TooFewRowsWarning, match=words):
            SubsampledBoost(members, n_estimators=5, random_state=0).fit(X[:50], y[:50])


@each_value
@pytest.mark.parametrize("learner", ["stump", "tree"])
@pytest.mark.parametrize("classes", [2, 3])
def test_saved_and_loaded(learner: str, classes: int, tmp_path: Path) -> None:
    X, y = load_iris(return_X_y=True)
    X, y = np.tile(X[y < classes], (5, 1)), np.tile(y[y < classes], 5)
    X += 1e-3 * np.random.default_rng(0).normal(size=X.shape)  # copies would be noticed
    model = MajorityOfBoosters(
        booster="adaboost", learner=learner, n_estimators=5, certify="holdout", random_state=0
    ).fit(X, y)
    path = tmp_path / "model.json"
    model.save(path)
    again = load(path)
    assert isinstance(again, MajorityOfBoosters)
    assert (again.predict_proba(X) == model.predict_proba(X)).all()
    assert again.certificate_ == model.certificate_
    assert all(check.holds for check in verify(path)), verify(path)
    sizes = [len(vote.hypotheses) for vote in model.votes_of_members_]
    assert [len(vote.hypotheses) for vote in again.votes_of_members_] == sizes
    assert again.feature_importances_.sum() == pytest.approx(1)


def test_black_boxes_and_categories() -> None:
    X, y = noisy(600, 4, 0)
    tree = DecisionTreeClassifier(max_depth=2)
    model = MajorityOfBoosters(learner=tree, n_estimators=5, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.65
    frame = pd.DataFrame({"a": X[:, 0], "b": np.where(X[:, 1] > 0, "high", "low")})
    target = np.where((X[:, 1] > 0) ^ (X[:, 0] > 1.5), "yes", "no")
    mixed = MajorityOfBoosters(5, n_estimators=10, random_state=0).fit(frame, target)
    assert mixed.score(frame, target) > 0.9
    assert len(mixed.rules()) == 5


def test_interrupt_keeps_the_members_done() -> None:
    X, y = noisy(600, 4, 0)
    model = MajorityOfBoosters(5, "adaboost", Interrupted(), 3, random_state=0, n_jobs=1)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert [len(vote.hypotheses) for vote in model.votes_of_members_] == [3, 3, 3]
    assert model.ledger_.stopped == "interrupted"
    assert model.score(X, y) > 0.5


class EndlessOnOne:
    """Knows the truth on all parts but the first; when it is at the third, Ctrl-C is pressed."""

    def __init__(self) -> None:
        self.parts: list[float] = []
        self.calls = 0

    def __call__(self, X: Rows, y: Rows, weights: Rows) -> Any:
        if X[0, 0] not in self.parts:
            self.parts.append(X[0, 0])
        if X[0, 0] != self.parts[0]:
            return lambda rows: np.sign(rows[:, 1])
        self.calls += 1
        time.sleep(1e-3)  # other threads shall have their turn
        if len(self.parts) == 3 and not hasattr(self, "pressed_at"):
            self.pressed_at = self.calls
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        # An edge of 0.2 in every round, so that it never ends by itself.
        light = np.argsort(weights)
        said = y.copy()
        said[light[np.cumsum(weights[light]) <= 0.4 * weights.sum()]] *= -1
        return lambda rows: said


def interrupted() -> None:
    """The first member is not done, and does not go on for all its rounds; those after it are."""
    X = np.random.default_rng(0).normal(size=(600, 20))
    y = np.sign(X[:, 1])
    learner = EndlessOnOne()
    model = MajorityOfBoosters(3, "adaboost", learner, 2_000, random_state=0, n_jobs=2)
    with pytest.raises(KeyboardInterrupt) as caught:
        model.fit(X, y)
    kept = len(model.votes_of_members_)
    assert kept in (1, 2)
    assert f"the {kept} members done before" in caught.value.__notes__[0]
    assert model.part_sizes_.tolist() == [200] * kept
    assert model.score(X, y) == 1


def test_interrupt_is_heard_while_several_boosters_are_at_work() -> None:
    """Also after polars was imported, which lets the system restart waits that Ctrl-C ended."""
    home = "tests.theory.test_majorities"
    code = f"import polars; from {home} import interrupted; interrupted()"
    root = Path(__file__).parents[2]
    subprocess.run([sys.executable, "-c", code], cwd=root, check=True, timeout=600)


def test_no_edge_and_one_class_are_told() -> None:
    X = np.tile([[0.0], [1.0]], (200, 1))
    with pytest.warns(NoEdgeWarning, match="no member"):
        blind = MajorityOfBoosters(1, n_estimators=3).fit(X, np.repeat([0, 1], 200))
    assert (blind.decision_function(X) == 0).all()
    assert blind.mistakes(X, np.zeros(400)).all()
    with pytest.warns(OneClassWarning):
        model = MajorityOfBoosters(n_estimators=3).fit(X, np.zeros(400))
    assert set(model.predict(X)) == {0.0}


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (MajorityOfBoosters(4), "n is 4; it must be odd"),
        (MajorityOfBoosters(booster="best"), "booster is 'best'"),
        (MajorityOfBoosters(certify="train"), "certify is 'train'; it may be 'holdout'"),
        (BaggedBoost(bag_share=1.5), "bag_share is 1.5"),
    ],
)
def test_bad_parameters(model: RowCommittee, words: str) -> None:
    X, y = noisy(400, 3, 0)
    with pytest.raises(ParameterError, match=words):
        model.fit(X, y)
    assert not hasattr(model, "classes_")


def test_on_real_data_they_keep_up_with_one_booster() -> None:
    data = real_data("magic_telescope", "class")
    X, y = data.table.rows(), data.labels
    order = np.random.default_rng(0).permutation(len(y))
    train, test = order[:12_000], order[12_000:]
    model = MajorityOfBoosters(5, n_estimators=50, random_state=0).fit(X[train], y[train])
    one = AdaBoostClassifier(n_estimators=50).fit(X[train], y[train])
    assert 1 - model.score(X[test], y[test]) < 1.1 * (1 - one.score(X[test], y[test]))


def test_bagging_helps_where_one_booster_fits_noise() -> None:
    X, y = hastie().draw(600, 1)
    new, truth = hastie().draw(4000, 2)
    bagged = BaggedBoost(30, learner="tree", n_estimators=20, random_state=0).fit(X, y)
    one = MajorityOfBoosters(1, "adaboost", learner="tree", n_estimators=20, random_state=0)
    assert bagged.score(new, truth) > one.fit(X, y).score(new, truth) + 0.02


def test_three_trees_beat_one() -> None:
    X, y = hastie().draw(9000, 1)
    new, truth = hastie().draw(4000, 2)
    model = ThreeLearnerBoost("tree", random_state=0).fit(X, y)
    (rule,) = model.model_.vote.hypotheses
    assert isinstance(rule, Three)
    one = DecisionTreeClassifier(max_leaf_nodes=31, random_state=0).fit(X, y)
    assert model.score(new, truth) > one.score(new, truth) + 0.02
    assert not model.report_.too_few


@pytest.mark.parametrize(
    "learner", [KNeighborsClassifier(), LogisticRegression(), GaussianNB(), "stump"]
)
def test_any_learner_will_do_with_or_without_weights(learner: Any) -> None:
    X, y = noisy(900, 4, 0)
    model = ThreeLearnerBoost(learner, certify="holdout", random_state=0).fit(X, y)
    assert model.score(X, y) > 0.6
    assert model.certificate_.value < 0.5
    assert model.certificate_.size == 180


def test_more_than_two_classes() -> None:
    data = real_data("letter", "class")
    X, y = data.table.rows(), data.labels
    model = ThreeLearnerBoost(DecisionTreeClassifier(random_state=0), random_state=0)
    model.fit(X[:12_000], y[:12_000])
    (rule,) = model.estimators_
    numbers = np.searchsorted(model.classes_, y[12_000:])
    alone = [part.inner.score(X[12_000:], numbers) for part in (rule.first, rule.second)]
    assert model.score(X[12_000:], y[12_000:]) > max(alone) + 0.03
    assert len(model.classes_) == 26


def test_too_few_rows_say_how_many_are_needed_and_nothing_is_certified() -> None:
    X, y = noisy(30, 3, 0)
    with pytest.warns(TooFewRowsWarning, match=r"30 rows .* [\d,]+ rows"):
        model = ThreeLearnerBoost(random_state=0).fit(X, y)
    assert model.predict(X).shape == (30,)
    with pytest.raises(NotCertified, match="set certify='holdout'"):
        _ = model.certificate_


class InterruptedTree(Tree):
    """Learns so many rules, and is then interrupted."""

    def on(self, sample: Sample) -> TreeSearch:
        self.__dict__.setdefault("learned", []).append(sample.n_rows)
        if len(self.__dict__["learned"]) > self.max_leaves - 4:
            raise KeyboardInterrupt
        return super().on(sample)


@pytest.mark.parametrize("learned", [1, 2])
def test_interrupt_keeps_the_first_rule(learned: int) -> None:
    X, y = noisy(900, 4, 0)
    model = ThreeLearnerBoost(InterruptedTree(4 + learned), certify="holdout", random_state=0)
    with pytest.raises(KeyboardInterrupt) as caught:
        model.fit(X, y)
    assert "the first rule" in caught.value.__notes__[0]
    assert model.ledger_.stopped == "interrupted"
    (rule,) = model.estimators_
    assert not isinstance(rule, Three)
    assert model.score(X, y) > 0.6
    assert model.certificate_.size == 180
    assert (model.report_.mistakes > 0) == (learned == 2)
    assert model.report_.needed > 0


def test_interrupt_before_the_first_rule_leaves_everything_as_it_was() -> None:
    X, y = noisy(900, 4, 0)
    model = ThreeLearnerBoost(random_state=0).fit(X, y)
    before = model_bytes(model.model_)
    with pytest.raises(KeyboardInterrupt):
        model.set_params(learner=InterruptedTree(4)).fit(X[:300], y[:300])
    assert model_bytes(model.model_) == before


def test_one_class_and_bad_parameters() -> None:
    X, y = noisy(60, 3, 0)
    with pytest.warns(OneClassWarning):
        assert set(ThreeLearnerBoost().fit(X, np.ones(60)).predict(X)) == {1.0}
    with pytest.raises(ParameterError, match="certify is 'train'"):
        ThreeLearnerBoost(certify="train").fit(X, y)
    with pytest.raises(ParameterError, match="learner is 'net'"):
        ThreeLearnerBoost("net").fit(X, y)
