"""Scales: from numbers to places on a drawing, with ticks at round numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pacboost.numerics.same_bits import log

Doubles = NDArray[np.float64]

UNITS = ((1e9, "G", 1e9), (1e6, "M", 1e6), (1e3, "k", 1e4))
"""Large numbers are written in these, from some number on."""


@dataclass(frozen=True)
class Scale:
    """The numbers from ``low`` to ``high`` on the way from ``start`` to ``end``."""

    low: float
    high: float
    start: float
    end: float
    kind: str = "even"
    """"even", "log", or "bent", which draws together what lies far from the middle (asinh)."""
    middle: float = 0.0
    unit: float = 1.0
    """What counts as near the middle of a bent scale."""

    def at(self, values: ArrayLike) -> Doubles:
        """Give the place of each number; those beyond the ends lie at the ends.

        >>> Scale(0, 10, 100, 200).at([0, 5, 20]).tolist()
        [100.0, 150.0, 200.0]
        """
        low, high = self._bend(np.array([self.low, self.high]))
        inside = np.clip(np.asarray(values, dtype=np.float64), self.low, self.high)
        share = (self._bend(inside) - low) / (high - low if high > low else 1.0)
        return np.asarray(self.start + share * (self.end - self.start))

    def _bend(self, values: Doubles) -> Doubles:
        if self.kind == "log":
            return np.asarray(log(values))
        if self.kind != "bent":
            return values
        x = (values - self.middle) / self.unit
        size = np.abs(x)
        return np.asarray(np.copysign(log(size + np.sqrt(size * size + 1)), x))

    def ticks(self, most: int = 6) -> list[float]:
        """Give round numbers between the ends, not more than about ``most``.

        >>> Scale(0, 0.43, 0, 1).ticks(5)
        [0.0, 0.1, 0.2, 0.3, 0.4]
        >>> Scale(0.001, 0.5, 0, 1, "log").ticks()
        [0.001, 0.01, 0.1]
        """
        if self.kind == "log":
            return _powers(self.low, self.high, most)
        if self.kind == "bent":
            near = (max(self.low, self.middle - 2 * self.unit),
                    min(self.high, self.middle + 2 * self.unit))  # fmt: skip
            ends = (self.low, self.high)
            return sorted({*round_numbers(*near, most // 2), *round_numbers(*ends, most // 2)})
        return round_numbers(self.low, self.high, most)


def round_numbers(low: float, high: float, most: int = 6) -> list[float]:
    """Give multiples of 1, 2 or 5 times a power of ten, from low to high."""
    if not high > low:
        return [low]
    raw = (high - low) / most
    if not 1e-300 < raw < 1e300:  # ten to that power is no float
        return [low, high]
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * k for k in (1, 2, 5, 10) if power * k >= raw * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(k * step, 12) for k in range(first, last + 1)]


def _powers(low: float, high: float, most: int) -> list[float]:
    """Give powers of ten, or 1, 2 and 5 times those where few powers lie between the ends."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    tens = [10.0**k for k in range(first, last + 1)]
    fine = [factor * ten for ten in tens for factor in (1, 2, 5)]
    for steps in (fine, tens):
        inside = [t for t in steps if low * (1 - 1e-9) <= t <= high * (1 + 1e-9)]
        if len(inside) <= most:
            return [float(f"{t:.6g}") for t in inside]
    return [float(f"{t:.6g}") for t in inside[:: -(-len(inside) // most)]]


def number_words(value: float) -> str:
    """Write a number on an axis.

    >>> [number_words(v) for v in (0.0, 0.25, 12000.0, 2500000.0)]
    ['0', '0.25', '12k', '2.5M']
    """
    size = abs(value)
    large, letter = next((unit for unit in UNITS if size >= unit[2]), (1.0, "", 0.0))[:2]
    return f"{value / large:.4g}{letter}".replace("-", "−")
