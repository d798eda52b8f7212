"""Majorities in model files: read back as they were, refused if no fit could have written them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pacboost.errors import FileError
from pacboost.estimators.files import load
from pacboost.hypotheses.hypothesis import Hypothesis
from pacboost.hypotheses.majority import Decision, Three
from pacboost.hypotheses.stump import StumpRule
from pacboost.hypotheses.vote import Vote
from pacboost.models.file.document import MemoryBudget
from pacboost.models.file.fields import Fields
from pacboost.models.file.rules import from_plain, to_plain
from pacboost.theory.majorities import MajorityOfBoosters, ThreeLearnerBoost
from tests.model_files import changed
from tests.worlds import noisy


def stump(feature: int) -> StumpRule:
    return StumpRule(feature, 0.5, 1, 1, -1)


def there_and_back(*rules: Hypothesis) -> list[Hypothesis]:
    parts = [Fields(entry, "rule", MemoryBudget.of(0)) for entry in to_plain(rules)]
    return from_plain(parts, 3, None, 1)


def test_there_and_back() -> None:
    inner = Three(stump(0), stump(1), Three(stump(2), stump(0).negated(), stump(1)))
    (again,) = there_and_back(inner)
    assert isinstance(again, Three)
    assert isinstance(again.third, Three)
    assert (again.first, again.third.second) == (stump(0), stump(0).negated())
    decision = Decision(Vote([stump(0), stump(2)], np.array([0.25, 0.5])))
    (read,) = there_and_back(decision)
    assert isinstance(read, Decision)
    assert read.vote.votes.tolist() == [0.25, 0.5]
    assert read.vote.hypotheses == [stump(0), stump(2)]


def damaged(path: Path, change: Any) -> None:
    changed(path, lambda content: change(content["model"]["rules"][0]))
    with pytest.raises(FileError, match="is damaged"):
        load(path)


def test_three_have_to_be_three(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    ThreeLearnerBoost("stump", random_state=0).fit(*noisy(600, 3, 0)).save(path)
    damaged(path, lambda rule: rule["rules"].pop())


def test_every_rule_of_a_member_has_a_vote(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    MajorityOfBoosters(n_estimators=4, random_state=0).fit(*noisy(600, 3, 0)).save(path)
    damaged(path, lambda rule: rule.update(votes=rule["votes"][1:]))
    MajorityOfBoosters(n_estimators=4, random_state=0).fit(*noisy(600, 3, 0)).save(path)
    damaged(path, lambda rule: rule["rules"][0]["feature"].fill(3))
