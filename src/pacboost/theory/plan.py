"""Plans: the numbers of examples, rounds, draws or runs that a learner needs.

Each plan has the number that suffices by a theorem for every distribution; if known, a number that
is necessary in the worst case, and for which learners; and the number that a simulation needed on
one simple distribution, which is seldom the worst.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from pacboost.boosters.majority import fewest_coins
from pacboost.bounds.rounding import confidence_number
from pacboost.bounds.search import from_here_on, smallest
from pacboost.errors import ParameterError, invalid
from pacboost.numerics.checks import plain_numbers, positive_whole, probability
from pacboost.numerics.growth import log_cover, log_sauer
from pacboost.numerics.kl import kl
from pacboost.theory import needs, sample_sizes
from pacboost.theory.plan_learning import (
    WORST_CASE,
    Plan,
    coverage,
    finite,
    holdout,
    monitor,
    no_free_lunch,
    recall,
    rectangle,
    stumps,
    vc,
)
from pacboost.theory.vc import growth_of_product, realizable
from pacboost.training.filtering.plan import share_of

INDEPENDENT_RULES = "every vote of rules that are right on each new row independently"


@plain_numbers
def rounds(*, edge: float, error: float | None = None, rows: int | None = None) -> Plan:
    """Rounds of AdaBoost until the training error is at most ``error``, or 0 on ``rows`` rows.

    >>> rounds(edge=0.2, rows=1000).rounds
    339
    """
    probability("edge", edge)
    if (error is None) == (rows is None):
        raise ParameterError(
            "give either error, the training error to reach, or rows, the number of rows to fit",
            parameter="error",
        )
    target = probability("error", error) if error is not None else 1 / positive_whole("rows", rows)
    per_round = -0.5 * math.log1p(-(edge**2))
    number = math.ceil(math.log(1 / target) / per_round)
    if rows is not None and number * per_round <= math.log(rows):  # strictly below 1/rows
        number += 1
    sample = rows or 1000
    simulated = needs.adversarial_rounds(edge, sample, error or 0.0) if sample <= 5000 else None
    return Plan(
        question=f"Rounds until AdaBoost's training error is {f'≤ {target:g}' if error else 0}, "
        f"when every rule has edge {edge:g} (error {(1 - edge) / 2:g})",
        theorem="training error ≤ (1 - edge²)^(T/2)",
        rounds=number,
        # On rows with fair coins as labels, where rules are right independently, the majority is
        # the best way to combine them, so this many are needed (docs/proofs/majority.md).
        lower=fewest_coins((1 + edge) / 2, target),
        lower_for=INDEPENDENT_RULES,
        simulated=simulated,
        details={
            "lecture": f"T > 2 ln(1/error)/edge² = {2 * math.log(1 / target) / edge**2:.1f}",
            "world": f"an adversary with this edge on {sample:,} rows",
        },
    )


@plain_numbers
def filtering(
    *, epsilon: float, delta: float, edge: float, threshold: float = 0.75, price: float = 0.0
) -> Plan:
    """Rounds and draws of boosting by filtering with the clipped linear measure.

    With the ``price`` of a label, also what the draws cost.

    >>> filtering(epsilon=0.1, delta=0.05, edge=0.2, threshold=0.75).rounds
    4445
    """
    values = {"epsilon": epsilon, "delta": delta, "edge": edge, "threshold": threshold}
    for name, value in values.items():
        probability(name, value)
    if not (math.isfinite(price) and price >= 0):
        raise ParameterError(f"price is {price}; it must be 0 or more", parameter="price")
    number = math.ceil(1 / (threshold * epsilon * edge) ** 2 * (1 - 1e-12))
    # A run spends half of delta on the tests, and half of that on the mean weight. This number of
    # draws decides the two-threshold test for every μ.
    share = share_of(delta / 2, number) / 2
    point = sample_sizes.selection_threshold(threshold * epsilon, (1 - threshold) * epsilon)
    distance = kl(point, epsilon)
    test = smallest(
        lambda n: math.log(2 * math.sqrt(n) / share) / n <= distance, 1, "the test of μ"
    )
    return Plan(
        question=f"Rounds and test draws until boosting by filtering is certified at {epsilon:g} "
        f"with confidence {confidence_number(delta)}, edge {edge:g}",
        theorem="rounds ≤ 1/(c·ε·edge)²; tests by the kl confidence sequence",
        rounds=number,
        draws=number * test,
        simulated=needs.measure_rounds(epsilon, edge, threshold, number),
        details={
            "world": "rounds against an adversary with this edge",
            "draws a test": test,
            **({"cost of all draws": f"{number * test * price:,.10g}"} if price else {}),
            "lecture": f"T ≤ 2/(ε·edge)² = {2 / (epsilon * edge) ** 2:,.0f} if μ is known; "
            "half of it is enough",
            "note": "rules that vote have this edge (0.4 r for FilterBoostClassifier(edge=r)); "
            "add the draws of the weak learner: in each round its sample size, divided by c·ε",
        },
    )


@plain_numbers
def strong(*, epsilon: float, delta: float, edge: float, dimension: int) -> Plan:
    """Examples and rounds for (ε, δ) from a weak learner: weak learning implies strong learning.

    With m examples, AdaBoost runs T = T(m) rounds, enough to leave no mistake. Each weak call may
    fail with δ/(2T). The vote of T rules is one of Π(2m) ≤ S_d(2m)^T · Cov(2m, T) behaviours (S_d
    is Sauer's sum), and by the VC bound with δ/2 its risk is at most ε. As m grows T jumps, and the
    bound with it; the answer is the smallest m such that every larger number is also enough
    (docs/proofs/growth.md, section 3).

    >>> answer = strong(epsilon=0.1, delta=0.05, edge=0.4, dimension=3)
    >>> answer.examples > 10_000, answer.rounds < 200
    (True, True)
    """
    probability("epsilon", epsilon)
    probability("delta", delta)
    d = positive_whole("dimension", dimension)

    per_round = -0.5 * math.log1p(-(probability("edge", edge) ** 2))

    def needed_rounds(m: int) -> int:
        return math.floor(math.log(m) / per_round * (1 + 1e-15)) + 1

    def between(low: int, high: int) -> bool:
        number = needed_rounds(high)
        size = low if number == needed_rounds(low) else high  # the bound falls while T is constant
        growth = number * log_sauer(d, 2 * size) + log_cover(2 * size, number)
        return realizable(low, delta / 2, growth) <= epsilon

    def sure(m: int) -> bool:
        growth = (math.log(m) / per_round + 1) * (d + 1) * math.log(2 * m + 1) + 1
        return realizable(m, delta / 2, growth) <= epsilon

    start, what = max(8, d), "the vote's VC bound"
    examples = from_here_on(between, start, smallest(sure, start, what), what)
    number = needed_rounds(examples)
    return Plan(
        question=f"Examples and rounds for error ≤ {epsilon:g} with confidence "
        f"{confidence_number(delta)} from a weak learner of edge {edge:g} and VC dimension "
        f"{dimension}",
        theorem="training error 0 by (1 - edge²)^(T/2) < 1/m, then the VC bound for votes of T",
        examples=examples,
        rounds=number,
        lower=sample_sizes.examples_needed(epsilon, delta, d),
        lower_for=WORST_CASE,
        simulated=needs.boosted_majority(epsilon, delta, edge, examples),
        details={
            "failure left to each weak call": delta / (2 * number),
            "lecture": f"ln Π(m) ≤ {growth_of_product(number, d)(examples):,.0f} nats by "
            "(em/T)^T (em/d)^(dT), where Π(2m) is needed: "
            f"{growth_of_product(number, d)(2 * examples):,.0f}",
            "world": "a majority of 1/edge features, boosted stumps",
        },
    )


@plain_numbers
def confidence(
    *, failure: float, delta: float, epsilon: float | None = None, gap: float | None = None
) -> Plan:
    """Runs of a learner that often fails, and rows to choose the best of them.

    >>> confidence(failure=0.9, delta=0.05).runs
    36
    """
    runs = sample_sizes.runs_needed(failure, delta)
    examples = None
    if epsilon is not None and gap is not None:
        examples = sample_sizes.selection_size(epsilon, gap, runs, delta)
    elif epsilon is not None or gap is not None:
        raise ParameterError("give epsilon and gap together, or neither", parameter="gap")
    simulated = max(1, math.ceil(math.log(delta) / math.log(failure)))
    return Plan(
        question=f"Runs so that one succeeds, and a fresh sample to find it, with confidence "
        f"{confidence_number(delta)}, when a run fails with probability {failure:g}",
        theorem="failure^k ≤ δ/2; |S| ≥ ln(2k/δ)/kl(t‖ε)",
        runs=runs,
        examples=examples,
        simulated=simulated,
        details={
            "lecture": f"k > ln(2/δ)/δ₀, so {math.ceil(math.log(2 / delta) / failure)}: right if "
            "δ₀ is the chance to succeed, not if it is the chance to fail",
            "world": "independent runs, and an oracle that knows the best",
        },
    )


@plain_numbers
def resample(*, edge: float, delta: float, rounds: int, log_size: float) -> Plan:
    """Rows to draw from D_t so that the best rule on the draw keeps half the edge, every round.

    On the draw the error of every rule is off by at most γ/4, γ = edge/2, in all rounds. The rule
    that looks best may be overrated by γ/4 and the best rule underrated by γ/4, so the chosen rule
    loses at most γ/2.

    >>> resample(edge=0.2, delta=0.05, rounds=100, log_size=8.0).examples
    13036
    """
    gamma = probability("edge", edge) / 2
    number = positive_whole("rounds", rounds)
    if not 0 <= log_size < math.inf:
        raise invalid("log_size", log_size, "must be finite, and 0 or more")
    nats = math.log(2 * number / probability("delta", delta)) + log_size
    rows = math.ceil(8 * nats / gamma**2)
    return Plan(
        question=f"Rows to draw each round so that the best of exp({log_size:g}) rules keeps half "
        f"of edge {edge:g} in all {rounds} rounds, with confidence {confidence_number(delta)}",
        theorem="n' ≥ 8 ln(2|H|T/δ)/γ², γ = edge/2",
        examples=rows,
        draws=number * rows,
        simulated=needs.good_rule_found(edge, delta, number, log_size, rows),
        details={"world": "one rule with this edge among rules just below half of it"},
    )


__all__ = [
    "confidence", "coverage", "filtering", "finite", "holdout", "monitor", "no_free_lunch",
    "recall", "rectangle", "resample", "rounds", "strong", "stumps", "vc",
]  # fmt: skip

QUESTIONS: dict[str, Callable[..., Plan]] = {
    question.__name__: question
    for question in (
        finite, vc, rectangle, stumps, rounds, filtering, confidence, resample, holdout, recall,
        coverage, monitor, no_free_lunch, strong,
    )
}  # fmt: skip
