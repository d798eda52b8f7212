"""RectangleClassifier: scikit-learn's checks, its certificate on known boxes, and its refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import binom

from pacboost.bounds.wording import DISTINCT_ROWS
from pacboost.errors import DataError, InputWarning, NotCertified, OneClassWarning, ParameterError
from pacboost.samples.same_example import DISTINCT
from pacboost.theory import sample_sizes
from pacboost.theory.single_rules import RectangleClassifier
from pacboost.theory.worlds import Boxes, LabelNoise

WORLD = Boxes((0.2, 0.1), (0.7, 0.8))


def test_the_sharp_bound_is_certified() -> None:
    model = RectangleClassifier(delta=0.1).fit(*WORLD.draw(300, 0))
    assert model.certificate_.value == sample_sizes.sharp(300, 0.1, 2)
    assert (model.certificate_.size, model.certificate_.delta) == (300, 0.1)


def test_the_certificate_holds_as_often_as_it_says_and_a_careless_one_does_not() -> None:
    """Exact risks; the twin takes the box for one chosen before the rows came."""
    runs, m, delta = 150, 100, 0.05
    generator = np.random.default_rng(4)
    bound, twin = sample_sizes.sharp(m, delta, 2), 1 - 0.05 ** (1 / m)
    risks = []
    for _ in range(runs):
        model = RectangleClassifier(delta).fit(*WORLD.draw(m, generator))
        assert model.certificate_.value == bound
        risks.append(WORLD.box_risk(model.lower_, model.upper_))
    allowed = binom.isf(1e-4, runs, delta)
    violations = int((np.array(risks) > bound).sum())
    assert 0 < violations <= allowed < (np.array(risks) > twin).sum()


def test_equal_rows_count_as_they_fall_or_once() -> None:
    X, y = WORLD.draw(300, 0)
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
    X, y = LabelNoise(WORLD, 0.1).draw(200, 0)
    model = RectangleClassifier().fit(X, y)
    assert not model.consistent_
    assert model.mistakes_ == int((model.predict(X) != y).sum()) > 0
    assert (model.predict(X)[y > 0] == 1).all()
    with pytest.raises(NotCertified, match="no box"):
        _ = model.certificate_


def test_one_class_is_constant_and_not_certified() -> None:
    X = np.arange(6.0)[:, None]
    with pytest.warns(OneClassWarning, match="one class only"):
        model = RectangleClassifier().fit(X, ["in"] * 6)
    assert model.predict([[99.0]]).tolist() == ["in"]
    with pytest.raises(NotCertified, match="both classes"):
        _ = model.certificate_


def test_second_class_is_inside_whatever_its_name() -> None:
    X, y = WORLD.draw(100, 1)
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
