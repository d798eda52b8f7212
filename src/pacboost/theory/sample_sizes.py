"""Numbers of examples: lower bounds, boosting the confidence, and tightest boxes.

Lower bounds hold for *some* distribution, and an easy one may need far fewer examples; they are
rounded down and certify no classifier. A large *sufficient* number does not show that fewer fail
(docs/proofs/lower.md).

Boosting the confidence: a learner that reaches risk ≤ ε except with probability ``failure`` is run
k times, and the run with the fewest mistakes on a fresh sample S is chosen: risk ≤ ε + gap with
probability ≥ 1 - δ. (Kearns and Vazirani 1994 call the *success* probability δ₀: their k > (1/δ₀)
ln(2/δ) is unsafe if δ₀ is read as the probability of failure; docs/proofs/confidence.md.)

The tightest box around the positive examples is for labels that some box makes without noise
(docs/proofs/rectangle.md). Its bounds depend on n alone.
"""

from __future__ import annotations

import math

from pacboost.bounds.certificate import Certificate
from pacboost.bounds.registry import bound
from pacboost.bounds.rounding import downward, outward
from pacboost.bounds.search import crossing, smallest
from pacboost.errors import NotCertified, ParameterError
from pacboost.numerics.binomial import binomial_upper
from pacboost.numerics.checks import plain_numbers, positive_whole, probability, real_number
from pacboost.numerics.kl import kl


@plain_numbers
def ehkv(epsilon: float, delta: float, dimension: int) -> float:
    """Return the number of examples that every learner of a class of this VC dimension needs.

    (d - 1)/(32·epsilon) (Ehrenfeucht, Haussler, Kearns and Valiant 1989).
    """
    probability("epsilon", epsilon)
    probability("delta", delta)
    if positive_whole("dimension", dimension) < 2:
        raise NotCertified("the bound (d - 1)/(32·epsilon) holds for VC dimensions of 2 and more")
    if epsilon > 1 / 8 or 14 * delta >= 1:
        raise NotCertified(
            f"the bound (d - 1)/(32·epsilon) is proved for epsilon ≤ 1/8 and delta < 1/14; "
            f"epsilon is {epsilon:g} and delta is {delta:g}"
        )
    return downward((dimension - 1) / (32 * epsilon))


@plain_numbers
def blumer(epsilon: float, delta: float) -> float:
    """Return the number of examples a deterministic learner needs if two concepts partly agree.

    ((1 - epsilon)/epsilon)·ln(1/delta) (Blumer et al. 1989; docs/proofs/lower.md, theorem 3). A
    class of VC dimension 2 has such concepts, and so does one of three concepts; one example
    separates two concepts that differ everywhere.
    """
    probability("delta", delta)
    return downward((1 - probability("epsilon", epsilon)) / epsilon * -math.log(delta))


@plain_numbers
def examples_needed(epsilon: float, delta: float, dimension: int) -> int:
    """Return the best known lower bound on the examples of a deterministic learner."""
    needed = blumer(epsilon, delta)
    if positive_whole("dimension", dimension) < 2:
        return 1
    if epsilon <= 1 / 8 and 14 * delta < 1:
        needed = max(needed, ehkv(epsilon, delta, dimension))
    return math.ceil(needed)


@plain_numbers
def blumer_upper(epsilon: float, delta: float, dimension: int) -> int:
    """Return the number of examples that suffices for every consistent learner of the class.

    max((4/epsilon)·log₂(2/delta), (8d/epsilon)·log₂(13/epsilon)) (Blumer et al. 1989).
    """
    confidence = 4 / probability("epsilon", epsilon) * math.log2(2 / probability("delta", delta))
    richness = 8 * positive_whole("dimension", dimension) / epsilon * math.log2(13 / epsilon)
    return math.ceil(max(confidence, richness) * (1 + 1e-12))


@plain_numbers
def examples_for_no_free_lunch(domain: int) -> int:
    """Return the examples below which each learner has risk ≥ 1/8 with probability ≥ 1/7 somewhere.

    "Somewhere" means on some distribution, labelled without noise, which may depend on the learner
    (Shalev-Shwartz and Ben-David 2014, theorem 5.1).
    """
    return -(-positive_whole("domain", domain) // 2)


@plain_numbers
def no_free_lunch_risk(n: int, domain: int) -> float:
    """Return the mean risk of the best learner if all labellings of the domain are equally likely.

    ½(1 - 1/N)^n for n examples drawn uniformly from N points: every learner guesses half of
    the points that were not drawn, and need not be wrong on the others.

    >>> round(no_free_lunch_risk(16, domain=16), 4)
    0.178
    """
    positive_whole("n", n)
    if positive_whole("domain", domain) == 1:
        return 0.0
    return downward(0.5 * math.exp(n * math.log1p(-1 / domain)))


@plain_numbers
def runs_needed(failure: float, delta: float) -> int:
    """Return the smallest k with failure^k ≤ δ/2."""
    probability("failure", failure)
    probability("delta", delta)
    k = max(1, math.ceil(math.log(2 / delta) / -math.log(failure)))
    while k * math.log(failure) > math.log(delta / 2):  # the ceiling of a rounded quotient
        k += 1
    return k


@plain_numbers
def selection_size(epsilon: float, gap: float, runs: int, delta: float) -> int:
    """Return |S| by Chernoff's bound: ln(2k/δ)/kl(t‖ε) where kl(t‖ε) = kl(t‖ε + gap)."""
    t = selection_threshold(epsilon, gap)
    positive_whole("runs", runs)
    probability("delta", delta)
    return math.ceil(math.log(2 * runs / delta) / kl(t, epsilon) * (1 + 1e-12))


@plain_numbers
def selection_threshold(epsilon: float, gap: float) -> float:
    """Return the t between ε and ε + gap with kl(t‖ε) = kl(t‖ε + gap)."""
    probability("epsilon", epsilon)
    if not 0 < real_number("gap", gap) < 1 - epsilon:
        raise ParameterError(f"gap is {gap}; it must lie strictly between 0 and {1 - epsilon:g}")
    worse = epsilon + gap
    return crossing(lambda t: kl(t, epsilon) - kl(t, worse), epsilon, worse)


@plain_numbers
def strip(n: int, delta: float, features: int) -> float:
    """Bound the risk of the tightest box by the strips of the lectures' proof.

    R ≤ (2d/n)·ln(2d/delta), from (1 - x)^n ≤ exp(-xn) (Blumer et al. 1989).
    """
    sides, nats = _strips(delta, features)
    return outward(sides * nats / positive_whole("n", n))


@plain_numbers
def strip_exact(n: int, delta: float, features: int) -> float:
    """Bound the risk by the strips with the exact (1 - x)^n.

    R ≤ 2d(1 - (delta/2d)^(1/n)).

    >>> round(strip_exact(1000, delta=0.05, features=2), 6)
    0.01749
    """
    sides, nats = _strips(delta, features)
    return outward(sides * -math.expm1(-nats / positive_whole("n", n)))


@bound(
    "rectangle.sharp",
    theorem="P[R > epsilon] ≤ P[Bin(n, epsilon) ≤ 2d - 1] for the tightest box",
    reference="docs/proofs/rectangle.md; Campi and Garatti 2008",
    subject="the tightest box",
    sample="the training rows",
    independent_of="nothing: it speaks of the box these rows give",
    assumptions=(
        "rows are drawn independently from the distribution of new examples",
        "some box labels all examples without a mistake",
        "features were chosen before the rows were seen",
    ),
)
def sharp(n: int, delta: float, features: int) -> float:
    """Bound the risk of the tightest box by peeling its sides.

    R ≤ BinInv(2d - 1, n, delta), 1 where n < 2d (docs/proofs/rectangle.md; Campi and Garatti 2008).
    """
    sides = 2 * positive_whole("features", features)
    log_inverse = -math.log(probability("delta", delta))
    if positive_whole("n", n) < sides:
        return 1.0
    return binomial_upper(sides - 1, n, log_inverse)


@plain_numbers
def examples_for_strip(epsilon: float, delta: float, features: int) -> int:
    """Return the number of examples after which the strips give risk at most epsilon.

    n ≥ (2d/epsilon)·ln(2d/delta), rounded up.
    """
    sides, nats = _strips(delta, features)
    return math.ceil(sides * nats / probability("epsilon", epsilon) * (1 + 1e-12))


@plain_numbers
def examples_for_sharp(epsilon: float, delta: float, features: int) -> int:
    """Return the number of examples after which peeling gives risk at most epsilon.

    >>> examples_for_sharp(epsilon=0.1, delta=0.05, features=2)
    76
    """
    probability("epsilon", epsilon)
    start = 2 * positive_whole("features", features)
    return smallest(
        lambda n: sharp(n, delta, features) <= epsilon, start, f"a bound of {epsilon:g}"
    )


@plain_numbers
def box_certificate(n: int, delta: float, features: int, mistakes: int = 0) -> Certificate:
    """Certify the tightest box around the positive examples among n that a box labelled.

    ``mistakes`` counts negative examples inside the box: one proves that no box made the labels.

    >>> box_certificate(1000, delta=0.05, features=2).claim
    'The tightest box is wrong on at most 0.78 % of new examples.'
    """
    if mistakes != 0:
        raise NotCertified(
            f"the tightest box has {mistakes} negative examples in it, so no box made the labels; "
            "certify by held-out rows instead"
        )
    return Certificate.by("rectangle.sharp", {"n": n, "delta": delta, "features": features})


def _strips(delta: float, features: int) -> tuple[int, float]:
    """Return the number of strips, and ln(strips/delta)."""
    sides = 2 * positive_whole("features", features)
    return sides, math.log(sides) - math.log(probability("delta", delta))
