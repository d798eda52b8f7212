"""How many examples: what is needed in the worst case, what boosts confidence, and what boxes need.

Lower bounds speak of *some* distribution, an easy one may need far fewer; they are rounded down and
certify no classifier. A large *sufficient* number proves nothing about what is necessary
(docs/proofs/lower.md).
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
    """Return the examples that any learner of a class of this VC dimension needs.

    (d - 1)/(32·epsilon) (Ehrenfeucht, Haussler, Kearns and Valiant 1989).

    >>> round(ehkv(0.05, 0.01, dimension=10), 3)
    5.625
    """
    probability("epsilon", epsilon)
    probability("delta", delta)
    if positive_whole("dimension", dimension) < 2:
        raise NotCertified("the bound (d - 1)/(32·epsilon) is for VC dimension 2 and more")
    if epsilon > 1 / 8 or 14 * delta >= 1:
        raise NotCertified(
            f"the bound (d - 1)/(32·epsilon) is proved for epsilon ≤ 1/8 and delta < 1/14; "
            f"epsilon is {epsilon:g} and delta is {delta:g}"
        )
    return downward((dimension - 1) / (32 * epsilon))


@plain_numbers
def blumer(epsilon: float, delta: float) -> float:
    """Return what a deterministic learner needs of a class in which two concepts meet and part.

    A class of VC dimension 2 has such concepts, and so has one of three concepts; of two concepts
    that differ everywhere, one example tells which it is.

    ((1 - epsilon)/epsilon)·ln(1/delta) (Blumer et al. 1989): where the two concepts differ on a
    point whose mass is above epsilon by as little as one likes, a sample misses it with
    probability close to (1 - epsilon)^m (docs/proofs/lower.md, theorem 3).

    >>> round(blumer(0.05, 0.05), 1)
    56.9
    """
    probability("delta", delta)
    return downward((1 - probability("epsilon", epsilon)) / epsilon * -math.log(delta))


@plain_numbers
def agnostic_lower(epsilon: float, delta: float, dimension: int) -> float:
    """Return the examples needed to come within epsilon of the best hypothesis of the class.

    d/(320·epsilon²) (Anthony and Bartlett 1999).

    >>> round(agnostic_lower(0.01, 0.01, dimension=10), 1)
    312.5
    """
    positive_whole("dimension", dimension)
    if probability("epsilon", epsilon) >= 1 / 64 or probability("delta", delta) >= 1 / 64:
        raise NotCertified(
            f"the bound d/(320·epsilon²) is proved for epsilon and delta below 1/64; "
            f"epsilon is {epsilon:g} and delta is {delta:g}"
        )
    return downward(dimension / (320 * epsilon**2))


@plain_numbers
def examples_needed(epsilon: float, delta: float, dimension: int) -> int:
    """Count the examples a deterministic learner needs in the worst case: the best known bound.

    >>> examples_needed(0.05, 0.05, dimension=10), examples_needed(0.1, 0.05, dimension=200)
    (57, 63)
    """
    needed = blumer(epsilon, delta)
    if positive_whole("dimension", dimension) < 2:
        return 1
    if epsilon <= 1 / 8 and 14 * delta < 1:
        needed = max(needed, ehkv(epsilon, delta, dimension))
    return math.ceil(needed)


@plain_numbers
def blumer_upper(epsilon: float, delta: float, dimension: int) -> int:
    """Count the examples that suffice for any learner that fits its sample by the class.

    max((4/epsilon)·log₂(2/delta), (8d/epsilon)·log₂(13/epsilon)) (Blumer et al. 1989).

    >>> blumer_upper(0.05, 0.05, dimension=10)
    12836
    """
    confidence = 4 / probability("epsilon", epsilon) * math.log2(2 / probability("delta", delta))
    richness = 8 * positive_whole("dimension", dimension) / epsilon * math.log2(13 / epsilon)
    return math.ceil(max(confidence, richness) * (1 + 1e-12))


@plain_numbers
def examples_for_no_free_lunch(domain: int) -> int:
    """Count the examples below which every learner has risk ≥ 1/8 with probability ≥ 1/7 somewhere.

    "Somewhere" means on some distribution, labelled without noise, which may depend on the learner
    (Shalev-Shwartz and Ben-David 2014, theorem 5.1).

    >>> examples_for_no_free_lunch(2**100) == 2**99
    True
    """
    return -(-positive_whole("domain", domain) // 2)


@plain_numbers
def no_free_lunch_risk(n: int, domain: int) -> float:
    """Return mean risk of the best learner when all labellings of the domain are equally likely.

    ½(1 - 1/N)^n for n examples drawn uniformly from N points: a point that was not drawn is guessed
    rightly half the time by every learner, and one that was drawn need not be wrong.

    >>> round(no_free_lunch_risk(16, domain=16), 4)
    0.178
    """
    positive_whole("n", n)
    if positive_whole("domain", domain) == 1:
        return 0.0
    return downward(0.5 * math.exp(n * math.log1p(-1 / domain)))


# A learner that reaches risk ≤ ε except with probability ``failure`` is run k times, and the run
# with the fewest mistakes on a fresh sample S is taken: risk ≤ ε + gap with probability ≥ 1 - δ.
# (Kearns and Vazirani 1994 call the *success* probability δ₀: their k > (1/δ₀) ln(2/δ) is unsafe if
# it is read as the probability of failure; docs/proofs/confidence.md.)


@plain_numbers
def runs_needed(failure: float, delta: float) -> int:
    """Return the smallest k with failure^k ≤ δ/2.

    >>> runs_needed(0.9, 0.05)
    36
    """
    probability("failure", failure)
    probability("delta", delta)
    k = max(1, math.ceil(math.log(2 / delta) / -math.log(failure)))
    while k * math.log(failure) > math.log(delta / 2):  # the ceiling of a rounded quotient
        k += 1
    return k


@plain_numbers
def selection_size(epsilon: float, gap: float, runs: int, delta: float) -> int:
    """Return |S| by Chernoff's bound: ln(2k/δ)/kl(t‖ε) where kl(t‖ε) = kl(t‖ε + gap).

    >>> selection_size(0.1, 0.1, 37, 0.05)
    722
    """
    t = selection_threshold(epsilon, gap)
    positive_whole("runs", runs)
    probability("delta", delta)
    return math.ceil(math.log(2 * runs / delta) / kl(t, epsilon) * (1 + 1e-12))


@plain_numbers
def selection_threshold(epsilon: float, gap: float) -> float:
    """Return the t between ε and ε + gap from which both are equally far.

    >>> round(selection_threshold(0.1, 0.02), 6)
    0.109734
    """
    probability("epsilon", epsilon)
    if not 0 < real_number("gap", gap) < 1 - epsilon:
        raise ParameterError(f"gap is {gap}; it must lie strictly between 0 and {1 - epsilon:g}")
    worse = epsilon + gap
    return crossing(lambda t: kl(t, epsilon) - kl(t, worse), epsilon, worse)


# The tightest box around the positive examples, where some box makes all labels without noise
# (docs/proofs/rectangle.md). The bounds depend on n alone, so they are known before any example is.


@plain_numbers
def strip(n: int, delta: float, features: int) -> float:
    """Bound the risk of the tightest box by the argument of the strips, as the lectures do.

    R ≤ (2d/n)·ln(2d/delta), from (1 - x)^n ≤ exp(-xn) (Blumer et al. 1989).

    >>> round(strip(1000, delta=0.05, features=2), 6)
    0.017528
    """
    sides, nats = _strips(delta, features)
    return outward(sides * nats / positive_whole("n", n))


@plain_numbers
def strip_exact(n: int, delta: float, features: int) -> float:
    """Bound the risk by the strips without giving (1 - x)^n away.

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

    >>> round(sharp(1000, delta=0.05, features=2), 7)
    0.0077352
    """
    sides = 2 * positive_whole("features", features)
    log_inverse = -math.log(probability("delta", delta))
    if positive_whole("n", n) < sides:
        return 1.0
    return binomial_upper(sides - 1, n, log_inverse)


@plain_numbers
def examples_for_strip(epsilon: float, delta: float, features: int) -> int:
    """Count the examples after which the strips give risk at most epsilon.

    n ≥ (2d/epsilon)·ln(2d/delta), rounded up.

    >>> examples_for_strip(epsilon=0.1, delta=0.05, features=2)
    176
    """
    sides, nats = _strips(delta, features)
    return math.ceil(sides * nats / probability("epsilon", epsilon) * (1 + 1e-12))


@plain_numbers
def examples_for_sharp(epsilon: float, delta: float, features: int) -> int:
    """Count the examples after which peeling gives risk at most epsilon.

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
    """Certify the tightest box around the positive of n examples that a box labelled.

    ``mistakes`` counts negative examples inside the box: one is proof that no box made the labels.

    >>> box_certificate(1000, delta=0.05, features=2).claim
    'The tightest box is wrong on at most 0.78 % of new examples.'
    """
    if mistakes != 0:
        raise NotCertified(
            f"the tightest box holds {mistakes} negative examples, so the labels do not come from "
            f"a box; hold out rows and certify by them instead"
        )
    return Certificate.by("rectangle.sharp", {"n": n, "delta": delta, "features": features})


def _strips(delta: float, features: int) -> tuple[int, float]:
    """How many strips there are, and ln(strips/delta)."""
    sides = 2 * positive_whole("features", features)
    return sides, math.log(sides) - math.log(probability("delta", delta))
