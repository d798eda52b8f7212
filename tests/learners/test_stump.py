"""The stump learner against a brute-force search over every rule there is."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

from pacboost.hypotheses.stump import StumpRule
from pacboost.kernels import team as teams
from pacboost.kernels.threads import using
from pacboost.learners.learner import Search
from pacboost.learners.sklearn import fit_bag
from pacboost.learners.stump import Stump
from pacboost.samples.sample import Sample
from tests.examples import examples
from tests.sparse_samples import twin_samples
from tests.worlds import make_sample, small_samples

pytestmark = pytest.mark.usefixtures("keep_sparse")


def best(search: Search, weights: np.ndarray, signs: np.ndarray) -> StumpRule:
    """What the search finds, which has to be a stump."""
    actual = search.find(weights, signs, 0)
    assert isinstance(actual, StumpRule)
    return actual


def every_stump(sample: Sample) -> list[StumpRule]:
    """All rules: every feature, threshold (or none), sign, and answer for missing."""
    assert sample.bins is not None
    return [
        StumpRule(j, float(t), k, above, missing)
        for j, thresholds in enumerate(sample.bins.thresholds)
        for k, t in enumerate([*thresholds, math.inf])
        for above in (1, -1)
        for missing in (1, -1)
    ]


@given(small_samples(weighted=False), st.integers(0, 2**32 - 1))
@examples(150)
def test_least_error_of_all(sample: Sample, seed: int) -> None:
    signs = sample.signs[:, 0]
    weights = np.random.default_rng(seed).integers(1, 30, size=sample.n_rows)
    actual = best(Stump().on(sample), weights, signs)

    def error(stump: StumpRule) -> int:
        return int(weights[stump.answers(sample) != signs].sum())

    assert error(actual) == min(error(stump) for stump in every_stump(sample))


@given(small_samples(weighted=False), st.integers(0, 2**32 - 1))
@examples(60)
def test_ties_go_to_the_lowest_feature_then_threshold(sample: Sample, seed: int) -> None:
    signs = sample.signs[:, 0]
    weights = np.random.default_rng(seed).integers(1, 4, size=sample.n_rows)
    actual = best(Stump().on(sample), weights, signs)
    errors = {
        (s.feature, s.threshold, s.above, s.missing): int(weights[s.answers(sample) != signs].sum())
        for s in every_stump(sample)
    }
    least = min(errors.values())
    first = min(key[:2] for key, value in errors.items() if value == least)
    assert (actual.feature, actual.threshold) == first


@given(small_samples(weighted=False), st.lists(st.integers(0, 2**32 - 1), min_size=2, max_size=6))
@examples(60)
def test_a_search_that_remembers_equals_a_fresh_one(sample: Sample, seeds: list[int]) -> None:
    signs = sample.signs[:, 0]
    search = Stump().on(sample)
    for seed in seeds:
        weights = np.random.default_rng(seed).integers(0, 5, size=sample.n_rows) + 1
        again = best(Stump().on(sample), weights, signs)
        assert best(search, weights, signs) == again


def test_missing_values_go_where_it_is_best() -> None:
    X = np.array([[1.0], [2], [3], [np.nan], [np.nan], [4]])
    signs = np.array([-1, -1, 1, -1, -1, 1], dtype=np.int8)
    sample = make_sample(X, signs)
    actual = best(Stump().on(sample), np.ones(6, dtype=np.int64), signs)
    assert (actual.threshold, actual.above, actual.missing) == (2.5, 1, -1)


def test_missing_values_never_seen_are_treated_like_the_median() -> None:
    X = np.arange(10.0)[:, None]
    for cut, expected in ((2, 1), (7, -1)):
        signs = np.where(X[:, 0] > cut, 1, -1).astype(np.int8)
        sample = make_sample(X, signs)
        assert best(Stump().on(sample), np.ones(10, dtype=np.int64), signs).missing == expected


def test_missingness_itself_can_be_the_rule() -> None:
    X = np.array([[1.0], [1], [np.nan], [np.nan]])
    signs = np.array([1, 1, -1, -1], dtype=np.int8)
    actual = best(Stump().on(make_sample(X, signs)), np.ones(4, dtype=np.int64), signs)
    assert math.isinf(actual.threshold)
    assert (actual.above, actual.missing) == (-1, -1)


@pytest.mark.parametrize(
    ("features", "dimension"),
    [(1, 2), (2, 3), (3, 4), (5, 5), (10, 6), (20, 7), (100, 9), (1000, 13)],
)
def test_vc_dimension(features: int, dimension: int) -> None:
    sample = make_sample(np.zeros((2, features)), np.array([1, -1], dtype=np.int8))
    assert Stump().capacity(sample).vc_dimension == dimension


def test_log_size_counts_every_rule_once() -> None:
    sample = make_sample(
        np.array([[1.0, 5], [2, 5], [3, np.nan], [2, 6]]), np.array([1, -1, 1, 1], dtype=np.int8)
    )
    different = {
        ("constant", s.missing)
        if math.isinf(s.threshold) and s.missing == -s.above
        else (s.feature, s.threshold, s.above, s.missing)
        for s in every_stump(sample)
    }
    log_size = Stump().capacity(sample).log_size
    assert log_size is not None
    assert math.exp(log_size) == pytest.approx(len(different))


# Stumps on sparse samples are those on the same samples opened up, ties included.


@pytest.mark.parametrize("max_bins", [2, 5, 255, 300])
def test_the_same_stumps(max_bins: int) -> None:
    generator = np.random.default_rng(max_bins)
    for _ in range(15):
        rows, columns = int(generator.integers(1, 400)), int(generator.integers(1, 12))
        dense, listed = twin_samples(generator, rows, columns, max_bins=max_bins)
        searches = Stump().on(dense), Stump().on(listed)
        for _ in range(3):
            # a few weights only: many rules then have the same edge
            weights = generator.choice(np.array([1, 2, 2**45]), rows)
            expected, actual = (s.find(weights, dense.signs[:, 0]) for s in searches)
            assert expected == actual
            np.testing.assert_array_equal(actual.cells(listed), expected.cells(dense))


def test_any_number_of_threads_finds_the_same_sparse_stump(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(teams, "cores", lambda: 32)
    generator = np.random.default_rng(1)
    dense, listed = twin_samples(generator, 30_000, 12)
    weights = generator.integers(1, 2**30, 30_000)
    with using(1):
        expected = Stump().on(dense).find(weights, dense.signs[:, 0])
    for jobs in (1, 2, 3, 7, 16):
        with using(jobs):
            assert Stump().on(listed).find(weights, dense.signs[:, 0]) == expected


# Black boxes fitted on bags: counts as weights, or rows repeated.


def test_counts_are_weights_where_they_are_taken() -> None:
    generator = np.random.default_rng(0)
    X, y = generator.normal(size=(40, 3)), generator.normal(size=40)
    counts = generator.integers(1, 5, size=40)
    actual = fit_bag(Ridge(), X, y, counts, 0)
    repeated = Ridge().fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    assert actual.coef_ == pytest.approx(repeated.coef_)


def test_rows_are_repeated_elsewhere() -> None:
    X, y = np.array([[0.0], [1.0], [1.1]]), np.array([1, 0, 0])
    heavy = fit_bag(KNeighborsClassifier(3), X, y, np.array([3, 1, 1]), 0)
    assert heavy.predict([[0.9]]).tolist() == [0]
    assert heavy.predict([[0.4]]).tolist() == [1]


def test_every_random_state_gets_its_own_seed() -> None:
    model = make_pipeline(StandardScaler(), DecisionTreeRegressor(max_features=1))
    X = np.random.default_rng(1).normal(size=(50, 4))
    one, same, other = (fit_bag(model, X, X[:, 0], np.ones(50, int), s) for s in (1, 1, 2))
    state = "decisiontreeregressor__random_state"
    assert one.get_params()[state] == same.get_params()[state] != other.get_params()[state]
    assert model.get_params()[state] is None
