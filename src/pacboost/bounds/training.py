"""The training-error theorem, for every potential, and the margins that follow from it.

For any votes and rules, 1[yF ≤ 0] ≤ exp(-yF), and the mean of exp(-yF) under D_1 is ∏ Z_t with the
normalisers the run really had. So

    P_S[yF ≤ 0] ≤ ∏ Z_t            (= ∏ 2√(ε_t(1-ε_t)) ≤ exp(-½ Σ edge_t²) for plain votes)
    P_S[y F/‖a‖₁ ≤ θ] ≤ exp(θ‖a‖₁) ∏ Z_t        for every θ

The same holds with other potentials φ(yF) ≥ 1[yF ≤ 0] whose mean the loop measures, and for more
classes with ``factor`` · ∏ Z_t. All are about the sample only and never fail. Weights are whole
numbers, each off by at most one unit, which ``rounding_slack`` pays for (docs/proofs/training.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from pacboost.boosters.multiclass import method_of
from pacboost.bounds.certificate import Certificate
from pacboost.bounds.registry import bound
from pacboost.bounds.rounding import SLACK, outward
from pacboost.bounds.wording import TRAINING_LABELS, TRAINING_ROWS
from pacboost.errors import NotCertified
from pacboost.ledgers.ledger import Ledger
from pacboost.numerics.same_bits import expm1, total

THETAS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5)


@bound(
    "training.product_bound",
    subject="the vote",
    sample="the training rows, ties counted as errors",
    again=lambda _, ledger: training_error(ledger),
)
def product_bound(ledger: Ledger) -> float:
    """Return ∏ Z_t rounded up, a bound on the training error.

    >>> from pacboost.ledgers.ledger import Round
    >>> numbers = (0.3, 0.4, 0.4236489, 0.9165151, 0.3, 10.0, 2**52, [])
    >>> entries = [Round(t, *numbers, rule="", seconds=0.0) for t in (1, 2)]
    >>> ledger = Ledger("adaboost", "exponential", "stump", 10, 1, False, True, rounds=entries)
    >>> round(product_bound(ledger), 4)
    0.84
    """
    _refuse(ledger)
    log_product = math.fsum(math.log(entry.normaliser) for entry in ledger.rounds)
    product = math.exp(min(log_product, 700.0))
    # the slack is inside: K/2 or K times a product that is off by the slack is off by as many times
    # it
    return outward(ledger.factor * (product + rounding_slack(ledger)))


def rounding_slack(ledger: Ledger) -> float:
    """Return how far ∏ Z_t may be off because weights are integers and sums are floats."""
    slack, product = 0.0, 1.0
    if ledger.potential not in ("exponential", "projected"):
        # Measured from the margins themselves, in floats whose error is absolute where costs are
        # tiny; and the training error is counted in whole units of D_1, each off by less than one.
        units = ledger.rows * ledger.classes**2 / 2**50
        log_product = math.fsum(math.log(entry.normaliser) for entry in ledger.rounds)
        return units + 1e-9 * math.exp(min(log_product, 700.0))
    if ledger.potential == "projected" and ledger.rounds:
        # Its error is that of D_1 in whole units, and log weights gather the rounding of floats.
        slack = 2 * ledger.rows * ledger.classes / ledger.rounds[0].weight + 1e-12 * len(ledger)
    for entry in ledger.rounds:
        # a weight rounded to whole units is off by at most one of entry.weight units, and there are
        # rows times classes of them; the sums before and after the vote both are
        eta = 2 * ledger.rows * ledger.classes / entry.weight + 1e-13  # exp errs by less than that
        shift = eta * math.exp(min(abs(entry.vote), 700.0))  # more says nothing, too
        slack = min(slack * (entry.normaliser + shift) + product * shift, 1e300)
        product *= entry.normaliser
    return slack


def training_error(ledger: Ledger) -> Certificate:
    """Certify the training error of a finished run."""
    if ledger.refills:
        raise NotCertified(
            "every few rounds a new sample was drawn, so there is no training error to certify; "
            "rows set apart (n_certify) or a stop at epsilon give a certificate"
        )
    bound = product_bound(ledger)
    *_, log_product = (0.0, *ledger.log_products())
    product = ledger.factor * math.exp(min(log_product, 700.0))
    inputs: dict[str, float | int | str] = {
        "rounds": len(ledger),
        "product of Z": product if ledger.rounds else 1.0,
        "rounding": rounding_slack(ledger),
    }
    if ledger.plain_votes and ledger.rounds:
        columns = ledger.columns()
        inputs["from errors"] = columns["bound_errors"][-1]
        inputs["from edges"] = columns["bound_edges"][-1]
    if ledger.rounds:
        inputs["measured"] = ledger.rounds[-1].training_error
    return Certificate(
        value=bound,
        # a row with yF ≤ 0 counts at least 1 in the mean of the potential: no chance is involved
        delta=0.0,
        theorem=_theorem(ledger),
        sample={},
        reference=_REFERENCES.get(ledger.potential, "docs/proofs/training.md"),
        size=ledger.rows,
        independent_of="nothing: it speaks of these rows only, not of new ones",
        assumptions=(),
        valid_after_looking=True,
        inputs=inputs,
        ledger_digest=ledger.digest(),
        bound="training.product_bound",
        of_what=TRAINING_LABELS if ledger.several_labels else TRAINING_ROWS,
        details={"weighted": 1} if ledger.weighted else {},
    )


_THEOREMS = {
    "exponential": "training error ≤ ∏ Z_t",
    "logistic": "training error ≤ mean of -log₂ p(y|x)",
    "clipped": "training error ≤ mean clipped exponential",
    "weight": "training error ≤ mean weight, in units of the first",
    "projected": "training error ≤ max(ε, ∏ Z_t)",
    "hinge": "training error ≤ mean of max(0, 1 - yF)",
    "binomial": "training error ≤ mean binomial potential",
    "error function": "training error ≤ mean of erfc",
}
# With pairs of row and class, a wrong row has two whose costs are at least 2φ(0) = 2 if φ is
# convex: K/2 times the mean bounds the error. Without convexity one of them costs at least 1: K
# times.
_CONVEX = ("exponential", "logistic", "clipped", "hinge")
_REFERENCES = {
    "exponential": "Freund and Schapire 1997, theorem 6; Schapire and Singer 1999",
    "logistic": "Friedman, Hastie and Tibshirani 2000",
    "clipped": "Domingo and Watanabe 2000",
    "weight": "Impagliazzo 1995; Servedio 2003; Bradley and Schapire 2007",
    "projected": "Barak, Hardt and Kale 2009",
    "hinge": "Demiriz, Bennett and Shawe-Taylor 2002",
    "binomial": "Freund 1995",
    "error function": "Freund 2001",
}


def _theorem(ledger: Ledger) -> str:
    """Return the theorem; if a booster defines its potential by costs, these are its grounds.

    The run has checked these costs: none is negative, and none is below 1 for a margin of 0 or
    less. So their mean bounds the training error, whatever the booster is.
    """
    costs = f"training error ≤ mean of the costs that {ledger.booster} defines"
    theorem = _THEOREMS.get(ledger.potential, costs)
    method = method_of(ledger.multiclass)
    if ledger.several_labels or not method.whose_error:
        return theorem
    factor = "K/2" if ledger.potential in _CONVEX else "K"
    return f"{theorem}, times {factor} for {method.whose_error}"


def margin_distribution(
    ledger: Ledger, thetas: Sequence[float] = THETAS
) -> list[tuple[float, float]]:
    """For each θ, bound the share of training rows whose margin y·F/‖votes‖₁ is at most θ."""
    if ledger.potential != "exponential" or ledger.classes > 1:
        raise NotCertified(
            "margins are bounded by the product of normalisers for two classes and an exponential "
            f"potential; this run of {ledger.booster!r} had {max(2, ledger.classes)} classes and "
            f"the potential {ledger.potential!r}"
        )
    bound = product_bound(ledger)
    norm = math.fsum(abs(entry.vote) for entry in ledger.rounds)
    return [(theta, outward(math.exp(min(theta * norm, 700.0)) * bound)) for theta in thetas]


def _refuse(ledger: Ledger) -> None:
    if ledger.potential == "none":
        raise NotCertified(
            f"{ledger.booster!r} is a vote of members that were not boosted together, and no "
            "theorem bounds its training error; set certify to 'holdout'"
        )
    if ledger.regression:
        raise NotCertified(
            f"{ledger.booster!r} is regression: its record holds losses, and no theorem bounds an "
            "error by them"
        )
    if method_of(ledger.multiclass).guesses:
        raise NotCertified(
            "SAMME has no training-error bound for more than two classes: its stage factors bound "
            "how often the true class scores 0 or less, but a row can be wrong although it scores "
            "more. Set multiclass='mh' or 'm1' for a certificate, or certify by held-out rows"
        )


R2_LOSSES: dict[str, Callable[[NDArray[np.float64]], NDArray[np.float64]]] = {
    "linear": lambda shares: shares,
    "square": lambda shares: shares**2,
    "exponential": lambda shares: -expm1(-shares),
}
"""Losses of AdaBoost.R2, as functions of an error divided by the largest error of its round."""


def median_misses(
    tolerance: float,
    votes: NDArray[np.float64],
    log_masses: NDArray[np.float64],
    largest: NDArray[np.float64],
    *,
    loss: str,
) -> float:
    """Bound the share of training rows that AdaBoost.R2 misses by more than a tolerance.

    Rounds give vote, ln Σ D(i) exp(-vote·(1 - loss)) and largest error (docs/proofs/training.md).
    """
    # A median that misses needs rules with half of all votes that miss. The cheapest such set is
    # filled up by the smallest losses at the tolerance, the last rule in part.
    able = largest > tolerance  # no other rule misses by more than the tolerance
    half = total(votes) / 2
    if total(votes[able]) < half * (1 - SLACK):
        return 0.0
    losses = R2_LOSSES[loss](max(tolerance, 0.0) / largest[able])
    order = np.argsort(losses, kind="stable")
    before = np.concatenate([[0.0], np.cumsum(votes[able][order])])
    taken = np.diff(np.minimum(before, half))
    exponent = total(log_masses) + 2 * half - total(taken * losses[order])
    return outward(math.exp(min(exponent + 1e-9, 1.0)))
