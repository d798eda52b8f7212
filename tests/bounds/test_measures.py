"""Rates, F1, balanced error and gaps: vectors, coverage with rare classes, and broken twins."""

import math
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import beta, norm

from pacboost.bounds import losses, rates
from pacboost.errors import ParameterError
from pacboost.numerics.kl import kl_lower, kl_upper
from tests.bounds.coverage import check_coverage, check_rejected
from tests.grids import each_value
from tests.runs import several_runs

Counts = NDArray[np.int64]
COMMON = (0.25, 0.05, 0.1, 0.6)
RARE = (0.006, 0.004, 0.004, 0.986)
"""Chances of true positives, false positives, false negatives and true negatives."""


def test_ends_enclose_what_was_seen() -> None:
    for k, n in ((0, 9), (4, 9), (9, 9)):
        assert rates.rate_lower(k, n, 0.05) <= k / n <= rates.rate_upper(k, n, 0.05)
        assert rates.f1_lower(k, n, 0.05) <= 2 * k / (n + k) <= rates.f1_upper(k, n, 0.05)
        parts = [[k, n], [1, 9]]
        low, high = rates.balanced_lower(parts, 0.05), rates.balanced_upper(parts, 0.05)
        assert low <= (k / n + 1 / 9) / 2 <= high
        assert rates.gap_upper(parts, 0.05) >= abs(k / n - 1 / 9)


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
        ("recall", rates.rate_lower, tp, tp + fn, p_tp / (p_tp + p_fn), True),
        ("missed", rates.rate_upper, fn, tp + fn, p_fn / (p_tp + p_fn), False),
        ("precision", rates.rate_lower, tp, tp + fp, p_tp / (p_tp + p_fp), True),
        ("false alarms", rates.rate_upper, fp, n - tp - fn, p_fp / (p_fp + p_tn), False),
        ("F1 lower", rates.f1_lower, tp, both, 2 * index / (1 + index), True),
        ("F1 upper", rates.f1_upper, tp, both, 2 * index / (1 + index), False),
    ]
    for name, bound, events, rows, truth, lower in cases:
        count = misses(bound, events, rows, truth, delta, lower)
        check_coverage(f"{name}, n={n}, rare={p_tp < 0.05}", count, runs, delta)


IN_FULL = [
    pytest.param(n, delta, 20_000, marks=pytest.mark.slow)
    for n in (20, 100, 1000, 10_000) for delta in (0.05, 0.01)
]  # fmt: skip


@each_value
@pytest.mark.parametrize("chances", [COMMON, RARE])
@pytest.mark.parametrize(("n", "delta", "runs"), [(20, 0.05, 2000), (1000, 0.05, 2000), *IN_FULL])
def test_coverage(chances: tuple[float, ...], n: int, delta: float, runs: int) -> None:
    judged(chances, n, delta, runs)


def test_precision_counted_among_all_rows_is_rejected() -> None:
    _, fp, fn, _ = drawn(COMMON, 400, 2000).T
    truth = 0.25 / 0.3
    rows = np.full(2000, 400)
    count = misses(rates.rate_lower, 400 - fp, rows, truth, 0.05, True)
    check_rejected("precision with m = all rows", count, 2000, 0.05)
    index = COMMON[0] / sum(COMMON[:3])
    count = misses(rates.f1_lower, 400 - fp - fn, rows, 2 * index / (1 + index), 0.05, True)
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
        parts = [[int(k), int(m)] for k, m in zip(wrong, sizes, strict=True)]
        value = (
            rates.rate_upper(int(wrong.sum()), n, 0.05)
            if pooled
            else rates.balanced_upper(parts, 0.05)
        )
        failed += value < truth
    return failed


def test_balanced_error() -> None:
    check_coverage("balanced error, a rare class", balanced(200, 800, False), 200, 0.05)
    check_rejected("balanced error from pooled rows", balanced(1500, 800, True), 1500, 0.05)


def chance_of_failing(bound: Callable[..., float], chances: list[float], delta: float) -> float:
    """Compute how often a bound on the mean of some chances is below it, without simulation."""
    law = np.ones(1)
    for chance in chances:
        law = np.convolve(law, [1 - chance, chance])
    m, mean = len(chances), sum(chances) / len(chances)
    is_lower = bound.__name__.endswith("lower")
    values = np.array([bound(k, m, delta) for k in range(m + 1)])
    return float(law[values > mean if is_lower else values < mean].sum())


def test_a_pool_of_groups_with_different_chances() -> None:
    delta = 0.05
    nearly_sure = [1.0] * 99 + [1 - 99.9 * (1 - (1 - delta) ** 0.01)]
    assert chance_of_failing(rates.pooled_upper, nearly_sure, delta) <= delta
    twin = chance_of_failing(rates.rate_upper, nearly_sure, delta)
    assert twin > 1.02 * delta  # 0.0512
    never = [1 - chance for chance in nearly_sure]
    assert chance_of_failing(rates.pooled_lower, never, delta) <= delta
    assert chance_of_failing(rates.rate_lower, never, delta) == pytest.approx(twin)
    generator = np.random.default_rng(5)
    for _ in range(200):
        a, b = generator.uniform(0.1, 2, size=2).tolist()
        chances = generator.beta(a, b, size=12).tolist()
        for bound in (rates.pooled_upper, rates.pooled_lower):
            assert chance_of_failing(bound, chances, 0.3) <= 0.3


@pytest.mark.parametrize(
    "parts",
    [
        [[0, 100], [0, 100], [0, 100], [0, 100]],
        [[10, 100], [3, 50], [0, 80]],
        [[1, 12], [200, 9000], [40, 700]],
    ],
)
def test_classes_are_bounded_at_once(parts: list[list[int]]) -> None:
    """Chernoff's bound on the mean, tried with rates just above it."""
    pairs = rates.read_parts(parts)
    value = rates.balanced_upper(parts, 0.05)
    alone = np.mean([rates.rate_upper(k, n, 0.05, len(pairs)) for k, n in pairs])
    assert value < 0.99 * alone
    seen = sum(k / n for k, n in pairs) / len(pairs)
    assert rates.balanced_lower(parts, 0.05) <= seen < value
    generator = np.random.default_rng(0)
    for share in generator.dirichlet(np.ones(len(pairs)), size=30):
        chances = np.minimum(share * value * len(pairs) * (1 + 1e-6), 1)
        if chances.mean() < value:  # a rate above 1 was cut off
            continue
        draws = np.stack(
            [generator.binomial(n, p, 2_000) / n for p, (_, n) in zip(chances, pairs, strict=True)]
        )
        assert (draws.mean(axis=0) <= seen + 1e-12).mean() <= 0.07


def groups(runs: int, claims: int) -> tuple[int, int]:
    """How often any of 20 groups, or their gap, is bounded wrongly; all have a rate of 0.2."""
    failed = gaps = 0
    generator = np.random.default_rng(5)
    upper = cache(lambda k, n: rates.rate_upper(k, n, 0.05, claims))
    lower = cache(lambda k, n: rates.rate_lower(k, n, 0.05, claims))
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
    return misses(rates.rate_upper, held, np.full(runs, 60), 0.3, 0.05, False)


def test_a_search_over_groups_needs_other_rows() -> None:
    check_coverage("group searched on other rows", searched(2000, True), 2000, 0.05)
    check_rejected("group searched on its rows", searched(2000, False), 2000, 0.05)


# Means of bounded losses and the AUC: vectors, coverage, and broken twins.


def test_vector_of_the_auc() -> None:
    assert losses.auc_lower(73_600, 200, 200, 0.05) == pytest.approx(0.864733, abs=1e-6)
    assert losses.auc_lower(73_600, 200, 200, 0.05) == kl_lower(0.92, math.log(20) / 200)


def test_pairs_are_counted_as_by_brute_force() -> None:
    generator = np.random.default_rng(0)
    positives, negatives = generator.integers(0, 9, 40), generator.integers(0, 7, 30)
    pairs = np.sign(positives[:, None] - negatives) + 1
    found = losses.halves_of_pairs(positives.astype(float), negatives.astype(float))
    assert found == pairs.sum()


def test_never_worse_than_chernoff() -> None:
    values = np.random.default_rng(1).beta(2, 8, size=300)
    text = losses.counted_losses(values)
    mean = np.ceil(values * 4096).mean() / 4096
    assert losses.mean_upper(text, 1.0, 0.05) <= kl_upper(mean, math.log(20) / 300) * (1 + 1e-9)
    assert losses.mean_upper(text, 3.0, 0.05) == pytest.approx(
        3 * losses.mean_upper(text, 1.0, 0.05)
    )
    savings = losses.counted_losses(1 - values)
    assert losses.mean_lower(savings, 1.0, 0.05) < values.mean()
    assert losses.mean_upper(text, 1.0, 0.05) > values.mean()


def test_a_bet_that_learns_is_sharper_where_losses_vary_little() -> None:
    spread = beta.ppf((np.arange(500) + 0.5) / 500, 0.15 * 11.75, 0.85 * 11.75)
    assert losses.mean_upper(losses.counted_losses(spread), 1.0, 0.05) == pytest.approx(
        0.1730, abs=5e-5
    )
    generator = np.random.default_rng(0)
    texts = [losses.counted_losses(generator.permutation(spread), rare=False) for _ in range(4)]
    values = [losses.mean_upper(text, 1.0, 0.05) for text in texts]
    assert np.median(values) == pytest.approx(0.1619, abs=3e-4)
    with pytest.raises(ParameterError, match="blocks have"):
        losses.mean_upper([[[100, 9]], [[200, 9]], [[300, 9]]], 1.0, 0.05)


def test_ranks_are_sharper_where_one_side_has_many_rows() -> None:
    high = norm.ppf((np.arange(200) + 0.5) / 200, 2.035)
    low = norm.ppf((np.arange(10_000) + 0.5) / 10_000)
    pairs = losses.auc_lower(losses.halves_of_pairs(high, low), 200, 10_000, 0.05)
    assert pairs == pytest.approx(0.871, abs=5e-4)
    wrong = losses.wrong_shares(high, low)
    value = losses.ranks_lower(losses.counted_losses(wrong, rare=False), 10_000, 0.05)
    assert 0.881 <= value < 0.883
    turned = losses.wrong_shares(-high, -low)
    assert losses.ranks_upper(losses.counted_losses(1 - turned, rare=False), 10_000, 0.05) < 0.12


def ranked_failures(runs: int, known: bool) -> int:
    """How often the lower end by ranks exceeds the AUC of 40 positives and 800 negatives."""
    generator, truth, failed = np.random.default_rng(8), norm.cdf(1 / math.sqrt(2)), 0
    for _ in range(runs):
        high, low = generator.normal(1, 1, 40), generator.normal(0, 1, 800)
        wrong = losses.wrong_shares(high, low)
        if known:  # the mean place, give or take the deviation of the negatives alone
            value = 1 - wrong.mean() - math.sqrt(math.log(40) / 1600)
        else:
            value = losses.ranks_lower(losses.counted_losses(wrong, rare=False), 800, 0.05)
        failed += value > truth
    return failed


@several_runs(20, 150)
def test_ranks(runs: int) -> None:
    check_coverage("AUC by ranks", ranked_failures(runs, False), runs, 0.05)
    check_rejected("AUC, positives not paid for", ranked_failures(150, True), 150, 0.05)


def auc_failures(runs: int, positives: int, negatives: int, pairs: bool) -> int:
    """How often the lower end exceeds the AUC of two normal distributions."""
    generator = np.random.default_rng(2)
    truth, failed = norm.cdf(1 / math.sqrt(2)), 0
    for _ in range(runs):
        high, low = generator.normal(1, 1, positives), generator.normal(0, 1, negatives)
        halves = losses.halves_of_pairs(high, low)
        if pairs:  # as if all pairs were independent
            number = positives * negatives
            value = kl_lower(halves / (2 * number), math.log(20) / number)
        else:
            value = losses.auc_lower(halves, positives, negatives, 0.05)
        failed += value > truth
    return failed


@pytest.mark.parametrize("sizes", [(10, 200), (50, 50)])
def test_auc(sizes: tuple[int, int]) -> None:
    check_coverage(f"AUC, {sizes}", auc_failures(800, *sizes, False), 800, 0.05)
    check_rejected(f"AUC of independent pairs, {sizes}", auc_failures(800, *sizes, True), 800, 0.05)


@cache
def mean_upper(blocks: tuple[tuple[tuple[int, int], ...], ...], delta: float) -> float:
    return losses.mean_upper(blocks, 1.0, delta)


def loss_failures(runs: int, n: int, delta: float, normal: bool, rare: bool = True) -> int:
    """How often the bound is below the mean 0.02 of a loss that is seldom, but then large."""
    generator = np.random.default_rng(4)
    failed = 0
    for _ in range(runs):
        values = generator.choice(np.array([0.0, 0.2, 1.0]), p=[0.95, 0.0375, 0.0125], size=n)
        if normal:
            value = float(values.mean() + norm.isf(delta) * values.std(ddof=1) / math.sqrt(n))
        else:
            blocks = losses.counted_losses(values, rare)
            value = mean_upper(tuple(tuple((a, b) for a, b in block) for block in blocks), delta)
        failed += value < 0.02
    return failed


def test_mean_of_losses() -> None:
    check_coverage("mean loss, n=60", loss_failures(40, 60, 0.05, False), 40, 0.05)
    blocks = loss_failures(40, 60, 0.05, False, rare=False)
    check_coverage("mean loss by blocks, n=60", blocks, 40, 0.05)
    check_rejected("mean loss by the normal law", loss_failures(400, 60, 0.05, True), 400, 0.05)


@pytest.mark.slow
@pytest.mark.parametrize("delta", [0.05, 0.01])
@pytest.mark.parametrize("n", [20, 200, 2000])
@pytest.mark.parametrize("rare", [True, False])
def test_mean_of_losses_in_full(n: int, delta: float, rare: bool) -> None:
    failed = loss_failures(3000, n, delta, False, rare)
    check_coverage(f"mean loss, n={n}, rare={rare}", failed, 3000, delta)


@several_runs(40, 400)
def test_lower_end_of_a_mean(runs: int) -> None:
    generator = np.random.default_rng(7)
    failed = 0
    for _ in range(runs):
        values = generator.beta(1, 4, size=40)
        failed += losses.mean_lower(losses.counted_losses(1 - values), 1.0, 0.05) > 0.2
    check_coverage("lower end of a mean loss", failed, runs, 0.05)
