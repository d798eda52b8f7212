"""Counting, scanning and parting for trees: every kernel against its twin, and against itself."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import DTypeLike, NDArray

from pacboost.kernels import grow, layout, routing, split, split_general
from pacboost.kernels.native import native
from pacboost.kernels.runtime import Bytes, Cells, Floats, Rows, Wholes, Words
from pacboost.kernels.runtime.team import together
from pacboost.kernels.runtime.threads import using
from tests.kernels import naive

CRITERIA = {"newton": split.NEWTON, "z": split.Z, "error": split.ERROR}
WIDTH = 264
FREE = np.array([-np.inf, np.inf])


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
        routing.place(self.codes, self.maps, self.features, words, 0, rows, clashes)
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
            maps[j] = routing.NO_PLACE
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


@settings(deadline=None, max_examples=80)
@given(world=worlds())
def test_what_was_placed_is_read_back(world: World) -> None:
    lanes = naive.lanes(world.words())
    for codes, feature in zip(world.codes, world.features, strict=True):
        lane, first, bins, default = feature[:4]
        np.testing.assert_array_equal(naive.decode(lanes[lane], first, bins, default), codes)


def test_clashes_are_counted_for_the_later_column_and_for_what_has_no_place() -> None:
    codes = np.array([[1, 0, 1, 1], [0, 1, 1, 1], [0, 0, 0, 2]], dtype=np.uint8)
    features = np.array([[0, 1, 2, 0, 0, 0], [0, 2, 2, 0, 0, 0], [0, 3, 2, 0, 0, 0]])
    maps = np.full((3, 256), routing.NO_PLACE, dtype=np.uint8)
    maps[:, 0], maps[:, 1] = 0, [1, 2, 3]
    clashes = np.zeros(3, dtype=np.int64)
    routing.place(codes, maps, features, np.zeros((1, 4), dtype=np.uint64), 0, 4, clashes)
    assert clashes.tolist() == [0, 2, 1]


@settings(deadline=None, max_examples=80)
@given(world=worlds(), lines=st.integers(1, 4), seed=st.integers(0, 2**32))
def test_counts_equal_the_twins(world: World, lines: int, seed: int) -> None:
    generator = np.random.default_rng(seed)
    words = world.words()
    _, _, pairs = some_pairs(generator, lines, words.shape[1])
    rows = some_rows(generator, words.shape[1])
    before = generator.integers(-9, 9, (lines, 8 * len(words), WIDTH))
    actual = before.copy()
    grow.count(words, world.lanes, rows, pairs, actual, 0, len(words))
    added = (actual - before)[:, : world.lanes]
    expected = naive.count(words, rows, pairs, WIDTH)[:, : world.lanes]
    np.testing.assert_array_equal(added, expected)


@pytest.mark.parametrize("lanes", [1, 4, 5, 8, 9, 12, 13])
def test_many_rows_are_counted_in_tiles(lanes: int) -> None:
    generator = np.random.default_rng(lanes)
    n = 2 * grow.ROWS_PER_TILE + 3
    world = world_of(n, [255] * lanes, [], lanes)
    words = world.words()
    _, _, pairs = some_pairs(generator, 2, n)
    rows = generator.permutation(n)[: n - 1].astype(np.uint32)
    actual = np.zeros((2, 8 * len(words), WIDTH), dtype=np.int64)
    grow.count(words, lanes, rows, pairs, actual, 0, len(words))
    expected = naive.count(words, rows, pairs, WIDTH)
    np.testing.assert_array_equal(actual[:, :lanes], expected[:, :lanes])


def test_pairs_come_apart_again_when_their_sums_are_as_large_as_can_be() -> None:
    for pull in (2**31 - 1, -(2**31)):
        pairs = np.array([[(pull << 32) + 2**32 - 2, 1]], dtype=np.int64)
        actual = np.zeros((1, 8, 2), dtype=np.int64)
        rows = np.arange(2, dtype=np.uint32)
        grow.count(np.zeros((1, 2), np.uint64), 1, rows, pairs, actual, 0, 1)
        assert (actual[0, 0, 0] >> 32, actual[0, 0, 0] & split.LOW) == (pull, 2**32 - 1)


@settings(deadline=None, max_examples=60)
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
    np.testing.assert_array_equal(pairs & split.LOW, np.tile(wanted_weights, (len(flips), 1)))


@settings(deadline=None, max_examples=80)
@given(world=worlds(), seed=st.integers(0, 2**32))
def test_parts_equal_the_twins(world: World, seed: int) -> None:
    generator = np.random.default_rng(seed)
    words = world.words()
    lane = int(generator.integers(world.lanes))
    goes_left = (generator.random(256) < generator.random()).astype(np.uint8)
    rows = some_rows(generator, words.shape[1])
    expected = naive.part(naive.lanes(words)[lane], goes_left, rows)
    block, shift = words[lane >> 3], np.uint64(8 * (lane & 7))
    out = np.empty_like(rows)
    size = routing.part(block, shift, goes_left, rows, out)
    np.testing.assert_array_equal(out[:size], expected[0])
    np.testing.assert_array_equal(out[size:][::-1], expected[1])


@settings(deadline=None, max_examples=60)
@given(
    sizes=st.lists(st.integers(0, 9), min_size=1, max_size=8),
    wide=st.booleans(),
    cut=st.integers(0, 9),
    seed=st.integers(0, 2**32),
)
def test_every_row_gets_the_label_of_its_leaf(
    sizes: list[int], wide: bool, cut: int, seed: int
) -> None:
    order = np.random.default_rng(seed).permutation(sum(sizes) + 2).astype(np.uint32)
    cells: Cells = np.full(order.size, 77, dtype=np.uint8)
    if wide:
        cells = cells.astype(np.uint16)
    starts = np.cumsum([0, *sizes[:-1]])
    for start, size in zip(starts, sizes, strict=True):
        order[start : start + size].sort()
    for first, last in pairwise(sorted({0, cut, order.size})):
        routing.label(order, starts, np.array(sizes), first, last, cells)
    expected = np.repeat([*range(len(sizes)), 77], [*sizes, 2])
    np.testing.assert_array_equal(cells[order], expected)


@settings(deadline=None, max_examples=80)
@given(world=worlds(), seed=st.integers(0, 2**32))
def test_a_split_says_the_same_of_lanes_as_of_codes(world: World, seed: int) -> None:
    generator = np.random.default_rng(seed)
    lanes = naive.lanes(world.words())
    for codes, feature in zip(world.codes, world.features, strict=True):
        best = np.array([0, generator.integers(feature[layout.BINS]), generator.integers(2)])
        members = generator.integers(0, 2, 256).astype(np.uint8)
        goes_left = np.empty(256, dtype=np.uint8)
        routing.sides(feature, best, members, world.missing, goes_left)
        expected = np.where(codes == world.missing, best[2], codes <= best[1])
        if feature[layout.CATEGORY]:
            expected = members[codes]
        np.testing.assert_array_equal(goes_left[lanes[feature[layout.LANE]]], expected)


@dataclass(frozen=True)
class Found:
    """What ``scan`` gave."""

    gain: float
    best: Wholes
    members: Bytes


class Root(NamedTuple):
    """What the root of a tree knows of the levels of categories."""

    orders: Bytes
    evidence: Floats

    @classmethod
    def of(cls, world: World) -> "Root":
        """Nothing."""
        return cls(
            np.zeros((len(world.features), 256), dtype=np.uint8), np.zeros(len(world.features))
        )


def scan(
    world: World,
    rows: Rows,
    pairs: Wholes,
    rules: Floats,
    span: Floats = FREE,
    allowed: Bytes | None = None,
    root: Root | None = None,
    at_root: bool | None = None,
) -> Found:
    """Search for a split of the rows; if no root is given, they are the root.

    Few rows are searched by themselves, too, which finds the same.
    """
    words = world.words()
    histogram = np.zeros((len(pairs), 8 * len(words), WIDTH), dtype=np.int64)
    grow.count(words, world.lanes, rows, pairs, histogram, 0, len(words))
    everything = np.ones(len(world.features), dtype=np.uint8)
    alone = len(world.features) == world.lanes and rows.size <= split.MAX_LISTED_ROWS
    actual = []
    for few in (rows[:0], rows) if alone else (rows[:0],):
        best, members = np.full(3, -1), np.full(256, 9, dtype=np.uint8)
        codes = layout.Codes(
            words,
            world.features,
            world.lanes,
            world.missing,
            *(Root.of(world) if root is None else root),
        )
        is_root = root is None if at_root is None else at_root
        search = split.SplitSearch(
            codes, everything if allowed is None else allowed, 0, len(world.features), rules
        )
        after, before = split_general.scan(
            search, histogram, few, pairs, rows.size, span, is_root, best, members
        )
        actual.append(Found(float(after - before), best, members))
    first, last = actual[0], actual[-1]
    assert first.gain == last.gain
    assert np.array_equal(first.best, last.best)
    assert np.array_equal(first.members, last.members)
    return first


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
    "seed": st.integers(0, 2**32),
}


@settings(deadline=None, max_examples=150)
@given(**SCANS, at_root=st.booleans())
def test_the_split_found_is_the_best_of_the_twins(
    world: World, criterion: str, lines: int, least: tuple[float, float], penalty: float,
    smooth: float, levels: tuple[float, float], seed: int, at_root: bool,
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
    rules = np.array([CRITERIA[criterion], penalty, *least, smooth, *levels, 0.0])
    allowed = (generator.random(len(world.features)) < 0.8).astype(np.uint8)
    root = None if at_root else some_root(generator, world)
    actual = scan(world, rows, pairs, rules, allowed=allowed, root=root)

    bound = max(least[0], least[1] * float(weights[rows].sum()) / rows.size, 1.0)
    node = Node(pulls[:, rows], weights[rows], criterion, penalty, bound, *levels)
    gains = [0.0]
    for j in np.flatnonzero(allowed).tolist():
        parts = divisions(world, j, rows, node, smooth, root)
        gains.extend((node.gain(left) or lost) - lost for left, lost in parts)
    slack = 1e-12 * max(1.0, float(np.abs(pulls).sum()) ** (2 if criterion == "newton" else 1))
    assert actual.gain == pytest.approx(max(gains), rel=1e-9, abs=slack)
    if actual.gain <= 0:
        return
    assert allowed[actual.best[0]]
    goes_left = np.empty(256, dtype=np.uint8)
    feature = world.features[actual.best[0]]
    routing.sides(feature, actual.best, actual.members, world.missing, goes_left)
    lane = naive.lanes(world.words())[feature[layout.LANE], rows]
    gain = node.gain(goes_left[lane] != 0)
    assert gain is not None
    lost = {lost for _, lost in divisions(world, int(actual.best[0]), rows, node, smooth, root)}
    expected = [pytest.approx(actual.gain + own, rel=1e-9, abs=slack) for own in lost]
    assert gain in expected


def some_root(generator: np.random.Generator, world: World) -> Root:
    """Orders of all levels, as a root may have found them, and evidence for some of them."""
    root = Root.of(world)
    for j, bins in enumerate(world.features[:, layout.BINS]):
        root.orders[j, : bins + 1] = generator.permutation(bins + 1)
    root.evidence[:] = generator.choice([0.0, 1.5, 40.0], root.evidence.size)
    return root


@settings(deadline=None, max_examples=80)
@given(world=worlds(), lines=st.integers(1, 3), noise=st.sampled_from([0.0, 1e4, 1e6]))
def test_a_root_keeps_what_it_knows_of_levels(world: World, lines: int, noise: float) -> None:
    rows = np.arange(world.codes.shape[1], dtype=np.uint32)
    pulls, weights, pairs = some_pairs(np.random.default_rng(lines), lines, rows.size)
    if weights.sum() < 2:
        return
    node = Node(pulls, weights, "newton", 0.0, 1.0, 0.0, 0.0)
    root, smooth = Root.of(world), 1e5
    rules = np.array([split.NEWTON, 0.0, 0, 0, smooth, 0, 0, noise])
    nothing = np.zeros(len(world.features), dtype=np.uint8)  # also of features that are not drawn
    scan(world, rows, pairs, rules, allowed=nothing, root=root, at_root=True)
    for j in np.flatnonzero(world.features[:, layout.CATEGORY]).tolist():
        bins = int(world.features[j, layout.BINS])
        own = world.codes[j].astype(np.int64)
        own[own == world.missing] = bins
        sums = sums_of(own, node, bins)
        order = naive.by_mean_pull(sums[1:], sums[0], smooth)
        assert root.orders[j, : bins + 1].tolist() == order.tolist()
        expected = naive.evidence(sums[1:], sums[0], noise)
        assert root.evidence[j] == pytest.approx(expected, rel=1e-9)


@settings(deadline=None, max_examples=150)
@given(**{k: v for k, v in SCANS.items() if k in ("world", "least", "penalty", "seed")})
def test_the_plain_search_finds_what_the_general_one_finds(
    world: World, least: tuple[float, float], penalty: float, seed: int
) -> None:
    generator = np.random.default_rng(seed)
    rows = some_rows(generator, world.codes.shape[1])
    if rows.size == 0:
        rows = np.zeros(1, dtype=np.uint32)
    world.features[:, layout.CATEGORY] = 0
    _, _, pairs = some_pairs(generator, 1, world.codes.shape[1])
    rules = np.array([split.NEWTON, penalty, *least, 0.0, 0.0, 0.0, 0.0])
    allowed = (generator.random(len(world.features)) < 0.8).astype(np.uint8)
    expected = scan(world, rows, pairs, rules, allowed=allowed)

    words = world.words()
    histogram = np.zeros((1, 8 * len(words), WIDTH), dtype=np.int64)
    grow.count(words, world.lanes, rows, pairs, histogram, 0, len(words))
    alone = len(world.features) == world.lanes and rows.size <= split.MAX_LISTED_ROWS
    for few in (rows[:0], rows) if alone else (rows[:0],):  # by histograms, and by the rows
        best = np.full(3, -1)
        codes = layout.Codes(words, world.features, world.lanes, world.missing, *Root.of(world))
        search = split.SplitSearch(codes, allowed, 0, len(world.features), rules)
        after, before = split.scan(search, histogram[0], few, pairs[0], rows.size, best)
        assert after - before == expected.gain
        assert best.tolist() == expected.best.tolist()


def one_feature(codes: list[int], bins: int, category: bool, slope: int = 0) -> World:
    features = np.array([[0, 0, bins, -1, int(category), slope]])
    maps = np.arange(256, dtype=np.uint8)[None]
    return World(np.array([codes], dtype=np.uint8), features, maps, 1, bins)


@pytest.mark.parametrize("slope", [1, -1])
@pytest.mark.parametrize("rising", [True, False])
def test_a_split_against_its_slope_is_left_out(slope: int, rising: bool) -> None:
    world = one_feature([0, 0, 1, 1], 2, category=False, slope=slope)
    pulls = np.array([[-1, -1, 1, 1]]) * (1 if rising else -1)
    pairs = ((pulls << 32) + 1) << 20
    rules = np.array([split.NEWTON, 0.0, 0, 0, 0, 0, 0, 0])
    actual = scan(world, np.arange(4, dtype=np.uint32), pairs, rules)
    assert (actual.gain > 0) == (rising == (slope > 0))
    narrow = np.array([-np.inf, -2.0])  # both sides would be held at -2
    assert scan(world, np.arange(4, dtype=np.uint32), pairs, rules, narrow).gain > 0


@pytest.mark.parametrize("slope", [1, -1])
def test_a_monotone_split_divides_the_span_halfway(slope: int) -> None:
    histogram = np.zeros((2, 1, 8, 3), dtype=np.int64)
    for slot, (pull, weight) in enumerate([(-6, 2), (10, 10)]):  # means of -3 and 1
        histogram[slot, 0, 0, slot] = (slope * pull << 32) + weight
    spans = np.array([[-2.0, 2.0], [9, 9]])
    features = np.array([[0, 0, 3, -1, 0, slope]])
    two, line = np.array([0, 1]), np.zeros(2)
    best, members = np.zeros((2, 3), np.int64), np.zeros((2, 256), np.uint8)
    leaves = layout.Leaves(two, two, two, best, members, line, np.zeros((2, 2), np.int64), two)
    grow.narrow(histogram, features, leaves, spans, 0, 1)
    expected = [[-2.0, -0.5], [-0.5, 2.0]] if slope > 0 else [[0.5, 2.0], [-2.0, 0.5]]
    assert spans.tolist() == expected
    spans[0] = -7, 7
    features[0, layout.MONOTONE] = 0
    grow.narrow(histogram, features, leaves, spans, 0, 1)
    assert spans.tolist() == [[-7, 7], [-7, 7]]


@settings(deadline=None, max_examples=80)
@given(world=worlds(), splits=st.integers(1, 12), seed=st.integers(0, 2**32))
@example(world=world_of(300, [255, 255], [[254, 2]], 1), splits=12, seed=1)
def test_rows_settle_where_the_twin_walks_them(world: World, splits: int, seed: int) -> None:
    generator = np.random.default_rng(seed)
    features = generator.integers(len(world.features), size=splits)
    own = world.features[features]
    left, right, ends = np.empty(splits, np.int32), np.empty(splits, np.int32), [(-1, 0)]
    for t in range(splits):  # every split takes the place of a random leaf
        leaf = int(generator.integers(len(ends)))
        parent, side = ends[leaf]
        if parent >= 0:
            (left, right)[side][parent] = t
        ends[leaf] = t, 0
        ends.append((t, 1))
    for leaf, (parent, side) in enumerate(ends):
        (left, right)[side][parent] = ~leaf
    tables = np.empty((splits, 256), dtype=np.uint8)
    members = generator.integers(0, 2, (splits, 256)).astype(np.uint8)
    nodes = np.empty((splits, 6), dtype=np.int32)
    for t, feature in enumerate(own):
        best = np.array([0, generator.integers(feature[layout.BINS]), generator.integers(2)])
        routing.sides(feature, best, members[t], world.missing, tables[t])
        member = t if feature[layout.CATEGORY] else -1
        nodes[t] = features[t], best[1], best[2], left[t], right[t], member
    rows = some_rows(generator, world.codes.shape[1])
    cells = np.full(world.codes.shape[1], 200, dtype=np.uint8)
    chosen = np.setdiff1d(np.arange(cells.size), rows)
    with using(int(generator.integers(1, 4))):
        lanes = own[:, layout.LANE]
        together(routing.settle, world.words(), lanes, tables, left, right, chosen, cells)
    expected = np.full(cells.size, 200)
    expected[rows] = naive.walk(world.codes, nodes, members, world.missing)[rows]
    np.testing.assert_array_equal(cells, expected)
