"""Rates, F1, balanced error and gaps: vectors, coverage with rare classes, and broken twins."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from pacboost.bounds import measures
from pacboost.bounds.measures import certificate, made_again
from pacboost.errors import ParameterError
from tests.bounds.coverage import check_coverage, check_rejected

Counts = NDArray[np.int64]
COMMON = (0.25, 0.05, 0.1, 0.6)
RARE = (0.006, 0.004, 0.004, 0.986)
"""Chances of true positives, false positives, false negatives and true negatives."""


def test_vectors() -> None:
    assert measures.rate_lower(97, 100, 0.05) == pytest.approx(0.924289, abs=1e-6)
    assert measures.rate_lower(80, 110, 0.05) == pytest.approx(0.648749, abs=1e-6)
    assert measures.f1_lower(80, 110, 0.05) == pytest.approx(0.786959, abs=1e-6)


def test_claims_share_delta() -> None:
    for bound in (measures.rate_upper, measures.rate_lower, measures.f1_lower, measures.f1_upper):
        assert bound(7, 90, 0.05, 5) == pytest.approx(bound(7, 90, 0.01), rel=1e-9)
    assert measures.balanced_upper("3/90 4/70", 0.05, 5) == pytest.approx(
        measures.balanced_upper("3/90 4/70", 0.01), rel=1e-9
    )


def test_ends_enclose_what_was_seen() -> None:
    for k, n in ((0, 9), (4, 9), (9, 9)):
        assert measures.rate_lower(k, n, 0.05) <= k / n <= measures.rate_upper(k, n, 0.05)
        assert measures.f1_lower(k, n, 0.05) <= 2 * k / (n + k) <= measures.f1_upper(k, n, 0.05)
        parts = f"{k}/{n} 1/9"
        low, high = measures.balanced_lower(parts, 0.05), measures.balanced_upper(parts, 0.05)
        assert low <= (k / n + 1 / 9) / 2 <= high
        assert measures.gap_upper(parts, 0.05) >= abs(k / n - 1 / 9)


@pytest.mark.parametrize("parts", ["", "3", "3/0", "4/3", "a/b", "-1/3"])
def test_counts_that_no_rows_give(parts: str) -> None:
    with pytest.raises(ParameterError):
        measures.balanced_upper(parts, 0.05)


def test_a_gap_needs_two_groups() -> None:
    with pytest.raises(ParameterError, match="two groups"):
        measures.gap_upper("3/10", 0.05)


def test_unknown_names_are_refused() -> None:
    inputs = {"k": 1, "n": 9, "delta": 0.05, "claims": 1}
    with pytest.raises(ParameterError, match="measure is 'recal'; it may be 'error', 'recall'"):
        certificate("recal", "rates.rate_lower", inputs, size=9)
    with pytest.raises(ParameterError, match="bound is"):
        certificate("recall", "rates.rate", inputs, size=9)


def test_certificates_are_made_again() -> None:
    inputs = {"k": 7, "n": 90, "delta": 0.05, "claims": 6}
    first = certificate("precision", "rates.rate_lower", inputs, size=90, **{"class": "yes"})
    assert made_again(first) == first
    assert "6 claims share delta" in first.sample


def drawn(chances: tuple[float, ...], n: int, runs: int) -> Counts:
    return np.random.default_rng(n).multinomial(n, chances, size=runs)


Value = Callable[[int, int, float], float]


def misses(
    bound: Value, events: Counts, rows: Counts, truth: float, delta: float, lower: bool
) -> int:
    """Count runs in which a bound fails; without rows nothing is claimed."""
    known = cache(lambda k, n: bound(k, n, delta))
    values = [known(int(k), int(n)) for k, n in zip(events, rows, strict=True) if n > 0]
    wrong = np.array(values) > truth if lower else np.array(values) < truth
    return int(wrong.sum())


def judged(chances: tuple[float, ...], n: int, delta: float, runs: int) -> None:
    tp, fp, fn, _ = drawn(chances, n, runs).T
    p_tp, p_fp, p_fn, p_tn = chances
    both = tp + fp + fn
    index = p_tp / (p_tp + p_fp + p_fn)
    cases: list[tuple[str, Value, Counts, Counts, float, bool]] = [
        ("recall", measures.rate_lower, tp, tp + fn, p_tp / (p_tp + p_fn), True),
        ("missed", measures.rate_upper, fn, tp + fn, p_fn / (p_tp + p_fn), False),
        ("precision", measures.rate_lower, tp, tp + fp, p_tp / (p_tp + p_fp), True),
        ("false alarms", measures.rate_upper, fp, n - tp - fn, p_fp / (p_fp + p_tn), False),
        ("F1 lower", measures.f1_lower, tp, both, 2 * index / (1 + index), True),
        ("F1 upper", measures.f1_upper, tp, both, 2 * index / (1 + index), False),
    ]
    for name, bound, events, rows, truth, lower in cases:
        count = misses(bound, events, rows, truth, delta, lower)
        check_coverage(f"{name}, n={n}, rare={p_tp < 0.05}", count, runs, delta)


@pytest.mark.parametrize("chances", [COMMON, RARE])
@pytest.mark.parametrize("n", [20, 1000])
def test_coverage(chances: tuple[float, ...], n: int) -> None:
    judged(chances, n, 0.05, 2000)


@pytest.mark.slow
@pytest.mark.parametrize("chances", [COMMON, RARE])
@pytest.mark.parametrize("delta", [0.05, 0.01])
@pytest.mark.parametrize("n", [20, 100, 1000, 10_000])
def test_coverage_in_full(chances: tuple[float, ...], delta: float, n: int) -> None:
    judged(chances, n, delta, 20_000)


def test_precision_counted_among_all_rows_is_rejected() -> None:
    _, fp, fn, _ = drawn(COMMON, 400, 2000).T
    truth = 0.25 / 0.3
    rows = np.full(2000, 400)
    count = misses(measures.rate_lower, 400 - fp, rows, truth, 0.05, True)
    check_rejected("precision with m = all rows", count, 2000, 0.05)
    index = COMMON[0] / sum(COMMON[:3])
    count = misses(measures.f1_lower, 400 - fp - fn, rows, 2 * index / (1 + index), 0.05, True)
    check_rejected("F1 with m = all rows", count, 2000, 0.05)


CLASSES = {0.01: 0.3, 0.19: 0.2, 0.8: 0.02}
"""Shares of classes and their error rates."""


def balanced(runs: int, n: int, pooled: bool) -> int:
    generator = np.random.default_rng(3)
    truth, failed = sum(CLASSES.values()) / 3, 0
    for _ in range(runs):
        sizes = generator.multinomial(n, list(CLASSES))
        wrong = generator.binomial(sizes, list(CLASSES.values()))
        if not sizes.all():
            continue
        parts = measures.write_parts([(int(k), int(m)) for k, m in zip(wrong, sizes, strict=True)])
        value = (
            measures.rate_upper(int(wrong.sum()), n, 0.05)
            if pooled
            else measures.balanced_upper(parts, 0.05)
        )
        failed += value < truth
    return failed


def test_balanced_error() -> None:
    check_coverage("balanced error, a rare class", balanced(1500, 800, False), 1500, 0.05)
    check_rejected("balanced error from pooled rows", balanced(1500, 800, True), 1500, 0.05)


def groups(runs: int, claims: int) -> tuple[int, int]:
    """How often any of 20 groups, or their gap, is bounded wrongly; all have a rate of 0.2."""
    failed = gaps = 0
    generator = np.random.default_rng(5)
    upper = cache(lambda k, n: measures.rate_upper(k, n, 0.05, claims))
    lower = cache(lambda k, n: measures.rate_lower(k, n, 0.05, claims))
    for _ in range(runs):
        sizes = generator.multinomial(1000, [0.05] * 20)
        counts = generator.binomial(sizes, [0.2] * 19 + [0.5])
        pairs = [(int(k), int(n)) for k, n in zip(counts, sizes, strict=True)]
        failed += any(upper(k, n) < 0.2 for k, n in pairs[:-1])
        ends = [upper(k, n) for k, n in pairs], [lower(k, n) for k, n in pairs]
        gaps += max(ends[0]) - min(ends[1]) < 0.3
    return failed, gaps


def test_all_groups_at_once() -> None:
    failed, gaps = groups(1000, 40)
    check_coverage("20 groups, each at delta/40", failed, 1000, 0.05)
    check_coverage("the gap between 20 groups", gaps, 1000, 0.05)
    failed, _ = groups(1000, 1)
    check_rejected("20 groups, each at delta", failed, 1000, 0.05)


def searched(runs: int, fresh: bool) -> int:
    """Search the best of 40 groups and certify it, on the same rows or on others."""
    generator = np.random.default_rng(6)
    counts = generator.binomial(60, 0.3, size=(2, runs, 40))
    chosen = counts[0].argmin(axis=1)
    held = counts[1 if fresh else 0][np.arange(runs), chosen]
    return misses(measures.rate_upper, held, np.full(runs, 60), 0.3, 0.05, False)


def test_a_search_over_groups_needs_other_rows() -> None:
    check_coverage("group searched on other rows", searched(2000, True), 2000, 0.05)
    check_rejected("group searched on its rows", searched(2000, False), 2000, 0.05)
