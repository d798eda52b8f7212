"""Lazy frames of polars are taken wherever frames are, and collected once in each call."""

import inspect
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.exceptions import DataConversionWarning

import pacboost
from pacboost import BoostClassifier, BoostRegressor
from pacboost.questions.answering import certify_answers
from tests.public import estimators

generator = np.random.default_rng(0)
FRAME = pl.DataFrame(
    {"a": generator.normal(size=400), "b": generator.normal(size=400), "c": np.arange(400) % 7}
)
Y = (FRAME["a"] + 0.3 * FRAME["b"] > 0).to_numpy().astype(int)
KINDS: list[Any] = list(estimators().values())
FITS: dict[str, dict[str, Any]] = {
    "AdaBoostClassifier": {"n_estimators": 5},
    "BoostClassifier": {"n_estimators": 5, "certify": "holdout"},
    "BoostRegressor": {"n_estimators": 5},
    "BaggingClassifier": {"n_estimators": 3},
    "FilterBoostClassifier": {"n_estimators": 5},
    "RandomForestClassifier": {"n_estimators": 5},
    "RectangleClassifier": {},
    "StrongClassifier": {"n_estimators": 5},
}


@pytest.fixture
def queries(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """One entry for every query that is run."""
    run: list[int] = []
    inner = pl.LazyFrame.collect

    def counting(self: Any, *given: Any, **named: Any) -> Any:
        run.append(1)
        return inner(self, *given, **named)

    monkeypatch.setattr(pl.LazyFrame, "collect", counting)
    return run


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_method_that_takes_rows_is_marked(kind: Any) -> None:
    methods = {name: getattr(kind, name) for name in dir(kind) if not name.startswith("_")}
    unmarked = [
        name
        for name, method in methods.items()
        if inspect.isfunction(method)
        and "X" in inspect.signature(method).parameters
        and not hasattr(method, "__wrapped__")
    ]
    assert not unmarked


@pytest.mark.parametrize("name", FITS)
def test_a_lazy_frame_is_as_good_as_its_rows(name: str, queries: list[int]) -> None:
    kind = estimators()[name]
    options = FITS[name]
    if "random_state" in inspect.signature(kind).parameters:
        options = {**options, "random_state": 0}
    answers = (FRAME["a"] > 0.5).to_numpy().astype(int) if name == "RectangleClassifier" else Y
    eager, lazy = (kind(**options).fit(rows, answers) for rows in (FRAME, FRAME.lazy()))
    assert len(queries) == 1
    np.testing.assert_array_equal(eager.predict(FRAME), lazy.predict(FRAME.lazy()))
    assert list(lazy.feature_names_in_) == ["a", "b", "c"]
    assert len(queries) == 2


def test_every_way_in_takes_them(tmp_path: Path, queries: list[int]) -> None:
    model = BoostClassifier(n_estimators=5, random_state=0)
    model.fit(FRAME[:200].lazy(), Y[:200], X_val=FRAME[200:300].lazy(), y_val=Y[200:300])
    assert len(queries) == 2
    rest, known = FRAME[300:], Y[300:]
    made = pacboost.certify(model, rest.lazy(), known)
    assert made.value == pacboost.certify(model, rest, known).value
    certify_answers(model, rest.lazy(), known)
    assert len(queries) == 4
    assert len(list(model.staged_predict(rest.lazy()))) == len(model.votes_)
    assert model.shap_values(rest.lazy()).values.shape == (100, 3)
    assert model.apply(rest.lazy()).shape[0] == 100
    assert model.explain(rest[:1].lazy()).prediction == model.predict(rest[:1])[0]
    model.report(tmp_path / "page.html", rest.lazy(), known)
    assert len(queries) == 9
    pacboost.diagnose(FRAME.lazy(), Y, "stump")
    pacboost.compare(
        FRAME[:300].lazy(), Y[:300], "adaboost", "stump", n_estimators=3, test=(rest.lazy(), known)
    )
    assert len(queries) == 12


def test_validation_sets_may_be_queries(queries: list[int]) -> None:
    model = BoostClassifier(n_estimators=5, random_state=0)
    sets = [(FRAME[200:300].lazy(), Y[200:300]), (FRAME[300:].lazy(), Y[300:])]
    model.fit(FRAME[:200], Y[:200], eval_set=sets)
    assert len(queries) == 2


def test_targets_may_be_a_query_of_one_column() -> None:
    with pytest.warns(DataConversionWarning, match="column-vector y"):
        model = BoostRegressor(n_estimators=4, random_state=0).fit(
            FRAME.lazy(), FRAME.lazy().select("a")
        )
    assert model.score(FRAME.lazy(), FRAME["a"]) > 0
