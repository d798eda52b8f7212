"""Rows become codes and signs; labels that nobody named are refused by place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pacboost.errors import DataError
from pacboost.samples.bins import fit_bins
from pacboost.samples.coded import CodedTable
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.oracles.arrays import ArrayOracle
from pacboost.training.filtering.drawing.row_encoder import EncodedRows, RowEncoder

X = np.arange(12.0).reshape(6, 2)


def read(labels: Any, classes: Any, *, codes: bool = True) -> EncodedRows:
    oracle = ArrayOracle(X, np.asarray(labels))
    bins = fit_bins(ArrayTable(X), 255) if codes else None
    return RowEncoder(oracle, np.asarray(classes), bins).read(oracle.take(np.arange(6)))


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
    with pytest.raises(DataError, match=rf"row \d: has the label {stranger}, which is not among"):
        read(labels, classes)


@pytest.mark.parametrize("codes", [True, False])
def test_parts_can_be_taken_and_put_together_again(codes: bool) -> None:
    got = read([2, 0, 1, 1, 2, 0], [0, 1, 2], codes=codes)
    back = EncodedRows.join([got.take(np.array([4, 5])), got.take(np.arange(6) < 4)])
    order = np.array([4, 5, 0, 1, 2, 3])
    assert back.rows.tolist() == order.tolist()
    np.testing.assert_array_equal(back.table.rows(), got.table.rows()[order])
    np.testing.assert_array_equal(back.signs, got.signs[order])


@pytest.mark.parametrize("classes", [2, 3])
def test_arrays_round_trip(classes: int) -> None:
    got = read(np.arange(6) % classes, np.arange(classes))
    assert isinstance(got.table, CodedTable)
    back = EncodedRows.from_arrays(got.to_arrays(), got.table.bins)
    np.testing.assert_array_equal(back.table.rows(), got.table.rows())
    np.testing.assert_array_equal(back.signs, got.signs)
    assert (back.labels is None) == (classes == 2)


def test_raw_rows_have_no_place_in_a_checkpoint() -> None:
    with pytest.raises(TypeError, match="raw rows"):
        read([0, 1] * 3, [0, 1], codes=False).to_arrays()
    with pytest.raises(TypeError, match="bins"):
        EncodedRows.from_arrays(read([0, 1] * 3, [0, 1]).to_arrays(), None)
