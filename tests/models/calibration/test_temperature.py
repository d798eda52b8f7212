"""One slope for all classes: the best there is, and finite where every row is right."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import expit, logsumexp, softmax
from sklearn.datasets import load_iris

from pacboost import BoostClassifier, load
from pacboost.errors import DataError
from pacboost.models.calibration import calibrators
from pacboost.models.calibration.calibrators import Calibration, calibration_error, fit_slope

Doubles = NDArray[np.float64]


def drawn(seed: int, rows: int, classes: int, steep: float) -> tuple[Doubles, NDArray[np.int64]]:
    """Scores, and labels drawn from softmax(steep·scores)."""
    generator = np.random.default_rng(seed)
    scores = generator.normal(size=(rows, classes))
    noise = generator.gumbel(size=(rows, classes))
    return scores, (steep * scores + noise).argmax(axis=1)


def loss(slope: float, scores: Doubles, labels: NDArray[np.int64], weights: Doubles) -> float:
    logs = logsumexp(slope * scores, axis=1)
    known = weights * (logs - slope * scores[np.arange(labels.size), labels])
    unknown = weights / weights.sum() * (logs - slope * scores.mean(axis=1))
    return float((known + unknown).sum())


@given(
    st.integers(0, 2**32 - 1),
    st.integers(2, 6),
    st.sampled_from([0.1, 1.0, 30.0, -1.0]),
    st.sampled_from([1e-4, 1.0, 1e4]),
)
@settings(deadline=None)
def test_no_other_slope_is_better(seed: int, classes: int, steep: float, scale: float) -> None:
    scores, labels = drawn(seed, 40, classes, steep)
    scores = scores * scale
    weights = np.random.default_rng(seed).exponential(size=40)
    slope = fit_slope(scores, labels, weights)
    assert 0 <= slope < np.inf
    least = loss(slope, scores, labels, weights)
    for other in (slope * 0.99, slope * 1.01, slope + 1e-3 / scale):
        assert least <= loss(other, scores, labels, weights) + 1e-9


def test_where_every_row_is_right_the_slope_is_finite() -> None:
    scores = np.eye(3)[[0, 1, 2, 0]]
    slope = fit_slope(scores, np.array([0, 1, 2, 0]), np.ones(4))
    assert softmax(slope * scores[0])[0] == pytest.approx((4 + 1 / 3) / 5, rel=1e-9)


def test_the_order_of_rows_does_not_matter() -> None:
    scores, labels = drawn(1, 200, 5, 2.0)
    weights, order = np.ones(200), np.random.default_rng(2).permutation(200)
    assert fit_slope(scores, labels, weights) == fit_slope(scores[order], labels[order], weights)


def test_finds_the_truth_where_curves_of_few_rows_do_not() -> None:
    """Sixty classes, ten rows of each to learn from."""
    scores, labels = drawn(3, 4000, 60, 3.0)
    fresh, truth = drawn(4, 4000, 60, 3.0)
    found = calibrators.fit("temperature", scores[:600], labels[:600])
    assert found.slope == pytest.approx(3.0, rel=0.05)
    assert calibration_error(found.probabilities(fresh), truth) < 0.03
    curves = calibrators.fit("sigmoid", scores[:600], labels[:600])
    assert calibration_error(curves.probabilities(fresh), truth) > 0.1


def test_two_classes_have_one_score() -> None:
    scores = np.random.default_rng(5).normal(size=500)
    labels = (np.random.default_rng(6).random(500) < expit(4 * scores)).astype(int)
    found = calibrators.fit("temperature", scores, labels)
    assert found.slope is not None
    assert found.probabilities(scores)[:, 1] == pytest.approx(expit(found.slope * scores))


def test_a_class_may_be_absent() -> None:
    scores, labels = drawn(7, 60, 3, 1.0)
    calibrators.fit("temperature", scores, np.minimum(labels, 1))
    with pytest.raises(DataError, match="or take 'temperature'"):
        calibrators.fit("sigmoid", scores, np.minimum(labels, 1))


def test_files_keep_it_and_refuse_what_is_none() -> None:
    found = calibrators.fit("temperature", *drawn(8, 60, 3, 1.0))
    assert Calibration.from_dict(json.loads(json.dumps(found.to_dict()))) == found
    for slope in (-1.0, float("inf"), float("nan"), "steep", None):
        with pytest.raises(DataError, match="not a calibration"):
            Calibration.from_dict({"method": "temperature", "slope": slope})


@pytest.mark.parametrize("classes", [2, 3])
def test_models_keep_it(classes: int, tmp_path: Path) -> None:
    X, y = load_iris(return_X_y=True)
    y = np.minimum(y, classes - 1)
    model = BoostClassifier(n_estimators=5, calibrate="temperature", random_state=0).fit(X, y)
    assert model.predict(X).tolist() == model.predict_proba(X).argmax(axis=1).tolist()
    model.save(tmp_path / "model.pacb")
    back = load(tmp_path / "model.pacb")
    assert np.array_equal(back.predict_proba(X), model.predict_proba(X))
    assert np.allclose(np.exp(model.predict_log_proba(X)), model.predict_proba(X))
