"""Capital against a certificate: exact vectors, streams of known truth, and the broken twin."""

import math
from fractions import Fraction

import numpy as np
import pytest

from pacboost.bounds import monitoring
from pacboost.bounds.holdout import clopper_pearson
from pacboost.errors import ParameterError
from pacboost.monitoring.mistakes import MistakeStream
from tests.bounds.coverage import check_coverage, check_rejected

ERROR, DELTA = 0.05, 0.05


@pytest.mark.parametrize(
    ("k", "n", "error", "vector"),
    [(80, 1000, 0.05, 5.993390), (0, 100, 0.05, -2.773269), (3, 10, 0.1, 1.144893)],
)
def test_capital_is_the_mean_over_the_bets(k: int, n: int, error: float, vector: float) -> None:
    e = Fraction(error)
    capital = Fraction(0)
    for q in map(Fraction, monitoring.alternatives(error).tolist()):
        bet = (q - e) / (e * (1 - e))  # the form 1 + l(X - e)
        assert 0 < bet < 1 / e
        capital += (1 + bet * (1 - e)) ** k * (1 - bet * e) ** (n - k)
    exact = math.log(capital / len(monitoring.ODDS))
    assert monitoring.log_capital(k, n, error) == pytest.approx(exact, abs=1e-9)
    assert monitoring.log_capital(k, n, error) == pytest.approx(vector, abs=1e-6)


def test_mistakes_that_refute() -> None:
    capital = [monitoring.log_capital(k, 1000, ERROR) for k in range(1001)]
    assert capital == sorted(capital)
    assert np.searchsorted(capital, math.log(20)) == 74
    assert monitoring.log_capital(1, 1, 0.5) < math.log(20)


def test_the_kernel_follows_the_definition_row_by_row() -> None:
    mistakes = np.random.default_rng(1).random(2000) < 0.07
    stream = MistakeStream(ERROR, DELTA, 500)
    stream.add(mistakes)
    others = monitoring.alternatives(ERROR)
    capital, level, wrong = np.ones(16), np.zeros(16), 0
    refuted, sounded, squares = None, [], 0.0
    for row, x in enumerate(mistakes, start=1):
        factor = others / ERROR if x else (1 - others) / (1 - ERROR)
        squares += (x - (wrong + 0.5) / row) ** 2
        wrong += int(x)
        capital, level = capital * factor, (level + 1) * factor
        refuted = row if refuted is None and capital.mean() >= 20 else refuted
        if level @ monitoring.DETECTOR_WEIGHTS >= 500:
            sounded.append(row)
            level = np.zeros(16)
    assert refuted is not None
    assert len(sounded) > 1
    assert (stream.refuted_at, stream.sounded_at) == (refuted, sounded[0])
    assert (stream.sounded_last, stream.sounded) == (sounded[-1], len(sounded))
    assert stream.detector == pytest.approx(level @ monitoring.DETECTOR_WEIGHTS, rel=1e-9)
    exact = monitoring.mean_interval(wrong, squares, 2000, DELTA)
    assert stream.interval() == pytest.approx(exact, abs=1e-9)


def watched(streams: int, rows: int, error: float = ERROR) -> tuple[int, int, int]:
    """Count streams that refute a true certificate, whose interval ever misses, and alarms."""
    refuted = missed = sounded = 0
    for seed in range(streams):
        mistakes = np.random.default_rng(seed).random(rows) < error
        stream = MistakeStream(ERROR, DELTA, rows)
        ever = False
        for start in range(0, rows, rows // 50):
            stream.add(mistakes[start : start + rows // 50])
            low, high = stream.interval()
            ever |= not low <= error <= high
        missed += ever
        refuted += stream.refuted_at is not None
        sounded += stream.sounded
    return refuted, missed, sounded


def test_no_more_false_alarms_than_promised() -> None:
    refuted, missed, sounded = watched(100, 2000)
    check_coverage("monitor: refuted though true", refuted, 100, DELTA)
    check_coverage("monitor: mean error ever outside", missed, 100, DELTA)
    assert sounded <= 100 * 1.3  # at most one in 2,000 rows on average


@pytest.mark.slow
def test_no_more_false_alarms_than_promised_over_long_streams() -> None:
    refuted, missed, sounded = watched(1000, 100_000)
    check_coverage("monitor: refuted though true, 1e5 rows", refuted, 1000, DELTA)
    check_coverage("monitor: mean error ever outside, 1e5 rows", missed, 1000, DELTA)
    assert sounded <= 1000 * 1.15


def test_alarms_by_repeated_fixed_bounds_are_rejected() -> None:
    """The twin: a lower Clopper-Pearson end above the certificate, looked at after every batch."""
    looks = np.unique(np.geomspace(20, 20_000, 200).astype(int))
    least = np.array([least_mistakes(n) for n in looks])
    false = 0
    for seed in range(200):
        total = np.cumsum(np.random.default_rng(seed).random(20_000) < ERROR)
        false += bool((total[looks - 1] >= least).any())
    check_rejected("monitor: repeated Clopper-Pearson", false, 200, DELTA)


def least_mistakes(n: int) -> int:
    """The fewest mistakes among n rows whose lower end is above the certified error."""
    low, high = 0, n
    while high - low > 1:
        middle = (low + high) // 2
        above = 1 - clopper_pearson(n - middle, n, DELTA) > ERROR
        low, high = (low, middle) if above else (middle, high)
    return high


def test_the_mean_error_is_enclosed_while_it_changes() -> None:
    errors = np.concatenate([np.full(1500, 0.02), np.full(1500, 0.3), np.full(1500, 0.1)])
    truth = np.cumsum(errors) / np.arange(1, errors.size + 1)
    missed = 0
    for seed in range(80):
        stream = MistakeStream(ERROR, DELTA, 10**9)
        mistakes = np.random.default_rng(seed).random(errors.size) < errors
        ever = False
        for start in range(0, errors.size, 50):
            stream.add(mistakes[start : start + 50])
            low, high = stream.interval()
            ever |= not low <= truth[start + 49] <= high
        missed += ever
    check_coverage("monitor: mean of changing errors", missed, 80, DELTA)


def test_rows_until_a_jump_is_seen() -> None:
    rows = monitoring.rows_to_see(0.05, 0.08, math.log(20), 0.9)
    late = 0
    for seed in range(300):
        stream = MistakeStream(0.05, 0.05, 10**6)
        stream.add(np.random.default_rng(seed).random(rows) < 0.08)
        late += stream.refuted_at is None
    check_coverage("monitor: a jump is seen too late", late, 300, 0.1)
    with pytest.raises(ParameterError, match="grows"):
        monitoring.rows_to_see(0.08, 0.05, 3.0)
