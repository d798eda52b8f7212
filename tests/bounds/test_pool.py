"""The hypergeometric bound on the mistakes in a pool, exactly and on drawn pools."""

import numpy as np
import pytest
from scipy.stats import hypergeom

import pacboost
from pacboost.bounds import holdout, pool
from tests.bounds.coverage import check_coverage, check_rejected

DELTA = 0.1


@pytest.mark.parametrize("mistaken", [0, 3, 40, 200])
def test_the_share_is_covered_exactly(mistaken: int) -> None:
    """No simulation: the chance of every count is known."""
    rows, n = 400, 60
    chances = hypergeom(rows, mistaken, n).pmf(np.arange(n + 1))
    bounds = [pool.mistaken_share(k, n, rows, DELTA) for k in range(n + 1)]
    missed = sum(p for p, b in zip(chances, bounds, strict=True) if b < mistaken / rows)
    assert missed <= DELTA


def test_all_rows_drawn_leave_nothing_to_guess() -> None:
    assert pool.mistaken_share(3, 100, 100, DELTA) == pytest.approx(0.03)


def test_a_pool_is_known_better_than_new_rows() -> None:
    assert pool.mistaken_share(10, 100, 150, DELTA) < holdout.clopper_pearson(10, 100, DELTA)
    large = pool.mistaken_share(10, 100, 1_000_000, DELTA)
    assert large == pytest.approx(holdout.clopper_pearson(10, 100, DELTA), abs=1e-4)


def test_rows_that_somebody_volunteered_are_rejected() -> None:
    """The twin takes the first rows of a pool whose easy rows come first."""
    generator = np.random.default_rng(0)
    wrong = np.sort(generator.random(500) < 0.2)
    runs = 100

    def missed(draw: bool) -> int:
        count = 0
        for _ in range(runs):
            rows = generator.choice(500, 80, replace=False) if draw else np.arange(80)
            bound = pool.mistaken_share(int(wrong[rows].sum()), 80, 500, DELTA)
            count += bound < wrong.mean()
        return count

    check_coverage("pool", missed(draw=True), runs, DELTA)
    check_rejected("pool, volunteered rows", missed(draw=False), runs, DELTA)


def test_a_certificate_is_recomputed() -> None:
    made = pool.certificate(3, 100, 5000, DELTA)
    assert made.of_what == "this pool"
    assert all(check.holds for check in pacboost.verify(made))
