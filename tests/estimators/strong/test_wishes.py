"""StrongClassifier(recall=…, precision=…): one fit, a threshold, and its guarantee."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pacboost
from pacboost import StrongClassifier
from pacboost.errors import NotCertified, ParameterError
from pacboost.estimators.decisions.threshold import ThresholdClassifier


def world(rows: int, seed: int) -> tuple[Any, Any]:
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(rows, 4))
    sick = X[:, 0] + 0.5 * X[:, 1] + 0.5 * generator.normal(size=rows) > 1
    return X, np.where(sick, "sick", "well")


X, Y = world(3000, 0)
LATER, TRUTH = world(20_000, 1)


@pytest.fixture(scope="module")
def careful() -> StrongClassifier:
    return StrongClassifier(recall=0.9, positive="sick", n_estimators=40, random_state=0).fit(X, Y)


def test_recall(careful: StrongClassifier) -> None:
    assert isinstance(careful.estimator_, ThresholdClassifier)
    assert careful.certificate_.of_what == "recall"
    assert careful.certificate_.value >= 0.9
    assert careful.parts_["certify"] == 600
    assert careful.verdict_.reached
    assert careful.sentence_.startswith("Of the new examples of class 'sick', the classifier finds")
    own = TRUTH == "sick"
    assert (careful.predict(LATER)[own] == "sick").mean() >= 0.88


def test_precision() -> None:
    model = StrongClassifier(precision=0.8, positive="sick", n_estimators=40, random_state=1).fit(
        X, Y
    )
    said = model.predict(LATER) == "sick"
    assert (TRUTH[said] == "sick").mean() >= 0.78
    assert model.certificate_.value == 0.8


def test_file_page_and_guards(careful: StrongClassifier, tmp_path: Path) -> None:
    careful.save(tmp_path / "m.pacb")
    assert all(check.holds for check in pacboost.verify(tmp_path / "m.pacb"))
    again = pacboost.load(tmp_path / "m.pacb")
    assert (again.predict(LATER) == careful.predict(LATER)).all()
    careful.report(tmp_path / "page.html")
    assert "finds at least" in (tmp_path / "page.html").read_text(encoding="utf-8")
    with pytest.raises(NotCertified, match="rows the model was trained on"):
        pacboost.certify(careful, X, Y, of="recall", positive="sick")
    found = pacboost.certify(careful, LATER, TRUTH, of="recall", positive="sick")
    assert found.rows_checked
    assert careful.mistakes(LATER, TRUTH).mean() == (careful.predict(LATER) != TRUTH).mean()


def test_a_promise_that_cannot_be_kept_is_said() -> None:
    model = StrongClassifier(recall=0.999, positive="sick", n_estimators=5, random_state=0).fit(
        X, Y
    )
    assert model.verdict_.reached is False
    assert "No threshold is certified for recall 0.999" in model.sentence_
    assert "needs at least 2,995 rows of class 'sick'" in model.sentence_
    assert not isinstance(model.estimator_, ThresholdClassifier)


@pytest.mark.parametrize(
    ("parameters", "fit", "match"),
    [
        ({"recall": 0.9, "epsilon": 0.1}, {}, "recall and epsilon were given"),
        ({"recall": 0.9, "precision": 0.9}, {}, "recall and precision were given"),
        ({"recall": 1.0}, {}, "strictly between"),
        ({"recall": 0.9}, {"groups": np.arange(3000) // 3}, "independent rows"),
        ({"recall": 0.9}, {"time": np.arange(3000)}, "independent rows"),
    ],
)
def test_bad_input(parameters: dict[str, Any], fit: dict[str, Any], match: str) -> None:
    with pytest.raises(ParameterError, match=match):
        StrongClassifier(**parameters).fit(X, Y, **fit)


def test_a_class_that_is_not_there() -> None:
    with pytest.raises(ParameterError, match="the classes are 'sick', 'well'"):
        StrongClassifier(recall=0.9, positive="ill", n_estimators=3, random_state=0).fit(X, Y)
