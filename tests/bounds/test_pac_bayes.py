"""PAC-Bayes bounds of a vote: vectors, identities, coverage where they are tight, and twins."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray

from pacboost.bounds.out_of_bag import (
    c_bound,
    cantelli_bound,
    cantelli_mu,
    first_order_bound,
    pac_bayes_kl_bound,
    tandem_bound,
    vote_certificate,
)
from pacboost.errors import ParameterError
from pacboost.theory.nvote import (
    divergence,
)
from tests.bounds.coverage import check_coverage, check_rejected, out_of_bag_sizes

RUNS, DELTA = 2000, 0.05


def test_vectors() -> None:
    assert tandem_bound(0.08, 1000, 0.0, 0.05) == pytest.approx(0.465640, abs=5e-7)
    assert tandem_bound(0.08, 1000, 1.0, 0.05) == pytest.approx(0.487115, abs=5e-7)
    assert first_order_bound(0.2, 1000, 2.0, 0.05) == pytest.approx(0.515081, abs=5e-7)
    assert cantelli_bound(0.2, 0.08, 1000, 1000, 0.0, 0.05) == pytest.approx(0.473326, abs=5e-7)


@pytest.mark.parametrize(
    ("rows", "first", "tandem", "cantelli", "c"),
    [(10**5, 0.418, 0.360, 0.361, 0.387), (10**6, 0.406, 0.333, 0.327, 0.335)],
)
def test_table_of_bagged_votes(
    rows: int, first: float, tandem: float, cantelli: float, c: float
) -> None:
    """Gibbs 0.20 and tandem 0.08 out of bag; sizes in the table are rounded, so is the match."""
    n, pairs = round(0.36 * rows), round(0.13 * rows)
    assert first_order_bound(0.2, n, 0.0, 0.05) == pytest.approx(first, abs=1e-3)
    assert tandem_bound(0.08, pairs, 0.0, 0.05) == pytest.approx(tandem, abs=1e-3)
    assert cantelli_bound(0.2, 0.08, n, pairs, 0.0, 0.05) == pytest.approx(cantelli, abs=1e-3)
    assert c_bound(0.2, 0.24, n, pairs, 0.0, 0.05) == pytest.approx(c, abs=1e-3)


def test_the_closed_form_covers_the_exact_constant() -> None:
    """ξ(n) = Σ_j n!/((n-j)! n^j) ≤ 2√n, and (2√m)^(n/m) ≤ 2√n for m ≥ n, as out of bag needs."""

    def xi(n: int) -> float:
        return 1 + float(np.cumprod(1 - np.arange(n) / n).sum())

    assert xi(1000) == pytest.approx(40.303, abs=5e-4)
    assert all(xi(n) <= 2 * math.sqrt(n) for n in range(1, 2000))
    for n in range(1, 60):
        powers = [(2 * math.sqrt(m)) ** (n / m) for m in range(n, 300)]
        assert all(later <= earlier * (1 + 1e-15) for earlier, later in pairwise(powers))


def test_rounds_outward_but_not_far() -> None:
    """Against the same formulas in 40 digits."""

    def end(q: float, n: int, cost: float, start: float) -> mpmath.mpf:
        budget = (cost + mpmath.log(2 * mpmath.sqrt(n) / mpmath.mpf("0.025"))) / n
        gap = lambda p: q * mpmath.log(q / p) + (1 - q) * mpmath.log((1 - q) / (1 - p)) - budget  # noqa: E731
        return mpmath.findroot(gap, (start, (start + q) / 2), solver="anderson", tol=1e-60)

    with mpmath.workdps(40):
        for n in (500, 10**5):
            spread = 3 / math.sqrt(n)
            single = end(0.2, n, 1.0, 0.2 + spread)
            dis = end(0.24, n, 2.0, 0.24 - spread)
            exact = 1 - (1 - 2 * single) ** 2 / (1 - 2 * dis)
            assert exact <= c_bound(0.2, 0.24, n, n, 1.0, 0.05) <= exact * (1 + 1e-10)
            both, low = end(0.08, n, 2.0, 0.08 + spread), end(0.2, n, 1.0, 0.2 - spread)
            mu = max(0, (low / 2 - both) / (0.5 - low))
            exact = (both - 2 * mu * low + mu**2) / (0.5 - mu) ** 2
            assert exact <= cantelli_bound(0.2, 0.08, n, n, 1.0, 0.05) <= exact * (1 + 1e-10)


def test_cantelli_at_its_best_is_the_c_bound() -> None:
    for gibbs in np.linspace(0.02, 0.48, 24):
        for tandem in np.linspace(gibbs**2 * 1.001, gibbs / 2, 12):
            mu = cantelli_mu(gibbs, tandem)
            value = (tandem - 2 * mu * gibbs + mu * mu) / (0.5 - mu) ** 2
            dis = 2 * (gibbs - tandem)
            assert value == pytest.approx(1 - (1 - 2 * gibbs) ** 2 / (1 - 2 * dis), abs=1e-12)
            assert value == pytest.approx((tandem - gibbs**2) / (tandem - gibbs + 0.25), abs=1e-12)
            others = np.linspace(0, 0.49, 99)
            assert value <= ((tandem - 2 * others * gibbs + others**2) / (0.5 - others) ** 2).min()


def test_cantelli_stays_safe_where_numbers_contradict() -> None:
    """L₂ < L² or L ≥ ½ from different rows: μ = 0, which is the tandem bound."""
    assert cantelli_mu(0.4, 0.1) == 0
    assert cantelli_mu(0.6, 0.5) == 0
    assert cantelli_mu(0.2, 0.15) == 0
    value = cantelli_bound(0.45, 0.05, 10**6, 10**6, 0.0, 0.05)
    assert value == pytest.approx(tandem_bound(0.05, 10**6, 0.0, 0.025))


def test_c_bound_is_one_unless_voters_beat_a_coin() -> None:
    assert c_bound(0.49, 0.3, 100, 100, 0.0, 0.05) == 1
    assert c_bound(0.1, 0.9, 10**6, 10**6, 0.0, 0.05) == 1


def test_c_bound_may_fall_as_the_mean_error_grows() -> None:
    """At tandem 0.08 it goes from .308 to .287: so no test asks for monotony in the losses."""
    oracle = [(0.08 - gibbs**2) / (0.08 - gibbs + 0.25) for gibbs in (0.20, 0.22)]
    assert oracle == pytest.approx([0.308, 0.287], abs=5e-4)


def test_divergence() -> None:
    assert divergence([1.0, 1.0]) == pytest.approx(0, abs=1e-12)
    assert divergence([1.0, 0.0], [0.25, 0.75]) == pytest.approx(math.log(4))
    assert divergence([0.0, 0.0, 7.0]) >= math.log(3)


@pytest.mark.parametrize("weights", [[], [0.0, 0.0], [1.0, -1.0], [1.0, math.nan]])
def test_divergence_refuses_bad_votes(weights: list[float]) -> None:
    with pytest.raises(ParameterError, match="finite weights"):
        divergence(weights)


def test_divergence_refuses_bad_priors() -> None:
    with pytest.raises(ParameterError, match="2 votes but 3"):
        divergence([1.0, 1.0], [1.0, 1.0, 1.0])
    with pytest.raises(ParameterError, match="prior is 0"):
        divergence([1.0, 1.0], [1.0, 0.0])


def test_out_of_bag_sizes_of_bootstrap() -> None:
    generator = np.random.default_rng(1)
    bags = np.zeros((20, 5000), dtype=bool)
    for bag in bags:
        bag[generator.integers(5000, size=5000)] = True
    fewest, pair = out_of_bag_sizes(bags)
    assert fewest == pytest.approx(5000 / math.e, rel=0.05)
    assert pair == pytest.approx(5000 / math.e**2, rel=0.1)


def test_bad_numbers() -> None:
    with pytest.raises(ParameterError, match="gibbs is 1"):
        pac_bayes_kl_bound(1.5, 10, 0.0, 0.05)
    with pytest.raises(ParameterError, match="divergence is -1"):
        tandem_bound(0.1, 10, -0.5, 0.05)
    with pytest.raises(ParameterError, match="there are first_order_bound"):
        vote_certificate("oob_vote", n=10, delta=0.05)


def two_voters_that_never_err_together(n: int = 500, error: float = 0.2) -> NDArray[np.int64]:
    """Mistakes of the vote of two equal voters; where one errs there is a tie, which is an error.

    The vote's error is exactly 2L = 4L₂ = the C-bound: every inequality here is an equality.
    """
    return np.random.default_rng(7).binomial(n, error, size=RUNS)


def test_coverage_where_all_four_bounds_are_equalities() -> None:
    mistakes = two_voters_that_never_err_together()
    forms: dict[str, Callable[[float], float]] = {
        "PAC-Bayes first order": lambda r: first_order_bound(r / 2, 500, 0.0, DELTA),
        "PAC-Bayes tandem": lambda r: tandem_bound(r / 4, 500, 0.0, DELTA),
        "PAC-Bayes C-bound": lambda r: c_bound(r / 2, r / 2, 500, 500, 0.0, DELTA),
        "PAC-Bayes Chebyshev-Cantelli": lambda r: cantelli_bound(
            r / 2, r / 4, 500, 500, 0.0, DELTA
        ),
    }
    for name, form in forms.items():
        values = {k: form(int(k) / 500) for k in np.unique(mistakes)}
        check_coverage(name, sum(values[k] < 0.2 for k in mistakes), RUNS, DELTA)


def test_broken_twins_are_rejected() -> None:
    mistakes = two_voters_that_never_err_together()
    twins: dict[str, Callable[[float], float]] = {
        "first order without the 2": lambda r: pac_bayes_kl_bound(r / 2, 500, 0.0, DELTA),
        "tandem with 2 for 4": lambda r: tandem_bound(r / 4, 500, 0.0, DELTA) / 2,
        "C-bound of the measured losses": lambda r: 1 - (1 - r) ** 2 / (1 - r),
        "Chebyshev-Cantelli of the measured losses": lambda r: (
            (r / 4 - cantelli_mu(r / 2, r / 4) * r + cantelli_mu(r / 2, r / 4) ** 2)
            / (0.5 - cantelli_mu(r / 2, r / 4)) ** 2
        ),
    }
    for name, form in twins.items():
        values = {k: form(int(k) / 500) for k in np.unique(mistakes)}
        check_rejected(name, sum(values[k] < 0.2 for k in mistakes), RUNS, DELTA)


def bagged_noise(
    generator: np.random.Generator, n: int, voters: int, minus: float
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Bags, and mistakes of voters that know their bag by heart and answer +1 elsewhere.

    No row is ever drawn twice, so on a new example the vote says +1 and errs exactly if y = -1.
    """
    bags = np.zeros((voters, n), dtype=bool)
    for bag in bags:
        bag[generator.integers(n, size=n)] = True
    return bags, ~bags & (generator.random(n) < minus)


def test_tandem_on_bagged_noise() -> None:
    """Out of bag it holds; counted on all rows, bagged memory makes noise look learnable."""
    generator = np.random.default_rng(11)
    runs, held, broken = 200, 0, 0
    for _ in range(runs):
        bags, wrong = bagged_noise(generator, 600, 8, 0.1)
        outside = (~bags).astype(float)
        both = (wrong.astype(float) @ wrong.T.astype(float)) / (outside @ outside.T)
        _, pairs = out_of_bag_sizes(bags)
        held += tandem_bound(float(both.mean()), pairs, 0.0, DELTA) < 0.1
        bags, wrong = bagged_noise(generator, 2000, 8, 0.5)
        everywhere = float((wrong.mean(axis=0) ** 2).mean())
        broken += tandem_bound(everywhere, 2000, 0.0, DELTA) < 0.5
    check_coverage("tandem out of bag on noise", held, runs, DELTA)
    check_rejected("tandem on the rows of the bags", broken, runs, DELTA)
