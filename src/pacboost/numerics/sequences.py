"""Confidence sequences: intervals for a mean that hold at all times at once.

X_1, X_2, … lie in [0, 1] and each has conditional mean μ given the past. The capital of a fair bet
on μ starts at 1 and stays below 1/delta for ever with probability 1 - delta (Ville 1939); the
values of μ whose bets have not reached 1/delta form the interval. It may be read after every row,
and it may decide when to stop.
"""

from __future__ import annotations

import math

import numpy as np

from pacboost.errors import ParameterError
from pacboost.numerics.checks import positive_whole, probability
from pacboost.numerics.kl import kl_lower, kl_upper

MAX_STAKE = 0.5
"""Maximum share of its capital that a bet stakes."""

MIN_SERIES_ARGUMENT = 50
"""Minimum argument for which three terms of Stirling's series are exact to double precision."""


def kt_upper(total: float, t: int, delta: float) -> float:
    """Return the upper end after t numbers that sum to ``total``, for the Beta(½, ½) mixture.

    {p : B(S+½, t-S+½) / (π p^S (1-p)^(t-S)) < 1/delta}, both ends at once (Krichevsky and
    Trofimov 1981; Robbins 1970).
    """
    return kl_upper(*_kt(total, t, delta))


def kt_lower(total: float, t: int, delta: float) -> float:
    """Return the lower end of the interval of ``kt_upper``."""
    return kl_lower(*_kt(total, t, delta))


def kt_kl_upper(total: float, t: int, delta: float) -> float:
    """Return the upper end in closed form: kl(mean‖μ) ≤ ln(2√t/delta)/t for all t, both ends."""
    return kl_upper(*_closed(total, t, delta))


def kt_kl_lower(total: float, t: int, delta: float) -> float:
    """Return the lower end in closed form."""
    return kl_lower(*_closed(total, t, delta))


class EmpiricalBernstein:
    """The two-sided empirical Bernstein sequence, narrow if the numbers vary little.

    Weights λ_t are set before X_t is seen; centre Σλ_i X_i/Σλ_i, radius
    (ln(2/delta) + Σ 4(X_i - μ̂_{i-1})² ψ(λ_i))/Σλ_i with ψ(λ) = (-ln(1-λ) - λ)/4
    (Waudby-Smith and Ramdas 2024, theorem 2).
    """

    def __init__(self, delta: float) -> None:
        self.delta = probability("delta", delta)
        self._log = math.log(2 / self.delta)
        self._past = _Past()
        self._weights = self._centre = self._spread = 0.0
        self._low, self._high = 0.0, 1.0

    def add(self, x: float) -> None:
        """Add the next number."""
        _unit(x)
        weight = min(self._past.weight(self._log), 0.5)
        self._weights += weight
        self._centre += weight * x
        self._spread += (x - self._past.mean) ** 2 * (-math.log1p(-weight) - weight)
        self._past.add(x)
        centre = self._centre / self._weights
        # Sums of t numbers are off by t roundings at most.
        slack = 1e-12 + 4e-16 * self._past.count
        radius = (self._log + self._spread) / self._weights * (1 + slack) + slack
        self._low = max(self._low, centre - radius)
        self._high = min(self._high, centre + radius)

    def interval(self) -> tuple[float, float]:
        """Return the intersection of all intervals so far."""
        return self._low, self._high


class Betting:
    """An upper end from bets against each μ of a grid: one-sided, and the tightest of this module.

    The capital of the bet against m is K_t(m) = ∏(1 - λ_i(m)(X_i - m)), 0 ≤ λ_i(m) ≤ c/(1-m). It
    grows with m, factor by factor, so a bet that reaches 1/delta rules out its m and all above
    (Waudby-Smith and Ramdas 2024, section 4).
    """

    def __init__(self, delta: float, grid: int = 4000) -> None:
        self.delta = probability("delta", delta)
        self._log = -math.log(self.delta)
        self._past = _Past()
        # Squares, so that the grid is finer for small means.
        self._grid = (np.arange(1, positive_whole("grid", grid) + 1) / grid) ** 2
        self._max_weights = MAX_STAKE / np.maximum(1 - self._grid, 1e-300)
        self._capital = np.ones(len(self._grid))
        self._upper = 1.0

    def add(self, x: float) -> None:
        """Add the next number."""
        _unit(x)
        weight = np.minimum(self._past.weight(self._log), self._max_weights)
        with np.errstate(over="ignore", under="ignore"):  # a capital of 0 stays 0
            self._capital *= 1 - weight * (x - self._grid)
        self._past.add(x)
        slack = 1e-9 + 1e-15 * self._past.count
        ruled_out = int(np.searchsorted(self._capital, math.exp(self._log + slack)))
        if ruled_out < len(self._grid):
            self._upper = float(self._grid[ruled_out])
            self._grid = self._grid[: ruled_out + 1]
            self._max_weights = self._max_weights[: ruled_out + 1]
            self._capital = self._capital[: ruled_out + 1]

    def upper(self) -> float:
        """Return the smallest m of the grid that has been ruled out so far; 1 if none."""
        return self._upper


class _Past:
    """Mean and variance of the numbers so far, shrunk towards ½ and ¼, and the next weight."""

    def __init__(self) -> None:
        self.count, self.mean, self._sum, self._squares = 0, 0.5, 0.5, 0.25

    def weight(self, log_inverse: float) -> float:
        variance, t = self._squares / (self.count + 1), self.count + 1
        return math.sqrt(2 * log_inverse / (variance * t * math.log1p(t)))

    def add(self, x: float) -> None:
        self.count += 1
        self._sum += x
        self.mean = self._sum / (self.count + 1)
        self._squares += (x - self.mean) ** 2


def _kt(total: float, t: int, delta: float) -> tuple[float, float]:
    """Return mean and cost: the mixture is exp(t·kl(mean‖p)) times its value at p = mean."""
    mean = _mean(total, t)
    # B(S+½, t-S+½) = Γ(S+½)Γ(t-S+½)/Γ(t+1); against mean^S (1-mean)^(t-S) the powers cancel.
    at_mean = _half_part(total) + _half_part(t - total) - _whole_part(t) - math.log(math.pi)
    return mean, (-math.log(probability("delta", delta)) - at_mean) / t


def _closed(total: float, t: int, delta: float) -> tuple[float, float]:
    return _mean(total, t), math.log(2 * math.sqrt(t) / probability("delta", delta)) / t


def _half_part(x: float) -> float:
    """Return ln Γ(x+½) - x ln x + x, which is small, so that sums lose no digits."""
    if x < MIN_SERIES_ARGUMENT:
        return math.lgamma(x + 0.5) - (x * math.log(x) - x if x > 0 else 0.0)
    y = 1 / (x * x)
    return 0.5 * math.log(2 * math.pi) - (1 / 24 - y * (7 / 2880 - y * 31 / 40320)) / x


def _whole_part(x: float) -> float:
    """Return ln Γ(x+1) - x ln x + x."""
    if x < MIN_SERIES_ARGUMENT:
        return math.lgamma(x + 1) - x * math.log(x) + x
    y = 1 / (x * x)
    return 0.5 * math.log(2 * math.pi * x) + (1 / 12 - y * (1 / 360 - y / 1260)) / x


def _mean(total: float, t: int) -> float:
    positive_whole("t", t)
    if not 0 <= total <= t:
        raise ParameterError(
            f"total is {total!r}; the sum of {t} numbers from 0 to 1 lies between 0 and {t}"
        )
    return total / t


def _unit(x: float) -> None:
    if not 0 <= x <= 1:
        raise ParameterError(f"x is {x!r}; the numbers of a sequence lie between 0 and 1")
