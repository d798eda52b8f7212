"""Coverage by one order statistic: vectors, known truth, and the promise on average as a twin."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import beta, binom

import pacboost
from pacboost.bounds import measures
from pacboost.bounds.coverage import average_rank, covered_lower, covering_rank
from pacboost.errors import NotCertified, ParameterError
from pacboost.questions.deciding import CalibrationRows
from pacboost.questions.new_rows import NewRows
from tests.bounds.coverage import check_coverage, check_rejected

VECTORS = {
    (100, 0.1): (96, 91), (500, 0.1): (462, 451), (1000, 0.1): (916, 901), (1000, 0.05): (962, 951),
}  # fmt: skip


@pytest.mark.parametrize("case", VECTORS)
def test_vectors(case: tuple[int, float]) -> None:
    n, a = case
    rank, average = VECTORS[case]
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


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize(("n", "coverage"), [(40, 0.9), (300, 0.9), (200, 0.95)])
def test_promises_are_kept(n: int, coverage: float, ties: bool) -> None:
    failed = missed(n, coverage, 0.05, 600, ties, average=False)
    check_coverage(f"sets, n={n}, coverage={coverage}, ties={ties}", failed, 600, 0.05)


@pytest.mark.slow
@pytest.mark.parametrize("delta", [0.01, 0.05, 0.2])
@pytest.mark.parametrize("n", [60, 500, 5000])
@pytest.mark.parametrize("coverage", [0.5, 0.9])
def test_promises_are_kept_in_full(n: int, coverage: float, delta: float) -> None:
    failed = missed(n, coverage, delta, 4000, ties=False, average=False)
    check_coverage(f"sets, n={n}, coverage={coverage}", failed, 4000, delta)


@pytest.mark.parametrize("n", [100, 1000])
def test_coverage_on_average_sold_as_confidence_is_rejected(n: int) -> None:
    failed = missed(n, 0.9, 0.05, 300, ties=False, average=True)
    check_rejected(f"sets that cover on average, n={n}", failed, 300, 0.05)


def test_certificates_are_made_again() -> None:
    inputs = {"rank": 96, "n": 100, "delta": 0.05, "claims": 1}
    made = measures.certificate("set_coverage", "covering.covered_lower", inputs, size=100)
    assert made.claim == (
        "The prediction set holds the true class for at least 91.08 % of new examples."
    )
    assert pacboost.verify(made)[0].holds
    assert not made.vacuous
    with pytest.raises(ParameterError, match="of is 'set_coverage'"):
        pacboost.certify(None, [[0.0]], [0], of="set_coverage")


def test_rows_that_nothing_covers() -> None:
    rows = CalibrationRows(NewRows(100, np.arange(100)), np.arange(100), "calibration rows")
    scores = np.arange(100.0)
    scores[:4] = np.inf
    cutoff, made = rows.cutoff("set_coverage", scores, 0.9, 0.05)
    assert cutoff == pytest.approx(99)
    assert made.inputs["rank"] == 96
    scores[:5] = np.inf
    with pytest.raises(NotCertified, match=r"5 of 100 rows can never be covered.*allows 4"):
        rows.cutoff("set_coverage", scores, 0.9, 0.05)
