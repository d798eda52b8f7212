"""Anytime bounds: vectors, "ever violated", and the fixed-n bound that must not be watched."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from pacboost.numerics.kl import kl_upper
from pacboost.numerics.sequences import Betting, EmpiricalBernstein
from pacboost.theory.sequence import anytime_kl_bound, bernstein_bound, betting_bound, mixture_bound
from tests.bounds.coverage import check_coverage, check_rejected

ONE_IN_TEN = [10 * i + 1 for i in range(100)]


@pytest.mark.parametrize(
    ("t", "closed", "exact"),
    [
        (1000, 0.139619, 0.13818),
        (10**4, 0.11266, 0.11229),
        (10**5, 0.10417, 0.10407),
        (10**6, 0.10139, 0.10136),
    ],
)
def test_vectors(t: int, closed: float, exact: float) -> None:
    assert anytime_kl_bound(t // 10, t, 0.05) == pytest.approx(closed, abs=5.1e-6)
    assert mixture_bound(t // 10, t, 0.05) == pytest.approx(exact, abs=5.1e-6)


def test_vectors_without_mistakes_and_of_answers_in_order() -> None:
    for t, bound in ((100, 0.058155), (1000, 0.0071173), (10**4, 0.00082906)):
        assert anytime_kl_bound(0, t, 0.05) == pytest.approx(bound, rel=2e-5)
        assert mixture_bound(0, t, 0.05) < bound
    assert bernstein_bound(ONE_IN_TEN, 1000, 0.05) == pytest.approx(0.136791, abs=5e-7)
    # How much is bet is a free choice; with ours the fourth digit differs from the vector's.
    assert betting_bound(ONE_IN_TEN, 1000, 0.05) == pytest.approx(0.13350, abs=5e-4)


def test_the_closed_form_is_never_tighter() -> None:
    for t in (1, 2, 5, 30, 1000):
        for total in np.linspace(0, t, 13):
            exact, closed = mixture_bound(total, t, 0.05), anytime_kl_bound(total, t, 0.05)
            assert exact <= closed * (1 + 1e-11)


def ever_violated(
    bound: Callable[[int, int], float], mean: float, runs: int, steps: int, seed: int
) -> int:
    """How many runs see the bound fall below the true mean at any moment.

    The bound grows with the sum, so at each moment there is a least sum that keeps it valid.
    """
    fewest = np.zeros(steps + 1, dtype=np.int64)
    for t in range(1, steps + 1):
        # From one row to the next the least sum stays, or rises by one.
        fewest[t] = fewest[t - 1]
        while bound(int(fewest[t]), t) < mean:
            fewest[t] += 1
    generator = np.random.default_rng(seed)
    sums = np.cumsum(generator.random((runs, steps)) < mean, axis=1)
    return int((sums < fewest[1:]).any(axis=1).sum())


def chernoff(total: int, t: int) -> float:
    return kl_upper(total / t, math.log(1 / 0.05) / t)


@pytest.mark.parametrize("mean", [0.1, 0.5])
def test_ever_violated(mean: float) -> None:
    runs, steps = 1000, 1500
    exact = ever_violated(lambda s, t: mixture_bound(s, t, 0.05), mean, runs, steps, 23)
    check_coverage(f"mixture sequence, ever, mean {mean}", exact, runs, 0.05)
    closed = ever_violated(lambda s, t: anytime_kl_bound(s, t, 0.05), mean, runs, steps, 29)
    check_coverage(f"anytime kl, ever, mean {mean}", closed, runs, 0.05)
    watched = ever_violated(chernoff, mean, runs, steps, 31)
    check_rejected(f"fixed-n Chernoff watched, mean {mean}", watched, runs, 0.05)


@pytest.mark.parametrize("kind", ["bernstein", "betting"])
def test_sequences_that_look_at_the_order(kind: str) -> None:
    """Both keep the smallest end so far, so the last end shows if any was too low."""
    generator = np.random.default_rng(37)
    runs, violations = 150, 0
    for _ in range(runs):
        watched = Betting(0.05, grid=1000) if kind == "betting" else EmpiricalBernstein(0.05)
        for x in (generator.random(200) < 0.3).astype(float):
            watched.add(float(x))
        end = watched.upper() if isinstance(watched, Betting) else watched.interval()[1]
        violations += end < 0.3
    check_coverage(f"{kind} sequence, ever", violations, runs, 0.05)


@pytest.mark.slow
def test_ever_violated_in_many_long_runs() -> None:
    for mean in (0.02, 0.1, 0.5):
        exact = ever_violated(lambda s, t: mixture_bound(s, t, 0.05), mean, 5000, 3000, 41)
        check_coverage(f"mixture sequence, ever, mean {mean}, long", exact, 5000, 0.05)
