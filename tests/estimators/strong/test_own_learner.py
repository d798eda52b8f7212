"""StrongClassifier boosts a learner of the user, and keeps or disproves what it promises."""

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import pacboost
from pacboost import StrongClassifier
from pacboost.errors import NoEdgeWarning, ParameterError
from pacboost.theory.learners import Adversary, WeakStump
from tests.estimators.boosting.own_learners import WORLDS

GENERATOR = np.random.default_rng(0)
X = GENERATOR.normal(size=(500, 3))
CLEAN = (X[:, 0] + X[:, 1] > 0).astype(int)
NOISY = np.where(GENERATOR.random(500) < 0.15, 1 - CLEAN, CLEAN)


def fitted(learner: Any, y: Any = CLEAN, epsilon: float = 0.1, **options: Any) -> Any:
    model = StrongClassifier(epsilon, learner=learner, random_state=0, **options)
    with warnings.catch_warnings(action="ignore", category=NoEdgeWarning):
        return model.fit(X, y)


@pytest.mark.parametrize("name", WORLDS)
@pytest.mark.parametrize("edge", [None, 0.2])
def test_rows_as_they_came_are_boosted_until_epsilon_is_certified(
    name: str, edge: float | None
) -> None:
    world = WORLDS[name]()
    model = StrongClassifier(0.1, learner=world.learner(), edge=edge, random_state=0)
    model.fit(world.some(0, 300), world.labels[:300])
    assert model.verdict_.reached
    assert model.certificate_.value <= 0.1
    assert model.counterexample_ is None
    new, truth = world.some(300, 400), world.labels[300:]
    assert model.score(new, truth) == 1.0
    assert pacboost.certify(model, new, truth).value < 0.05
    assert "rules of best by" in model.choice_


def test_functions_objects_and_classifiers_are_learners() -> None:
    def with_weights(rows: Any, y: Any, weights: Any) -> Any:
        return DecisionTreeClassifier(max_depth=2).fit(rows, y, sample_weight=weights)

    def without(rows: Any, y: Any) -> Any:
        return DecisionTreeClassifier(max_depth=2, random_state=0).fit(rows, y)

    for learner in (with_weights, without, DecisionTreeClassifier(max_depth=2), "stump"):
        model = fitted(learner, epsilon=0.15)
        assert model.verdict_.reached, learner
        assert model.score(X, CLEAN) > 0.93


def test_a_learner_that_loses_its_edge_is_told_where() -> None:
    model = fitted(lambda rows, y, w: lambda new: np.where(new[:, 0] > 0, 1, -1), NOISY, 0.05)
    assert model.verdict_.reached is False
    lost = model.evidence_.lost
    assert lost.round == len(model.ledger_) + 1 == 2
    wrong = np.flatnonzero(np.where(X[:, 0] > 0, 1, 0) != NOISY)
    assert set(lost.rows) <= set(wrong.tolist())  # rows are numbered as they were given
    assert len(lost.rows) == 5
    assert "lost its edge in round 2" in model.sentence_
    assert "a richer learner" in model.verdict_.reason


@pytest.mark.parametrize("edge", [0.1, 0.3])
def test_a_promise_is_kept_or_there_is_a_counterexample(edge: float) -> None:
    kept = fitted(WeakStump(0.05), CLEAN, 0.2, edge=0.05)
    assert kept.counterexample_ is None
    model = fitted("stump", NOISY, 0.05, edge=edge)
    counter = model.counterexample_
    assert counter.problem(len(model.ledger_)) is None
    assert counter.edge < counter.promised == edge
    assert f"of the promised {edge:g}" in model.sentence_
    assert model.evidence_.counterexample == counter
    assert set(counter.rows) <= set(range(len(X)))
    # the rules, asked for the named rows among all rows, have these edges
    rows, signs = list(counter.rows), np.where(NOISY == 1, 1, -1)
    scores = np.array(list(model.staged_decision_function(X[rows])))
    assert scores.shape[1] == len(rows)
    weights = counter.shares * signs[rows]
    assert abs(float(weights @ np.sign(scores[0]))) == pytest.approx(
        abs(float(counter.edges[0])), abs=1e-9
    )


def test_an_adversary_with_less_than_it_promises_is_disproved() -> None:
    model = StrongClassifier(0.05, learner=Adversary(0.1), edge=0.2, random_state=0)
    with warnings.catch_warnings(action="ignore", category=NoEdgeWarning):
        model.fit(X[:30], CLEAN[:30])  # an adversary answers for the rows of the fit alone
    counter = model.counterexample_
    assert counter is not None
    assert counter.edge < 0.2
    assert counter.problem(len(model.ledger_)) is None


def test_files_and_reports_state_the_counterexample(tmp_path: Any) -> None:
    model = fitted("stump", NOISY, 0.05, edge=0.3)
    model.save(tmp_path / "m.pacb")
    assert pacboost.load(tmp_path / "m.pacb").counterexample_ == model.counterexample_
    assert all(check.holds for check in pacboost.verify(tmp_path / "m.pacb"))
    page = model.report(tmp_path / "r.html").read_text()
    assert "of the promised 0.3" in page


def test_three_classes_and_rows_that_are_drawn() -> None:
    three = np.digitize(X[:, 0], [-0.5, 0.5])
    model = fitted(DecisionTreeClassifier(max_depth=2), three)
    assert model.verdict_.reached
    with pytest.raises(ParameterError, match="two classes") as error:
        fitted("stump", three, edge=0.2)
    assert error.value.parameter == "edge"
    with pytest.raises(ParameterError, match="no learner is given"):
        fitted(None, edge=0.2)
    drawn = StrongClassifier(0.2, learner=KNeighborsClassifier(3), n_estimators=3, random_state=0)
    drawn.fit_source((X, CLEAN))
    assert "KNeighborsClassifier" in drawn.rules()[-1]
