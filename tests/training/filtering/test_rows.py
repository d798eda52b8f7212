"""Rows become codes and signs; labels that nobody named are refused by place."""

from typing import Any

import numpy as np
import pytest

from pacboost.boosters.bounded_weights import FilteringBooster
from pacboost.boosters.logit import Logit
from pacboost.boosters.projection import Projection
from pacboost.errors import DataError
from pacboost.hypotheses.stump import StumpRule
from pacboost.hypotheses.tree import TreeRule
from pacboost.samples.bins import fit_bins
from pacboost.samples.coded_table import CodedTable
from pacboost.samples.sample import Signs
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.oracles.arrays import ArrayOracle
from pacboost.training.filtering.rows import CodedBatch, Floats, RowEncoder, ScoredBatch, VoteSoFar
from tests.grids import each_value
from tests.training.filtering.setups import EACH_BOOSTER, coded, cube, cube_bins, vote_so_far

X = np.arange(12.0).reshape(6, 2)


def read(labels: Any, classes: Any, *, codes: bool = True) -> CodedBatch:
    oracle = ArrayOracle(X, np.asarray(labels))
    bins = fit_bins(ArrayTable(X), 255) if codes else None
    return RowEncoder(np.asarray(classes), bins).read(oracle.take(np.arange(6)))


@each_value
@pytest.mark.parametrize("codes", [True, False])
@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        ([0, 1, 0, 1, 1, 0], [0, 1]),
        (["b", "c", "b", "c", "c", "b"], ["b", "c"]),
        ([False, True, False, True, True, False], [False, True]),
    ],
)
def test_two_classes(labels: Any, classes: Any, codes: bool) -> None:
    got = read(labels, classes, codes=codes)
    assert got.signs[:, 0].tolist() == [-1, 1, -1, 1, 1, -1]
    assert got.labels is None
    assert isinstance(got.table, CodedTable) == codes
    assert got.rows.tolist() == list(range(6))


def test_three_classes() -> None:
    got = read([2, 0, 1, 1, 2, 0], [0, 1, 2])
    assert got.labels is not None
    assert got.labels.tolist() == [2, 0, 1, 1, 2, 0]
    assert got.signs.argmax(axis=1).tolist() == [2, 0, 1, 1, 2, 0]


@pytest.mark.parametrize(
    ("labels", "classes", "stranger"),
    [
        ([0, 1, 0, 7, 1, 0], [0, 1], "7"),
        ([0, 1, 0, -7, 1, 0], [0, 1], "-7"),
        (["a", "b", "a", "z", "b", "a"], ["a", "b"], "'z'"),
        (["0", "1", "0", "1", "1", "0"], [0, 1], "'0'"),
        ([0, 1, 0, 1, 1, 0], ["0", "1"], "0"),
    ],
)
def test_a_label_that_was_not_named(labels: Any, classes: Any, stranger: str) -> None:
    with pytest.raises(DataError, match=rf"row \d: has the label {stranger},"):
        read(labels, classes)


@pytest.mark.parametrize("codes", [True, False])
def test_parts_can_be_taken_and_put_together_again(codes: bool) -> None:
    got = read([2, 0, 1, 1, 2, 0], [0, 1, 2], codes=codes)
    back = CodedBatch.join([got.take(np.array([4, 5])), got.take(np.arange(6) < 4)])
    order = np.array([4, 5, 0, 1, 2, 3])
    assert back.rows.tolist() == order.tolist()
    np.testing.assert_array_equal(back.table.rows(), got.table.rows()[order])
    np.testing.assert_array_equal(back.signs, got.signs[order])


@pytest.mark.parametrize("labels", [[0, 1, 0, 1, 1, 0], [2, 0, 1, 1, 2, 0]])
def test_rows_coded_where_they_lie_are_those_that_are_read(labels: list[int]) -> None:
    oracle = ArrayOracle(X, np.array(labels))
    encoder = RowEncoder(np.unique(labels), fit_bins(ArrayTable(X), 255))
    drawn = oracle.unread(np.array([4, 0, 3]))
    assert encoder.codes_in_place(drawn)
    found, twin = encoder.read_in_place(drawn), encoder.read(drawn)
    assert isinstance(found.table, CodedTable)
    assert isinstance(twin.table, CodedTable)
    assert np.array_equal(found.table.codes, twin.table.codes)
    assert np.array_equal(found.signs, twin.signs)
    assert found.labels is None or np.array_equal(found.labels, np.array(labels)[[4, 0, 3]])
    assert found.rows.tolist() == [4, 0, 3]


@pytest.mark.parametrize(
    ("value", "label", "complaint"),
    [
        (np.inf, 1.0, r"row 3: column 1 holds inf"),
        (0.0, np.nan, r"row 3: .*label"),
        (0.0, 7.0, r"row 3: has the label 7"),
    ],
)
def test_what_cannot_be_coded_in_place_is_named(value: float, label: float, complaint: str) -> None:
    values, labels = X.copy(), np.array([0.0, 1.0, 0.0, label, 1.0, 0.0])
    values[3, 1] = value
    oracle = ArrayOracle(values, labels)
    encoder = RowEncoder(np.array([0.0, 1.0]), fit_bins(ArrayTable(X), 255))
    with pytest.raises(DataError, match=complaint):
        encoder.read_in_place(oracle.unread(np.array([5, 3])))


# What a row weighs follows from the vote alone, whether it comes as codes or as values.


@EACH_BOOSTER
def test_codes_and_values_stand_alike(booster: FilteringBooster[Any]) -> None:
    made, world = vote_so_far(booster), cube()
    X = world.domain()
    signs = world.truth(X)[:, None]
    by_code = made.score(coded(CodedTable(cube_bins().encode(ArrayTable(X)), cube_bins()), signs))
    by_value = made.score(coded(ArrayTable(X), signs))
    np.testing.assert_array_equal(by_code.margins, by_value.margins)
    np.testing.assert_array_equal(by_code.chances, by_value.chances)
    scores = made.vote().scores(ArrayTable(X))
    np.testing.assert_array_equal(by_value.margins[:, 0], scores * signs[:, 0])


@EACH_BOOSTER
def test_a_wrong_row_weighs_its_part(booster: FilteringBooster[Any]) -> None:
    """error ≤ factor · mean weight, point by point, whatever the votes."""
    for seed in range(20):
        made, world = vote_so_far(booster, rounds=seed, seed=seed), cube()
        X = world.domain()
        stands = made.score(coded(ArrayTable(X), world.truth(X)[:, None]))
        assert stands.chances.shape == (len(X),)
        assert (stands.chances >= 0).all()
        assert (stands.chances <= 1).all()
        wrong = stands.wrong
        if booster.error_factor:
            assert (booster.error_factor * stands.chances[wrong] >= 1).all()


def test_a_path_is_followed_rule_by_rule() -> None:
    booster = Projection(edge=0.4, epsilon=0.3)
    made, world = vote_so_far(booster, rounds=7), cube()
    X = world.domain()
    y = world.truth(X)
    path = np.full(len(X), np.log(0.3))
    for rule, memory in zip(made.rules, made.memories, strict=True):
        assert isinstance(rule, StumpRule)
        said = np.where(X[:, rule.feature] > 0.5, rule.above, -rule.above)
        path = np.minimum(path - booster.rate * said * y + memory[0], 0.0)
    stands = made.score(coded(ArrayTable(X), y[:, None]))
    assert stands.path is not None
    np.testing.assert_allclose(stands.path[:, 0], path, rtol=0, atol=1e-12)
    np.testing.assert_allclose(stands.chances, np.exp(path), rtol=1e-12)


def test_ties_are_wrong() -> None:
    one = np.array([[1], [1], [1]], dtype=np.int8)
    assert _wrong(np.array([[0.0], [-1.0], [0.5]]), one) == [True, True, False]
    signs = np.array([[1, -1, -1]] * 4, dtype=np.int8)
    scores = np.array([[1.0, 0, 0], [1.0, 1.0, 0], [0.5, 1.0, 0], [0.0, 0.0, 0.0]])
    assert _wrong(scores * signs, signs) == [False, True, True, True]


def _wrong(margins: Floats, signs: Signs) -> list[bool]:
    rows, ones = coded(ArrayTable(np.zeros((len(signs), 1))), signs), np.ones(len(signs))
    scored = ScoredBatch(rows.table, rows.signs, None, rows.rows, margins, ones, ones, None)
    return [bool(row) for row in scored.wrong]


def test_three_classes_weigh_what_softmax_says() -> None:
    bins = cube_bins()
    made = VoteSoFar(Logit(), bins, 3, cells=True)
    made.add(TreeRule.constant(bins, np.array([0.5, -0.25, -0.25])), 1.0, [])
    signs = np.array([[1, -1, -1], [-1, 1, -1]], dtype=np.int8)
    stands = made.score(coded(ArrayTable(cube().domain()[:2]), signs))
    p = np.exp([0.5, -0.25, -0.25]) / np.exp([0.5, -0.25, -0.25]).sum()
    np.testing.assert_allclose(stands.chances, [1 - p[0], 1 - p[1]])
    assert stands.wrong.tolist() == [False, True]
