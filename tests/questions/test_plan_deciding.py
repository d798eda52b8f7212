"""Plans for recall and for coverage: vectors, and what the plans promise."""

from __future__ import annotations

import pytest
from scipy.stats import binom

from pacboost.bounds.coverage import covering_rank
from pacboost.bounds.measures import rate_lower
from pacboost.errors import ParameterError
from pacboost.theory import plan
from tests.cli.running import answer


def test_fewest_positives() -> None:
    found = [plan.recall(recall=r, delta=0.05).examples for r in (0.9, 0.95, 0.99)]
    assert found == [29, 59, 299]


def test_it_passes_as_often_as_planned() -> None:
    found = plan.recall(recall=0.9, delta=0.05, true_recall=0.95, power=0.9)
    n = int(found.details["positives"])
    for rows in (n, n + 1, n + 50):
        chance = sum(
            binom.pmf(k, rows, 0.95) for k in range(rows + 1) if rate_lower(k, rows, 0.05) >= 0.9
        )
        assert chance >= 0.9


@pytest.mark.parametrize(
    ("case", "rank"),
    [((100, 0.1), 96), ((500, 0.1), 462), ((1000, 0.1), 916), ((1000, 0.05), 962)],
)
def test_vectors_of_coverage(case: tuple[int, float], rank: int) -> None:
    n, a = case
    assert covering_rank(n, 1 - a, 0.05) == rank
    assert binom.sf(rank - 1, n, 1 - a) <= 0.05 < binom.sf(rank - 2, n, 1 - a)


def test_coverage_and_what_a_mean_would_promise() -> None:
    found = plan.coverage(coverage=0.9, delta=0.05, excess=0.025)
    n, rank = int(found.details["rows of each class"]), int(found.details["rank"])
    assert 0 < rank / (n + 1) - 0.9 <= 0.025
    marginal = int(found.details["rank for coverage on average only"])
    assert binom.sf(marginal - 1, n, 0.9) > 0.05
    each = plan.coverage(coverage=0.9, delta=0.05, excess=0.025, classes=5)
    assert int(each.details["rows of each class"]) > n


def test_bad_input_and_the_command() -> None:
    with pytest.raises(ParameterError, match="true_recall is"):
        plan.recall(recall=0.95, delta=0.05, true_recall=0.9)
    with pytest.raises(ParameterError, match="coverage"):
        plan.coverage(coverage=1.0, delta=0.05)
    found = answer("plan", "recall", "--recall", "0.95", "--delta", "0.05")
    assert found["examples"] == 59
    assert answer("plan", "coverage", "--coverage", "0.9", "--delta", "0.05")["examples"] > 29
