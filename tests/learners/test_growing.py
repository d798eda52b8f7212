"""Trees on sparse samples are, to the last bit, the trees on the same samples opened up."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import sparse

from pacboost.errors import ParameterError
from pacboost.hypotheses.tree import TreeRule
from pacboost.kernels import team
from pacboost.kernels.team import team_for
from pacboost.kernels.threads import using
from pacboost.learners.sparse_growing import SparseTreeSearch
from pacboost.learners.stump import Stump
from pacboost.learners.tree import DenseTreeSearch, Tree
from pacboost.samples.bins import fit_bins
from pacboost.samples.sample import Request, Sample
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.sparse import SparseTable
from tests.grids import each_value
from tests.learners.trees import mixed_sample, same
from tests.sparse_samples import twin_samples
from tests.tree_paths import may_interact, paths

pytestmark = pytest.mark.usefixtures("keep_sparse")


def some_request(
    generator: np.random.Generator, sample: Sample, criterion: str, penalty: float = 0.0
) -> Request:
    """Weights of very different sizes; for Newton's criterion with pulls of their own."""
    shape = sample.signs.shape
    weights = (generator.exponential(size=shape) ** 3 * 2**40).astype(np.int64) + 1
    pulls: NDArray[Any] = sample.signs
    if criterion == "newton":
        pulls = sample.signs * generator.integers(1, 2**41, shape)
    total = int(weights.sum())
    pull = total if pulls.dtype == np.int8 else int(np.abs(pulls).sum())
    return Request(weights, pulls, total, pull, criterion, penalty)


def check(
    tree: Tree, samples: tuple[Sample, Sample], request: Request, chosen: Any = None, seed: int = 0
) -> TreeRule:
    """Grow two trees on each sample; they have to be the same."""
    dense, listed = (tree.on(sample) for sample in samples)
    assert isinstance(dense, DenseTreeSearch)
    assert isinstance(listed, SparseTreeSearch)
    for _ in range(2):  # the second uses the room of the first
        expected, cells = dense.partition(request, seed, chosen)
        actual, own_cells = listed.partition(request, seed, chosen)
        assert same(expected, actual)
        np.testing.assert_array_equal(own_cells, cells)
        np.testing.assert_array_equal(actual.cells(samples[1]), cells)
    return actual


@each_value
@pytest.mark.parametrize("outputs", [1, 2, 5])
@pytest.mark.parametrize("criterion", ["newton", "gini", "z", "error"])
def test_the_same_trees(criterion: str, outputs: int) -> None:
    generator = np.random.default_rng(outputs)
    leaves = []
    for _ in range(10):
        rows, columns = int(generator.integers(1, 300)), int(generator.integers(1, 12))
        samples = twin_samples(generator, rows, columns, outputs, int(generator.choice([4, 255])))
        request = some_request(generator, samples[0], criterion, float(generator.integers(2)))
        tree = Tree(
            max_leaves=int(generator.choice([2, 6, 31])),
            min_leaf_rows=float(generator.choice([0, 1, 5])),
            max_depth=None if generator.random() < 0.7 else 3,
        )
        leaves.append(len(check(tree, samples, request).values))
    assert max(leaves) > 2


@pytest.mark.parametrize("outputs", [1, 4])
def test_of_some_rows_and_some_features(outputs: int) -> None:
    generator = np.random.default_rng(9)
    for seed in range(6):
        samples = twin_samples(generator, 200, 12, outputs)
        request = some_request(generator, samples[0], "newton")
        chosen = np.sort(generator.permutation(200)[:120])
        tree = Tree(12, min_leaf_rows=2, max_features=0.4)
        check(tree, samples, request, chosen, seed)
        check(tree, samples, request, None, seed)


def test_monotone_features() -> None:
    generator = np.random.default_rng(10)
    bound = 0
    for _ in range(6):
        samples = twin_samples(generator, 300, 6)
        request = some_request(generator, samples[0], "newton")
        free = check(Tree(12, min_leaf_rows=2), samples, request)
        held = check(Tree(12, min_leaf_rows=2, monotone={0: 1, 1: -1, 2: 1}), samples, request)
        bound += not same(free, held)
    assert bound


def test_many_leaves() -> None:
    generator = np.random.default_rng(11)
    samples = twin_samples(generator, 1000, 5)
    request = some_request(generator, samples[0], "newton")
    assert len(check(Tree(300, min_leaf_rows=0), samples, request).values) > 256


def test_a_column_too_short_for_the_root_splits_a_lighter_leaf() -> None:
    X = np.zeros((850, 2))
    X[:250, 0] = X[250:252, 1] = 1  # of the two rows one is as heavy as those of the other column
    heavy = np.arange(850)[:, None] <= 250
    signs = np.where(heavy, 1, -1).astype(np.int8)
    weights = np.where(heavy, 100, 1) << 30
    total = int(weights.sum())
    request = Request(weights, weights * signs, total, total, "newton")
    dense, listed = ArrayTable(X), SparseTable(sparse.csr_array(X))
    bins = fit_bins(dense)
    samples = Sample(dense, signs, bins=bins), Sample(listed, signs, bins=bins)
    actual = check(Tree(4), samples, request)
    assert actual.feature.tolist() == [0, 1]


@pytest.mark.parametrize("criterion", ["newton", "z"])
def test_any_number_of_threads_grows_the_same_tree(
    criterion: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(team, "cores", lambda: 32)
    generator = np.random.default_rng(12)
    samples = twin_samples(generator, 20_000, 12)
    assert samples[1].sparse is not None
    request = some_request(generator, samples[0], criterion)
    chosen = np.sort(generator.permutation(20_000)[:15_000])
    for jobs in (1, 2, 3, 7, 16):
        with using(jobs):
            assert team_for(samples[1].sparse.rows.size) == jobs
            check(Tree(12), samples, request)
            check(Tree(12), samples, request, chosen)


def test_stumps_with_values_of_their_own_are_trees_of_two_leaves() -> None:
    generator = np.random.default_rng(13)
    dense, listed = twin_samples(generator, 100, 6, 3)
    request = some_request(generator, dense, "newton")
    expected, cells = Stump().on(dense).partition(request, 0, None)
    actual, own_cells = Stump().on(listed).partition(request, 0, None)
    assert isinstance(actual, TreeRule)
    assert isinstance(expected, TreeRule)
    assert same(expected, actual)
    np.testing.assert_array_equal(cells, own_cells)


def test_codes_of_two_bytes_are_refused() -> None:
    table = SparseTable(sparse.csc_array(np.arange(600.0)[:, None]))
    sample = Sample(table, np.ones((600, 1), dtype=np.int8), bins=fit_bins(table, 300))
    with pytest.raises(ParameterError, match="max_bins to 255"):
        Tree().on(sample)


# Trees whose paths keep to sets of features that may interact.

SETS = ([(0, 1), (2, 3, 5)], [(0, 1), (1, 2, 4)], [(4,)], "pairwise", "no_interactions")


def one_sample(seed: int, outputs: int = 1) -> tuple[np.random.Generator, Sample]:
    generator = np.random.default_rng(seed)
    return generator, mixed_sample(generator, 300, 4, [5, 3], 0.1, outputs)


@each_value
@pytest.mark.parametrize("sets", SETS)
@pytest.mark.parametrize("max_features", [None, 2, 0.6])
@pytest.mark.parametrize("outputs", [1, 2])
def test_every_path_stays_within_one_set(sets: Any, max_features: Any, outputs: int) -> None:
    generator, sample = one_sample(1, outputs)
    tree = Tree(24, min_leaf_rows=3, max_features=max_features, interactions=sets)
    search = tree.on(sample)
    for seed in range(4):  # room is used again
        rule = search.partition(some_request(generator, sample, "newton"), seed, None)[0]
        assert all(may_interact(asked, sets, 6) for asked in paths(rule))
    free = Tree(24, min_leaf_rows=3).on(sample)
    loose = free.partition(some_request(generator, sample, "newton"), 0, None)[0]
    assert not all(may_interact(asked, sets, 6) for asked in paths(loose))


@given(seed=st.integers(0, 2**32 - 1), count=st.integers(1, 4))
def test_random_sets_are_kept_to_and_are_used(seed: int, count: int) -> None:
    generator, sample = one_sample(seed)
    sets = [
        tuple(generator.choice(6, generator.integers(1, 5), replace=False).tolist())
        for _ in range(count)
    ]
    request = some_request(generator, sample, "newton")
    rule = Tree(16, min_leaf_rows=2, interactions=sets).on(sample).partition(request, 0, None)[0]
    assert all(may_interact(asked, sets, 6) for asked in paths(rule))
    free = Tree(16, min_leaf_rows=2).on(sample).partition(request, 0, None)[0]
    assert rule.feature[:1].tolist() == free.feature[:1].tolist()  # the root may ask for anything
    assert rule.cut[:1].tolist() == free.cut[:1].tolist()


@each_value
@pytest.mark.parametrize("sets", SETS)
@pytest.mark.parametrize("max_features", [None, 0.6])
def test_sparse_trees_are_the_dense_ones(sets: Any, max_features: Any) -> None:
    for seed in range(6):
        generator = np.random.default_rng(seed)
        samples = twin_samples(generator, 120, 6)
        tree = Tree(12, min_leaf_rows=2, max_features=max_features, interactions=sets)
        rule = check(tree, samples, some_request(generator, samples[0], "newton"), seed=seed)
        assert all(may_interact(asked, sets, 6) for asked in paths(rule))


@pytest.mark.parametrize("sets", SETS)
def test_threads_change_no_tree(sets: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pacboost.learners.tree.MIN_CELLS_PER_THREAD", 1)
    monkeypatch.setattr("pacboost.learners.tree.MIN_CELLS_FOR_LARGE_TEAM", 0)
    monkeypatch.setattr("pacboost.kernels.team.cores", lambda: 3)
    generator, sample = one_sample(3)
    request = some_request(generator, sample, "newton")
    actual = []
    for threads in (1, 2, 3):
        with using(threads):
            tree = Tree(24, min_leaf_rows=2, max_features=0.6, interactions=sets)
            actual.append(tree.on(sample).partition(request, 5, None)[0])
    assert same(actual[0], actual[1])
    assert same(actual[0], actual[2])


def test_bad_sets_are_refused() -> None:
    sample = one_sample(4)[1]
    with pytest.raises(ParameterError, match=r"feature 6; .* 0 to 5"):
        Tree(interactions=[(0, 6)]).on(sample)
    with pytest.raises(ParameterError, match=r"'pairs'; .* no_interactions, pairwise"):
        Tree(interactions="pairs")
