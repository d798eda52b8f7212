"""Certificates of a bagged vote by the rows outside its bags: no row has to be held back.

B members were made of B_max that were planned. L is the mean error of a member, L₂ the chance that
two of them err together. With N, the expected number of rows outside a bag, and n = min(N, n_b)
over the members made, with probability at least 1 - δ

    kl(L̂‖L) ≤ (ln(B_max/B) + ln(2√N/δ))/n

and for pairs the same with 2 ln(B_max/B), N₂ and n₂ (docs/proofs/out_of_bag.md). The plurality vote
errs only where at least half of the members do, so R ≤ 2L, R ≤ 4L₂ and Chebyshev-Cantelli follow.

In the PAC-Bayes bounds on a weighted vote (docs/proofs/pac_bayes.md), voters and the prior π must
be independent of the n rows that are counted; the votes ρ may be chosen on these very rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from pacboost.bounds.certificate import Certificate, from_inputs
from pacboost.bounds.registry import bound
from pacboost.bounds.rounding import outward
from pacboost.bounds.search import smallest
from pacboost.errors import NotCertified, ParameterError
from pacboost.ledgers.ledger import Ledger
from pacboost.ledgers.out_of_bag import OutOfBag
from pacboost.numerics.checks import plain_numbers, positive_whole, probability, share
from pacboost.numerics.kl import kl_lower, kl_upper
from pacboost.numerics.percent import percent, percent_above

OF_MEMBERS: Any = {
    "subject": "the weighted vote",
    "sample": "rows no voter was trained on; out of bag, the fewest rows of a voter",
    "independent_of": "the voters and the prior; the votes may depend on these rows",
    "assumptions": ("rows are drawn independently", "bags are drawn by chance alone"),
    "valid_after_looking": True,
    "loose": True,
    "of": ("forest",),
}


def _again(stored: Certificate, ledger: Ledger) -> Certificate:
    """Recompute the certificate of a bagged vote, or of any weighted vote, from its inputs."""
    recomputed = from_inputs(stored, ledger)
    if "members" not in stored.details:
        return recomputed
    inputs, members = stored.inputs, int(stored.details["members"])
    planned = int(stored.details["planned"])
    # the divergence pays for the members that were planned and not made
    if not members <= planned <= members * math.exp(min(inputs["divergence"], 700)) * ROUNDING:
        raise ValueError(f"{planned} planned members are not those that the divergence pays for")
    return _of_bags(recomputed, members, planned, stored.sample)


@plain_numbers
def pac_bayes_kl_bound(gibbs: float, n: int, divergence: float, delta: float) -> float:
    """Bound L, the mean error of a voter drawn from ρ: kl(L̂‖L) ≤ (KL + ln(2√n/δ))/n."""
    return kl_upper(share("gibbs", gibbs), _budget(n, divergence, delta))


@bound(
    "pac_bayes.first_order_bound",
    theorem="R ≤ 2L, PAC-Bayes-kl",
    reference="Seeger 2002; Maurer 2004",
    again=_again,
    **OF_MEMBERS,
)
def first_order_bound(gibbs: float, n: int, divergence: float, delta: float) -> float:
    """Bound the error of the vote by R ≤ 2L (Markov), with L from PAC-Bayes-kl.

    >>> round(first_order_bound(0.2, 1000, 2.0, 0.05), 6)
    0.515081
    """
    # the plurality is wrong only where half of the members are: Markov's inequality, and its factor
    # 2
    return min(1.0, 2 * pac_bayes_kl_bound(gibbs, n, divergence, delta))


@bound(
    "pac_bayes.tandem_bound",
    theorem="R ≤ 4L₂, tandem loss",
    reference="Masegosa et al. 2020",
    again=_again,
    **OF_MEMBERS,
)
def tandem_bound(tandem: float, n: int, divergence: float, delta: float) -> float:
    """Bound the error of the vote by R ≤ 4L₂, kl(L̂₂‖L₂) ≤ (2KL + ln(2√n/δ))/n.

    Masegosa, Lorenzen, Igel and Seldin 2020; n counts the rows of a pair.

    >>> round(tandem_bound(0.08, 1000, 1.0, 0.05), 6)
    0.487115
    """
    # where half of the members are wrong, a quarter of all pairs of them are wrong together
    return min(1.0, 4 * kl_upper(share("tandem", tandem), _budget(n, 2 * divergence, delta)))


@bound(
    "pac_bayes.c_bound",
    theorem="R ≤ 1 - (1-2L)²/(1-2Dis)",
    reference="Germain et al. 2015, PAC-Bound 1",
    **OF_MEMBERS,
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
    half = probability("delta", delta) / 2
    upper = pac_bayes_kl_bound(gibbs, n, divergence, half)
    lower = kl_lower(share("disagreement", disagreement), _budget(pairs, 2 * divergence, half))
    # below ½ the bound rises with L and falls with the disagreement, so that one end of each may be
    # put in
    if upper >= 0.5 or lower >= 0.5:
        return 1.0
    return outward(1 - (1 - 2 * upper) ** 2 / (1 - 2 * lower) + 1e-15)


@bound(
    "pac_bayes.cantelli_bound",
    theorem="Chebyshev-Cantelli",
    reference="Wu et al. 2021",
    again=_again,
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
    half = probability("delta", delta) / 2
    both = kl_upper(share("tandem", tandem), _budget(pairs, 2 * divergence, half))
    single = kl_lower(share("gibbs", gibbs), _budget(n, divergence, half))
    # any μ is valid, since both ends hold for all of them at once, so the best one is free
    mu = cantelli_mu(single, both)
    return outward((both - 2 * mu * single + mu * mu + 1e-15) / (0.5 - mu) ** 2)


@plain_numbers
def cantelli_mu(gibbs: float, tandem: float) -> float:
    """Return the μ ≥ 0 that minimises (L₂ - 2μL + μ²)/(½-μ)², which gives the C-bound."""
    # L₂ ≥ L² for any vote. Numbers that break this come from different rows, and μ = 0 is safe.
    if tandem <= gibbs * gibbs or gibbs >= 0.5:
        return 0.0
    return max(0.0, (gibbs / 2 - tandem) / (0.5 - gibbs))


@plain_numbers
def vote_certificate(bound: str, **inputs: float) -> Certificate:
    """Certify a vote by one of the four bounds, given by the name of its function."""
    return Certificate.by(f"pac_bayes.{bound}", inputs)


def _budget(n: int, divergence: float, delta: float) -> float:
    positive_whole("n", n)
    probability("delta", delta)
    if not 0 <= divergence < math.inf:
        raise ParameterError(f"divergence is {divergence!r}; it must be 0 or more, and finite")
    return (divergence + math.log(2 * math.sqrt(n) / delta)) / n * (1 + 1e-12)


# The choice must not look at the mistakes: that would be a choice among bounds that nobody paid
# for.
ROWS_FOR_TANDEM = 10_000
ROWS_FOR_CANTELLI = 1_000_000
"""Numbers of rows from which on this bound is usually the smallest of the three."""


@plain_numbers
def way_for(rows: int) -> str:
    """Choose a bound by the number of rows alone, before the rows are seen."""
    if rows < ROWS_FOR_TANDEM:
        return "first_order"
    return "tandem" if rows < ROWS_FOR_CANTELLI else "cantelli"


@plain_numbers
def certificate(
    counts: OutOfBag, delta: float, way: str | None = None, *, changed: str = ""
) -> Certificate:
    """Certify the plurality vote; by default the number of rows decides which bound is used.

    A text in ``changed`` names a broken assumption; then ``NotCertified`` is raised with it.
    """
    probability("delta", delta)
    chosen = way_for(counts.rows) if way is None else way
    if chosen not in WAYS:
        raise ParameterError(f"way is {way!r}; there are {', '.join(WAYS)}")
    if changed:
        raise NotCertified(changed)
    if counts.members == 0:
        raise NotCertified("the vote has no members: there is nothing to certify")
    # ln(B_max/B) pays for stopping early, and nothing pays for going on after a look
    if counts.members > counts.members_max:
        raise NotCertified(
            f"{counts.members_max} members were planned, and {counts.members} were made. Whoever "
            "continues after seeing a certificate chooses by it, which no theorem here allows. Fit "
            "again with the largest number of members you may want; the fit may stop before it"
        )
    sample = {"rows": "bags", "fewest": counts.least_size}
    return _of_bags(WAYS[chosen](counts, delta), counts.members, counts.members_max, sample)


ROUNDING = 1 + 1e-9


def _of_bags(
    certificate: Certificate, members: int, planned: int, sample: Mapping[str, Any]
) -> Certificate:
    """Return the certificate with the grounds of bags."""
    return replace(
        certificate,
        details={"members": members, "planned": planned},
        sample=sample,
        independent_of="the bags, which a random generator alone has drawn, and their members",
        assumptions=(
            "rows are drawn independently",
            "a member has seen no row outside its bag",
            "the classes, and the columns, their names and types were known beforehand",
            f"at most {planned} members were planned",
            "the bound, and all that makes members, were fixed before looking",
        ),
    )


@plain_numbers
def first_order(counts: OutOfBag, delta: float) -> Certificate:
    """Certify by R ≤ 2L, with the mistakes of single members."""
    gibbs, n = _single(counts)
    price = _price(counts, n, 1)
    _refuse_few(n, 2, delta, price)
    return vote_certificate("first_order_bound", gibbs=gibbs, n=n, divergence=price, delta=delta)


@plain_numbers
def tandem(counts: OutOfBag, delta: float) -> Certificate:
    """Certify by R ≤ 4L₂, with the mistakes that pairs of members make together."""
    both, n = _pair(counts)
    price = _price(counts, n, 2)
    _refuse_few(n, 4, delta, 2 * price)
    return vote_certificate("tandem_bound", tandem=both, n=n, divergence=price, delta=delta)


@plain_numbers
def cantelli(counts: OutOfBag, delta: float) -> Certificate:
    """Certify by Chebyshev-Cantelli, with the mistakes of members and of pairs."""
    (gibbs, n), (both, pairs) = _single(counts), _pair(counts)
    # The bound takes one divergence: the larger of the two.
    price = max(_price(counts, n, 1), _price(counts, pairs, 2))
    _refuse_few(pairs, 4, delta / 2, 2 * price)
    return vote_certificate(
        "cantelli_bound",
        gibbs=gibbs, tandem=both, n=n, pairs=pairs, divergence=price, delta=delta,
    )  # fmt: skip


@plain_numbers
def binomial(counts: OutOfBag, delta: float) -> Certificate:
    """Raise an error that explains why out-of-bag votes are not held-out rows."""
    error = "" if counts.vote_error is None else f" ({percent_above(counts.vote_error, 2)} wrong)"
    raise NotCertified(
        f"a binomial interval around the error of votes out of bag{error} is not valid. Each row "
        f"is voted on by only {percent(counts.outside, 0)} of the members, so these are the "
        "mistakes of another vote than the one that is kept. A row outside one bag trains members "
        "of other bags, so the mistakes are not independent; and stopping or tuning by this error "
        "makes it too small. Take it as an estimate. certify='oob' bounds the vote by the mistakes "
        "of members and pairs, certify='holdout' by rows held back, which is tighter"
    )


WAYS: dict[str, Callable[[OutOfBag, float], Certificate]] = {
    "first_order": first_order,
    "tandem": tandem,
    "cantelli": cantelli,
    "binomial": binomial,
}
"""The bounds by the names that estimators take; the last always refuses."""


def _expected(counts: OutOfBag, order: int) -> int:
    """Return the expected number of rows outside one or two bags."""
    return max(1, round(counts.rows * counts.outside**order))


def _price(counts: OutOfBag, n: int, order: int) -> float:
    """Return the logarithmic cost of making B of B_max members, and of few rows outside bags.

    The bounds add ln(2√n/δ) where the theorem has ln(2√N/δ), so ½ ln(N/n) is passed with the
    divergence, which counts once for members and twice for pairs.
    """
    expected = _expected(counts, order)
    return math.log(counts.members_max / counts.members) + math.log(expected / n) / (2 * order)


def _single(counts: OutOfBag) -> tuple[float, int]:
    first = counts.first
    if first is None:
        raise NotCertified(
            "a member has no rows outside its bag, so nothing is known of its error. Draw bags "
            "with replacement, or smaller ones (max_samples below 1), or fit on more rows"
        )
    return first, min(counts.least_size, _expected(counts, 1))


def _pair(counts: OutOfBag) -> tuple[float, int]:
    if counts.pair_least_size is None:
        raise NotCertified(
            "mistakes of pairs were not counted in this fit; set certify='tandem' or "
            "certify='cantelli' before it, or ask for first_order"
        )
    if counts.tandem is None:
        raise NotCertified(
            "two members share no row outside both of their bags, so nothing is known of their "
            "common mistakes. Draw smaller bags (max_samples), fit on more rows, or ask for "
            "first_order"
        )
    # the theorem is for the expected number of rows or fewer; a bag that happens to leave out more
    # gains nothing
    return counts.tandem, min(counts.pair_least_size, _expected(counts, 2))


def _refuse_few(n: int, factor: int, delta: float, divergence: float) -> None:

    def useful(rows: int) -> bool:
        return factor * pac_bayes_kl_bound(0.0, rows, divergence, delta) < 1

    if not useful(n):
        needed = smallest(useful, 1, "a bound below 1")
        raise NotCertified(
            f"{n} rows outside the bags are too few: even without a single mistake the bound would "
            f"be 1. {needed} are needed to say anything at all, and many more to say much"
        )
