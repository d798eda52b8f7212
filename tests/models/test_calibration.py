"""Calibration against scikit-learn's, and where the true probabilities are known."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import expit, logsumexp, softmax
from sklearn.calibration import CalibratedClassifierCV, _SigmoidCalibration
from sklearn.frozen import FrozenEstimator
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from pacboost.errors import DataError
from pacboost.models import calibration
from pacboost.models.calibration import (
    METHODS,
    Calibration,
    Isotonic,
    Sigmoid,
    calibration_error,
    fit,
    fit_slope,
)
from tests.examples import examples
from tests.grids import each_value

Doubles = NDArray[np.float64]
Labels = NDArray[np.int64]

both = pytest.mark.parametrize("method", METHODS)


def some_rows(seed: int, rows: int, *, ties: bool = False) -> tuple[Doubles, Labels]:
    """Scores, and labels that follow them noisily; both classes are there."""
    generator = np.random.default_rng(seed)
    scores = generator.normal(0.3, 2, rows)
    scores = np.round(scores) if ties else scores
    labels = (generator.random(rows) < expit(1.5 * scores - 1)).astype(np.int64)
    labels[:2] = [0, 1]
    return scores, labels


def second(calibration: Calibration, scores: Doubles) -> Doubles:
    """The probability of the second class."""
    probabilities: Doubles = calibration.probabilities(scores)[:, 1]
    return probabilities


def reference(method: str, scores: Doubles, labels: Labels, weights: Doubles | None) -> Any:
    """scikit-learn's curve."""
    if method == "sigmoid":
        return _SigmoidCalibration().fit(scores, labels, weights)
    curve = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip")
    return curve.fit(scores, labels, weights)


@each_value
@both
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_curves_equal_those_of_scikit_learn(method: str, ties: bool, weighted: bool) -> None:
    scores, labels = some_rows(3, 400, ties=ties)
    weights = None
    if weighted:
        weights = np.random.default_rng(1).exponential(size=400)
        weights /= weights.mean()  # scikit-learn smooths by sums of weights, we by rows
    asked = np.linspace(-9, 9, 301)
    wanted = reference(method, scores, labels, weights).predict(asked)
    found = second(fit(method, scores, labels, weights), asked)
    np.testing.assert_allclose(found, wanted, atol=1e-9 if method == "isotonic" else 2e-4)


@each_value
@both
@pytest.mark.parametrize("classes", [2, 3])
def test_probabilities_equal_those_of_a_calibrated_classifier(method: str, classes: int) -> None:
    generator = np.random.default_rng(2)
    labels = generator.integers(classes, size=600)
    X = np.eye(classes)[labels] + generator.normal(0, 0.8, (600, classes))
    inner = LogisticRegression(C=0.01).fit(X[:200], labels[:200])
    theirs = CalibratedClassifierCV(FrozenEstimator(inner), method=method, cv=5)
    theirs.fit(X[200:], labels[200:])
    ours = fit(method, inner.decision_function(X[200:]), labels[200:])
    asked = generator.normal(0.3, 1, (500, classes))
    folds = theirs.calibrated_classifiers_
    assert len(folds) == 1  # of a frozen estimator every row is held out
    found = ours.probabilities(inner.decision_function(asked))
    np.testing.assert_allclose(found, theirs.predict_proba(asked), atol=2e-4)


@both
def test_distorted_scores_are_put_right_where_the_truth_is_known(method: str) -> None:
    generator = np.random.default_rng(7)
    truth = generator.beta(1, 1, 20_000)
    labels = (generator.random(20_000) < truth).astype(np.int64)
    logits = np.log(truth / (1 - truth))
    overconfident = 3 * logits + 1
    held_out, fresh = np.arange(10_000), np.arange(10_000, 20_000)
    calibration = fit(method, overconfident[held_out], labels[held_out])
    found = second(calibration, overconfident[fresh])
    before = calibration_error(expit(overconfident[fresh]), labels[fresh])
    after = calibration_error(found, labels[fresh])
    assert before > 0.1
    assert after < 0.025
    assert np.abs(found - truth[fresh]).mean() < 0.02


def test_true_probabilities_have_no_more_error_than_chance_makes() -> None:
    generator = np.random.default_rng(9)
    truth = generator.random(30_000)
    error = calibration_error(truth, generator.random(30_000) < truth)
    assert error < 0.4 * np.sqrt(15 / 30_000)


def test_calibration_error_by_hand() -> None:
    confidence = np.array([0.6, 0.7, 0.8, 0.9])
    shares = np.stack([confidence, 1 - confidence], axis=1)
    labels = np.array([0, 1, 0, 0])
    two_parts = (abs(0.5 - 0.65) + abs(1.0 - 0.85)) / 2
    assert calibration_error(shares, labels, bins=2) == pytest.approx(two_parts)
    assert calibration_error(shares, labels, bins=1) == pytest.approx(0.0)
    assert calibration_error(shares, labels, bins=1, weights=[0, 5, 0, 0]) == pytest.approx(0.7)
    assert calibration_error(shares[:, 1], labels, bins=2) == pytest.approx(two_parts)


@both
@examples(40)
@given(seed=st.integers(0, 2**32), rows=st.integers(10, 60), ties=st.booleans())
def test_curves_rise_stay_in_range_and_ignore_the_order_of_rows(
    method: str, seed: int, rows: int, ties: bool
) -> None:
    generator = np.random.default_rng(seed)
    scores, labels = some_rows(seed, rows, ties=ties)
    weights = generator.integers(1, 4, rows) / 3
    calibration = fit(method, scores, labels, weights)
    heights = second(calibration, np.linspace(-10, 10, 1001))
    assert (np.diff(heights) >= -1e-12).all()
    assert ((heights >= 0) & (heights <= 1)).all()
    order = generator.permutation(rows)
    assert fit(method, scores[order], labels[order], weights[order]) == calibration
    assert Calibration.from_dict(json.loads(json.dumps(calibration.to_dict()))) == calibration


@both
@examples(25)
@given(
    seed=st.integers(0, 2**32),
    scale=st.sampled_from([1e-30, 1e-3, 8.0, 1e30]),
    shift=st.floats(-3, 3),
)
def test_units_of_scores_and_of_weights_do_not_matter(
    method: str, seed: int, scale: float, shift: float
) -> None:
    scores, labels = some_rows(seed, 50)
    weights = np.random.default_rng(seed).exponential(size=50)
    plain = second(fit(method, scores, labels, weights), scores)
    moved = scale * (scores + shift)
    np.testing.assert_allclose(
        second(fit(method, moved, labels, weights * 1e-6), moved), plain, atol=1e-6
    )


@examples(25)
@given(seed=st.integers(0, 2**32), classes=st.integers(2, 5))
def test_probabilities_of_many_classes_add_up_to_one(seed: int, classes: int) -> None:
    generator = np.random.default_rng(seed)
    scores = np.round(generator.normal(size=(40, classes)), 1)
    labels = np.arange(40) % classes
    for method in METHODS:
        probabilities = fit(method, scores, labels).probabilities(3 * scores)
        np.testing.assert_allclose(probabilities.sum(axis=1), 1)
        assert (probabilities >= 0).all()


def test_classes_share_where_every_curve_says_no() -> None:
    curve = Isotonic((0.0, 1.0), (0.0, 1.0))
    calibration = Calibration("isotonic", (curve,) * 4)
    found = calibration.probabilities([[0.0] * 4, [0.0, 1.0, 0.0, 0.0], [0.5, 0.5, 0.0, 0.0]])
    assert found.tolist() == [[0.25] * 4, [0, 1, 0, 0], [0.5, 0.5, 0, 0]]


@both
def test_scores_that_rank_the_wrong_way_round_give_a_level_curve(method: str) -> None:
    scores, labels = some_rows(1, 200)
    heights = second(fit(method, -scores, labels), np.linspace(-5, 5, 50))
    assert np.ptp(heights) < 0.1
    constant = second(fit(method, np.ones(200), labels), np.array([-1.0, 1.0, 7.0]))
    assert np.ptp(constant) == 0
    assert constant[0] == pytest.approx(labels.mean(), abs=0.01)


def test_separated_scores_still_have_a_finite_sigmoid() -> None:
    scores = np.arange(20.0)
    curve = fit("sigmoid", scores, scores > 9).curves[0]
    assert isinstance(curve, Sigmoid)
    assert 0 < curve.slope < 10
    np.testing.assert_allclose(curve.at(scores)[[0, -1]], [0, 1], atol=0.02)


@each_value
@both
@pytest.mark.parametrize(
    ("scores", "labels", "weights", "words"),
    [
        (np.arange(20.0), np.ones(20), None, "1 of 2 classes, none of class 0"),
        (np.arange(20.0), np.arange(20) > 9, np.arange(20) < 10, "none of class 1"),
        (np.ones((20, 3)), np.arange(20) % 2, None, "2 of 3 classes, none of class 2"),
        (np.arange(9.0), np.arange(9) % 2, None, "9 held-out rows .* at least 10"),
        (np.arange(20.0), np.arange(20) % 2, np.arange(20) < 4, "4 held-out rows"),
        (np.arange(20.0), np.arange(20), None, "a label is .*2.* 0 to 1"),
        (np.arange(20.0), ["a"] * 20, None, "a label is .*'a'"),
        (np.arange(20.0), np.full(20, np.nan), None, "a label is .*nan"),
        (np.arange(20.0), np.arange(19) % 2, None, "labels have shape"),
        (np.full(20, np.inf), np.arange(20) % 2, None, "scores hold NaN or infinity"),
        (np.ones((20, 1)), np.arange(20) % 2, None, r"scores have shape \(20, 1\)"),
        (np.arange(20.0), np.arange(20) % 2, np.ones(3), "weights have shape"),
        (np.arange(20.0), np.arange(20) % 2, np.zeros(20), "not all of them 0"),
        (np.arange(20.0), np.arange(20) % 2, -np.ones(20), "not be negative"),
    ],
)
def test_rows_that_cannot_be_used(
    method: str, scores: Any, labels: Any, weights: Any, words: str
) -> None:
    with pytest.raises(DataError, match=words):
        fit(method, scores, labels, weights)


@both
def test_scores_of_another_shape_are_refused(method: str) -> None:
    calibration = fit(method, *some_rows(0, 20))
    with pytest.raises(DataError, match=r"takes \(rows,\)"):
        calibration.probabilities(np.ones((3, 3)))
    three = fit(method, np.random.default_rng(0).normal(size=(20, 3)), np.arange(20) % 3)
    with pytest.raises(DataError, match=r"takes \(rows, 3\)"):
        three.probabilities(np.ones(3))


@pytest.mark.parametrize(
    "content",
    [
        {},
        {"method": "beta", "curves": []},
        {"method": "sigmoid", "curves": []},
        {"method": "sigmoid", "curves": [{"slope": -1.0, "offset": 0.0}]},
        {"method": "sigmoid", "curves": [{"slope": float("nan"), "offset": 0.0}]},
        {"method": "isotonic", "curves": [{"slope": 1.0, "offset": 0.0}]},
        {"method": "isotonic", "curves": [{"knots": [], "heights": []}]},
        {"method": "isotonic", "curves": [{"knots": [0.0, 1.0], "heights": [1.0, 0.0]}]},
        {"method": "isotonic", "curves": [{"knots": [0.0, 1.0], "heights": [0.0, 2.0]}]},
        {"method": "isotonic", "curves": [{"knots": [0.0], "heights": [0.0, 1.0]}]},
        *({"method": "temperature", "slope": s} for s in (-1.0, np.inf, np.nan, "steep", None)),
    ],
)
def test_something_else_is_not_a_calibration(content: dict[str, Any]) -> None:
    with pytest.raises(DataError, match="not a calibration"):
        Calibration.from_dict(content)


# One slope for all classes: the best there is with one more row, and finite where all are right.


def drawn(seed: int, rows: int, classes: int, steep: float) -> tuple[Doubles, NDArray[np.int64]]:
    """Scores, and labels drawn from softmax(steep·scores)."""
    generator = np.random.default_rng(seed)
    scores = generator.normal(size=(rows, classes))
    noise = generator.gumbel(size=(rows, classes))
    return scores, (steep * scores + noise).argmax(axis=1)


def loss(
    slope: float, scores: Doubles, labels: NDArray[np.int64], weights: Doubles, believed: Doubles
) -> float:
    """The loss with one more row, whose labels have the chances believed."""
    logs = logsumexp(slope * scores, axis=1)
    known = weights * (logs - slope * scores[np.arange(labels.size), labels])
    unknown = weights / weights.sum() * (logs - slope * (believed * scores).sum(axis=1))
    return float((known + unknown).sum())


@given(
    st.integers(0, 2**32 - 1),
    st.integers(2, 6),
    st.sampled_from([0.1, 1.0, 30.0, -1.0]),
    st.sampled_from([1e-4, 1.0, 1e4]),
)
def test_no_other_slope_is_better(seed: int, classes: int, steep: float, scale: float) -> None:
    scores, labels = drawn(seed, 40, classes, steep)
    scores = scores * scale
    weights = np.random.default_rng(seed).exponential(size=40)
    slope = fit_slope(scores, labels, weights)
    assert 0 <= slope < np.inf
    usual = 2.0 if classes == 2 else 1.0
    if slope == usual:
        return
    believed = np.full_like(scores, 1 / classes)
    if slope < usual:
        believed = softmax(usual * scores, axis=1)
    least = loss(slope, scores, labels, weights, believed)
    for other in (slope * 0.99, slope * 1.01, slope + 1e-3 / scale):
        assert least <= loss(other, scores, labels, weights, believed) + 1e-9


def test_where_every_row_is_right_the_slope_is_finite() -> None:
    scores = np.eye(3)[[0, 1, 2, 0]]
    slope = fit_slope(scores, np.array([0, 1, 2, 0]), np.ones(4))
    assert softmax(slope * scores[0])[0] == pytest.approx((4 + 1 / 3) / 5, rel=1e-9)


def test_rows_that_are_all_right_are_no_evidence_against_steep_scores() -> None:
    scores = 20 * np.eye(3)[[0, 1, 2, 0]]
    right, wrong = np.array([0, 1, 2, 0]), np.array([0, 1, 2, 1])
    assert fit_slope(scores, right, np.ones(4)) == 1.0
    assert fit_slope(scores, wrong, np.ones(4)) < 0.2


def test_finds_the_truth_where_curves_of_few_rows_do_not() -> None:
    """Sixty classes, ten rows of each to learn from."""
    scores, labels = drawn(3, 4000, 60, 3.0)
    fresh, truth = drawn(4, 4000, 60, 3.0)
    found = calibration.fit("temperature", scores[:600], labels[:600])
    assert found.slope == pytest.approx(3.0, rel=0.05)
    assert calibration_error(found.probabilities(fresh), truth) < 0.03
    curves = calibration.fit("sigmoid", scores[:600], labels[:600])
    assert calibration_error(curves.probabilities(fresh), truth) > 0.1


def test_a_class_may_be_absent() -> None:
    scores, labels = drawn(7, 60, 3, 1.0)
    calibration.fit("temperature", scores, np.minimum(labels, 1))
    with pytest.raises(DataError, match="or take 'temperature'"):
        calibration.fit("sigmoid", scores, np.minimum(labels, 1))


def test_files_keep_it() -> None:
    found = fit("temperature", *drawn(8, 60, 3, 1.0))
    assert Calibration.from_dict(json.loads(json.dumps(found.to_dict()))) == found
