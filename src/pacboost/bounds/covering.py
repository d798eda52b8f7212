"""Coverage of prediction sets and intervals, by one order statistic of calibration rows.

A score s(x, y) says how badly y fits the prediction for x; it is fixed before the calibration rows
are looked at. The set of x holds every y with s(x, y) ≤ s₍ₖ₎, the k-th smallest score of n rows.

* **With confidence** (Vovk 2012; Park, Bastani, Matni and Lee 2020): the coverage P[s ≤ s₍ₖ₎] is at
  least p, except with probability P[Bin(n, p) ≥ k]. ``covering_rank`` is the smallest k at which
  that is at most delta.
* **On average only**: k = ⌈(n + 1)·p⌉ covers with probability p on average over calibration rows
  and a new row together. For about half of all calibration samples the coverage is then below p.
  ``average_rank`` gives this weaker k for comparison; nothing is certified by it.

Proofs: docs/proofs/sets.md.
"""

from __future__ import annotations

import math

from pacboost.bounds.deciding import rank_for
from pacboost.bounds.holdout import clopper_pearson_lower
from pacboost.bounds.measured import measure_bound
from pacboost.bounds.passing import rows_from_tooth_on
from pacboost.numerics.checks import plain_numbers, positive_whole, probability
from pacboost.numerics.kl import kl


@plain_numbers
def covering_rank(n: int, coverage: float, delta: float) -> int:
    """Return the smallest rank of n scores that covers with confidence; n + 1 if none does.

    P[Bin(n, coverage) ≥ k] ≤ delta.

    >>> [covering_rank(n, 0.9, 0.05) for n in (28, 29, 100, 500, 1000)]
    [29, 29, 96, 462, 916]
    """
    return n + 1 - rank_for(n, 1 - probability("coverage", coverage), delta)


@plain_numbers
def rows_to_cover(coverage: float, delta: float, excess: float) -> int:
    """Count the rows from which on sets cover at most ``excess`` more than asked, on average.

    k/(n + 1) ≤ coverage + excess for k = covering_rank(n) and every n from the answer on
    (docs/proofs/sets.md).

    >>> rows_to_cover(0.9, 0.05, 0.02)
    638
    """
    most, missed = probability("excess", excess) + coverage, 1 - probability("coverage", coverage)
    below = kl(max(0.0, missed - 0.9 * excess), missed)
    enough = max(-math.log(probability("delta", delta)) / below, 10 * (1 - most) / excess)
    return rows_from_tooth_on(
        lambda c, n: n - c <= most * (n + 1), math.ceil(enough * (1 + 1e-12)), missed, delta
    )


@plain_numbers
def average_rank(n: int, coverage: float) -> int:
    """Return the rank of n scores that covers on average only; n + 1 if none does.

    >>> [average_rank(n, 0.9) for n in (100, 500, 1000)]
    [91, 451, 901]
    """
    positive_whole("n", n)
    return math.ceil((n + 1) * probability("coverage", coverage) * (1 - 1e-12))


@measure_bound(
    "covering.covered_lower",
    "P[score ≤ s₍ₖ₎] ≥ p where P[Bin(n, p) ≥ k] = delta/claims",
    "Vovk 2012; Park, Bastani, Matni and Lee 2020; docs/proofs/sets.md",
)
def covered_lower(rank: int, n: int, delta: float, claims: int = 1) -> float:
    """Bound from below the share of new scores that are no larger than the one at a rank of n.

    >>> round(covered_lower(96, 100, 0.05), 6), round(covered_lower(462, 500, 0.05), 6)
    (0.910804, 0.901572)
    """
    return clopper_pearson_lower(positive_whole("rank", rank), n, delta, claims)
