"""Scores from tables and from masks of leaves equal those of their twins in plain NumPy."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pacboost.kernels import layout, predict
from pacboost.kernels.runtime import Bytes, Floats, Numbers, Rows
from tests.kernels import naive

ROWS = st.sampled_from([1, 7, predict.ROWS_PER_TILE, 2 * predict.ROWS_PER_TILE + 3])
Codes = Bytes
Scores = Floats


def tables_twin(codes: Codes, features: list[int], tables: Scores, scores: Scores) -> Scores:
    """Add one look-up a feature."""
    return np.asarray(scores + sum(tables[f][codes[j]] for f, j in enumerate(features)))


def masks_twin(
    codes: Codes, features: list[int], masks: Rows, trees: list[int],
    values: list[Scores], scores: Scores,
) -> Scores:  # fmt: skip
    """Rule leaves out one feature after the other, and look for the bit that is left."""
    for t, said in enumerate(values):
        for i in range(codes.shape[1]):
            left = 2**32 - 1
            for line in range(trees[t], trees[t + 1]):
                left &= int(masks[line, codes[features[line], i]])
            assert left.bit_count() == 1
            scores[i] += said[left.bit_length() - 1]
    return scores


def stored(values: list[Scores]) -> Scores:
    """Lay the values of leaves out where the kernel looks for them."""
    places = [
        ((1 << k) * int(predict.SPREAD) & 0xFFFFFFFF) >> 27 for k in range(predict.LEAVES_PER_MASK)
    ]
    assert sorted(places) == list(range(32))
    out = np.full((len(values), predict.LEAVES_PER_MASK, values[0].shape[1]), np.nan)
    for line, said in zip(out, values, strict=True):
        line[places[: len(said)]] = said
    return out


@settings(deadline=None, max_examples=40)
@given(rows=ROWS, outputs=st.integers(1, 3), start=st.integers(0, 30), seed=st.integers(0, 2**32))
def test_tables_equal_the_twins(rows: int, outputs: int, start: int, seed: int) -> None:
    generator = np.random.default_rng(seed)
    codes = generator.integers(0, 20, (6, start + rows)).astype(np.uint8)
    features = generator.permutation(6)[: generator.integers(1, 7)]
    tables = generator.integers(-99, 99, (features.size, 20, outputs)) / 64
    first = generator.integers(-9, 9, (start + rows, outputs)) / 8
    scores = first[start:].copy()
    predict.by_tables(codes, features, tables, start, scores)
    expected = tables_twin(codes, features.tolist(), tables, first)[start:]
    np.testing.assert_array_equal(scores, expected)


def random_masks(generator: np.random.Generator, leaves: int, features: int) -> Rows:
    """One bit for every combination of codes: leaves are numbered by halves of each feature."""
    bits = (leaves - 1).bit_length()
    assert bits <= features
    masks = np.full((features, 256), (1 << leaves) - 1, dtype=np.uint64)
    for line in range(bits):
        ones = sum(1 << leaf for leaf in range(leaves) if leaf >> line & 1)
        upper = generator.random(256) < 0.5
        masks[line] = np.where(upper, ones, ((1 << leaves) - 1) & ~ones)
    return masks.astype(np.uint32)


@settings(deadline=None, max_examples=30)
@given(
    leaves=st.lists(st.sampled_from([2, 4, 8, 16, 32]), min_size=1, max_size=4),
    outputs=st.integers(1, 3),
    rows=st.sampled_from([1, 5, predict.ROWS_PER_TILE + 2]),
    start=st.integers(0, 9),
    seed=st.integers(0, 2**32),
)
def test_masks_equal_the_twins(
    leaves: list[int], outputs: int, rows: int, start: int, seed: int
) -> None:
    generator = np.random.default_rng(seed)
    codes = generator.integers(0, 256, (7, start + rows)).astype(np.uint8)
    parts = [random_masks(generator, count, 6) for count in leaves]
    features = np.concatenate([generator.permutation(7)[:6] for _ in leaves])
    trees = np.arange(len(leaves) + 1) * 6
    values = [generator.integers(-99, 99, (count, outputs)) / 64 for count in leaves]
    scores = np.zeros((rows, outputs))
    masks = np.concatenate(parts)
    predict.by_masks(codes, features, masks, trees, stored(values), start, scores)
    expected = masks_twin(
        codes[:, start:], features.tolist(), masks, trees.tolist(), values, np.zeros(scores.shape)
    )
    np.testing.assert_array_equal(scores, expected)


def random_tree(
    generator: np.random.Generator, splits: int, features: int, missing: int
) -> tuple[Numbers, Bytes]:
    """Nodes of a tree grown at random leaves, and the subsets of its categorical splits."""
    nodes = np.empty((splits, 6), dtype=np.int32)
    ends = [(-1, layout.LEFT)]
    for t in range(splits):
        nodes[t, layout.FEATURE] = generator.integers(features)
        nodes[t, layout.CUT] = generator.integers(-1, missing)
        nodes[t, layout.MISSING_LEFT] = generator.integers(2)
        leaf = int(generator.integers(len(ends)))
        parent, side = ends[leaf]
        if parent >= 0:
            nodes[parent, side] = t
        ends[leaf] = t, layout.LEFT
        ends.append((t, layout.RIGHT))
    for leaf, (parent, side) in enumerate(ends):
        if parent >= 0:
            nodes[parent, side] = ~leaf
    category = generator.random(splits) < 0.4
    nodes[:, layout.MEMBER] = np.where(category, np.cumsum(category) - 1, -1)
    members = generator.integers(0, 2, (int(category.sum()), 256)).astype(np.uint8)
    return nodes, members


@settings(deadline=None, max_examples=80)
@given(
    rows=st.integers(1, 200),
    features=st.integers(1, 5),
    missing=st.sampled_from([1, 2, 20, 255]),
    splits=st.integers(1, 40),
    start=st.integers(0, 60),
    seed=st.integers(0, 2**32),
)
def test_leaves_equal_the_twins(
    rows: int, features: int, missing: int, splits: int, start: int, seed: int
) -> None:
    generator = np.random.default_rng(seed)
    nodes, members = random_tree(generator, splits, features, missing)
    codes = generator.integers(0, missing + 1, (features, rows)).astype(np.uint8)
    out, numbers = np.zeros((max(0, rows - start), 1)), np.arange(splits + 1.0)[:, None]
    whole = np.array([[0, splits, 0]])
    predict.score(codes, nodes, members, missing, whole, numbers, start, out)
    expected = naive.walk(codes, nodes, members, missing)
    np.testing.assert_array_equal(out[:, 0], expected[start:])


@settings(deadline=None, max_examples=40)
@given(
    trees=st.lists(st.integers(0, 9), min_size=1, max_size=5),
    outputs=st.integers(1, 3),
    rows=st.sampled_from([1, 7, predict.ROWS_PER_TILE, 2 * predict.ROWS_PER_TILE + 1]),
    seed=st.integers(0, 2**32),
)
def test_scores_are_sums_over_trees(trees: list[int], outputs: int, rows: int, seed: int) -> None:
    generator = np.random.default_rng(seed)
    missing, features = 9, 3
    codes = generator.integers(0, missing + 1, (features, rows)).astype(np.uint8)
    values = generator.integers(-99, 99, (sum(trees) + len(trees), outputs)) / 64
    expected = np.zeros((rows, outputs))
    all_nodes, all_members = [], []
    places = np.zeros((len(trees), 3), dtype=np.int64)
    first = member = base = 0
    for t, splits in enumerate(trees):
        nodes, members = random_tree(generator, splits, features, missing)
        expected += values[base + naive.walk(codes, nodes, members, missing)]
        nodes[nodes[:, layout.MEMBER] >= 0, layout.MEMBER] += member
        places[t] = first, splits, base
        first, member, base = first + splits, member + len(members), base + splits + 1
        all_nodes.append(nodes)
        all_members.append(members)
    start = rows // 3
    scores = np.zeros((rows, outputs))
    for a, b in [(0, start), (start, rows)]:
        predict.score(
            codes, np.concatenate(all_nodes), np.concatenate(all_members), missing, places,
            values, a, scores[a:b],
        )  # fmt: skip
    np.testing.assert_array_equal(scores, expected)
