"""What cannot be used is refused, and the message says what came and what to do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from pacboost import AdaBoostClassifier, BoostClassifier
from pacboost.errors import DataError, DenseWarning, ParameterError
from pacboost.sources.arrays import ArrayTable
from pacboost.theory import Adversary

FRAMES = pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
Make = Callable[[dict[str, Any]], Any]


def examples() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    generator = np.random.default_rng(2)
    X = generator.normal(size=(40, 3))
    return X, (X[:, 0] + generator.normal(size=40) > 0).astype(np.int64)


def fit(X: Any = None, y: Any = None, weights: Any = None, **options: Any) -> AdaBoostClassifier:
    rows, labels = examples()
    model = AdaBoostClassifier(**{"n_estimators": 3, **options})
    return model.fit(rows if X is None else X, labels if y is None else y, sample_weight=weights)


def test_no_rows() -> None:
    with pytest.raises(ValueError, match=r"0 sample\(s\).* minimum of 1 is required"):
        fit(np.empty((0, 3)), [])


@FRAMES
def test_frame_without_rows(make: Make) -> None:
    with pytest.raises(DataError, match="frame has no rows; at least one is needed"):
        fit(make({"a": np.empty(0)}), [])


def test_no_columns() -> None:
    with pytest.raises(ValueError, match=r"0 feature\(s\).* minimum of 1 is required"):
        fit(np.empty((40, 0)))


def test_frame_without_columns() -> None:
    with pytest.raises(ValueError, match=r"(no|0) (columns|feature).*(needed|required)"):
        fit(pd.DataFrame(index=range(40)))


def test_one_row_where_two_dimensions_are_needed() -> None:
    with pytest.raises(ValueError, match=r"Expected 2D array(.|\n)*Reshape"):
        fit(np.arange(40.0))


def test_labels_with_nan() -> None:
    y = examples()[1].astype(float)
    y[3] = np.nan
    with pytest.raises(ValueError, match=r"y .*NaN.* drop"):
        fit(y=y)


def test_labels_with_none() -> None:
    y = examples()[1].astype(object)
    y[3] = None
    with pytest.raises(DataError, match=r"y holds missing labels \(None or NaN\); drop those rows"):
        fit(y=y)


def test_text_labels_with_nan() -> None:
    y = np.where(examples()[1] > 0, "yes", "no").astype(object)
    y[3] = float("nan")
    with pytest.raises(DataError, match=r"missing labels.*drop those rows"):
        fit(y=y)


@pytest.mark.parametrize("labels", [[0, "yes"], ["no", 1]])
def test_labels_of_two_kinds(labels: list[Any]) -> None:
    y = np.array(labels, dtype=object)[np.arange(40) % 2]
    with pytest.raises(ValueError, match="label"):
        fit(y=y)


def test_no_labels() -> None:
    with pytest.raises(DataError, match="requires y to be passed, but the target y is None"):
        AdaBoostClassifier().fit(examples()[0], None)


def test_labels_of_another_length() -> None:
    with pytest.raises(DataError, match="X has 40 rows but y has 39; they must be as many"):
        fit(y=examples()[1][:-1])


def test_numbers_instead_of_labels() -> None:
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        fit(y=examples()[0][:, 0])


def test_three_classes_are_taken() -> None:
    X = examples()[0]
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    model = fit(X, y, n_estimators=30)
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.score(X, y) == 1


def test_infinite_value_in_an_array() -> None:
    X = examples()[0]
    X[7, 2] = -np.inf
    with pytest.raises(ValueError, match=r"(?i)inf"):
        fit(X)


def test_infinite_value_in_an_array_is_located_as_in_a_frame() -> None:
    X = examples()[0]
    X[7, 2] = -np.inf
    with pytest.raises(ValueError, match=r"column .*2.* holds -inf in row 7; .*Clip"):
        fit(X)


@FRAMES
def test_infinite_value_in_a_frame(make: Make) -> None:
    X = examples()[0]
    X[7, 2] = -np.inf
    with pytest.raises(DataError, match=r"column 'c' holds -inf in row 7; .*finite.* Clip"):
        fit(make({name: X[:, j] for j, name in enumerate("abc")}))


def test_infinite_value_in_a_table_of_ours() -> None:
    X = examples()[0]
    X[7, 2] = np.inf
    with pytest.raises(DataError, match="holds inf in row 7"):
        fit(ArrayTable(X))


def test_infinite_value_at_predict_time() -> None:
    X = examples()[0]
    model = fit()
    X[7, 2] = np.inf
    with pytest.raises(ValueError, match=r"(?i)inf"):
        model.predict(X)


def test_weights_that_are_all_zero() -> None:
    with pytest.raises(DataError, match="zero everywhere; at least one row has to count"):
        fit(weights=np.zeros(40))


def test_negative_weights() -> None:
    weights = np.ones(40)
    weights[[5, 9]] = -1, -2
    with pytest.raises(DataError, match=r"Negative .*row 9 has -2\.0.* 0 leaves it out"):
        fit(weights=weights)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_weights_that_are_not_finite(value: float) -> None:
    weights = np.ones(40)
    weights[5] = value
    with pytest.raises(DataError, match=r"sample_weight holds NaN or infinity; .*be finite"):
        fit(weights=weights)


def test_weights_of_another_length() -> None:
    with pytest.raises(DataError, match="X has 40 rows but sample_weight has 39"):
        fit(weights=np.ones(39))


def test_weights_of_two_dimensions() -> None:
    with pytest.raises(DataError, match=r"1D array or scalar; got shape \(40, 2\)"):
        fit(weights=np.ones((40, 2)))


@pytest.mark.parametrize(("low", "high"), [(1e308, 1.7e308), (5e-324, 1e-323)])
def test_weights_at_the_ends_of_floats_work_or_are_refused_in_words(
    low: float, high: float
) -> None:
    weights = np.where(np.arange(40) % 2, low, high)
    try:
        model = fit(weights=weights)
    except DataError as problem:
        assert "sample_weight" in str(problem)  # noqa: PT017
    else:
        plain = fit(weights=weights / high)
        assert [h.feature for h in model.estimators_] == [h.feature for h in plain.estimators_]


def test_weights_that_the_validation_split_leaves_all_zero() -> None:
    X, y = examples()
    refused = set()
    for chosen in range(40):  # some of the rows that count are held back for validation
        weights = np.zeros(40)
        weights[[chosen, np.flatnonzero(y != y[chosen])[chosen // 3]]] = 1.0
        model = AdaBoostClassifier(early_stopping=True, random_state=0, validation_fraction=0.5)
        try:
            model.fit(X, y, sample_weight=weights)
        except DataError as problem:
            refused.add(str(problem).split(";")[0])
    assert refused == {
        "all rows whose sample_weight is not zero are held back for validation",
        "all rows held back for validation have a sample_weight of 0",
    }


def test_weights_that_leave_a_class_out() -> None:
    y = examples()[1]
    with pytest.raises(DataError, match=r"rows of class 1 weigh 0 by sample_weight .* Give"):
        fit(weights=(y == 0).astype(float))
    with pytest.raises(DataError, match=r"rows of class 0 weigh 0 .* class_weight.* Give"):
        BoostClassifier(class_weight={0: 0, 1: 1}).fit(*examples())


def test_constant_features_only() -> None:
    with pytest.raises(DataError, match=r"all 2 features are constant.* Give at least one"):
        fit(np.ones((40, 2)))


def test_all_values_missing() -> None:
    with pytest.raises(DataError, match=r"all 2 features are constant.* Give at least one"):
        fit(np.full((40, 2), np.nan))


@FRAMES
def test_text_columns_in_a_frame(make: Make) -> None:
    X = examples()[0]
    frame = make({"size": X[:, 0], "colour": ["red"] * 40, "shape": ["round"] * 40})
    with pytest.raises(DataError, match=r"hold text, not numbers: colour, shape. Encode"):
        fit(frame, categorical_features=None)


@FRAMES
def test_text_columns_in_a_frame_are_categories(make: Make) -> None:
    X, y = examples()
    model = fit(make({"size": X[:, 0], "colour": np.where(y > 0, "red", "blue")}))
    assert model.score(make({"size": X[:, 0], "colour": np.where(y > 0, "red", "blue")}), y) == 1


def test_text_in_an_object_array() -> None:
    X = examples()[0].astype(object)
    X[3, 1] = "red"
    with pytest.raises(ValueError, match="red"):
        fit(X)


def test_text_in_an_object_array_is_advised_on() -> None:
    X = examples()[0].astype(object)
    X[3, 1] = "red"
    with pytest.raises(ValueError, match=r"(?i)encode"):
        fit(X, categorical_features=None)
    with pytest.raises(ValueError, match="make its categories all text or all numbers"):
        fit(X)


def test_dates_are_not_called_numbers() -> None:
    with pytest.raises(DataError, match=r"X holds datetime64\[s\]; numbers are needed"):
        fit(np.zeros((40, 2), dtype="datetime64[s]"))


@pytest.mark.parametrize("columns", [2, 5])
def test_other_number_of_features_at_predict_time(columns: int) -> None:
    with pytest.raises(ValueError, match=f"X has {columns} features, .* expecting 3 features"):
        fit().predict(np.ones((4, columns)))


@pytest.mark.parametrize("columns", [2, 5])
def test_other_number_of_features_in_a_table_of_ours(columns: int) -> None:
    with pytest.raises(DataError, match=f"X has {columns} features, .* expecting 3 features"):
        fit().predict(ArrayTable(np.ones((4, columns))))


@FRAMES
def test_other_names_at_predict_time(make: Make) -> None:
    X = examples()[0]
    model = fit(make({name: X[:, j] for j, name in enumerate("abc")}))
    with pytest.raises(ValueError, match=r"should match(.|\n)*- z(.|\n)*now missing:\n- c"):
        model.predict(make({name: X[:, j] for j, name in enumerate("abz")}))


def test_other_names_at_predict_time_in_a_table_of_ours() -> None:
    X = examples()[0]
    model = fit(ArrayTable(X, ("a", "b", "c")))
    with pytest.raises(ValueError, match="names"):
        model.predict(ArrayTable(X, ("c", "b", "a")))


def test_other_number_of_features_in_validation_rows() -> None:
    X, y = examples()
    with pytest.raises(ValueError, match=r"X has 2 features, .* expecting 3 features"):
        AdaBoostClassifier().fit(X, y, X_val=X[:, :2], y_val=y)


@pytest.mark.parametrize("value", [0, -1, 2.5, True, "3", None])
def test_n_estimators(value: Any) -> None:
    with pytest.raises(
        ParameterError, match=f"n_estimators is {value!r}; .*whole number, 1 or more"
    ):
        fit(n_estimators=value)


@pytest.mark.parametrize("value", [0, -0.5, float("nan"), float("inf")])
def test_learning_rate(value: float) -> None:
    with pytest.raises(ParameterError, match=f"learning_rate is {value}; it must be above 0"):
        fit(learning_rate=value)


@pytest.mark.parametrize("value", [0, -1.0, float("nan")])
def test_max_vote(value: float) -> None:
    with pytest.raises(ParameterError, match=f"max_vote is {value}; it must be above 0"):
        fit(max_vote=value)


@pytest.mark.parametrize("value", [1, 0, 70_000])
def test_max_bins(value: int) -> None:
    with pytest.raises(ParameterError, match=f"max_bins is {value}; it may be 2 to 65535"):
        fit(max_bins=value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("learning_rate", "fast"),
        ("max_bins", 2.5),
        ("max_bins", "many"),
        ("max_vote", "high"),
        ("n_jobs", 2.5),
        ("n_jobs", "all"),
    ],
)
def test_parameter_of_another_kind_is_named(name: str, value: Any) -> None:
    with pytest.raises(ParameterError, match=f"{name} is"):
        fit(**{name: value})


@pytest.mark.parametrize("value", ["accuracy", None])
def test_unknown_eval_metric(value: Any) -> None:
    with pytest.raises(ParameterError, match=f"eval_metric is {value!r}; it may be error, .*auc"):
        fit(eval_metric=value, early_stopping=True)


@pytest.mark.parametrize("value", [0, 1, 1.5, -0.1, float("nan")])
def test_validation_fraction(value: float) -> None:
    with pytest.raises(
        ParameterError, match=f"validation_fraction is {value} .*40 rows; .*both sides"
    ):
        fit(validation_fraction=value, early_stopping=True)


def test_validation_fraction_of_less_than_a_row_takes_one_of_each_class() -> None:
    assert fit(validation_fraction=0.001, early_stopping=True).ledger_.rows == 38
    with pytest.raises(ParameterError, match=r"validation_fraction is 0.001 .*both sides"):
        fit(examples()[0][:2], [0, 1], validation_fraction=0.001, early_stopping=True)


@pytest.mark.parametrize("value", [0, 2.5])
def test_early_stopping_after_rounds(value: float) -> None:
    with pytest.raises(ParameterError, match=f"early_stopping is {value}; .*1 or more"):
        fit(early_stopping=value)


def test_unknown_class_among_validation_labels() -> None:
    X, y = examples()
    with pytest.raises(DataError, match=r"y_val holds 2, .*not among the classes of y: \[0, 1\]"):
        AdaBoostClassifier().fit(X, y, X_val=X, y_val=y + 1)


def test_validation_rows_without_labels() -> None:
    X, y = examples()
    with pytest.raises(ParameterError, match="X_val was given without y_val"):
        AdaBoostClassifier().fit(X, y, X_val=X)


def test_validation_labels_without_rows() -> None:
    X, y = examples()
    with pytest.raises(ValueError, match="X_val"):
        AdaBoostClassifier().fit(X, y, y_val=y)


def test_auc_on_validation_rows_of_one_class() -> None:
    X, y = examples()
    model = AdaBoostClassifier(eval_metric="auc")
    with pytest.raises(ParameterError, match="one class only; auc needs both"):
        model.fit(X, y, X_val=X[y == 1], y_val=y[y == 1])


@pytest.mark.parametrize("value", [0, -3, 2.5, "half"])
def test_resample(value: Any) -> None:
    with pytest.raises(ParameterError, match=f"resample is {value!r}; .*whole number, 1 or more"):
        fit(resample=value)


def test_n_jobs() -> None:
    with pytest.raises(ParameterError, match="n_jobs is 0; give a positive number"):
        fit(n_jobs=0)


@pytest.mark.parametrize("value", [DecisionTreeClassifier, Adversary, "stumps", 3])
def test_estimator_that_is_none(value: Any) -> None:
    with pytest.raises(ParameterError, match=r"estimator is .*an object, not a class"):
        fit(estimator=value)


def test_function_that_returns_no_rule() -> None:
    with pytest.raises(ParameterError, match="returned int; it has to return a function of rows"):
        fit(estimator=lambda X, y, weights: 3)


def test_rule_that_does_not_answer_every_row() -> None:
    with pytest.raises(
        DataError, match=r"answered with shape \(1,\) for 40 rows; .*one number per"
    ):
        fit(estimator=lambda X, y, weights: lambda rows: np.ones(1))


@pytest.mark.parametrize(
    "ask",
    [
        "predict",
        "predict_proba",
        "predict_log_proba",
        "decision_function",
    ],
)
def test_predict_before_fit(ask: str) -> None:
    with pytest.raises(NotFittedError, match=r"not fitted yet. Call 'fit'"):
        getattr(AdaBoostClassifier(), ask)(examples()[0])


@pytest.mark.parametrize("name", ["votes_", "ledger_", "certificate_", "estimators_"])
def test_attribute_before_fit(name: str) -> None:
    assert not hasattr(AdaBoostClassifier(), name)
    with pytest.raises(AttributeError, match=f"{name} is there after fit"):
        getattr(AdaBoostClassifier(), name)


def test_edge_that_nobody_can_promise() -> None:
    with pytest.raises(ParameterError, match=r"edge is 1\.5; .*lies in \[0, 1\]"):
        Adversary(edge=1.5)


def sparse_of(X: NDArray[np.float64], form: str) -> Any:
    matrix: Any = sparse.csr_array(X)
    return matrix.asformat(form)


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_sparse_rows_work_as_they_are(form: str) -> None:
    X, y = examples()
    X[X < 0] = 0
    dense, matrix = fit(X), sparse_of(X, form)
    model = fit(matrix)
    assert np.array_equal(model.decision_function(matrix), dense.decision_function(X))
    assert model.score(X, y) == dense.score(X, y)


@pytest.mark.parametrize("form", ["csr", "csc"])
@pytest.mark.parametrize(
    "options",
    [
        {"estimator": GaussianNB()},
        {"categorical_features": [0], "min_leaf_rows": 1},
    ],
)
def test_where_sparse_rows_are_opened_up_a_warning_says_so(
    form: str, options: dict[str, Any]
) -> None:
    X, y = examples()
    X = np.rint(X) * (X > 0)
    kind = BoostClassifier if "categorical_features" in options else AdaBoostClassifier
    with pytest.warns(DenseWarning, match="sparse 40 x 3 matrix is held dense: one byte a cell"):
        model = kind(**options, random_state=0).fit(sparse_of(X, form), y)
    dense = kind(**options, random_state=0).fit(X, y)
    scores = model.decision_function(sparse_of(X, form))  # nothing is held then, or said
    assert np.array_equal(scores, dense.decision_function(X))
