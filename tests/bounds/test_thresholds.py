"""Thresholds by rank and by wish, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacboost.bounds.answering import Answering, at_thresholds, by_ranks
from pacboost.bounds.decision import Borders
from pacboost.errors import DataError, NotCertified, ParameterError


@given(
    st.lists(st.tuples(st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0]), st.booleans()), min_size=1),
    st.integers(1, 30),
)
def test_counts_are_those_of_the_rows(rows: list[tuple[float, bool]], ranks: int) -> None:
    confidence, wrong = np.array([c for c, _ in rows]), np.array([w for _, w in rows])
    found = by_ranks(confidence, wrong, 0.05, ranks)
    assert found.points[0].threshold == 0
    assert found.points[0].answered == found.rows == len(rows)
    assert found.thresholds <= min(ranks, len(rows))
    for point in found.points:
        answered = confidence >= point.threshold
        assert (point.answered, point.mistakes) == (int(answered.sum()), int(wrong[answered].sum()))
        assert point.fewest <= point.answered <= point.most
    assert Answering.from_dict(found.to_dict()) == found
    again = at_thresholds(
        confidence, wrong, 0.05, [p.threshold for p in found.points if p.threshold <= 1]
    )
    assert [p.answered for p in again.points] == [p.answered for p in found.points]


def test_without_ties_the_ranks_are_what_is_answered() -> None:
    confidence = np.random.default_rng(0).random(1000)
    found = by_ranks(confidence, confidence < 0.2, 0.05)
    assert [point.answered for point in found.points] == list(range(1000, 0, -50))
    assert all(p.fewest == p.most == p.answered for p in found.points)
    assert found.thresholds == 20


def test_order_of_rows_does_not_matter() -> None:
    generator = np.random.default_rng(1)
    confidence, wrong = generator.random(300).round(1), generator.random(300) < 0.1
    order = generator.permutation(300)
    assert by_ranks(confidence, wrong, 0.1) == by_ranks(confidence[order], wrong[order], 0.1)


def test_all_rows_equally_sure_leave_one_threshold() -> None:
    found = by_ranks(np.ones(100), np.zeros(100), 0.05)
    assert [point.threshold for point in found.points] == [0.0]
    assert found.shares == ((1.0, 1.0),)


def test_a_threshold_that_nobody_reaches() -> None:
    found = at_thresholds([0.1, 0.2], [False, False], 0.05, [0.9]).at(0)
    assert found.error == 1
    assert found.certificate.vacuous
    assert found.share[0] == 0


@pytest.mark.parametrize(
    ("confidence", "wrong", "problem"),
    [
        ([], [], "at least one row"),
        ([0.5], [True, False], "one of each"),
        ([[0.5]], [[True]], "shape"),
        ([1.5], [True], "between 0 and 1"),
        ([float("nan")], [True], "between 0 and 1"),
    ],
)
def test_refuses_rows(confidence: Any, wrong: Any, problem: str) -> None:
    with pytest.raises(DataError, match=problem):
        by_ranks(confidence, wrong, 0.05)
    with pytest.raises(DataError, match=problem):
        at_thresholds(confidence, wrong, 0.05, [0.5])


@pytest.mark.parametrize("threshold", [-0.1, 1.1, float("nan"), "0.5", True, None])
def test_refuses_thresholds(threshold: Any) -> None:
    with pytest.raises(ParameterError, match="confidence lies between 0 and 1"):
        at_thresholds([0.5], [True], 0.05, [threshold])


def test_refuses_other_input() -> None:
    with pytest.raises(ParameterError, match="no thresholds"):
        at_thresholds([0.5], [True], 0.05, [])
    with pytest.raises(ParameterError, match="ranks"):
        by_ranks([0.5], [True], 0.05, 0)
    with pytest.raises(ParameterError, match="delta"):
        by_ranks([0.5], [True], 0.0)
    with pytest.raises(ParameterError, match="target_error"):
        by_ranks([0.5], [True], 0.05).within(1.0)
    with pytest.raises(NotCertified, match="name a target_error"):
        _ = by_ranks([0.5], [True], 0.05).point


def test_borders_are_fixed_and_lie_between_close_scores() -> None:
    generator = np.random.default_rng(0)
    scores = np.concatenate([
        generator.random(100), np.exp(-1000 * generator.random(100)), generator.normal(size=100),
        np.arange(-100, 101) / 60, [0.0, -0.0, 5e-324, -5e-324, 1.7e308, -1.7e308],
    ])  # fmt: skip
    for borders in (Borders(), Borders(38)):
        below = borders.below(scores)
        assert (below <= scores).all()
        assert (borders.below(below) == below).all()
        above = np.array([borders.above(score) for score in scores])
        assert (above > scores).all()
        assert (np.diff(below[np.argsort(scores, kind="stable")]) >= 0).all()
        assert (
            below >= np.array([borders.above(own) for own in np.nextafter(below, -np.inf)])
        ).all()
    tenths = np.arange(1, 1001) / 1000
    for step in range(-50, 51):
        assert (
            Borders().below(tenths + step * np.spacing(tenths)) == Borders().below(tenths)
        ).all()
