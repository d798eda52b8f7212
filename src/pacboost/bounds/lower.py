"""Lower bounds on the number of examples in the worst case, and no free lunch.

A learner for a class of VC dimension d that reaches risk ≤ epsilon with probability 1 - delta
whatever the distribution and the target in the class needs at least::

    (d - 1)/(32·epsilon)                 for d ≥ 2, epsilon ≤ 1/8, delta < 1/14
                                         (Ehrenfeucht, Haussler, Kearns and Valiant 1989)
    ((1 - epsilon)/epsilon)·ln(1/delta)  for d ≥ 2 (Blumer et al. 1989)
    d/(320·epsilon²)                     for epsilon, delta < 1/64, where the labels need not come
                                         from the class and epsilon is what comes on top of the best
                                         in it (Anthony and Bartlett 1999)

and ``blumer_upper`` examples are enough. "Whatever the distribution" means that *some* distribution
needs so many; an easy one may need far fewer. The bound of Blumer et al. is one for deterministic
learners: one that tosses a coin where it is undecided may do with
ln(1/(2·delta))/-ln(1 - epsilon). A large *sufficient* number proves nothing about what is
necessary: that a class is not learnable follows from these or from no free lunch, never from an
upper bound that grows. Lower bounds are rounded down here. They are statements about learning
problems and certify no classifier, so there is no certificate in this file.
"""

from __future__ import annotations

import math

from pacboost.bounds.rounding import downward
from pacboost.errors import NotCertified
from pacboost.numerics.checks import plain_numbers, positive_whole, probability


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
def agnostic(epsilon: float, delta: float, dimension: int) -> float:
    """Return the examples needed to come within epsilon of the best hypothesis of the class.

    d/(320·epsilon²) (Anthony and Bartlett 1999).

    >>> round(agnostic(0.01, 0.01, dimension=10), 1)
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
def no_free_lunch(n: int, domain: int) -> str:
    """State what happens to every learner that sees fewer than half of the points of a domain.

    For every learner there is a distribution, labelled without noise, on which its risk is ≥ 1/8
    with probability ≥ 1/7 (Shalev-Shwartz and Ben-David 2014, theorem 5.1).

    >>> no_free_lunch(100, domain=2**10)[:58]
    'Whatever the learner, 100 examples do not suffice on 1,024'
    """
    if 2 * positive_whole("n", n) >= positive_whole("domain", domain):
        raise NotCertified(
            f"the no-free-lunch theorem is about samples smaller than half the domain; "
            f"{n} examples of {domain} points are not"
        )
    return (
        f"Whatever the learner, {n:,} examples do not suffice on {domain:,} points without "
        f"prior knowledge: for some labelling and distribution its risk is 1/8 or more with "
        f"probability 1/7 or more."
    )


@plain_numbers
def examples_for_no_free_lunch(domain: int) -> int:
    """Count the examples below which every learner has risk ≥ 1/8 with probability ≥ 1/7 somewhere.

    "Somewhere" means on some distribution, which may depend on the learner.

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
