"""Products over rows: exact, so the same in any order."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from pacboost.numerics import soft_margin
from pacboost.numerics.soft_margin import (
    CELLS_AT_ONCE,
    edges_of,
    margins_of,
    products_of,
    whole_votes,
    whole_weights,
)

Columns = soft_margin.Columns


def drawn(rules: int, kinds: int, seed: int = 0) -> Columns:
    generator = np.random.default_rng(seed)
    return generator.integers(-1, 2, size=(rules, kinds)).astype(np.int8)


def fractions(values: soft_margin.Floats) -> list[Fraction]:
    return [Fraction(value) for value in values.tolist()]


@pytest.mark.parametrize(("rules", "kinds"), [(1, 1), (3, 200), (40, 60)])
def test_nothing_is_rounded(rules: int, kinds: int) -> None:
    columns, generator = drawn(rules, kinds), np.random.default_rng(1)
    votes = whole_votes(generator.dirichlet(np.full(rules, 0.3)))
    weights = whole_weights(generator.dirichlet(np.full(kinds, 0.3)))
    v, d = fractions(votes), fractions(weights)
    lines = [[int(a) for a in line] for line in columns]
    wanted = [sum(v[t] * lines[t][i] for t in range(rules)) for i in range(kinds)]
    assert fractions(margins_of(columns, votes)) == wanted
    edges = [sum(d[i] * line[i] for i in range(kinds)) for line in lines]
    assert fractions(edges_of(columns, weights)) == edges
    found = products_of(columns, weights)
    for t in range(rules):
        line = [sum(d[i] * lines[t][i] * other[i] for i in range(kinds)) for other in lines]
        assert fractions(found[t]) == line


def test_rows_in_another_order_give_the_same_bits() -> None:
    rules, kinds = 30, CELLS_AT_ONCE // 10  # several blocks
    columns, generator = drawn(rules, kinds), np.random.default_rng(2)
    weights = whole_weights(generator.dirichlet(np.ones(kinds)))
    order = generator.permutation(kinds)
    turned = np.ascontiguousarray(columns[:, order])
    assert np.array_equal(edges_of(columns, weights), edges_of(turned, weights[order]))
    assert np.array_equal(products_of(columns, weights), products_of(turned, weights[order]))
    votes = whole_votes(generator.dirichlet(np.ones(rules)))
    assert np.array_equal(margins_of(columns, votes)[order], margins_of(turned, votes))


def test_weights_that_are_not_whole_do_not() -> None:
    columns, generator = drawn(5, 100_000), np.random.default_rng(3)
    weights = generator.dirichlet(np.ones(100_000))
    order = generator.permutation(100_000)
    turned = np.ascontiguousarray(columns[:, order])
    with pytest.raises(AssertionError):
        assert np.array_equal(edges_of(columns, weights), edges_of(turned, weights[order]))
