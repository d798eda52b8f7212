"""The share of rare classes that is missed: the bound holds, and counts what it has to."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from pacboost.bounds import holdout, wording
from pacboost.bounds.estimates import missed_classes, missed_in_words
from pacboost.bounds.held_out import HeldOut

DELTA = 0.05
SHARES = np.array([0.84, 0.06, 0.06, 0.04])
MISSES = np.array([0.02, 0.25, 0.3, 0.4])
"""How often each of four classes is missed, in truth."""


def drawn(generator: np.random.Generator, rows: int = 400) -> tuple[Any, Any]:
    labels = generator.choice(4, rows, p=SHARES)
    wrong = generator.random(rows) < MISSES[labels]
    said = np.where(wrong, (labels + 1) % 4, labels)
    counted = HeldOut.of(labels, said, np.arange(4))
    assert counted is not None
    return holdout.certificate(int(wrong.sum()), rows, DELTA), counted


def failures(runs: int, *, shared: bool) -> float:
    """How often some named class is missed more often than its bound says."""
    failed, generator = 0, np.random.default_rng(0)
    for _ in range(runs):
        certificate, counted = drawn(generator)
        found = missed_classes(certificate, counted, 4)
        assert found
        bounds = {
            each.number: each.bound
            if shared
            else holdout.clopper_pearson(each.missed, each.rows, DELTA)
            for each in found
        }
        failed += any(MISSES[number] > bound for number, bound in bounds.items())
    return failed / runs


def test_all_bounds_hold_together_as_often_as_said() -> None:
    assert failures(800, shared=True) <= DELTA + 2 * np.sqrt(DELTA / 800)


def test_without_sharing_delta_they_would_not() -> None:
    assert failures(800, shared=False) > DELTA + 3 * np.sqrt(DELTA / 800)


def rare(rows: int, missed: int) -> HeldOut:
    labels = np.repeat([0, 1], [rows, 200 - rows])
    counted = HeldOut.of(labels, np.where(np.arange(200) < missed, 1, labels), np.arange(2))
    assert counted is not None
    return counted


def test_mistakes_that_the_table_does_not_show_count_as_missed() -> None:
    """Ties are mistakes in the certificate alone."""
    [found] = missed_classes(holdout.certificate(9, 200, DELTA), rare(30, 5), 2)
    assert (found.rows, found.missed) == (30, 9)
    [found] = missed_classes(holdout.certificate(60, 200, DELTA), rare(30, 5), 2)
    assert (found.missed, found.bound) == (30, 1.0)


def test_looks_at_the_same_rows_are_paid_for() -> None:
    values = [
        missed_classes(made, rare(30, 5), 2)[0].bound
        for made in (
            holdout.certificate(5, 200, DELTA),
            holdout.certificate(5, 200, DELTA, 2),
            holdout.certificate(5, 200, DELTA, look=2),
        )
    ]
    expected = [holdout.clopper_pearson(5, 30, share) for share in (DELTA, DELTA / 2, DELTA / 6)]
    assert values == pytest.approx(expected)


@pytest.mark.parametrize(
    "certificate",
    [
        holdout.certificate(5, 150, DELTA),  # other rows
        holdout.certificate(4, 200, DELTA),  # fewer mistakes than the table shows
        holdout.groups_certificate([0.0, 0.9, 0.2] * 5, DELTA),
        replace(holdout.certificate(5, 200, DELTA), of_what=wording.PERIOD),
    ],
)
def test_nothing_is_bounded_unless_the_certificate_counts_the_same_rows(certificate: Any) -> None:
    assert missed_classes(certificate, rare(30, 5), 2) == ()
    assert missed_in_words(certificate, rare(30, 5), ["a", "b"]) == ""


def test_a_claim_about_rows_that_may_be_old_begins_so() -> None:
    made = replace(holdout.certificate(5, 200, DELTA), rows_checked=False)
    said = missed_in_words(made, rare(30, 5), ["a", "b"])
    assert said.startswith("If these rows are new, it misses at most ")


def test_a_bound_that_says_nothing_is_not_stated() -> None:
    assert missed_in_words(holdout.certificate(19, 200, DELTA), rare(20, 19), ["a", "b"]) == ""
