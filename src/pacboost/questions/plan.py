"""How many examples, rounds, draws or runs do I need?

Each answer gives the number that suffices by a theorem, for every distribution; where one is known,
the number below which no method can succeed; and what a simulation needed on one plain world.
"""

from __future__ import annotations

import math

from pacboost.bounds import confidence as confidence_bound
from pacboost.bounds import finite as finite_bound
from pacboost.bounds import holdout as holdout_bound
from pacboost.bounds import lower as lower_bound
from pacboost.bounds import rectangle as rectangle_bound
from pacboost.bounds import vc as vc_bound
from pacboost.bounds.search import smallest
from pacboost.errors import ParameterError
from pacboost.numerics.checks import positive_whole, probability
from pacboost.numerics.growth import log_cover, log_sauer, log_stump_growth, vc_of_stumps
from pacboost.numerics.kl import kl
from pacboost.questions import needs
from pacboost.questions.answer import Plan


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
    return Plan(
        question=f"Examples for error ≤ {epsilon:g} with confidence {1 - delta:g}, consistent "
        f"learner, ln(hypotheses) = {nats:.4g}",
        theorem="R ≤ 1 - (δ/|H|)^(1/m)",
        examples=examples,
        lower=_least(epsilon, delta, 1) if nats > 0 else None,
        simulated=needs.thresholds_on_a_grid(epsilon, delta, nats, 4 * examples)
        if nats > 0
        else None,
        details={"world": "evenly spaced thresholds on a line, uniform points, worst fit"},
    )


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
        question=f"Examples for error ≤ {epsilon:g} with confidence {1 - delta:g}, consistent "
        f"learner of VC dimension {dimension}",
        theorem="R ≤ (2/m)(log₂ Π(2m) + log₂(2/δ)), or Blumer et al.'s closed form if smaller",
        examples=examples,
        lower=_least(epsilon, delta, dimension),
        simulated=needs.tight_fit(epsilon, delta, dimension, 4 * examples),
        details={"world": f"tightest box with {dimension} sides around uniform points"},
    )


def rectangle(*, epsilon: float, delta: float, dimensions: int) -> Plan:
    """Examples for the tightest axis-parallel box.

    >>> plan = rectangle(epsilon=0.1, delta=0.05, dimensions=2)
    >>> plan.examples, plan.details["by strips"]
    (76, 176)
    """
    positive_whole("dimensions", dimensions)
    examples = rectangle_bound.examples_for_sharp(epsilon, delta, dimensions)
    return Plan(
        question=f"Examples for error ≤ {epsilon:g} with confidence {1 - delta:g}, tightest box in "
        f"{dimensions} dimensions",
        theorem="R ≤ BinInv(2d - 1, m, δ)",
        examples=examples,
        lower=_least(epsilon, delta, 2 * dimensions),
        simulated=needs.tight_fit(epsilon, delta, 2 * dimensions, 4 * examples),
        details={
            "by strips": rectangle_bound.examples_for_strip(epsilon, delta, dimensions),
            "world": "uniform points that fill the box",
        },
    )


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
        f"than on its sample, with confidence {1 - delta:g}",
        theorem="R ≤ R̂ + 1/m + √((ln Π(2m) + ln(4/δ))/m)",
        examples=examples,
        simulated=needs.noisy_stumps(epsilon, delta, p, examples),
        details={"VC dimension": vc_of_stumps(p), "world": "labels by the toss of a coin"},
    )


def rounds(*, edge: float, error: float | None = None, rows: int | None = None) -> Plan:
    """Rounds of AdaBoost until the training error is at most ``error``, or 0 on ``rows`` rows.

    >>> rounds(edge=0.2, rows=1000).rounds
    339
    """
    probability("edge", edge)
    if (error is None) == (rows is None):
        raise ParameterError("give error to reach, or rows to get all right, and not both")
    target = probability("error", error) if error is not None else 1 / positive_whole("rows", rows)
    per_round = -0.5 * math.log1p(-(edge**2))
    number = math.ceil(math.log(1 / target) / per_round)
    if rows is not None and number * per_round <= math.log(rows):  # strictly below 1/rows
        number += 1
    sample = rows or 1000
    known = needs.adversarial_rounds(edge, sample, error or 0.0) if sample <= 5000 else None
    return Plan(
        question=f"Rounds until AdaBoost's training error is {f'≤ {target:g}' if error else 0}, "
        f"when every rule has edge {edge:g} (error {(1 - edge) / 2:g})",
        theorem="training error ≤ (1 - edge²)^(T/2)",
        rounds=number,
        simulated=known,
        details={"world": f"an adversary with this edge on {sample:,} rows"},
    )


def filtering(*, epsilon: float, delta: float, edge: float, threshold: float = 0.75) -> Plan:
    """Rounds and draws of boosting by filtering with the clipped linear measure.

    >>> filtering(epsilon=0.1, delta=0.05, edge=0.2, threshold=0.75).rounds
    4445
    """
    probability("epsilon", epsilon)
    probability("delta", delta)
    probability("edge", edge)
    probability("threshold", threshold)
    number = math.ceil(1 / (threshold * epsilon * edge) ** 2 * (1 - 1e-12))
    spent = delta / 2 / (number * (number + 1))
    test = _test_length(epsilon, threshold, spent)
    return Plan(
        question=f"Rounds and test draws until boosting by filtering is certified at {epsilon:g} "
        f"with confidence {1 - delta:g}, edge {edge:g}",
        theorem="rounds ≤ 1/(c·ε·edge)²; tests by the kl confidence sequence",
        rounds=number,
        draws=number * test,
        simulated=needs.measure_rounds(epsilon, edge, threshold, number),
        details={
            "world": "rounds against an adversary with this edge",
            "draws a test": test,
            "lecture's rounds": math.ceil(2 / (epsilon * edge) ** 2),
            "note": "the edge is that of every rule that votes (of FilterBoostClassifier(edge=r): "
            "0.4 r); add the draws of the weak learner: its sample divided by c·ε, every round",
        },
    )


def confidence(
    *, failure: float, delta: float, epsilon: float | None = None, gap: float | None = None
) -> Plan:
    """Runs of a learner that fails with probability ``failure``, and rows to choose among them.

    >>> confidence(failure=0.9, delta=0.05).runs
    36
    """
    runs = confidence_bound.runs_needed(failure, delta)
    examples = None
    if epsilon is not None and gap is not None:
        examples = confidence_bound.selection_size(epsilon, gap, runs, delta)
    elif epsilon is not None or gap is not None:
        raise ParameterError("give epsilon and gap together, or neither")
    simulated = max(1, math.ceil(math.log(delta) / math.log(failure)))
    return Plan(
        question=f"Runs so that one succeeds, and a fresh sample to find it, with confidence "
        f"{1 - delta:g}, when a run fails with probability {failure:g}",
        theorem="failure^k ≤ δ/2; |S| ≥ ln(2k/δ)/kl(t‖ε)",
        runs=runs,
        examples=examples,
        simulated=simulated,
        details={"world": "independent runs, and an oracle that knows the best"},
    )


def resample(*, edge: float, delta: float, rounds: int, log_size: float) -> Plan:
    """Rows to draw from D_t so that the best rule on the draw keeps half the edge, every round.

    >>> resample(edge=0.2, delta=0.05, rounds=100, log_size=8.0).examples
    3259
    """
    gamma = probability("edge", edge) / 2
    number = positive_whole("rounds", rounds)
    if not 0 <= log_size < math.inf:
        raise ParameterError(f"log_size is {log_size}; it must be finite, and 0 or more")
    nats = math.log(2 * number / probability("delta", delta)) + log_size
    return Plan(
        question=f"Rows to draw each round so that the best of exp({log_size:g}) rules keeps half "
        f"of edge {edge:g} in all {rounds} rounds, with confidence {1 - delta:g}",
        theorem="n' ≥ 2 ln(2|H|T/δ)/γ², γ = edge/2",
        examples=math.ceil(2 * nats / gamma**2),
        draws=number * math.ceil(2 * nats / gamma**2),
        simulated=needs.good_rule_found(
            edge, delta, number, log_size, math.ceil(2 * nats / gamma**2)
        ),
        details={"world": "one rule with this edge among rules that guess"},
    )


def holdout(*, epsilon: float, delta: float, error: float = 0.0) -> Plan:
    """Rows to hold out so that a classifier with this error rate is certified at epsilon.

    >>> holdout(epsilon=0.01, delta=0.05).examples
    299
    """
    return Plan(
        question=f"Held-out rows to certify error ≤ {epsilon:g} with confidence {1 - delta:g}, if "
        f"the classifier errs on {error:g} of them",
        theorem="R ≤ BinInv(k, n, δ)",
        examples=holdout_bound.examples_for_clopper_pearson(epsilon, delta, error),
        lower=_least(epsilon, delta, 1),
        simulated=needs.certified_half_the_time(epsilon, delta, error, 2**40),
        details={
            "world": "half of all draws certify it",
            "by Chernoff": holdout_bound.examples_for_chernoff_kl(epsilon, delta, error),
            "by Hoeffding": holdout_bound.examples_for_hoeffding(epsilon, delta, error),
        },
    )


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
        simulated=needs.labelling_learned(domain),
        details={
            "mean risk at that size": lower_bound.no_free_lunch_risk(needed, domain),
            "world": "uniform over all labellings",
        },
    )


def strong(*, epsilon: float, delta: float, edge: float, dimension: int) -> Plan:
    """Weak implies strong, in one call: examples and rounds for (ε, δ) from a weak learner.

    With m examples, AdaBoost runs T = T(m) rounds, enough to leave no mistake. Each weak call may
    fail with δ/(2T). The vote of T rules is one of Π(2m) ≤ S_d(2m)^T · Cov(2m, T) behaviours (S_d
    is Sauer's sum), and by the VC bound with δ/2 its risk is at most ε.

    >>> answer = strong(epsilon=0.1, delta=0.05, edge=0.4, dimension=3)
    >>> answer.examples > 10_000, answer.rounds < 200
    (True, True)
    """
    probability("epsilon", epsilon)
    probability("delta", delta)
    d = positive_whole("dimension", dimension)

    def needed_rounds(m: int) -> int:
        return math.floor(math.log(m) / (-0.5 * math.log1p(-(probability("edge", edge) ** 2)))) + 1

    def enough(m: int) -> bool:
        number = needed_rounds(m)
        growth = number * log_sauer(d, 2 * m) + log_cover(2 * m, number)
        return vc_bound.realizable(m, delta / 2, growth) <= epsilon

    examples = smallest(enough, max(2, d), "the vote's VC bound")
    number = needed_rounds(examples)
    return Plan(
        question=f"Examples and rounds for error ≤ {epsilon:g} with confidence {1 - delta:g} from "
        f"a weak learner of edge {edge:g} and VC dimension {dimension}",
        theorem="training error 0 by (1 - edge²)^(T/2) < 1/m, then the VC bound for votes of T",
        examples=examples,
        rounds=number,
        lower=_least(epsilon, delta, d),
        simulated=needs.boosted_majority(epsilon, delta, edge, examples),
        details={
            "failure left to each weak call": delta / (2 * number),
            "world": "a majority of 1/edge features, boosted stumps",
        },
    )


def _least(epsilon: float, delta: float, dimension: int) -> int | None:
    """Examples that no method can do without; none are needed from error 1/2 on."""
    return lower_bound.examples_needed(epsilon, delta, dimension) if epsilon < 0.5 else None


def _test_length(epsilon: float, threshold: float, delta: float) -> int:
    """Draws after which the two-threshold test has decided, whatever μ is (theory of filtering)."""
    point = confidence_bound.selection_threshold(threshold * epsilon, (1 - threshold) * epsilon)
    distance = kl(point, epsilon)
    return smallest(
        lambda n: math.log(2 * math.sqrt(n) / delta) / n <= distance, 1, "the test of μ"
    )


QUESTIONS = {
    "finite": finite,
    "vc": vc,
    "rectangle": rectangle,
    "stumps": stumps,
    "rounds": rounds,
    "filtering": filtering,
    "confidence": confidence,
    "resample": resample,
    "holdout": holdout,
    "no_free_lunch": no_free_lunch,
    "strong": strong,
}
