"""Means of bounded losses (cost, Brier score, clipped log loss) and the AUC, from both sides.

**Losses** in [0, C] of independent rows have mean C·μ. For losses divided by C the bet of
numerics/mean_bounds.py bounds μ, never worse than kl⁺(mean, ln(1/δ)/n), which holds for numbers in
[0, 1] as for coins (Hoeffding 1963; Maurer 2004). The lower end is that of the upper end for 1 - X.
Losses are kept as numbers of 4096ths, rounded to the side that makes the claim weaker.

**AUC** = P[score of a positive > score of a negative], ties counted as a half. U is the mean over
all pairs of n₊ positives and n₋ negatives. Its exponential moments are at most those of the mean of
m = min(n₊, n₋) independent pairs (Hoeffding 1963, section 5), so Chernoff's bound holds with m:
AUC ≥ kl⁻(U, ln(1/δ)/m). docs/proofs/rates.md.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pacboost.bounds.dependent import counted, read_shares
from pacboost.bounds.rounding import SLACK
from pacboost.errors import ParameterError
from pacboost.numerics.checks import plain_numbers, positive_whole, probability
from pacboost.numerics.kl import kl_lower, kl_upper
from pacboost.numerics.mean_bounds import mean_share_upper


@plain_numbers
def mean_upper(losses: str, scale: float, delta: float, claims: int = 1) -> float:
    """Bound a mean loss from above; ``losses`` counts 4096ths of ``scale``, the largest loss.

    >>> round(mean_upper("40x0 20x2048", 2.0, 0.05), 4)
    0.5241
    """
    return _scale(scale) * _share(losses, delta, claims) * (1 + SLACK)


@plain_numbers
def mean_lower(savings: str, scale: float, delta: float, claims: int = 1) -> float:
    """Bound a mean loss from below; ``savings`` counts what each loss is below the largest.

    >>> round(mean_lower("40x4096 20x2048", 2.0, 0.05), 4)
    0.1927
    """
    return max(0.0, _scale(scale) * (1 - _share(savings, delta, claims)) * (1 - SLACK))


@plain_numbers
def auc_lower(halves: int, positives: int, negatives: int, delta: float, claims: int = 1) -> float:
    """Bound the AUC from below; a pair in the right order gives 2 ``halves``, a tie 1.

    >>> round(auc_lower(73_600, 200, 200, delta=0.05), 6)
    0.864733
    """
    return kl_lower(*_auc(halves, positives, negatives, delta, claims))


@plain_numbers
def auc_upper(halves: int, positives: int, negatives: int, delta: float, claims: int = 1) -> float:
    """Bound the AUC from above.

    >>> round(auc_upper(73_600, 200, 200, delta=0.05), 6)
    0.958694
    """
    return kl_upper(*_auc(halves, positives, negatives, delta, claims))


def written(losses: NDArray[np.float64]) -> str:
    """Count losses that were divided by the largest, rounded up to 4096ths, in a text.

    >>> written(np.array([0.0, 0.5, 0.0]))
    '2x0 1x2048'
    """
    return counted(np.clip(losses, 0.0, 1.0).tolist())


def halves_of_pairs(positives: NDArray[np.float64], negatives: NDArray[np.float64]) -> int:
    """Count pairs of a positive's and a negative's score: 2 if the first is larger, 1 for a tie.

    >>> halves_of_pairs(np.array([0.9, 0.5]), np.array([0.1, 0.5]))
    7
    """
    order = np.sort(negatives)
    below = np.searchsorted(order, positives, side="left")
    return int(below.sum()) + int(np.searchsorted(order, positives, side="right").sum())


def _share(losses: str, delta: float, claims: int) -> float:
    times, values = read_shares(losses)
    return mean_share_upper(values, times, _level(delta, claims))


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
