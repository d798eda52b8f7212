"""What is kept of held-out rows: choices, words, and files that lie."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from pacboost.bounds.answering import Answering, by_ranks
from pacboost.bounds.holdout import clopper_pearson
from pacboost.errors import NotCertified

CONFIDENCE = np.linspace(0, 1, 2000)
WRONG = np.random.default_rng(0).random(2000) < 0.4 * (1 - CONFIDENCE)


@pytest.fixture
def found() -> Answering:
    return by_ranks(CONFIDENCE, WRONG, 0.05)


def test_the_smallest_threshold_that_is_good_enough(found: Answering) -> None:
    chosen = found.within(0.1)
    place = chosen.chosen
    assert place is not None
    assert 0 < place < len(found.points) - 1
    assert chosen.error == found.errors[place] <= 0.1
    assert all(error > 0.1 for error in found.errors[:place])
    point = chosen.point
    assert chosen.error == clopper_pearson(point.mistakes, point.answered, 0.05, 20)
    assert chosen.certificate.value == chosen.error
    assert chosen.certificate.size == point.answered
    assert chosen.share[0] < point.answered / 2000 < chosen.share[1]
    assert chosen.within(0.5).chosen == 0  # looking again costs nothing


def test_what_cannot_be_reached_is_said(found: Answering) -> None:
    chosen = found.within(1e-4)
    assert chosen.chosen is None
    for ask in ("point", "error", "share", "certificate"):
        with pytest.raises(NotCertified, match=r"to 0\.0001; the least is 0\.\d+"):
            getattr(chosen, ask)
    assert "the least is" in str(chosen)


def test_in_words(found: Answering) -> None:
    told = str(found.within(0.1)).splitlines()
    assert told[0].startswith("Of the new examples it answers (confidence 0.")
    assert told[1].startswith("It answers between ")
    assert len([line for line in told if line.startswith("*")]) == 1
    assert "name a target_error" in str(found)


@pytest.mark.parametrize("choice", [None, 0.1, 1e-4])
def test_files_keep_everything(found: Answering, choice: float | None) -> None:
    known = found if choice is None else found.within(choice)
    assert Answering.from_dict(json.loads(json.dumps(known.to_dict()))) == known


@pytest.mark.parametrize(
    "change",
    [
        {"delta": 2.0},
        {"thresholds": 3},
        {"thresholds": 0},
        {"chosen": 20},
        {"chosen": -1},
        {"chosen": True},
        {"target_error": 7.0},
        {"points": []},
        {"rows": 100},
        {"points": [[0.0, 2000, 2001, 2000, 2000]]},
        {"points": [[0.0, 2000, 1, 2001, 2000]]},
        {"points": [[0.0, 2000, -1, 2000, 2000]]},
        {"points": [[2.0, 2000, 1, 2000, 2000]]},
        {"points": [[float("nan"), 2000, 1, 2000, 2000]]},
        {"points": [[0.5, 2000, 1.0, 2000, 2000]]},
        {"points": [["0.5", 2000, 1, 2000, 2000]]},
        {"points": [[0.5, 2000, 1, 2000]]},
        {"points": [[0.5, 100, 1, 100, 100], [0.4, 10, 1, 10, 10]]},
        {"points": [[0.4, 100, 1, 100, 100], [0.5, 110, 1, 110, 110]]},
        {"strange": 1},
    ],
)
def test_counts_that_no_rows_give_are_refused(found: Answering, change: dict[str, Any]) -> None:
    with pytest.raises((ValueError, TypeError)):
        Answering.from_dict({**found.to_dict(), **change})
