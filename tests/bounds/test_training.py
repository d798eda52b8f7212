"""The training-error certificate: its numbers, its forms, and when it refuses."""

import math
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
import pytest

from pacboost.boosters.adaboost import AdaBoost
from pacboost.boosters.booster import Booster
from pacboost.boosters.filtering import FilterBoost, Mada, Measure, Smooth
from pacboost.boosters.logit import Logit
from pacboost.boosters.newton import Gentle
from pacboost.boosters.projection import Projection
from pacboost.bounds.training import (
    margin_distribution,
    product_bound,
    rounding_slack,
    training_error,
)
from pacboost.errors import NotCertified
from pacboost.hypotheses.hypothesis import Rule
from pacboost.learners.stump import Stump
from pacboost.learners.tree import Tree
from pacboost.ledgers.ledger import Ledger, Round
from pacboost.samples.sample import Sample
from pacboost.theory.learners import Adversary
from pacboost.training.run.loop import Run
from tests.training.run.prefixes import sample_of
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


# The training-error certificate of other potentials, of many classes, and its words.


def recorded(factors: list[float], potential: str, **more: Any) -> Ledger:
    entries = [
        Round(t, 0.3, 0.4, 0.5, z, 0.1, 10.0, 2**52, [], rule="", seconds=0.0)
        for t, z in enumerate(factors, start=1)
    ]
    options = {"booster": "b", "learner": "l", "rows": 100, "classes": 1, "weighted": False}
    options |= {"plain_votes": False, "potential": potential, "rounds": entries}
    return Ledger(**{**options, **more})


def stripes(classes: int, seed: int = 0, rows: int = 150) -> Sample:
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(rows, 2))
    labels = np.digitize(
        X[:, 0] + 0.4 * generator.normal(size=rows), np.linspace(-1, 1, classes - 1)
    )
    return sample_of(X, labels, classes)


def run_of(booster: Booster[Any], classes: int, rounds: int = 15) -> Run:
    run = Run(stripes(classes), Tree(max_leaves=4), booster)
    list(islice(run, rounds))
    return run


@pytest.mark.parametrize("potential", ["logistic", "clipped", "weight"])
def test_the_bound_of_measured_potentials_is_their_product(potential: str) -> None:
    ledger = recorded([0.8, 0.5, 1.1], potential)
    assert product_bound(ledger) == pytest.approx(0.44, rel=1e-8)
    assert product_bound(ledger) > 0.44
    assert product_bound(replace(ledger, factor=2.0)) == pytest.approx(0.88, rel=1e-8)


@pytest.mark.parametrize("potential", ["logistic", "clipped", "weight"])
def test_costs_lost_in_rounding_leave_a_bound_above_the_units_of_weight(potential: str) -> None:
    """A row may weigh one unit of 2**-52 in the training error and less in the potential."""
    ledger = recorded([1e-200, 1e-200], potential, classes=3)
    assert 100 * 3 / 2**52 < product_bound(ledger) < 1e-9
    huge = recorded([1e200, 1e200], potential)
    assert math.isfinite(rounding_slack(huge))
    assert product_bound(huge) >= 1


@pytest.mark.parametrize(
    ("booster", "classes", "factor", "theorem"),
    [
        (AdaBoost(), 2, 1.0, "training error ≤ ∏ Z_t"),
        (AdaBoost(), 4, 2.0, "training error ≤ ∏ Z_t, times K/2 for the class that is named"),
        (Gentle(), 4, 2.0, "training error ≤ ∏ Z_t, times K/2 for the class"),
        (Logit(), 2, 1.0, "training error ≤ mean of -log₂ p(y|x)"),
        (Logit(), 4, 2.0, "training error ≤ mean of -log₂ p(y|x)"),
        (Mada(), 2, 1.0, "training error ≤ mean clipped exponential"),
        (Mada(), 4, 2.0, "training error ≤ mean clipped exponential, times K/2 for the class"),
        (FilterBoost(), 2, 1.0, "training error ≤ mean weight, in units of the first"),
        (Measure(), 2, 1.0, "training error ≤ mean weight, in units of the first"),
        (
            Smooth(),
            4,
            4.0,
            "training error ≤ mean weight, in units of the first, times K for the class",
        ),
        (Projection(), 2, 1.0, "training error ≤ max(ε, ∏ Z_t)"),
        (Projection(), 4, 4.0, "training error ≤ max(ε, ∏ Z_t), times K for the class"),
        (AdaBoost(multiclass="m1"), 4, 1.0, "training error ≤ ∏ Z_t"),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_certificates_say_what_they_rest_on(
    booster: Booster[Any], classes: int, factor: float, theorem: str
) -> None:
    run = run_of(booster, classes)
    ledger = run.ledger()
    certificate = training_error(ledger)
    assert ledger.factor == factor
    assert certificate.theorem == theorem
    assert certificate.value == product_bound(ledger)
    assert certificate.delta == 0
    assert certificate.assumptions == ()
    assert certificate.inputs["measured"] == ledger.rounds[-1].training_error
    assert certificate.inputs["product of Z"] == ledger.columns()["bound"][-1]
    assert ledger.rounds[-1].training_error <= certificate.value
    assert training_error(Ledger.from_json(ledger.to_json())) == certificate


def test_weights_of_pairs_need_all_of_k() -> None:
    """A class that wins by far is one wrong pair; the others weigh nothing. K/2 would not do."""
    scores, own = np.array([2.0, 3.0, -4.0, -4.0]), 0
    signs = np.where(np.arange(4) == own, 1, -1)
    mean = float(np.clip(1 - scores * signs, 0, 1).mean())
    assert Measure().chances((scores * signs)[None], 9).tolist() == [1.0]
    assert mean == 1 / 4
    assert 4 * mean >= 1 > 4 / 2 * mean


def test_the_projected_bound_pays_for_the_rounding_of_its_weights() -> None:
    ledger = recorded([0.8, 0.5, 1.0], "projected", rows=10**6)
    slack = rounding_slack(ledger)
    assert slack >= 2 * 10**6 / 2**52 * (1 + 3 * 0.4)
    assert product_bound(ledger) >= 0.4 + slack
    assert rounding_slack(recorded([], "projected")) == 0


def test_no_rounds_certify_nothing() -> None:
    """An empty vote ties everywhere; log₂ K and K/2 are more than 1, which is no less true."""
    for potential, factor in (("exponential", 1.0), ("logistic", math.log2(5)), ("clipped", 2.5)):
        assert product_bound(recorded([], potential, factor=factor)) >= 1


CELLS = pytest.mark.parametrize(
    "booster", [AdaBoost(confidence_rated=True), AdaBoost(), Gentle()], ids=["rated", "plain", "g"]
)


@CELLS
def test_margins_of_cells(booster: Booster[Any]) -> None:
    """‖a‖₁ is the sum of each round's largest value, so margins lie in [-1, 1]."""
    run = run_of(booster, 2)
    ledger, sample = run.ledger(), run.sample
    norm = sum(entry.vote for entry in ledger.rounds)
    margins = run.vote().scores(sample.table) * sample.signs[:, 0] / norm
    assert np.abs(margins).max() <= 1 + 1e-12
    for theta, share in margin_distribution(ledger):
        assert (margins <= theta).mean() <= share


@CELLS
def test_margins_of_many_classes_are_refused(booster: Booster[Any]) -> None:
    with pytest.raises(NotCertified, match="4 classes"):
        margin_distribution(run_of(booster, 4).ledger())


@pytest.mark.parametrize(
    "booster", [Logit(), Mada(), Smooth(), Projection()], ids=lambda booster: booster.name
)
def test_margins_of_other_potentials_are_refused(booster: Booster[Any]) -> None:
    with pytest.raises(NotCertified, match=f"the potential '{booster.potential}'"):
        margin_distribution(run_of(booster, 2).ledger())


def test_samme_is_refused_for_many_classes_only() -> None:
    many = run_of(AdaBoost(multiclass="samme", classes=4), 4).ledger()
    with pytest.raises(NotCertified, match="SAMME"):
        product_bound(many)
    with pytest.raises(NotCertified, match="SAMME"):
        training_error(many)
    two = run_of(AdaBoost(multiclass="samme"), 2).ledger()
    assert two.multiclass == ""
    assert training_error(two).value == product_bound(two)


def test_sammes_recorded_normalisers_are_those_of_right_and_wrong() -> None:
    """Z = error·exp(vote) + (1 - error)·exp(-vote): true of SAMME too, but it may exceed 1."""
    ledger = run_of(AdaBoost(multiclass="samme", classes=6), 6).ledger()
    products = np.exp(list(ledger.log_products()))
    errors = [entry.training_error for entry in ledger.rounds]
    assert (np.array(errors) <= products * (1 + 1e-9)).all()
