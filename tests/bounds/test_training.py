"""The training-error certificate: its numbers, its forms, and when it refuses."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

from pacboost.boosters.adaboost import AdaBoost
from pacboost.bounds.certificate import Certificate
from pacboost.bounds.training import (
    margin_distribution,
    product_bound,
    rounding_slack,
    training_error,
)
from pacboost.errors import NotCertified
from pacboost.hypotheses.hypothesis import Rule
from pacboost.learners.stump import Stump
from pacboost.ledgers.ledger import Ledger, Round
from pacboost.theory.learners import Adversary
from pacboost.training.run.loop import Run
from tests.worlds import make_sample, noisy


def ledger_of(errors: list[float], rows: int = 10) -> Ledger:
    entries = []
    for number, error in enumerate(errors, start=1):
        vote = 0.5 * math.log((1 - error) / error)
        z = 2 * math.sqrt(error * (1 - error))
        numbers = (error, 1 - 2 * error, vote, z, 0.0, float(rows), 2**52, [0.0])
        entries.append(Round(number, *numbers, rule="", seconds=0.0))
    return Ledger("adaboost", "exponential", "stump", rows, 1, False, True, rounds=entries)


def test_toy_vector() -> None:
    ledger = ledger_of([3 / 10, 3 / 14, 3 / 22])
    normalisers = [entry.normaliser for entry in ledger.rounds]
    assert normalisers == pytest.approx([0.916515, 0.820652, 0.686349], abs=5e-7)
    assert product_bound(ledger) == pytest.approx(0.516230, abs=5e-7)
    assert ledger.columns()["bound_edges"][-1] == pytest.approx(0.601861, abs=5e-7)


def test_forms_of_fifty_rounds_at_error_three_tenths() -> None:
    columns = ledger_of([0.3] * 50).columns()
    assert columns["bound"][-1] == pytest.approx(0.012793, abs=5e-7)
    assert columns["bound_errors"][-1] == pytest.approx(0.012793, abs=5e-7)
    assert columns["bound_edges"][-1] == pytest.approx(0.018316, abs=5e-7)


def test_margin_vector() -> None:
    ((_, share),) = margin_distribution(ledger_of([0.3] * 50), [0.1])
    assert share == pytest.approx(0.106396, abs=5e-7)


def test_rounds_outward_but_not_far() -> None:
    ledger = ledger_of([0.3] * 50)
    exact = math.exp(math.fsum(math.log(e.normaliser) for e in ledger.rounds))
    assert exact < product_bound(ledger) < exact * (1 + 1e-9)


def test_slack_covers_what_rounding_does() -> None:
    """On many rows with long runs the recorded product and the true loss stay within the slack."""
    for learner in (Stump(), Adversary(0.05)):
        X, signs = noisy(2000, 3, seed=1)
        sample = make_sample(X, signs)
        run = Run(sample, learner, AdaBoost(), seed=1)
        scores = np.zeros(2000)
        for done in islice(run, 100):
            assert isinstance(done.hypothesis, Rule)
            scores += done.entry.vote * done.hypothesis.answers(sample)
        loss = float(np.mean(np.exp(-signs * scores)))
        product = math.exp(list(run.ledger().log_products())[-1])
        assert abs(loss - product) <= rounding_slack(run.ledger()) + 1e-13
        assert rounding_slack(run.ledger()) < 1e-9


def test_margin_distribution_holds_on_real_runs() -> None:
    X, signs = noisy(400, 5, seed=2)
    sample = make_sample(X, signs)
    run = Run(sample, Stump(), AdaBoost())
    scores = np.zeros(400)
    for done in islice(run, 60):
        assert isinstance(done.hypothesis, Rule)
        scores += done.entry.vote * done.hypothesis.answers(sample)
        norm = sum(d.entry.vote for d in run.done)
        for theta, share in margin_distribution(run.ledger(), np.linspace(-0.5, 0.9, 29).tolist()):
            assert np.mean(signs * scores / norm <= theta) <= share


def test_a_bound_without_the_normalisers_is_caught() -> None:
    """Squaring the factors, a plausible slip, gives a number that runs violate."""
    X, signs = noisy(400, 5, seed=2)
    run = Run(make_sample(X, signs), Adversary(0.3, "heavy"), AdaBoost())
    violated = False
    for done in islice(run, 40):
        product = math.exp(list(run.ledger().log_products())[-1])
        assert done.entry.training_error <= product * (1 + 1e-9)
        violated |= done.entry.training_error > product**2
    assert violated


def test_refuses_other_potentials() -> None:
    ledger = replace(ledger_of([0.3]), potential="square", booster="square")
    with pytest.raises(NotCertified, match="'square' is regression"):
        training_error(ledger)
    logistic = replace(ledger_of([0.3]), potential="logistic", booster="logit")
    with pytest.raises(NotCertified, match="logistic"):
        margin_distribution(logistic)


def test_textbook_forms_are_withheld_for_scaled_votes() -> None:
    ledger = replace(ledger_of([0.3]), plain_votes=False)
    assert ledger.columns()["bound_edges"] == [None]
    assert "from edges" not in training_error(ledger).inputs


def test_no_rounds_is_vacuous() -> None:
    certificate = training_error(ledger_of([]))
    assert certificate.value == 1
    assert certificate.vacuous
    assert "vacuous" in str(certificate)


def test_certificate_says_everything_and_survives_json() -> None:
    ledger = ledger_of([0.3, 0.2])
    certificate = training_error(ledger)
    assert Certificate.from_json(certificate.to_json()) == certificate
    text = str(certificate)
    assert text.startswith("The vote is wrong on at most")
    for part in ("holds always", "Freund and Schapire", "size            10", ledger.digest()[:16]):
        assert part in text
    assert "&lt;" not in certificate._repr_html_()
    assert certificate.claim in certificate._repr_html_()
