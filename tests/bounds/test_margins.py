"""Margin bounds: vectors, refusals, and the steps of the one proof that certifies."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import beta, binom

from pacboost.bounds.certificate import Certificate
from pacboost.errors import NotCertified, ParameterError
from pacboost.theory import margins
from pacboost.theory.margins import (
    EXPLANATIONS,
    breiman_bound,
    certificate,
    emargin_bound,
    kth_margin_bound,
    rademacher_bound,
    schapire_bound,
)
from tests.bounds.coverage import check_coverage, check_rejected

SIZE = math.log(1000)
ROWS = 100_000


def test_vectors() -> None:
    assert schapire_bound(5000, ROWS, 0.3, SIZE, 0.05) == pytest.approx(0.18775, abs=5e-6)
    assert kth_margin_bound(5001, 0.3, ROWS, SIZE, 0.05) == pytest.approx(0.25316, abs=5e-6)
    assert emargin_bound(0.05, 0.3, ROWS, SIZE, 0.05) == pytest.approx(0.24048, abs=5e-6)
    assert rademacher_bound(0.05, 0.3, ROWS, SIZE, 0.05) == pytest.approx(0.13223, abs=5e-6)
    assert breiman_bound(0.3, ROWS, SIZE, 0.05) == pytest.approx(0.45459, abs=5e-6)


def test_monotone_in_rows_margin_and_delta() -> None:
    lists = [
        [schapire_bound(n // 20, n, 0.3, SIZE, 0.05) for n in (20_000, 10**5, 10**6)],
        [schapire_bound(5000, ROWS, theta, SIZE, 0.05) for theta in (0.2, 0.3, 0.9)],
        [schapire_bound(5000, ROWS, 0.3, SIZE, delta) for delta in (1e-9, 0.01, 0.4)],
        [kth_margin_bound(n // 20 + 1, 0.3, n, SIZE, 0.05) for n in (10**4, 10**5, 10**6)],
        [kth_margin_bound(5001, 0.3, ROWS, SIZE, delta) for delta in (1e-9, 0.01, 0.4)],
        [emargin_bound(0.05, 0.3, n, SIZE, 0.05) for n in (10**4, 10**5, 10**6)],
        [emargin_bound(0.05, 0.3, ROWS, SIZE, delta) for delta in (1e-9, 0.01, 0.4)],
        [breiman_bound(0.3, n, SIZE, 0.05) for n in (10**5, 10**6, 10**7)],
        [breiman_bound(0.3, ROWS, SIZE, delta) for delta in (1e-9, 0.01, 0.4)],
        [rademacher_bound(0.05, 0.3, n, SIZE, 0.05) for n in (10**4, 10**5, 10**6)],
        [rademacher_bound(0.05, 0.3, ROWS, SIZE, delta) for delta in (1e-9, 0.01, 0.4)],
        [rademacher_bound(0.05, 0.3, ROWS, SIZE, 0.05, thetas) for thetas in (100, 10, 1)],
    ]
    for values in lists:
        assert values == sorted(values, reverse=True)
        assert values[-1] < values[0] <= 1


def test_few_rows_are_vacuous_not_wrong() -> None:
    assert schapire_bound(0, 10, 0.01, SIZE, 0.05) == 1
    assert kth_margin_bound(1, 0.3, 5, 1e6, 0.05) == 1
    assert certificate(0, 10, 0.5, SIZE, 0.05).vacuous


def test_only_the_derived_bound_certifies() -> None:
    made = certificate(5000, ROWS, 0.3, SIZE, 0.05)
    assert Certificate.from_json(made.to_json()) == made
    assert made.bound == "margins.schapire_bound"
    assert schapire_bound(**made.inputs) == made.value
    for name in EXPLANATIONS:
        with pytest.raises(NotCertified, match="constant has not been re-derived"):
            certificate(5000, ROWS, 0.3, SIZE, 0.05, bound=name)
    with pytest.raises(ParameterError, match="only schapire_bound"):
        certificate(5000, ROWS, 0.3, SIZE, 0.05, bound="dirichlet_bound")


def test_refuses_where_theorems_do_not_apply() -> None:
    with pytest.raises(NotCertified, match=r"above 0\.0894"):
        kth_margin_bound(1, 0.05, ROWS, SIZE, 0.05)
    with pytest.raises(NotCertified, match=r"above 0\.0894"):
        emargin_bound(0.05, 0.05, ROWS, SIZE, 0.05)
    with pytest.raises(NotCertified, match="more than 8 rules"):
        emargin_bound(0.05, 0.9, ROWS, math.log(8), 0.05)
    with pytest.raises(NotCertified, match=r"above 0\.1789"):
        breiman_bound(0.1, ROWS, SIZE, 0.05)
    with pytest.raises(NotCertified, match="≤ 2n"):
        breiman_bound(0.2, 10, SIZE, 0.05)


def test_bad_numbers() -> None:
    with pytest.raises(ParameterError, match="theta is 0"):
        schapire_bound(1, 10, 0.0, SIZE, 0.05)
    with pytest.raises(ParameterError, match="log_size is 0"):
        schapire_bound(1, 10, 0.3, 0.0, 0.05)
    with pytest.raises(ParameterError, match="k is 11"):
        schapire_bound(11, 10, 0.3, SIZE, 0.05)
    with pytest.raises(ParameterError, match="rank is 11"):
        kth_margin_bound(11, 0.3, 10, SIZE, 0.05)
    with pytest.raises(ParameterError, match="ramp is 2"):
        rademacher_bound(2, 0.3, 10, SIZE, 0.05)
    with pytest.raises(ParameterError, match="share is -1"):
        emargin_bound(-1, 0.3, 10, SIZE, 0.05)
    with pytest.raises(ParameterError, match="delta"):
        breiman_bound(0.3, 10, SIZE, 2.0)


def stray(voters: int, theta: float) -> float:
    """The largest chance, over margins, that an average of N drawn rules strays by θ/2 or more."""
    means = np.linspace(0, 1, 101)
    least = np.ceil(voters * (means + theta / 4) - 1e-9)
    return float(np.max(binom.sf(least - 1, voters, means) * (means + theta / 4 <= 1)))


def test_the_slack_of_the_proof_in_exact_arithmetic() -> None:
    """exp(-Nθ²/8) covers the exact binomial; exp(-Nθ²/2), which forgets the half, does not."""
    broken = 0
    for voters in (1, 5, 20, 100, 453):
        for theta in (0.1, 0.3, 0.5):
            assert stray(voters, theta) <= math.exp(-voters * theta**2 / 8)
            broken += stray(voters, theta) > math.exp(-voters * theta**2 / 2)
    assert broken > 5


def test_the_failures_of_all_committees_sum_to_delta() -> None:
    """With δ for each N in place of δ/(N(N+1)) the union bound is already spent at N = 1."""
    assert sum(1 / (n * (n + 1)) for n in range(1, 10**5)) < 1
    paid = margins._schapire(0.05, ROWS, 0.3, SIZE, 0.05)
    voters = paid[1]
    logs = math.log(voters * (voters + 1) ** 2 / 0.05) + voters * SIZE
    exact = 0.05 + 2 * math.exp(-voters * 0.09 / 8) + math.sqrt(logs / (2 * ROWS))
    assert paid[0] == pytest.approx(exact, rel=1e-13)


def test_the_slack_in_circulation_for_dirichlet_votes_is_too_small() -> None:
    """Why that bound is not here: P[Beta(50, 50) ≥ 0.6] is above exp(-101·0.04)."""
    tail = beta.sf(0.6, 50, 50)
    assert tail == pytest.approx(0.02193, abs=5e-6)
    assert tail > math.exp(-101 * 0.04) == pytest.approx(0.01760, abs=5e-6)
    assert tail <= math.exp(-101 * 0.04 / 2)
    assert not hasattr(margins, "dirichlet_bound")


def test_coverage() -> None:
    """One rule with margin 1 or -1; the share of small margins alone, as a bound, is rejected."""
    runs, n, risk = 1000, 5000, 0.2
    below = np.random.default_rng(43).binomial(n, risk, size=runs).tolist()
    values = {k: schapire_bound(k, n, 1.0, math.log(2), 0.05) for k in set(below)}
    assert max(values.values()) < 1
    check_coverage("Schapire et al. 1998", sum(values[k] < risk for k in below), runs, 0.05)
    check_rejected("share of small margins", sum(k / n < risk for k in below), runs, 0.05)
