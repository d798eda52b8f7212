"""Hold-out bounds: vectors, shape, coverage, and the ways to misuse a hold-out."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import binom

from pacboost.bounds import holdout
from pacboost.bounds.certificate import Certificate
from pacboost.bounds.holdout import (
    certificate,
    chernoff_kl,
    clopper_pearson,
    clopper_pearson_lower,
    examples_for_chernoff_kl,
    examples_for_clopper_pearson,
    examples_for_hoeffding,
    hoeffding,
)
from pacboost.errors import NotCertified, ParameterError
from pacboost.numerics.percent import percent_above
from tests.bounds.coverage import allowed_violations, check_coverage, check_rejected

Bound = Callable[[int, int, float], float]
BOUNDS: list[Bound] = [clopper_pearson, chernoff_kl, hoeffding]
EXAMPLES = [examples_for_clopper_pearson, examples_for_chernoff_kl, examples_for_hoeffding]


def test_vectors() -> None:
    assert clopper_pearson(10, 200, 0.05) == pytest.approx(0.083335, abs=5e-7)
    assert clopper_pearson_lower(10, 200, 0.05) == pytest.approx(0.027374, abs=5e-7)
    assert clopper_pearson(0, 1000, 0.05) == pytest.approx(0.0029912, abs=5e-8)
    assert clopper_pearson(100, 1000, 0.05) == pytest.approx(0.116992, abs=5e-7)
    assert chernoff_kl(100, 1000, 0.05) == pytest.approx(0.124808, abs=5e-7)
    assert hoeffding(100, 1000, 0.05) == pytest.approx(0.138702, abs=5e-7)


def test_the_price_of_confidence() -> None:
    assert clopper_pearson(200, 2000, 0.05) == pytest.approx(0.11172, abs=5e-6)
    assert clopper_pearson(200, 2000, 0.001) == pytest.approx(0.12234, abs=5e-6)


def test_without_mistakes_the_bound_is_a_root() -> None:
    assert clopper_pearson(0, 1000, 0.05) == pytest.approx(1 - 0.05**0.001, rel=1e-10)


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


def test_models_share_delta() -> None:
    for bound in (clopper_pearson, chernoff_kl, hoeffding, clopper_pearson_lower):
        assert bound(30, 500, 0.05, models=50) == pytest.approx(bound(30, 500, 0.001), rel=1e-11)


def test_tiny_delta_is_not_lost() -> None:
    assert clopper_pearson(100, 1000, 1e-100) < 0.5
    assert clopper_pearson(100, 1000, 1e-300) > clopper_pearson(100, 1000, 1e-100)


@pytest.mark.parametrize("rate", [0.0, 0.05])
def test_examples_are_the_other_direction(rate: float) -> None:
    for bound, examples in zip(BOUNDS, EXAMPLES, strict=True):
        n = examples(0.1, 0.05, rate)
        assert bound(int(np.ceil(rate * n)), n, 0.05) <= 0.1
        assert bound(int(np.ceil(rate * (n - 1))), n - 1, 0.05) > 0.1
        assert examples(0.1, 0.05, rate, models=50) > n


def test_one_row_may_do() -> None:
    assert examples_for_clopper_pearson(0.9, 0.2) == 1


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


def test_certificate_can_be_computed_again() -> None:
    made = certificate(12, 400, delta=0.01, models=3, sample="rows of May")
    assert Certificate.from_json(made.to_json()) == made
    module, function = made.bound.split(".")
    assert module == "holdout"
    assert getattr(holdout, function)(**made.inputs) == made.value
    assert "other 2" in made.independent_of
    assert "rows of May" in str(made)
    assert "size            400" in str(made)
    assert not made.valid_after_looking
    assert "other" not in certificate(12, 400, delta=0.01).independent_of


def test_claims_round_up() -> None:
    assert percent_above(0.11111, 2) == "11.12 %"
    assert percent_above(1.0, 2) == "100.00 %"
    assert certificate(5, 5, delta=0.05).vacuous


@pytest.mark.parametrize("delta", [0.0, 1.0, -0.1, 2.0, float("nan"), True, "0.05"])
def test_refuses_delta(delta: float) -> None:
    for bound in BOUNDS:
        with pytest.raises(ParameterError, match="delta"):
            bound(1, 10, delta)


@pytest.mark.parametrize(("k", "n"), [(-1, 10), (11, 10), (0, 0), (1.5, 10), (1, -3)])
def test_refuses_counts(k: int, n: int) -> None:
    for bound in BOUNDS:
        with pytest.raises(ParameterError, match=r"must be|are a whole"):
            bound(k, n, 0.05)


def test_refuses_other_input() -> None:
    with pytest.raises(ParameterError, match="models"):
        clopper_pearson(1, 10, 0.05, models=0)
    with pytest.raises(ParameterError, match="epsilon"):
        examples_for_hoeffding(0.0, 0.05)
    with pytest.raises(ParameterError, match="rate"):
        examples_for_hoeffding(0.1, 0.05, rate=-0.1)
    with pytest.raises(NotCertified, match="no number of rows"):
        examples_for_clopper_pearson(0.1, 0.05, rate=0.1)
    with pytest.raises(NotCertified, match="more than"):
        examples_for_hoeffding(1e-8, 0.05)
