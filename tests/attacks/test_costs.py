"""The sentence of a threshold by costs shows what it cost, and what constant answers would cost."""

import numpy as np
import pytest

import pacboost
from pacboost import answers


def test_costs_are_shown_beside_those_of_constant_answers() -> None:
    """A score that says nothing: to flag every row costs .6 on these rows, and the claim is .86.

    The twin is the sentence of a goal that is no cost, which names none.
    """
    random = np.random.default_rng(0)
    truth, score = random.permutation(np.repeat([0, 1], [180, 120])), random.random(300)
    model = answers(score > 0.5, score, positive=True, classes=[False, True])
    chosen = pacboost.choose_threshold(
        model, model.rows, truth > 0, cost=(10, 1), positive=True
    )  # fmt: skip
    decision = chosen.decision
    counts = decision.certificate.inputs
    seen = (10 * counts["missed"] + counts["alarms"]) / 300
    assert decision.certificate.value > 0.6
    for number in (
        f"it costs {seen:.4g};",
        "would cost 0.6 ",
        "more than 1)",
        "never saying it 4 ",
    ):
        assert number in decision.details
    other = pacboost.choose_threshold(model, model.rows, truth > 0, recall=0.5, positive=True)
    assert "costs" not in other.decision.details
    assert decision.certificate.value == pytest.approx(chosen.certificate_.value)
