"""Readable votes: everything adds up to the score, whatever the rules and however rows come."""

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeClassifier

import pacboost
from pacboost import AdaBoostClassifier, BoostClassifier
from pacboost.errors import DataError, ParameterError
from pacboost.learners.tree import Tree
from pacboost.models.explain.importances import Shuffled
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.frame_table import FrameTable
from tests.grids import each_value, one_in

ROWS = 300


@cache
def data() -> tuple[pd.DataFrame, Any, Any]:
    """Age and job matter, noise does not; labels of two classes and of three."""
    generator = np.random.default_rng(7)
    frame = pd.DataFrame(
        {
            "age": np.round(generator.normal(40, 10, ROWS), 1),
            "noise": generator.normal(size=ROWS),
            "job": generator.choice(["clerk", "farmer", "smith"], ROWS),
        }
    )
    flat = frame["age"] + 12 * (frame["job"] == "smith") + 3 * generator.normal(size=ROWS)
    frame.loc[generator.random(ROWS) < 0.1, "age"] = np.nan
    frame.loc[generator.random(ROWS) < 0.1, "job"] = None
    two = np.where(flat > 43, "yes", "no")
    three = np.array(["low", "middle", "top"])[np.digitize(flat, [38, 48])]
    return frame, two, three


STUMPS: dict[str, Any] = {
    "adaboost": lambda: AdaBoostClassifier(n_estimators=15),
    "rated": lambda: AdaBoostClassifier(n_estimators=15, confidence_rated=True),
    "logit stumps": lambda: BoostClassifier("logit", "stump", n_estimators=15),
    "gentle stumps": lambda: BoostClassifier("gentle", "stump", n_estimators=15),
    "samme": lambda: AdaBoostClassifier(n_estimators=15, multiclass="samme"),
}
TREES: dict[str, Any] = {
    "logit trees": lambda: BoostClassifier(n_estimators=15, max_leaves=6, random_state=0),
    "calibrated": lambda: BoostClassifier(n_estimators=8, calibrate="sigmoid", random_state=0),
    "adaboost trees": lambda: AdaBoostClassifier(Tree(max_leaves=4), n_estimators=8),
}
ALL = {**STUMPS, **TREES}


@cache
def fitted(name: str, classes: int = 2) -> Any:
    frame, two, three = data()
    return ALL[name]().fit(frame, two if classes == 2 else three)


def numbers() -> tuple[Any, Any]:
    """Without categories, so that AdaBoost's rules are stumps with votes."""
    frame, two, _ = data()
    return frame[["age", "noise"]].to_numpy(), two


@cache
def plain() -> Any:
    return AdaBoostClassifier(n_estimators=15).fit(*numbers())


each_model = pytest.mark.parametrize("name", ALL)
each_count = pytest.mark.parametrize("classes", [2, 3])


@one_in(3)
@each_model
@each_count
def test_every_method_works_with_categories(name: str, classes: int) -> None:
    frame, two, three = data()
    y, model = two if classes == 2 else three, fitted(name, classes)
    assert model.explain(frame.iloc[[0]]).prediction == model.predict(frame.iloc[[0]])[0]
    shares = model.shap_values(frame).values
    assert shares.shape == ((ROWS, 3) if classes == 2 else (ROWS, 3, 3))
    found = model.permutation_importances(frame, y, repeats=2, random_state=0)
    assert found.names == ("age", "noise", "job")
    assert pacboost.plots.margins(model, frame, y).get_xlabel() == "margin"
    if name in STUMPS:
        assert len(pacboost.plots.shapes(model)) == len(model.shapes().features)


@each_value
@pytest.mark.parametrize("name", STUMPS)
@each_count
def test_shapes_are_the_score_bit_for_bit(name: str, classes: int) -> None:
    frame, _, _ = data()
    model = fitted(name, classes)
    found, table = model.shapes(), FrameTable.like(frame, None, model.levels_)
    assert np.array_equal(found.scores(table), model.decision_function(frame))
    assert found.answers == (("yes",) if classes == 2 else ("low", "middle", "top"))
    assert found["job"].levels == ("clerk", "farmer", "smith")
    assert found["job"].values.shape == (3, 1 if classes == 2 else 3)


def test_shapes_of_plain_stumps_and_of_a_single_class() -> None:
    X, y = numbers()
    assert np.array_equal(plain().shapes().scores(ArrayTable(X)), plain().decision_function(X))
    with pytest.warns(UserWarning, match="one class only"):
        model = AdaBoostClassifier().fit(X, ["only"] * len(y))
    assert model.shapes().scores(ArrayTable(X)).tolist() == model.decision_function(X).tolist()
    assert model.explain(X[0]).probability == 1
    assert model.explain(X[0]).entries == ()
    assert model.explain(X[0], by="rule").entries[0].words == "always"


@one_in(3)
@each_model
@each_count
def test_contributions_add_up_to_the_score_bit_for_bit(name: str, classes: int) -> None:
    frame, _, _ = data()
    model = fitted(name, classes)
    scores, chances = model.decision_function(frame), model.predict_proba(frame)
    for i in range(0, ROWS, 60):
        for k, label in enumerate(model.classes_):
            told = model.explain(frame.iloc[[i]], top=3, for_class=label, by="rule")
            score = scores[i, k] if classes > 2 else scores[i] * (1 if k else -1)
            assert len(told.entries) <= 3
            assert told.rest + sum(entry.contribution for entry in told.entries) == score
            assert (told.score, told.for_class) == (score, label)
            assert told.probability == pytest.approx(chances[i, k])
            assert told.rest_rules + sum(e.rules for e in told.entries) == len(model.votes_)
            sizes = [abs(entry.contribution) for entry in told.entries]
            assert sizes == sorted(sizes, reverse=True)
            columns = model.explain(frame.iloc[[i]], top=1, for_class=label)
            assert len(columns.entries) == 1
            added = columns.base + columns.entries[0].contribution + columns.rest
            assert added == columns.score == score
        usual = model.explain(frame.iloc[[i]])
        assert usual.for_class == (usual.prediction if classes > 2 else "yes")


@each_model
def test_conditions_in_words_hold_of_the_row(name: str) -> None:
    """What is said of a column is checked against the value of the row."""
    frame, _, _ = data()
    checked = 0
    for i in (*range(5), int(frame["age"].isna().argmax()), int(frame["job"].isna().argmax())):
        age, job = frame["age"][i], frame["job"][i]
        for entry in fitted(name).explain(frame.iloc[[i]], top=1000, by="rule").entries:
            for said in entry.words.split(" and "):
                if said == "always":
                    continue
                checked += 1
                column, verb, *rest = said.split(" ", 2)
                value: Any = {"age": age, "job": job, "noise": frame["noise"][i]}[column]
                if verb in (">", "≤"):
                    assert (value > float(rest[0])) == (verb == ">")
                elif verb == "in":
                    assert value in rest[0].strip("{}").split(", ")
                else:
                    assert (rest == ["missing"]) == pd.isna(value)
    assert checked > 20


def test_every_column_has_one_line_by_default() -> None:
    frame, _, _ = data()
    row = frame.iloc[[0]].assign(age=np.nan)
    said = f"job = {row['job'][0]}", "age is missing", f"noise = {row['noise'][0]:.6g}"
    for name in ALL:
        told = fitted(name).explain(row)
        assert {entry.words for entry in told.entries} <= set(said)
        assert len(told.entries) >= 2
        assert "rules)" not in str(told)
    shares = fitted("logit trees").shap_values(row)
    told = fitted("logit trees").explain(row)
    assert "  an average row\n" in str(told)
    assert told.base == pytest.approx(shares.base_values[0])
    assert {round(e.contribution, 9) for e in told.entries} == set(shares.values[0].round(9))
    assert str(fitted("logit trees").explain(row, 1)).splitlines()[-2].endswith("2 other columns")
    with pytest.raises(ParameterError, match="by is 'row'"):
        plain().explain([1.0, 2.0], by="row")


def test_a_row_may_come_in_any_form() -> None:
    frame, _, _ = data()
    model, row = fitted("logit trees"), frame.iloc[[0]]
    told = model.explain(row)
    values = row.iloc[0].tolist()
    forms: list[Any] = [
        values,
        np.array(values, dtype=object),
        frame.iloc[0],
        frame.iloc[0][["job", "age", "noise"]],  # by name, so in any order
        dict(zip(frame.columns, values, strict=True)),
        pl.DataFrame(row.to_dict("list")),
        FrameTable.like(row, None, model.levels_),
    ]
    assert all(model.explain(form) == told for form in forms)
    X, _ = numbers()
    for form in (X[0], X[:1], X[0].tolist(), pd.Series(X[0]), sparse.csr_array(X[:1])):
        assert plain().explain(form) == plain().explain(X[0])


@each_value
@each_model
@each_count
def test_shap_values_add_up_to_the_score(name: str, classes: int) -> None:
    frame, _, _ = data()
    model = fitted(name, classes)
    found = model.shap_values(frame)
    scores = model.decision_function(frame)
    np.testing.assert_allclose(found.values.sum(axis=1) + found.base_values, scores, atol=1e-9)


@pytest.mark.parametrize("name", STUMPS)
def test_shap_values_of_stumps_are_the_shapes_but_for_a_constant(name: str) -> None:
    frame, _, _ = data()
    model = fitted(name)
    shares = model.shap_values(frame).values
    table = FrameTable.like(frame, None, model.levels_)
    for j, shape in model.shapes().features.items():
        difference = shares[:, j] - shape.at(table.column(j))[:, 0]
        np.testing.assert_allclose(difference, difference[0], atol=1e-9)


def test_black_boxes_can_be_explained_and_shuffled_only() -> None:
    _, _, three = data()
    X, two = np.nan_to_num(numbers()[0]), numbers()[1]
    for y in (two, three):
        box = AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=4).fit(X, y)
        told = box.explain(X[0])
        assert sum(entry.contribution for entry in told.entries) + told.rest == told.score
        assert len(told.entries) == len(box.votes_)  # of one name, but not the same rule
        assert told.entries[0].words.startswith("DecisionTreeClassifier: ")
        age, noise = box.permutation_importances(X, y, random_state=0).mean
        assert age > noise
        for refused in (box.shapes, lambda box=box: box.shap_values(X)):
            with pytest.raises(DataError, match="permutation_importances"):
                refused()


def test_several_labels() -> None:
    frame, two, three = data()
    Y = np.column_stack([two == "yes", three == "low", three == "top"]).astype(int)
    model = BoostClassifier("adaboost", n_estimators=8, random_state=0).fit(frame, Y)
    told = model.explain(frame.iloc[[0]], for_class=2)
    assert told.prediction == model.predict(frame.iloc[[0]])[0].tolist()
    assert told.score == model.decision_function(frame.iloc[[0]])[0, 2]
    found = model.permutation_importances(frame, Y, random_state=0)
    assert found.mean.argmax() == 0
    assert pacboost.plots.margins(model, frame, Y, rounds=[1, 8]).get_xlim() == (-1, 1)


@each_count
def test_importances_by_shuffling(classes: int) -> None:
    """The label is a function of the first column; the second is noise, the third a constant."""
    generator = np.random.default_rng(3)
    X = np.column_stack([generator.uniform(size=(1000, 2)), np.ones(1000)])
    y = (X[:, 0] * classes).astype(int)
    model = BoostClassifier(n_estimators=20, max_leaves=4, random_state=0).fit(X[:500], y[:500])
    found = model.permutation_importances(X[500:], y[500:], random_state=1)
    relevant, noise, constant = found.mean
    assert relevant > 0.8 * (1 - 1 / classes)  # what guessing costs
    assert abs(noise) < 0.01
    assert constant == 0
    assert found.each.shape == (3, 5)
    assert 0 < found.std[0] < 0.1
    assert found.base == pytest.approx(1 - model.score(X[500:], y[500:]))


def test_importances_are_what_shuffling_a_copy_gives() -> None:
    X, y = numbers()
    model = plain()
    found = model.permutation_importances(X, y, repeats=2, random_state=5, metric="auc")
    again = model.permutation_importances(X, y, repeats=2, random_state=5, metric="auc")
    other = model.permutation_importances(X, y, repeats=2, random_state=6, metric="auc")
    assert np.array_equal(found.each, again.each)
    assert not np.array_equal(found.each, other.each)
    assert found.each[0].min() > 0.1  # more of it is better, so what is lost counts as above 0
    order = np.random.default_rng(0).permutation(ROWS)
    shuffled = X.copy()
    shuffled[:, 1] = X[order, 1]
    np.testing.assert_array_equal(Shuffled(ArrayTable(X), 1, order).rows(), shuffled)
    assert not np.shares_memory(Shuffled(ArrayTable(X), 1, order).rows(), X)


@pytest.mark.parametrize("classes", [2, 3, "m1"])
def test_margins_keep_to_their_theorem(classes: Any) -> None:
    """A share of training rows of at most ∏ Z_t exp(θ S) has a margin of at most θ."""
    frame, two, three = data()
    way = "m1" if classes == "m1" else "mh"
    model = AdaBoostClassifier(Tree(max_leaves=4), n_estimators=6, multiclass=way)
    model.fit(frame, two if classes == 2 else three)
    last = len(model.ledger_)  # AdaBoost.M1 stops where a rule errs on half of the weight
    axes = pacboost.plots.margins(model, frame, two if classes == 2 else three, rounds=[2, last])
    labels = [line.get_label() for line in axes.get_lines()]
    assert labels[:2] == ["after round 2", f"after round {last}"]
    at, below = axes.get_lines()[1].get_data()
    ledger = model.ledger_
    product, total = ledger.columns()["bound"][-1], sum(e.vote for e in ledger.rounds)
    assert product < 1
    for theta in (0.0, 0.05, 0.1, 0.3):
        bound = product * math.exp(theta * total)
        assert below[np.searchsorted(at, theta, side="right") - 1] <= bound
    wrong = model.mistakes(frame, two if classes == 2 else three).mean()
    assert math.isclose(below[np.searchsorted(at, 0.0, side="right") - 1], wrong)


def test_what_is_wrong_is_said() -> None:
    frame, two, _ = data()
    X, y = numbers()
    model, many, row = plain(), fitted("logit stumps", 3), {"age": 3, "noise": 1}
    shuffle, plots = model.permutation_importances, pacboost.plots
    strange = np.where(two == "yes", "yes", "maybe")
    refused: list[tuple[Callable[[], Any], type[Exception], str]] = [
        (lambda: model.explain(X[:2]), DataError, "x has 2 rows"),
        (lambda: many.explain(frame), DataError, "x has 300 rows"),
        (lambda: model.explain([1.0, 2.0, 3.0]), DataError, "x holds 3 values.*2 features"),
        (lambda: model.explain("age"), DataError, "0 dimensions"),
        (lambda: many.explain(row), DataError, "lacks the column 'job'"),
        (lambda: many.explain(row | {"jobb": "smith"}), DataError, r"'jobb' \(did you mean 'job'"),
        (lambda: many.explain(row | {"job": "a", "pay": 0}), DataError, "has the column 'pay'"),
        (lambda: model.predict(pd.Series(X[0])), DataError, r"Series.* frame\.iloc\[\[0\]\]"),
        (lambda: shuffle(X, strange), DataError, "not among the classes"),
        (lambda: many.fit(frame, two, sample_weights=1), TypeError, "did you mean 'sample_w"),
        (lambda: fitted("logit trees").partial_dependence("nois"), ParameterError, "mean 'noise'"),
        (lambda: shuffle(X, y, metric="eror"), ParameterError, "did you mean 'error'"),
        (lambda: shuffle(X, y, metric="accuracy"), ParameterError, "metric is 'accuracy'"),
        (lambda: shuffle(X, y, repeats=0), ParameterError, "repeats is 0"),
        (lambda: pacboost.certify(model, X, y, of="recal"), ParameterError, "mean 'recall'"),
        (lambda: pacboost.certify_all(many, frame, two, by="jobb"), ParameterError, "mean 'job'"),
        (lambda: pacboost.BoostRegressor("hubre").fit(X, X[:, 1]), ParameterError, "mean 'huber'"),
        (lambda: model.explain(X[0], for_class="maybe"), ParameterError, "is 'maybe'.*'yes'"),
        (lambda: model.explain(X[0], top=0), ParameterError, "top is 0"),
        (lambda: plots.shapes(many, for_class="maybe"), ParameterError, "for_class is 'maybe'"),
        (lambda: plots.shapes(model, for_class="no"), ParameterError, "omit for_class"),
        (lambda: plots.margins(model, X, y, rounds=[1, 16]), ParameterError, r"rounds .*16.* 15"),
        (lambda: AdaBoostClassifier().shapes(), NotFittedError, "not fitted"),
    ]
    for call, error, match in refused:
        with pytest.raises(error, match=match):
            call()


def test_a_vote_that_was_shortened_has_one_test_error() -> None:
    X, y = numbers()
    model = AdaBoostClassifier(n_estimators=15, random_state=0).fit(X, y)
    model = pacboost.theory.compress(model, X, y)
    assert len(model.estimators_) != len(model.ledger_)
    drawn = {
        line.get_label(): line.get_ydata()
        for line in pacboost.plots.rounds(model, X, y).get_lines()
    }
    assert set(drawn["test error of the final vote"]) == {model.mistakes(X, y).mean()}
