"""Means of bounded losses (cost, Brier score, clipped log loss) and the AUC, from both sides.

**Losses** in [0, C] of independent rows have mean C·μ. For losses divided by C the bets of
numerics/mean_bounds.py bound μ. One block of rows is never worse than kl⁺(mean, ln(1/δ)/n), which
holds for numbers in [0, 1] as for coins (Hoeffding 1963; Maurer 2004), and suits costs that are
rare and large. Several blocks, in an order that the number of rows decides, are far better for
scores of probabilities and errors of numbers. The measure says which it is, before rows are seen.
The lower end is that of the upper end for 1 - X. Losses are kept as numbers of 4096ths, rounded to
the side that makes the claim weaker.

**AUC** = P[score of a positive > score of a negative], ties counted as a half. U is the mean over
all pairs of n₊ positives and n₋ negatives. Its exponential moments are at most those of the mean of
m = min(n₊, n₋) independent pairs (Hoeffding 1963, section 5), so Chernoff's bound holds with m:
AUC ≥ kl⁻(U, ln(1/δ)/m). If one side has ``MANY_TIMES`` the rows of the other, the distribution of
its scores is known to ±√(ln(2/δ)/(2·rows)) (Massart 1990), and bets on the places of the others
among them, with the other half of δ, are better. docs/proofs/rates.md.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pacboost.bounds.dependent import counted, read_shares
from pacboost.bounds.measured import measure_bound
from pacboost.bounds.rounding import SLACK
from pacboost.errors import ParameterError
from pacboost.numerics.checks import positive_whole, probability
from pacboost.numerics.kl import kl_lower, kl_upper
from pacboost.numerics.mean_bounds import block_ends, mean_share_upper

HOEFFDING = "Hoeffding 1963; Maurer 2004; Waudby-Smith and Ramdas 2024; docs/proofs/rates.md"
MASSART = "Massart 1990; Waudby-Smith and Ramdas 2024; docs/proofs/rates.md"
MANY_TIMES = 40
"""From so many rows of one side for each of the other, the AUC is bounded by ranks."""


@measure_bound("losses.mean_upper", "bet on independent numbers in [0, 1]", HOEFFDING)
def mean_upper(losses: str, scale: float, delta: float, claims: int = 1) -> float:
    """Bound a mean loss from above; ``losses`` counts 4096ths of ``scale``, the largest loss.

    >>> round(mean_upper("40x0 20x2048", 2.0, 0.05), 4)
    0.5241
    """
    return _scale(scale) * _share(losses, delta, claims) * (1 + SLACK)


@measure_bound("losses.mean_lower", "bet on independent numbers in [0, 1]", HOEFFDING)
def mean_lower(savings: str, scale: float, delta: float, claims: int = 1) -> float:
    """Bound a mean loss from below; ``savings`` counts what each loss is below the largest.

    >>> round(mean_lower("40x4096 20x2048", 2.0, 0.05), 4)
    0.1927
    """
    return max(0.0, _scale(scale) * (1 - _share(savings, delta, claims)) * (1 - SLACK))


@measure_bound(
    "losses.auc_lower", "AUC ≥ kl⁻(U, ln(claims/delta)/min(n₊, n₋))", "Hoeffding 1963, section 5"
)
def auc_lower(halves: int, positives: int, negatives: int, delta: float, claims: int = 1) -> float:
    """Bound the AUC from below; a pair in the right order gives 2 ``halves``, a tie 1.

    >>> round(auc_lower(73_600, 200, 200, delta=0.05), 6)
    0.864733
    """
    return kl_lower(*_auc(halves, positives, negatives, delta, claims))


@measure_bound(
    "losses.auc_upper", "AUC ≤ kl⁺(U, ln(claims/delta)/min(n₊, n₋))", "Hoeffding 1963, section 5"
)
def auc_upper(halves: int, positives: int, negatives: int, delta: float, claims: int = 1) -> float:
    """Bound the AUC from above.

    >>> round(auc_upper(73_600, 200, 200, delta=0.05), 6)
    0.958694
    """
    return kl_upper(*_auc(halves, positives, negatives, delta, claims))


@measure_bound("losses.ranks_lower", "bet on ranks among many rows", MASSART)
def ranks_lower(losses: str, others: int, delta: float, claims: int = 1) -> float:
    """Bound the AUC from below by the rows of the smaller side and ``others``, those of the larger.

    ``losses`` counts, for each row of the smaller side, the share of others that are on the wrong
    side of it.

    >>> round(ranks_lower("100x0 100x512", 10_000, 0.05), 4)
    0.8913
    """
    return max(0.0, 1 - _ranked(losses, others, delta, claims))


@measure_bound("losses.ranks_upper", "bet on ranks among many rows", MASSART)
def ranks_upper(savings: str, others: int, delta: float, claims: int = 1) -> float:
    """Bound the AUC from above; ``savings`` counts the shares of others on the right side.

    >>> round(ranks_upper("100x3584 100x4096", 10_000, 0.05), 4)
    0.9705
    """
    return min(1.0, _ranked(savings, others, delta, claims))


def written(losses: NDArray[np.float64], rare: bool = True) -> str:
    """Count losses that were divided by the largest, rounded up to 4096ths, in a text.

    Unless they are ``rare`` and large, there is a text for each block, with a bar between two.

    >>> written(np.array([0.0, 0.5, 0.0]))
    '2x0 1x2048'
    >>> written(np.repeat(0.25, 70), rare=False)
    '8x1024 | 9x1024 | 18x1024 | 35x1024'
    """
    clipped = np.clip(losses, 0.0, 1.0)
    if rare:
        return counted(clipped.tolist())
    order = np.random.default_rng(clipped.size).permutation(clipped.size)
    blocks = np.split(clipped[order], block_ends(clipped.size)[:-1])
    return " | ".join(counted(block.tolist()) for block in blocks)


def wrong_shares(smaller: NDArray[np.float64], larger: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return for every score the share of the larger side's scores above it, ties as a half.

    >>> wrong_shares(np.array([0.9, 0.5]), np.array([0.1, 0.5])).tolist()
    [0.0, 0.25]
    """
    order = np.sort(larger)
    below = np.searchsorted(order, smaller, side="left").astype(np.float64)
    return 1 - (below + np.searchsorted(order, smaller, side="right")) / (2 * larger.size)


def halves_of_pairs(positives: NDArray[np.float64], negatives: NDArray[np.float64]) -> int:
    """Count pairs of a positive's and a negative's score: 2 if the first is larger, 1 for a tie.

    >>> halves_of_pairs(np.array([0.9, 0.5]), np.array([0.1, 0.5]))
    7
    """
    order = np.sort(negatives)
    below = np.searchsorted(order, positives, side="left")
    return int(below.sum()) + int(np.searchsorted(order, positives, side="right").sum())


def _share(losses: str, delta: float, claims: int) -> float:
    blocks = [read_shares(block) for block in str(losses).split("|")]
    sizes = [int(times.sum()) for times, _ in blocks]
    if len(blocks) > 1 and np.cumsum(sizes).tolist() != block_ends(sum(sizes)):
        raise ParameterError(
            f"the blocks have {sizes} rows; each but the first has half of the rows up to its end"
        )
    return mean_share_upper(blocks, _level(delta, claims))


def _ranked(shares: str, others: int, delta: float, claims: int) -> float:
    """Bound a mean share by bets at half the level, a distribution by Massart's inequality."""
    level = _level(delta, claims) / 2
    reach = math.sqrt(-math.log(level) / (2 * positive_whole("others", others)))
    return (_share(shares, level, 1) + reach) * (1 + SLACK)


def _auc(
    halves: int, positives: int, negatives: int, delta: float, claims: int
) -> tuple[float, float]:
    pairs = positive_whole("positives", positives) * positive_whole("negatives", negatives)
    if type(halves) is not int or not 0 <= halves <= 2 * pairs:
        raise ParameterError(f"halves is {halves!r}; {pairs:,} pairs give 0 to {2 * pairs:,}")
    cost = -math.log(_level(delta, claims)) / min(positives, negatives)
    return halves / (2 * pairs), cost


def _level(delta: float, claims: int) -> float:
    return probability("delta", delta) / positive_whole("claims", claims)


def _scale(scale: float) -> float:
    if not 0 < scale < math.inf:
        raise ParameterError(f"scale is {scale!r}; the largest loss is a finite number above 0")
    return scale
