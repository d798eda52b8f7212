"""Certificates of measures, and the bounds that make them.

Each of ``claims`` many claims has delta/claims, and all hold together (docs/proofs/rates.md).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ParamSpec

from pacboost.bounds import holdout
from pacboost.bounds.certificate import Certificate, makers
from pacboost.bounds.known_measures import MEASURES
from pacboost.bounds.registry import BOUNDS, bound
from pacboost.bounds.wording import DRAWN
from pacboost.errors import ParameterError, invalid
from pacboost.numerics.checks import positive_whole, probability

P = ParamSpec("P")
CLOPPER = "Clopper and Pearson 1934"
ASSUMED = {
    "groups": "groups are drawn independently; rows of one group may depend on each other",
    "period": "each row may depend on those before it; the claim is about the period watched",
    "classes": "rows of each class are drawn independently from the new examples of that class, "
    "whose share was not taken from these rows",
}


def measure_bound(
    family: str, theorem: str, reference: str, *measures: str, side: str = "upper"
) -> Callable[[Callable[P, float]], Callable[P, float]]:
    """Register a bound as "family.function"; inputs recompute certificates.

    It bounds the measures that name it, and those in ``measures``.
    """

    def register(function: Callable[P, float]) -> Callable[P, float]:
        return bound(
            f"{family}.{function.__name__}", theorem=theorem, reference=reference,
            side=side, measures=measures, of=("measure",),
            again=lambda stored, _: made_again(stored),
        )(function)  # fmt: skip

    return register


def certificate(
    measure: str,
    bound: str,
    inputs: Mapping[str, Any],
    *,
    size: int,
    sample: Any = None,
    **details: Any,
) -> Certificate:
    """Certify a measure by counts; ``inputs`` go to the bound, ``details`` into the claim."""
    if bound not in (bounds := makers("measure")):
        raise invalid("bound", bound, f"may be {', '.join(map(repr, bounds))}")
    if measure not in (allowed_measures := measures_of(bound)):
        allowed = ", ".join(map(repr, allowed_measures))
        raise ParameterError(f"measure is {measure!r}; {bound} bounds {allowed}")
    return Certificate.by(
        bound,
        inputs,
        sample={"rows": "held_out"} if sample is None else sample,
        size=size,
        independent_of="every choice made in training the model",
        assumptions=(ASSUMED.get(str(details.get("unit", "")), DRAWN), holdout.FIXED_BEFOREHAND),
        of_what=measure,
        details=details,
    )


def measures_of(bound: str) -> list[str]:
    """Return the names of the measures that a bound may certify."""
    named = [name for name in MEASURES if bound in MEASURES[name].bounds()]
    return [*dict.fromkeys([*named, *BOUNDS[bound].measures])]


def made_again(stored: Certificate) -> Certificate:
    """Recompute a certificate from its inputs; only the facts about its rows are copied."""
    return certificate(
        stored.of_what, stored.bound, stored.inputs, size=stored.size, sample=stored.sample,
        **stored.details,
    )  # fmt: skip


def level(delta: float, claims: int) -> float:
    """Return the share of delta of one claim."""
    return probability("delta", delta) / positive_whole("claims", claims)
