"""Thresholds chosen on the rows that certify them, without paying for every threshold.

A row is predicted positive if its score is at least t. Recall and false alarms are bounded by an
order statistic of the scores of one class, whose rank depends on no score; precision by tests of
ranks in a fixed order, until the first fails; costs by bounds that hold for all thresholds at once
(docs/proofs/thresholds.md).
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from pacboost.bounds.holdout import clopper_pearson, clopper_pearson_lower
from pacboost.bounds.measured import CLOPPER, measure_bound
from pacboost.bounds.passing import allowed_mistakes, rows_to_pass
from pacboost.bounds.rounding import SLACK, downward
from pacboost.errors import ParameterError
from pacboost.numerics.checks import counts, plain_numbers, positive_whole, probability
from pacboost.numerics.same_bits import exp

Floats = NDArray[np.float64]

MAX_ROWS_FOR_CHAIN = 100_000
"""With more rows Boole's inequality replaces the chain of convolutions."""
SPACING = 4
"""A rank k of the list is followed by k + √k/SPACING: a step much smaller than chance moves."""
CHAIN_SLACK = 1e-9


@lru_cache(64)
def ranks(n: int) -> tuple[int, ...]:
    """Return the ranks of order statistics to check: from 1 to n, with growing steps."""
    chosen = [1]
    while chosen[-1] < n:
        chosen.append(min(n, chosen[-1] + max(1, math.isqrt(chosen[-1]) // SPACING)))
    return tuple(chosen)


def next_rank(rank: int, n: int) -> int:
    """Return the first rank of the list that is at least this one."""
    if n > MAX_ROWS_FOR_CHAIN:
        return rank
    places = ranks(n)
    return places[bisect_left(places, rank)]


@lru_cache(1024)
def claims_at_once(n: int, delta: float) -> int:
    """Return the smallest N such that all ranks hold at once with delta/N each; n for many rows.

    N = n is enough by Boole's inequality, but neighbouring ranks fail together, so that a far
    smaller N is. The probability that all ranks of a list hold is a chain of convolutions
    (Moscovich and Nadler 2017; docs/proofs/thresholds.md); omitted terms only make it smaller.
    """
    if n > MAX_ROWS_FOR_CHAIN:
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
    """Return P[U₍ₖ₎ ≤ u_k for all ranks of the list], if each fails with chance exp(-nats)."""
    from scipy.special import betainccinv

    law, n_points, before, places = np.ones(1), 0, 0.0, np.array(ranks(n))
    # Ends are rounded down, and so is the probability.
    # u_k such that P[U₍ₖ₎ > u_k] = exp(-nats): the k-th of n uniform numbers is Beta(k, n - k + 1)
    ends = betainccinv(places, n - places + 1, math.exp(-nats)) * (1 - CHAIN_SLACK)
    for rank, end in zip(places.tolist(), ends.tolist(), strict=True):
        n_first, step = _poisson(n * (end - before))
        # points of a Poisson process, given that there are n, are n uniform points: increments are
        # independent, and a rank fails if too few points lie below its end
        law, n_points, before = np.convolve(law, step), n_points + n_first, end
        start = max(0, rank - n_points)
        law = law[start : max(start, n - n_points + 1)]
        n_points += start
        if not law.size:
            return 0.0
        # dropping terms of 0 or more lowers the probability that all hold, so that N only gets
        # larger
        heavy = np.flatnonzero(law > 1e-22)
        law, n_points = law[heavy[0] : heavy[-1] + 1], n_points + int(heavy[0])
    rest = n - n_points - np.arange(law.size)
    log_total = _log_poisson(np.array([n]), n)[0]
    last = exp(_log_poisson(rest, n * (1 - before)) - log_total)
    return float((law * last).sum()) * (1 - CHAIN_SLACK)


def _poisson(mean: float) -> tuple[int, Floats]:
    """Return the Poisson probabilities that are not negligible, and the number of the first."""
    reach = 9 * math.sqrt(mean) + 40
    numbers = np.arange(max(0, math.floor(mean - reach)), math.ceil(mean + reach) + 1)
    return int(numbers[0]), exp(_log_poisson(numbers, mean))


def _log_poisson(numbers: NDArray[np.int64], mean: float) -> Floats:
    from scipy.special import gammaln

    powers = numbers * math.log(mean) if mean > 0 else np.where(numbers == 0, 0.0, -np.inf)
    return np.asarray(powers - mean - gammaln(numbers + 1.0))


TONG = "Tong, Feng and Li 2018; docs/proofs/thresholds.md"
EQUAL = "Berk and Jones 1979; Moscovich and Nadler 2017; docs/proofs/thresholds.md"
RANK_FACTOR = 1.1
SEQUENCE_FACTOR = 3
"""Sequences of tests start at ranks that differ by this factor, so that neither chance in a few
rows nor equal scores of many rows end all of them."""


@plain_numbers
def rank_for(n: int, rate: float, delta: float) -> int:
    """Return the largest rank k with P[Bin(n, rate) ≤ k - 1] ≤ delta; 0 if there is none."""
    return allowed_mistakes(positive_whole("n", n), rate, delta) + 1


@plain_numbers
def fewest_rows(rate: float, delta: float) -> int:
    """Return the smallest number of rows of a class that certify a rate at some threshold."""
    return rows_to_pass(rate, delta)


@measure_bound(
    "deciding", "P[score ≥ s₍ₖ₎] ≥ 1 - BinInv(k - 1, n, delta/claims)", TONG, "recall", side="lower"
)
def order_lower(rank: int, n: int, delta: float, claims: int = 1) -> float:
    """Return a lower bound on the share of scores that are at least the one at a rank of n.

    >>> round(order_lower(2, 100, 0.05), 6)
    0.95344
    """
    positive_whole("rank", rank)
    return clopper_pearson_lower(n - (rank - 1), n, delta, claims)


@measure_bound(
    "deciding", "P[score > s₍ₖ₎] ≤ BinInv(k - 1, n, delta/claims)", TONG, "false_positive_rate"
)
def order_upper(rank: int, n: int, delta: float, claims: int = 1) -> float:
    """Return an upper bound on the share of scores beyond the one at a rank of n from the top.

    >>> round(order_upper(2, 100, 0.05), 6)
    0.04656
    """
    return clopper_pearson(positive_whole("rank", rank) - 1, n, delta, claims)


@measure_bound(
    "deciding",
    "P[score ≥ t] ≤ BinInv(k - 1, n, delta/(claims·N)) for all t",
    EQUAL,
    "false_positive_rate",
)
def curve_upper(k: int, n: int, delta: float, claims: int = 1) -> float:
    """Return an upper bound on the share of scores beyond any threshold, where k of n are.

    >>> round(curve_upper(2, 1000, 0.05, 3), 4), round(clopper_pearson(2, 1000, 0.05, 3000), 4)
    (0.0121, 0.0159)
    """
    counts(k, n)
    if k == n:
        return 1.0
    level = probability("delta", delta) / positive_whole("claims", claims)
    return clopper_pearson(next_rank(k + 1, n) - 1, n, level, claims_at_once(n, level))


@measure_bound(
    "deciding",
    "P[score ≥ t] ≥ 1 - BinInv(k - 1, n, delta/(claims·N)) for all t",
    EQUAL,
    "recall",
    side="lower",
)
def curve_lower(k: int, n: int, delta: float, claims: int = 1) -> float:
    """Return a lower bound on the share of scores from any threshold on, where k of n are.

    >>> round(curve_lower(97, 100, 0.05), 4)
    0.8875
    """
    counts(k, n)
    return downward(1 - curve_upper(n - k, n, delta, claims))


@measure_bound(
    "deciding",
    "precision ≥ target at this rank and all before it, tested in their order",
    "Clopper and Pearson 1934; Angelopoulos et al. 2021; docs/proofs/selective.md",
    "precision",
    side="lower",
)
def passed_lower(k: int, n: int, delta: float, target: float, claims: int = 1) -> float:
    """Return the target precision if k of n rows predicted positive pass its test, else 0.

    >>> passed_lower(990, 1000, 0.05, 0.98), passed_lower(980, 1000, 0.05, 0.98)
    (0.98, 0.0)
    """
    counts(k, n)
    # one level for all ranks, as tests end with the first that fails
    level = probability("delta", delta) / claims
    return target if passes(n - k, n, 1 - probability("target", target), level) else 0.0


def passes(mistakes: int, n: int, rate: float, delta: float) -> bool:
    """Check whether ``mistakes`` among n rows certify that their rate is at most ``rate``."""
    return n > 0 and clopper_pearson(mistakes, n, delta) <= rate


@lru_cache(64)
def planned_ranks(rows: int, rate: float, delta: float) -> tuple[tuple[int, ...], ...]:
    """Return the ranks at which a rate of mistakes is tested, in sequences that share delta.

    The first begins where one mistake would still pass, the others at 2/3, 2/9, … of the rows.
    """
    later, start = [], 2 * rows / SEQUENCE_FACTOR
    while start >= SEQUENCE_FACTOR * rows_to_pass(rate, delta):
        later.append(math.ceil(start))
        start /= SEQUENCE_FACTOR
    share = delta / (1 + len(later))
    if allowed_mistakes(rows, rate, share) < 0:
        return ()
    first = rows_to_pass(rate, share)
    # begin where one mistake would still pass: a test that allows none ends at the first one
    while first < rows and allowed_mistakes(first, rate, share) < 1:
        first += 1
    return tuple(tuple(_grown(start, rows)) for start in (first, *later))


def _grown(rank: int, rows: int) -> Iterator[int]:
    while rank < rows:
        yield rank
        rank = max(rank + 1, math.ceil(rank * RANK_FACTOR))
    yield rows


@measure_bound(
    "deciding",
    "π·r/(π·r + (1 - π)·f) of three bounds at delta/3 each",
    CLOPPER,
    "precision",
    side="lower",
)
def precision_lower(
    found: int, positives: int, alarms: int, negatives: int, delta: float, claims: int = 1
) -> float:
    """Bound precision by recall, false alarms and the share of positives, each at a third of delta.

    π·r/(π·r + (1 - π)·f) rises with π and r and falls with f. It serves where the threshold was
    taken from the positives, or from the negatives, so that precision itself is no binomial.

    >>> round(precision_lower(95, 100, 18, 900, 0.05), 4)
    0.7043
    """
    counts(found, positives)
    counts(alarms, negatives)
    # recall and false alarms count different rows, and the share π counts all: three events, a
    # third of delta for each
    third = 3 * positive_whole("claims", claims)
    recall = clopper_pearson_lower(found, positives, delta, third)
    false = clopper_pearson(alarms, negatives, delta, third)
    share = clopper_pearson_lower(positives, positives + negatives, delta, third)
    right = share * recall
    return downward(right / (right + (1 - share) * false * (1 + SLACK))) if right > 0 else 0.0


@measure_bound(
    "deciding", "π·a·P[missed] + (1 - π)·b·P[false alarm], for all thresholds", EQUAL, "cost"
)
def cost_upper(
    missed: int,
    positives: int,
    alarms: int,
    negatives: int,
    miss_cost: float,
    alarm_cost: float,
    delta: float,
    claims: int = 1,
    constant: int = 0,
) -> float:
    """Bound the mean cost at any threshold: π·a·P[missed] + (1 - π)·b·P[false alarm].

    A third of delta goes to each rate, for all thresholds at once, and to the share π. ``constant``
    is 1 for a rule that flags every row, or none: its rates are known, and only π is not.

    >>> round(cost_upper(2, 100, 30, 900, 10.0, 1.0, 0.05), 4)
    0.1884
    >>> round(cost_upper(0, 100, 900, 900, 10.0, 1.0, 0.05, constant=1), 4)
    0.9215
    """
    counts(missed, positives)
    counts(alarms, negatives)
    claims = 3 * positive_whole("claims", claims)
    # flagging every row costs (1 - π)·b and flagging none π·a: nothing but π is unknown
    if constant:
        if (missed, alarms) not in ((0, negatives), (positives, 0)):
            raise ParameterError(
                f"{missed} missed and {alarms} alarms are not those of a constant rule",
                parameter="constant",
            )
        a, b = (miss_cost, 0.0) if missed else (0.0, alarm_cost)
    else:
        a = miss_cost * curve_upper(missed, positives, delta, claims)
        b = alarm_cost * curve_upper(alarms, negatives, delta, claims)
    rows = positives + negatives
    shares = (
        clopper_pearson_lower(positives, rows, delta, 2 * claims),
        clopper_pearson(positives, rows, delta, 2 * claims),
    )
    # the expression is linear in π, so its largest value lies at an end of π's interval
    worst = max(share * a + (1 - share) * b for share in shares)
    return min(max(miss_cost, alarm_cost), worst * (1 + SLACK))
