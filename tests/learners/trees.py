"""Samples of numbers and categories, and equality of trees."""

from dataclasses import fields

import numpy as np

from pacboost.hypotheses.tree import TreeRule
from pacboost.samples.bins import fit_bins
from pacboost.samples.sample import Sample
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.levels import Levels


def mixed_sample(
    generator: np.random.Generator,
    rows: int,
    numbers: int,
    levels: list[int],
    missing: float = 0.0,
    outputs: int = 1,
) -> Sample:
    """Few distinct numbers, and categories; the signs depend on the first column of each kind."""
    columns = [generator.integers(0, 7, rows).astype(np.float64) for _ in range(numbers)]
    columns += [generator.integers(count, size=rows).astype(np.float64) for count in levels]
    X = np.column_stack(columns)
    score = (X[:, 0] > 3) * 1.0 + (X[:, -1] % 3 == 1) - 0.8
    signs = np.where(score[:, None] + generator.normal(size=(rows, outputs)) > 0, 1, -1)
    X[generator.random(X.shape) < missing] = np.nan
    named = {numbers + k: tuple(range(count)) for k, count in enumerate(levels)}
    table = ArrayTable(X, levels=Levels(named))
    return Sample(table, signs.astype(np.int8), bins=fit_bins(table))


def same(one: TreeRule, other: TreeRule) -> bool:
    names = [field.name for field in fields(one) if field.name not in ("bins", "slope")]
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names)
