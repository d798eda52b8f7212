"""Samples: what they hold and what they make on demand."""

from __future__ import annotations

import numpy as np

from pacboost.samples.bins import fit_bins
from pacboost.samples.sample import Sample, unlabelled
from pacboost.sources.arrays import ArrayTable

VALUES = np.array([[1.0, 5.0], [2.0, np.nan], [3.0, 6.0]])
SIGNS = np.array([[1], [-1], [1]], dtype=np.int8)


def test_codes_are_those_of_the_bins_and_made_once() -> None:
    table = ArrayTable(VALUES)
    bins = fit_bins(table)
    sample = Sample(table, SIGNS, bins=bins)
    assert sample.codes is not None
    np.testing.assert_array_equal(sample.codes, bins.encode(table))
    assert sample.codes is sample.codes


def test_without_bins_there_are_no_codes() -> None:
    assert Sample(ArrayTable(VALUES), SIGNS).codes is None


def test_rows_are_those_of_the_table() -> None:
    sample = Sample(ArrayTable(VALUES), SIGNS)
    assert sample.n_rows == 3
    np.testing.assert_array_equal(sample.rows, VALUES)


def test_all_rows_weigh_the_same_unless_told_otherwise() -> None:
    assert Sample(ArrayTable(VALUES), SIGNS).base.tolist() == [1.0]


def test_an_unlabelled_sample_has_rows_but_no_signs() -> None:
    sample = unlabelled(ArrayTable(VALUES))
    assert sample.n_rows == 3
    assert sample.signs.shape == (3, 0)
    assert sample.codes is None
