"""What a plain world needs: the search, and worlds whose need is known in closed form."""

from __future__ import annotations

import math

import pytest

from pacboost.theory import needs
from pacboost.theory.sample_sizes import examples_for_sharp


@pytest.mark.parametrize("least", [1, 2, 3, 7, 8, 9, 100, 1023])
def test_smallest(least: int) -> None:
    assert needs.smallest(lambda m: m >= least, 10**6) == least


def test_smallest_gives_up() -> None:
    asked = []

    def never(m: int) -> bool:
        asked.append(m)
        return False

    assert needs.smallest(never, 1000) is None
    assert max(asked) <= 1024


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 0.05), (0.05, 0.1), (0.3, 0.01)])
def test_one_side(epsilon: float, delta: float) -> None:
    """The largest of m uniform points leaves more than ε with probability (1 - ε)^m."""
    exact = math.log(delta) / math.log1p(-epsilon)
    found = needs.tight_fit(epsilon, delta, 1, 10**6)
    assert found is not None
    assert found == pytest.approx(exact, rel=0.15, abs=2)


@pytest.mark.parametrize("dimensions", [1, 2, 5])
def test_a_full_box_needs_what_the_sharp_bound_says(dimensions: int) -> None:
    """The sharp bound is nearly exact for uniform points that fill a box."""
    bound = examples_for_sharp(0.1, 0.05, dimensions)
    found = needs.tight_fit(0.1, 0.05, 2 * dimensions, 10**6)
    assert found is not None
    assert 0.85 * bound <= found <= 1.06 * bound


def test_odd_sides_lie_between() -> None:
    found = [needs.tight_fit(0.1, 0.05, sides, 10**6) or 0 for sides in (2, 3, 4)]
    assert found[0] < found[1] < found[2]


def test_a_fine_grid_of_thresholds() -> None:
    """Two sides, each missed by m points with probability (1 - ε)^m."""
    exact = math.log(0.05 / 2) / math.log1p(-0.1)
    for log_size in (10.0, 100.0, 1e30):
        found = needs.thresholds_on_a_grid(0.1, 0.05, log_size, 10**6)
        assert found == pytest.approx(exact, rel=0.15)


def test_nothing_to_learn() -> None:
    assert needs.thresholds_on_a_grid(0.1, 0.05, 0.0, 10**6) == 1


def test_too_few_allowed() -> None:
    assert needs.tight_fit(0.01, 0.05, 4, 10) is None
    assert needs.thresholds_on_a_grid(0.01, 0.05, 20.0, 10) is None


def test_needs_repeat_themselves() -> None:
    assert needs.tight_fit(0.1, 0.05, 4, 10**6) == needs.tight_fit(0.1, 0.05, 4, 10**6)


@pytest.mark.parametrize(("edge", "error"), [(0.2, 0.0), (0.5, 0.0), (0.3, 0.1)])
def test_an_adversary_needs_no_more_than_the_theorem(edge: float, error: float) -> None:
    found = needs.adversarial_rounds(edge, 200, error)
    most = 2 * math.log(200 if error == 0 else 1 / error) / -math.log1p(-(edge**2))
    assert found is not None
    assert 1 < found <= math.ceil(most) + 1
