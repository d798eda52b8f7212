"""Tightest boxes and version spaces: their certificates on known worlds, and refusals."""

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy import sparse
from scipy.stats import binom
from sklearn.base import clone

from pacboost.bounds.wording import DISTINCT_ROWS
from pacboost.errors import DataError, InputWarning, NotCertified, OneClassWarning, ParameterError
from pacboost.numerics.binomial import binomial_upper
from pacboost.samples.equal_rows import DISTINCT
from pacboost.theory import finite, sample_sizes
from pacboost.theory.finite_worlds import BooleanConcept
from pacboost.theory.single_rules import RectangleClassifier, VersionSpaceClassifier
from pacboost.theory.version_space import Band
from pacboost.theory.world_oracle import Rows
from pacboost.theory.worlds import Boxes, Intervals, LabelNoise

BOX = Boxes((0.2, 0.1), (0.7, 0.8))


def test_the_sharp_bound_is_certified() -> None:
    model = RectangleClassifier(delta=0.1).fit(*BOX.draw(300, 0))
    assert model.certificate_.value == sample_sizes.sharp(300, 0.1, 2)
    assert (model.certificate_.size, model.certificate_.delta) == (300, 0.1)


def test_the_certificate_holds_as_often_as_it_says_and_a_careless_one_does_not() -> None:
    """Exact risks; the twin takes the box for one chosen before the rows came."""
    generator = np.random.default_rng(4)
    bound, twin = sample_sizes.sharp(100, 0.05, 2), 1 - 0.05 ** (1 / 100)
    models = [RectangleClassifier().fit(*BOX.draw(100, generator)) for _ in range(150)]
    assert all(model.certificate_.value == bound for model in models)
    risks = np.array([BOX.box_risk(model.lower_, model.upper_) for model in models])
    assert 0 < (risks > bound).sum() <= binom.isf(1e-4, 150, 0.05) < (risks > twin).sum()


@pytest.mark.filterwarnings("ignore::pacboost.errors.InputWarning")
def test_equal_rows_count_as_they_fall_or_once() -> None:
    X, y = BOX.draw(300, 0)
    rows = np.concatenate([np.arange(300), np.arange(100)])
    drawn = RectangleClassifier().fit(X[rows], y[rows]).certificate_
    with pytest.warns(InputWarning, match="100 of 400 rows"):
        distinct = RectangleClassifier().fit(X[rows], y[rows], copies="distinct").certificate_
    assert (drawn.size, distinct.size) == (400, 300)
    assert (DISTINCT_ROWS in drawn.details, DISTINCT_ROWS in distinct.details) == (False, True)
    assert DISTINCT in set(distinct.assumptions) - set(drawn.assumptions)
    with pytest.raises(ParameterError, match="copies is 'auto'"):
        RectangleClassifier().fit(X, y, copies="auto")


def test_noise_still_fits_but_is_not_certified() -> None:
    X, y = LabelNoise(BOX, 0.1).draw(200, 0)
    model = RectangleClassifier().fit(X, y)
    assert not model.consistent_
    assert model.mistakes_ == int((model.predict(X) != y).sum()) > 0
    assert (model.predict(X)[y > 0] == 1).all()
    with pytest.raises(NotCertified, match="no box"):
        _ = model.certificate_


@pytest.mark.parametrize("model", [RectangleClassifier(), VersionSpaceClassifier()])
def test_one_class_is_constant_and_not_certified(model: Any) -> None:
    with pytest.warns(OneClassWarning, match="one class only"):
        model.fit(np.arange(6.0)[:, None], ["in"] * 6)
    assert model.predict([[-9.0], [99.0]]).tolist() == ["in"] * 2
    with pytest.raises(NotCertified, match="both classes"):
        _ = model.certificate_


def test_second_class_is_inside_whatever_its_name() -> None:
    X, y = BOX.draw(100, 1)
    model = RectangleClassifier().fit(X, np.where(y > 0, "yes", "no"))
    assert np.array_equal(model.predict(X) == "yes", y > 0)
    assert np.array_equal(model.decision_function(X) > 0, y > 0)
    assert "→ yes, else no" in model.hypothesis_


@pytest.mark.parametrize(
    ("X", "y", "complaint"),
    [
        ([[1.0], [np.nan]], [0, 1], "column x0 has NaN in row 1.*Fill"),
        ([[1.0], [np.inf]], [0, 1], "holds inf in row 1"),
        ([[1.0], [2.0], [3.0]], [0, 1, 2], "Only binary classification.*3 classes"),
        ([[1.0], [2.0]], [0, 1, 1], "X has 2 rows but y has 3"),
        (sparse.csr_array(np.eye(2)), [0, 1], r"X is sparse.*toarray"),
    ],
)
def test_bad_rows_are_refused(X: Any, y: Any, complaint: str) -> None:
    with pytest.raises(DataError, match=complaint):
        RectangleClassifier().fit(X, y)


def two_literals(X: Rows) -> NDArray[np.bool_]:
    return np.asarray((X[:, 0] == 1) & (X[:, 2] == 0))


CONCEPT = BooleanConcept(5, two_literals)
GRID = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]


def test_enough_rows_leave_the_concept_alone() -> None:
    model = VersionSpaceClassifier("conjunctions").fit(*CONCEPT.draw(300, 0))
    assert model.hypothesis_ == "x0 and not x2 → 1, else -1"
    assert model.version_space_size_ == 1
    assert model.consistent_
    assert model.log_size_ == pytest.approx(math.log(3**5 + 1))
    assert CONCEPT.risk(model.predict) == 0.0


def test_the_version_space_shrinks_as_rows_come() -> None:
    X, y = CONCEPT.draw(100, 3)
    model = VersionSpaceClassifier("conjunctions")
    sizes = [model.fit(X[:n], y[:n]).version_space_size_ for n in (10, 20, 40, 80, 100)]
    assert sizes == sorted(sizes, key=int, reverse=True)  # type: ignore[arg-type]
    assert sizes[-1] == 1


def test_exhaustion_is_the_union_bound() -> None:
    model = VersionSpaceClassifier("conjunctions").fit(*CONCEPT.draw(200, 0))
    expected = (3**5 + 1) * math.exp(-0.05 * 200)
    assert model.epsilon_exhausted(0.05) == pytest.approx(expected)
    assert model.epsilon_exhausted(0.05) >= expected * (1 - 1e-12)
    assert model.epsilon_exhausted(0.001) == 1
    epsilon = model.exhausted_to(0.05)
    assert epsilon == finite.consistent(200, 0.05, model.log_size_) == model.exhausted_to()
    # The textbook's exponential is a little above the exact power that epsilon comes from.
    assert 0.05 < model.epsilon_exhausted(epsilon) < 0.08


def test_certificates_count_mistakes() -> None:
    exact = VersionSpaceClassifier("conjunctions").fit(*CONCEPT.draw(200, 0))
    expected = finite.consistent(200, 0.05, exact.log_size_)
    assert exact.certificate_.value == pytest.approx(expected)
    X, y = LabelNoise(CONCEPT, 0.1).draw(400, 0)
    model = VersionSpaceClassifier("conjunctions", delta=0.01).fit(X, y)
    assert not model.consistent_
    assert model.version_space_size_ == 0
    assert model.mistakes_ == int((model.predict(X) != y).sum())
    expected = finite.agnostic(model.mistakes_, 400, 0.01, model.log_size_)
    assert model.certificate_.value == pytest.approx(expected)


def test_certificates_hold_where_labels_are_coins_and_careless_ones_do_not() -> None:
    """Every risk is 1/2. Forgetting that the class was searched, or δ, fails far too often."""
    world = LabelNoise(BooleanConcept(4, two_literals), 0.5)
    generator, violated, no_union, training_error = np.random.default_rng(1), 0, 0, 0
    for _ in range(150):
        model = VersionSpaceClassifier("conjunctions").fit(*world.draw(60, generator))
        assert world.risk(model.predict) == 0.5
        violated += model.certificate_.value < 0.5
        no_union += binomial_upper(model.mistakes_, 60, -math.log(0.05)) < 0.5
        training_error += model.mistakes_ / 60 < 0.5
    assert violated <= binom.isf(1e-4, 150, 0.05) < min(no_union, training_error)


def test_consistent_certificates_hold_on_thresholds_with_exact_risk() -> None:
    world, generator, violated = Intervals(((0.25, 0.75),)), np.random.default_rng(2), 0
    for _ in range(150):
        model = VersionSpaceClassifier("intervals", grid=np.arange(1, 64) / 64)
        model.fit(*world.draw(50, generator))
        assert model.consistent_
        assert isinstance(model.rule_, Band)
        risk = world.interval_risk(model.rule_.low, model.rule_.high)
        violated += model.certificate_.value < risk
    assert violated <= binom.isf(1e-4, 150, 0.05)


@pytest.mark.parametrize("name", ["thresholds", "intervals"])
def test_one_named_feature(name: str) -> None:
    generator = np.random.default_rng(0)
    frame = pd.DataFrame(generator.random((200, 3)), columns=["a", "b", "c"])
    y = (frame["b"] > 0.5).to_numpy()
    model = VersionSpaceClassifier(name, grid=GRID, feature="b").fit(frame, y)
    assert model.hypothesis_ == "b > 0.5 → True, else False"
    by_number = VersionSpaceClassifier(name, grid=GRID, feature=1).fit(frame, y)
    assert by_number.hypothesis_ == model.hypothesis_
    size = 2 + 18 if name == "thresholds" else 2 + 54
    assert model.log_size_ == pytest.approx(math.log(size))
    each = VersionSpaceClassifier(name, grid=GRID).fit(frame, y)
    assert each.log_size_ == pytest.approx(math.log(2 + 3 * (size - 2)))


def above_third(X: Rows) -> NDArray[np.bool_]:
    return np.asarray(X[:, 0] > 1 / 3)


def above_half(X: Rows) -> NDArray[np.bool_]:
    return np.asarray(X[:, 0] > 1 / 2)


def test_functions_of_ones_own() -> None:
    X, y = Intervals(((0.5, 1.0),)).draw(100, 0)
    model = VersionSpaceClassifier([above_third, above_half]).fit(X, y)
    assert (model.hypothesis_, model.version_space_size_) == ("above_half", 1)
    assert model.log_size_ == pytest.approx(math.log(2))
    assert np.array_equal(model.predict(X), y)
    assert clone(model).fit(X, y).hypothesis_ == "above_half"


def test_a_third_value_is_refused_in_fit_and_later() -> None:
    X, y = CONCEPT.draw(60, 1)
    model = VersionSpaceClassifier("disjunctions").fit(X, y)
    with pytest.raises(DataError, match="column 1 has 2 in row 0"):
        model.predict([[0, 2, 0, 0, 0]])
    with pytest.raises(DataError, match="more than two values"):
        model.fit(X + np.arange(60)[:, None], y)
    assert np.array_equal(model.fit(X[:, :1] * 0, y).predict([[0.0], [1.0]]).shape, (2,))


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"hypotheses": "boxes"}, "hypotheses is 'boxes'; it may be conjunctions"),
        ({"hypotheses": [1, 2]}, "or a list of functions"),
        ({"hypotheses": "conjunctions", "grid": [1]}, "for thresholds and intervals only"),
        ({"hypotheses": [above_half], "feature": 0}, "for thresholds and intervals only"),
        ({"grid": [[1.0]]}, "list of numbers"),
        ({"grid": [0.0, math.nan]}, "finite"),
        ({"feature": 2}, "number from 0 to 1, or the name"),
        ({"feature": "b"}, "feature is 'b'"),
    ],
)
def test_bad_parameters_are_refused(options: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ParameterError, match=complaint):
        VersionSpaceClassifier(**options).fit([[0.0, 1.0], [1.0, 0.0]], [0, 1])
