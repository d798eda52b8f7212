"""Hold-out bounds: vectors, shape, coverage, and the ways to misuse a hold-out."""

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import binom

from pacboost.bounds.holdout import (
    chernoff_kl,
    clopper_pearson,
    clopper_pearson_lower,
    counted,
    examples_for,
    group_bets,
    groups_bound,
    groups_certificate,
    hoeffding,
    mean_share,
    ordered_certificate,
    ordered_mixture,
)
from pacboost.errors import NotCertified, ParameterError
from tests.bounds.coverage import allowed_violations, check_coverage, check_rejected
from tests.runs import several_runs

Bound = Callable[[int, int, float], float]
BOUNDS: list[Bound] = [clopper_pearson, chernoff_kl, hoeffding]


def test_exact_coverage_at_fifty_rows() -> None:
    """Summed over all k, no risk is missed more often than delta; the least coverage is .9501."""
    bounds = np.array([clopper_pearson(k, 50, 0.05) for k in range(51)])
    risks = np.linspace(0.001, 0.9, 1800)
    covered = np.array([binom.pmf(np.arange(51), 50, p)[bounds >= p].sum() for p in risks])
    assert covered.min() >= 0.95
    assert covered.min() == pytest.approx(0.9501, abs=2e-4)


@given(st.integers(1, 300), st.floats(0, 1), st.floats(1e-6, 0.9), st.integers(1, 100))
def test_order_and_shape(n: int, share: float, delta: float, models: int) -> None:
    k = int(share * n)
    exact = clopper_pearson(k, n, delta, models)
    assert exact <= chernoff_kl(k, n, delta, models) * (1 + 1e-9)
    assert chernoff_kl(k, n, delta, models) <= hoeffding(k, n, delta, models) * (1 + 1e-9)
    if delta <= 0.5:  # beyond, the two ends may change places
        assert clopper_pearson_lower(k, n, delta, models) <= k / n <= exact
    for bound in BOUNDS:
        value = bound(k, n, delta)
        assert bound(k, n + 1, delta) <= value
        assert bound(k, n, delta / 2) >= value
        if k < n:
            assert bound(k + 1, n, delta) >= value


def test_tiny_delta_is_not_lost() -> None:
    assert clopper_pearson(100, 1000, 1e-100) < 0.5
    assert clopper_pearson(100, 1000, 1e-300) > clopper_pearson(100, 1000, 1e-100)


@pytest.mark.parametrize("rate", [0.0, 0.05])
def test_examples_are_the_other_direction(rate: float) -> None:
    for bound in BOUNDS:
        n = examples_for(bound, 0.1, 0.05, rate)
        assert bound(int(np.ceil(rate * n)), n, 0.05) <= 0.1
        assert bound(int(np.ceil(rate * (n - 1))), n - 1, 0.05) > 0.1
        assert examples_for(bound, 0.1, 0.05, rate, models=50) > n


def simulated(risk: float, n: int, runs: int, bound: Bound, delta: float) -> int:
    k = np.random.default_rng(1).binomial(n, risk, size=runs)
    mistakes, times = np.unique(k, return_counts=True)
    values = np.array([bound(int(m), n, delta) for m in mistakes])
    return int(times[values < risk].sum())


@pytest.mark.parametrize("risk", [0.02, 0.1, 0.5])
def test_coverage(risk: float) -> None:
    for bound in BOUNDS:
        name = f"holdout.{bound.__name__}, risk {risk}, n=300"
        check_coverage(name, simulated(risk, 300, 20_000, bound, 0.05), 20_000, 0.05)


@pytest.mark.slow
@pytest.mark.parametrize("delta", [0.05, 0.01, 0.001])
def test_coverage_in_full(delta: float) -> None:
    for bound in BOUNDS:
        for n in (20, 200, 2000):
            for risk in (0.01, 0.1, 0.3, 0.5):
                name = f"holdout.{bound.__name__}, risk {risk}, n={n}"
                check_coverage(name, simulated(risk, n, 10**6, bound, delta), 10**6, delta)


def test_twin_delta_dropped() -> None:
    violations = simulated(0.1, 300, 20_000, lambda k, n, _: k / n, 0.05)
    check_rejected("twin: k/n alone, delta dropped", violations, 20_000, 0.05)


def best_of(models: int, n: int, runs: int) -> NDArray[np.int64]:
    """The fewest mistakes among models that all guess: true risk 1/2 each."""
    return np.asarray(np.random.default_rng(2).binomial(n, 0.5, size=(runs, models)).min(axis=1))


def test_best_of_fifty_pays_the_union_bound() -> None:
    k = best_of(50, 300, 5000)
    paid = {m: clopper_pearson(int(m), 300, 0.05, models=50) for m in np.unique(k)}
    unpaid = {m: clopper_pearson(int(m), 300, 0.05) for m in np.unique(k)}
    check_coverage("holdout.clopper_pearson, best of 50", sum(paid[m] < 0.5 for m in k), 5000, 0.05)
    violations = sum(unpaid[m] < 0.5 for m in k)
    check_rejected("twin: best of 50 without the union bound", violations, 5000, 0.05)


def test_twin_training_rows_as_hold_out() -> None:
    """A stump chosen on the rows that judge it; labels are coin flips, so every risk is 1/2."""
    generator = np.random.default_rng(3)
    runs, n = 1000, 200
    after_choice = fresh = 0
    for _ in range(runs):
        signs = generator.choice([-1, 1], size=(n, 5))  # labels in the order of each of 5 features
        gain = np.abs(2 * np.cumsum(signs, axis=0) - signs.sum(axis=0)).max()
        after_choice += clopper_pearson(int((n - gain) // 2), n, 0.05) < 0.5
        fresh += clopper_pearson(int(generator.binomial(n, 0.5)), n, 0.05) < 0.5
    check_coverage("holdout.clopper_pearson, fresh rows", fresh, runs, 0.05)
    check_rejected("twin: training rows used as hold-out", after_choice, runs, 0.05)


def test_the_judge_has_the_printed_thresholds() -> None:
    printed = {(1000, 0.05): 77, (2000, 0.05): 138, (5000, 0.05): 309, (10_000, 0.05): 583}
    for (runs, delta), threshold in {**printed, (20_000, 0.01): 254}.items():
        assert allowed_violations(runs, delta) == threshold


def test_refuses_other_input() -> None:
    with pytest.raises(ParameterError, match="models"):
        clopper_pearson(1, 10, 0.05, models=0)
    with pytest.raises(ParameterError, match="epsilon"):
        examples_for(hoeffding, 0.0, 0.05)
    with pytest.raises(ParameterError, match="rate"):
        examples_for(hoeffding, 0.1, 0.05, rate=-0.1)
    with pytest.raises(NotCertified, match="no number of rows"):
        examples_for(clopper_pearson, 0.1, 0.05, rate=0.1)
    with pytest.raises(NotCertified, match="more than"):
        examples_for(hoeffding, 1e-8, 0.05)


# Rows that depend on each other: vectors, shape, coverage, and rows taken as independent.


@given(st.integers(1, 400), st.floats(0, 1), st.floats(1e-9, 0.9))
def test_groups_of_one_row_give_chernoff(n: int, share: float, delta: float) -> None:
    k = int(share * n)
    assert groups_bound(k / n, n, delta) == pytest.approx(chernoff_kl(k, n, delta), rel=1e-9)


def test_rounded_outward() -> None:
    for n in (1, 7, 50, 1000):
        exact = 1 - 0.05 ** (1 / n)
        assert groups_bound(0.0, n, 0.05) >= exact
        assert groups_bound(0.0, n, 0.05) == pytest.approx(exact, rel=1e-9)


def test_tiny_delta_says_nothing_rather_than_failing() -> None:
    assert groups_bound(0.0, 10, 1e-320) == 1.0


def shares_of_groups(generator: np.random.Generator, runs: int, groups: int) -> NDArray[np.float64]:
    """Each group errs on all of its rows or on none, mean risk 0.2."""
    return np.asarray(generator.random((runs, groups)) < 0.2, dtype=np.float64)


def test_groups_cover_where_rows_move_together() -> None:
    runs, groups, rows, delta = 4000, 60, 10, 0.05
    shares = shares_of_groups(np.random.default_rng(1), runs, groups)
    means, times = np.unique(shares.mean(axis=1), return_counts=True)
    bounds = np.array([groups_bound(float(m), groups, delta) for m in means])
    check_coverage("dependent.groups, rows move together", times[bounds < 0.2].sum(), runs, delta)
    naive = np.array(
        [clopper_pearson(round(m * groups) * rows, groups * rows, delta) for m in means]
    )
    wrong = times[naive < 0.2].sum()
    check_rejected("twin: grouped rows counted as independent", wrong, runs, delta)


def test_groups_cover_where_groups_differ() -> None:
    """Every group has a risk of its own, Beta(1, 4), and few rows."""
    generator = np.random.default_rng(2)
    runs, groups, delta = 4000, 80, 0.05
    risks = generator.beta(1, 4, size=(runs, groups))
    shares = generator.binomial(5, risks) / 5
    broken = sum(groups_bound(float(m), groups, delta) < 0.2 for m in shares.mean(axis=1))
    check_coverage("dependent.groups, groups differ in risk", broken, runs, delta)


def test_unequal_groups_are_counted_once_each() -> None:
    """Large groups err more: the mean over rows speaks of other people than the mean over groups.

    Half of the groups have one row and risk 0.1, half have nine and risk 0.5. A row of a new group
    is wrong with probability 0.3.
    """
    generator = np.random.default_rng(3)
    runs, groups, delta = 2000, 100, 0.05
    large = generator.random((runs, groups)) < 0.5
    wrong = np.where(large, generator.binomial(9, 0.5, large.shape) / 9, 0.0)
    wrong = np.where(large, wrong, generator.random(large.shape) < 0.1)
    broken = sum(groups_bound(float(m), groups, delta) < 0.3 for m in wrong.mean(axis=1))
    check_coverage("dependent.groups, unequal groups", broken, runs, delta)


def drifting(runs: int, n: int, seed: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Rows whose risk follows the past: high after a mistake, low after none."""
    generator = np.random.default_rng(seed)
    total, risks = np.zeros(runs), np.zeros(runs)
    wrong = np.zeros(runs, dtype=np.bool_)
    for _ in range(n):
        now = np.where(wrong, 0.9, 0.05)
        wrong = generator.random(runs) < now
        risks += now / n
        total += wrong
    return total.astype(np.int64), risks


def test_twin_ordered_rows_say_nothing_of_the_future() -> None:
    """The long-run risk is 1/3 here; taken for independent, the period watched misleads."""
    runs, n, delta = 4000, 200, 0.05
    k, _ = drifting(runs, n, 5)
    exact = {m: clopper_pearson(int(m), n, delta) for m in np.unique(k)}
    broken = sum(exact[m] < 1 / 3 for m in k)
    check_rejected("twin: ordered rows counted as independent", broken, runs, delta)


def test_twin_delta_dropped_of_dependent() -> None:
    k, risks = drifting(2000, 200, 6)
    check_rejected("twin: ordered, delta dropped", (k / 200 < risks).sum(), 2000, 0.05)


@pytest.mark.parametrize("n", [37, 113, 400, 1000])
def test_claims_round_up_of_dependent(n: int) -> None:
    """A claim never says less than the bound gives."""
    for made in (groups_certificate([0.1] * n, 0.05), ordered_certificate(n // 10, n, 0.05)):
        words = made.claim.rstrip(".").replace("%", " ").split()
        number = float(next(word for word in reversed(words) if word[0].isdigit()))
        claimed = number / 100 if "%" in made.claim else number
        assert claimed >= made.value


def test_mixture_vectors() -> None:
    """Far below Azuma's bound where mistakes are few, and little above it where they are many."""
    assert ordered_mixture(0, 200, 0.05) < 0.0210 < hoeffding(0, 200, 0.05)
    assert ordered_mixture(5, 1000, 0.05) < 0.0152 < hoeffding(5, 1000, 0.05)
    assert ordered_mixture(100, 1000, 0.05) < hoeffding(100, 1000, 0.05)
    assert ordered_mixture(500, 1000, 0.05) < hoeffding(500, 1000, 0.05) + 0.0065
    assert ordered_mixture(10, 10, 0.05) == 1


@given(st.integers(1, 400), st.floats(0, 0.99), st.floats(1e-9, 0.9))
def test_shape_of_the_mixture(n: int, share: float, delta: float) -> None:
    k = int(share * n)
    value = ordered_mixture(k, n, delta)
    assert k / n <= value <= 1
    assert value >= clopper_pearson(k, n, delta) * (1 - 1e-9) or delta > 0.5
    assert ordered_mixture(k, n + 1, delta) <= value
    assert ordered_mixture(k, n, delta / 2) >= value
    assert ordered_mixture(min(n, k + 1), n, delta) >= value


def test_the_mixture_is_what_its_sum_says() -> None:
    """The sum of the theorem, written out, crosses 1/δ at the bound."""
    k, n, delta = 3, 150, 0.05
    low = math.sqrt(8 * math.log(1 / delta) / n)
    steps = [low * (2 / low) ** (j / 15) for j in range(16)]
    pairs = [(0.25, 1.0), (0.25, 1 - math.exp(-low))]
    pairs += [(0.5 / 16, 1 - math.exp(-step)) for step in steps]
    assert math.fsum(w for w, _ in pairs) == pytest.approx(1, abs=1e-15)

    def total(risk: float) -> float:
        return math.fsum(w * (1 - c) ** k / (1 - risk * c) ** n for w, c in pairs)

    value = ordered_mixture(k, n, delta)
    assert total(value) >= 1 / delta > total(value * (1 - 1e-9))


def chasing(runs: int, n: int, seed: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Risks that an adversary lowers to nothing as soon as mistakes have caught up."""
    generator = np.random.default_rng(seed)
    k, risks = np.zeros(runs), np.zeros(runs)
    for _ in range(n):
        now = np.where(risks > k, 0.1, 0.0) + (risks == 0) * 0.1  # goes on only while ahead
        k += generator.random(runs) < now
        risks += now
    return k.astype(np.int64), risks / n


@pytest.mark.parametrize("world", [drifting, chasing])
def test_the_mixture_covers(world: Callable[..., Any]) -> None:
    runs, n, delta = 4000, 200, 0.05
    k, risks = world(runs, n, 7)
    bounds = {m: ordered_mixture(int(m), n, delta) for m in np.unique(k)}
    broken = sum(bounds[m] < risk for m, risk in zip(k, risks, strict=True))
    check_coverage(f"dependent.ordered_mixture, {world.__name__}", broken, runs, delta)


def test_twin_the_best_moment_for_the_mistakes_seen() -> None:
    """One λ chosen by k, as Chernoff's bound does: risks that follow the past break it."""
    runs, n, delta = 1000, 2000, 0.05
    generator = np.random.default_rng(8)
    k, risks = np.zeros(runs), np.zeros(runs)
    stopped = np.zeros(runs, dtype=np.bool_)
    for t in range(n):
        now = np.where(stopped, 0.0, 0.05)
        k += generator.random(runs) < now
        risks += now
        if t % 10 == 9:  # the risk ends at the moment at which the bound fails
            mean = k / n
            distance = np.maximum(risks / n - mean, 0)
            with np.errstate(divide="ignore", invalid="ignore"):
                near = np.where(mean > 0, mean * np.log1p(distance / mean), 0.0)
            far = (1 - mean) * np.log1p(distance / (1 - risks / n))
            stopped |= far - near > math.log(1 / delta) / n
    check_rejected("twin: ordered, λ chosen after looking", int(stopped.sum()), runs, delta)
    bounds = {m: ordered_mixture(int(m), n, delta) for m in np.unique(k)}
    broken = sum(bool(bounds[m] < risk / n) for m, risk in zip(k, risks, strict=True))
    check_coverage("dependent.ordered_mixture, an end chosen by the past", broken, runs, delta)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=60), st.floats(1e-9, 0.9))
def test_bets_are_never_above_chernoff(shares: list[float], delta: float) -> None:
    pairs = counted(shares)
    mean = mean_share(pairs)
    assert math.fsum(shares) / len(shares) <= mean + 1e-12
    value = group_bets(pairs, delta)
    assert min(mean, 1.0) <= value <= groups_bound(min(mean, 1.0), len(shares), delta)
    assert group_bets(pairs, delta / 2) >= value


@given(st.integers(1, 300), st.floats(0, 1), st.floats(1e-6, 0.9))
def test_bets_on_all_or_nothing_are_chernoff(groups: int, share: float, delta: float) -> None:
    k = int(share * groups)
    pairs = counted([1.0] * k + [0.0] * (groups - k))
    assert group_bets(pairs, delta) == pytest.approx(groups_bound(k / groups, groups, delta))


GROUPS: dict[str, Callable[[np.random.Generator, tuple[int, int]], NDArray[np.float64]]] = {
    "rows move together": lambda g, size: (g.random(size) < 0.2).astype(float),
    "groups differ": lambda g, size: g.binomial(5, g.beta(1, 4, size=size)) / 5,
    "all groups alike": lambda g, size: g.binomial(20, np.full(size, 0.2)) / 20,
    "few bad groups": lambda g, size: np.where(g.random(size) < 0.25, 0.8, 0.0),
}


@several_runs(40, 2000)
@pytest.mark.parametrize("name", GROUPS)
def test_bets_on_groups_cover(name: str, runs: int) -> None:
    groups, delta = 40, 0.05
    shares = GROUPS[name](np.random.default_rng(9), (runs, groups))
    known = cache(lambda pairs: group_bets(pairs, delta))
    broken = sum(known(tuple(map(tuple, counted(row)))) < 0.2 for row in shares)
    check_coverage(f"dependent.group_bets, {name}", broken, runs, delta)


def test_twin_the_variance_that_was_seen() -> None:
    """A normal limit by the variance of the groups: where bad groups are rare, none may be seen."""
    runs, groups, delta = 400, 40, 0.05
    shares = (np.random.default_rng(10).random((runs, groups)) < 0.02).astype(np.float64)
    normal = shares.mean(axis=1) + 1.645 * shares.std(axis=1) / math.sqrt(groups)
    check_rejected("twin: groups, a normal limit", int((normal < 0.02).sum()), runs, delta)
    broken = sum(group_bets(counted(row), delta) < 0.02 for row in shares)
    check_coverage("dependent.group_bets, rare bad groups", broken, runs, delta)


@pytest.mark.parametrize(
    "shares",
    ["", "3x0", 3, [], [3], [[3]], [[4097, 3]], [[3, -1]], [[-1, 3]], [[5, 0]], [[3, 2.5]],
     [["a", 3]], [[True, 3]], {0: 3}],
)  # fmt: skip
def test_refuses_what_counts_no_groups(shares: Any) -> None:
    with pytest.raises(ParameterError, match="shares"):
        group_bets(shares, 0.05)
