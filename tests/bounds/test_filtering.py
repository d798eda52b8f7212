"""The certified stop: what it says, what it refuses, and how often it fails."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacboost.bounds.filtering import (
    certificate,
    error_by_draws,
    error_by_weight,
    recursive_certificate,
    recursive_error,
)
from pacboost.bounds.holdout import clopper_pearson
from pacboost.errors import NotCertified, ParameterError
from pacboost.ledgers.ledger import Ledger, Refill
from pacboost.numerics.growth import targets
from pacboost.numerics.sequences import kt_upper
from pacboost.questions.verify import recompute
from tests.bounds.coverage import check_coverage, check_rejected
from tests.grids import each_value

REFILL = Refill(
    number=3, rounds=17, draws=1500, fresh=1000, accepted=90, scale=1.0, mean=0.05, lower=0.03,
    upper=0.08, error=0.04, error_upper=0.16, loss=0.2, delta=0.002, smoothness=20.0, again=500,
    mistakes=40,
)  # fmt: skip
ASSUMES = "rows are drawn independently"


def test_the_bound_is_the_upper_end_times_the_factor() -> None:
    upper = kt_upper(50.0, 1000, 0.01)
    assert error_by_weight(0.05, 1000, 0.01, 1.0) == pytest.approx(upper, rel=1e-9)
    assert error_by_weight(0.05, 1000, 0.01, 2.0) == pytest.approx(2 * upper, rel=1e-9)
    assert error_by_weight(0.9, 1000, 0.01, 2.0) == 1.0
    assert error_by_weight(0.0, 1000, 0.01, 2.0) < 0.03


@given(st.floats(0, 1), st.integers(1, 10**7), st.floats(1e-9, 0.5))
def test_it_is_rounded_outward(mean: float, draws: int, delta: float) -> None:
    bound = error_by_weight(mean, draws, delta, 1.0)
    assert mean <= bound <= 1
    assert bound >= min(1.0, kt_upper(min(draws, math.nextafter(mean * draws, 0)), draws, delta))


def test_what_it_says() -> None:
    told = certificate(REFILL, 0.025, 2.0, ASSUMES)
    assert "first 17 rounds" in told.claim
    assert "of new examples" in told.claim
    assert "this file" not in told.claim
    assert told.size == 1000
    assert told.assumptions == (ASSUMES,)
    assert told.valid_after_looking
    assert "factor 2" in told.theorem
    assert "never looked at" in told.rows_in_words
    assert told.value == error_by_draws(0.05, 40, 1000, 0.002, 2.0)
    # Which test ends a run depends on what all of them found, so they share one delta.
    assert (told.delta, told.inputs["delta"]) == (0.025, REFILL.delta)


@pytest.mark.parametrize("of", ["this file", "this array"])
def test_draws_that_came_before_speak_of_their_source_alone(of: str) -> None:
    again = replace(REFILL, fresh=0, again=1500)
    told = certificate(again, 0.025, 1.0, ASSUMES, of=of)
    assert f"the error on {of}" in told.claim
    assert "new examples" not in told.claim
    assert told.size == 1500
    assert of in told.rows_in_words


def test_nothing_is_certified_without_draws() -> None:
    with pytest.raises(NotCertified, match="nothing was tested"):
        certificate(replace(REFILL, fresh=0), 0.025, 1.0, ASSUMES)
    with pytest.raises(NotCertified, match="nothing was tested"):
        certificate(replace(REFILL, draws=0, again=0), 0.025, 1.0, ASSUMES, of="this file")
    with pytest.raises(NotCertified, match="one kind"):
        certificate(REFILL, 0.025, 1.0, ASSUMES, of="this file")


def stops(delta: float, *, shared: bool, runs: int) -> int:
    """Runs whose votes all err on 0.101, tested one after the other until one seems below 0.1."""
    generator, wrong = np.random.default_rng(0), 0
    for _ in range(runs):
        for k in range(40):
            part = delta / ((k + 1) * (k + 2)) if shared else delta
            draws = 35 + 5 * k if shared else 35
            mean = generator.binomial(draws, 0.101) / draws
            if error_by_weight(mean, draws, part, 1.0) <= 0.1:
                wrong += 1
                break
    return wrong


def test_tests_that_share_delta_hold_together_and_others_do_not() -> None:
    check_coverage("first of many tests that stops", stops(0.3, shared=True, runs=300), 300, 0.3)
    wrong = stops(0.3, shared=False, runs=300)
    check_rejected("first of many tests, each with all of delta", wrong, 300, 0.3)


# -- mistakes besides the mean weight


def test_mistakes_count_besides_the_mean_weight() -> None:
    told = certificate(REFILL, 0.025, 2.0, ASSUMES)
    assert told.bound == "filtering.error_by_draws"
    assert told.value == pytest.approx(kt_upper(40.0, 1000, 0.001), rel=1e-9)
    assert recompute(told, None) == told.value  # type: ignore[arg-type]
    light = certificate(replace(REFILL, mistakes=300), 0.025, 2.0, ASSUMES)
    assert light.value == error_by_weight(0.05, 1000, 0.001, 2.0)
    assert "mean weight" in told.theorem


def test_mistakes_count_alone_where_weights_say_nothing_of_them() -> None:
    told = certificate(REFILL, 0.025, 0.0, ASSUMES)
    assert told.value == error_by_draws(0.0, 40, 1000, 0.002, 0.0)
    assert "mean weight" not in told.theorem


def smaller_bound_fails(delta: float, *, split: bool, runs: int) -> int:
    """Weights and mistakes that are independent of each other; each mean is 0.3."""
    generator, draws, wrong = np.random.default_rng(1), 60, 0
    for _ in range(runs):
        weights, mistakes = generator.binomial(draws, 0.3, size=2)
        own = delta / 2 if split else delta
        bounds = [clopper_pearson(int(k), draws, own) for k in (weights, mistakes)]
        wrong += min(bounds) < 0.3
    return wrong


def test_half_of_delta_for_each_holds() -> None:
    wrong = smaller_bound_fails(0.3, split=True, runs=400)
    check_coverage("the smaller of two bounds, delta split", wrong, 400, 0.3)
    wrong = smaller_bound_fails(0.3, split=False, runs=400)
    check_rejected("the smaller of two bounds, delta not split", wrong, 400, 0.3)


# The certificate of the recursion: its number, its refusal, and that it can be made again.


@each_value
@pytest.mark.parametrize("epsilon", [0.3, 0.1, 0.01, 1e-6])
@pytest.mark.parametrize("weak", [0.3, 0.45, 0.49])
def test_targets_lead_back_to_epsilon(epsilon: float, weak: float) -> None:
    aims = targets(epsilon, weak)
    value = recursive_error(aims[0], len(aims) - 1)
    assert value == pytest.approx(epsilon, rel=1e-9)
    assert value >= aims[-1]  # what early returns were tested for


def test_from_a_half_on_nothing_follows() -> None:
    with pytest.raises(NotCertified, match="below 1/2"):
        recursive_error(0.5, 3)
    with pytest.raises(ParameterError, match="levels"):
        recursive_error(0.4, -1)


def test_it_can_be_made_again() -> None:
    made = recursive_certificate(0.4, 3, 0.05, 1000, "draws are independent")
    ledger = Ledger("three_way", "none", "stump", 1000, 1, False, False)
    assert recompute(made, ledger) == made.value
    assert made.assumptions == ("draws are independent",)
    assert made.size == 1000
