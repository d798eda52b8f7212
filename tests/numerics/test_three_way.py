"""The map g: its values, the way back, and that no three rules exceed it."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given
from hypothesis import strategies as st

from pacboost.errors import ParameterError
from pacboost.numerics.growth import majority_error, part_error, targets
from tests.examples import examples

WHERE = st.lists(st.sampled_from([0, 0, 0, 0, 1, 1, 2, 3, 4, 5, 6, 7]), min_size=6, max_size=16)
"""Each point of a domain as three bits: which of the three rules are wrong on it."""


def errors(
    wrong: list[int], weights: list[int], *, balanced: bool = True
) -> tuple[list[Fraction], Fraction] | None:
    """Exactly: what each rule errs on under its own distribution, and their majority under D."""
    first, second, third = ([(w >> k) & 1 for w in wrong] for k in range(3))
    total = Fraction(sum(weights))
    mistakes = sum(w for w, one in zip(weights, first, strict=True) if one)
    apart = [int(one != two) for one, two in zip(first, second, strict=True)]
    quarrels = sum(w for w, bit in zip(weights, apart, strict=True) if bit)
    if mistakes in (0, total) or quarrels == 0:
        return None
    halves = [
        Fraction(w, 2) / (mistakes if one else total - mistakes) if balanced else w / total
        for w, one in zip(weights, first, strict=True)
    ]
    part = [
        mistakes / total,
        sum((h for h, two in zip(halves, second, strict=True) if two), Fraction(0)),
        Fraction(
            sum(w for w, b, t in zip(weights, apart, third, strict=True) if b and t), quarrels
        ),
    ]
    both = sum(w for w, bits in zip(weights, wrong, strict=True) if bits.bit_count() >= 2)
    return part, both / total


@examples(100, suppress_health_check=[HealthCheck.filter_too_much])
@given(WHERE, st.data())
def test_no_triple_exceeds_it(wrong: list[int], data: st.DataObject) -> None:
    weights = data.draw(st.lists(st.integers(1, 50), min_size=len(wrong), max_size=len(wrong)))
    result = errors(wrong, weights)
    assume(result is not None)
    assert result is not None
    part, majority = result
    total = sum(weights)
    quarrels = sum(w for w, bits in zip(weights, wrong, strict=True) if bits & 3 in (1, 2))
    assert Fraction(quarrels, total) >= part[0] * (1 - 2 * part[1])  # EX3 is not rarer than that
    x = max(part)
    assume(x <= Fraction(1, 2))
    assert majority <= 3 * x**2 - 2 * x**3


def test_random_triples_that_meet_the_constraints_do_not_exceed_it() -> None:
    """All that counts are the weights of the eight patterns of right and wrong."""
    generator = np.random.default_rng(0)
    masses = generator.dirichlet(np.full(8, 0.3), size=400_000)
    bits = np.array([[(w >> k) & 1 for w in range(8)] for k in range(3)], dtype=np.float64)
    e = masses @ bits[0]
    p, q = masses @ (bits[0] * bits[1]), masses @ ((1 - bits[0]) * bits[1])
    apart = np.abs(bits[0] - bits[1])
    with np.errstate(divide="ignore", invalid="ignore"):
        second = p / (2 * e) + q / (2 * (1 - e))
        third = masses @ (apart * bits[2]) / (masses @ apart)
    x = np.maximum(np.maximum(e, second), third)
    usable = x <= 0.5
    assert usable.sum() > 20_000
    majority = masses @ (bits.sum(axis=0) >= 2)
    bound = 3 * x**2 - 2 * x**3
    assert (majority[usable] <= bound[usable] + 1e-12).all()
    assert (majority[usable] / bound[usable]).max() > 0.9


def test_it_is_attained() -> None:
    # e = 1/4, p = 0, q = 2·(1/4)·(3/4) = 3/8, and the third wrong on a quarter of the quarrels
    wrong, weights = [0b001, 0b101, 0b010, 0b110, 0b000], [6, 2, 9, 3, 12]
    result = errors(wrong, weights)
    assert result is not None
    x = Fraction(1, 4)
    assert result == ([x, x, x], 3 * x**2 - 2 * x**3)


def test_without_the_second_filter_it_is_exceeded() -> None:
    """The broken twin: h2 that repeats h1 is as good under D, but the majority gains nothing."""
    wrong, weights = [0b011, 0b000, 0b010, 0b001], [198, 798, 2, 2]
    result = errors(wrong, weights, balanced=False)
    assert result is not None
    part, majority = result
    assert majority > 3 * max(part) ** 2 - 2 * max(part) ** 3
    balanced = errors(wrong, weights)
    assert balanced is not None
    assert balanced[0][1] > Fraction(49, 100)


@given(st.floats(0, 0.5))
def test_there_and_back(x: float) -> None:
    assert majority_error(part_error(x)) == pytest.approx(x, abs=1e-12)
    assert part_error(majority_error(x)) == pytest.approx(x, abs=1e-7)  # g is flat at 0


@pytest.mark.parametrize("edge", [0.02, 0.1, 0.5])
def test_edges_grow_by_the_factor_that_is_claimed(edge: float) -> None:
    gamma = edge / 2
    after = 0.5 - majority_error(0.5 - gamma)
    assert after == pytest.approx(gamma * (1.5 - 2 * gamma**2), rel=1e-12)
    assert after >= 11 / 8 * gamma


def test_targets_are_one_map_apart() -> None:
    aims = targets(0.01, 0.45)
    assert aims[-1] == pytest.approx(0.01, rel=1e-9)
    assert aims[0] >= 0.45 > aims[1]
    for part, complete in pairwise(aims):
        assert majority_error(part) == complete


@pytest.mark.parametrize(("epsilon", "weak"), [(0.0, 0.4), (0.5, 0.4), (0.1, 0.5), (-1, 0.4)])
def test_targets_out_of_range(epsilon: float, weak: float) -> None:
    with pytest.raises(ParameterError, match="must lie in"):
        targets(epsilon, weak)
