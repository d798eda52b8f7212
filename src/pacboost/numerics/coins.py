"""Coins that fall heads with the same chance: the binomial probabilities of boosting by majority.

A player wins with more heads than tails among an odd number k of coins. After i coins with r heads,
``losing`` is the probability to lose in the end, and ``log_deciding`` the logarithm of the
probability that the next coin decides.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr

from pacboost.numerics.same_bits import exp, log, log_of

Floats = NDArray[np.float64]
Wholes = NDArray[np.int64]


def log_heads(coins: int, chance: float) -> Floats:
    """Give ln P[Bin(coins, chance) = j] for j = 0 … coins.

    >>> np.exp(log_heads(2, 0.6)).round(4).tolist()
    [0.16, 0.48, 0.36]
    """
    j = np.arange(coins + 1.0)
    choices = np.cumsum(log(np.concatenate([[1.0], (coins - j[1:] + 1) / j[1:]])))
    logs: Floats = choices + j * log_of(chance) + (coins - j) * log_of(1 - chance)
    return logs


def losing(k: int, done: int, chance: float, heads: Wholes) -> Floats:
    """Give b_r^i = P[Bin(k - i, chance) ≤ ⌊k/2⌋ - r] for r = ``heads`` of i = ``done`` coins.

    It never rises with r, not even by rounding.

    >>> losing(3, 1, 0.6, np.array([0, 1])).round(4).tolist()    # one or two of two are missing
    [0.64, 0.16]
    """
    tails = np.minimum(np.cumsum(exp(log_heads(k - done, chance))), 1.0)
    tails[-1] = 1.0
    missing = k // 2 - heads
    lost: Floats = np.where(missing < 0, 0.0, tails[np.clip(missing, 0, k - done)])
    return lost


def log_deciding(k: int, done: int, chance: float) -> Floats:
    """Give ln a_r^i, a_r^i = P[Bin(k - i - 1, chance) = ⌊k/2⌋ - r], for r = 0 … i.

    >>> np.exp(log_deciding(3, 1, 0.6)).round(4).tolist()
    [0.6, 0.4]
    >>> np.exp(log_deciding(3, 2, 0.6)).round(4).tolist()        # only a draw is open
    [0.0, 1.0, 0.0]
    """
    logs = np.full(done + 1, -np.inf)
    missing = k // 2 - np.arange(done + 1)
    undecided = (missing >= 0) & (missing < k - done)
    if undecided.any():
        logs[undecided] = log_heads(k - done - 1, chance)[missing[undecided]]
    return logs


def fewest_coins(chance: float, epsilon: float) -> int:
    """Give the least odd k for which P[Bin(k, chance) ≤ ⌊k/2⌋] ≤ epsilon; chance is above 1/2.

    >>> fewest_coins(0.6, 0.1), fewest_coins(0.7, 0.1)
    (41, 9)
    """
    most = 1
    while bdtr(most // 2, most, chance) > epsilon:
        most = 2 * most + 1
    least = most // 2  # the last that was too few
    while most - least > 2:
        middle = (least + most) // 4 * 2 + 1
        if bdtr(middle // 2, middle, chance) > epsilon:
            least = middle
        else:
            most = middle
    return most
