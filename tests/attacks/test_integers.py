"""Integers of every type and size: a bound is the same for all of them, or it is refused.

NumPy's integers wrap around silently. A bound that computes with them may come out too small, so
every public function of ``pacboost.bounds`` is called here with every integer type; a function that
is missing from the table fails the first test.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pacboost.bounds.compression import vote_bound
from pacboost.bounds.filtering import error_by_weight
from pacboost.bounds.holdout import chernoff_kl, clopper_pearson, clopper_pearson_lower
from pacboost.bounds.vc import growth_of_dimension
from pacboost.errors import NotCertified, ParameterError
from pacboost.numerics import binomial, growth
from pacboost.theory.plan import QUESTIONS

TYPES = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
HALF = math.log(2)

CALLS: dict[str, dict[str, Any]] = {
    "compression.compression_bound": {"k": 2, "n": 120, "delta": 0.05, "points": 4, "bits": 3},
    "compression.examples_for_compression": {"epsilon": 0.1, "delta": 0.05, "points": 4},
    "compression.stable_estimate": {"n": 120, "delta": 0.05, "points": 4},
    "compression.hybrid_estimate": {"n": 120, "delta": 0.05, "points": 4, "rules": 3},
    "compression.vote_bound": {
        "mistakes": 1, "rest": 110, "n": 120, "features": 100, "rules": 10, "bits": 3,
        "delta": 0.05,
    },
    "confidence.runs_needed": {"failure": 0.5, "delta": 0.05},
    "confidence.selection_size": {"epsilon": 0.1, "gap": 0.1, "runs": 100, "delta": 0.05},
    "confidence.selection_threshold": {"epsilon": 0.1, "gap": 0.1},
    "confidence.selection_size_hoeffding": {"gap": 0.1, "runs": 100, "delta": 0.05},
    "dependent.groups_bound": {"mean": 0.1, "groups": 120, "delta": 0.05},
    "dependent.ordered_mixture": {"k": 12, "n": 120, "delta": 0.05},
    "dependent.group_bets": {"shares": "40x0 20x2048", "delta": 0.05},
    "dependent.mean_share": {"shares": "40x0 20x2048"},
    "dependent.counted": {"shares": [0, 1, 1]},
    "dependent.read_shares": {"shares": "40x0 20x2048"},
    "covering.covering_rank": {"n": 120, "coverage": 0.9, "delta": 0.05},
    "covering.average_rank": {"n": 120, "coverage": 0.9},
    "covering.rows_to_cover": {"coverage": 0.9, "delta": 0.05, "excess": 0.02},
    "covering.covered_lower": {"rank": 118, "n": 120, "delta": 0.05, "claims": 100},
    "deciding.rank_for": {"n": 120, "rate": 0.1, "delta": 0.05},
    "deciding.fewest_rows": {"rate": 0.1, "delta": 0.05},
    "deciding.order_lower": {"rank": 3, "n": 120, "delta": 0.05, "claims": 100},
    "deciding.order_upper": {"rank": 3, "n": 120, "delta": 0.05, "claims": 100},
    "deciding.curve_lower": {"k": 117, "n": 120, "delta": 0.05, "claims": 100},
    "deciding.curve_upper": {"k": 3, "n": 120, "delta": 0.05, "claims": 100},
    "deciding.passed_lower": {"k": 118, "n": 120, "delta": 0.05, "target": 0.9, "claims": 3},
    "deciding.passes": {"mistakes": 2, "n": 120, "rate": 0.1, "delta": 0.05},
    "deciding.precision_lower": {
        "found": 100, "positives": 120, "alarms": 12, "negatives": 120, "delta": 0.05,
        "claims": 100,
    },
    "deciding.cost_upper": {
        "missed": 12, "positives": 120, "alarms": 12, "negatives": 120, "miss_cost": 100,
        "alarm_cost": 3, "delta": 0.05, "claims": 100,
    },
    "losses.mean_upper": {"losses": "40x0 20x2048", "scale": 3, "delta": 0.05, "claims": 100},
    "losses.mean_lower": {"savings": "40x0 20x2048", "scale": 3, "delta": 0.05, "claims": 100},
    "losses.ranks_lower": {
        "losses": "40x0 20x2048", "others": 1200, "delta": 0.05, "claims": 100,
    },
    "losses.ranks_upper": {
        "savings": "40x0 20x2048", "others": 1200, "delta": 0.05, "claims": 100,
    },
    "losses.auc_lower": {
        "halves": 120, "positives": 9, "negatives": 12, "delta": 0.05, "claims": 100,
    },
    "losses.auc_upper": {
        "halves": 120, "positives": 9, "negatives": 12, "delta": 0.05, "claims": 100,
    },
    "losses.halves_of_pairs": {"positives": np.array([0.9, 0.5]), "negatives": np.array([0.1])},
    "losses.wrong_shares": {"smaller": np.array([0.9, 0.5]), "larger": np.array([0.1])},
    "losses.written": {"losses": np.array([0.0, 0.5])},
    "rates.read_parts": {"parts": "3/100 5/50"},
    "rates.write_parts": {"parts": [(3, 100), (5, 50)]},
    "paired.sign_test_p": {"b": 100, "c": 120},
    "paired.difference_interval": {"b": 60, "c": 20, "n": 120, "delta": 0.05, "pairs": 100},
    "rates.rate_upper": {"k": 12, "n": 120, "delta": 0.05, "claims": 100},
    "rates.rate_lower": {"k": 12, "n": 120, "delta": 0.05, "claims": 100},
    "rates.f1_lower": {"k": 100, "n": 120, "delta": 0.05, "claims": 100},
    "rates.f1_upper": {"k": 100, "n": 120, "delta": 0.05, "claims": 100},
    "rates.balanced_upper": {"parts": "3/100 5/50", "delta": 0.05, "claims": 100},
    "rates.balanced_lower": {"parts": "3/100 5/50", "delta": 0.05, "claims": 100},
    "rates.gap_upper": {"parts": "3/100 5/50", "delta": 0.05, "claims": 100},
    "rates.ordered_upper": {"k": 12, "n": 120, "delta": 0.05, "claims": 100},
    "passing.rows_to_pass": {"epsilon": 0.1, "delta": 0.05, "error": 0},
    "passing.rows_to_pass_by_chernoff": {"epsilon": 0.1, "delta": 0.05, "error": 0},
    "passing.rows_to_pass_by_hoeffding": {"epsilon": 0.1, "delta": 0.05, "error": 0},
    "passing.rows_of_all_to_pass": {"share": 0.2, "epsilon": 0.1, "delta": 0.05, "error": 0},
    "passing.rows_of_all": {"rows": 20, "share": 0.2, "power": 0.9},
    "passing.chance_of_all_to_pass": {
        "n": 120, "share": 0.2, "epsilon": 0.1, "delta": 0.05, "error": 0,
    },
    "passing.chance_to_pass": {"n": 120, "epsilon": 0.1, "delta": 0.05, "error": 0},
    "passing.allowed_mistakes": {"n": 120, "epsilon": 0.1, "delta": 0.05},
    "filtering.error_by_draws": {
        "mean": 0.1, "mistakes": 12, "draws": 120, "delta": 0.05, "factor": 2
    },
    "filtering.error_by_weight": {"mean": 0.1, "draws": 120, "delta": 0.05, "factor": 2},
    "finite.consistent": {"n": 120, "delta": 0.05, "log_size": 3},
    "finite.agnostic": {"k": 12, "n": 120, "delta": 0.05, "log_size": 3},
    "finite.occam": {"k": 12, "n": 120, "delta": 0.05, "log_inverse_prior": 3},
    "finite.agnostic_hoeffding": {"k": 12, "n": 120, "delta": 0.05, "log_size": 3},
    "finite.agnostic_deviation": {"n": 120, "delta": 0.05, "log_size": 3},
    "finite.examples_for_consistent": {"epsilon": 0.1, "delta": 0.05, "log_size": 3},
    "finite.lecture_consistent": {"epsilon": 0.1, "delta": 0.05, "log_size": 3},
    "finite.examples_for_deviation": {"epsilon": 0.1, "delta": 0.05, "log_size": 3},
    "finite.examples_for_agnostic": {"epsilon": 0.1, "delta": 0.05, "log_size": 3, "rate": 0},
    "holdout.clopper_pearson": {
        "k": 12, "n": 120, "delta": 0.05, "models": 100, "look": 100,
    },
    "holdout.share_of_delta": {"delta": 0.05, "look": 100},
    "holdout.clopper_pearson_lower": {"k": 12, "n": 120, "delta": 0.05, "models": 100},
    "holdout.chernoff_kl": {"k": 12, "n": 120, "delta": 0.05, "models": 100},
    "holdout.hoeffding": {"k": 12, "n": 120, "delta": 0.05, "models": 100},
    "holdout.examples_for_clopper_pearson": {"epsilon": 0.1, "delta": 0.05, "models": 100},
    "holdout.examples_for_chernoff_kl": {"epsilon": 0.1, "delta": 0.05, "models": 100},
    "holdout.examples_for_hoeffding": {"epsilon": 0.1, "delta": 0.05, "models": 100},
    "lower.ehkv": {"epsilon": 0.1, "delta": 0.01, "dimension": 100},
    "lower.blumer": {"epsilon": 0.1, "delta": 0.01},
    "lower.agnostic": {"epsilon": 0.01, "delta": 0.01, "dimension": 100},
    "lower.examples_needed": {"epsilon": 0.1, "delta": 0.01, "dimension": 100},
    "lower.blumer_upper": {"epsilon": 0.1, "delta": 0.01, "dimension": 100},
    "lower.no_free_lunch": {"n": 50, "domain": 120},
    "lower.examples_for_no_free_lunch": {"domain": 120},
    "lower.no_free_lunch_risk": {"n": 50, "domain": 120},
    "margins.schapire_bound": {
        "below": 12, "n": 120, "theta": 0.3, "log_size": 3, "delta": 0.05,
    },
    "margins.schapire_voters": {
        "below": 12, "n": 120, "theta": 0.3, "log_size": 3, "delta": 0.05,
    },
    "margins.examples_for_schapire": {
        "epsilon": 0.5, "share": 0, "theta": 0.3, "log_size": 3, "delta": 0.05,
    },
    "margins.breiman_bound": {"least": 0.9, "n": 120, "log_size": 6, "delta": 0.05},
    "margins.kth_margin_bound": {
        "rank": 2, "theta": 0.9, "n": 120, "log_size": 6, "delta": 0.05,
    },
    "margins.emargin_bound": {
        "share": 0, "theta": 0.9, "n": 120, "log_size": 6, "delta": 0.05,
    },
    "margins.rademacher_bound": {
        "ramp": 0, "theta": 0.9, "n": 120, "log_growth": 6, "delta": 0.05, "thetas": 100,
    },
    "nvote.vote_loss": {"shares": [0.2, 0.6], "voters": 11, "wrong": 5},
    "nvote.nvote_bound": {
        "loss": 0.05, "voters": 100, "wrong": 45, "n": 120, "divergence": 1, "delta": 0.05,
        "pairs": 100,
    },
    "nvote.best_pair": {"shares": [0.2, 0.3] * 50, "divergence": 1, "delta": 0.05},
    "nvote.examples_for_nvote": {
        "epsilon": 0.5, "loss": 0.05, "voters": 11, "wrong": 5, "divergence": 1, "delta": 0.05,
    },
    "occam.log_inverse_prior": {"base_rules": 120, "rules": 100, "bits": 20},
    "occam.occam_bound": {
        "mistakes": 2, "n": 120, "base_rules": 120, "rules": 20, "bits": 20, "delta": 0.05,
    },
    "occam.examples_for_occam": {
        "epsilon": 0.1, "delta": 0.05, "base_rules": 120, "rules": 20, "bits": 20,
    },
    "occam.quantise": {"votes": [0.9, -0.2], "bits": 31, "scale": 1},
    "pac_bayes.pac_bayes_kl_bound": {"gibbs": 0.1, "n": 120, "divergence": 1, "delta": 0.05},
    "pac_bayes.first_order_bound": {"gibbs": 0.1, "n": 120, "divergence": 1, "delta": 0.05},
    "pac_bayes.tandem_bound": {"tandem": 0.1, "n": 120, "divergence": 100, "delta": 0.05},
    "pac_bayes.c_bound": {
        "gibbs": 0.1, "disagreement": 0.1, "n": 120, "pairs": 120, "divergence": 1, "delta": 0.05,
    },
    "pac_bayes.cantelli_bound": {
        "gibbs": 0.1, "tandem": 0.1, "n": 120, "pairs": 120, "divergence": 1, "delta": 0.05,
    },
    "pac_bayes.cantelli_mu": {"gibbs": 0, "tandem": 0},
    "pac_bayes.examples_for_first_order": {
        "epsilon": 0.5, "gibbs": 0.1, "divergence": 1, "delta": 0.05,
    },
    "pac_bayes.examples_for_tandem": {
        "epsilon": 0.5, "tandem": 0.1, "divergence": 1, "delta": 0.05,
    },
    "rectangle.strip": {"n": 120, "delta": 0.05, "features": 100},
    "rectangle.strip_exact": {"n": 120, "delta": 0.05, "features": 100},
    "rectangle.sharp": {"n": 120, "delta": 0.05, "features": 20},
    "rectangle.examples_for_strip": {"epsilon": 0.1, "delta": 0.05, "features": 100},
    "rectangle.examples_for_sharp": {"epsilon": 0.1, "delta": 0.05, "features": 100},
    "selective.answered_error": {"k": 2, "n": 120, "delta": 0.05, "thresholds": 20},
    "selective.passed_error": {"k": 1, "n": 120, "delta": 0.05, "target": 0.05},
    "selective.answered_share": {
        "fewest": 60, "most": 70, "rows": 120, "delta": 0.05, "thresholds": 100,
    },
    "sequence.mixture_bound": {"total": 12, "t": 120, "delta": 0.05},
    "sequence.anytime_kl_bound": {"total": 12, "t": 120, "delta": 0.05},
    "sequence.bernstein_bound": {"mistakes_at": "3 40", "t": 120, "delta": 0.05},
    "sequence.betting_bound": {"mistakes_at": "3 40", "t": 120, "delta": 0.05},
    "sequence.examples_for_anytime": {"epsilon": 0.1, "delta": 0.05, "rate": 0},
    "three_way.recursive_error": {"part": 0.4, "levels": 3},
    "vc.relative_deviation": {"k": 12, "n": 120, "delta": 0.05, "log_growth": 3},
    "vc.pessimistic": {"k": 12, "n": 120, "delta": 0.05, "log_growth": 3},
    "vc.realizable": {"n": 120, "delta": 0.05, "log_growth": 3},
    "vc.hypergeometric": {"k": 12, "n": 120, "delta": 0.05, "log_growth": 3, "ghost": 120},
    "vc.examples_for_realizable": {
        "epsilon": 0.1, "delta": 0.05, "log_growth": growth_of_dimension(2),
    },
    "vc.dimension_of_intervals": {"count": 100},
    "vc.dimension_of_boxes": {"features": 100},
    "vc.dimension_of_halfspaces": {"features": 127},
    "vc.dimension_of_stumps": {"features": 100},
}  # fmt: skip
FILES = sorted({name.partition(".")[0] for name in CALLS})
RETURNS_OTHERS = {"certificate", "growth", "search", "first_order", "tandem", "cantelli"}
"""Certificates are compared below; growth functions and searches take functions, not counts."""


def function(name: str) -> Callable[..., Any]:
    file, _, own = name.partition(".")
    found: Callable[..., Any] = getattr(import_module(f"pacboost.bounds.{file}"), own)
    return found


def test_every_bound_is_attacked() -> None:
    for file in FILES:
        module = import_module(f"pacboost.bounds.{file}")
        for name, found in inspect.getmembers(module, inspect.isfunction):
            numbers = any(kind in str(inspect.signature(found)) for kind in ("int", "float"))
            if found.__module__ != module.__name__ or name.startswith("_") or not numbers:
                continue
            if any(word in name for word in RETURNS_OTHERS):
                continue
            if any("ArrayLike" in str(p) for p in inspect.signature(found).parameters.values()):
                continue
            takes = inspect.signature(found).parameters.values()
            if any("Callable" in str(parameter.annotation) for parameter in takes):
                continue
            assert f"{file}.{name}" in CALLS, f"{file}.{name} is missing from this table"


def converted(given: dict[str, Any], kind: Any) -> dict[str, Any]:
    return {
        name: kind(value) if type(value) is int and value <= np.iinfo(kind).max else value
        for name, value in given.items()
    }


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.filterwarnings("error")
def test_every_integer_type_gives_the_same(name: str) -> None:
    expected = function(name)(**CALLS[name])
    for kind in TYPES:
        found = function(name)(**converted(CALLS[name], kind))
        assert repr(found) == repr(expected), kind


@pytest.mark.parametrize("kind", [np.int16, np.int32])
def test_the_prior_of_many_stumps_does_not_wrap_around(kind: Any) -> None:
    """features·(2n + 1) is beyond the type here; wrapped around, the vote looked cheap."""
    rows, features = (200, 170) if kind is np.int16 else (30_000, 71_600)
    given = {"rest": rows, "n": rows, "features": features, "rules": 2, "bits": 1}
    expected = vote_bound(mistakes=0, delta=0.05, **given)
    found = vote_bound(mistakes=0, delta=0.05, **{k: int(kind(v)) for k, v in given.items()})
    wrapped = vote_bound(mistakes=kind(0), delta=0.05, **{k: kind(v) for k, v in given.items()})
    assert wrapped == found == expected


@given(st.integers(1, 10**18), st.floats(0, 1), st.floats(1e-300, 0.99))
@settings(max_examples=60, deadline=None)
def test_any_number_of_rows_is_bounded_outward(n: int, share: float, delta: float) -> None:
    """Chernoff's bound encloses the exact one; both are 1 or less and on the right side."""
    n = n if share > 0.5 else n % 10**9 + 1  # sums of moderate length, and very large numbers
    k = min(n, int(share * n))
    upper, lower = clopper_pearson(k, n, delta), clopper_pearson_lower(k, n, delta)
    assert 0 <= lower <= 1
    assert 0 <= upper <= chernoff_kl(k, n, delta) <= 1
    if n < 2**63:
        others: tuple[Any, Any] = (np.int64(k), np.uint64(n))
        assert clopper_pearson(others[0], others[1], delta) == upper
    if delta < 0.5:
        assert lower <= k / n <= upper


def test_a_sum_never_has_more_terms_than_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """The work is limited by counting terms, not by a clock."""
    longest = 0
    original = binomial._terms_below

    def counted(k: int, n: int, odds: float) -> float:
        nonlocal longest
        longest = max(longest, min(k, 10 * math.isqrt(k * (n - k) // n + 1)))
        return original(k, n, odds)

    monkeypatch.setattr(binomial, "_terms_below", counted)
    for n in (10**6, 10**9, 10**12, 10**15, 10**18, 10**30):
        for k in (1, n // 1000, n // 2, n - 1):
            for delta in (0.05, 0.9):
                assert clopper_pearson_lower(k, n, delta) <= k / n * (1 + 1e-3) + 1e-3
                assert clopper_pearson(k, n, delta) >= k / n * (1 - 1e-3) - 1e-3
    assert longest <= 10 * math.isqrt(binomial.MOST_VARIANCE) + 10


@pytest.mark.parametrize("d", [4 * 10**17, 5 * 10**17 - 1, 5 * 10**17, 6 * 10**17])
def test_labelings_of_very_many_points_are_counted_outward(d: int) -> None:
    m = 10**18
    value = growth.log_sauer(d, m)
    assert growth.log_binomial(m, d) * (1 - 1e-12) <= value <= m * HALF * (1 + 1e-12)


def test_chernoff_takes_the_place_of_long_hypergeometric_sums(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cases = [(k, m, K, 5 * m) for m in (50, 400) for k in (1, m // 10) for K in (m, 2 * m, 4 * m)]
    exact = [binomial.log_hypergeometric_tail(*case) for case in cases]
    monkeypatch.setattr(binomial, "MOST_TERMS", 0)
    for case, value in zip(cases, exact, strict=True):
        assert binomial.log_hypergeometric_tail(*case) >= value - 1e-12
    assert function("vc.hypergeometric")(10**17, 10**18, 0.05, 30.0) >= 0.1


@pytest.mark.parametrize(("k", "n"), [(5e17, 1e18), (1, 10.0), (1.0, 10), (True, 10), ("1", 10)])
def test_floats_are_refused_as_counts(k: Any, n: Any) -> None:
    with pytest.raises(ParameterError, match="whole number"):
        clopper_pearson(k, n, 0.05)


def test_numbers_beyond_floats_are_refused_in_words() -> None:
    with pytest.raises(ParameterError, match="too large"):
        clopper_pearson(10**400, 10**500, 0.05)
    with pytest.raises(ParameterError, match="too large"):
        QUESTIONS["no_free_lunch"](domain=10**400)


@pytest.mark.parametrize("factor", [-3, 0, float("nan"), float("inf")])
def test_no_factor_makes_a_bound_negative(factor: float) -> None:
    with pytest.raises(ParameterError, match="factor"):
        error_by_weight(0.1, 100, 0.05, factor)


def test_a_long_sequence_is_refused_before_it_is_walked() -> None:
    for name in ("sequence.bernstein_bound", "sequence.betting_bound"):
        with pytest.raises(ParameterError, match="one by one"):
            function(name)("1", 10**18, 0.05)
    assert function("three_way.recursive_error")(0.49, 10**18) < 1e-300


PLANS: dict[str, dict[str, Any]] = {
    "finite": {"epsilon": 0.1, "delta": 0.05, "size": 100},
    "vc": {"epsilon": 0.1, "delta": 0.05, "dimension": 4},
    "rectangle": {"epsilon": 0.1, "delta": 0.05, "dimensions": 100},
    "stumps": {"epsilon": 0.2, "delta": 0.05, "features": 100},
    "rounds": {"edge": 0.3, "rows": 100},
    "resample": {"edge": 0.5, "delta": 0.05, "rounds": 100, "log_size": 8},
    "no_free_lunch": {"domain": 120},
    "strong": {"epsilon": 0.2, "delta": 0.05, "edge": 0.5, "dimension": 2},
}


@pytest.mark.parametrize("name", PLANS)
def test_plans_of_every_integer_type_are_the_same(name: str) -> None:
    from pacboost.theory.needs import skipped

    with skipped():
        expected = QUESTIONS[name](**PLANS[name])
        for kind in TYPES:
            found = QUESTIONS[name](**converted(PLANS[name], kind))
            assert found == expected
            assert found.to_json() == expected.to_json()


def test_a_certificate_holds_plain_numbers() -> None:
    for name in ("holdout", "finite", "vc"):
        make = function(f"{name}.certificate")
        extra = (
            {}
            if name == "holdout"
            else {"finite": {"log_inverse_prior": 3.0}}.get(name, {"log_growth": 3.0})
        )
        made = make(k=np.int8(3), n=np.int8(100), delta=np.float64(0.05), **extra)
        assert made == make(k=3, n=100, delta=0.05, **extra)
        assert made.to_json()


def test_not_certified_is_still_not_certified() -> None:
    with pytest.raises(NotCertified):
        function("holdout.examples_for_clopper_pearson")(0.1, 0.05, rate=0.1)
