"""Products over rows: exact, so the same in any order."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacboost.numerics.soft_margin import (
    CELLS_PER_BLOCK,
    KINDS_PER_STEP,
    Balance,
    Columns,
    Floats,
    _program,
    edges_of,
    margins_of,
    products_of,
    soft_margin,
    whole_votes,
    whole_weights,
)
from tests.boosters.margins import largest_margin
from tests.examples import examples
from tests.numerics.votes import drawn_rules, shares, solved


def drawn(rules: int, kinds: int, seed: int = 0) -> Columns:
    generator = np.random.default_rng(seed)
    return generator.integers(-1, 2, size=(rules, kinds)).astype(np.int8)


def fractions(values: Floats) -> list[Fraction]:
    return [Fraction(value) for value in values.tolist()]


@pytest.mark.parametrize(("rules", "kinds"), [(1, 1), (3, 200), (40, 60)])
def test_nothing_is_rounded(rules: int, kinds: int) -> None:
    columns, generator = drawn(rules, kinds), np.random.default_rng(1)
    votes = whole_votes(generator.dirichlet(np.full(rules, 0.3)))
    weights = whole_weights(generator.dirichlet(np.full(kinds, 0.3)))
    v, d = fractions(votes), fractions(weights)
    lines = [[int(a) for a in line] for line in columns]
    expected = [sum(v[t] * lines[t][i] for t in range(rules)) for i in range(kinds)]
    assert fractions(margins_of(columns, votes)) == expected
    edges = [sum(d[i] * line[i] for i in range(kinds)) for line in lines]
    assert fractions(edges_of(columns, weights)) == edges
    result = products_of(columns, weights)
    for t in range(rules):
        line = [sum(d[i] * lines[t][i] * other[i] for i in range(kinds)) for other in lines]
        assert fractions(result[t]) == line


def test_rows_in_another_order_give_the_same_bits() -> None:
    rules, kinds = 30, CELLS_PER_BLOCK // 10  # several blocks
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


def check(found: Balance, columns: Columns, base: Floats, share: float) -> float:
    """Hold that votes and weights are allowed, and prove each other best."""
    d, votes = found.weights, found.votes
    assert (votes >= 0).all()
    assert votes.sum() == pytest.approx(1, abs=1e-10)
    assert (d >= 0).all()
    assert d.sum() == pytest.approx(1, abs=1e-12)
    if share > 0:
        assert (d <= base / share + 1e-15).all()
    margin = soft_margin(margins_of(columns, votes)[:, None], base, share)
    assert float(edges_of(columns, d).max()) - margin <= 2e-9
    return margin


@given(st.integers(1, 12), st.integers(1, 60), shares, st.integers(0, 2**32 - 1))
@examples(60)
def test_the_plain_program_finds_the_same_margin(
    rules: int, kinds: int, share: float, seed: int
) -> None:
    columns, base = drawn_rules(rules, kinds, seed)
    margin = check(solved(columns, base, share), columns, base, share)
    assert margin == pytest.approx(largest_margin(columns, base, share), abs=1e-7)


@pytest.mark.parametrize("share", [0.0, 0.05, 0.3, 0.6])
def test_with_more_rows_than_a_program_takes(share: float) -> None:
    columns, base = drawn_rules(20, 4 * KINDS_PER_STEP, seed=3, lean=0.4)
    margin = check(solved(columns, base, share), columns, base, share)
    assert margin == pytest.approx(largest_margin(columns, base, share), abs=1e-7)


def test_rows_that_were_left_out_are_missed() -> None:
    """The program of the rows nearest to the threshold alone is no answer."""
    columns, base = drawn_rules(20, 4 * KINDS_PER_STEP, seed=3, lean=0.4)
    some = np.argsort(columns[0], kind="stable")[:KINDS_PER_STEP]
    part = base[some] / base[some].sum()
    votes = solved(np.ascontiguousarray(columns[:, some]), whole_weights(part), 0.3).votes
    with pytest.raises(AssertionError):
        check(Balance(votes, solved(columns, base, 0.3).weights, 0.0), columns, base, 0.3)


@given(st.integers(1, 30), shares, st.integers(0, 2**32 - 1))
@examples(60)
def test_two_rules_by_trying_all_votes(kinds: int, share: float, seed: int) -> None:
    """The margin is concave and piecewise straight in the vote, with corners where margins meet."""
    columns, base = drawn_rules(2, kinds, seed)
    margin = check(solved(columns, base, share), columns, base, share)
    jumps = columns[0].astype(float) - columns[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        meet = (columns[1] - columns[1][:, None]) / (jumps[:, None] - jumps)
    corners = np.unique(np.append(meet[(meet > 0) & (meet < 1)], [0.0, 1.0]))
    margins = corners[:, None] * columns[0] + (1 - corners[:, None]) * columns[1]
    best = max(soft_margin(line[:, None], base, share) for line in margins)
    assert margin == pytest.approx(best, abs=1e-9)


def test_many_equal_rows_have_one_answer() -> None:
    """All rows tie at the threshold: the hardest case for a program that looks at few."""
    columns = np.ones((2, 3000), dtype=np.int8)
    columns[0, :300] = -1
    columns[1, 2000:] = -1
    base = whole_weights(np.full(3000, 1 / 3000))
    margin = check(solved(columns, base, 0.4), columns, base, 0.4)
    assert margin == pytest.approx(largest_margin(columns, base, 0.4), abs=1e-7)


def test_what_other_rows_lack_is_at_least_the_gap() -> None:
    """With one program of some rows; it is more where the threshold is not the best."""
    larger = 0
    for seed in range(40):
        columns, base = drawn_rules(3, 30, seed)
        cap, rows = np.minimum(base / 0.3, 1.0), np.arange(10)
        d, votes, rho = _program(columns, cap, base, rows)
        margins = margins_of(columns, votes)
        lack = np.maximum(rho - margins, 0) * (cap - d) + np.maximum(margins - rho, 0) * d
        gap = float(edges_of(columns, d).max()) - soft_margin(margins[:, None], base, 0.3)
        assert gap <= lack.sum() + 1e-7
        larger += gap < lack.sum() - 1e-6
    assert larger > 0
