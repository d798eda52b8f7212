"""What is certified of answers and sets belongs to one vote: another vote has none of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import pacboost
from pacboost.errors import NotCertified
from pacboost.questions.selective import certify_answers
from tests.attacks.worlds import coins


def test_choosing_another_vote_drops_what_was_certified_of_answers(tmp_path: Path) -> None:
    X, y = coins(0, 300)
    model = pacboost.AdaBoostClassifier(n_estimators=30, certify="train", random_state=0).fit(X, y)
    known = certify_answers(model, *coins(1, 300))
    covered = pacboost.sets(model, *coins(1, 300), coverage=0.7)
    model.model_ = replace(covered.estimator_.model_, answering=known)
    for number in (len(model.choices_) - 1, 0):
        model.choose(number)
        with pytest.raises(NotCertified, match="certify='holdout'"):
            pacboost.choose_threshold(model, target_error=0.4)
        with pytest.raises(NotCertified, match="holds no sets"):
            pacboost.sets(model)
        model.save(tmp_path / "model.pacb")
        loaded = pacboost.load(tmp_path / "model.pacb").model_
        assert loaded.answering is None
        assert loaded.coverage is None
