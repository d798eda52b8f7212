"""Margin bounds, which explain why votes with large margins generalise.

All hold at once for every vote f in the convex hull of a finite class H fixed before the data, and
use the training rows only. ``log_size`` is ln|H|, signs included. A row's margin is y·f in [-1, 1].
Only the bound of Schapire et al. 1998 is proved here with all its constants, so only it makes
certificates (docs/proofs/margins.md, theorem 8.1); the constants of the other two are quoted.
"""

from __future__ import annotations

import math

import numpy as np

from pacboost.bounds.certificate import certified
from pacboost.bounds.registry import bound
from pacboost.bounds.rounding import outward
from pacboost.errors import NotCertified, ParameterError, invalid
from pacboost.numerics import checks
from pacboost.numerics.checks import counts, plain_numbers, positive_whole, probability
from pacboost.numerics.kl import kl_upper
from pacboost.numerics.same_bits import exp, log

_MAX_VOTERS = 1_000_000


@bound(
    "margins.schapire_bound",
    theorem="margin bound: R ≤ P_S[yf ≤ θ] + 2exp(-Nθ²/8) + √(ln(N(N+1)²|H|^N/δ)/(2n))",
    reference="Schapire, Freund, Bartlett and Lee 1998, theorem 1",
    subject="the vote",
    sample="the training rows, ties counted as errors",
    independent_of="the class of rules, fixed before these rows; the vote may depend on them",
    assumptions=("rows are drawn independently", "every rule belongs to the finite class"),
    valid_after_looking=True,
)
def schapire_bound(below: int, n: int, theta: float, log_size: float, delta: float) -> float:
    """R ≤ P_S[yf ≤ θ] + 2exp(-Nθ²/8) + √(ln(N(N+1)²|H|^N/δ)/(2n)), with the best N.

    ``below`` of the n rows have margin at most θ; θ and N may be chosen after looking
    (Schapire, Freund, Bartlett and Lee 1998, theorem 1, explicit).
    """
    counts(below, n)
    _numbers(n, theta, log_size, delta)
    return outward(_schapire(below / n, n, theta, log_size, delta)[0])


@plain_numbers
def kth_margin_bound(rank: int, theta: float, n: int, log_size: float, delta: float) -> float:
    """Gao and Zhou 2013, from the k-th smallest margin θ: R ≤ ln|H|/n + kl⁺((k-1)/n, q/n).

    q = (8 ln(2|H|)/θ²) ln(2n²/ln|H|) + ln|H| + ln(n/δ); θ must be above √(8/|H|). The smallest
    over k holds too.
    """
    if positive_whole("rank", rank) > positive_whole("n", n):
        raise ParameterError(f"rank is {rank}; there are only {n} margins")
    _numbers(n, theta, log_size, delta)
    min_margin = math.sqrt(8) * math.exp(-log_size / 2)
    if theta <= min_margin:
        raise NotCertified(
            f"the k-th margin bound needs a margin above {min_margin:.4g} for a class of this "
            f"size; here it is {theta:.4g}"
        )
    slope = 8 * (math.log(2) + log_size) / theta**2
    cost = slope * math.log(2 * n * n / log_size) + log_size + math.log(n / delta)
    return outward(log_size / n + kl_upper((rank - 1) / n, max(cost, 0.0) / n * (1 + 1e-12)))


@plain_numbers
def rademacher_bound(
    ramp: float, theta: float, n: int, log_growth: float, delta: float, thetas: int = 1
) -> float:
    """R ≤ mean of clip(1 - yf/θ, 0, 1) + (2/θ)√(2 ln Π(n)/n) + √(ln(1/δ)/(2n)).

    Koltchinskii and Panchenko 2002. ``ramp`` is that mean (or the share of margins at most θ),
    ``log_growth`` is ln Π(n) or ln|H|, and ``thetas`` the number of θ that were tried.
    """
    _numbers(n, theta, log_growth, delta)
    checks.share("ramp", ramp)
    log_tries = math.log(positive_whole("thetas", thetas))
    complexity = 2 / theta * math.sqrt(2 * log_growth / n)
    return outward(ramp + complexity + math.sqrt((log_tries - math.log(delta)) / (2 * n)))


certificate = certified(schapire_bound)
"""Certify a vote by the bound of Schapire et al. 1998."""


def _schapire(
    share: float, n: int, theta: float, log_size: float, delta: float
) -> tuple[float, int]:
    # With more voters the second term is below 1/n, and the third only grows.
    max_voters = min(math.ceil(8 * math.log(2 * n + 1) / theta**2), _MAX_VOTERS)
    voters = np.arange(1.0, max_voters + 1)
    logs = log(voters) + 2 * log(1 + voters) + voters * log_size - math.log(delta)
    values = share + 2 * exp(-voters * theta**2 / 8) + np.sqrt(logs / (2 * n))
    # ln(N(N+1)²|H|^N/δ) pays for every N at once, so the best one is free
    best = int(np.argmin(values))
    return float(values[best]), best + 1


def _numbers(n: int, theta: float, log_size: float, delta: float) -> None:
    positive_whole("n", n)
    probability("delta", delta)
    if not 0 < theta <= 1:
        raise invalid("theta", theta, "must be above 0 and at most 1")
    if not 0 < log_size < math.inf:
        raise invalid("log_size", log_size, "must be above 0, and finite")
