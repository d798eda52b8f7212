"""Costs: what a threshold and what constant answers would cost, and that those are candidates."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import pacboost
from pacboost import answers
from pacboost.bounds.deciding import cost_upper
from pacboost.bounds.decision import MAX_SCORE
from pacboost.errors import ParameterError
from tests.bounds.coverage import check_coverage, check_rejected
from tests.runs import several_runs

COSTS = (1000.0, 1.0)


class Score:
    """A classifier whose score is the first column."""

    classes_ = np.array([False, True])

    def decision_function(self, X: Any) -> Any:
        return X[:, 0]

    def predict(self, X: Any) -> Any:
        return X[:, 0] > 0.5


def chance(seed: int) -> tuple[Any, Any]:
    """Return rows whose score says nothing, and the truth."""
    random = np.random.default_rng(seed)
    truth = random.random(300) < 0.4
    return random.random((300, 1)), truth


def test_costs_are_shown_beside_those_of_constant_answers() -> None:
    """A score that says nothing: to flag every row costs .6 on these rows, and .86 was claimed.

    The twin is the sentence of a goal that is no cost, which names none.
    """
    random = np.random.default_rng(0)
    truth, score = random.permutation(np.repeat([0, 1], [180, 120])), random.random(300)
    model = answers(score > 0.5, score, positive=True, classes=[False, True])
    chosen = pacboost.choose_threshold(
        model, model.rows, truth > 0, cost=(10, 1), positive=True
    )  # fmt: skip
    decision = chosen.decision
    assert decision.threshold == -MAX_SCORE
    assert 0.6 < decision.certificate.value < 0.67
    for number in (
        "Every row is said to be",
        "it costs 0.6;",
        "would cost 0.6 ",
        "more than 1)",
        "never saying it 4 ",
    ):
        assert number in decision.details
    other = pacboost.choose_threshold(model, model.rows, truth > 0, recall=0.5, positive=True)
    assert "costs" not in other.decision.details
    assert decision.certificate.value == pytest.approx(chosen.certificate_.value)


@several_runs(15, 400)
def test_a_constant_rule_costs_what_it_is_certified_to(runs: int) -> None:
    """Its mean cost is .6, whatever the scores; that of the lowest score on these rows is more.

    The twin certifies the lowest threshold as if it were constant: of 300 rows none lies below.
    """
    wrong = twin = 0
    for seed in range(runs):
        X, truth = chance(seed)
        chosen = pacboost.choose_threshold(Score(), X, truth, cost=COSTS)
        assert chosen.threshold_ == -MAX_SCORE
        wrong += chosen.certificate_.value < 0.6
        missed = X.min()  # scores are uniform
        twin += chosen.certificate_.value < 0.6 * (1 - missed) + 0.4 * 1000 * missed
    check_coverage("costs of a constant rule", wrong, runs, 0.05)
    check_rejected("twin: the lowest score as a constant rule", twin, runs, 0.05)


def test_constant_rules_look_at_no_score() -> None:
    X, truth = chance(0)
    extreme = np.array([[-np.inf], [-1.0], [0.0], [np.inf], [np.nan]])
    for costs, says in (((1000.0, 1.0), True), ((1.0, 1000.0), False)):
        chosen = pacboost.choose_threshold(Score(), X, truth, cost=costs)
        assert (chosen.predict(extreme) == says).all()
        assert chosen.certificate_.value <= min(costs)


def test_a_constant_rule_has_the_counts_of_one() -> None:
    X, truth = chance(0)
    decision = pacboost.choose_threshold(Score(), X, truth, cost=COSTS).decision
    assert not decision.contradiction()
    with pytest.raises(ParameterError) as problem:
        cost_upper(1, 120, 180, 180, 10.0, 1.0, 0.05, constant=1)
    assert problem.value.parameter == "constant"
    certificate = decision.certificate
    for inputs in ({"constant": 0}, {"missed": decision.curve.positives, "alarms": 0}):
        other = replace(certificate, inputs={**certificate.inputs, **inputs})
        assert "constant rule" in replace(decision, certificate=other).contradiction()
    others = [replace(own, details={**own.details, "threshold": 0.1}) for own in decision.others]
    other = replace(certificate, details={**certificate.details, "threshold": 0.1})
    family = replace(decision.others, certificates=tuple(others))
    changed = replace(decision, threshold=0.1, certificate=other, others=family)
    assert "constant rule" in changed.contradiction()
