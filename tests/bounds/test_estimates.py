"""What is said beside a claim: the baseline, rare classes, several labels and a next step."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pacboost.bounds import holdout, wording
from pacboost.bounds.estimates import beside, in_full, next_step
from pacboost.bounds.held_out import HeldOut, named

CLASSES = np.array(["no", "yes"])


def seen(rows: int, yes: int, found: int) -> HeldOut:
    """``yes`` rows are "yes", of which ``found`` are predicted; all others are right."""
    labels = np.repeat(["yes", "no"], [yes, rows - yes])
    said = np.repeat(["yes", "no"], [found, rows - found])
    counted = HeldOut.of(labels, said, CLASSES)
    assert counted is not None
    return counted


def test_the_baseline_is_named_and_called_an_estimate() -> None:
    made = holdout.certificate(20, 1000, 0.05)
    claim, note = in_full(made, seen(1000, 400, 380), CLASSES.tolist())
    assert str(claim) == str(wording.sentence(made))
    assert note.startswith("Always saying 'no' would be 40.0 % wrong on these rows (an estimate).")


def test_a_bound_above_the_baseline_is_not_better() -> None:
    claim, said = in_full(holdout.certificate(95, 1000, 0.05), seen(1000, 100, 5), ["no", "yes"])
    assert str(claim).startswith("At most 11.2 % wrong")
    assert "not better than always saying 'no': 10.0 % wrong on these rows (an estimate)" in said
    assert "It finds 5.0 % of the rare class 'yes' (an estimate from 100 rows)." in said
    assert "Next: train on more rows" in said


def test_a_vacuous_bound_is_said_as_such() -> None:
    claim, note = in_full(holdout.certificate(10, 10, 0.05), seen(10, 5, 5), ["no", "yes"])
    assert str(claim).startswith("No error below 100 % is certified (95 % confidence; 10 held-out")
    assert "not better than always saying" in note


def test_averages_over_groups_are_not_compared_with_shares_of_rows() -> None:
    made = holdout.groups_certificate([0.0, 0.9, 0.2] * 5, 0.05)
    assert beside(made, seen(100, 10, 5), ["no", "yes"])[0].startswith("Always saying 'no' would")


def test_several_labels_are_explained() -> None:
    labels = np.zeros((100, 53), dtype=int)
    labels[:30, 4] = 1
    counted = HeldOut.of(labels, labels, np.arange(53))
    assert counted is not None
    said = beside(holdout.certificate(20, 100, 0.05), counted, [str(k) for k in range(53)])
    assert said[0] == "Always saying no label would be 30.0 % wrong on these rows (an estimate)."
    assert said[1] == "A row is wrong if any of its 53 labels is."


def test_of_many_rare_classes_the_rarest_are_named() -> None:
    labels = np.repeat(np.arange(8), [400, 400, 30, 20, 10, 5, 3, 1])
    counted = HeldOut.of(labels, np.where(labels == 7, 0, labels), np.arange(8))
    assert counted is not None
    names = [str(k) for k in range(8)]
    said = beside(holdout.certificate(1, 869, 0.05), counted, names)[-1]
    assert said == (
        "It misses at most 100 % of '7' (1 of 1 row), 74.5 % of '6' (0 of 3 rows) and 56 % of '5' "
        "(0 of 5 rows) of its rare classes (95 % confidence for these together, by themselves; 3 "
        "more are rare)."
    )
    groups = holdout.groups_certificate([0.0, 0.9, 0.2] * 5, 0.05)
    assert beside(groups, counted, names)[-1] == (
        "Of rare classes it finds, as estimated on these rows, 0 % of '7' (1 row), 100 % of '6' "
        "(3 rows), 100 % of '5' (5 rows), and 3 more are rare."
    )


def test_the_next_step_follows_from_what_is_missing() -> None:
    few, many = holdout.certificate(1, 50, 0.05), holdout.certificate(1000, 10_000, 0.05)
    assert "certify it by about 150 more new rows" in next_step(few)
    assert "abstain" in next_step(many)
    assert next_step(replace(few, bound="occam.occam_bound")) == ""


def test_labels_that_are_no_class_are_counted_as_rows() -> None:
    counted = HeldOut.of(["no", "maybe", "no"], ["no", "no", "yes"], CLASSES)
    assert counted is not None
    assert (counted.rows, counted.baseline_wrong, named(counted, CLASSES.tolist())) == (
        3,
        1,
        "'no'",
    )
    assert counted.matrix(2).tolist() == [[1, 1], [0, 0]]
    assert HeldOut.of(["maybe"], ["no"], CLASSES) is None


def test_what_a_file_holds_is_read_again_or_refused() -> None:
    whole = seen(100, 30, 20)
    again = HeldOut.from_dict(whole.to_dict())
    assert again.matrix(2).tolist() == whole.matrix(2).tolist() == [[70, 0], [10, 20]]
    wrong = {"rows": 99, "baseline_wrong": 101, "count": -whole.count, "own": whole.own[1:]}
    for name, value in wrong.items():
        with pytest.raises(ValueError, match=r"have to be|there are|as many"):
            HeldOut.from_dict({**whole.to_dict(), name: value})


@pytest.mark.parametrize("classes", [[4, 1, 9], [9.0, 4.0, 1.0], ["4", "1", "9"], [False, True]])
def test_labels_are_counted_by_their_place_among_the_classes(classes: list[object]) -> None:
    known = np.array(classes)
    labels = np.array([classes[k] for k in (0, 1, 1, 0, 1, 1)])
    said = np.array([classes[k] for k in (1, 1, 1, 0, 0, 0)])
    found = HeldOut.of(labels, said, known)
    assert found is not None
    assert found.matrix(len(classes))[:2, :2].tolist() == [[1, 1], [2, 2]]
    assert found.commonest == (1,)


def test_labels_and_predictions_of_no_class_are_counted_apart() -> None:
    found = HeldOut.of(np.array([3, 7, 3, 1]), np.array([3, 3, 8, 1]), np.array([3, 1]))
    assert found is not None
    assert found.matrix(2).tolist() == [[1, 0], [0, 1]]
    assert [found.own.tolist(), found.said.tolist()] == [[0, 0, 1, 2], [0, 2, 1, 0]]
