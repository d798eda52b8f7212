"""Points of ROC curves: areas as scikit-learn computes them, and files that no rows could give."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score, roc_curve

from pacboost.bounds.held_out import HeldOut, RankCounts, rank_counts


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


def test_there_is_no_curve_without_rows_of_both_kinds() -> None:
    assert RankCounts.of([True, True], [0.1, 0.2]) is None
    assert RankCounts.of([False, False], [0.1, 0.2]) is None
    assert RankCounts.of([True, False], [np.nan, 0.2]) is None


def test_two_classes_have_one_curve_and_several_labels_one_each() -> None:
    own, shares = np.array([0, 1, 1]), np.array([[0.9, 0.1], [0.2, 0.8], [0.4, 0.6]])
    assert list(rank_counts(own, shares, 2)) == [1]
    assert list(rank_counts(np.array([[1, 0], [0, 1], [1, 1]]), shares[:, :2], 2)) == [0, 1]
    assert rank_counts(own, None, 2) == {}


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
