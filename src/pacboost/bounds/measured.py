"""Certificates for measures: made from counts by the bounds of rates.py and losses.py."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pacboost.bounds import covering, deciding, losses, rates
from pacboost.bounds.certificate import Certificate
from pacboost.bounds.holdout import KNOWN
from pacboost.bounds.measures import GAP, KINDS
from pacboost.errors import ParameterError

CLOPPER = "Clopper and Pearson 1934"
TONG = "Tong, Feng and Li 2018; docs/proofs/thresholds.md"
EQUAL = "Berk and Jones 1979; Moscovich and Nadler 2017; docs/proofs/thresholds.md"
BUEHLER = "Buehler 1957; Clopper and Pearson 1934; docs/proofs/rates.md"
HOEFFDING = "Hoeffding 1963; Maurer 2004; Waudby-Smith and Ramdas 2024; docs/proofs/rates.md"
MASSART = "Massart 1990; Waudby-Smith and Ramdas 2024; docs/proofs/rates.md"
BOUNDS: dict[str, tuple[Callable[..., float], str, str]] = {
    "rates.rate_upper": (
        rates.rate_upper, "P[B | A] ≤ BinInv(k, n, delta/claims), n rows in A", CLOPPER,
    ),
    "rates.rate_lower": (
        rates.rate_lower, "P[B | A] ≥ 1 - BinInv(n - k, n, delta/claims), n rows in A", CLOPPER,
    ),
    "rates.f1_lower": (rates.f1_lower, "F1 = 2J/(1 + J), J binomial in the union", CLOPPER),
    "rates.f1_upper": (rates.f1_upper, "F1 = 2J/(1 + J), J binomial in the union", CLOPPER),
    "rates.balanced_upper": (
        rates.balanced_upper, "largest mean of rates not ruled out by the mean that was seen",
        BUEHLER,
    ),
    "rates.balanced_lower": (
        rates.balanced_lower, "smallest mean of rates not ruled out by the mean that was seen",
        BUEHLER,
    ),
    "rates.gap_upper": (
        rates.gap_upper, "largest upper end less smallest lower end of two groups", CLOPPER,
    ),
    "rates.ordered_upper": (
        rates.ordered_upper, "mixture of conditional moment bounds", "docs/proofs/dependent.md",
    ),
    "losses.mean_upper": (losses.mean_upper, "bet on independent numbers in [0, 1]", HOEFFDING),
    "losses.mean_lower": (losses.mean_lower, "bet on independent numbers in [0, 1]", HOEFFDING),
    "losses.auc_lower": (
        losses.auc_lower, "AUC ≥ kl⁻(U, ln(claims/delta)/min(n₊, n₋))", "Hoeffding 1963, section 5",
    ),
    "losses.auc_upper": (
        losses.auc_upper, "AUC ≤ kl⁺(U, ln(claims/delta)/min(n₊, n₋))", "Hoeffding 1963, section 5",
    ),
    "losses.ranks_lower": (losses.ranks_lower, "bet on ranks among many rows", MASSART),
    "losses.ranks_upper": (losses.ranks_upper, "bet on ranks among many rows", MASSART),
    "deciding.order_lower": (
        deciding.order_lower, "P[score ≥ s₍ₖ₎] ≥ 1 - BinInv(k - 1, n, delta/claims)", TONG,
    ),
    "deciding.order_upper": (
        deciding.order_upper, "P[score > s₍ₖ₎] ≤ BinInv(k - 1, n, delta/claims)", TONG,
    ),
    "deciding.passed_lower": (
        deciding.passed_lower,
        "precision ≥ target at this rank and all before it, tested in their order",
        "Clopper and Pearson 1934; Angelopoulos et al. 2021; docs/proofs/selective.md",
    ),
    "deciding.curve_lower": (
        deciding.curve_lower, "P[score ≥ t] ≥ 1 - BinInv(k - 1, n, delta/(claims·N)) for all t",
        EQUAL,
    ),
    "deciding.curve_upper": (
        deciding.curve_upper, "P[score ≥ t] ≤ BinInv(k - 1, n, delta/(claims·N)) for all t", EQUAL,
    ),
    "deciding.precision_lower": (
        deciding.precision_lower, "π·r/(π·r + (1 - π)·f) of three bounds at delta/3 each", CLOPPER,
    ),
    "deciding.cost_upper": (
        deciding.cost_upper, "π·a·P[missed] + (1 - π)·b·P[false alarm], for all thresholds", EQUAL,
    ),
    "covering.covered_lower": (
        covering.covered_lower, "P[score ≤ s₍ₖ₎] ≥ p where P[Bin(n, p) ≥ k] = delta/claims",
        "Vovk 2012; Park, Bastani, Matni and Lee 2020; docs/proofs/sets.md",
    ),
}  # fmt: skip
"""By the name of a bound: its function, its theorem, and by whom."""
INDEPENDENT = "rows are drawn independently from the distribution of new examples"
ASSUMED = {
    "groups": "groups are drawn independently; rows of one group may depend on each other",
    "period": "each row may depend on those before it; the claim is about the period watched",
}


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
    if bound not in BOUNDS:
        raise ParameterError(f"bound is {bound!r}; it may be {', '.join(map(repr, BOUNDS))}")
    function, theorem, reference = BOUNDS[bound]
    return Certificate.by(
        function,
        inputs,
        theorem=theorem,
        reference=reference,
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
