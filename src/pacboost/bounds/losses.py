"""Mean losses and the AUC: bounds from counts.

Losses in [0, C] are bounded by bets on 4096ths, rounded to the side that makes the claim weaker:
in one block if they are rare and large, else in several, in an order fixed by the number of rows.
The AUC has Chernoff's bound for min(n₊, n₋) pairs (Hoeffding 1963, section 5); if one side has far
more rows, bets on ranks among them (Massart 1990) are better.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pacboost.bounds import holdout
from pacboost.bounds.holdout import Shares
from pacboost.bounds.measured import level, measure_bound
from pacboost.bounds.rounding import SLACK
from pacboost.errors import ParameterError
from pacboost.numerics.checks import positive_whole
from pacboost.numerics.kl import kl_lower, kl_upper
from pacboost.numerics.mean_bounds import block_ends, mean_share_upper

Blocks = Sequence[Shares]
"""Counted shares of the rows of each block."""
HOEFFDING = "Hoeffding 1963; Maurer 2004; Waudby-Smith and Ramdas 2024; docs/proofs/rates.md"
MASSART = "Massart 1990; Waudby-Smith and Ramdas 2024; docs/proofs/rates.md"


@measure_bound("losses", "betting bound for means (Waudby-Smith and Ramdas)", HOEFFDING)
def mean_upper(losses: Blocks, scale: float, delta: float, claims: int = 1) -> float:
    """Return an upper bound on a mean loss; ``losses`` counts 4096ths of ``scale``.

    >>> round(mean_upper([[[0, 40], [2048, 20]]], 2.0, 0.05), 4)
    0.5241
    """
    return _scale(scale) * _share(losses, delta, claims) * (1 + SLACK)


@measure_bound(
    "losses", "betting bound for means (Waudby-Smith and Ramdas)", HOEFFDING, side="lower"
)
def mean_lower(savings: Blocks, scale: float, delta: float, claims: int = 1) -> float:
    """Return a lower bound on a mean loss; ``savings`` counts 4096ths of ``scale`` minus the loss.

    >>> round(mean_lower([[[4096, 40], [2048, 20]]], 2.0, 0.05), 4)
    0.1927
    """
    return max(0.0, _scale(scale) * (1 - _share(savings, delta, claims)) * (1 - SLACK))


@measure_bound(
    "losses",
    "AUC ≥ kl⁻(U, ln(claims/delta)/min(n₊, n₋))",
    "Hoeffding 1963, section 5",
    side="lower",
)
def auc_lower(halves: int, positives: int, negatives: int, delta: float, claims: int = 1) -> float:
    """Return a lower bound on the AUC; a pair in the right order counts 2 ``halves``, a tie 1.

    >>> round(auc_lower(73_600, 200, 200, delta=0.05), 6)
    0.864733
    """
    return kl_lower(*_auc(halves, positives, negatives, delta, claims))


@measure_bound("losses", "AUC ≤ kl⁺(U, ln(claims/delta)/min(n₊, n₋))", "Hoeffding 1963, section 5")
def auc_upper(halves: int, positives: int, negatives: int, delta: float, claims: int = 1) -> float:
    """Return an upper bound on the AUC.

    >>> round(auc_upper(73_600, 200, 200, delta=0.05), 6)
    0.958694
    """
    return kl_upper(*_auc(halves, positives, negatives, delta, claims))


@measure_bound("losses", "bet on ranks among many rows", MASSART, side="lower")
def ranks_lower(losses: Blocks, others: int, delta: float, claims: int = 1) -> float:
    """Return a lower bound on the AUC by the ranks of the smaller side among ``others``.

    ``losses`` counts, for each row of the smaller side, the share of others that are on the wrong
    side of it.

    >>> round(ranks_lower([[[0, 100], [512, 100]]], 10_000, 0.05), 4)
    0.8913
    """
    return max(0.0, 1 - _ranked(losses, others, delta, claims))


@measure_bound("losses", "bet on ranks among many rows", MASSART)
def ranks_upper(savings: Blocks, others: int, delta: float, claims: int = 1) -> float:
    """Return an upper bound on the AUC; ``savings`` counts shares of others on the right side.

    >>> round(ranks_upper([[[3584, 100], [4096, 100]]], 10_000, 0.05), 4)
    0.9705
    """
    return min(1.0, _ranked(savings, others, delta, claims))


def counted_losses(losses: NDArray[np.float64], rare: bool = True) -> list[list[list[int]]]:
    """Count losses, shares of the largest, in 4096ths; by blocks unless ``rare``."""
    clipped = np.clip(losses, 0.0, 1.0)
    if rare:
        return [holdout.counted(clipped)]
    # an order that depends on the number of rows alone: bets may learn from earlier blocks, which
    # must not be chosen by what they hold
    order = np.random.default_rng(clipped.size).permutation(clipped.size)
    blocks = np.split(clipped[order], block_ends(clipped.size)[:-1])
    return [holdout.counted(block) for block in blocks]


def wrong_shares(smaller: NDArray[np.float64], larger: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return, for every score, the share of ``others`` that is larger; ties count half."""
    order = np.sort(larger)
    below = np.searchsorted(order, smaller, side="left").astype(np.float64)
    return 1 - (below + np.searchsorted(order, smaller, side="right")) / (2 * larger.size)


def halves_of_pairs(positives: NDArray[np.float64], negatives: NDArray[np.float64]) -> int:
    """Return twice the number of pairs in which the positive row scores higher; ties count 1."""
    order = np.sort(negatives)
    below = np.searchsorted(order, positives, side="left")
    return int(below.sum()) + int(np.searchsorted(order, positives, side="right").sum())


def _share(losses: Blocks, delta: float, claims: int) -> float:
    if not isinstance(losses, list | tuple) or not losses:
        raise ParameterError(f"losses are {losses!r:.80}; they are a list of blocks of counts")
    blocks = [holdout.read_shares(block) for block in losses]
    sizes = [int(times.sum()) for times, _ in blocks]
    # a file could divide its rows into blocks that make the bets look better; only one division is
    # honest
    if len(blocks) > 1 and np.cumsum(sizes).tolist() != block_ends(sum(sizes)):
        raise ParameterError(
            f"the blocks have {sizes} rows; each but the first must have half of the rows so far"
        )
    return mean_share_upper(blocks, level(delta, claims))


def _ranked(shares: Blocks, others: int, delta: float, claims: int) -> float:
    """Bound a mean of shares by bets, and the larger side by Massart's inequality."""
    # half for the bets on the ranks of the smaller side, half for the distribution of the larger
    # one
    half = level(delta, claims) / 2
    reach = math.sqrt(-math.log(half) / (2 * positive_whole("others", others)))
    return (_share(shares, half, 1) + reach) * (1 + SLACK)


def _auc(
    halves: int, positives: int, negatives: int, delta: float, claims: int
) -> tuple[float, float]:
    pairs = positive_whole("positives", positives) * positive_whole("negatives", negatives)
    if type(halves) is not int or not 0 <= halves <= 2 * pairs:
        raise ParameterError(f"halves is {halves!r}; {pairs:,} pairs give 0 to {2 * pairs:,}")
    # Hoeffding 1963, section 5: pairs can be divided into min(n₊, n₋) at a time that share no row
    cost = -math.log(level(delta, claims)) / min(positives, negatives)
    return halves / (2 * pairs), cost


def _scale(scale: float) -> float:
    if not 0 < scale < math.inf:
        raise ParameterError(f"scale is {scale!r}; the largest loss is a finite number above 0")
    return scale
