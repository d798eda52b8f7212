"""Trees grown by the kernel are those of its plain twin, node by node."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from pacboost.hypotheses.forest import LOW
from pacboost.kernels.arrays import Bytes, Floats, Wholes
from pacboost.kernels.forest import LEAF
from pacboost.samples.bins import Bins
from pacboost.samples.coded_table import CodedTable
from pacboost.samples.sample import Sample
from pacboost.training.bags.bags import Bag
from pacboost.training.bags.forest import TreeLimits, TreeMaker, TreeMember
from tests.examples import examples
from tests.grids import each_value
from tests.kernels.naive_forest import Chance, Grower

MISSING = 9


def make(
    rows: int, features: int, codes: int, classes: int, seed: int, *, holes: bool = False
) -> tuple[Bytes, NDArray[Any], Wholes]:
    """Codes, targets and counts of a bag; the last feature is constant."""
    generator = np.random.default_rng(seed)
    table = generator.integers(codes, size=(features, rows)).astype(np.uint8)
    table[-1] = 3
    if holes:
        table[generator.random(table.shape) < 0.2] = MISSING
    if classes:
        noise = generator.integers(classes, size=rows)
        targets = np.where(generator.random(rows) < 0.3, noise, table[0] % classes)
    else:
        targets = generator.integers(-8, 9, size=rows) / 8 + table[0]
    counts = np.bincount(generator.integers(rows, size=rows), minlength=rows)
    return table, targets, counts


def grown(
    codes: Bytes,
    targets: NDArray[Any],
    counts: Wholes,
    classes: int,
    limits: TreeLimits,
    weights: Floats | None = None,
    seed: int = 5,
) -> TreeMember:
    thresholds = np.arange(MISSING - 1, dtype=np.float32)
    bins = Bins((thresholds,) * len(codes), np.arange(len(codes)))
    table = CodedTable(codes, bins)
    base = np.ones(1) if weights is None else weights
    sample = Sample(table, np.ones((codes.shape[1], 1), np.int8), base, bins)
    return TreeMaker(sample, targets, classes, limits).make(Bag(counts, None, seed))


def read(member: TreeMember) -> list[tuple[Any, ...]]:
    """Nodes as the twin writes them."""
    actual: list[tuple[Any, ...]] = []
    for node in member.inner.nodes.tolist():
        payload = node & int(LOW)
        if node >> 41 != int(LEAF):
            actual.append((node >> 41, node >> 32 & 255, node >> 40 & 1, payload))
        elif member.classes <= 2:
            value = np.array([payload], np.uint32).view(np.float32)[0]
            value = value * member.scale + member.middle
            actual.append((np.array([value]),))
        else:
            lines = np.vstack([np.eye(member.classes), member.inner.table])
            actual.append((lines[payload],))
    return actual


def twin(
    codes: Bytes,
    targets: NDArray[Any],
    counts: Wholes,
    classes: int,
    limits: TreeLimits,
    weights: Floats | None = None,
    seed: int = 5,
) -> list[tuple[Any, ...]]:
    # Numbers are told apart from classes by a shift: those of the tests are never all 0 and 1.
    expected = targets[:, None].astype(float) if classes <= 2 else np.eye(classes)[targets]
    if classes == 0:
        middle = (targets.min() + targets.max()) / 2
        expected = expected - middle
    heavy = counts * (np.ones(counts.size) if weights is None else weights)
    grower = Grower(
        codes, expected, heavy, Chance(seed), limits.tries, MISSING, np.arange(len(codes)),
        limits.least, limits.smallest, limits.deepest, limits.random, limits.lightest,
    )  # fmt: skip
    grower.grow(np.flatnonzero(counts))
    if classes == 0:
        return [(node[0] + middle,) if len(node) == 1 else node for node in grower.nodes]
    return grower.nodes


def same(left: list[tuple[Any, ...]], right: list[tuple[Any, ...]]) -> bool:
    return len(left) == len(right) and all(
        np.allclose(a[0], b[0], atol=1e-6) if len(a) == 1 else a == b
        for a, b in zip(left, right, strict=True)
    )


@each_value
@pytest.mark.parametrize("classes", [0, 2, 3, 5])
@pytest.mark.parametrize("holes", [False, True])
@pytest.mark.parametrize("random", [False, True])
@examples(15)
@given(seed=st.integers(0, 2**20), rows=st.integers(2, 90), least=st.integers(1, 3))
def test_kernel_grows_the_tree_of_its_twin(
    classes: int, holes: bool, random: bool, seed: int, rows: int, least: int
) -> None:
    codes, targets, counts = make(rows, 5, 8, classes, seed, holes=holes)
    limits = TreeLimits(2, least, random=random)
    member = grown(codes, targets, counts, classes, limits)
    assert same(read(member), twin(codes, targets, counts, classes, limits))


@pytest.mark.parametrize("classes", [0, 2, 4])
@examples(10)
@given(seed=st.integers(0, 2**20))
def test_weights_are_taken_as_the_twin_takes_them(classes: int, seed: int) -> None:
    codes, targets, counts = make(60, 4, 6, classes, seed)
    weights = np.random.default_rng(seed).integers(1, 5, size=60).astype(float)
    weights[0] = 1.0  # so that 1 is the common measure
    limits = TreeLimits(2, deepest=6, smallest=4, lightest=0.05, random=seed % 2 == 1)
    member = grown(codes, targets, counts, classes, limits, weights)
    assert same(read(member), twin(codes, targets, counts, classes, limits, weights))


def test_twin_without_early_end_is_told_apart() -> None:
    """A twin that draws in another order grows other trees: the comparison can fail."""
    codes, targets, counts = make(80, 5, 8, 3, 1)
    limits = TreeLimits(2)
    member = grown(codes, targets, counts, 3, limits)
    assert not same(read(member), twin(codes, targets, counts, 3, limits, seed=6))


@pytest.mark.parametrize("classes", [2, 3])
def test_leaves_are_pure_where_rows_can_be_told_apart(classes: int) -> None:
    generator = np.random.default_rng(0)
    codes = np.array([np.arange(8).repeat(8), np.tile(np.arange(8), 8)], dtype=np.uint8)
    targets = generator.integers(classes, size=64)
    member = grown(codes, targets, np.ones(64, np.int64), classes, TreeLimits(1))
    said = member.said(np.ascontiguousarray(codes.T))
    assert np.array_equal(said.argmax(axis=1), targets)
    assert len(member.inner.table) == 0


def test_large_nodes_read_columns_and_small_ones_rows_alike() -> None:
    """Above and below the size at which reading changes, the same rows give the same tree."""
    codes, targets, counts = make(60, 4, 8, 3, 3)
    many = np.zeros(6000, np.int64)
    many[:60] = counts
    wide = np.concatenate([codes, np.zeros((4, 5940), np.uint8)], axis=1)
    more = np.concatenate([targets, np.zeros(5940, np.int64)])
    small = grown(codes, targets, counts, 3, TreeLimits(2))
    large = grown(wide, more, many, 3, TreeLimits(2))
    assert np.array_equal(small.inner.nodes, large.inner.nodes)
