"""Answers without a model: what the words of a claim leave out, and answers that are no label."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pacboost import answers, certify, measures
from pacboost.bounds import estimates, holdout, wording
from pacboost.bounds.certificate import Certificate
from pacboost.bounds.held_out import HeldOut
from pacboost.bounds.rates import rate_upper
from pacboost.questions.verdict import FitMeasurements, judge
from tests.bounds.coverage import check_coverage, check_rejected
from tests.runs import several_runs

pytestmark = pytest.mark.filterwarnings("ignore::pacboost.errors.InputWarning")
DELTA = 0.05
Labels = NDArray[Any]


def shy_about_frauds(seed: int, rows: int = 4_000) -> tuple[Labels, Labels]:
    """A judge that has no answer for 90 % of the frauds, and is right about most of the others."""
    random = np.random.default_rng(seed)
    truth = np.where(random.random(rows) < 0.15, "fraud", "fair")
    said = np.where(random.random(rows) < 0.01, "fair", truth)
    silent = (truth == "fraud") & (random.random(rows) < 0.9)
    return truth, np.where(silent, "", said)


@pytest.mark.parametrize("seed", range(3))
def test_claims_about_a_class_are_about_its_answered_rows(seed: int) -> None:
    truth, said = shy_about_frauds(seed)
    of_rows = certify(answers(said), y=truth)
    assert "at most" in of_rows.sentence
    assert "of the answered rows of the rare class 'fraud'" in of_rows.sentence
    missed = certify(answers(said), y=truth, of=measures.false_negative_rate("fraud"))
    assert missed.value < 0.1  # of those that are answered; of all frauds it misses 90 %
    assert "of the answered new examples of class 'fraud'" in missed.claim
    every = certify(
        answers(said, missing="wrong"), y=truth, of=measures.false_negative_rate("fraud")
    )
    assert every.value > 0.9
    assert "answered" not in every.claim


def false_alarms(seed: int) -> tuple[bool, bool]:
    """A judge writes "Yes" for "yes" on 49 % of the negatives: is that missed, and by the twin?"""
    random = np.random.default_rng(seed)
    truth = np.where(random.random(600) < 0.5, "yes", "no")
    alarmed = (truth == "no") & (random.random(600) < 0.49)
    said = np.where(alarmed, "Yes", truth)
    found = certify(answers(said), y=truth, of=measures.false_positive_rate("yes")).value
    negatives = int((truth == "no").sum())
    twin = rate_upper(int(((truth == "no") & (said == "yes")).sum()), negatives, DELTA)
    return found < 0.49, twin < 0.49


@several_runs(30, 200)
def test_an_answer_that_is_no_label_counts_as_no_answer_does(runs: int) -> None:
    missed, twin = np.sum([false_alarms(seed) for seed in range(runs)], axis=0)
    check_coverage("false alarms of answers that are no label", int(missed), runs, DELTA)
    check_rejected("twin: they are no alarms", int(twin), runs, DELTA)


def test_it_is_wrong_in_every_measure() -> None:
    truth = np.array(["yes", "no"] * 100)
    said = np.where(np.arange(200) % 4 < 2, truth, "Yes")
    assert certify(answers(said), y=truth).inputs["k"] == 100
    for rate in (measures.false_positive_rate, measures.false_negative_rate):
        assert certify(answers(said), y=truth, of=rate("yes")).inputs["k"] == 50


def test_a_forecast_of_rows_says_what_it_assumes() -> None:
    found = holdout.certificate(20, 400, DELTA)
    verdict = judge(found, DELTA, 0.06, FitMeasurements(10, 0.01))
    assert verdict.more_certified is not None
    assert verdict.more_certified > 0
    assert "if mistakes stay as rare" in verdict.reason
    assert verdict.reason in verdict.sentence


def counted(rows: int, wrong: int, rare: int) -> tuple[Certificate, HeldOut]:
    """A judge is wrong on some rows of the common class; another class has ``rare`` rows."""
    truth = np.repeat(["a", "b"], [rows - rare, rare])
    said = truth.copy()
    said[:wrong] = "b"
    held_out = HeldOut.of(truth, said, np.array(["a", "b"]))
    assert held_out is not None
    return holdout.certificate(wrong, rows, DELTA), held_out


def test_a_bound_above_an_estimate_does_not_show_that_a_model_is_useless() -> None:
    """The bound is .234, a constant answer is wrong on .23 of the rows, and the model on .22."""
    found, held_out = counted(3_000, 660, 690)
    assert found.value > held_out.baseline > 0.22
    words = " ".join(estimates.beside(found, held_out, ["a", "b"]))
    assert "3,000 rows do not show that it is better" in words
    assert "not better than" not in words


def test_the_adjective_is_not_in_claims_where_every_row_counts() -> None:
    truth, said = shy_about_frauds(0)
    made = certify(answers(said), y=truth)
    assert wording.answered_rows_of(made)
    assert not wording.answered_rows_of(certify(answers(said, missing="wrong"), y=truth))
