"""How many examples does a learner need, and how many rows certify what it has learned?"""

from __future__ import annotations

import math

from pacboost.bounds import passing
from pacboost.bounds.rounding import confidence_number
from pacboost.bounds.search import smallest
from pacboost.errors import ParameterError
from pacboost.numerics.checks import plain_numbers, positive_whole, probability
from pacboost.numerics.growth import log_stump_growth, vc_of_stumps
from pacboost.theory import finite as finite_bound
from pacboost.theory import needs
from pacboost.theory import sample_sizes as lower_bound
from pacboost.theory import sample_sizes as rectangle_bound
from pacboost.theory import vc as vc_bound
from pacboost.theory.answer import Plan

WORST_CASE = "deterministic learners on the worst distribution of such a class"
"""Whom the lower bounds of Blumer et al. and of Ehrenfeucht et al. speak of, as they are used here:
one that tosses a coin where it is undecided may need fewer, and so may an easier distribution."""


@plain_numbers
def finite(
    *, epsilon: float, delta: float, size: int | None = None, log_size: float | None = None
) -> Plan:
    """Examples for a learner that fits its sample by one of finitely many hypotheses.

    >>> finite(epsilon=0.1, delta=0.05, size=1000).examples
    94
    """
    if (size is None) == (log_size is None):
        raise ParameterError("give size, or log_size = ln(size), and not both")
    nats = math.log(positive_whole("size", size)) if size is not None else float(log_size or 0.0)
    examples = finite_bound.examples_for_consistent(epsilon, delta, nats)
    parted = nats > math.log(2.5)  # of three concepts two agree on some point, and part elsewhere
    lower = math.ceil(lower_bound.blumer(epsilon, delta)) if parted else 1
    return Plan(
        question=f"Examples for error ≤ {epsilon:g} with confidence {confidence_number(delta)}, "
        f"consistent learner, ln(hypotheses) = {nats:.4g}",
        theorem="R ≤ 1 - (δ/|H|)^(1/m)",
        examples=examples,
        lower=lower if nats > 0 else None,
        lower_for=WORST_CASE,
        simulated=needs.thresholds_on_a_grid(epsilon, delta, nats, 4 * examples)
        if nats > 0
        else None,
        details={"world": "evenly spaced thresholds on a line, uniform points, worst fit"},
    )


@plain_numbers
def vc(*, epsilon: float, delta: float, dimension: int) -> Plan:
    """Examples for a learner that fits its sample by a class of this VC dimension.

    >>> vc(epsilon=0.1, delta=0.05, dimension=4).lower
    27
    """
    growth = vc_bound.growth_of_dimension(positive_whole("dimension", dimension))
    examples = min(
        lower_bound.blumer_upper(epsilon, delta, dimension),
        smallest(
            lambda n: vc_bound.realizable(n, delta, growth) <= epsilon, dimension, "the VC bound"
        ),
    )
    return Plan(
        question=f"Examples for error ≤ {epsilon:g} with confidence {confidence_number(delta)}, "
        f"consistent learner of VC dimension {dimension}",
        theorem="R ≤ (2/m)(log₂ Π(2m) + log₂(2/δ)), or Blumer et al.'s closed form if smaller",
        examples=examples,
        lower=lower_bound.examples_needed(epsilon, delta, dimension),
        lower_for=WORST_CASE,
        simulated=needs.tight_fit(epsilon, delta, dimension, 4 * examples),
        details={"world": f"tightest box with {dimension} sides around uniform points"},
    )


@plain_numbers
def rectangle(*, epsilon: float, delta: float, dimensions: int) -> Plan:
    """Examples for the tightest axis-parallel box.

    >>> plan = rectangle(epsilon=0.1, delta=0.05, dimensions=2)
    >>> plan.examples, plan.details["by strips"]
    (76, 176)
    """
    positive_whole("dimensions", dimensions)
    examples = rectangle_bound.examples_for_sharp(epsilon, delta, dimensions)
    return Plan(
        question=f"Examples for error ≤ {epsilon:g} with confidence {confidence_number(delta)}, "
        f"tightest box in {dimensions} dimensions",
        theorem="R ≤ BinInv(2d - 1, m, δ)",
        examples=examples,
        lower=lower_bound.examples_needed(epsilon, delta, 2 * dimensions),
        lower_for=WORST_CASE,
        simulated=needs.tight_fit(epsilon, delta, 2 * dimensions, 4 * examples),
        details={
            "by strips": rectangle_bound.examples_for_strip(epsilon, delta, dimensions),
            "world": "uniform points that fill the box",
        },
    )


@plain_numbers
def stumps(*, epsilon: float, delta: float, features: int) -> Plan:
    """Examples until every stump's error is known to within epsilon.

    >>> stumps(epsilon=0.1, delta=0.05, features=20).details["VC dimension"]
    7
    """
    p = positive_whole("features", features)
    probability("epsilon", epsilon)
    examples = smallest(
        lambda n: vc_bound.pessimistic(0, n, delta, lambda m: log_stump_growth(m, p)) <= epsilon,
        2,
        "the VC bound",
    )
    return Plan(
        question=f"Examples until every stump on {features} features errs at most {epsilon:g} more "
        f"than on its sample, with confidence {confidence_number(delta)}",
        theorem="R ≤ R̂ + 1/m + √((ln Π(2m) + ln(4/δ))/m)",
        examples=examples,
        simulated=needs.noisy_stumps(epsilon, delta, p, examples),
        details={"VC dimension": vc_of_stumps(p), "world": "labels by the toss of a coin"},
    )


@plain_numbers
def no_free_lunch(*, domain: int) -> Plan:
    """Examples below which every learner fails on some labelling of a finite domain.

    >>> no_free_lunch(domain=1024).lower
    512
    """
    needed = lower_bound.examples_for_no_free_lunch(domain)
    return Plan(
        question=f"Examples to learn any labelling whatever of {domain:,} points",
        theorem="with fewer than half the points seen, some labelling gives risk ≥ 1/8 with "
        "probability ≥ 1/7",
        lower=needed,
        lower_for="every learner, on some labelling and distribution",
        simulated=needs.labelling_learned(domain),
        details={
            "mean risk at that size": lower_bound.no_free_lunch_risk(needed, domain),
            "world": "uniform over all labellings",
        },
    )


@plain_numbers
def holdout(*, epsilon: float, delta: float, error: float = 0.0, power: float = 0.9) -> Plan:
    """Rows to hold out so that a classifier of this true error is certified at epsilon.

    With so many rows, and with every larger number, it is certified with probability ``power`` or
    more. Which mistakes it makes on the rows is chance, so no number of rows makes this certain
    unless its error is 0.

    >>> holdout(epsilon=0.01, delta=0.05).examples
    299
    >>> answer = holdout(epsilon=0.1, delta=0.05, error=0.05)
    >>> answer.examples, round(answer.details["passes with"], 3)
    (263, 0.929)
    """
    rows = passing.rows_to_pass(epsilon, delta, error, power)
    return Plan(
        question=f"Held-out rows, so many or any larger number, to certify error ≤ {epsilon:g} "
        f"with confidence {confidence_number(delta)}, if the classifier's true error is "
        f"{error:g}; it then passes with probability {power if error > 0 else 1:g} or more",
        theorem="R ≤ BinInv(K, n, δ), K ~ Bin(n, error)",
        examples=rows,
        details={
            "passes with": passing.chance_to_pass(rows, epsilon, delta, error),
            "half of all samples": passing.rows_to_pass(epsilon, delta, error, 0.5),
            "fewest that can pass": passing.rows_to_pass(epsilon, delta),
            "by Chernoff": passing.rows_to_pass_by_chernoff(epsilon, delta, error, power),
            "by Hoeffding": passing.rows_to_pass_by_hoeffding(epsilon, delta, error, power),
        },
    )
