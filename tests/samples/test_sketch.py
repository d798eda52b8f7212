"""The sketch: it knows its rows again, suspects nobody wrongly, and stays small."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse

from pacboost.samples.overlap import Overlap
from pacboost.samples.sketch import MAX_ROWS_KEPT, Sketch
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.sparse import SparseTable
from pacboost.sources.table import SomeRows, Table
from tests.grids import each_value

Rows = NDArray[np.float64]


def table(X: Rows) -> Table:
    return ArrayTable(X)


def overlap(train: Rows, other: Rows) -> Overlap:
    return Sketch.from_table(table(train)).overlap(table(other))


def gaussian(rows: int, features: int, seed: int) -> Rows:
    return np.random.default_rng(seed).normal(size=(rows, features))


@pytest.mark.parametrize("rows", [100, 1000, 20_000])
def test_all_rows_and_some_among_fresh_ones_come_back_in_any_order(rows: int) -> None:
    X, fresh = gaussian(rows, 5, 1), gaussian(rows, 5, 2)
    seen = overlap(X, X)
    assert seen.suspicious
    assert seen.shared == seen.compared > 0
    mixed = np.concatenate([X[: rows // 2], fresh[: rows // 2]])
    seen = overlap(X, mixed[np.random.default_rng(3).permutation(len(mixed))])
    assert seen.suspicious
    assert seen.shared / seen.compared == pytest.approx(0.5, abs=0.1)


def test_a_twentieth_is_enough_to_be_noticed() -> None:
    X, fresh = gaussian(2000, 4, 1), gaussian(1900, 4, 2)
    assert overlap(X, np.concatenate([X[:100], fresh])).suspicious


def test_single_precision_and_views_are_the_same_rows() -> None:
    X = gaussian(500, 3, 1)
    sketch = Sketch.from_table(table(X))
    assert sketch.overlap(table(X.astype(np.float32).astype(np.float64))).shared == 500
    assert sketch.overlap(table(np.asfortranarray(X))).shared == 500
    assert sketch.overlap(SomeRows(table(X), np.arange(0, 500, 2))).shared == 250


def test_missing_values_and_negative_zero() -> None:
    X = gaussian(300, 4, 1)
    X[np.random.default_rng(2).random(X.shape) < 0.3] = np.nan
    X[:, 3] = 0.0
    other = X.copy()
    other[:, 3] = -0.0
    with np.errstate(all="raise"):
        seen = overlap(X, other)
    assert seen.shared == seen.compared == 300
    assert seen.suspicious
    assert overlap(X, gaussian(300, 4, 9)).shared == 0


def test_fresh_continuous_rows_are_never_suspected() -> None:
    for seed in range(60):
        seen = overlap(gaussian(300, 2, 2 * seed), gaussian(200, 2, 2 * seed + 1))
        assert (seen.shared, seen.suspicious) == (0, False)


@each_value
@pytest.mark.parametrize("values", [2, 30, 1000, 20_000, 10**6, 1.1, 1.5, 3.0])
@pytest.mark.parametrize(("train", "test"), [(300, 300), (1000, 200), (1000, 1000), (2000, 4000)])
def test_fresh_draws_from_a_discrete_domain_or_a_long_tail_are_not_suspected(
    values: float, train: int, test: int
) -> None:
    for seed in range(5):
        draw = np.random.default_rng(seed)
        drawn = (
            draw.zipf(values, train + test)
            if values in (1.1, 1.5, 3.0)
            else (draw.integers(int(values), size=train + test))
        )
        rows = drawn[:, None].astype(np.float64)
        assert not overlap(rows[:train], rows[train:]).suspicious


@pytest.mark.parametrize(
    ("pairs", "draws"), [(2, 500), pytest.param(4, 2000, marks=pytest.mark.slow)]
)
def test_nor_many_fresh_draws_beside_few_training_rows(pairs: int, draws: int) -> None:
    """Twins come in pairs, so their number scatters more than a binomial one.

    A thousand rows out of 62,500 values have 8 pairs on average; where by chance they have none,
    the share of repeats in a large hold-out must not be called more than chance explains. At the
    promised rate of false alarms, none is seen in 2000 draws with probability above 0.99.
    """
    alarms = 0
    for seed in range(draws):
        generator = np.random.default_rng(seed)
        X = generator.integers(62_500, size=(1000, 1)).astype(np.float64)
        if np.unique(X).size < 1000 - pairs:  # with more pairs there is no danger: save the time
            continue
        Z = generator.integers(62_500, size=(100_000, 1)).astype(np.float64)
        alarms += overlap(X, Z).suspicious
    assert alarms == 0


def test_training_rows_of_a_small_domain_cannot_be_told_from_fresh_ones() -> None:
    X = np.random.default_rng(1).integers(4, size=(500, 1)).astype(np.float64)
    assert not overlap(X, X).suspicious


@pytest.mark.parametrize("columns", [1, 3, 50])
def test_small_for_many_rows(columns: int) -> None:
    X = np.random.default_rng(1).normal(size=(100_000, columns))
    sketch = Sketch.from_table(table(X))
    assert sketch.kept.values.size <= 1.2 * MAX_ROWS_KEPT
    assert sketch.kept.values.nbytes < 50_000
    assert sketch.overlap(table(X)).suspicious
    assert not sketch.overlap(table(gaussian(50_000, columns, 2))).suspicious


def test_each_table_has_its_own_salt() -> None:
    X = gaussian(200, 2, 1)
    first, second = Sketch.from_table(table(X)), Sketch.from_table(table(X[:199]))
    assert first.hasher.salt != second.hasher.salt
    assert not np.isin(first.kept.values, second.kept.values).any()


def one_hot(rows: int, seed: int) -> Rows:
    """A category in 60 columns, one value, and hardly a row that differs in the first columns."""
    generator = np.random.default_rng(seed)
    X = np.zeros((rows, 61))
    X[np.arange(rows), generator.integers(60, size=rows)] = 1
    X[:, 2] = generator.normal(size=rows)
    return X


def test_works_with_one_hot_columns() -> None:
    X = one_hot(20_000, 1)
    sketch = Sketch.from_table(table(X))
    assert sketch.kept.values.size <= 2 * MAX_ROWS_KEPT
    assert sketch.overlap(table(X)).suspicious
    assert not sketch.overlap(table(one_hot(20_000, 2))).suspicious


def test_stays_small_where_most_rows_are_equal() -> None:
    X = np.zeros((20_000, 3))
    X[:2000] = gaussian(2000, 3, 1)
    assert Sketch.from_table(table(X)).kept.values.size <= 2 * MAX_ROWS_KEPT


def test_nothing_compared_is_not_suspicious() -> None:
    assert not overlap(gaussian(100, 2, 1), gaussian(100, 2, 1)[:0]).suspicious
    assert not Overlap(0, 0, 100, 0).suspicious


@pytest.mark.parametrize("share", [0.1, 0.35, 0.7])
def test_rows_without_measurements_are_not_suspected(share: float) -> None:
    for seed in range(20):
        generator = np.random.default_rng(seed)
        X = generator.normal(size=(1500, 3))
        X[generator.random(1500) < share] = np.nan
        assert not overlap(X[:1000], X[1000:]).suspicious
        assert overlap(X[:1000], X[:1000]).suspicious


@pytest.mark.parametrize("rows", [300, 3 * MAX_ROWS_KEPT])
def test_sparse_rows_are_the_same_rows(rows: int) -> None:
    generator = np.random.default_rng(6)
    X = np.where(generator.random((rows, 12)) < 0.2, gaussian(rows, 12, 1), 0.0)
    X[:, 3] = np.arange(rows)
    X[generator.random(X.shape) < 0.02] = np.nan
    listed = SparseTable(sparse.csr_array(X))
    for one, other in ((table(X), listed), (listed, table(X)), (listed, listed)):
        seen = Sketch.from_table(one).overlap(other)
        assert seen.shared == seen.compared > 0


@pytest.mark.parametrize("rows", [200, 364])
def test_halves_of_a_table_that_lists_everything_share_no_row(rows: int) -> None:
    """As many data sets do; with one row in ten taken from the other half, it shows."""
    every = np.stack(np.unravel_index(np.arange(3**6), (3,) * 6), axis=1).astype(np.float64)
    for seed in range(20):
        order = np.random.default_rng(seed).permutation(3**6)
        train, test = every[order[:rows]], every[order[rows : 2 * rows]]
        assert not overlap(train, test).suspicious
        test[: rows // 5] = train[: rows // 5]
        assert overlap(train, test).suspicious
