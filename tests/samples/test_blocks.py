"""Codes in words: every feature can be read back, whichever lane it shares."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import sparse

from pacboost.errors import ParameterError
from pacboost.kernels import layout
from pacboost.kernels.threads import using
from pacboost.learners.tree import DenseTreeSearch, Tree
from pacboost.samples.bins import Bins, fit_bins
from pacboost.samples.blocks import MAX_ROWS_COMPARED, Blocks, lay_out
from pacboost.samples.fingerprint import Fingerprint
from pacboost.samples.sample import Sample
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.levels import Levels
from pacboost.sources.sparse import SparseTable
from pacboost.sources.table import Table
from tests.examples import examples
from tests.grids import each_value
from tests.kernels import naive


def decoded(blocks: Blocks, feature: int) -> NDArray[np.int64]:
    lane, first, bins, default = blocks.features[feature, :4]
    return naive.decode(naive.lanes(blocks.words)[lane], first, bins, default)


def check(table: Table, bins: Bins) -> Blocks:
    """Lay a table out; every feature has to give its codes back."""
    blocks = lay_out(table, bins)
    codes = bins.encode(table)
    lanes = naive.lanes(blocks.words)
    assert blocks.words.shape == (max(1, -(-blocks.lanes // 8)), table.n_rows)
    assert not lanes[blocks.lanes :].any()
    np.testing.assert_array_equal(
        blocks.features[:, layout.BINS], [t.size + 1 for t in bins.thresholds]
    )
    np.testing.assert_array_equal(blocks.features[:, layout.CATEGORY], bins.levels > 0)
    for j, own in enumerate(codes):
        np.testing.assert_array_equal(decoded(blocks, j), own)
    for lane in range(blocks.lanes):
        assert lanes[lane].max(initial=0) <= 255
        users = blocks.features[blocks.features[:, layout.LANE] == lane]
        assert len(users) >= 1
        if len(users) > 1:
            assert (users[:, layout.DEFAULT] >= 0).all()
            taken = [
                code
                for user in users
                for code in range(user[layout.BASE], user[layout.BASE] + user[layout.BINS] - 1)
            ]
            assert len(set(taken)) == len(taken)
            assert set(taken) <= set(range(1, 255))
        else:
            assert (users[:, layout.DEFAULT] == -1).all()
    return blocks


def one_hot(levels: NDArray[np.integer], count: int) -> NDArray[np.float64]:
    columns: NDArray[np.float64] = np.eye(count)[levels]
    return columns


@st.composite
def tables(draw: st.DrawFn) -> ArrayTable:
    """Columns of all kinds in random order: dense, sparse, one-hot, categories, constants."""
    generator = np.random.default_rng(draw(st.integers(0, 2**32)))
    rows = draw(st.sampled_from([1, 2, 5, 60, 300]))
    columns: list[NDArray[np.float64]] = []
    levels: list[int] = []

    def add(column: NDArray[np.floating], count: int = 0) -> None:
        columns.append(column.astype(np.float64))
        levels.append(count)

    for _ in range(draw(st.integers(0, 3))):
        add(generator.normal(size=rows))
    for _ in range(draw(st.integers(0, 3))):  # mostly 0, so perhaps exclusive
        add(np.where(generator.random(rows) < 0.05, generator.integers(-3, 4, rows), 0))
    for count in draw(st.lists(st.integers(2, 40), max_size=2)):
        for column in one_hot(generator.integers(count, size=rows), count).T:
            add(column)
    for count in draw(st.lists(st.sampled_from([1, 2, 3, 100, 254]), max_size=3)):
        rare = generator.random(rows) < draw(st.sampled_from([0.02, 0.1, 1.0]))
        add(np.where(rare, generator.integers(count, size=rows), count // 2), count)
    add(np.full(rows, 7.0))
    for column in columns:
        if draw(st.integers(0, 4)) == 0:
            column[generator.random(rows) < 0.05] = np.nan
    order = generator.permutation(len(columns))
    named = {k: tuple(range(levels[j])) for k, j in enumerate(order) if levels[j]}
    return ArrayTable(np.column_stack([columns[j] for j in order]), levels=Levels(named))


@examples(120)
@given(table=tables(), max_bins=st.sampled_from([2, 16, 255]))
def test_every_feature_is_read_back(table: ArrayTable, max_bins: int) -> None:
    check(table, fit_bins(table, max_bins))


@pytest.mark.parametrize("columns", [1, 8, 11])
def test_a_fingerprint_reads_codes_from_words(columns: int) -> None:
    X = np.random.default_rng(0).normal(size=(300, columns))
    X[5, 0] = np.nan
    table, signs = ArrayTable(X), np.ones((300, 1), dtype=np.int8)
    coded, laid = (Sample(table, signs, bins=fit_bins(table)) for _ in range(2))
    search = Tree(8).on(laid)
    assert isinstance(search, DenseTreeSearch)
    first = Fingerprint(coded).digest()
    assert Fingerprint(laid, search.stored_codes).digest() == first
    assert "codes" not in vars(laid)
    search._blocks.words[0, 7] ^= np.uint64(1)  # they are what is read
    assert Fingerprint(laid, search.stored_codes).digest() != first


def test_a_one_hot_encoding_takes_one_lane() -> None:
    generator = np.random.default_rng(0)
    dense = generator.normal(size=(1000, 3))
    hot = one_hot(generator.integers(30, size=1000), 30)
    table = ArrayTable(np.hstack([dense, hot]))
    blocks = check(table, fit_bins(table))
    assert blocks.lanes == 4
    assert blocks.words.shape == (1, 1000)


def test_exclusive_categories_share_a_lane() -> None:
    generator = np.random.default_rng(1)
    which = generator.integers(3, size=2000)
    counts = (3, 100, 150)
    columns = [
        np.where((which == k) & (generator.random(2000) < 0.9), generator.integers(c, size=2000), 1)
        for k, c in enumerate(counts)
    ]
    levels = Levels({k: tuple(range(c)) for k, c in enumerate(counts)})
    table = ArrayTable(np.column_stack(columns).astype(np.float64), levels=levels)
    assert check(table, fit_bins(table)).lanes == 1


def test_codes_beyond_a_byte_open_another_lane() -> None:
    generator = np.random.default_rng(2)
    which = generator.integers(3, size=3000)
    columns = [np.where(which == k, generator.integers(1, 101, 3000), 0) for k in range(3)]
    table = ArrayTable(np.column_stack(columns).astype(np.float64))
    assert check(table, fit_bins(table)).lanes == 2


@each_value
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("kind", ["clash", "missing"])
def test_what_the_rows_looked_at_did_not_show_is_repaired(kind: str, n_jobs: int) -> None:
    step = 3
    n = step * MAX_ROWS_COMPARED + 5  # every third row is compared
    X = np.zeros((n, 4))
    rows = np.arange(n)
    for j in range(4):
        X[(rows % step == 0) & (rows // step % 9 == j), j] = 1 + j
    fits = ArrayTable(X.copy())
    assert check(fits, fit_bins(fits)).lanes == 1
    if kind == "clash":
        X[50_002, [0, 2]] = 1.0, 3.0  # columns 0 and 2, on a row that was not looked at
    else:
        X[n - 1, 1] = np.nan
    assert (n - 1) % step != 0
    assert 50_002 % step != 0
    table = ArrayTable(X)
    with using(n_jobs):
        blocks = check(table, fit_bins(table))
    own = blocks.features[[2 if kind == "clash" else 1], layout.DEFAULT]
    assert own.tolist() == [-1]
    assert 2 <= blocks.lanes <= 4


def test_a_column_that_the_rows_looked_at_do_not_show_joins_those_beside_it() -> None:
    rows = np.arange(2 * MAX_ROWS_COMPARED)  # every second row is looked at
    areas, soils = one_hot(rows // 2 % 3, 3), one_hot(np.array([0, 1, 3, 4])[rows // 2 % 4], 5)
    soils[1001] = np.eye(5)[2]
    table = ArrayTable(np.column_stack([areas, soils]))
    blocks = check(table, fit_bins(table))
    users = blocks.features[:, layout.LANE].tolist()
    assert (blocks.lanes, set(users[:3]), set(users[3:])) == (2, {users[0]}, {users[3]})


def test_all_that_clash_are_repaired() -> None:
    n = 2 * MAX_ROWS_COMPARED
    generator = np.random.default_rng(3)
    X = np.zeros((n, 12))
    X[0::2] = one_hot(generator.integers(12, size=n // 2), 12)
    X[1::2] = generator.random((n // 2, 12)) < 0.3
    table = ArrayTable(X)
    assert check(table, fit_bins(table)).lanes >= 11


def test_sparse_tables_and_float32_are_laid_out_alike() -> None:
    generator = np.random.default_rng(4)
    X = np.where(generator.random((500, 20)) < 0.03, generator.integers(1, 5, (500, 20)), 0)
    dense = ArrayTable(X.astype(np.float64))
    bins = fit_bins(dense)
    expected = check(dense, bins)
    for table in (SparseTable(sparse.csr_matrix(X)), ArrayTable(X.astype(np.float32))):
        actual = lay_out(table, bins)
        np.testing.assert_array_equal(actual.words, expected.words)
        np.testing.assert_array_equal(actual.features, expected.features)


def test_255_bins_or_levels_fit_and_more_are_refused() -> None:
    table = ArrayTable(np.arange(600.0)[:, None])
    assert check(table, fit_bins(table, 255)).features[0, layout.BINS] == 255
    with pytest.raises(ParameterError, match="max_bins to 255"):
        lay_out(table, fit_bins(table, 256))
    columns = [np.append(np.arange(float(count)), np.nan)[:, None] for count in (255, 256)]
    few, many = (ArrayTable(own, levels=Levels({0: tuple(range(len(own) - 1))})) for own in columns)
    check(few, fit_bins(few))
    with pytest.raises(ParameterError, match="257 are needed"):
        lay_out(many, fit_bins(many))
