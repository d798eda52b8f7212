"""Several bounds at once: the smallest may be quoted if they share the chance of failure.

If bound j fails with probability at most δ_j, all of them hold together except with probability
Σ δ_j (Boole). So m bounds at δ/m each may be compared after looking, and the smallest kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from pacboost.bounds.certificate import Certificate
from pacboost.errors import NotCertified, ParameterError
from pacboost.numerics.checks import probability

Maker = Callable[[float], Certificate]


def best_of(makers: Sequence[Maker], delta: float) -> Certificate:
    """Return the smallest of several certificates, each made at its share of delta.

    Those that refuse are passed over, but have had their share: which ones refuse may depend on the
    data.

    >>> from pacboost.bounds import holdout
    >>> both = [lambda d: holdout.certificate(5, 200, d), lambda d: holdout.certificate(9, 300, d)]
    >>> round(best_of(both, 0.05).value, 4), best_of(both, 0.05).delta
    (0.0562, 0.05)
    """
    probability("delta", delta)
    if not makers:
        raise ParameterError("no bounds were given; at least one is needed")
    made: list[Certificate] = []
    refusals: list[str] = []
    for make in makers:
        try:
            made.append(make(delta / len(makers)))
        except NotCertified as refusal:
            refusals.append(str(refusal))
    if not made:
        raise NotCertified("every bound refuses: " + "; ".join(refusals))
    best = min(made, key=lambda certificate: certificate.value)
    shared = f"this and {len(makers) - 1} other bounds share the chance of failure"
    return replace(best, delta=delta, assumptions=(*best.assumptions, shared))
