"""The smallest of several bounds, paid for."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from pacboost.bounds import holdout
from pacboost.bounds.certificate import Certificate
from pacboost.errors import NotCertified, ParameterError
from pacboost.theory.finite import best_of
from tests.bounds.coverage import check_coverage, check_rejected

RISK, SAMPLES, ROWS = 0.3, 20, 60


def refuse(delta: float) -> Certificate:
    raise NotCertified(f"not at {delta}")


def smallest_of_many(share: bool, runs: int) -> int:
    """How often the smallest of twenty independent hold-out bounds is below the risk."""
    generator = np.random.default_rng(1)
    mistakes = generator.binomial(ROWS, RISK, size=(runs, SAMPLES))
    violations = 0
    certificate, limit = cache(holdout.certificate), cache(holdout.clopper_pearson)
    for row in mistakes.tolist():
        if share:
            makers = [lambda d, k=k: certificate(k, ROWS, d) for k in row]
            value = best_of(makers, 0.05).value
        else:
            value = min(limit(k, ROWS, 0.05) for k in row)
        violations += value < RISK
    return violations


def test_coverage() -> None:
    check_coverage("best of twenty, shared", smallest_of_many(True, 1500), 1500, 0.05)


def test_without_sharing_it_is_rejected() -> None:
    check_rejected("best of twenty, each at delta", smallest_of_many(False, 1500), 1500, 0.05)


def test_refusals_are_passed_over_but_paid_for() -> None:
    best = best_of([refuse, lambda d: holdout.certificate(3, 100, d)], 0.05)
    assert best.value == holdout.clopper_pearson(3, 100, 0.025)
    assert best.delta == 0.05


def test_all_refusing_says_why() -> None:
    with pytest.raises(NotCertified, match=r"every bound refuses: not at 0.025; not at 0.025"):
        best_of([refuse, refuse], 0.05)


def test_bad_input() -> None:
    with pytest.raises(ParameterError, match="at least one"):
        best_of([], 0.05)
    with pytest.raises(ParameterError, match="delta"):
        best_of([refuse], 0.0)
