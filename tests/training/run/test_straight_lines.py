"""Straight lines: those of a ridge regression."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression, Ridge

from pacboost import BoostClassifier, BoostRegressor
from pacboost.hypotheses.vote import Vote
from pacboost.models.file.format import model_bytes
from pacboost.samples.bins import fit_bins
from pacboost.samples.sample import Sample
from pacboost.sources.arrays import ArrayTable
from pacboost.training.run.straight_lines import PENALTY, lines_of


def numbers(seed: int = 0, rows: int = 200) -> tuple[NDArray[Any], NDArray[Any]]:
    generator = np.random.default_rng(seed)
    X = generator.integers(-40, 40, size=(rows, 4)).astype(float)
    X[:, 1] += X[:, 0]
    return X, X @ np.array([1.0, -2.0, 0.5, 0.0]) + generator.normal(size=rows)


def sample_of(X: NDArray[Any], y: NDArray[Any], weights: NDArray[Any] | None = None) -> Sample:
    table = ArrayTable(X)
    base = np.ones(1) if weights is None else weights
    signs = np.ones((len(y), 1), dtype=np.int8)
    return Sample(table, signs, base, bins=fit_bins(table), targets=y)


def answers(sample: Sample, X: NDArray[Any], strength: float = 1.0) -> NDArray[np.float64]:
    lines = lines_of(sample, strength, 2.0**-40)
    return Vote(lines, np.ones(len(lines)), sample.signs.shape[1]).scores(ArrayTable(X))


@pytest.mark.parametrize("weighted", [False, True])
def test_lines_add_up_to_a_ridge_regression(weighted: bool) -> None:
    X, y = numbers()
    weights = np.random.default_rng(1).integers(1, 4, len(y)).astype(float) if weighted else None
    mean = np.average(X, axis=0, weights=weights)
    spread = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=weights))
    own = np.ones(len(y)) if weights is None else weights / weights.mean()
    ridge = Ridge(alpha=PENALTY).fit((X - mean) / spread, y, own)
    expected = ridge.predict((X - mean) / spread) - ridge.intercept_
    np.testing.assert_allclose(answers(sample_of(X, y, weights), X), expected, atol=1e-8)
    half = answers(sample_of(X, y, weights), X, 0.5)
    np.testing.assert_allclose(half, expected / 2, atol=1e-8)


@pytest.mark.parametrize("classes", [2, 3])
def test_lines_of_classes_are_those_of_a_ridge_regression(
    classes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = numbers()
    labels = np.digitize(y, np.quantile(y, np.arange(1, classes) / classes))
    signs = 2 * (labels[:, None] == np.arange(classes)) - 1
    sample = replace(
        sample_of(X, y),
        targets=None,
        signs=(signs[:, 1:] if classes == 2 else signs).astype(np.int8),
    )
    spread = (X - X.mean(axis=0)) / X.std(axis=0)
    curvature, scale = (0.25, 0.5) if classes == 2 else (0.5, 1.0)
    ridge = LogisticRegression(C=1 / (curvature * PENALTY), tol=1e-10, max_iter=10_000)
    slopes = ridge.fit(spread, labels).coef_
    expected = scale * spread @ (slopes - (classes > 2) * slopes.mean(axis=0)).T
    near = answers(sample, X).reshape(len(X), -1)
    assert np.corrcoef(near.ravel(), expected.ravel())[0, 1] > 0.99
    monkeypatch.setattr("pacboost.training.run.straight_lines.STEPS", 3_000)
    exact = answers(sample, X).reshape(len(X), -1)
    np.testing.assert_allclose(exact, expected, atol=1e-4)


def test_a_line_is_flat_where_nothing_is_known() -> None:
    X, y = numbers()
    X[:20, 0] = np.nan
    sample = sample_of(np.column_stack([X, np.full(len(X), 3.0)]), y)
    lines = lines_of(sample, 1.0, 2.0**-40)
    assert sorted(line.feature[0] for line in lines) == [0, 1, 2, 3]  # a constant has no slope
    nothing = np.full((1, 5), np.nan)
    far = np.array([[1e9, 0, 0, 0, 3.0], [X[:, 0][20:].max(), 0, 0, 0, 3.0]])
    assert Vote(lines, np.ones(len(lines)), 1).scores(ArrayTable(nothing)).tolist() == [0.0]
    assert len(set(Vote(lines, np.ones(len(lines)), 1).scores(ArrayTable(far)).tolist())) == 1


def test_huge_and_tiny_numbers_have_lines() -> None:
    X, y = numbers()
    plain = answers(sample_of(X, y), X)
    for factor in (2.0**110, 2.0**-110):
        other = answers(sample_of(X * factor, y), X * factor)
        np.testing.assert_allclose(other, plain, rtol=1e-9)


def test_a_sum_of_columns_begins_with_lines_and_a_product_does_not() -> None:
    X, y = numbers(2)
    new, truth = numbers(3)
    usual: dict[str, Any] = {"n_estimators": 100, "random_state": 0}
    straight = BoostRegressor(**usual).fit(X, y)
    trees = BoostRegressor(**usual, monotone_constraints=[0, 0, 1, 0]).fit(X, y)
    misses = [float(np.mean((model.predict(new) - truth) ** 2)) for model in (straight, trees)]
    assert misses[0] < misses[1] / 4
    lines = straight.model_.vote.hypotheses[1:4]
    assert [len(rule.features() or ()) for rule in lines] == [1, 1, 1]
    assert straight.feature_importances_.argmax() == 1
    crossed = BoostRegressor(**usual).fit(X, np.sign(X[:, 2] * X[:, 3]))
    assert max(len(rule.values) for rule in crossed.model_.vote.hypotheses) <= 31


def test_lines_have_gains_if_one_row_has_all_the_weight() -> None:
    X, y = numbers()
    weights = np.where(np.arange(len(y)) == 3, 1e18, 1.0)
    model = BoostClassifier(random_state=0).fit(X, y > 0, sample_weight=weights)
    assert (model.feature_importances_ >= 0).all()


@pytest.mark.parametrize("kind", [BoostRegressor, BoostClassifier])
def test_a_run_that_begins_with_lines_goes_the_same_way_on_any_number_of_threads(kind: Any) -> None:
    X, y = numbers(4, 1_000)
    y = y > 0 if kind is BoostClassifier else y
    one, two = (
        kind(n_estimators=40, derive=False, random_state=0, n_jobs=k).fit(X, y) for k in (1, 2)
    )
    assert max(len(rule.values) for rule in one.model_.vote.hypotheses) > 31
    assert model_bytes(one.model_) == model_bytes(two.model_)
