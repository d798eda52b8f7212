"""The tightest box around the positive examples, where the target is a box.

    strip   P[R > epsilon] ≤ 2d(1 - epsilon/2d)^n          (Blumer et al. 1989; the lectures)
    sharp   P[R > epsilon] ≤ P[Bin(n, epsilon) ≤ 2d - 1]   (docs/proofs/rectangle.md)

for every distribution on ℝ^d, with or without atoms. The strip argument asks that each of 2d
strips of mass epsilon/2d be hit. It is trivial where the target has less than that mass, and with
atoms the strip is the smallest one of mass at least epsilon/2d. The sharp bound peels the sides one
after the other; for a uniform distribution it is all but exact.

Both need labels that come from a box without noise, and the tightest box. They are known before
any example is seen: they depend on n alone.
"""

from __future__ import annotations

import math

from pacboost.bounds.certificate import Certificate
from pacboost.bounds.registry import bound
from pacboost.bounds.rounding import outward
from pacboost.bounds.search import smallest
from pacboost.errors import NotCertified
from pacboost.numerics.binomial import binomial_upper
from pacboost.numerics.checks import plain_numbers, positive_whole, probability


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
def certificate(n: int, delta: float, features: int, mistakes: int = 0) -> Certificate:
    """Certify the tightest box around the positive of n examples that a box labelled.

    ``mistakes`` counts negative examples inside the box: one is proof that no box made the labels.

    >>> certificate(1000, delta=0.05, features=2).claim
    'The tightest box is wrong on at most 0.78 % of new examples.'
    """
    if mistakes != 0:
        raise NotCertified(
            f"the tightest box holds {mistakes} negative examples, so the labels do not come from "
            f"a box; hold out rows and certify by them instead"
        )
    return Certificate.by(
        "rectangle.sharp",
        {"n": n, "delta": delta, "features": features},
        sample="the training rows",
        size=n,
        independent_of="nothing: it speaks of the box these rows give",
        assumptions=(
            "rows are drawn independently from the distribution of new examples",
            "some box labels all examples without a mistake",
            "features were chosen before the rows were seen",
        ),
        valid_after_looking=False,
    )


def _strips(delta: float, features: int) -> tuple[int, float]:
    """How many strips there are, and ln(strips/delta)."""
    sides = 2 * positive_whole("features", features)
    return sides, math.log(sides) - math.log(probability("delta", delta))
