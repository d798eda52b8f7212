"""Lower bounds: vectors, conditions, and worlds in which fewer examples really fail."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from pacboost.errors import NotCertified, ParameterError
from pacboost.numerics.growth import log_sauer
from pacboost.theory.finite import examples_for_consistent
from pacboost.theory.sample_sizes import (
    agnostic_lower,
    blumer,
    blumer_upper,
    ehkv,
    examples_for_no_free_lunch,
    examples_for_sharp,
    examples_needed,
    no_free_lunch,
    no_free_lunch_risk,
)


def test_vectors() -> None:
    assert blumer(0.05, 0.05) == pytest.approx(56.9, abs=0.05)
    assert ehkv(0.05, 0.01, 10) == pytest.approx(5.6, abs=0.05)
    assert blumer_upper(0.05, 0.05, 10) == 12836
    assert examples_needed(0.05, 0.05, 10) == 57


def test_rounds_down() -> None:
    assert ehkv(1 / 32, 0.01, 3) < 2
    assert blumer(0.25, 0.1) < 3 * np.log(10)
    assert agnostic_lower(0.01, 0.01, 32) < 1000


def test_the_better_of_the_two_is_taken() -> None:
    assert examples_needed(0.05, 0.01, 10_000) == np.ceil(ehkv(0.05, 0.01, 10_000))
    assert examples_needed(0.05, 0.01, 1) == 1
    assert examples_needed(0.3, 0.01, 10_000) == np.ceil(blumer(0.3, 0.01))
    assert examples_needed(0.05, 0.0715, 10_000) < ehkv(0.05, 0.0714, 10_000)


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 0.4, 0.5, 0.9])
@pytest.mark.parametrize("delta", [0.001, 0.05, 0.5])
def test_blumer_exactly(epsilon: float, delta: float) -> None:
    """With fewer examples a point of mass epsilon is missed too often; with many more it is not."""
    needed = blumer(epsilon, delta)
    assert (1 - epsilon) ** np.floor(needed) >= delta
    twin = needed / (1 - epsilon) ** 2  # claims to be necessary, but fewer examples do
    assert (1 - epsilon) ** twin < delta


def test_lower_stays_below_upper() -> None:
    for epsilon in (0.001, 0.01, 0.1):
        for delta in (0.001, 0.01, 0.1):
            for features in (1, 2, 10):
                dimension = 2 * features
                lower = examples_needed(epsilon, delta, dimension)
                assert lower <= examples_for_sharp(epsilon, delta, features)
                assert lower <= blumer_upper(epsilon, delta, dimension)
                assert lower <= examples_for_consistent(epsilon, delta, 0.7 * dimension)


@pytest.mark.parametrize("epsilon", [0.5, 0.1, 0.01, 0.001])
@pytest.mark.parametrize("delta", [0.5, 0.05, 1e-9])
@pytest.mark.parametrize("dimension", [1, 2, 10, 100])
def test_the_sufficient_number_is_sufficient(epsilon: float, delta: float, dimension: int) -> None:
    """2·Π(2m)·2^(-εm/2) ≤ δ, which the page on lower bounds derives with pencil and paper."""
    m = blumer_upper(epsilon, delta, dimension)
    log_failure = np.log(2) + log_sauer(dimension, 2 * m) - epsilon * m / 2 * np.log(2)
    assert log_failure <= np.log(delta)


def test_constants_of_the_agnostic_bound() -> None:
    """The chain of numbers in the proof: with d/(100ε²) examples the failure exceeds 1/64."""
    for epsilon in np.linspace(1e-6, 1 / 64, 200):
        share = (1 - (8 * epsilon) ** 2) ** (1 / (100 * epsilon**2))
        wrong = 0.5 * (1 - np.sqrt(1 - share))
        assert (8 * wrong - 1) / 7 > 1 / 64
    twin = 0.5 * (1 - np.sqrt(1 - share**2))  # with d/(50ε²) examples the argument breaks down
    assert (8 * twin - 1) / 7 < 1 / 64


def test_shape() -> None:
    assert ehkv(0.01, 0.01, 11) > ehkv(0.02, 0.01, 11) > ehkv(0.02, 0.01, 10)
    assert blumer(0.01, 0.01) > blumer(0.02, 0.01) > blumer(0.02, 0.02)
    assert (
        agnostic_lower(0.001, 0.01, 5)
        > agnostic_lower(0.01, 0.01, 5)
        > agnostic_lower(0.01, 0.01, 4)
    )
    assert blumer_upper(0.01, 0.01, 5) > blumer_upper(0.02, 0.01, 5) > blumer_upper(0.02, 0.01, 4)
    assert blumer_upper(0.5, 1e-30, 1) > blumer_upper(0.5, 0.1, 1)


def test_no_free_lunch_over_all_labellings() -> None:
    """Eight points, three examples: averaged over all labellings every learner guesses off-sample,
    and for some labelling the risk is 1/8 or more with probability 1/7 or more."""
    domain, n = 8, 3
    labellings = np.array(list(product((0, 1), repeat=domain)))
    samples = np.array(list(product(range(domain), repeat=n)))
    seen = np.zeros((len(samples), domain), dtype=bool)
    np.put_along_axis(seen, samples, True, axis=1)
    for guess in ("zero", "majority", "opposite"):
        risks = np.empty((len(labellings), len(samples)))
        off = 0.0
        for i, labels in enumerate(labellings):
            ones = (seen * labels).sum(axis=1)
            common = (2 * ones > seen.sum(axis=1)).astype(int)
            rest = {"zero": 0 * common, "majority": common, "opposite": 1 - common}[guess]
            wrong = ~seen & (rest[:, None] != labels)
            risks[i] = wrong.mean(axis=1)
            off += (wrong.sum(axis=1) / (~seen).sum(axis=1)).mean()
        assert off / len(labellings) == pytest.approx(0.5, abs=1e-12)
        assert risks.mean() == pytest.approx(no_free_lunch_risk(n, domain), rel=1e-9)
        assert (risks >= 1 / 8).mean(axis=1).max() >= 1 / 7


def test_no_free_lunch_in_words() -> None:
    assert "1/8" in no_free_lunch(3, 8)
    assert examples_for_no_free_lunch(7) == 4
    assert examples_for_no_free_lunch(8) == 4
    assert no_free_lunch_risk(5, 1) == 0
    with pytest.raises(NotCertified, match="half the domain"):
        no_free_lunch(4, 8)


def test_refuses_where_not_proved() -> None:
    with pytest.raises(NotCertified, match="delta < 1/14"):
        ehkv(0.05, 1 / 14, 10)
    with pytest.raises(NotCertified, match="epsilon ≤ 1/8"):
        ehkv(0.2, 0.01, 10)
    with pytest.raises(NotCertified, match="dimension 2"):
        ehkv(0.05, 0.01, 1)
    for epsilon, delta in ((0.1, 0.01), (0.01, 0.1), (1 / 64, 0.01)):
        with pytest.raises(NotCertified, match="below 1/64"):
            agnostic_lower(epsilon, delta, 10)


def test_refuses_bad_input() -> None:
    with pytest.raises(ParameterError, match="epsilon"):
        blumer(0.0, 0.05)
    with pytest.raises(ParameterError, match="delta"):
        blumer(0.1, 1.0)
    with pytest.raises(ParameterError, match="dimension"):
        agnostic_lower(0.01, 0.01, 0)
    with pytest.raises(ParameterError, match="domain"):
        no_free_lunch(3, 0)
