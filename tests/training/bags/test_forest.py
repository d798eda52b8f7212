"""Numbers that trees of a forest hold."""

from __future__ import annotations

import numpy as np
import pytest

from pacboost.samples.bins import fit_bins
from pacboost.samples.sample import Sample
from pacboost.sources.arrays import ArrayTable
from pacboost.training.bags.forest import ForestBags, TreeLimits, TreeMaker


@pytest.mark.parametrize("scale", [1e-90, 1.0, 1e90])
def test_numbers_of_any_size_are_predicted_to_seven_digits(scale: float) -> None:
    generator = np.random.default_rng(0)
    X = generator.normal(size=(300, 2))
    targets = (X[:, 0] + 100) * scale
    table = ArrayTable(X)
    sample = Sample(table, np.ones((300, 1), np.int8), bins=fit_bins(table))
    maker = TreeMaker(sample, targets, 0, TreeLimits(2))
    tree = maker.make(ForestBags(np.arange(300), 2, 0, 300, replacement=False).bag(0))
    codes = tree.answers(sample)
    assert np.abs(codes - targets).max() < 0.1 * scale  # bins hold two rows at the most
    assert np.median(np.abs(codes - targets)) < 1e-7 * 100 * scale
