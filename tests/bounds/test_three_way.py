"""The certificate of the recursion: its number, its refusal, and that it can be made again."""

from __future__ import annotations

import pytest

from pacboost.bounds.filtering import recursive_certificate, recursive_error
from pacboost.errors import NotCertified, ParameterError
from pacboost.ledgers.ledger import Ledger
from pacboost.numerics.three_way import targets
from pacboost.questions.verify import recompute


@pytest.mark.parametrize("epsilon", [0.3, 0.1, 0.01, 1e-6])
@pytest.mark.parametrize("weak", [0.3, 0.45, 0.49])
def test_targets_lead_back_to_epsilon(epsilon: float, weak: float) -> None:
    aims = targets(epsilon, weak)
    value = recursive_error(aims[0], len(aims) - 1)
    assert value == pytest.approx(epsilon, rel=1e-9)
    assert value >= aims[-1]  # what early returns were tested for


def test_no_level_at_all() -> None:
    assert recursive_error(0.2, 0) == pytest.approx(0.2)
    assert recursive_error(0.2, 0) >= 0.2


def test_from_a_half_on_nothing_follows() -> None:
    with pytest.raises(NotCertified, match="below 1/2"):
        recursive_error(0.5, 3)
    with pytest.raises(ParameterError, match="levels"):
        recursive_error(0.4, -1)


def test_it_can_be_made_again() -> None:
    made = recursive_certificate(0.4, 3, 0.05, 1000, "draws are independent")
    ledger = Ledger("three_way", "none", "Stump", 1000, 1, False, False)
    assert recompute(made, ledger) == made.value
    assert made.assumptions == ("draws are independent",)
    assert made.size == 1000
