"""No delta above 0 is ever printed as a confidence of 100 %, and no confidence is rounded up."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacboost.bounds import holdout, wording
from pacboost.bounds.rounding import confidence, confidence_number
from pacboost.questions import verdict
from pacboost.theory import plan

TINY = [1e-4, 1e-7, 3e-9, 1e-12, 1e-30, 5e-324]


@pytest.mark.parametrize("delta", TINY)
def test_sentences_never_say_100_percent(delta: float) -> None:
    certificate = holdout.certificate(0, 1000, delta)
    said = str(wording.sentence(certificate))
    assert "(99.9" in said
    assert "100 % confidence" not in said
    judged = verdict.judge(certificate, delta, 0.5, verdict.FitMeasurements(1, 0.0)).sentence
    assert "100 % confidence" not in judged


@pytest.mark.parametrize("delta", [1e-7, 1e-12])
def test_plans_never_say_confidence_1(delta: float) -> None:
    asked = plan.finite(epsilon=0.1, delta=delta, size=10).question
    assert "confidence 0.99999" in asked


@given(st.floats(min_value=0, max_value=1, exclude_min=True, exclude_max=True))
def test_confidence_is_rounded_down(delta: float) -> None:
    true = 1 - Decimal(repr(delta))
    percent = Decimal(confidence(delta).removesuffix(" %"))
    assert percent < 100
    assert 100 * true - Decimal("1e-4") < percent <= 100 * true
    assert true - Decimal("1e-6") < Decimal(confidence_number(delta)) <= true


def test_usual_confidences_are_short() -> None:
    assert [confidence(d) for d in (0.05, 0.01, 0.1, 0.025, 0.001)] == [
        "95 %", "99 %", "90 %", "97.5 %", "99.9 %",
    ]  # fmt: skip
