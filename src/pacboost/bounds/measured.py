"""Certificates for measures: made from counts by the bounds of rates.py and losses.py."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ParamSpec

from pacboost.bounds.certificate import Certificate
from pacboost.bounds.holdout import KNOWN
from pacboost.bounds.measures import GAP, KINDS
from pacboost.bounds.registry import bound, makers
from pacboost.errors import ParameterError

P = ParamSpec("P")
CLOPPER = "Clopper and Pearson 1934"
INDEPENDENT = "rows are drawn independently from the distribution of new examples"
ASSUMED = {
    "groups": "groups are drawn independently; rows of one group may depend on each other",
    "period": "each row may depend on those before it; the claim is about the period watched",
}


def measure_bound(
    name: str, theorem: str, reference: str
) -> Callable[[Callable[P, float]], Callable[P, float]]:
    """Register a bound on a measure; its certificates are made again from their inputs."""
    known: dict[str, Any] = {"again": lambda given, _: made_again(given), "of": ("measure",)}
    return bound(name, theorem=theorem, reference=reference, **known)


def certificate(
    measure: str,
    bound: str,
    inputs: Mapping[str, Any],
    *,
    size: int,
    sample: str = "held-out rows",
    **details: float | int | str,
) -> Certificate:
    """Certify a measure by counts; ``inputs`` go to the bound, ``details`` into the claim.

    >>> inputs = {"k": 97, "n": 100, "delta": 0.05, "claims": 1}
    >>> found = certificate("recall", "rates.rate_lower", inputs, size=100, **{"class": "1"})
    >>> print(found.claim)
    Of the new examples of class '1', the classifier finds at least 92.42 %.
    """
    if measure not in KINDS and measure != GAP:
        allowed = ", ".join(map(repr, KINDS))
        raise ParameterError(f"measure is {measure!r}; it may be {allowed}")
    if bound not in (known := makers("measure")):
        raise ParameterError(f"bound is {bound!r}; it may be {', '.join(map(repr, known))}")
    return Certificate.by(
        bound,
        inputs,
        sample=sample + _shared(int(inputs["claims"])),
        size=size,
        independent_of="every choice made in training the model",
        assumptions=(ASSUMED.get(str(details.get("unit", "")), INDEPENDENT), KNOWN),
        valid_after_looking=False,
        of_what=measure,
        details=details,
    )


def made_again(given: Certificate) -> Certificate:
    """Make a certificate again from its inputs, with its words about rows.

    >>> inputs = {"k": 80, "n": 110, "delta": 0.05, "claims": 1}
    >>> first = certificate("f1", "rates.f1_lower", inputs, size=110, **{"class": "1"})
    >>> made_again(first) == first
    True
    """
    sample = given.sample.removesuffix(_shared(int(given.inputs["claims"])))
    return certificate(
        given.of_what, given.bound, given.inputs, size=given.size, sample=sample, **given.details
    )


def _shared(claims: int) -> str:
    return f"; {claims} claims share delta, each has delta/{claims}" if claims > 1 else ""
