"""Regressors explain themselves as classifiers do; leaves of rows, and importances of splits."""

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

import pacboost
from pacboost import AdaBoostClassifier, BoostClassifier, BoostRegressor
from pacboost.errors import DataError, ParameterError

ROWS = 300


@cache
def data() -> tuple[pd.DataFrame, Any]:
    generator = np.random.default_rng(7)
    frame = pd.DataFrame(
        {
            "age": np.round(generator.normal(40, 10, ROWS), 1),
            "noise": generator.normal(size=ROWS),
            "job": generator.choice(["clerk", "farmer", "smith"], ROWS),
        }
    )
    y = 2 * frame["age"] + 12 * (frame["job"] == "smith") + generator.normal(size=ROWS)
    frame.loc[generator.random(ROWS) < 0.1, "age"] = np.nan
    return frame, y.to_numpy()


@cache
def fitted(loss: str = "squared_error", **options: Any) -> Any:
    return BoostRegressor(loss, n_estimators=20, random_state=0, **options).fit(*data())


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error"])
def test_contributions_add_up_to_the_prediction(loss: str) -> None:
    frame, _ = data()
    model = fitted(loss)
    for k in range(5):
        row = frame.iloc[[k]]
        told = model.explain(row, top=4, by="rule")
        assert told.prediction == told.score == model.predict(row)[0]
        total = sum(entry.contribution for entry in told.entries) + told.rest
        assert total == pytest.approx(told.score, abs=1e-9)
        assert (told.for_class, told.probability) == (None, None)
        columns = model.explain(row, top=1)
        total = columns.base + columns.entries[0].contribution + columns.rest
        assert total == pytest.approx(told.score, abs=1e-9)
        assert sum(entry.rules for entry in told.entries) + told.rest_rules == len(model.votes_)


def test_a_row_may_come_in_any_form_and_is_shown_in_words() -> None:
    frame, _ = data()
    model, row = fitted(), data()[0].iloc[[3]]
    told = model.explain(row)
    values = {name: cells[0] for name, cells in row.to_dict("list").items()}
    for other in (values, list(values.values()), row.iloc[0]):
        assert model.explain(other).entries == told.entries
    assert str(told).startswith(f"predicted: {told.prediction:.6g}\n")
    assert str(told).endswith("  prediction")
    assert "score of None" not in told._repr_html_()
    assert len(told.to_frame()) == len(told.entries)
    with pytest.raises(DataError, match="2 rows"):
        model.explain(frame.iloc[:2])
    with pytest.raises(ParameterError, match="top is 0"):
        model.explain(row, 0)


def test_importances_by_shuffling() -> None:
    frame, y = data()
    found = fitted().permutation_importances(frame, y, repeats=2, random_state=0)
    assert found.mean[0] > found.mean[2] > found.mean[1]
    assert found.base == pytest.approx(np.square(fitted().predict(frame) - y).mean())
    other = fitted().permutation_importances(
        frame, y, repeats=2, random_state=0, metric="absolute_error"
    )
    assert other.base == pytest.approx(np.abs(fitted().predict(frame) - y).mean())
    assert pacboost.plots.importances(fitted(), found).get_xlabel().endswith("when shuffled")
    with pytest.raises(ParameterError, match=r"'error'.* loss"):
        fitted().permutation_importances(frame, y, metric="error")


def test_votes_without_interactions_are_shapes_and_curves_but_for_a_constant() -> None:
    """Trees that ask for one feature each are step functions, of numbers and categories alike."""
    frame, y = data()
    for kind, answers in ((BoostRegressor, y), (BoostClassifier, y > 80)):
        model = kind(n_estimators=12, interaction_constraints="no_interactions", random_state=0)
        model.fit(frame, answers)
        scores = model.predict(frame) if kind is BoostRegressor else model.decision_function(frame)
        exact, curves, table = model.shapes(), model.partial_dependence(), model._open(frame)
        np.testing.assert_allclose(exact.scores(table), scores, atol=1e-9)
        assert set(curves.features) == set(exact.features)
        for j, shape in exact.features.items():
            column = table.block(j, j + 1)[:, 0]
            difference = shape.at(column) - curves.features[j].at(column)
            np.testing.assert_allclose(difference, difference[0, 0], atol=1e-9)
        drawn = pacboost.plots.shapes(model)
        assert len(drawn) == len(exact.features)
        assert drawn[0].get_lines() or drawn[0].patches
    with pytest.raises(DataError, match="interactions=0"):
        fitted().shapes()


TABLE = np.random.default_rng(0).normal(size=(500, 4))
ANSWERS = TABLE[:, 0] + 0.3 * TABLE[:, 1]
MODELS: list[Any] = [
    BoostClassifier(n_estimators=6, random_state=0),
    BoostRegressor(n_estimators=6, random_state=0),
    AdaBoostClassifier(n_estimators=6),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_leaves_lead_to_the_scores(model: Any) -> None:
    model.fit(TABLE, ANSWERS if isinstance(model, BoostRegressor) else ANSWERS > 0)
    leaves = model.apply(TABLE[:50])
    assert leaves.shape == (50, 6)
    vote = model.model_.vote
    scores = sum(
        share * rule.values[leaves[:, number], 0]
        for number, (rule, share) in enumerate(zip(vote.hypotheses, vote.votes, strict=True))
    )
    np.testing.assert_allclose(scores, vote.scores(model._open(TABLE[:50])), atol=1e-9)
