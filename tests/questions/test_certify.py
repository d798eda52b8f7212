"""certify: any classifier, on rows it has not seen, and a refusal on those it has."""

import copy
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import pacboost
from pacboost import AdaBoostClassifier, certify, certify_all
from pacboost.bounds import held_out, holdout, wording
from pacboost.errors import DataError, InputWarning, NotCertified, ParameterError
from pacboost.hypotheses.vote import Vote
from pacboost.numerics.percent import percent
from pacboost.samples.sketch import Sketch
from pacboost.theory.worlds import Boxes, LabelNoise
from tests.bounds.coverage import check_coverage, check_rejected
from tests.runs import several_runs
from tests.worlds import noisy

X, Y = noisy(600, 4, seed=1)
FRESH, LABELS = noisy(500, 4, seed=2)


@pytest.fixture(scope="module")
def model() -> AdaBoostClassifier:
    return AdaBoostClassifier(n_estimators=20).fit(X, Y)


def test_counts_mistakes_on_fresh_rows(model: AdaBoostClassifier) -> None:
    certificate = certify(model, FRESH, LABELS, delta=0.02)
    k = int((model.predict(FRESH) != LABELS).sum())
    assert certificate.inputs["k"] == k
    assert certificate.size == certificate.inputs["n"] == 500
    assert certificate.value == holdout.clopper_pearson(k, 500, 0.02)
    assert certificate.delta == 0.02
    assert pacboost.certify is certify


@pytest.mark.parametrize(
    "other",
    [
        LogisticRegression(),
        RandomForestClassifier(5, random_state=0),
        make_pipeline(StandardScaler(), DecisionTreeClassifier(max_depth=2)),
        make_pipeline(StandardScaler(), AdaBoostClassifier(n_estimators=3)),
        DummyClassifier(),
    ],
)
def test_any_classifier(other: Any) -> None:
    other.fit(X, Y)
    certificate = certify(other, FRESH, LABELS)
    assert certificate.inputs["k"] == (other.predict(FRESH) != LABELS).sum()


def test_several_classes_with_names() -> None:
    data = load_iris()
    names = data.target_names[data.target]
    forest = RandomForestClassifier(10, random_state=0).fit(data.data[::2], names[::2])
    certificate = certify(forest, data.data[1::2], names[1::2])
    k = int((forest.predict(data.data[1::2]) != names[1::2]).sum())
    assert certificate.inputs["k"] == k
    assert certificate.value == holdout.clopper_pearson(k, 75, 0.05)


def test_labels_and_rows_may_come_as_lists_and_frames(model: AdaBoostClassifier) -> None:
    expected = certify(model, FRESH, LABELS)
    assert certify(model, FRESH.tolist(), LABELS.tolist()) == expected
    assert certify(model, FRESH, pd.Series(LABELS)) == expected
    tree = DecisionTreeClassifier(max_depth=2).fit(X, Y)
    assert certify(tree, FRESH.tolist(), LABELS.tolist()) == certify(tree, FRESH, LABELS)


def test_ties_count_as_mistakes() -> None:
    """Two rules of equal votes that disagree on half of the rows."""
    rows = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]] * 30)
    labels = np.where(rows.sum(axis=1) > 1, 1, 0)
    model = AdaBoostClassifier(n_estimators=5).fit(rows, labels)
    wrong = model.mistakes(rows, labels)
    scores = model.decision_function(rows)
    np.testing.assert_array_equal(wrong, (scores == 0) | (model.predict(rows) != labels))


def test_groups_are_counted_instead_of_rows(model: AdaBoostClassifier) -> None:
    groups = np.repeat(np.arange(100), 5)
    certificate = certify(model, FRESH, LABELS, groups=groups)
    shares = (model.predict(FRESH) != LABELS).reshape(100, 5).mean(axis=1)
    assert certificate.size == 100
    assert holdout.mean_share(certificate.inputs["shares"]) == pytest.approx(
        shares.mean(), abs=1e-3
    )
    assert shares.mean() < certificate.value < holdout.groups_bound(shares.mean(), 100, 0.05)
    named = certify(model, FRESH, LABELS, groups=[f"patient {g}" for g in groups])
    assert named == certificate
    order = np.random.default_rng(0).permutation(500)
    mixed = certify(model, FRESH[order], LABELS[order], groups=groups[order])
    assert mixed.value == pytest.approx(certificate.value, rel=1e-9)


def test_ordered_rows(model: AdaBoostClassifier) -> None:
    certificate = certify(model, FRESH, LABELS, ordered=True)
    k = int((model.predict(FRESH) != LABELS).sum())
    assert certificate.value == holdout.ordered_mixture(k, 500, 0.05)
    assert certificate.value < holdout.hoeffding(k, 500, 0.05) + 0.006  # little above Azuma at 30 %
    assert certificate.value > certify(model, FRESH, LABELS).value


def test_not_groups_and_order_at_once(model: AdaBoostClassifier) -> None:
    with pytest.raises(ParameterError, match="groups and ordered"):
        certify(model, FRESH, LABELS, groups=np.arange(500), ordered=True)


@pytest.fixture(params=[AdaBoostClassifier(n_estimators=3), DecisionTreeClassifier(max_depth=2)])
def fitted(request: pytest.FixtureRequest) -> Any:
    return clone(request.param).fit(X, Y)


def test_refuses_an_empty_hold_out(fitted: Any) -> None:
    with pytest.raises(ValueError, match=r"at least one|minimum|no rows"):
        certify(fitted, FRESH[:0], LABELS[:0])


def test_refuses_wrong_lengths(fitted: Any) -> None:
    with pytest.raises(DataError):
        certify(fitted, FRESH, LABELS[:-1])
    with pytest.raises(DataError):
        certify(fitted, FRESH[:-1], LABELS)
    with pytest.raises(DataError, match="groups"):
        certify(fitted, FRESH, LABELS, groups=np.arange(499))
    with pytest.raises(ValueError, match="features"):
        certify(fitted, FRESH[:, :2], LABELS)


@pytest.mark.parametrize("unfitted", [AdaBoostClassifier(), DecisionTreeClassifier()])
def test_refuses_an_unfitted_model(unfitted: Any) -> None:
    with pytest.raises(NotFittedError):
        certify(unfitted, FRESH, LABELS)


def test_refuses_a_table_of_answers() -> None:
    class Strange:
        def predict(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
            return np.zeros((len(X), 2))

    with pytest.raises(DataError, match="shape"):
        certify(Strange(), FRESH, LABELS)
    with pytest.raises(DataError, match="shape"):
        certify(DecisionTreeClassifier().fit(X, Y), FRESH, np.c_[LABELS, LABELS])


def test_a_foreign_attribute_of_the_same_name_is_no_method_of_ours() -> None:
    class Foreign:
        mistakes = 3
        overlap = 0.5

        def predict(self, X: NDArray[np.float64]) -> NDArray[np.int64]:
            return np.ones(len(X), dtype=np.int64)

    assert certify(Foreign(), FRESH, LABELS).inputs["k"] == (LABELS != 1).sum()


def test_refuses_training_rows(model: AdaBoostClassifier) -> None:
    order = np.random.default_rng(0).permutation(600)
    with pytest.raises(NotCertified, match="600 of 600"):
        certify(model, X, Y)
    with pytest.raises(NotCertified, match="trained on"):
        certify(model, X[order[:300]], Y[order[:300]])
    with pytest.raises(NotCertified, match="hold some back"):
        certify(model, X.astype(np.float32), Y)
    mixed = np.concatenate([X[:100], FRESH[:100]])
    with pytest.raises(NotCertified, match="100 of 200"):
        certify(model, mixed, np.concatenate([Y[:100], LABELS[:100]]))
    with pytest.raises(NotCertified):
        certify(model, X, Y, groups=np.arange(600) // 3)
    with pytest.raises(NotCertified):
        certify(model, X, Y, ordered=True)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_refuses_training_rows_of_a_frame(frame: Any) -> None:
    names = ["a", "b", "c", "d"]
    columns = {name: X[:, j] for j, name in enumerate(names)}
    model = AdaBoostClassifier(n_estimators=3).fit(frame(columns), Y)
    with pytest.raises(NotCertified, match="600 of 600"):
        certify(model, frame(columns), Y)
    fresh = {name: FRESH[:, j] for j, name in enumerate(names)}
    certify(model, frame(fresh), LABELS)


def test_rows_held_back_by_fit_itself_are_refused_too() -> None:
    model = AdaBoostClassifier(n_estimators=5, early_stopping=True, random_state=0).fit(X, Y)
    with pytest.raises(NotCertified, match="600 of 600"):
        certify(model, X, Y)


def test_validation_rows_that_stopped_the_run_are_refused() -> None:
    """They chose the number of rounds, so they are no hold-out."""
    model = AdaBoostClassifier(n_estimators=50).fit(X, Y, X_val=FRESH, y_val=LABELS)
    with pytest.raises(NotCertified):
        certify(model, FRESH, LABELS)


@pytest.mark.parametrize("missing", [None, np.nan])
def test_rows_without_a_group_are_one_group(model: AdaBoostClassifier, missing: object) -> None:
    groups = np.array([missing, missing, *range(len(LABELS) - 2)], dtype=object)
    named = np.array(["x", "x", *range(len(LABELS) - 2)], dtype=object)
    with pytest.warns(InputWarning, match=r"groups.* 2 of"):
        found = certify(model, FRESH, LABELS, groups=groups)
    assert found.value == certify(model, FRESH, LABELS, groups=named).value


def test_the_sketch_may_be_left_out(model: AdaBoostClassifier, tmp_path: Path) -> None:
    model.save(path := tmp_path / "model.pacb", remember_rows=False)
    forgetful = copy.copy(model)
    forgetful.forget_rows()
    salt = model._sketches[0].hasher.salt
    assert f"{salt:016x}".encode() not in path.read_bytes()
    known = certify(model, FRESH, LABELS)
    for again in (pacboost.load(path), forgetful):
        assert again.overlap(X) is None
        told = certify(again, FRESH, LABELS)
        assert told.claim.startswith("If these rows are new: ")
        assert told.assumptions == (*known.assumptions, wording.UNCHECKED)
        assert not told.rows_checked
        assert told.value == known.value
    assert model.overlap(X) is not None


def test_a_failed_fit_keeps_the_earlier_sketch() -> None:
    model = AdaBoostClassifier(n_estimators=3).fit(X, Y)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(FRESH, np.where(LABELS > 0, np.nan, 0.0))
    with pytest.raises(NotCertified):
        certify(model, X, Y)


@several_runs(60, 600)
def test_coverage_and_the_twin_on_training_rows(runs: int) -> None:
    """Labels of a box with noise; the risk of every vote of stumps is known exactly."""
    world = LabelNoise(Boxes((0.3,), (0.8,)), 0.25)
    delta = 0.05
    honest = cheated = 0
    for seed in range(runs):
        generator = np.random.default_rng(seed)
        model = DecisionTreeClassifier(max_leaf_nodes=12).fit(*(train := world.draw(80, generator)))
        cuts = model.tree_.threshold[model.tree_.children_left >= 0]
        clean = Boxes((0.3,), (0.8,)).piecewise_risk(model.predict, [cuts])
        risk = world.noisy_risk(clean)
        honest += certify(model, *world.draw(100, generator), delta=delta).value < risk
        cheated += certify(model, *train, delta=delta).value < risk
    check_coverage("certify, trees on fresh rows", honest, runs, delta)
    check_rejected("twin: certify on the training rows", cheated, runs, delta)


# Labels that a model can never get right are named, and not counted as mistakes.

X_OF_MISTAKES = np.random.default_rng(0).normal(size=(200, 2))
Y_OF_MISTAKES = (X_OF_MISTAKES[:, 0] > 0).astype(int)


@pytest.mark.parametrize("kind", [AdaBoostClassifier, LogisticRegression])
def test_numbers_and_truth_values_are_labels_of_one_type(kind: type) -> None:
    model = kind().fit(X_OF_MISTAKES[:100], Y_OF_MISTAKES[:100])
    assert certify(model, X_OF_MISTAKES[100:], Y_OF_MISTAKES[100:].astype(float)).value < 0.2
    assert certify(model, X_OF_MISTAKES[100:], Y_OF_MISTAKES[100:] > 0).value < 0.2


def test_some_labels_may_be_unknown() -> None:
    model = AdaBoostClassifier().fit(X_OF_MISTAKES[:100], Y_OF_MISTAKES[:100])
    labels = np.where(np.arange(100) < 30, 7, Y_OF_MISTAKES[100:])
    assert int(certify(model, X_OF_MISTAKES[100:], labels).inputs["k"]) >= 30


def test_a_compressed_vote_forgets_what_was_counted_for_the_vote_before() -> None:
    model = AdaBoostClassifier(n_estimators=5, certify="holdout", random_state=0).fit(
        X_OF_MISTAKES, Y_OF_MISTAKES
    )
    assert model.model_.held_out is not None
    assert pacboost.theory.compress(model, X_OF_MISTAKES, Y_OF_MISTAKES).model_.held_out is None


def test_a_certificate_says_what_the_command_line_prints(model: AdaBoostClassifier) -> None:
    certificate = certify(model, FRESH, LABELS)
    assert certificate.beside is not None
    counted, names = certificate.beside
    assert (counted.rows, names) == (500, tuple(map(str, model.classes_)))
    baseline = percent(min(np.bincount(np.unique(LABELS, return_inverse=True)[1])) / 500)
    for part in ("95 %", "500 held-out rows", f"{certificate.inputs['k']} wrong", baseline):
        assert part in certificate.sentence
    assert "beside" not in certificate.to_json()
    assert type(certificate).from_json(certificate.to_json()) == certificate


def test_losses_of_all_rows_are_not_printed() -> None:
    plain = LogisticRegression().fit(X, Y)
    certificate = certify(plain, FRESH, LABELS, of="log_loss")
    assert len(str(certificate.inputs["losses"])) > 1000
    assert len(str(certificate)) < 1200
    assert f"{certificate.details['seen']:.6g}" in str(certificate)
    assert "500" in str(certificate)
    assert max(map(len, (repr(certificate), repr(certify_all(plain, FRESH, LABELS))))) <= 100


@pytest.mark.parametrize("table", [np.asarray, pd.DataFrame])
def test_rows_are_scored_and_compared_once(
    monkeypatch: pytest.MonkeyPatch, table: Callable[[Any], Any]
) -> None:
    model = AdaBoostClassifier(n_estimators=2).fit(table(X), Y)
    scaled = make_pipeline(StandardScaler(), AdaBoostClassifier(n_estimators=2)).fit(table(X), Y)
    calls: Counter[str] = Counter()

    def count(kind: type, name: str) -> None:
        method = getattr(kind, name)

        def counted(self: Any, *arguments: Any) -> Any:
            calls[name] += 1
            return method(self, *arguments)

        monkeypatch.setattr(kind, name, counted)

    count(Vote, "scores")
    count(Sketch, "overlap")
    count(StandardScaler, "transform")
    certify(model, table(FRESH), LABELS)
    assert calls == {"scores": 1, "overlap": 1}
    certify(scaled, table(FRESH), LABELS)
    # to predict, to compare, and beside 25 single rows two calls for all of these
    assert calls["overlap"] == 2
    assert calls["transform"] == 2 + 2 + 25


def test_labels_of_text_are_counted_as_numbers_are() -> None:
    names, new_names = (np.where(labels > 0, "yes", "no") for labels in (Y, LABELS))
    by_number = certify(LogisticRegression().fit(X, Y), FRESH, LABELS)
    by_name = certify(LogisticRegression().fit(X, names), FRESH, new_names)
    as_objects = certify(LogisticRegression().fit(X, names), FRESH, new_names.astype(object))
    assert by_number.value == by_name.value
    assert by_name.sentence == as_objects.sentence
    assert held_out.class_numbers(np.array(["a", "c", "b"]), np.array(["b", "a"])).tolist() == [
        1,
        2,
        0,
    ]
