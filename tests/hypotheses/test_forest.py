"""What a forest says is what its trees say, row by row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pacboost.estimators.forests.forests import RandomForestClassifier, RandomForestRegressor
from pacboost.hypotheses.forest import LOW, Forest, ForestTree, as_shares
from pacboost.kernels.forest import LEAF
from pacboost.kernels.runtime.threads import using
from pacboost.sources.arrays import ArrayTable


def walked(tree: ForestTree, line: NDArray[np.uint8], missing: int) -> tuple[int, int]:
    """Walk one row down one tree, in plain Python: the place of its leaf, and its payload."""
    at = 0
    while True:
        node = int(tree.nodes[at])
        if node >> 41 == int(LEAF):
            return at, node & int(LOW)
        code = int(line[node >> 41])
        left = code <= (node >> 32 & 255) or (code == missing and node >> 40 & 1)
        at = at + 1 if left else node & int(LOW)


def said(forest: Forest, payload: int, tree: ForestTree) -> NDArray[np.float64]:
    if not forest.many:
        value = float(np.array([payload], np.uint32).view(np.float32)[0])
        return np.array([float(value > 0.5) if forest.hard else value])
    whole = np.eye(forest.classes)
    shares: NDArray[np.float64] = np.vstack([whole, tree.table])[payload]
    return whole[shares.argmax()] if forest.hard else shares


def grown(classes: int, certify: str | None) -> tuple[Any, NDArray[np.float64]]:
    generator = np.random.default_rng(0)
    X = np.round(generator.normal(size=(90, 3)), 1)
    X[::6, 0] = np.nan
    if classes == 0:
        return RandomForestRegressor(7, random_state=0).fit(X, generator.normal(size=90)), X
    y = generator.integers(classes, size=90)
    forest = RandomForestClassifier(7, min_samples_leaf=3, certify=certify, random_state=0)
    return forest.fit(X, y), X


@pytest.mark.parametrize("classes", [0, 2, 4])
@pytest.mark.parametrize("certify", [None, "oob"])
def test_sums_and_leaves_are_those_of_a_plain_walk(classes: int, certify: str | None) -> None:
    model, X = grown(classes, certify)
    forest, table = model.model_.vote, ArrayTable(X)
    lines = forest.bins.encode(table).T
    trees = list(forest.trees())
    assert len(trees) == len(forest) == 7
    assert sum(tree.nodes.size for tree in trees) == forest.n_nodes
    sums = np.zeros((len(X), classes if classes > 2 else 1))
    leaves = np.zeros((len(X), len(trees)), np.int64)
    for t, tree in enumerate(trees):
        for i, line in enumerate(lines):
            leaves[i, t], payload = walked(tree, line, forest.bins.missing)
            sums[i] += said(forest, payload, tree)
    assert np.array_equal(forest.leaves(table), leaves)
    for threads in (1, 2):
        with using(threads):
            assert np.array_equal(forest.sums(table), sums)


def test_shares_of_two_classes_come_from_one_sum() -> None:
    sums = np.array([[1.0], [4.0]])
    assert as_shares(sums, 4, many=False).tolist() == [[0.75, 0.25], [0.0, 1.0]]


def test_a_forest_without_trees_says_nothing() -> None:
    model, X = grown(3, None)
    empty = Forest(model.model_.vote.bins, 3, np.zeros(3))
    assert not empty.sums(ArrayTable(X)).any()
