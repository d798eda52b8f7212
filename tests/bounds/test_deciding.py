"""Thresholds with a guarantee: vectors, coverage of every promise, and broken twins."""

import math

import numpy as np
import pytest
from scipy.stats import beta, binom, norm

from pacboost.bounds import deciding
from pacboost.bounds.coverage import average_rank, covered_lower, covering_rank
from pacboost.bounds.holdout import clopper_pearson
from pacboost.bounds.rates import rate_lower
from pacboost.errors import NotCertified, ParameterError
from pacboost.questions.calibration_rows import CalibrationRows
from pacboost.questions.new_rows import NewRows
from pacboost.questions.thresholds import ThresholdChoice, read_wish
from tests.bounds.coverage import check_coverage, check_rejected
from tests.grids import each_value

VECTORS = {
    (59, 0.05): 1, (100, 0.05): 2, (200, 0.05): 5, (1000, 0.05): 39, (1000, 0.01): 5,
    (500, 0.1): 39,
}  # fmt: skip


@pytest.mark.parametrize("case", VECTORS)
def test_vectors(case: tuple[int, float]) -> None:
    n, rate = case
    rank = deciding.rank_for(n, rate, 0.05)
    assert rank == VECTORS[case]
    assert binom.cdf(rank - 1, n, rate) <= 0.05 < binom.cdf(rank, n, rate)


def test_fewest_rows() -> None:
    assert [deciding.fewest_rows(a, 0.05) for a in (0.1, 0.05, 0.01)] == [29, 59, 299]
    assert deciding.rank_for(58, 0.05, 0.05) == 0


def test_all_thresholds_at_once() -> None:
    """Two missed of a thousand, at a third of delta: the curve that choosing by costs needs."""
    assert deciding.curve_upper(2, 1000, 0.05, 3) == pytest.approx(0.0121, abs=5e-5)
    assert clopper_pearson(2, 1000, 0.05, 3000) == pytest.approx(0.0159, abs=5e-5)
    assert deciding.curve_upper(1000, 1000, 0.05) == 1.0
    many = deciding.MAX_ROWS_FOR_CHAIN + 1
    assert deciding.curve_upper(7, many, 0.05) == clopper_pearson(7, many, 0.05, many)


def test_the_curve_fails_anywhere_with_probability_delta_at_most() -> None:
    uniform = np.sort(np.random.default_rng(4).random((4000, 100)), axis=1)

    def failures(claims: int) -> int:
        ranks = [deciding.next_rank(k, 100) for k in range(1, 101)]
        ends = [clopper_pearson(rank - 1, 100, 0.05, claims) for rank in ranks]
        return int((uniform > ends).any(axis=1).sum())

    claims = deciding.claims_at_once(100, 0.05)
    assert failures(claims) > 100  # the level is used up: it is no union bound
    check_coverage("all thresholds at once, n=100", failures(claims), 4000, 0.05)
    check_rejected("every threshold at delta", failures(1), 4000, 0.05)


def test_chances_that_all_ranks_hold() -> None:
    nats = math.log(40)
    first, second = (beta.isf(1 / 40, k, 3 - k) for k in (1, 2))
    both = 2 * first * second - first**2  # P[U₍₁₎ ≤ first, U₍₂₎ ≤ second]
    assert deciding._all_hold(2, nats) == pytest.approx(both, rel=1e-7)


def drawn(generator: np.random.Generator, rows: int, share: float, ties: bool) -> ThresholdChoice:
    """Scores of two normal laws, two apart; with ties they are rounded to halves."""
    positives = int(generator.binomial(rows, share))
    high, low = generator.normal(2, 1, positives), generator.normal(0, 1, rows - positives)
    if ties:
        high, low = np.round(high * 2) / 2, np.round(low * 2) / 2
    return ThresholdChoice(high, low, 1, 0.05)


def truths(threshold: float, share: float, ties: bool) -> dict[str, float]:
    if ties:  # scores at least t are those above t - 1/4 before rounding
        threshold = np.ceil(threshold * 2) / 2 - 0.25
    recall, alarms = norm.sf(threshold - 2), norm.sf(threshold)
    right = share * recall
    return {
        "recall": recall,
        "false_positive_rate": alarms,
        "precision": right / (right + (1 - share) * alarms),
        "cost": share * (1 - recall) * 10 + (1 - share) * alarms,
    }


def broken(
    name: str, wish: object, rows: int, share: float, runs: int, ties: bool = False
) -> tuple[int, int]:
    """How often a guarantee, and how often anything on the other side, is broken."""
    generator = np.random.default_rng(rows)
    failed = others = 0
    for _ in range(runs):
        try:
            decision = drawn(generator, rows, share, ties).decide(name, wish)
        except NotCertified:
            continue
        truth = truths(decision.threshold, share, ties)
        failed += violated(decision.certificate, truth)
        others += any(violated(own, truth) for own in decision.others)
    return failed, others


def violated(certificate, truth) -> bool:  # type: ignore[no-untyped-def]
    value, own = certificate.value, truth[certificate.of_what]
    lower = certificate.bound.endswith("_lower")
    return bool(value > own + 1e-12 if lower else value < own - 1e-12)


CASES: list[tuple[str, object, int, float, int]] = [
    ("recall", 0.9, 400, 0.2, 60),
    ("recall", 0.8, 2000, 0.01, 60),
    ("false_positive_rate", 0.05, 300, 0.3, 60),
    ("precision", 0.8, 600, 0.3, 25),
    ("cost", (10.0, 1.0), 300, 0.2, 12),
]
"""Wish, rows, share of positives and number of runs."""
IN_FULL = [
    pytest.param((name, wish, rows, share, 400 if name == "cost" else 2000), marks=pytest.mark.slow)
    for name, wish, *_ in CASES for rows in (100, 500, 5000) for share in (0.01, 0.3)
]  # fmt: skip


@each_value
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("case", [*CASES, *IN_FULL])
def test_promises_are_kept(case: tuple[str, object, int, float, int], ties: bool) -> None:
    name, wish, rows, share, runs = case
    failed, others = broken(name, wish, rows, share, runs, ties)
    check_coverage(f"threshold, {name}={wish}, n={rows}, ties={ties}", failed, runs, 0.05)
    check_coverage(f"other side of {name}={wish}, n={rows}", others, runs, 0.05)


def chosen_in_noise(plain: bool, runs: int) -> int:
    """Scores say nothing, and 89.8 % are positive: how often is a precision of 90 % promised?"""
    generator = np.random.default_rng(9)
    failed = 0
    for _ in range(runs):
        own, score = generator.random(400) < 0.898, generator.random(400)
        if plain:  # any of 50 thresholds whose bound, made for one of them, keeps the promise
            said = [own[score >= t] for t in np.linspace(0, 0.9, 50)]
            failed += any(rate_lower(int(s.sum()), s.size, 0.05) >= 0.9 for s in said)
            continue
        try:
            ThresholdChoice(score[own], score[~own], 1, 0.05).decide("precision", 0.9)
        except NotCertified:
            continue
        failed += 1
    return failed


def test_the_best_looking_threshold_is_rejected() -> None:
    check_coverage("precision tested in a fixed order", chosen_in_noise(False, 100), 100, 0.05)
    check_rejected("precision at the best of 50 thresholds", chosen_in_noise(True, 100), 100, 0.05)


def promised(share: float, delta: float, runs: int) -> int:
    """How often is a precision of 90 % promised where so many rows have the highest score?"""
    generator = np.random.default_rng(3)
    found = 0
    for _ in range(runs):
        score = np.maximum(0, generator.random(2000) - share)  # and 1 for the others
        own = generator.random(2000) < 0.8999
        score[score == 0] = 1.0
        try:
            ThresholdChoice(score[own], score[~own], 1, delta).decide("precision", 0.9)
        except NotCertified:
            continue
        found += 1
    return found


@pytest.mark.parametrize("share", [0.0, 0.3, 0.6])
def test_sequences_of_tests_share_delta(share: float) -> None:
    check_coverage(f"precision, {share:.0%} of scores equal", promised(share, 0.05, 60), 60, 0.05)


def test_sequences_that_have_the_whole_of_delta_each_are_rejected() -> None:
    sequences = len(deciding.planned_ranks(2000, 1 - 0.9, 0.05))
    check_rejected(
        "precision, whole delta for each sequence", promised(0, 0.05 * sequences, 300), 300, 0.05
    )


@pytest.mark.parametrize("share", [0.1, 0.3, 0.6])
def test_many_equal_scores_do_not_prevent_a_certificate_of_precision(share: float) -> None:
    generator = np.random.default_rng(0)
    score = np.where(generator.random(2000) < share, 1.0, generator.random(2000))
    own = generator.random(2000) < np.where(score == 1, 0.97, 0.94)
    found = ThresholdChoice(score[own], score[~own], 1, 0.05).decide("precision", 0.9)
    assert found.certificate.value == 0.9
    assert int((score >= found.threshold).sum()) >= 0.9 * share * 2000


def test_seen_rates_sold_as_a_guarantee_are_rejected() -> None:
    generator = np.random.default_rng(8)
    failed = 0
    for _ in range(600):
        positives = generator.normal(2, 1, 200)
        threshold = np.sort(positives)[20]  # a tenth of the positives lie below
        failed += norm.sf(threshold - 2) < 0.9
    check_rejected("the threshold at which a tenth was missed", failed, 600, 0.05)


@pytest.mark.parametrize(
    "wishes",
    [{}, {"recall": 0.9, "precision": 0.9}, {"recall": 1.5}, {"cost": 3}, {"cost": (0, 1)}],
)
def test_bad_wishes(wishes: dict[str, object]) -> None:
    with pytest.raises(ParameterError):
        read_wish(wishes)


def test_too_few_rows_say_how_many_are_needed() -> None:
    few = ThresholdChoice(np.arange(40.0), np.arange(160.0), "sick", 0.05)
    with pytest.raises(NotCertified, match=r"59 rows.*'sick'.* 40\..* 19 more"):
        few.decide("recall", 0.95)
    with pytest.raises(NotCertified, match="no threshold"):
        few.decide("precision", 0.9)
    with pytest.raises(NotCertified, match=r"no rows.*'sick'"):
        ThresholdChoice(np.empty(0), np.arange(9.0), "sick", 0.05).decide("recall", 0.5)


def test_rows_that_are_not_new_count_against_the_promise() -> None:
    generator = np.random.default_rng(1)
    high, low = generator.normal(2, 1, 200), generator.normal(0, 1, 800)
    plain = ThresholdChoice(high, low, 1, 0.05).decide("recall", 0.9)
    worse = ThresholdChoice(np.append(high, [-np.inf] * 3), low, 1, 0.05).decide("recall", 0.9)
    assert worse.threshold < plain.threshold


# Coverage by one order statistic: vectors, known truth, and the promise on average as a twin.

VECTORS_OF_COVERING = {
    (100, 0.1): (96, 91), (500, 0.1): (462, 451), (1000, 0.1): (916, 901), (1000, 0.05): (962, 951),
}  # fmt: skip


@pytest.mark.parametrize("case", VECTORS_OF_COVERING)
def test_vectors_of_covering(case: tuple[int, float]) -> None:
    n, a = case
    rank, average = VECTORS_OF_COVERING[case]
    assert (covering_rank(n, 1 - a, 0.05), average_rank(n, 1 - a)) == (rank, average)
    assert binom.sf(rank - 1, n, 1 - a) <= 0.05 < binom.sf(rank - 2, n, 1 - a)
    exact = beta.ppf(0.05, rank, n - rank + 1)  # the law of a uniform order statistic
    assert covered_lower(rank, n, 0.05) == pytest.approx(exact, abs=1e-6)
    assert covered_lower(rank, n, 0.05) >= 1 - a > covered_lower(average, n, 0.05)


def test_too_few_rows() -> None:
    assert [covering_rank(n, 0.9, 0.05) for n in (28, 29)] == [29, 29]
    assert average_rank(8, 0.9) == 9
    with pytest.raises(ParameterError):
        covered_lower(0, 20, 0.05)
    with pytest.raises(ParameterError):
        covered_lower(21, 20, 0.05)


def missed(n: int, coverage: float, delta: float, runs: int, ties: bool, average: bool) -> int:
    """How often the coverage of uniform scores, or of tenths of them, is below what was asked."""
    generator = np.random.default_rng(n)
    rank = average_rank(n, coverage) if average else covering_rank(n, coverage, delta)
    promised = coverage if average else covered_lower(rank, n, delta)
    failed = 0
    for _ in range(runs):
        cutoff = np.sort(generator.random(n))[rank - 1]
        failed += (np.ceil(cutoff * 10) / 10 if ties else cutoff) < promised
    return failed


COVERING: list[tuple[int, float, float, int]] = [
    (40, 0.9, 0.05, 600), (300, 0.9, 0.05, 600), (200, 0.95, 0.05, 600),
]  # fmt: skip
COVERING_IN_FULL = [
    pytest.param((n, coverage, delta, 4000), marks=pytest.mark.slow)
    for n in (60, 500, 5000) for coverage in (0.5, 0.9) for delta in (0.01, 0.05, 0.2)
]  # fmt: skip


@each_value
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("case", [*COVERING, *COVERING_IN_FULL])
def test_promises_of_covering_are_kept(case: tuple[int, float, float, int], ties: bool) -> None:
    n, coverage, delta, runs = case
    failed = missed(n, coverage, delta, runs, ties, average=False)
    check_coverage(f"sets, n={n}, coverage={coverage}, ties={ties}", failed, runs, delta)


@pytest.mark.parametrize("n", [100, 1000])
def test_coverage_on_average_sold_as_confidence_is_rejected(n: int) -> None:
    failed = missed(n, 0.9, 0.05, 300, ties=False, average=True)
    check_rejected(f"sets that cover on average, n={n}", failed, 300, 0.05)


def test_rows_that_nothing_covers() -> None:
    rows = CalibrationRows(NewRows(100, np.arange(100)), np.arange(100), {"rows": "calibration"})
    scores = np.arange(100.0)
    scores[:4] = np.inf
    cutoff, made = rows.cutoff("set_coverage", scores, 0.9, 0.05)
    assert cutoff == pytest.approx(99)
    assert made.inputs["rank"] == 96
    scores[:5] = np.inf
    with pytest.raises(NotCertified, match=r"5 of 100 rows.*allows 4"):
        rows.cutoff("set_coverage", scores, 0.9, 0.05)
