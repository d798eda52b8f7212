"""What the chosen estimator can do, StrongClassifier can do by itself: on frames, as Tab shows."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

from pacboost import BoostClassifier, StrongClassifier

pd = pytest.importorskip("pandas")

METHODS = [
    "explain", "shap_values", "apply", "rules", "importances", "permutation_importances",
    "partial_dependence", "staged_predict",
]  # fmt: skip


@pytest.fixture(scope="module")
def rows() -> Any:
    generator = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "size": generator.normal(size=300),
            "kind": generator.choice(["a", "b", "c"], 300),
            "when": pd.date_range("2024-01-01", periods=300, freq="7h"),
            "weight": generator.uniform(1, 2, 300),
        }
    )
    frame["y"] = np.where(frame["size"] + (frame["kind"] == "a") > 0.5, "yes", "no")
    return frame


@pytest.fixture(scope="module")
def model(rows: Any) -> StrongClassifier:
    made = StrongClassifier(n_estimators=8, random_state=0, verbose=0)
    return made.fit(rows, "y", sample_weight="weight")


@pytest.mark.parametrize("name", METHODS)
def test_a_method_is_listed_and_described_once_there_is_a_model(
    model: StrongClassifier, name: str
) -> None:
    assert name in dir(model)
    assert inspect.getdoc(getattr(model, name)) == inspect.getdoc(getattr(BoostClassifier, name))
    assert not hasattr(StrongClassifier(), name)


def test_rows_of_the_frame_that_was_fitted_are_understood(
    model: StrongClassifier, rows: Any
) -> None:
    """Columns that are no features (target and weights) are in them, and dates as they came."""
    assert model.apply(rows).shape == (300, len(model.ledger_))
    shares = model.shap_values(rows[:4])
    assert shares.values.shape == (4, model.n_features_in_)
    total = shares.values.sum(axis=1) + shares.base_values
    np.testing.assert_allclose(total, model.decision_function(rows[:4]), atol=1e-9)
    assert "size" in str(model.explain(rows[:1]))
    assert len(list(model.staged_predict(rows[:3]))) == len(model.ledger_)
    assert len(model.importances(by="count")) == model.n_features_in_


def test_what_was_learned_is_listed(model: StrongClassifier) -> None:
    assert {"ledger_", "certificate_", "feature_importances_"} <= set(dir(model))
    assert dict(inspect.getmembers(model))["ledger_"] is model.ledger_


def test_texts_are_explained() -> None:
    texts = ["I lost my card", "my card was stolen", "top up my phone", "how do I top up"] * 20
    said = ["card", "card", "top-up", "top-up"] * 20
    model = StrongClassifier(n_estimators=6, random_state=0, verbose=0).fit(texts, said)
    assert "card" in str(model.explain("they took my card"))
