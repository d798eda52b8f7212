"""Odd input of every kind, at every way in: only errors of pacboost are raised."""

import datetime
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import pacboost
from pacboost.errors import DataError, DataTypeError, PacboostError, ParameterError
from tests.faults.odd_inputs import CELLS, GOOD, LABELS, MAKERS, WEIGHTS, WHOLE, N, raises_only_ours
from tests.grids import each_value


def table_with(cell: Any, row: int = 3, column: int = 1) -> Any:
    array = GOOD.astype(object)
    array[row, column] = cell
    return array


def frame_with(cell: Any) -> pd.DataFrame:
    return pd.DataFrame(
        {"a": GOOD[:, 0], "b": pd.Series(list(table_with(cell)[:, 1]), dtype=object)}
    )


if hasattr(pl, "Int128"):  # not in the oldest polars
    WHOLE["128 bits"] = pl.DataFrame(
        {"a": GOOD[:, 0], "b": pl.Series([2**100] * N, dtype=pl.Int128)}
    )


def fitted(name: str) -> Any:
    if name == "text":
        return MAKERS[name]().fit(["good day" if label else "bad luck" for label in LABELS], LABELS)
    return MAKERS[name]().fit(GOOD, LABELS)


@pytest.mark.parametrize("name", ["boost", "regressor", "held out", "forest", "text"])
def test_odd_cells(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = fitted(name)
    for cell in CELLS:
        for X in (table_with(cell), frame_with(cell), table_with(cell).tolist()):
            raises_only_ours(lambda X=X: MAKERS[name]().fit(X, LABELS))  # type: ignore[misc]
            raises_only_ours(lambda X=X: model.predict(X))  # type: ignore[misc]


@pytest.mark.parametrize(
    "method", ["staged_predict", "staged_decision_function", "staged_predict_proba"]
)
def test_odd_cells_where_answers_come_one_by_one(method: str) -> None:
    model = fitted("boost")
    for X in (*map(table_with, CELLS), *WHOLE.values()):
        raises_only_ours(lambda X=X: list(getattr(model, method)(X)))  # type: ignore[misc]


@pytest.mark.parametrize("name", MAKERS)
def test_odd_tables_labels_and_weights(name: str) -> None:
    for X in WHOLE.values():
        raises_only_ours(lambda X=X: MAKERS[name]().fit(X, LABELS))  # type: ignore[misc]
    for cell in CELLS:
        y = [cell, *LABELS[1:].tolist()]
        raises_only_ours(lambda y=y: MAKERS[name]().fit(GOOD, y))  # type: ignore[misc]
    for weights in WEIGHTS:
        raises_only_ours(
            lambda w=weights: MAKERS[name]().fit(GOOD, LABELS, sample_weight=w)  # type: ignore[misc]
        )


def test_odd_labels_to_score_and_certify() -> None:
    models = [fitted("boost"), fitted("bagging")]
    for cell in CELLS:
        y = [cell, *LABELS[1:].tolist()]
        for model in models:
            raises_only_ours(lambda m=model, y=y: m.score(GOOD, y))  # type: ignore[misc]
            raises_only_ours(lambda m=model, y=y: pacboost.certify(m, GOOD, y))  # type: ignore[misc]


def cells() -> st.SearchStrategy[Any]:
    return st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3),
        st.binary(max_size=2),
        st.complex_numbers(), st.decimals(), st.dates(), st.datetimes(), st.timedeltas(),
        st.fractions(), st.lists(st.integers(), max_size=2), st.sampled_from(CELLS),
    )  # fmt: skip


def try_a_table(name: str, data: st.DataObject) -> None:
    width = data.draw(st.integers(1, 3))
    array = np.empty((N, width), dtype=object)
    array[:] = GOOD[:, :width]
    for _ in range(data.draw(st.integers(0, 4))):
        place = data.draw(st.integers(0, N - 1)), data.draw(st.integers(0, width - 1))
        array[place] = data.draw(cells())
    y: Any = LABELS.astype(object)
    if data.draw(st.booleans()):
        y[data.draw(st.integers(0, N - 1))] = data.draw(cells())
    kind = data.draw(st.sampled_from(("array", "list", "frame")))
    X = array.tolist() if kind == "list" else array
    X = pd.DataFrame(array) if kind == "frame" else X
    raises_only_ours(lambda: MAKERS[name]().fit(X, y).predict(X))


@pytest.mark.parametrize(
    ("names", "examples"),
    [
        (("boost", "regressor", "held out", "rectangle"), 25),
        pytest.param(sorted(MAKERS), 3_000, marks=pytest.mark.slow),
    ],
)
def test_only_our_errors(names: Sequence[str], examples: int) -> None:
    check = given(st.sampled_from(names), st.data())(try_a_table)
    settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck))(check)()


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (table_with({"a": 1}), r"column 1 holds a dict in row 3: \{'a': 1\}"),
        (table_with(10**400), "column 1 holds a whole number too large for a float in row 3: 1000"),
        (table_with(datetime.date(2020, 1, 1)), "column 1 holds a date in row 3"),
        (frame_with([1, 2]), r"column 'b' holds a list in row 3: \[1, 2\]"),
        (WHOLE["ragged"], r"X has rows of different lengths \(3 in row 0, 2 in row 1\)"),
        (WHOLE["records"], "X "),
        (WHOLE["names twice"], "column names must differ"),
        (WHOLE["a broken name"], "the name of column 0 is .* not valid Unicode"),
    ],
)
def test_errors_name_column_row_and_cell(X: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        pacboost.BoostRegressor(n_estimators=2, random_state=0).fit(X, LABELS)


def test_unknown_arguments_and_those_of_the_constructor_are_named() -> None:
    unknown: dict[str, Any] = {"weights": 1}
    misplaced: dict[str, Any] = {"early_stopping_rounds": 5}
    message = r"RectangleClassifier\.fit has no argument 'weights'.* it takes X, y"
    with pytest.raises(DataTypeError, match=message):
        pacboost.theory.RectangleClassifier().fit(GOOD, LABELS, **unknown)
    with pytest.raises(TypeError, match=r"BoostClassifier\(early_stopping_rounds=\.\.\.\)"):
        pacboost.BoostClassifier().fit(GOOD, LABELS, **misplaced)


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [("rows.csv", LABELS, "X is the text 'rows.csv'"), (GOOD, "label", "y is the text 'label'")],
)
def test_a_name_in_the_place_of_rows_or_labels_is_explained(X: Any, y: Any, message: str) -> None:
    with pytest.raises(DataError, match=f"{message}.*StrongClassifier takes"):
        pacboost.BoostClassifier(n_estimators=2).fit(X, y)


def test_na_in_arrays_of_objects_is_missing() -> None:
    one = pacboost.BoostRegressor(n_estimators=2, random_state=0).fit(table_with(pd.NA), LABELS)
    other = pacboost.BoostRegressor(n_estimators=2, random_state=0).fit(table_with(np.nan), LABELS)
    assert one.predict(GOOD).tolist() == other.predict(GOOD).tolist()


def test_errors_of_callbacks_pass_as_they_are() -> None:
    class Stop(Exception):  # noqa: N818
        pass

    def stop(*_: object) -> None:
        raise Stop

    with pytest.raises(Stop):
        pacboost.BoostClassifier(n_estimators=2, callbacks=[stop]).fit(GOOD, LABELS)


HUGE = 10**5000  # Python refuses to print it
ARRAY: Any = np.eye(2)
choose: Any = pacboost.choose_threshold
theory: Any = pacboost.theory


@pytest.mark.parametrize(
    "use",
    [
        lambda m: pacboost.diagnose(GOOD, LABELS, seed=ARRAY),
        lambda m: theory.shatters(m, "stump"),
        lambda m: theory.proof(HUGE, GOOD, LABELS),
        lambda m: theory.weights(m, HUGE, GOOD, LABELS),
        lambda m: theory.ranking(m, 1j, LABELS),
        lambda m: list(theory.staged_margins(HUGE, GOOD, LABELS)),
        lambda m: theory.compress(m, GOOD, LABELS, HUGE),
        lambda m: choose(m, delta=ARRAY),
        lambda m: choose(m, positive=ARRAY, abstain_below=0.5),
        lambda m: choose(1.5, abstain_below=0.5),
        lambda m: choose(m, GOOD, LABELS, cost=(HUGE, 1)),
        lambda m: pacboost.certify(m, GOOD, LABELS, delta=HUGE),
        lambda m: pacboost.load("\ud800"),
        lambda m: pacboost.inspect("\0"),
        lambda m: m.importances(ARRAY),
        lambda m: m.report(title=1.5),
        lambda m: m.report(sentence=ARRAY),
        lambda m: m.report(decision=3),
        lambda m: m.report(certified=1),
        lambda m: m.report(certified=[1]),
        lambda m: fitted("boost").partial_dependence(1.5),
        lambda m: m.explain(GOOD[:1], for_class=ARRAY),
    ],
)
def test_odd_arguments_are_named(use: Callable[[Any], object]) -> None:
    model = fitted("held out")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(PacboostError):
            use(model)


@pytest.mark.parametrize("model", [3, "model", None])
def test_what_is_no_model_is_shown(model: Any) -> None:
    X = np.arange(40.0).reshape(20, 2)
    with pytest.raises(DataTypeError, match="fitted classifier"):
        pacboost.certify(model, X, X[:, 0] > 20)


@each_value
@pytest.mark.parametrize(
    "model",
    [
        pacboost.BoostClassifier(n_estimators=2, certify="holdout", random_state=0),
        pacboost.BaggingClassifier(n_estimators=2, certify="holdout", random_state=0),
        pacboost.StrongClassifier(n_estimators=2, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize("frame", [False, True])
def test_rows_have_their_numbers_when_others_are_set_apart(model: Any, frame: bool) -> None:
    rows = np.random.default_rng(1).normal(size=(200, 3))
    labels = rows[:, 0] > 0
    for row in (5, 77, 133, 150):  # of those that learn, and of those set apart
        X: Any = rows.copy()
        X[row, 1] = np.inf
        X = pd.DataFrame(X, columns=list("abc")) if frame else X.astype(object)
        with pytest.raises(DataError, match=f"in row {row};"):
            model.fit(X, labels)


@pytest.mark.parametrize("integer", [2**70, 10**400], ids=["large", "huge"])
def test_integers_of_more_than_64_bits(integer: int) -> None:
    model = pacboost.StrongClassifier(n_estimators=2, random_state=0)
    for cells in (
        [1, integer] * (N // 2),
        [1.5, integer] * (N // 2),
        [1, "a", integer, 2] * (N // 4),
    ):
        X = np.array([GOOD[:, 0].tolist(), cells], dtype=object).T
        raises_only_ours(lambda X=X: model.fit(X, LABELS))  # type: ignore[misc]
    raises_only_ours(lambda: pacboost.BoostClassifier(n_estimators=integer).fit(GOOD, LABELS))


def wrong_function(*arrays: object) -> float:
    raise KeyError("no such column")


@pytest.mark.parametrize(
    ("parameter", "model"),
    [
        ("objective", pacboost.BoostClassifier(booster=wrong_function, n_estimators=2)),
        ("eval_metric", pacboost.BoostClassifier(eval_metric=wrong_function, n_estimators=2)),
    ],
)
def test_errors_of_functions_name_the_parameter(parameter: str, model: Any) -> None:
    with pytest.raises(ParameterError, match="KeyError") as refusal:
        model.fit(GOOD, LABELS, X_val=GOOD, y_val=LABELS)
    assert refusal.value.parameter == parameter
    assert isinstance(refusal.value.__cause__, KeyError)


@pytest.mark.parametrize(
    "choice",
    [np.array([1, 2]), pd.NA, 10**5000, np.eye(2)],
    ids=["array", "NA", "integer", "matrix"],
)
def test_what_is_no_name(choice: Any) -> None:
    with pytest.raises(ParameterError) as refusal:
        pacboost.theory.try_booster(choice)
    assert refusal.value.parameter == "booster"
    with pytest.raises(ParameterError) as refusal:
        pacboost.answers(["a"], missing=choice)
    assert refusal.value.parameter == "missing"


def test_weights_of_zero_score_nothing() -> None:
    model = pacboost.AdaBoostClassifier(n_estimators=2).fit(GOOD, LABELS)
    for y, weights in ((LABELS[:2], None), (LABELS, np.zeros(N)), (LABELS, b"x"), (LABELS, [1, 2])):
        raises_only_ours(lambda y=y, w=weights: list(model.staged_score(GOOD, y, w)))  # type: ignore[misc]
        raises_only_ours(lambda y=y, w=weights: model.score(GOOD, y, w))  # type: ignore[misc]


MERGED = {
    "text and number": ["1", 1],
    "text and truth value": [True, "True"],
    "missing and text": [float("nan"), "a"],
    "text and bytes": ["a", b"a"],
}
"""Labels of a list that NumPy would make the same text, or that are no labels."""


@each_value
@pytest.mark.parametrize("pair", MERGED.values(), ids=MERGED)
@pytest.mark.parametrize("name", ["boost", "held out", "forest", "bagging"])
def test_labels_of_several_kinds_are_not_merged(name: str, pair: list[Any]) -> None:
    with pytest.raises(DataError, match=r"y mixes labels of kinds|missing labels"):
        MAKERS[name]().fit(GOOD, pair * (N // 2))


def test_numbers_beside_other_text_are_text_as_in_scikit_learn() -> None:
    model = pacboost.BoostClassifier(n_estimators=2, random_state=0).fit(GOOD, [1, "a"] * (N // 2))
    assert model.classes_.tolist() == ["1", "a"]


def test_labels_of_several_kinds_are_not_merged_where_they_are_compared() -> None:
    y = ["1", 1] * (N // 2)
    model = pacboost.BoostClassifier(n_estimators=2, random_state=0)
    model.fit(GOOD, ["1", "a"] * (N // 2))
    said = pacboost.answers([str(label) for label in y])
    for ask in (
        lambda: model.score(GOOD, y),
        lambda: pacboost.certify(model, GOOD + 0.5, y),
        lambda: pacboost.certify(said, y=y),
        lambda: pacboost.choose_threshold(model, GOOD + 0.5, y, recall=0.5, positive="a"),
    ):
        with pytest.raises(DataError):
            ask()


def test_a_list_of_labels_of_one_kind_stays_as_it_is() -> None:
    for pair in (["a", "b"], [1, 2], [True, False], [np.str_("a"), "b"]):
        model = pacboost.BoostClassifier(n_estimators=2, random_state=0)
        assert model.fit(GOOD, pair * (N // 2)).classes_.tolist() == sorted(pair)


@pytest.mark.parametrize(
    ("asked", "meant"), [(95, "is delta=0.05"), (99.9, "is delta=0.001"), (5, "0.05")]
)
def test_a_confidence_in_the_place_of_delta_is_turned_around(asked: float, meant: str) -> None:
    for fit in (
        lambda: pacboost.StrongClassifier(delta=asked).fit(GOOD, LABELS),
        lambda: pacboost.BoostClassifier(delta=asked, certify="holdout").fit(GOOD, LABELS),
        lambda: pacboost.certify(fitted("held out"), GOOD, LABELS, delta=asked),
    ):
        with pytest.raises(ParameterError) as refusal:
            fit()
        assert meant in str(refusal.value)
        assert refusal.value.parameter == "delta"
