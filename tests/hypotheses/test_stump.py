"""Stumps: what they answer, by codes and by values, and how they are said."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from pacboost.estimators.forests.forests import RandomForestClassifier, RandomForestRegressor
from pacboost.hypotheses.forest import LOW, Forest, ForestTree
from pacboost.hypotheses.hypothesis import Names
from pacboost.hypotheses.stump import StumpRule
from pacboost.kernels.forest import LEAF
from pacboost.kernels.threads import using
from pacboost.samples.bins import fit_bins
from pacboost.samples.sample import Sample, unlabelled
from pacboost.sources.arrays import ArrayTable
from tests.examples import examples
from tests.grids import each_value

NAMES = Names(None, ("no", "yes"))
SIGN = st.sampled_from([-1, 1])


def answers(stump: StumpRule, values: NDArray[np.floating]) -> list[int]:
    given_answers: list[int] = stump.answers(unlabelled(ArrayTable(values[:, None]))).tolist()
    return given_answers


@each_value
@pytest.mark.parametrize("above", [-1, 1])
@pytest.mark.parametrize("missing", [-1, 1])
def test_values_above_at_and_missing_are_answered(above: int, missing: int) -> None:
    stump = StumpRule(0, 2.5, 2, above, missing)
    values = np.array([3.0, 2.5, 2.0, np.nan])
    assert answers(stump, values) == [above, -above, -above, missing]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_value_that_rounds_to_the_threshold_is_not_above_it(dtype: type[np.floating]) -> None:
    threshold = float(np.float32(0.1))
    values = np.array([0.1, math.nextafter(threshold, 1.0)]).astype(dtype)
    above = np.nextafter(np.float32(0.1), np.float32(1.0)).astype(dtype)
    assert answers(StumpRule(0, threshold, 0, 1, 1), np.append(values, above)) == [-1, -1, 1]


@examples(60)
@given(
    seed=st.integers(0, 2**32),
    above=SIGN,
    missing=SIGN,
    max_bins=st.sampled_from([3, 255, 400]),
    constant=st.booleans(),
)
def test_codes_and_values_are_answered_alike(
    seed: int, above: int, missing: int, max_bins: int, constant: bool
) -> None:
    generator = np.random.default_rng(seed)
    values = generator.normal(size=(500, 2))
    values[generator.random(values.shape) < 0.1] = np.nan
    table = ArrayTable(values)
    bins = fit_bins(table, max_bins)
    cut = int(generator.integers(bins.thresholds[1].size))
    stump = StumpRule(1, float(bins.thresholds[1][cut]), cut, above, missing)
    if constant:
        stump = StumpRule(1, math.inf, bins.missing - 1, above, missing)
    coded = Sample(table, np.ones((500, 1), dtype=np.int8), bins=bins)
    np.testing.assert_array_equal(stump.answers(coded), stump.answers(unlabelled(table)))
    assert stump.answers(coded).dtype == np.int8


@given(threshold=st.one_of(st.just(math.inf), st.floats(-5, 5, width=32)), above=SIGN, missing=SIGN)
def test_negated_answers_the_opposite_everywhere(
    threshold: float, above: int, missing: int
) -> None:
    stump = StumpRule(0, threshold, 0, above, missing)
    values = np.array([-6.0, threshold, 0.0, 6.0, np.nan])
    assert answers(stump.negated(), values) == [-answer for answer in answers(stump, values)]
    assert stump.negated().negated() == stump


@pytest.mark.parametrize(
    ("stump", "words"),
    [
        (StumpRule(3, 2.5, 2, 1, -1), "x3 > 2.5 → yes, else no"),
        (StumpRule(3, 2.5, 2, -1, 1), "x3 > 2.5 → no, else yes"),
        (StumpRule(0, 1234567.0, 2, 1, 1), "x0 > 1.23457e+06 → yes, else no"),
        (StumpRule(0, math.inf, 2, 1, -1), "always no"),
        (StumpRule(0, math.inf, 2, -1, 1), "always yes"),
        (StumpRule(0, math.inf, 2, 1, 1), "x0 is missing → yes, else no"),
        (StumpRule(0, math.inf, 2, -1, -1), "x0 is missing → no, else yes"),
    ],
)
def test_stumps_are_said_in_words(stump: StumpRule, words: str) -> None:
    assert stump.words(NAMES) == words


def walked(tree: ForestTree, line: NDArray[np.uint8], missing: int) -> tuple[int, int]:
    """Walk one row down one tree, in plain Python: the place of its leaf, and its payload."""
    at = 0
    while True:
        node = int(tree.nodes[at])
        if node >> 41 == int(LEAF):
            return at, node & int(LOW)
        code = int(line[node >> 41])
        remaining = code <= (node >> 32 & 255) or (code == missing and node >> 40 & 1)
        at = at + 1 if remaining else node & int(LOW)


def said(forest: Forest, payload: int, tree: ForestTree) -> NDArray[np.float64]:
    if not forest.many:
        value = float(np.array([payload], np.uint32).view(np.float32)[0])
        return np.array([float(value > 0.5) if forest.hard else value])
    complete = np.eye(forest.classes)
    shares: NDArray[np.float64] = np.vstack([complete, tree.table])[payload]
    return complete[shares.argmax()] if forest.hard else shares


def grown(classes: int, certify: str | None) -> tuple[Any, NDArray[np.float64]]:
    generator = np.random.default_rng(0)
    X = np.round(generator.normal(size=(90, 3)), 1)
    X[::6, 0] = np.nan
    if classes == 0:
        return RandomForestRegressor(7, random_state=0).fit(X, generator.normal(size=90)), X
    y = generator.integers(classes, size=90)
    forest = RandomForestClassifier(7, min_samples_leaf=3, certify=certify, random_state=0)
    return forest.fit(X, y), X


@each_value
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
    assert np.array_equal(forest.cells(table), leaves)
    for threads in (1, 2):
        with using(threads):
            assert np.array_equal(forest.sums(table), sums)
