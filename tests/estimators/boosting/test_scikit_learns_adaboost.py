"""scikit-learn's own tests of its AdaBoost, with our classes in the place of theirs."""

import importlib.util
import pickle
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import sklearn.ensemble
from scipy import sparse
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from pacboost import AdaBoostClassifier, AdaBoostRegressor, BoostClassifier
from pacboost.errors import DataError, DenseWarning

LEFT_OUT = {
    "test_adaboost_classifier_sample_weight_error": "the wording of the error is ours",
    "test_adaboost_decision_function": "it tests the scale of SAMME's scores; ours are votes",
    "test_deprecated_algorithm": "a parameter of scikit-learn before 1.8 that did nothing",
    "test_adaboostclassifier_without_sample_weight": "learners without weights get drawn rows",
    "test_estimator": "it ends with rows on which SAMME has no edge; AdaBoost.MH has one",
    "test_iris": "it looks for the random_state of trees; our stumps draw nothing",
    "test_sample_weights_infinite": "weights are whole numbers here, and never become infinite",
}
"""The tests that are not run, and why."""


def with_our_classes() -> ModuleType:
    """Load their tests while scikit-learn's names stand for our classes."""
    found = importlib.util.find_spec("sklearn.ensemble.tests.test_weight_boosting")
    assert found is not None
    assert found.origin is not None
    spec = importlib.util.spec_from_file_location("their_tests", found.origin)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        for ours in (AdaBoostClassifier, AdaBoostRegressor):
            patch.setattr(sklearn.ensemble, ours.__name__, ours)
        spec.loader.exec_module(module)
    return module


THEIRS = with_our_classes()
assert THEIRS.AdaBoostClassifier is AdaBoostClassifier
assert THEIRS.AdaBoostRegressor is AdaBoostRegressor


def calls() -> list[Any]:
    found = []
    for name, test in vars(THEIRS).items():
        if not name.startswith("test_") or name in LEFT_OUT:
            continue
        given: list[dict[str, Any]] = [{}]
        for mark in getattr(test, "pytestmark", []):
            names = [one.strip() for one in mark.args[0].split(",")]
            rows = [row if len(names) > 1 else (row,) for row in mark.args[1]]
            given = [{**one, **dict(zip(names, row, strict=True))} for one in given for row in rows]
        found += [pytest.param(test, one, id=f"{name}-{k}") for k, one in enumerate(given)]
    return found


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(("test", "given"), calls())
def test_passes_their_test(test: Any, given: dict[str, Any]) -> None:
    test(**given)


def test_most_of_their_tests_are_run() -> None:
    known = {name for name in vars(THEIRS) if name.startswith("test_")}
    assert len(known - set(LEFT_OUT)) >= 10
    assert {"test_sparse_classification", "test_multidimensional_X"} <= known - set(LEFT_OUT)


def test_iris_is_learned_and_trees_draw_differently() -> None:
    """What two of the tests left out ask for, where it applies."""
    X, y = sklearn.datasets.load_iris(return_X_y=True)
    model = AdaBoostClassifier().fit(X, y)
    assert model.predict_proba(X).shape == model.decision_function(X).shape == (150, 3)
    assert model.score(X, y) > 0.9
    boxes = AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=5).fit(X, y)
    assert len({inner.random_state for inner in boxes.estimators_}) == 5


class Noting(LogisticRegression):  # type: ignore[misc]
    """Notes the class of the rows that it was given, to fit and to predict."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        self.seen_ = [type(X)]
        return super().fit(X, y, sample_weight=sample_weight)

    def predict(self, X: Any) -> Any:
        self.seen_.append(type(X))
        return super().predict(X)


X, Y = sklearn.datasets.make_classification(120, 6, n_informative=4, random_state=0)


@pytest.mark.parametrize(
    ("kind", "classes"), [(sparse.csr_matrix, 2), (sparse.csc_array, 2), (sparse.csr_array, 3)]
)
def test_black_boxes_see_sparse_rows_as_they_came(kind: Any, classes: int) -> None:
    y = np.where(X[:, 0] > 1, 2, Y) if classes == 3 else Y
    for model in (
        AdaBoostClassifier(Noting(), n_estimators=3, random_state=0),
        BoostClassifier("adaboost", Noting(), n_estimators=3, random_state=0),
        AdaBoostClassifier(Noting(), 3, resample=True, certify="holdout", random_state=0),
    ):
        model.fit(kind(X), y)
        model.predict(kind(X))
        assert {form for inner in model.estimators_ for form in inner.seen_} == {kind}
        dense = model.__class__(**model.get_params(deep=False)).fit(X, y)
        np.testing.assert_allclose(
            model.decision_function(kind(X)), dense.decision_function(X), atol=1e-9
        )
        np.testing.assert_allclose(model.decision_function(X), dense.decision_function(X))


def test_black_boxes_that_take_no_sparse_rows_get_dense_ones() -> None:
    model = AdaBoostClassifier(GaussianNB(), n_estimators=3, random_state=0)
    with pytest.warns(DenseWarning):
        model.fit(sparse.csr_array(X), Y)
    dense = AdaBoostClassifier(GaussianNB(), n_estimators=3, random_state=0).fit(X, Y)
    assert np.array_equal(model.decision_function(X), dense.decision_function(X))

    def rule(rows: Any, y: Any, weights: Any) -> Any:
        assert sparse.issparse(rows)  # a function gets what came
        return lambda new: new[:, [0]].toarray()[:, 0]

    AdaBoostClassifier(rule, n_estimators=2).fit(sparse.csr_array(X), Y)


def test_rows_of_several_dimensions_reach_the_black_box_in_their_shape() -> None:
    class Flattening(LogisticRegression):  # type: ignore[misc]
        def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
            assert X.shape[1:] == (2, 3)
            return super().fit(X.reshape(len(X), -1), y, sample_weight=sample_weight)

        def predict(self, X: Any) -> Any:
            assert X.shape[1:] == (2, 3)
            return super().predict(X.reshape(len(X), -1))

    rows = X.reshape(-1, 2, 3)
    options: dict[str, Any] = {"n_estimators": 3, "certify": "holdout", "random_state": 0}
    model = AdaBoostClassifier(Flattening(), **options).fit(rows, Y)
    flat = AdaBoostClassifier(LogisticRegression(), **options).fit(X, Y)
    assert np.array_equal(model.decision_function(rows), flat.decision_function(X))
    assert model.certificate_.value == flat.certificate_.value
    with pytest.raises(DataError, match=r"\(3, 2\), but AdaBoostClassifier"):
        model.predict(X.reshape(-1, 3, 2))
    with pytest.raises(DataError, match=r"\(120, 2, 3\), but rows and columns"):
        flat.predict(rows)
    with pytest.raises(ValueError, match="rows and columns"):
        AdaBoostClassifier().fit(rows, Y)
    kept = pickle.loads(pickle.dumps(AdaBoostClassifier(DummyClassifier(), 2).fit(rows, Y)))
    assert kept.predict(rows).shape == (120,)
