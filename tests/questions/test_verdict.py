"""Verdicts: the sentence says what the certificate says, and what is missing is enough."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacboost.bounds import holdout, search, shift
from pacboost.numerics.percent import percent_above
from pacboost.questions.verdict import FitMeasurements, judge, nothing_certified

PLAIN = FitMeasurements(rounds=100, training_error=0.01)
WATCHED = FitMeasurements(100, 0.05, watching=400, edge=0.001, expected_error=0.1)


@given(st.floats(1e-6, 1.0))
def test_a_bound_is_never_said_to_be_smaller_than_it_is(value: float) -> None:
    said = float(percent_above(value).removesuffix(" %")) / 100
    assert value * (1 - 1e-9) <= said <= value + 0.001 + 1e-9


def test_what_was_reached_says_so() -> None:
    certificate = holdout.certificate(10, 1000, 0.05)
    verdict = judge(certificate, 0.05, 0.05, PLAIN)
    assert verdict.reached
    assert "reached after 100 rounds" in verdict.sentence
    assert f" {shift.stays(certificate, 0.05)}" in verdict.note
    assert "unlike the certified rows" in verdict.note
    assert verdict.reason == ""


def test_without_epsilon_nothing_is_reached_or_missed() -> None:
    assert judge(holdout.certificate(10, 1000, 0.05), 0.05, None, PLAIN).reached is None


@given(
    k=st.integers(0, 60),
    n=st.integers(100, 2000),
    epsilon=st.sampled_from([0.01, 0.05, 0.1, 0.2]),
    looks=st.sampled_from([1, 2]),
)
def test_as_many_more_certified_examples_do_and_fewer_do_not(
    k: int, n: int, epsilon: float, looks: int
) -> None:
    certificate = holdout.certificate(k, n, 0.05, looks)
    verdict = judge(certificate, 0.05, epsilon, PLAIN)
    if verdict.reached:
        assert certificate.value <= epsilon
    elif k / n >= epsilon:
        assert verdict.more_certified is None
    else:
        assert verdict.more_certified is not None
        needed = n + verdict.more_certified
        mistakes = search.expected_mistakes(k / n, needed)
        assert holdout.clopper_pearson(mistakes, needed, 0.05, looks) <= epsilon
        assert "more certified examples" in verdict.sentence


def test_groups_are_counted_in_groups() -> None:
    certificate = holdout.groups_certificate([0.0] * 57 + [1.0] * 3, 0.05)
    verdict = judge(certificate, 0.05, 0.1, PLAIN)
    assert verdict.more_certified is not None
    assert "more certified groups" in verdict.sentence
    groups = 60 + verdict.more_certified
    assert holdout.groups_bound(0.05, groups, 0.05) <= 0.1
    assert holdout.groups_bound(0.05, groups - 1, 0.05) > 0.1


def test_rows_in_time_are_counted_by_their_own_bound() -> None:
    verdict = judge(holdout.ordered_certificate(10, 200, 0.05), 0.05, 0.1, PLAIN)
    assert verdict.more_certified is not None
    rows = 200 + verdict.more_certified
    assert holdout.ordered_mixture(search.expected_mistakes(0.05, rows), rows, 0.05) <= 0.1


TOO_MANY = holdout.certificate(120, 1000, 0.05)


@pytest.mark.parametrize(
    ("evidence", "words"),
    [
        ({}, ["edge has vanished (0.001", "expect 10 %", "noise"]),
        ({"edge": 0.2}, ["too small to help (0.200"]),
        ({"improving": True}, ["100 rounds were still improving"]),
        ({"training_error": 0.0, "expected_error": 0.01}, ["more rows to learn"]),
    ],
)
def test_the_reason_follows_from_what_was_measured(evidence: Any, words: list[str]) -> None:
    reason = judge(TOO_MANY, 0.05, 0.05, replace(WATCHED, **evidence)).reason
    assert all(part in reason for part in words)


def test_nothing_certified_says_how_many_would_do() -> None:
    verdict = nothing_certified("12 rows are too few to set any apart", 0.05, 0.1)
    assert not verdict.reached
    assert verdict.value == 1
    assert verdict.more_certified == 29
    assert holdout.clopper_pearson(0, 29, 0.05) <= 0.1 < holdout.clopper_pearson(0, 28, 0.05)
