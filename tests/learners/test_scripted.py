"""Rules that are decided beforehand, and stumps that are weak on purpose."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from pacboost import BoostClassifier
from pacboost.boosters.adaboost import AdaBoost
from pacboost.boosters.logit import Logit
from pacboost.errors import ParameterError
from pacboost.learners.stump import Stump
from pacboost.learners.tree import Tree
from pacboost.theory.learners import Scripted, WeakStump
from pacboost.theory.sampling import Plane

X, Y = Plane("moons", noise=0.1).draw(120, seed=0)


def fitted(learner: Any, rounds: int = 6, booster: Any = None) -> BoostClassifier:
    rules = booster or AdaBoost()
    return BoostClassifier(rules, learner, rounds, early_stopping=False, random_state=0).fit(X, Y)


def votes(model: BoostClassifier) -> list[tuple[str, float]]:
    return [(entry.rule, entry.vote) for entry in model.ledger_.rounds]


def test_without_rules_it_is_the_learner() -> None:
    assert votes(fitted(Scripted())) == votes(fitted("stump"))


def test_the_rules_of_another_run_give_that_run_again() -> None:
    first = fitted(Stump())
    rules = dict(enumerate(first.model_.vote.hypotheses, start=1))
    assert votes(fitted(Scripted(rules))) == votes(first)
    later = fitted(Scripted({n: rule for n, rule in rules.items() if n <= 3}))
    assert votes(later) == votes(first)


def test_rules_are_due_in_their_rounds_also_if_the_learner_is_asked_again() -> None:
    """A learner that needs no luck still counts as one that may be asked twice."""
    own = Scripted({3: (1, 0.2, 1)}, DecisionTreeClassifier(max_depth=1))
    found = fitted(own).model_.vote.hypotheses
    assert [type(rule).__name__ for rule in found][:4] == [
        "Function",
        "Function",
        "StumpRule",
        "Function",
    ]


def test_cells_of_given_rules_get_values_of_their_own() -> None:
    own = Scripted({2: (0, 0.5, -1)}, Tree(max_leaves=4, min_leaf_rows=5))
    model = fitted(own, 4, Logit())
    assert model.ledger_.rounds[1].rule.startswith("x0 > ")
    assert model.ledger_.cells
    assert model.ledger_.rounds[-1].training_error < 0.2


def test_the_class_of_rules_is_known_only_if_all_are_stumps() -> None:
    assert (
        fitted(Scripted({1: (0, 0.5, 1)})).ledger_.vc_dimension
        == fitted("stump").ledger_.vc_dimension
    )
    assert fitted(Scripted({1: (0, 0.5, 1)}, Tree(max_leaves=4))).ledger_.vc_dimension is None


@pytest.mark.parametrize(
    ("rule", "words"),
    [((7, 0.0, 1), "there are 0 to 1"), ((0, 0.0, 2), "-1 or"), ((0, np.inf, 1), "-1 or")],
)
def test_what_is_no_rule_is_refused(rule: tuple[int, float, int], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        fitted(Scripted({1: rule}))


def test_weak_stumps_keep_their_promise_and_hardly_exceed_it() -> None:
    """Of all edges that stumps have under D_1, it is the smallest that reaches the promise."""
    signs = Y.astype(int)
    edges = []
    for column in X.T:
        places = np.sort(column)
        for cut in [(a + b) / 2 for a, b in pairwise(places)]:
            edges.append(abs(np.mean(np.where(column > cut, 1, -1) * signs)))
    edges.append(abs(signs.mean()))
    for promise in (0.05, 0.2, 0.35):
        least = min(edge for edge in edges if edge >= promise - 1e-9)
        assert fitted(WeakStump(promise), 1).ledger_.rounds[0].edge == pytest.approx(least)
    best = fitted(WeakStump(0.99), 1).ledger_.rounds[0]  # no stump has that: the best is given
    assert best.edge == pytest.approx(max(edges))
    with pytest.raises(ParameterError, match="edge is 2"):
        WeakStump(2)
