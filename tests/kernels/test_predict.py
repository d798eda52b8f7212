"""Scores from tables and from trees equal those of their twins in plain NumPy."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pacboost.kernels import layout
from pacboost.kernels.arrays import Bytes, Cells, Floats, Numbers
from pacboost.kernels.native import native
from tests.examples import examples
from tests.kernels import naive

ROWS = st.sampled_from([1, 7, 16, 33, 512, 1027])
"""Numbers of rows on both sides of those that walk, and of the sizes of blocks and tiles."""
SPLITS = st.one_of(st.integers(1, 40), st.sampled_from([254, 255, 256, 300]))
Codes = Cells
Scores = Floats


def tables_twin(codes: Codes, features: list[int], tables: Scores, scores: Scores) -> Scores:
    """Add one look-up a feature."""
    return np.asarray(scores + sum(tables[f][codes[j]] for f, j in enumerate(features)))


@examples(40)
@given(rows=ROWS, outputs=st.integers(1, 3), start=st.integers(0, 30), seed=st.integers(0, 2**32))
def test_tables_equal_the_twins(rows: int, outputs: int, start: int, seed: int) -> None:
    generator = np.random.default_rng(seed)
    codes = generator.integers(0, 20, (6, start + rows)).astype(np.uint8)
    features = generator.permutation(6)[: generator.integers(1, 7)]
    tables = generator.integers(-99, 99, (features.size, 20, outputs)) / 64
    first = generator.integers(-9, 9, (start + rows, outputs)) / 8
    scores = first[start:].copy()
    native.score_tables(codes, features, tables, start, scores)
    expected = tables_twin(codes, features.tolist(), tables, first)[start:]
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


@examples(80)
@given(
    rows=st.integers(1, 400),
    features=st.integers(1, 5),
    missing=st.sampled_from([1, 2, 20, 255]),
    splits=SPLITS,
    dtype=st.sampled_from([np.uint8, np.uint16]),
    start=st.integers(0, 60),
    seed=st.integers(0, 2**32),
)
def test_leaves_equal_the_twins(
    rows: int, features: int, missing: int, splits: int, dtype: type, start: int, seed: int
) -> None:
    generator = np.random.default_rng(seed)
    nodes, members = random_tree(generator, splits, features, missing)
    codes: Codes = generator.integers(0, missing + 1, (features, rows)).astype(dtype)
    out, numbers = np.zeros((max(0, rows - start), 1)), np.arange(splits + 1.0)[:, None]
    whole = np.array([[0, splits, 0]])
    native.score_trees(codes, nodes, members, missing, whole, numbers, start, out)
    expected = naive.walk(codes, nodes, members, missing)
    np.testing.assert_array_equal(out[:, 0], expected[start:])


@examples(40)
@given(
    trees=st.lists(st.integers(0, 9), min_size=1, max_size=5),
    outputs=st.integers(1, 3),
    rows=ROWS,
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
        native.score_trees(
            codes, np.concatenate(all_nodes), np.concatenate(all_members), missing, places,
            values, a, scores[a:b],
        )  # fmt: skip
    np.testing.assert_array_equal(scores, expected)
