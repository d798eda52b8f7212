"""PAC-Bayes bounds on a weighted majority vote, from the losses of its voters.

Voters and the prior π must be independent of the n rows that are counted; the votes ρ may be
chosen on these very rows. L is the mean error of a voter drawn from ρ, L₂ the chance that two
drawn voters both err (tandem loss), Dis that they disagree. With probability 1-δ, for all ρ,

    kl(L̂‖L) ≤ (KL(ρ‖π) + ln(2√n/δ))/n                (Seeger 2002, Maurer 2004)

and for pairs the same with 2KL. The vote errs, ties included, where half of the votes err, so

    R ≤ 2L,   R ≤ 4L₂   (Masegosa et al. 2020),   R ≤ 1 - (1-2L)²/(1-2Dis)   (Germain et al. 2015)
    R ≤ (L₂ - 2μL + μ²)/(½-μ)²  for every μ < ½      (Wu et al. 2021)

Out of bag, voter b is judged on the rows outside its bag only. Then n is the fewest such rows of a
voter, and for pairs the fewest rows outside both bags; docs/proofs/out_of_bag.md has the proof.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from pacboost.bounds.certificate import Certificate
from pacboost.bounds.registry import bound
from pacboost.bounds.rounding import outward
from pacboost.errors import ParameterError
from pacboost.numerics.checks import plain_numbers, positive_whole, probability, share
from pacboost.numerics.kl import kl_lower, kl_upper

FUNCTIONS = ("first_order_bound", "tandem_bound", "c_bound", "cantelli_bound")
SUBJECT = "the weighted vote"
OF_MEMBERS: Any = {
    "subject": SUBJECT, "loose": True, "of": ("forest",), "again": lambda given, _: _again(given),
}  # fmt: skip
"""What is known of the bounds by which bagged votes are certified."""


@plain_numbers
def pac_bayes_kl_bound(gibbs: float, n: int, divergence: float, delta: float) -> float:
    """Bound L, the mean error of a voter drawn from ρ: kl(L̂‖L) ≤ (KL + ln(2√n/δ))/n.

    >>> round(pac_bayes_kl_bound(0.2, 1000, 2.0, 0.05), 6)
    0.25754
    """
    return kl_upper(share("gibbs", gibbs), _budget(n, divergence, delta))


@bound(
    "pac_bayes.first_order_bound",
    theorem="R ≤ 2L, PAC-Bayes-kl",
    reference="Seeger 2002; Maurer 2004",
    **OF_MEMBERS,
)
def first_order_bound(gibbs: float, n: int, divergence: float, delta: float) -> float:
    """Bound the error of the vote by R ≤ 2L (Markov), with L from PAC-Bayes-kl.

    >>> round(first_order_bound(0.2, 1000, 2.0, 0.05), 6)
    0.515081
    """
    return min(1.0, 2 * pac_bayes_kl_bound(gibbs, n, divergence, delta))


@bound(
    "pac_bayes.tandem_bound",
    theorem="R ≤ 4L₂, tandem loss",
    reference="Masegosa et al. 2020",
    **OF_MEMBERS,
)
def tandem_bound(tandem: float, n: int, divergence: float, delta: float) -> float:
    """Bound the error of the vote by R ≤ 4L₂, kl(L̂₂‖L₂) ≤ (2KL + ln(2√n/δ))/n.

    Masegosa, Lorenzen, Igel and Seldin 2020; n counts the rows of a pair.

    >>> round(tandem_bound(0.08, 1000, 1.0, 0.05), 6)
    0.487115
    """
    return min(1.0, 4 * kl_upper(share("tandem", tandem), _budget(n, 2 * divergence, delta)))


@bound(
    "pac_bayes.c_bound",
    theorem="R ≤ 1 - (1-2L)²/(1-2Dis)",
    reference="Germain et al. 2015, PAC-Bound 1",
    subject=SUBJECT,
    loose=True,
)
def c_bound(
    gibbs: float, disagreement: float, n: int, pairs: int, divergence: float, delta: float
) -> float:
    """Bound the error of the vote by R ≤ 1 - (1-2L)²/(1-2Dis), L from above, Dis from below.

    Germain et al. 2015, PAC-Bound 1, δ/2 for each; n rows for a voter, ``pairs`` for two. It is
    1 unless L is shown to be below ½. Where ξ(n) stands in the paper, 2√n ≥ ξ(n) stands here,
    which also covers rows out of bag.

    >>> round(c_bound(0.2, 0.24, 36_000, 13_000, 0.0, 0.05), 4)
    0.3873
    """
    upper = pac_bayes_kl_bound(gibbs, n, divergence, delta / 2)
    budget = _budget(pairs, 2 * divergence, delta / 2)
    lower = kl_lower(share("disagreement", disagreement), budget)
    if upper >= 0.5 or lower >= 0.5:
        return 1.0
    return outward(1 - (1 - 2 * upper) ** 2 / (1 - 2 * lower) + 1e-15)


@bound(
    "pac_bayes.cantelli_bound",
    theorem="Chebyshev-Cantelli",
    reference="Wu et al. 2021",
    **OF_MEMBERS,
)
def cantelli_bound(
    gibbs: float, tandem: float, n: int, pairs: int, divergence: float, delta: float
) -> float:
    """Bound the error of the vote by R ≤ (L₂ - 2μL + μ²)/(½-μ)², with the best μ in [0, ½).

    Chebyshev-Cantelli (Wu, Masegosa, Lorenzen, Igel and Seldin 2021): L₂ from above and L from
    below at δ/2 each hold for all μ at once, so μ may be chosen freely.

    >>> round(cantelli_bound(0.2, 0.08, 1000, 1000, 0.0, 0.05), 6)
    0.473326
    """
    both = kl_upper(share("tandem", tandem), _budget(pairs, 2 * divergence, delta / 2))
    single = kl_lower(share("gibbs", gibbs), _budget(n, divergence, delta / 2))
    mu = cantelli_mu(single, both)
    return outward((both - 2 * mu * single + mu * mu + 1e-15) / (0.5 - mu) ** 2)


@plain_numbers
def cantelli_mu(gibbs: float, tandem: float) -> float:
    """Find μ ≥ 0 that minimises (L₂ - 2μL + μ²)/(½-μ)²; at μ the C-bound comes out.

    >>> round(cantelli_mu(0.2, 0.08), 6)
    0.066667
    """
    # L₂ ≥ L² for any vote. Numbers that break this come from different rows, and μ = 0 is safe.
    if tandem <= gibbs * gibbs or gibbs >= 0.5:
        return 0.0
    return max(0.0, (gibbs / 2 - tandem) / (0.5 - gibbs))


@plain_numbers
def certificate(bound: str, **inputs: float) -> Certificate:
    """Certify a vote by one of the four bounds, named as its function.

    >>> certificate("tandem_bound", tandem=0.08, n=13_000, divergence=0.0, delta=0.05).claim
    'The weighted vote is wrong on at most 36.06 % of new examples.'
    """
    if bound not in FUNCTIONS:
        raise ParameterError(f"bound is {bound!r}; there are {', '.join(FUNCTIONS)}")
    return Certificate.by(
        f"pac_bayes.{bound}",
        inputs,
        sample="rows no voter was trained on; out of bag, the fewest rows of a voter",
        size=int(inputs["n"]),
        independent_of="the voters and the prior; the votes may depend on these rows",
        assumptions=("rows are drawn independently", "bags are drawn by chance alone"),
        valid_after_looking=True,
    )


def _again(given: Certificate) -> Certificate:
    """Certify a bagged vote again; what is said of its bags in words is bound by the digest."""
    made = certificate(given.bound.removeprefix("pac_bayes."), **given.inputs)
    return replace(
        made,
        sample=given.sample,
        independent_of=given.independent_of,
        assumptions=made.assumptions[:1],
        details=given.details,
    )


def _budget(n: int, divergence: float, delta: float) -> float:
    positive_whole("n", n)
    probability("delta", delta)
    if not 0 <= divergence < math.inf:
        raise ParameterError(f"divergence is {divergence!r}; it must be 0 or more, and finite")
    return (divergence + math.log(2 * math.sqrt(n) / delta)) / n * (1 + 1e-12)
