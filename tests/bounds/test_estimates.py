"""What is said beside a claim: the baseline, rare classes, several labels and a next step."""

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score, roc_curve

from pacboost.bounds import holdout, table_facts, wording
from pacboost.bounds.estimates import (
    beside,
    in_full,
    in_words,
    missed_classes,
    missed_in_words,
    next_step,
)
from pacboost.bounds.held_out import HeldOut, RankCounts

CLASSES = np.array(["no", "yes"])


def seen(rows: int, yes: int, found: int) -> HeldOut:
    """``yes`` rows are "yes", of which ``found`` are predicted; all others are right."""
    labels = np.repeat(["yes", "no"], [yes, rows - yes])
    said = np.repeat(["yes", "no"], [found, rows - found])
    counted = HeldOut.of(labels, said, CLASSES)
    assert counted is not None
    return counted


def test_a_bound_above_the_baseline_is_not_better() -> None:
    claim, said = in_full(holdout.certificate(95, 1000, 0.05), seen(1000, 100, 5), ["no", "yes"])
    assert str(claim).startswith("At most 11.2 % wrong")
    assert "always saying 'no': 10.0 %" in said
    assert re.search(r" 5\.0 % .*'yes' .*100 rows", said)
    assert "Next: label more rows, or add columns" in said


def test_averages_over_groups_are_not_compared_with_shares_of_rows() -> None:
    made = holdout.groups_certificate([0.0, 0.9, 0.2] * 5, 0.05)
    assert beside(made, seen(100, 10, 5), ["no", "yes"])[0].startswith("Always saying 'no' would")


def test_several_labels_are_explained() -> None:
    labels = np.zeros((100, 53), dtype=int)
    labels[:30, 4] = 1
    counted = HeldOut.of(labels, labels, np.arange(53))
    assert counted is not None
    said = beside(holdout.certificate(20, 100, 0.05), counted, [str(k) for k in range(53)])
    assert "no label" in said[0]
    assert "30.0 %" in said[0]
    assert "53 labels" in said[1]


def test_of_many_rare_classes_the_rarest_are_named() -> None:
    labels = np.repeat(np.arange(8), [400, 400, 30, 20, 10, 5, 3, 1])
    counted = HeldOut.of(labels, np.where(labels == 7, 0, labels), np.arange(8))
    assert counted is not None
    names = [str(k) for k in range(8)]
    said = beside(holdout.certificate(1, 869, 0.05), counted, names)[-1]
    assert re.findall(r"[\d.]+ % of '\d' \(\d of \d", said) == [
        "100 % of '7' (1 of 1", "74.5 % of '6' (0 of 3", "56 % of '5' (0 of 5",
    ]  # fmt: skip
    assert "at most" in said
    assert "3 more" in said
    groups = holdout.groups_certificate([0.0, 0.9, 0.2] * 5, 0.05)
    estimated = beside(groups, counted, names)[-1]
    shares = re.findall(r"(\d+) % of '(\d)' \((\d)", estimated)
    assert shares == [("0", "7", "1"), ("100", "6", "3"), ("100", "5", "5")]
    assert "estimated" in estimated
    assert "3 more" in estimated


def test_the_next_step_follows_from_what_is_missing() -> None:
    few, many = holdout.certificate(1, 50, 0.05), holdout.certificate(1000, 10_000, 0.05)
    assert "150 new rows" in next_step(few)
    assert "abstain" in next_step(many)
    assert next_step(replace(few, bound="occam.occam_bound")) == ""


def test_what_a_file_holds_is_read_again_or_refused() -> None:
    whole = seen(100, 30, 20)
    again = HeldOut.from_dict(whole.to_dict())
    assert again.matrix(2).tolist() == whole.matrix(2).tolist() == [[70, 0], [10, 20]]
    wrong = {"rows": 99, "baseline_wrong": 101, "count": -whole.count, "own": whole.own[1:]}
    for name, value in wrong.items():
        with pytest.raises(ValueError, match=r"have to|there are|sum"):
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


# The share of rare classes that is missed: the bound holds, and counts what it has to.

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
        failed += any(
            MISSES[one.number]
            > (one.bound if shared else holdout.clopper_pearson(one.missed, one.rows, DELTA))
            for one in found
        )
    return failed / runs


def test_all_bounds_hold_together_and_would_not_without_sharing_delta() -> None:
    assert failures(800, shared=True) <= DELTA + 2 * np.sqrt(DELTA / 800)
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
    paid: list[dict[str, Any]] = [{}, {"models": 2}, {"look": 2}]
    made = [holdout.certificate(5, 200, DELTA, **own) for own in paid]
    values = [missed_classes(own, rare(30, 5), 2)[0].bound for own in made]
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


def test_a_bound_that_says_nothing_is_not_stated() -> None:
    assert missed_in_words(holdout.certificate(19, 200, DELTA), rare(20, 19), ["a", "b"]) == ""


# Points of ROC curves: areas as scikit-learn computes them, and files that no rows could give.


@pytest.mark.parametrize(("rows", "share", "ties"), [(50, 0.5, 1), (3000, 0.02, 2), (500, 0.5, 0)])
def test_areas_and_points_are_those_of_scikit_learn(rows: int, share: float, ties: int) -> None:
    rng = np.random.default_rng(rows)
    own = rng.random(rows) < share
    own[:2] = True, False
    scores = rng.normal(size=rows) + own
    scores = scores.round(ties) if ties else scores
    found = RankCounts.of(own, scores)
    assert found is not None
    assert found.auc == pytest.approx(roc_auc_score(own, scores), abs=1e-12)
    assert found.average_precision == pytest.approx(average_precision_score(own, scores), abs=1e-12)
    assert (found.positive.sum(), found.negative.sum()) == (own.sum(), (~own).sum())
    false, true, _ = roc_curve(own, scores)
    points = {(round(a, 9), round(b, 9)) for a, b in zip(false, true, strict=True)}
    kept = {(round(a, 9), round(b, 9)) for a, b in zip(*found.rates, strict=True)}
    if rows <= 50:
        assert points <= kept
    assert found.positive.size <= 202
    assert np.trapezoid(found.rates[1], found.rates[0]) == pytest.approx(found.auc, abs=0.01)
    recall, precision = found.precisions
    assert recall[-1] == 1
    assert precision[-1] == pytest.approx(own.mean())


def test_held_out_rows_keep_their_curves_in_files() -> None:
    labels, shares = np.array(["a", "b", "b"]), np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]])
    counted = HeldOut.of(labels, labels, np.array(["a", "b"]), shares)
    assert counted is not None
    again = HeldOut.from_dict(counted.to_dict())
    assert again.ranks[1].positive.tolist() == counted.ranks[1].positive.tolist() == [1, 1, 0]
    before = {name: part for name, part in counted.to_dict().items() if name != "ranks"}
    assert HeldOut.from_dict(before).ranks == {}


@pytest.mark.parametrize(
    "change",
    [
        {"positive": [1, 1, 0]},
        {"positive": np.array([1, -1, 2])},
        {"positive": np.array([1, 1])},
        {"negative": np.zeros(3, dtype=np.int64)},
        {"auc": 1.5},
        {"auc": float("nan")},
        {"average_precision": "0.5"},
        {"class": -1},
    ],
)
def test_counts_that_no_rows_could_give_are_refused(change: dict[str, Any]) -> None:
    labels, shares = np.array(["a", "b", "b"]), np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]])
    counted = HeldOut.of(labels, labels, np.array(["a", "b"]), shares)
    assert counted is not None
    content = counted.to_dict()
    content["ranks"][0] |= change
    with pytest.raises(ValueError, match=r"(have|has) to be"):
        HeldOut.from_dict(content)


def test_what_says_the_same_of_every_row_is_told_what_to_do() -> None:
    labels = np.repeat(["no", "yes"], [990, 10])
    constant = HeldOut.of(labels, np.full(1000, "no"), np.array(["no", "yes"]))
    words = in_words(holdout.certificate(10, 1000, 0.05), constant, ["no", "yes"])
    assert "same answer on every row" in words
    other = HeldOut.of(labels, labels, np.array(["no", "yes"]))
    words = in_words(holdout.certificate(0, 1000, 0.05), other, ["no", "yes"])
    assert "class_weight" not in words


def test_a_tie_on_the_right_class_counts_as_wrong_in_the_table() -> None:
    labels, said = np.array([0, 0, 1, 1, 1]), np.array([0, 0, 1, 0, 1])
    tied = np.array([True, False, False, True, False])
    counted = HeldOut.of(labels, said, np.arange(2), wrong=(labels != said) | tied)
    assert counted is not None
    assert counted.wrong == 2
    assert counted.matrix(2).tolist() == [[1, 0], [1, 2]]
    assert [*table_facts.contradictions(counted, 2)] == [
        "there are curves of the classes [], not of [1]"
    ]
