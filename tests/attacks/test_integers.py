"""Integers of every type and size: a bound is the same for all of them, or it is refused.

NumPy's integers wrap around silently. A bound that computes with them may come out too small, so
every public function of ``pacboost.bounds`` that takes numbers is found and called here with every
integer type; a number without a value in the table below fails all of them.
"""

import inspect
import math
from collections.abc import Callable, Iterator
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacboost import bounds
from pacboost.bounds import holdout
from pacboost.bounds.filtering import error_by_weight, recursive_error
from pacboost.bounds.holdout import chernoff_kl, clopper_pearson, clopper_pearson_lower
from pacboost.bounds.occam import vote_bound
from pacboost.bounds.registry import BOUNDS
from pacboost.errors import ParameterError
from pacboost.numerics import binomial, growth, hypergeometric
from pacboost.theory import compression, finite, margins, nvote, sample_sizes, sequence, vc
from pacboost.theory.plan import QUESTIONS
from tests.examples import examples

TYPES = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
HALF = math.log(2)

GIVEN: dict[str, Any] = {
    "after": 0.1, "alarm_cost": 3, "alarms": 12, "b": 60, "base_rules": 120, "before": 0.05,
    "below": 12, "bits": 20, "by": 2, "c": 20, "claims": 100, "count": 100, "coverage": 0.9,
    "delta": 0.05,
    "dimension": 100, "disagreement": 0.1, "divergence": 1, "domain": 1200, "draws": 120,
    "epsilon": 0.1, "error": 0.05, "excess": 0.02, "factor": 2, "failure": 0.5, "features": 100,
    "fewest": 60, "first": 50, "found": 100, "gap": 0.1, "ghost": 120, "gibbs": 0.1, "goal": 0.1,
    "groups": 120, "constant": 0,
    "halves": 120, "k": 12, "least": 0.9, "levels": 3, "log_goal": 3, "log_growth": 3,
    "log_inverse_prior": 3, "log_size": 6, "look": 100, "loss": 0.05,
    "losses": [[[0, 40], [2048, 20]]],
    "mean": 0.1, "miss_cost": 100, "missed": 12, "mistakes": 2, "mistakes_at": [3, 40],
    "models": 100, "most": 70, "move": "ratio", "n": 120, "name": "rate", "negatives": 120,
    "ones": 100,
    "others": 1200, "pairs": 100, "part": 0.4, "parts": [[3, 100], [5, 50]], "points": 4,
    "positives": 120, "power": 0.9, "ramp": 0, "rank": 3, "rate": 0.05, "rest": 110, "rows": 120,
    "rules": 20, "runs": 20, "savings": [[[0, 40], [2048, 20]]], "scale": 3, "share": 0.2,
    "shared": 3, "shares": [[0, 40], [2048, 20]], "squares": 11, "t": 120,
    "tandem": 0.1, "target": 0.9, "theta": 0.9,
    "thetas": 100, "threshold": 0.5, "thresholds": 20, "total": 12, "value": 1, "voters": 11,
    "wrong": 5,
}  # fmt: skip
"""What every number of this name is, in all functions that take it."""
MOVED = {"move": "ratio", "by": 2, "k": 3, "n": 100, "delta": 0.05}
OTHERS: dict[str, dict[str, Any]] = {
    "best_pair": {"shares": [0.2, 0.3] * 50, "divergence": 1, "delta": 0.05},
    "counted": {"shares": [0, 1, 1]},
    "halves_of_pairs": {"positives": np.array([0.9, 0.5]), "negatives": np.array([0.1])},
    "passed_error": {"target": 0.05},
    "quantise": {"votes": [0.9, -0.2], "bits": 31, "scale": 1},
    "moved_lower": MOVED | {"bound": "rates.rate_lower", "k": 97},
    "moved_upper": MOVED | {"bound": "rates.rate_upper"},
    "rows_to_pass": {"error": 0},
    "shares_upper": {
        "parts": [[3, 100], [5, 50]], "shares": {"a": [0.4, 0.4], "b": [0.6, 0.6]}, "delta": 0.05,
        "claims": 2,
    },
    "vote_loss": {"shares": [0.2, 0.6], "voters": 11, "wrong": 5},
    "counted_losses": {"losses": np.array([0.0, 0.5])},
    "wrong_shares": {"smaller": np.array([0.9, 0.5]), "larger": np.array([0.1])},
}  # fmt: skip
"""Where a function needs other numbers, or takes more than numbers."""
SIMPLE = {
    "Parts", "Shares", "Blocks", "int", "float", "str", "bool", "int | None", "Growth | float",
    "Sequence[int]",
}  # fmt: skip
LECTURES = (compression, finite, margins, nvote, sample_sizes, sequence, vc)


def calls() -> Iterator[Any]:
    """Give every public function of numbers with its numbers; certificates are compared below."""
    modules = [
        import_module(f"pacboost.bounds.{own.name}") for own in iter_modules(bounds.__path__)
    ]
    for module in (*modules, *LECTURES):
        for name, function in inspect.getmembers(module, inspect.isfunction):
            kinds = {p.name: p.annotation for p in inspect.signature(function).parameters.values()}
            public = function.__module__ == module.__name__ and not name.startswith("_")
            numbers = "int" in str(inspect.signature(function)) or "float" in str(kinds)
            if not public or not numbers or "certificate" in name or name.startswith("growth_of"):
                continue
            if set(kinds.values()) <= SIMPLE:
                known = {own: GIVEN[own] for own, kind in kinds.items() if kind != "bool"}
                yield pytest.param(function, known | OTHERS.get(name, {}), id=name)
            elif name in OTHERS:
                yield pytest.param(function, OTHERS[name], id=name)


CALLS = list(calls())


def test_every_bound_is_attacked() -> None:
    attacked = {call.values[0] for call in CALLS}
    assert len(attacked) >= 120
    assert {own.compute for name, own in BOUNDS.items() if name != "training.product_bound"} <= (
        attacked
    )


def converted(given: dict[str, Any], kind: Any) -> dict[str, Any]:
    return {
        name: kind(value) if type(value) is int and value <= np.iinfo(kind).max else value
        for name, value in given.items()
    }


@pytest.mark.parametrize(("function", "numbers"), CALLS)
@pytest.mark.filterwarnings("error")
def test_every_integer_type_gives_the_same(
    function: Callable[..., Any], numbers: dict[str, Any]
) -> None:
    expected = function(**numbers)
    for kind in TYPES:
        found = function(**converted(numbers, kind))
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
@examples(60)
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
    original = growth.falling_terms

    def counted(k: int, n: int, odds: float, block: int) -> float:
        nonlocal longest
        longest = max(longest, min(k, 10 * math.isqrt(k * (n - k) // n + 1)))
        return original(k, n, odds, block)

    monkeypatch.setattr(binomial, "falling_terms", counted)
    for n in (10**6, 10**9, 10**12, 10**15, 10**18, 10**30):
        for k in (1, n // 1000, n // 2, n - 1):
            for delta in (0.05, 0.9):
                assert clopper_pearson_lower(k, n, delta) <= k / n * (1 + 1e-3) + 1e-3
                assert clopper_pearson(k, n, delta) >= k / n * (1 - 1e-3) - 1e-3
    assert longest <= 10 * math.isqrt(binomial.MAX_VARIANCE) + 10


@pytest.mark.parametrize("d", [4 * 10**17, 5 * 10**17 - 1, 5 * 10**17, 6 * 10**17])
def test_labelings_of_very_many_points_are_counted_outward(d: int) -> None:
    m = 10**18
    value = growth.log_sauer(d, m)
    assert growth.log_binomial(m, d) * (1 - 1e-12) <= value <= m * HALF * (1 + 1e-12)


def test_chernoff_takes_the_place_of_long_hypergeometric_sums(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cases = [(k, m, K, 5 * m) for m in (50, 400) for k in (1, m // 10) for K in (m, 2 * m, 4 * m)]
    exact = [hypergeometric.log_hypergeometric_tail(*case) for case in cases]
    monkeypatch.setattr(hypergeometric, "MAX_TERMS", 0)
    for case, value in zip(cases, exact, strict=True):
        assert hypergeometric.log_hypergeometric_tail(*case) >= value - 1e-12
    assert vc.hypergeometric(10**17, 10**18, 0.05, 30.0) >= 0.1


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
    for walked in (sequence.bernstein_bound, sequence.betting_bound):
        with pytest.raises(ParameterError, match="at most 10,000,000"):
            walked([1], 10**18, 0.05)
    assert recursive_error(0.49, 10**18) < 1e-300


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


@pytest.mark.parametrize(
    ("module", "extra"),
    [(holdout, {}), (finite, {"log_inverse_prior": 3.0}), (vc, {"log_growth": 3.0})],
)
def test_a_certificate_holds_plain_numbers(module: Any, extra: dict[str, float]) -> None:
    made = module.certificate(k=np.int8(3), n=np.int8(100), delta=np.float64(0.05), **extra)
    assert made == module.certificate(k=3, n=100, delta=0.05, **extra)
    assert made.to_json()
