"""Exported lists of words read texts, and rows with texts in them, as the model does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pacboost as pb
from pacboost.boosters import AdaBoost
from pacboost.errors import ParameterError
from pacboost.models.export.export import export
from tests.models.export.test_python import exported

WORDS = ["card", "Card", "lost", "naïve", "ΑΣ", "straße", "2", "top", "up", "it's", "—", "x_y", "İ"]


def texts(rows: int, seed: int) -> list[str]:
    generator = np.random.default_rng(seed)
    sizes = generator.integers(0, 7, size=rows)
    return [" ".join(generator.choice(WORDS, size=size)) for size in sizes]


def labels(rows: list[str], kind: str) -> Any:
    held = np.array([["card" in row, "up" in row, "2" in row] for row in rows])
    if kind == "several":
        return held.astype(np.int64)
    number = held[:, 0] * 1 + held[:, 1] * (2 if kind == "many" else 0)
    return np.array(["a", "b", "c", "d"])[number]


def agrees(model: Any, rows: Any, cells: list[Any]) -> None:
    """Compare answers, probabilities and scores; the scores bit for bit."""
    program = exported(model)
    assert np.array_equal(program.predict(cells), model.predict(rows))
    np.testing.assert_allclose(program.predict_proba(cells), model.predict_proba(rows), rtol=1e-12)
    scores = model.decision_function(rows)
    assert np.array_equal(program._MODEL.scores(cells), scores.reshape(len(cells), -1))


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("two", {}),
        ("many", {"skips": 2, "ngrams": (1, 3)}),
        ("many", {"calibrate": "isotonic", "lowercase": False}),
        ("many", {"ngrams": None, "characters": (2, 4)}),
        ("several", {"characters": (3, 3), "abstain": False}),
        ("many", {"booster": "adaboost", "learning_rate": 0.37}),
        (
            "two",
            {
                "booster": AdaBoost(confidence_rated=False),
                "length": 1,
                "candidates": None,
            },
        ),
    ],
)
@pytest.mark.usefixtures("isotonic_from_few_rows")
def test_texts_are_read_as_in_training(kind: str, options: dict[str, Any]) -> None:
    train, asked = texts(300, seed=0), [*texts(1000, seed=1), "", "unknown words", "\n—"]
    model = pb.TextBoostClassifier(**{"n_estimators": 12, "random_state": 0, **options})
    agrees(model.fit(train, labels(train, kind)), asked, asked)


def test_rows_with_texts_in_them() -> None:
    generator = np.random.default_rng(0)
    said = texts(1500, seed=2)
    ages = np.where(generator.random(1500) < 0.1, np.nan, generator.integers(18, 90, size=1500) / 2)
    cities = generator.choice(np.array(["Rome", "Bern", 'O"slo\n', None], dtype=object), size=1500)
    rows = [
        {"said": text, "age": None if np.isnan(age) else float(age), "city": city}
        for text, age, city in zip(said, ages, cities, strict=True)
    ]
    wanted = labels(said, "many")
    wanted[(np.nan_to_num(ages) > 30) & (cities == "Rome")] = "old in Rome"
    model = pb.TextBoostClassifier(text_columns=["said"], n_estimators=15, random_state=0)
    model.fit(rows[:500], wanted[:500])
    reading: Any = model.features_
    cuts = [c for column in reading.columns for c in getattr(column, "thresholds", ())]
    for row, age in zip(rows[500:], np.repeat(cuts, 9), strict=False):
        row["age"] = float(np.nextafter(age, generator.choice([-np.inf, np.inf, age])))
    rows[600]["city"], rows[601]["age"] = "never seen", 1e39
    agrees(model, rows, rows)
    with pytest.raises(ValueError, match="no column 'said'"):
        exported(model).predict([{"age": 3}])


def test_columns_may_stand_for_words() -> None:
    X = np.random.default_rng(0).integers(-1, 2, size=(400, 6)).astype(np.float64)
    X[::7, 2] = np.nan
    model = pb.BoostClassifier(learner=pb.learners.Words(), n_estimators=10, random_state=0)
    model.fit(X, (X[:, 0] != 0) & (X[:, 3] == 0))
    agrees(model, X, X.tolist())


@pytest.mark.parametrize("ending", ["c", "onnx"])
def test_texts_go_to_python_only(ending: str, tmp_path: Path) -> None:
    model = pb.TextBoostClassifier(n_estimators=2).fit(["a", "b", "a", "b"], [0, 1, 0, 1])
    with pytest.raises(ParameterError, match="Python only"):
        export(model, tmp_path / f"m.{ending}")
    assert not list(tmp_path.iterdir())
