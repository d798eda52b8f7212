"""How many claims all order statistics of a sample count as, when each has the same level.

U₍₁₎ < … < U₍ₙ₎ are uniform order statistics, and u_k has P[U₍ₖ₎ > u_k] = delta/N. Boole's
inequality holds all U₍ₖ₎ ≤ u_k together with N = n; but neighbours fail together, and a far smaller
N is enough. Here it is computed: the number of points below u_k is a Poisson process of rate n,
given that it has n points at the end. So the probability that at least k points lie below u_k, for
every rank k of a list, is a chain of convolutions (Moscovich and Nadler 2017). Everything added is
0 or more, and what is left out only makes that probability smaller.

For ranks between those of the list, the next one speaks. docs/proofs/thresholds.md.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from pacboost.numerics.same_bits import exp

Floats = NDArray[np.float64]

MOST_ROWS = 100_000
"""With more rows Boole's inequality takes the place of the chain."""
SPACING = 4
"""From a rank to the next it is its root, divided by this: a small part of what chance moves."""
SLACK = 1e-9


@lru_cache(64)
def ranks(n: int) -> tuple[int, ...]:
    """List the ranks of n order statistics that are looked at: the first ones, others, and n.

    >>> ranks(70)[61:], len(ranks(1000))
    ((62, 63, 64, 66, 68, 70), 279)
    """
    found = [1]
    while found[-1] < n:
        found.append(min(n, found[-1] + max(1, math.isqrt(found[-1]) // SPACING)))
    return tuple(found)


def next_rank(rank: int, n: int) -> int:
    """Return the first rank of the list that is not below this one.

    >>> next_rank(3, 1000), next_rank(500, 1000), next_rank(997, 1000)
    (3, 502, 997)
    """
    if n > MOST_ROWS:
        return rank
    places = ranks(n)
    return places[bisect_left(places, rank)]


@lru_cache(1024)
def claims_at_once(n: int, delta: float) -> int:
    """Count the claims that all ranks together count as: the least N, and n for very many rows.

    >>> claims_at_once(1, 0.05), claims_at_once(10, 0.05), claims_at_once(1000, 0.025)
    (1, 7, 35)
    """
    if n > MOST_ROWS:
        return n
    low, high = 0, n  # N = n is enough by Boole's inequality
    trial = min(n, math.ceil(6 * math.log(n + 1)))
    while high - low > 1:
        trial = min(max(trial, low + 1), high - 1)
        failing = 1 - _all_hold(n, math.log(trial / delta))
        if failing <= delta:
            high = trial
        else:
            low = trial
        # The probability to fail is nearly proportional to 1/N.
        trial = math.ceil(trial * failing / delta)
    return high


def _all_hold(n: int, nats: float) -> float:
    """P[U₍ₖ₎ ≤ u_k for all ranks of the list], where each fails with probability exp(-nats)."""
    from scipy.special import betainccinv

    law, least, before, places = np.ones(1), 0, 0.0, np.array(ranks(n))
    # They are rounded down, and so is the probability.
    ends = betainccinv(places, n - places + 1, math.exp(-nats)) * (1 - SLACK)
    for rank, end in zip(places.tolist(), ends.tolist(), strict=True):
        first, more = _poisson(n * (end - before))
        law, least, before = np.convolve(law, more), least + first, end
        start = max(0, rank - least)
        law = law[start : max(start, n - least + 1)]
        least += start
        if not law.size:
            return 0.0
        heavy = np.flatnonzero(law > 1e-22)
        law, least = law[heavy[0] : heavy[-1] + 1], least + int(heavy[0])
    rest = n - least - np.arange(law.size)
    whole = _log_poisson(np.array([n]), n)[0]
    last = exp(_log_poisson(rest, n * (1 - before)) - whole)
    return float((law * last).sum()) * (1 - SLACK)


def _poisson(mean: float) -> tuple[int, Floats]:
    """Return the first number that counts, and the probabilities from there on."""
    reach = 9 * math.sqrt(mean) + 40
    numbers = np.arange(max(0, math.floor(mean - reach)), math.ceil(mean + reach) + 1)
    return int(numbers[0]), exp(_log_poisson(numbers, mean))


def _log_poisson(numbers: NDArray[np.int64], mean: float) -> Floats:
    from scipy.special import gammaln

    powers = numbers * math.log(mean) if mean > 0 else np.where(numbers == 0, 0.0, -np.inf)
    return np.asarray(powers - mean - gammaln(numbers + 1.0))
