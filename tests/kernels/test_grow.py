"""Trees, split by split, against twins in NumPy; and however many threads, and by each path."""

from _thread import interrupt_main
from dataclasses import dataclass
from threading import Timer
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import DTypeLike, NDArray

from pacboost.kernels import layout
from pacboost.kernels.arrays import Bytes, Floats, Rows, Wholes, Words
from pacboost.kernels.native import LINE, native
from pacboost.kernels.team import together
from tests.examples import examples
from tests.grids import each_value
from tests.kernels import naive

CRITERIA = {"newton": layout.NEWTON, "z": layout.Z, "error": layout.ERROR}
MANY_ROWS = 10_003
"""Three members sort and count parts of so many rows."""


@dataclass(frozen=True)
class World:
    """Codes (features, rows), and how they lie in lanes."""

    codes: Bytes
    features: Wholes
    maps: Bytes
    lanes: int
    missing: int

    def words(self) -> Words:
        """The codes as ``place`` writes them."""
        words = np.zeros((-(-self.lanes // 8), self.codes.shape[1]), dtype=np.uint64)
        clashes = np.zeros(len(self.codes), dtype=np.int64)
        rows = words.shape[1]
        native.place(self.codes, self.maps, self.features, words, 0, rows, clashes)
        assert not clashes.any()
        return words


def world_of(
    rows: int, alone: list[int], shared: list[list[int]], seed: int, missing_rate: float = 0.1
) -> World:
    """Lay features of so many bins into lanes; those of one group are exclusive, and share one.

    About half of the features are categories. Lanes and features come in random order.
    """
    generator = np.random.default_rng(seed)
    sizes = [*alone, *(size for group in shared for size in group)]
    missing = max(sizes)
    count = len(sizes)
    codes = np.zeros((count, rows), dtype=np.uint8)
    features = np.zeros((count, 6), dtype=np.int64)
    features[:, layout.BINS] = sizes
    features[:, layout.CATEGORY] = generator.random(count) < 0.5
    features[:, layout.DEFAULT] = -1
    maps = np.tile(np.arange(256, dtype=np.uint8), (count, 1))
    lane_of = generator.permutation(len(alone) + len(shared))
    for j, size in enumerate(alone):
        own = generator.integers(size, size=rows)
        own[generator.random(rows) < missing_rate] = missing
        codes[j] = own
        features[j, layout.LANE] = lane_of[j]
    j = len(alone)
    for g, group in enumerate(shared):
        which = generator.integers(-1, len(group), size=rows)  # -1: all have their default
        first = 1
        for k, size in enumerate(group):
            default = int(generator.integers(size))
            others = np.delete(np.arange(size), default)
            own = np.full(rows, default)
            here = which == k
            own[here] = generator.choice(others, here.sum())
            codes[j] = own
            features[j, layout.LANE] = lane_of[len(alone) + g]
            features[j, [layout.BASE, layout.DEFAULT]] = first, default
            maps[j] = layout.NO_PLACE
            maps[j, others] = first + np.arange(size - 1)
            maps[j, default] = 0
            first += size - 1
            j += 1
        assert first <= 255
    mixed = generator.permutation(count)
    return World(codes[mixed], features[mixed], maps[mixed], lane_of.size, missing)


GROUPS = st.one_of(
    st.lists(st.just(2), min_size=2, max_size=12),  # a one-hot encoding
    st.lists(st.integers(2, 40), min_size=2, max_size=6),
    st.sampled_from([[254, 2], [128, 128], [3, 250, 3]]),
)


@st.composite
def worlds(draw: st.DrawFn) -> World:
    rows = draw(st.sampled_from([1, 2, 3, 30, 300]))
    alone = draw(st.lists(st.sampled_from([1, 2, 3, 7, 20, 254, 255]), max_size=10))
    shared = draw(st.lists(GROUPS, min_size=not alone, max_size=2))
    rate = draw(st.sampled_from([0.0, 0.1, 0.9]))
    return world_of(rows, alone, shared, draw(st.integers(0, 2**32)), rate)


def some_pairs(
    generator: np.random.Generator, lines: int, rows: int
) -> tuple[Wholes, Wholes, Wholes]:
    """Pulls (lines, rows) and weights (rows,), and both as pairs; some rows weigh nothing."""
    weights = generator.integers(0, 2**20, rows) * (generator.random(rows) < 0.9)
    pulls = generator.integers(-(2**20), 2**20, (lines, rows)) * (weights > 0)
    return pulls, weights, (pulls << 32) + weights


def some_rows(generator: np.random.Generator, rows: int) -> Rows:
    """Rows in ascending order, perhaps none."""
    return np.flatnonzero(generator.random(rows) < generator.random()).astype(np.uint32)


@examples(80)
@given(world=worlds())
def test_what_was_placed_is_read_back(world: World) -> None:
    lanes = naive.lanes(world.words())
    for codes, feature in zip(world.codes, world.features, strict=True):
        lane, first, bins, default = feature[:4]
        np.testing.assert_array_equal(naive.decode(lanes[lane], first, bins, default), codes)


def test_clashes_are_counted_for_the_later_column_and_for_what_has_no_place() -> None:
    codes = np.array([[1, 0, 1, 1], [0, 1, 1, 1], [0, 0, 0, 2]], dtype=np.uint8)
    features = np.array([[0, 1, 2, 0, 0, 0], [0, 2, 2, 0, 0, 0], [0, 3, 2, 0, 0, 0]])
    maps = np.full((3, 256), layout.NO_PLACE, dtype=np.uint8)
    maps[:, 0], maps[:, 1] = 0, [1, 2, 3]
    clashes = np.zeros(3, dtype=np.int64)
    native.place(codes, maps, features, np.zeros((1, 4), dtype=np.uint64), 0, 4, clashes)
    assert clashes.tolist() == [0, 2, 1]


class Root(NamedTuple):
    """What the root of a tree knows of the levels of categories."""

    orders: Bytes
    evidence: Floats


class Growing(NamedTuple):
    """The arguments of ``grow_tree``, and those it was given."""

    tree: layout.TreeArrays
    spans: Floats | None
    interactions: layout.Interactions | None


def growing(
    world: World, rows: Rows, pairs: Wholes, rules: Floats, leaves: int, *, plain: bool = False,
    listed: int = 0, team: int = 1, wide: bool = False,
    span: tuple[float, float] = (-np.inf, np.inf), allowed: Bytes | None = None,
) -> Growing:  # fmt: skip
    """Prepare to grow a tree on some rows; other arrays hold numbers that should not matter."""
    words, (lines, n) = world.words(), pairs.shape
    alone = len(world.features) == world.lanes
    width = world.missing + 9 if alone else 264
    count, lanes = len(world.features), 8 * len(words)
    orders, evidence = np.zeros((count, 256), dtype=np.uint8), np.zeros(count)
    codes = layout.Codes(words, world.features, world.lanes, world.missing, orders, evidence)
    starts, sizes, slots, depths = (np.full(leaves, 5) for _ in range(4))
    starts[0], sizes[0], slots[0], depths[0] = 0, rows.size, 0, 0
    state = layout.Leaves(
        starts, sizes, slots, np.full((leaves, 3), -1), np.full((leaves, 256), 9, np.uint8),
        np.full(leaves, 2.0), np.full((leaves, 2), 4), depths,
    )  # fmt: skip
    most = max(1, leaves - 1)
    splits = layout.Splits(
        np.full((most, 5), 6), np.full((most, 256), 9, np.uint8), np.full(most, 2.0)
    )
    findings = layout.TeamFindings(
        np.zeros((team, 16), np.int64), np.zeros((team, 16)), np.zeros((team, 2, LINE), np.int64),
        np.zeros((team, 2, 256), np.uint8), np.zeros((team, 256), np.uint8),
        np.ones((team, count), np.uint8), np.zeros((team, count), np.int64),
    )  # fmt: skip
    tree = layout.TreeArrays(
        codes, rows, rows.copy(), np.full(n, 3, np.uint32), pairs,
        np.full((leaves, lines, lanes, width), 7), np.full((team - 1, lines, lanes, width), 9),
        rules, state, splits, np.full((most, 256), 9, np.uint8), findings, np.full(5, 8),
        np.array([count, 99, 0, listed]),
        np.full(n, 77, np.uint16 if wide else np.uint8),
    )  # fmt: skip
    spans, interactions = np.full((leaves, 2), 9.0), None
    spans[0] = span
    if allowed is not None:  # as the only set of features that may interact
        interactions = layout.Interactions(
            allowed[None], count, 1.0, np.ones((leaves, 1), np.uint8),
            np.zeros((leaves, count), np.uint8), np.tile(allowed, (leaves, 1)),
        )  # fmt: skip
    return Growing(tree, None if plain else spans, interactions)


def grown(*arguments: Any, team: int = 1, **settings: Any) -> Growing:
    """Grow a tree by a team, and return its arrays."""
    arrays = growing(*arguments, team=team, **settings)
    native.grow_tree(team, *arrays)
    return arrays


@examples(80)
@given(world=worlds(), lines=st.integers(1, 4), team=st.integers(1, 3), seed=st.integers(0, 2**32))
def test_counts_equal_the_twins(world: World, lines: int, team: int, seed: int) -> None:
    generator = np.random.default_rng(seed)
    words = world.words()
    _, _, pairs = some_pairs(generator, lines, words.shape[1])
    rows = some_rows(generator, words.shape[1])
    if rows.size == 0:
        rows = np.zeros(1, dtype=np.uint32)
    tree = grown(world, rows, pairs, np.zeros(layout.RULES), 1, team=team).tree
    expected = naive.count(words, rows, pairs, tree.histogram.shape[-1])[:, : world.lanes]
    np.testing.assert_array_equal(tree.histogram[0][:, : world.lanes], expected)


@each_value
@pytest.mark.parametrize("lanes", [1, 4, 5, 8, 9, 12, 13])
@pytest.mark.parametrize("team", [1, 3])
def test_many_rows_are_counted_in_tiles(lanes: int, team: int) -> None:
    generator = np.random.default_rng(lanes)
    world = world_of(MANY_ROWS, [255] * lanes, [], lanes)
    words = world.words()
    _, _, pairs = some_pairs(generator, 2, MANY_ROWS)
    rows = np.sort(generator.permutation(MANY_ROWS)[:-1]).astype(np.uint32)
    tree = grown(world, rows, pairs, np.zeros(layout.RULES), 1, team=team).tree
    expected = naive.count(words, rows, pairs, tree.histogram.shape[-1])
    np.testing.assert_array_equal(tree.histogram[0][:, :lanes], expected[:, :lanes])


def test_pairs_come_apart_again_when_their_sums_are_as_large_as_can_be() -> None:
    for pull in (2**31 - 1, -(2**31)):
        pairs = np.array([[(pull << 32) + 2**32 - 2, 1]], dtype=np.int64)
        world = one_feature([0, 0], 2, category=False)
        tree = grown(world, np.arange(2, dtype=np.uint32), pairs, np.zeros(layout.RULES), 1).tree
        total = tree.histogram[0, 0, 0, 0]
        assert (total >> 32, total & layout.LOW) == (pull, 2**32 - 1)


@examples(60)
@given(
    rows=st.integers(1, 50),
    outputs=st.integers(1, 5),
    lines=st.integers(1, 4),
    signed=st.booleans(),
    seed=st.integers(0, 2**32),
)
def test_pairs_equal_the_twins(
    rows: int, outputs: int, lines: int, signed: bool, seed: int
) -> None:
    generator = np.random.default_rng(seed)
    weights = generator.integers(0, 2**44, (rows, outputs))
    kind: DTypeLike = np.int8 if signed else np.int64
    pulls = generator.choice([-1, 1], (rows, outputs)).astype(kind)
    if not signed:
        pulls *= generator.integers(0, 2**44, (rows, outputs))
    flips = generator.integers(-1, 2, (lines, outputs)).astype(np.int8)
    if outputs == 1:
        flips = np.ones((1, 1), dtype=np.int8)  # nothing to add up
    scales = 2.0**-24, 2.0**30 / max(1, weights.sum())
    pairs = np.empty((len(flips), rows), dtype=np.int64)
    together(native.pair_up, weights, pulls, signed, flips, *scales, pairs)
    own = pulls * weights if signed else pulls
    wanted_pulls, wanted_weights = naive.pair_up(weights, own, flips, *scales)
    np.testing.assert_array_equal(pairs >> 32, wanted_pulls)
    np.testing.assert_array_equal(pairs & layout.LOW, np.tile(wanted_weights, (len(flips), 1)))


@dataclass(frozen=True)
class Node:
    """A node's rows and what the rules make of a division of them."""

    pulls: Wholes
    weights: Wholes
    criterion: str
    penalty: float
    least: float
    level_penalty: float
    level_rows: float

    def gain(self, left: NDArray[np.bool_]) -> float | None:
        """What a division wins; None if a side is too light."""
        sides: list[tuple[Any, Any]] = [
            (self.pulls[:, s].sum(axis=1) * 1.0, self.weights[s].sum()) for s in (left, ~left)
        ]
        if min(weight for _, weight in sides) < self.least:
            return None
        both: tuple[Any, Any] = self.pulls.sum(axis=1) * 1.0, self.weights.sum()
        apart = sum(naive.worth(self.criterion, *side, self.penalty) for side in sides)
        return apart - naive.worth(self.criterion, *both, self.penalty)


def divisions(
    world: World, j: int, rows: Rows, node: Node, smooth: float, root: Root | None
) -> list[tuple[NDArray[np.bool_], float]]:
    """All divisions of a node's rows by one feature, by the twin, and what their gains lose."""
    bins = int(world.features[j, layout.BINS])
    own = world.codes[j, rows].astype(np.int64)
    own[own == world.missing] = bins
    if not world.features[j, layout.CATEGORY]:
        return [(left[own], 0.0) for left in naive.splits(bins + 1, None)]
    sums = sums_of(own, node, bins)
    penalty = node.level_penalty * max(int((sums != 0).any(axis=0).sum()) - 2, 0)
    orders = [(own, np.arange(bins + 1), 0.0)]
    if root is not None and root.evidence[j] > 0:
        known = root.orders[j, : bins + 1].astype(np.intp)
        orders.append((own, known, penalty / float(root.evidence[j])))
    pooled = naive.pool_rare(sums, node.level_rows * sums[0].sum() / rows.size)[own]
    penalty = node.level_penalty * max(int((sums != 0).any(axis=0).sum()) - 2, 0)
    orders.append((pooled, naive.by_mean_pull(sums[1:], sums[0], smooth), penalty))
    return [
        (left[codes], lost)
        for codes, order, lost in orders
        for left in naive.splits(bins + 1, order)
    ]


def sums_of(own: Wholes, node: Node, bins: int) -> Floats:
    """Weights and pulls (1 + lines, codes) of a node's levels."""
    sums = np.zeros((1 + len(node.pulls), bins + 1))
    for line, mass in zip(sums, [node.weights, *node.pulls], strict=True):
        np.add.at(line, own, mass)
    return sums


SCANS = {
    "world": worlds(),
    "criterion": st.sampled_from(list(CRITERIA)),
    "lines": st.integers(1, 3),
    "least": st.sampled_from([(0.0, 0.0), (1e4, 0.0), (0.0, 3.0), (1e6, 5.0)]),
    "penalty": st.sampled_from([0.0, 1e5]),
    "smooth": st.sampled_from([0.0, 1e5]),
    "levels": st.sampled_from([(0.0, 0.0), (1e4, 0.0), (0.0, 9.0), (1e3, 3.0)]),
    "noise": st.sampled_from([0.0, 1e3, 7e5]),
    "seed": st.integers(0, 2**32),
}


@dataclass(frozen=True)
class Twin:
    """What a leaf of a tree should find."""

    world: World
    pulls: Wholes
    weights: Wholes
    criterion: str
    rules: Floats
    allowed: list[int]
    root: Root

    def node(self, rows: Rows) -> Node:
        _, penalty, weight, of_rows, _, *levels, _ = self.rules.tolist()
        weights = self.weights[rows]
        least = max(weight, of_rows * float(weights.sum()) / rows.size, 1.0)
        return Node(self.pulls[:, rows], weights, self.criterion, penalty, least, *levels)

    def divisions(self, j: int, rows: Rows, at_root: bool) -> list[tuple[NDArray[np.bool_], float]]:
        root, smooth = None if at_root else self.root, float(self.rules[layout.SMOOTH])
        return divisions(self.world, j, rows, self.node(rows), smooth, root)

    def best_gain(self, rows: Rows, at_root: bool) -> float:
        node, gains = self.node(rows), [0.0]
        for j in self.allowed:
            gains.extend(
                (node.gain(left) or lost) - lost for left, lost in self.divisions(j, rows, at_root)
            )
        return max(gains)


@examples(150)
@given(**SCANS, leaves=st.integers(2, 4), team=st.integers(1, 3), few=st.booleans())
def test_every_split_is_the_best_of_the_twins(
    world: World, criterion: str, lines: int, least: tuple[float, float], penalty: float,
    smooth: float, levels: tuple[float, float], noise: float, seed: int, leaves: int, team: int,
    few: bool,
) -> None:  # fmt: skip
    generator = np.random.default_rng(seed)
    rows = some_rows(generator, world.codes.shape[1])
    if rows.size == 0:
        rows = np.zeros(1, dtype=np.uint32)
    lines = lines if criterion == "newton" else 1
    pulls, weights, pairs = some_pairs(generator, lines, world.codes.shape[1])
    if criterion != "newton":  # signs of weights
        pulls = weights * generator.choice([-1, 1], (1, weights.size))
        pairs = (pulls << 32) + weights
    rules = np.array([CRITERIA[criterion], penalty, *least, smooth, *levels, noise])
    allowed = (generator.random(len(world.features)) < 0.8).astype(np.uint8)
    alone = len(world.features) == world.lanes
    listed = layout.MAX_LISTED_ROWS if few and alone else 0
    tree = grown(world, rows, pairs, rules, leaves, listed=listed, team=team, allowed=allowed).tree

    root = Root(tree.codes.orders, tree.codes.evidence)
    twin = Twin(world, pulls, weights, criterion, rules, np.flatnonzero(allowed).tolist(), root)
    slack = 1e-12 * max(1.0, float(np.abs(pulls).sum()) ** (2 if criterion == "newton" else 1))
    count = int(tree.plan[layout.LEAVES])
    there = {(0 if count > 1 else ~0): rows}
    """The rows of every split that is still to come, and of every leaf, ~leaf."""
    gains = {node: twin.best_gain(rows, at_root=True) for node in there}
    for t in range(count - 1):
        assert tree.splits.gains[t] == pytest.approx(max(gains.values()), rel=1e-9, abs=slack)
        own, (feature, cut, missing_left, left, right) = there.pop(t), tree.splits.columns[t]
        del gains[t]
        assert allowed[feature]
        codes = world.codes[feature, own]
        sides = np.where(codes == world.missing, missing_left != 0, codes <= cut)
        if world.features[feature, layout.CATEGORY]:
            sides = tree.splits.members[t][codes] != 0
        gain = twin.node(own).gain(sides)
        assert gain is not None
        lost = {lost for _, lost in twin.divisions(int(feature), own, at_root=t == 0)}
        expected = [pytest.approx(tree.splits.gains[t] + k, rel=1e-9, abs=slack) for k in lost]
        assert gain in expected
        for node, part in (left, own[sides]), (right, own[~sides]):
            there[int(node)] = part
            gains[int(node)] = 0.0 if count == leaves == t + 2 else twin.best_gain(part, False)
    assert sorted(there) == sorted(~leaf for leaf in range(count))
    if count < leaves:
        assert max(gains.values()) <= max(slack, 1e-12 * float(np.abs(pulls).sum()) ** 2)
    columns = tree.splits.columns[: count - 1]
    category = world.features[columns[:, layout.FEATURE], layout.CATEGORY] != 0
    nodes = np.column_stack([columns, np.where(category, np.arange(count - 1), -1)])
    cells = naive.walk(world.codes, nodes.astype(np.int32), tree.splits.members, world.missing)
    for node, own in there.items():
        start, size = tree.leaves.starts[~node], tree.leaves.sizes[~node]
        np.testing.assert_array_equal(tree.rows[start : start + size], own)
        assert (cells[own] == ~node).all()
    np.testing.assert_array_equal(tree.cells, cells)  # also of rows that the tree was not grown on


def check_equal(actual: layout.TreeArrays, expected: layout.TreeArrays) -> None:
    count = int(expected.plan[layout.LEAVES])
    assert actual.plan[layout.LEAVES] == count
    np.testing.assert_array_equal(
        actual.splits.columns[: count - 1], expected.splits.columns[: count - 1]
    )
    np.testing.assert_array_equal(
        actual.splits.gains[: count - 1], expected.splits.gains[: count - 1]
    )
    np.testing.assert_array_equal(actual.cells, expected.cells)
    np.testing.assert_array_equal(actual.rows, expected.rows)


@examples(100)
@given(
    **{k: v for k, v in SCANS.items() if k in ("world", "least", "penalty", "seed")},
    leaves=st.sampled_from([2, 5, 31]),
    wide=st.booleans(),
)
def test_the_plain_search_finds_what_the_general_one_finds(
    world: World, least: tuple[float, float], penalty: float, seed: int, leaves: int, wide: bool
) -> None:
    generator = np.random.default_rng(seed)
    rows = some_rows(generator, world.codes.shape[1])
    if rows.size == 0:
        rows = np.zeros(1, dtype=np.uint32)
    world.features[:, layout.CATEGORY] = 0
    _, _, pairs = some_pairs(generator, 1, world.codes.shape[1])
    rules = np.array([layout.NEWTON, penalty, *least, 0.0, 0.0, 0.0, 0.0])
    expected = grown(world, rows, pairs, rules, leaves).tree
    alone = len(world.features) == world.lanes
    for listed in (0, layout.MAX_LISTED_ROWS) if alone else (0,):
        for team in (1, 3):
            for plain in (False, True):
                actual = grown(
                    world, rows, pairs, rules, leaves, plain=plain, listed=listed, team=team,
                    wide=wide,
                )  # fmt: skip
                check_equal(actual.tree, expected)


@each_value
@pytest.mark.parametrize("plain", [True, False])
@pytest.mark.parametrize("category", [0, 1])
def test_a_tree_on_many_rows_does_not_depend_on_the_team(plain: bool, category: int) -> None:
    if plain and category:
        pytest.skip("the plain search knows no categories")
    generator = np.random.default_rng(0)
    world = world_of(MANY_ROWS, [255, 3, 40, 200, 2, 2, 9, 30, 17], [[2] * 5], 0)
    world.features[:, layout.CATEGORY] = category
    _, _, pairs = some_pairs(generator, 1, MANY_ROWS)
    rules, rows = np.zeros(layout.RULES), np.arange(MANY_ROWS, dtype=np.uint32)
    trees = [grown(world, rows, pairs, rules, 31, plain=plain, team=k).tree for k in (1, 2, 3, 8)]
    assert trees[0].plan[layout.LEAVES] == 31
    for tree in trees[1:]:
        check_equal(tree, trees[0])


@examples(80)
@given(world=worlds(), lines=st.integers(1, 3), noise=st.sampled_from([0.0, 1e4, 1e6]))
def test_a_root_keeps_what_it_knows_of_levels(world: World, lines: int, noise: float) -> None:
    rows = np.arange(world.codes.shape[1], dtype=np.uint32)
    pulls, weights, pairs = some_pairs(np.random.default_rng(lines), lines, rows.size)
    if weights.sum() < 2:
        return
    node = Node(pulls, weights, "newton", 0.0, 1.0, 0.0, 0.0)
    smooth = 1e5
    rules = np.array([layout.NEWTON, 0.0, 0, 0, smooth, 0, 0, noise])
    nothing = np.zeros(len(world.features), dtype=np.uint8)  # also of features that are not drawn
    tree = grown(world, rows, pairs, rules, 2, allowed=nothing).tree
    assert tree.plan[layout.LEAVES] == 1
    for j in np.flatnonzero(world.features[:, layout.CATEGORY]).tolist():
        bins = int(world.features[j, layout.BINS])
        own = world.codes[j].astype(np.int64)
        own[own == world.missing] = bins
        sums = sums_of(own, node, bins)
        order = naive.by_mean_pull(sums[1:], sums[0], smooth)
        assert tree.codes.orders[j, : bins + 1].tolist() == order.tolist()
        expected = naive.evidence(sums[1:], sums[0], noise)
        assert tree.codes.evidence[j] == pytest.approx(expected, rel=1e-9)


def one_feature(codes: list[int], bins: int, category: bool, slope: int = 0) -> World:
    features = np.array([[0, 0, bins, -1, int(category), slope]])
    maps = np.arange(256, dtype=np.uint8)[None]
    return World(np.array([codes], dtype=np.uint8), features, maps, 1, bins)


@each_value
@pytest.mark.parametrize("slope", [1, -1])
@pytest.mark.parametrize("rising", [True, False])
def test_a_split_against_its_slope_is_left_out(slope: int, rising: bool) -> None:
    world, rows = (
        one_feature([0, 0, 1, 1], 2, category=False, slope=slope),
        np.arange(4, dtype=np.uint32),
    )
    pulls = np.array([[-1, -1, 1, 1]]) * (1 if rising else -1)
    pairs, rules = ((pulls << 32) + 1) << 20, np.zeros(layout.RULES)
    tree = grown(world, rows, pairs, rules, 2).tree
    assert tree.plan[layout.LEAVES] == (2 if rising == (slope > 0) else 1)
    narrow = -np.inf, -2.0  # both sides would be held at -2
    tree = grown(world, rows, pairs, rules, 2, span=narrow).tree
    assert tree.plan[layout.LEAVES] == 2


@pytest.mark.parametrize("slope", [1, -1])
def test_a_monotone_split_divides_the_span_halfway(slope: int) -> None:
    pulls, weights = np.array([[-6 * slope, 10 * slope]]), np.array([2, 10])  # means of -3 and 1
    rules, rows = np.zeros(layout.RULES), np.arange(2, dtype=np.uint32)
    pairs = (pulls << 32) + weights
    for own, span, expected in (
        (slope, (-2, 2), [[-2, -0.5], [-0.5, 2]] if slope > 0 else [[0.5, 2], [-2, 0.5]]),
        (0, (-7, 7), [[-7, 7], [-7, 7]]),
    ):
        world = one_feature([0, 1], 3, category=False, slope=own)
        tree, spans, _ = grown(world, rows, pairs, rules, 3, span=span)
        assert tree.plan[layout.LEAVES] == 2
        assert spans is not None
        assert spans[:2].tolist() == expected
    world = one_feature([2, 3], 3, category=False, slope=slope)  # numbers left, missing right
    tree, spans, _ = grown(world, rows, pairs, rules, 3, span=(-7, 7))
    assert tree.splits.columns[0, : layout.LEFT].tolist() == [0, 2, 0]
    assert spans is not None
    assert spans[:2].tolist() == [[-7, 7], [-7, 7]]


def test_ctrl_c_ends_a_tree_that_takes_long() -> None:
    generator, n, leaves = np.random.default_rng(0), 1_000_000, 20_000
    features = np.array([[j, 0, 255, -1, 0, 0] for j in range(16)])
    maps = np.tile(np.arange(256, dtype=np.uint8), (16, 1))
    codes = generator.integers(255, size=(16, n), dtype=np.uint8)
    _, _, pairs = some_pairs(generator, 1, n)
    rules, rows = np.zeros(layout.RULES), np.arange(n, dtype=np.uint32)
    arrays = growing(World(codes, features, maps, 16, 255), rows, pairs, rules, leaves, wide=True)
    Timer(0.05, interrupt_main).start()
    with pytest.raises(KeyboardInterrupt):
        native.grow_tree(1, *arrays)
    count = int(arrays.tree.plan[layout.LEAVES])
    assert 1 < count < leaves
    assert np.unique(arrays.tree.cells).tolist() == list(range(count))  # what there is, is valid
    world = one_feature([0, 0, 1, 1], 2, category=False)
    pairs = ((np.array([[-1, -1, 1, 1]]) << 32) + 1) << 20
    tree = grown(world, np.arange(4, dtype=np.uint32), pairs, rules, 2).tree
    assert tree.plan[layout.LEAVES] == 2  # the next one is not stopped
