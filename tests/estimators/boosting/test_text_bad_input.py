"""What users get wrong with texts, or cannot help: it works, or it is said what to do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pacboost.errors import DataError, NoEdgeWarning
from pacboost.estimators.boosting.text import TextBoostClassifier
from pacboost.estimators.files import load

TEXTS = ["i lost my card", "top up failed", "what is the rate", "card was stolen"] * 50
LABELS = ["lost", "top-up", "rate", "lost"] * 50


def quick(**options: Any) -> TextBoostClassifier:
    return TextBoostClassifier(**{"n_estimators": 60, "length": 8, "random_state": 0, **options})


@pytest.mark.parametrize(
    "options",
    [
        {"certify": "holdout"},
        {"calibrate": "temperature"},
        {"early_stopping": True},
        {"class_weight": "balanced"},
        {"certify": "holdout", "calibrate": "temperature", "early_stopping": True},
        {"booster": "adaboost"},
    ],
    ids=str,
)
@pytest.mark.parametrize("seed", range(3))
def test_a_label_seen_once_harms_nobody(options: dict[str, Any], seed: int) -> None:
    """Its row may be the one that is held out, or held back for validation or calibration."""
    model = quick(**options, random_state=seed)
    model.fit([*TEXTS, "close it for good"], [*LABELS, "close"])
    assert model.classes_.tolist() == ["close", "lost", "rate", "top-up"]
    assert model.score(TEXTS, LABELS) > 0.9
    chances = model.predict_proba([*TEXTS, "close it for good", ""])
    assert np.isfinite(chances).all()
    assert np.allclose(chances.sum(axis=1), 1)


def test_texts_that_tell_nothing_apart_are_warned_of() -> None:
    with pytest.warns(NoEdgeWarning):
        model = quick().fit(["same words"] * 4, ["a", "b"] * 2)
    assert model.predict(["same words", "others"]).tolist() == ["a", "a"]


@pytest.mark.parametrize(
    "odd",
    [
        "\ud800",
        "a\0b",
        "𝐀 İstanbul ß",
        "\u200d👩‍👩‍👧",
        "عربى नमस्ते 中文",
        "\ufeffcard",
        "x" * 100_000,
    ],
    ids=["surrogate", "nul", "capitals", "joined", "scripts", "mark", "long"],
)
def test_odd_letters_are_read_and_kept(odd: str, tmp_path: Path) -> None:
    model = quick(characters=(2, 3)).fit([*TEXTS, odd, f"{odd} card"], [*LABELS, "rate", "lost"])
    model.save(tmp_path / "model.pacb")
    back = load(tmp_path / "model.pacb")
    rows = [odd, f"{odd} {odd}", odd.lower(), "card"]
    assert np.array_equal(back.decision_function(rows), model.decision_function(rows))


@pytest.mark.parametrize(
    "rows",
    [
        np.array(["lost", "top up"]),
        np.array(["lost", "top up"], dtype=object),
        pd.Series(["lost", "top up"]),
        pd.Series(["lost", "top up"], dtype="string"),
        ("lost", "top up"),
        (text for text in ["lost", "top up"]),
    ],
    ids=lambda rows: type(rows).__name__,
)
def test_texts_may_come_in_many_ways(rows: Any) -> None:
    assert quick().fit(TEXTS, LABELS).predict(rows).tolist() == ["lost", "top-up"]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ({"said": "lost"}, "a list of texts is needed, and dict came"),
        (None, "a list of texts is needed, and NoneType came"),
        (pd.Series(["a", pd.NA], dtype="string"), "row 1 holds <NA>"),
        ([["lost"], ["card"]], r"row 0 holds \['lost'\] \(list\)"),
        ([b"lost"], r"row 0 holds b'lost' \(bytes\)"),
        (np.eye(2), "a list of texts is needed, and ndarray came"),
    ],
)
def test_what_is_no_text_is_refused_with_a_way_out(rows: Any, said: str) -> None:
    with pytest.raises(DataError, match=said):
        quick().fit(rows, ["a", "b"])
