"""Rounding to the safe side: what arithmetic loses must never make a bound too good."""

from __future__ import annotations

import math

SLACK = 1e-12
"""How far, relatively, a computed number is moved: far more than its rounding error."""


def outward(value: float) -> float:
    """Round an upper bound on a risk up, past what the arithmetic may have lost; cap it at 1.

    >>> outward(0.25) > 0.25, outward(1.5)
    (True, 1.0)
    """
    return min(1.0, math.nextafter(value * (1 + SLACK), math.inf))


def downward(value: float) -> float:
    """Round a lower bound down, past what the arithmetic may have lost, but not below 0.

    >>> downward(56.9) < 56.9, downward(0.0)
    (True, 0.0)
    """
    return math.nextafter(value * (1 - SLACK), 0.0)


def percent(value: float) -> str:
    """Print a bound for people, rounded up as the bound itself is.

    >>> percent(0.116992)
    '11.70 %'
    """
    return f"{math.ceil(10_000 * value) / 100:.2f} %"
