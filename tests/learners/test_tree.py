"""Trees against brute force: every split is the best there is, and every limit is kept to."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations, islice, pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from pacboost.boosters.adaboost import AdaBoost
from pacboost.boosters.booster import Booster, whole_values
from pacboost.boosters.logit import Logit
from pacboost.errors import ParameterError
from pacboost.hypotheses.tree import TreeRule
from pacboost.kernels.threads import using
from pacboost.learners.tree import Tree
from pacboost.samples.bins import fit_bins
from pacboost.samples.sample import Request, Sample
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.levels import Levels
from pacboost.training.run.loop import Run
from tests.examples import examples
from tests.grids import each_value
from tests.kernels import naive
from tests.learners.trees import mixed_sample, same
from tests.worlds import make_sample, noisy

LOOSE = Tree(min_leaf_rows=0, min_leaf_weight=0, cat_smooth=0, cat_penalty=0, min_level_rows=0)
"""A tree that nothing holds back but the number of its leaves."""
TOLERANCE = 1e-6  # weights are rounded to about 2**-30 of their sum

Masks = Iterator[NDArray[np.bool_]]


def signed_request(sample: Sample, weights: NDArray[np.int64], criterion: str) -> Request:
    own = np.repeat(weights[:, None], sample.signs.shape[1], axis=1)
    return Request(own, sample.signs, int(own.sum()), int(own.sum()), criterion)


def some_request(
    generator: np.random.Generator, sample: Sample, criterion: str, penalty: float = 0.0
) -> Request:
    """Uneven weights; for Newton's criterion with pulls of their own."""
    shape = sample.signs.shape
    weights = generator.integers(1, 30, shape) << 40
    pulls: NDArray[Any] = sample.signs
    if criterion == "newton":
        pulls = sample.signs * (generator.integers(0, 60, shape) << 40)
        pulls[0] = 1 << 40
        return Request(
            weights, pulls, int(weights.sum()), int(np.abs(pulls).sum()), criterion, penalty
        )
    return Request(weights, pulls, int(weights.sum()), int(weights.sum()), criterion)


# -- brute force


@dataclass(frozen=True)
class Brute:
    """What a division of some rows wins, in exact weights."""

    request: Request
    tree: Tree

    def sums(self, rows: NDArray[np.bool_]) -> tuple[NDArray[np.float64], float]:
        """The pulls of every output and the weight of some rows."""
        own = self.request
        pulls = own.pulls * own.weights if own.signed else own.pulls
        return pulls[rows].sum(axis=0).astype(np.float64), float(own.weights[rows].sum())

    def worth(self, rows: NDArray[np.bool_]) -> float:
        """What a leaf of these rows is worth, to the tree's criterion or else the booster's."""
        if not rows.any():
            return -math.inf
        criterion = self.tree.criterion or self.request.criterion
        outputs = self.request.weights.shape[1]
        if outputs > 1 or criterion == "gini":
            criterion = "newton"
        return naive.worth(criterion, *self.sums(rows), self.request.penalty * outputs)

    def gain(self, node: NDArray[np.bool_], left: NDArray[np.bool_]) -> float:
        """What dividing a node wins."""
        return self.worth(node & left) + self.worth(node & ~left) - self.worth(node)

    @property
    def slack(self) -> float:
        """How far rounding may carry a gain."""
        own = self.request
        if own.signed:
            return TOLERANCE * own.weight
        pulls, weights = own.pulls.astype(np.float64), own.weights.sum(axis=1, keepdims=True)
        return TOLERANCE * float((pulls**2 / weights).sum())

    def least(self, node: NDArray[np.bool_]) -> float:
        """The least weight a part of this node may have."""
        tree, own = self.tree, self.request
        mean = own.weight / len(own.weights)
        own_mean = self.sums(node)[1] / int(node.sum())
        return max(tree.min_leaf_weight * mean, tree.min_leaf_rows * own_mean)

    def best(self, sample: Sample, node: NDArray[np.bool_]) -> float:
        """The most that any division of a node by any feature wins."""
        least = self.least(node) * (1 + TOLERANCE)
        gains = [0.0]
        for left in every_division(sample, node):
            sides = node & left, node & ~left
            if min(side.sum() for side in sides) and min(self.sums(s)[1] for s in sides) >= least:
                gains.append(self.gain(node, left))
        return max(gains)


def every_division(sample: Sample, node: NDArray[np.bool_]) -> Masks:
    """All ways to divide some rows: thresholds with missing on both sides, and subsets."""
    X = sample.table.rows()
    for j in range(X.shape[1]):
        column, absent = X[:, j], np.isnan(X[:, j])
        seen = np.unique(column[node & ~absent]).tolist()
        if j in sample.table.levels:
            sets = [column == level for level in seen]
            sets += [absent] if (node & absent).any() else []
            for size in range(1, len(sets)):
                for chosen in combinations(sets, size):
                    yield np.logical_or.reduce(chosen)
        else:
            for value in seen:
                yield column <= value
                yield (column <= value) | absent


def nodes_of(rule: TreeRule, sample: Sample) -> dict[int, NDArray[np.bool_]]:
    """The rows of every split and leaf, by their numbers as children."""
    assert sample.codes is not None
    actual = {0: np.ones(sample.n_rows, dtype=np.bool_)}
    if rule.feature.size == 0:
        return {-1: actual[0]}
    for t in range(rule.feature.size):
        one = np.array([[*rule.nodes[t, :3], -1, -2, rule.member[t]]], dtype=np.int32)
        left = naive.walk(sample.codes, one, rule.members, rule.bins.missing) == 0
        actual[int(rule.left[t])] = actual[t] & left
        actual[int(rule.right[t])] = actual[t] & ~left
    return actual


def check_best_first(tree: Tree, sample: Sample, request: Request, rule: TreeRule) -> None:
    """Every split wins as much as any split of any leaf could have won at that time."""
    brute = Brute(request, tree)
    nodes = nodes_of(rule, sample)
    splits = rule.feature.size
    best: dict[int, float] = {}
    depth = {0: 0}
    gains = []
    open_nodes = {0 if splits else -1}
    depth.setdefault(-1, 0)
    for t in range(splits + 1):
        for node in open_nodes:
            if node not in best:
                deep = tree.max_depth is not None and depth[node] >= tree.max_depth
                best[node] = 0.0 if deep else brute.best(sample, nodes[node])
        most = max(best[node] for node in open_nodes)
        if t == splits:
            full = splits + 1 == min(tree.max_leaves, max(2, sample.n_rows))
            assert full or most <= brute.slack
            break
        left, right = int(rule.left[t]), int(rule.right[t])
        gain = brute.gain(nodes[t], nodes[left])
        assert gain >= most - brute.slack
        sides = [brute.sums(nodes[child])[1] for child in (left, right)]
        assert min(sides) >= brute.least(nodes[t]) * (1 - TOLERANCE)
        gains.append(gain)
        open_nodes = (open_nodes - {t}) | {left, right}
        depth[left] = depth[right] = depth[t] + 1
    if splits and gains[0] > brute.slack:
        unit = rule.gain[0] / gains[0]
        np.testing.assert_allclose(rule.gain, np.array(gains) * unit, atol=unit * brute.slack)


def check_tree(tree: Tree, criterion: str, seed: int, *shape: Any, penalty: float = 0.0) -> None:
    """Grow a tree on a random sample of this shape, and check every split."""
    generator = np.random.default_rng(seed)
    sample = mixed_sample(generator, *shape)
    request = some_request(generator, sample, criterion, penalty)
    rule, cells = tree.on(sample).partition(request, 0, None)
    check_best_first(tree, sample, request, rule)
    np.testing.assert_array_equal(cells, rule.cells(sample))


CRITERIA = st.sampled_from(["newton", "gini", "z", "error"])
SEEDS = st.integers(0, 2**32)


@examples(80)
@given(
    criterion=CRITERIA,
    rows=st.sampled_from([1, 2, 5, 12, 30]),
    numbers=st.integers(1, 3),
    levels=st.lists(st.integers(1, 4), max_size=2),
    missing=st.sampled_from([0.0, 0.2]),
    leaves=st.sampled_from([2, 4, 12]),
    depth=st.sampled_from([None, 1, 2]),
    seed=SEEDS,
)
def test_every_split_is_the_best_there_is(
    criterion: str,
    rows: int,
    numbers: int,
    levels: list[int],
    missing: float,
    leaves: int,
    depth: int | None,
    seed: int,
) -> None:
    tree = replace(LOOSE, max_leaves=leaves, max_depth=depth)
    check_tree(tree, criterion, seed, rows, numbers, levels, missing)


@examples(40)
@given(
    criterion=CRITERIA,
    least_rows=st.sampled_from([0.0, 1.0, 3.0, 7.5]),
    least_weight=st.sampled_from([0.0, 1.0, 4.0]),
    penalty=st.sampled_from([0.0, 3.0 * 2**40]),
    seed=SEEDS,
)
def test_leaves_are_as_heavy_as_they_have_to_be(
    criterion: str, least_rows: float, least_weight: float, penalty: float, seed: int
) -> None:
    tree = Tree(6, None, least_rows, least_weight)
    check_tree(tree, criterion, seed, 40, 3, [], 0.1, penalty=penalty)


@examples(40)
@given(criterion=st.sampled_from(["gini", "newton", "z"]), outputs=st.integers(2, 4), seed=SEEDS)
def test_many_outputs_are_split_by_the_sum_of_squared_pulls(
    criterion: str, outputs: int, seed: int
) -> None:
    tree = replace(LOOSE, max_leaves=5, sketch=outputs)
    check_tree(tree, criterion, seed, 30, 3, [], 0.1, outputs)


@examples(80)
@given(criterion=CRITERIA, levels=st.integers(2, 8), missing=st.booleans(), seed=SEEDS)
def test_no_subset_of_categories_beats_the_one_found(
    criterion: str, levels: int, missing: bool, seed: int
) -> None:
    """Fisher (1958): the best subset is a beginning of the levels ordered by their mean pull."""
    tree = replace(LOOSE, max_leaves=4)
    check_tree(tree, criterion, seed, 60, 0, [levels], 0.2 if missing else 0.0)


@pytest.mark.parametrize("criterion", ["newton", "gini", "z"])
def test_levels_that_say_nothing_are_not_preferred_to_a_number(criterion: str) -> None:
    generator = np.random.default_rng(1)
    number, level = generator.normal(size=2_000), generator.integers(80, size=2_000)
    signs = np.where(generator.random(2_000) < 0.5 + 0.06 * np.sign(number), 1, -1)
    names = Levels({1: tuple(range(80))})
    table = ArrayTable(np.column_stack([number, level.astype(float)]), levels=names)
    sample = Sample(table, signs.astype(np.int8)[:, None], bins=fit_bins(table))
    request = signed_request(sample, np.full(2_000, 2**40), criterion)
    free = replace(LOOSE, max_leaves=2)
    first = [
        tree.on(sample).partition(request, 0, None)[0].feature.tolist()
        for tree in (free, replace(free, cat_penalty=0.5))
    ]
    assert first == [[1], [0]]


def test_levels_of_few_rows_go_where_missing_values_go() -> None:
    column = np.repeat([0.0, 1, 2, 3, np.nan], [40, 40, 4, 4, 12])
    signs = np.repeat([1, -1, 1, -1, -1], [40, 40, 4, 4, 12]).astype(np.int8)
    table = ArrayTable(column[:, None], levels=Levels({0: (0, 1, 2, 3)}))
    sample = Sample(table, signs[:, None], bins=fit_bins(table))
    request = signed_request(sample, np.full(100, 2**40), "gini")
    for least, rare in ((0, [1, 0]), (10, [0, 0])):
        tree = replace(LOOSE, max_leaves=2, min_level_rows=least)
        rule, _ = tree.on(sample).partition(request, 0, None)
        sides = rule.members[0] if rule.members[0, 0] else 1 - rule.members[0]
        assert sides[:4].tolist() == [1, 0, *rare]
        assert sides[rule.bins.missing] == 0


# -- leaves


@examples(30)
@given(seed=SEEDS, max_leaves=st.integers(2, 20), max_depth=st.integers(1, 4))
def test_no_more_leaves_nor_levels_than_allowed(seed: int, max_leaves: int, max_depth: int) -> None:
    sample = make_sample(*noisy(300, 4, seed))
    tree = replace(LOOSE, max_leaves=max_leaves, max_depth=max_depth)
    request = signed_request(sample, np.full(300, 2**40), "gini")
    rule, _ = tree.on(sample).partition(request, 0, None)
    assert len(rule.values) == rule.feature.size + 1 <= min(max_leaves, 2**max_depth)
    assert len(rule.values) >= min(max_leaves, max_depth + 1)  # nothing here is pure so soon
    deepest = max(len(rule.path(leaf)) for leaf in range(len(rule.values)))
    assert deepest <= max_depth
    for t in range(rule.feature.size):
        assert all(child > t for child in (rule.left[t], rule.right[t]) if child >= 0)


@each_value
@pytest.mark.parametrize("criterion", ["gini", "z", "error"])
@pytest.mark.parametrize("kind", ["pure", "even"])
def test_where_nothing_can_be_won_nothing_is_split(criterion: str, kind: str) -> None:
    for seed in range(20):
        generator = np.random.default_rng(seed)
        X = np.repeat(generator.normal(size=(100, 2)), 3, axis=0)
        signs = np.tile([1, -1, -1] if kind == "even" else [1, 1, 1], 100).astype(np.int8)
        sample = make_sample(X, signs)
        weights = np.repeat(generator.integers(1, 1000, 100), 3) << 34
        request = signed_request(sample, weights, criterion)
        rule, cells = LOOSE.on(sample).partition(request, 0, None)
        assert rule.feature.size == 0
        assert not cells.any()


@each_value
@pytest.mark.parametrize("smoothing", [0.0, 0.5, 20.0])
@pytest.mark.parametrize("outputs", [1, 4])
def test_leaves_vote_by_the_exact_weights_of_the_two_signs(smoothing: float, outputs: int) -> None:
    """½ ln((W₊ + s)/(W₋ + s)) for every class, though two sums of four choose the splits."""
    X, signs = noisy(500, 4, 3)
    X[::7, 1] = np.nan
    classes = np.digitize(X[:, 0] + signs, [-1.5, 0, 1.5])
    pairs = signs[:, None] if outputs == 1 else 2 * (classes[:, None] == np.arange(4)) - 1
    table = ArrayTable(X)
    sample = Sample(table, pairs.astype(np.int8), bins=fit_bins(table))
    booster = AdaBoost(confidence_rated=True, smoothing=smoothing)
    run = Run(sample, Tree(max_leaves=6, sketch=2), booster)
    weights = booster.request(run.state).weights.copy()
    for _, done in zip(range(5), run, strict=False):
        rule, s = done.hypothesis, smoothing * int(weights.sum()) / weights.size
        assert isinstance(rule, TreeRule)
        cells, cap = rule.cells(sample), booster.max_vote
        for leaf, k in np.ndindex(rule.values.shape):
            own, sides = weights[cells == leaf, k], sample.signs[cells == leaf, k]
            plus, minus = int(own[sides > 0].sum()) + s, int(own[sides < 0].sum()) + s
            expected = cap if minus == 0 else -cap if plus == 0 else 0.5 * math.log(plus / minus)
            assert rule.values[leaf, k] == pytest.approx(
                float(whole_values(np.array(expected))), abs=1e-11
            )
        assert rule.cover[0] == weights.sum()
        weights = booster.request(run.state).weights.copy()


@examples(30)
@given(outputs=st.integers(1, 5), sketch=st.integers(1, 5), seed=SEEDS)
def test_a_tree_that_names_answers_names_the_heaviest(outputs: int, sketch: int, seed: int) -> None:
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(80, 3))
    weights = generator.integers(1, 99, 80) << 40
    labels = generator.integers(max(2, outputs), size=80)
    signs = 2 * (labels[:, None] == np.arange(1 if outputs == 1 else outputs)) - 1
    table = ArrayTable(X)
    sample = Sample(table, signs.astype(np.int8), bins=fit_bins(table))
    search = Tree(5, min_leaf_rows=3, sketch=sketch).on(sample)
    rule = search.find(weights, labels, 4)
    cells = rule.cells(sample)
    for leaf in range(len(rule.values)):
        pulls = (weights[:, None] * signs)[cells == leaf].sum(axis=0)
        if outputs == 1:
            assert rule.values[leaf, 0] == np.sign(pulls[0])
        else:
            assert rule.values[leaf].sum() == 1
            assert pulls[rule.values[leaf].argmax()] == pulls.max()


# -- chance


@pytest.mark.parametrize(("max_features", "count"), [(1, 1), (3, 3), (0.5, 4), (0.01, 1), (99, 8)])
def test_features_are_drawn_anew_for_every_leaf_by_the_seed_alone(
    max_features: float, count: int
) -> None:
    sample = make_sample(*noisy(400, 8, 1))
    request = signed_request(sample, np.full(400, 2**40), "gini")
    search = Tree(12, max_features=max_features).on(sample)
    actual = [search.partition(request, seed, None)[0] for seed in (5, 6, 5)]
    again = Tree(12, max_features=max_features).on(sample).partition(request, 5, None)[0]
    assert same(actual[0], actual[2])
    assert same(actual[0], again)
    assert same(actual[0], actual[1]) == (count == 8)
    key = 5 * 2**20
    drawn = {0: naive.features_drawn(8, count, key)}
    rule = actual[0]
    for t in range(rule.feature.size):
        assert rule.feature[t] in drawn[t]
        for side, child in enumerate((int(rule.left[t]), int(rule.right[t]))):
            drawn[child] = naive.features_drawn(8, count, key + 2 * (t + 1) + side)


@pytest.mark.parametrize("count", [1, 3, 7])
def test_every_set_of_features_is_as_likely(count: int) -> None:
    """Also for neighbouring keys, which is what the leaves of a tree have."""
    drawn = [naive.features_drawn(8, count, 77 * 2**20 + key) for key in range(8000)]
    assert all(len(own) == count for own in drawn)
    for j in range(8):
        assert abs(sum(j in own for own in drawn) / 8000 - count / 8) < 0.02
    follows = sum(a == b for a, b in pairwise(drawn)) / 7999
    assert abs(follows - 1 / math.comb(8, count)) < 0.02


# -- missing values, categories and shared lanes


def wide_sample(generator: np.random.Generator, rows: int, hole: float) -> Sample:
    """Numbers, a one-hot encoding, exclusive categories in a shared lane, and one alone."""
    hot = np.eye(9)[generator.integers(9, size=rows)]
    which = generator.integers(4, size=rows)
    rare = [np.where(which == k, generator.integers(c, size=rows), 1) for k, c in ((0, 3), (1, 60))]
    dense = generator.normal(size=(rows, 2))
    lone = generator.integers(30, size=rows)
    X = np.column_stack([dense, hot, *rare, lone]).astype(np.float64)
    holes = generator.random(X.shape) < hole
    holes[:, 2:13] = False  # a value that is missing cannot share a lane
    X[holes] = np.nan
    score = dense[:, 0] + hot[:, 2] - hot[:, 5] + (rare[1] % 2) + (lone % 3) - 1
    signs = np.where(score + generator.normal(size=rows) > 0, 1, -1).astype(np.int8)
    levels = Levels({11: tuple(range(3)), 12: tuple(range(60)), 13: tuple(range(40))})
    table = ArrayTable(X, levels=levels)
    return Sample(table, signs[:, None], bins=fit_bins(table, 40))


@examples(40)
@given(
    rows=st.sampled_from([5, 60, 600]),
    hole=st.sampled_from([0.0, 0.05, 0.5]),
    share=st.sampled_from([1.0, 0.5, 0.1]),
    leaves=st.sampled_from([2, 9, 40]),
    seed=SEEDS,
)
def test_rows_end_in_the_cells_that_the_rule_gives_them(
    rows: int, hole: float, share: float, leaves: int, seed: int
) -> None:
    generator = np.random.default_rng(seed)
    sample = wide_sample(generator, rows, hole)
    request = some_request(generator, sample, "gini")
    chosen = None
    if share < 1:
        chosen = np.sort(generator.permutation(rows)[: max(1, round(share * rows))])
    search = Tree(leaves, min_leaf_rows=1, cat_smooth=1).on(sample)
    for seed_of_tree in range(2):  # twice: nothing of the first tree may be left
        rule, cells = search.partition(request, seed_of_tree, chosen)
        np.testing.assert_array_equal(cells, rule.cells(sample))
        codes = sample.codes
        assert codes is not None
        walked = naive.walk(codes, rule.nodes, rule.members, rule.bins.missing)
        np.testing.assert_array_equal(cells, walked)


@each_value
@pytest.mark.parametrize("subsample", [1.0, 0.3])
@pytest.mark.parametrize("booster", [AdaBoost(confidence_rated=True), Logit(learning_rate=0.3)])
def test_margins_of_a_run_are_the_scores_of_its_vote(
    booster: Booster[Any], subsample: float
) -> None:
    sample = wide_sample(np.random.default_rng(7), 800, 0.1)
    run = Run(sample, Tree(10, min_leaf_rows=2), booster, subsample=subsample)
    list(islice(run, 8))
    scores = run.vote().scores(sample.table)
    np.testing.assert_array_equal(run.state.margins[:, 0], scores * sample.signs[:, 0])


@examples(30)
@given(seed=SEEDS, share=st.sampled_from([1.0, 0.4]))
def test_levels_not_seen_in_a_node_go_where_missing_goes(seed: int, share: float) -> None:
    generator = np.random.default_rng(seed)
    sample = wide_sample(generator, 300, 0.05)
    request = some_request(generator, sample, "gini")
    chosen = np.sort(generator.permutation(300)[: round(300 * share)])
    rule, _ = Tree(20, min_leaf_rows=2).on(sample).partition(request, 0, chosen)
    looked_at = np.zeros(300, dtype=np.bool_)
    looked_at[chosen] = True
    nodes, codes = nodes_of(rule, sample), sample.codes
    assert codes is not None
    for t in np.flatnonzero(rule.member >= 0):
        feature, members = rule.feature[t], rule.members[rule.member[t]]
        seen = np.unique(codes[feature, nodes[int(t)] & looked_at])
        unseen = np.setdiff1d(np.arange(rule.bins.levels[feature]), seen)
        assert (members[unseen] == rule.missing_left[t]).all()
        assert members[rule.bins.missing] == rule.missing_left[t]


@pytest.mark.parametrize("heavier", ["left", "right"])
def test_missing_values_never_seen_go_to_the_heavier_side(heavier: str) -> None:
    X = np.arange(10.0)[:, None]
    signs = np.where(X[:, 0] > (6 if heavier == "left" else 2), 1, -1).astype(np.int8)
    sample = make_sample(X, signs)
    request = signed_request(sample, np.full(10, 2**40), "z")
    rule, _ = replace(LOOSE, max_leaves=2).on(sample).partition(request, 0, None)
    assert rule.missing_left.tolist() == [heavier == "left"]


# -- monotone scores

BOOSTERS: list[Booster[Any]] = [
    Logit(learning_rate=0.5),
    Logit(learning_rate=0.5, l2=5.0, prior=True),
    AdaBoost(confidence_rated=True, smoothing=3.0),
    AdaBoost(confidence_rated=True, smoothing=0.0),
]


@examples(30)
@given(
    booster=st.sampled_from(BOOSTERS),
    slopes=st.sampled_from([{0: 1}, {0: -1}, {0: 1, 2: -1}, {0: -1, 1: -1, 2: 1}]),
    subsample=st.sampled_from([1.0, 0.5]),
    hole=st.sampled_from([0.0, 0.1]),
    seed=SEEDS,
)
def test_scores_are_monotone_where_they_have_to_be(
    booster: Booster[Any], slopes: dict[int, int], subsample: float, hole: float, seed: int
) -> None:
    generator = np.random.default_rng(seed)
    X = generator.integers(0, 12, (150, 4)).astype(np.float64)
    score = 3 * np.sin(X[:, 0]) + X[:, 1] % 3 - 1 + 0.3 * X[:, 2] - 1.6
    signs = np.where(score + generator.normal(size=150) > 0, 1, -1).astype(np.int8)
    X[generator.random(X.shape) < hole] = np.nan
    sample = make_sample(X, signs)
    learner = Tree(8, min_leaf_rows=3, min_leaf_weight=0, monotone=slopes)
    run = Run(sample, learner, booster, seed=seed, subsample=subsample)
    list(islice(run, 6))
    vote = run.vote()
    points = X[generator.permutation(150)[:40]]
    grid = np.arange(-1.0, 13.0, 0.5)
    for feature, slope in slopes.items():
        rows = np.repeat(points, grid.size, axis=0)
        rows[:, feature] = np.tile(grid, len(points))
        scores = vote.scores(ArrayTable(rows)).reshape(len(points), grid.size)
        assert (np.diff(scores, axis=1) * slope >= 0).all()


def test_without_a_constraint_the_same_scores_are_not_monotone() -> None:
    X = np.arange(200.0)[:, None] % 12
    signs = np.where(np.sin(X[:, 0]) > 0, 1, -1).astype(np.int8)
    sample = make_sample(X, signs)
    rises = []
    for slopes in ({}, {0: 1}):
        run = Run(sample, Tree(8, monotone=slopes), AdaBoost(confidence_rated=True))
        list(islice(run, 3))
        scores = run.vote().scores(ArrayTable(np.arange(12.0)[:, None]))
        rises.append(bool((np.diff(scores) >= 0).all()))
    assert rises == [False, True]


# -- the same answer anywhere


MANY_ROWS = 150_000
"""So many that every member of a team sorts and counts some rows of most leaves."""


def test_any_number_of_threads_grows_the_same_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pacboost.kernels.team.cores", lambda: 16)
    sample = wide_sample(np.random.default_rng(11), MANY_ROWS, 0.02)
    generator = np.random.default_rng(12)
    request = some_request(generator, sample, "newton")
    chosen = np.sort(generator.permutation(sample.n_rows)[: MANY_ROWS * 2 // 3])
    for rows in (None, chosen):
        actual = []
        for n_jobs in (1, 2, 3, 7, 16):
            with using(n_jobs):
                rule, cells = Tree(12).on(sample).partition(request, 0, rows)
                actual.append((rule, cells.copy()))
        for rule, cells in actual[1:]:
            assert same(rule, actual[0][0])
            np.testing.assert_array_equal(cells, actual[0][1])
        np.testing.assert_array_equal(actual[0][1], actual[0][0].cells(sample))


@pytest.mark.parametrize("n_jobs", [2, 5, 16])
def test_a_team_splits_by_the_same_constraints(
    n_jobs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pacboost.kernels.team.cores", lambda: 16)
    generator = np.random.default_rng(13)
    sample = wide_sample(generator, 20_000, 0.05)
    request = some_request(generator, sample, "gini")
    tree = Tree(20, monotone={0: 1, 1: -1})
    alone, _ = tree.on(sample).partition(request, 0, None)
    with using(n_jobs):
        together, _ = tree.on(sample).partition(request, 0, None)
    assert same(alone, together)


@pytest.mark.parametrize("rows", [1000, 50_000])
def test_permuted_rows_grow_the_same_tree(rows: int) -> None:
    generator = np.random.default_rng(14)
    sample = wide_sample(generator, rows, 0.05)
    request = some_request(generator, sample, "newton")
    mixed = generator.permutation(rows)
    table = ArrayTable(sample.table.rows()[mixed], levels=sample.table.levels)
    other = Sample(table, sample.signs[mixed], bins=fit_bins(table, 40))
    moved = replace(request, weights=request.weights[mixed], pulls=request.pulls[mixed])
    one, cells = Tree(20).on(sample).partition(request, 0, None)
    two, moved_cells = Tree(20).on(other).partition(moved, 0, None)
    assert same(one, two)
    np.testing.assert_array_equal(cells[mixed], moved_cells)


# -- what is refused


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"max_leaves": 1}, "max_leaves is 1; .* 2 to 65,536"),
        ({"max_leaves": 65_537}, "max_leaves is 65537"),
        ({"min_leaf_rows": -1}, "min_leaf_rows is -1"),
        ({"cat_smooth": math.inf}, "cat_smooth is inf"),
        ({"criterion": "entropy"}, "'entropy'; .* newton, gini, z, error"),
        ({"max_features": 0}, "max_features is 0"),
    ],
)
def test_bad_parameters_are_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        Tree(**changes)


def test_a_category_cannot_be_monotone() -> None:
    sample = mixed_sample(np.random.default_rng(0), 10, 1, [3])
    with pytest.raises(ParameterError, match="'x1', a category"):
        Tree(monotone={1: 1}).on(sample)
    Tree(monotone={0: 1}).on(sample)
