"""Kinds of rules are known by tags: whoever renames a class voids no certificate."""

from dataclasses import make_dataclass, replace
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import numpy as np
import pytest

import pacboost
from pacboost import hypotheses
from pacboost.errors import DataError
from pacboost.hypotheses.hypothesis import Hypothesis
from pacboost.hypotheses.vote import Vote
from pacboost.hypotheses.vote_digest import vote_digest
from pacboost.learners.registry import LEARNERS
from pacboost.learners.tree import Tree
from pacboost.models.file.format import model_bytes
from pacboost.models.file.rules import RULES
from tests.hypotheses.rules import STUMP, TREE, WORDS


def kinds() -> list[type[Hypothesis]]:
    for module in iter_modules(hypotheses.__path__):
        import_module(f"pacboost.hypotheses.{module.name}")
    found: set[Any] = set()
    waiting: list[Any] = [Hypothesis]
    while waiting:
        kind = waiting.pop()
        own = kind.__module__.startswith("pacboost.hypotheses.")
        waiting += kind.__subclasses__()
        found |= {kind} if own and "tag" in vars(kind) and kind.tag else set()
    return sorted(found, key=lambda kind: kind.tag)


def renamed(rule: Any) -> Any:
    """The same rule of a class with another name."""
    other = make_dataclass("Renamed", [], bases=(type(rule),), frozen=True, eq=False)
    return other(**vars(rule))


@pytest.mark.parametrize("rule", [STUMP, TREE, WORDS])
def test_a_class_may_be_renamed(rule: Any) -> None:
    other = renamed(rule)
    assert type(other).__name__ == "Renamed"
    votes = np.ones(1)
    assert vote_digest(Vote([other], votes)) == vote_digest(Vote([rule], votes))
    tagged = renamed(rule)
    type(tagged).tag = "another"
    assert vote_digest(Vote([tagged], votes)) != vote_digest(Vote([rule], votes))


def test_the_class_of_a_learner_may_be_renamed() -> None:
    X = np.random.default_rng(0).normal(size=(60, 2))
    other: Any = make_dataclass("Oak", [], bases=(Tree,), frozen=True)
    fits = [
        pacboost.BoostClassifier("logit", learner(max_leaves=3), 3, random_state=0).fit(
            X, X[:, 0] > 0
        )
        for learner in (Tree, other)
    ]
    one, two = (model_bytes(model.model_) for model in fits)
    assert one == two
    assert fits[1].ledger_.learner == "tree"


def test_tags_and_names_are_those_of_files() -> None:
    tags = [kind.tag for kind in kinds()]
    assert len({*tags}) == len(tags) >= 10
    stored = {kind.tag: kind for kind in kinds() if kind.FIELDS}
    assert {*stored} == {"decision", "pattern", "stump", "three", "tree", "word_list"}
    for tag, kind in stored.items():
        assert RULES[tag] is kind
        assert kind.__module__ == f"pacboost.hypotheses.{tag}"
    assert [*LEARNERS] == ["stump", "tree", "words"]
    assert all(LEARNERS[name].name == name for name in LEARNERS)


def test_a_rule_without_a_tag_is_refused() -> None:
    nameless = renamed(replace(STUMP))
    type(nameless).tag = ""
    with pytest.raises(DataError, match="Renamed has no tag"):
        vote_digest(Vote([nameless], np.ones(1)))
