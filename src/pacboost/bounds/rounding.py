"""Rounding to the safe side: floating-point error must never make a bound too good."""

from __future__ import annotations

import math
from decimal import ROUND_FLOOR, Decimal, localcontext

SLACK = 1e-12
"""Relative step that moves a bound outward: far more than its rounding error."""
MAX_DECIMALS = 12


def outward(value: float) -> float:
    """Round an upper bound on a risk up by more than its rounding error, to at most 1."""
    return min(1.0, math.nextafter(value * (1 + SLACK), math.inf))


def downward(value: float) -> float:
    """Round a lower bound down by more than its rounding error, to at least 0."""
    return math.nextafter(value * (1 - SLACK), 0.0)


def confidence(delta: float) -> str:
    """Return the confidence 1 - delta as text, in per cent.

    It is rounded down, to four decimals or as many as show that it is less than 100 %.

    >>> confidence(0.05), confidence(1e-7), confidence(0.05 / 3), confidence(1e-30)
    ('95 %', '99.99999 %', '98.3333 %', '99.999999999999 %')
    """
    return f"{_rounded_down(100, delta, 4)} %"


def confidence_number(delta: float) -> str:
    """Return the confidence 1 - delta as text, as a number below 1."""
    return _rounded_down(1, delta, 6)


def _rounded_down(scale: int, delta: float, decimals: int) -> str:
    """Return scale·(1 - delta) as text, rounded down."""
    chance = Decimal(repr(float(delta)))
    with localcontext() as context:
        context.prec = 400
        sure = scale * (1 - chance)
        digits = max(decimals, -(scale * chance).adjusted()) if chance else 0
        step = Decimal(1).scaleb(-min(digits, MAX_DECIMALS))
        text = f"{sure.quantize(step, rounding=ROUND_FLOOR):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
