"""What cannot be used is refused, and the message says what came and what to do."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.typing import NDArray
from scipy import sparse
from sklearn.tree import DecisionTreeClassifier

from pacboost import AdaBoostClassifier, BoostClassifier
from pacboost.errors import DataError, DenseWarning, ParameterError
from pacboost.sources.arrays import ArrayTable
from pacboost.theory import Adversary


def examples() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    generator = np.random.default_rng(2)
    X = generator.normal(size=(40, 3))
    return X, (X[:, 0] + generator.normal(size=40) > 0).astype(np.int64)


def fit(X: Any = None, y: Any = None, weights: Any = None, **options: Any) -> AdaBoostClassifier:
    rows, labels = examples()
    model = AdaBoostClassifier(**{"n_estimators": 3, **options})
    return model.fit(rows if X is None else X, labels if y is None else y, sample_weight=weights)


def changed(row: int, column: int, value: Any, kind: Any = np.float64) -> NDArray[Any]:
    rows: NDArray[Any] = examples()[0].astype(kind)
    rows[row, column] = value
    return rows


def labels(value: Any, kind: Any) -> NDArray[Any]:
    y: NDArray[Any] = examples()[1].astype(kind)
    y[3] = value
    return y


def weights(**values: float) -> NDArray[np.float64]:
    found = np.ones(40)
    for row, value in values.items():
        found[int(row[1:])] = value
    return found


def masked(values: NDArray[Any]) -> Any:
    """The values, the first of which are masked."""
    return np.ma.masked_array(values, np.broadcast_to(np.arange(len(values)) < 1, values.T.shape).T)


def columns(rows: NDArray[Any], names: str = "abc") -> dict[str, Any]:
    return {name: rows[:, j] for j, name in enumerate(names)}


LARGE = changed(7, 2, -np.inf)
TEXT = changed(3, 1, "red", object)
TWO = np.ones((40, 2))
WORDS = {"size": LARGE[:, 0], "colour": ["red"] * 40, "shape": ["round"] * 40}
INPUTS: list[tuple[dict[str, Any], str]] = [
    ({"X": np.empty((0, 3)), "y": []}, r"0 sample\(s\).* minimum of 1 is required"),
    ({"X": pd.DataFrame({"a": np.empty(0)}), "y": []}, "frame has no rows; at least one is needed"),
    ({"X": pl.DataFrame({"a": np.empty(0)}), "y": []}, "frame has no rows; at least one is needed"),
    ({"X": np.empty((40, 0))}, r"0 feature\(s\).* minimum of 1 is required"),
    ({"X": pd.DataFrame(index=range(40))}, r"(no|0) (columns|feature).*(needed|required)"),
    (
        {"X": np.arange(40.0)},
        r"X has shape \(40,\).*Reshape your data: X.reshape\(1, -1\) for one row",
    ),
    ({"X": LARGE}, r"column .*2.* holds -inf in row 7; .*Clip"),
    ({"X": ArrayTable(LARGE)}, "holds -inf in row 7"),
    ({"X": pd.DataFrame(columns(LARGE))}, r"column 'c' holds -inf in row 7; .*finite.* Clip"),
    ({"X": pl.DataFrame(columns(LARGE))}, r"column 'c' holds -inf in row 7; .*finite.* Clip"),
    ({"X": TWO}, r"all 2 features are constant.* Give at least one"),
    (
        {"X": pd.DataFrame(WORDS), "categorical_features": None},
        "not numbers: colour, shape. Encode",
    ),
    ({"X": TEXT}, "make its categories all text or all numbers"),
    ({"X": TEXT, "categorical_features": None}, r"red(.|\n)*(?i:encode)"),
    ({"X": TWO.astype("datetime64[s]")}, r"X holds datetime64\[s\]; numbers are needed"),
    ({"y": labels(np.nan, float)}, r"y .*NaN.* drop"),
    ({"y": labels(None, object)}, r"y holds missing labels \(None or NaN\); drop those rows"),
    ({"y": np.array([0, "yes"], dtype=object)[np.arange(40) % 2]}, "label"),
    ({"y": examples()[1][:-1]}, "X has 40 rows but y has 39; they must have equal length"),
    ({"y": examples()[0][:, 0]}, "Unknown label type: continuous"),
    ({"weights": np.zeros(40)}, "zero everywhere; at least one row has to count"),
    ({"weights": weights(r5=-1, r9=-2)}, r"Negative .*row 9 has -2\.0.* 0 leaves it out"),
    ({"weights": weights(r5=np.nan)}, "sample_weight holds NaN or infinity; .*be finite"),
    ({"weights": weights(r5=np.inf)}, "sample_weight holds NaN or infinity; .*be finite"),
    ({"weights": np.ones(39)}, "X has 40 rows but sample_weight has 39"),
    ({"weights": TWO}, r"1D array or scalar; got shape \(40, 2\)"),
    ({"weights": examples()[1] == 0}, r"rows of class 1 weigh 0 by sample_weight .* Give"),
    *(
        ({"X": masked(examples()[0]), "categorical_features": kind}, "X is a masked .* 3 masked")
        for kind in ("auto", None, [0])
    ),
    ({"y": masked(examples()[1])}, "y is a masked array with 1 masked element; leave"),
    ({"weights": masked(np.ones(40))}, "sample_weight is a masked array"),
    (
        {"estimator": lambda X, y, w: lambda rows: np.ones(1)},
        r"shape \(1,\) for 40 rows; .*one answer for each row",
    ),
]


@pytest.mark.parametrize(("given", "said"), INPUTS)
def test_what_is_wrong_with_the_input_is_said(given: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        fit(**given)


PARAMETERS: list[tuple[str, list[Any], str]] = [
    ("n_estimators", [0, -1, 2.5, True, "3", None], "is {!r}; .*whole number, 1 or more"),
    ("learning_rate", [0, -0.5, float("nan"), float("inf")], "is {}; it must be above 0"),
    ("max_vote", [0, -1.0, float("nan")], "is {}; it must be above 0"),
    ("max_bins", [1, 0, 70_000], "is {}; it may be 2 to 65535"),
    ("resample", [0, -3, 2.5, "half"], "is {!r}; .*whole number, 1 or more"),
    ("n_jobs", [0], "is 0; pass a positive number"),
    ("estimator", [DecisionTreeClassifier, Adversary, "stumps", 3], "is .*not a class"),
]


@pytest.mark.parametrize(("name", "values", "said"), PARAMETERS)
def test_parameters_out_of_range_are_named(name: str, values: list[Any], said: str) -> None:
    for value in values:
        with pytest.raises(ParameterError, match=f"{name} {said.format(value)}"):
            fit(**{name: value})


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"eval_metric": "accuracy"}, "eval_metric is 'accuracy'; it may be error, .*auc"),
        ({"eval_metric": None}, "eval_metric is None; it may be error, .*auc"),
        *(
            ({"validation_fraction": share}, f"is {float(share)} .*40 rows; .*both sides")
            for share in (0, 1, 1.5, -0.1, float("nan"))
        ),
    ],
)
def test_what_early_stopping_cannot_use_is_named(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        fit(early_stopping=True, **options)


def test_function_that_returns_no_rule() -> None:
    with pytest.raises(ParameterError, match="returned int"):
        fit(estimator=lambda X, y, weights: 3)


def test_new_rows_are_like_those_of_the_fit() -> None:
    X, y = examples()
    model = fit()
    for columns_now in (2, 5):
        for form in (np.asarray, ArrayTable):
            with pytest.raises(ValueError, match=f"X has {columns_now} features, .* expecting 3"):
                model.predict(form(np.ones((4, columns_now))))
    with pytest.raises(ValueError, match=r"(?i)inf"):
        model.predict(LARGE)
    with pytest.raises(ValueError, match=r"X has 2 features, .* expecting 3 features"):
        AdaBoostClassifier().fit(X, y, X_val=X[:, :2], y_val=y)
    with pytest.raises(ValueError, match="names"):
        fit(ArrayTable(X, ("a", "b", "c"))).predict(ArrayTable(X, ("c", "b", "a")))
    with pytest.raises(DataError, match=r"y_val holds 2, .*\[0, 1\]"):
        AdaBoostClassifier().fit(X, y, X_val=X, y_val=y + 1)


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


def test_validation_fraction_of_less_than_a_row_takes_one_of_each_class() -> None:
    assert fit(validation_fraction=0.001, early_stopping=True).ledger_.rows == 38
    with pytest.raises(ParameterError, match=r"validation_fraction is 0.001"):
        fit(examples()[0][:2], [0, 1], validation_fraction=0.001, early_stopping=True)


@pytest.mark.parametrize("form", ["csr", "csc"])
def test_where_sparse_rows_are_opened_up_a_warning_says_so(form: str) -> None:
    X, y = examples()
    X = np.rint(X) * (X > 0)
    matrix: Any = sparse.csr_array(X)
    matrix = matrix.asformat(form)
    options: dict[str, Any] = {"categorical_features": [0], "min_leaf_rows": 1, "random_state": 0}
    with pytest.warns(DenseWarning, match="40 x 3 .*dense"):
        model = BoostClassifier(**options).fit(matrix, y)
    dense = BoostClassifier(**options).fit(X, y)
    scores = model.decision_function(matrix)  # nothing is held then, or said
    assert np.array_equal(scores, dense.decision_function(X))
