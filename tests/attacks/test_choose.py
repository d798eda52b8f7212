"""Bounds on answers belong to the vote that was certified: another vote has none."""

from __future__ import annotations

from pathlib import Path

import pytest

import pacboost
from pacboost.errors import NotCertified
from tests.attacks.worlds import coins


def test_choosing_another_vote_drops_what_was_certified_of_answers(tmp_path: Path) -> None:
    X, y = coins(0, 300)
    model = pacboost.AdaBoostClassifier(n_estimators=30, certify="train", random_state=0).fit(X, y)
    model.certify_answers(*coins(1, 300))
    assert model.answering_
    for number in (len(model.choices_) - 1, 0):
        model.choose(number)
        with pytest.raises(NotCertified, match="certify_answers"):
            _ = model.answering_
        model.save(tmp_path / "model.pacb")
        assert pacboost.load(tmp_path / "model.pacb").model_.answering is None
