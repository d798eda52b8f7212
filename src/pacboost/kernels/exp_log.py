"""The exponential function and the logarithm, with the same bits on every machine and device."""

from __future__ import annotations

import math

from pacboost.kernels.jit import kernel
from pacboost.kernels.update import LN2_HIGH, LN2_LOW, LOG2_E

ROOT_OF_HALF = math.sqrt(0.5)
TAYLOR = tuple(1.0 / math.factorial(n) for n in range(13, -1, -1))
"""For |r| ≤ ln(2)/2 the series up to r^13/13! is off by 4e-18."""
FARTHEST = 700.0
"""Numbers beyond this have no exponential that is a normal double."""


@kernel
def natural_exp(x: float) -> float:
    """Give exp(x) as 2^k times a polynomial, by additions and multiplications alone.

    >>> natural_exp(0.0), abs(natural_exp(1.0) - math.e) < 1e-15
    (1.0, True)
    """
    held = min(max(x, -FARTHEST), FARTHEST)
    k = math.floor(held * LOG2_E + 0.5)
    r = (held - k * LN2_HIGH) - k * LN2_LOW
    p = 0.0
    for term in TAYLOR:
        p = p * r + term
    return math.ldexp(p, int(k))


@kernel
def natural_log(x: float) -> float:
    """Give ln x for a positive x, by additions, multiplications and divisions alone.

    With x = 2^k·m and f = (m - 1)/(m + 1), ln m = 2(f + f³/3 + f⁵/5 + …); |f| ≤ 0.172, so the
    series up to f²³ is off by less than 1e-18.

    >>> abs(natural_log(10.0) - math.log(10.0)) < 1e-15
    True
    """
    m, k = math.frexp(x)
    if m < ROOT_OF_HALF:
        m, k = 2.0 * m, k - 1
    f = (m - 1.0) / (m + 1.0)
    s = f * f
    p = 1.0 / 23.0
    p = p * s + 1.0 / 21.0
    p = p * s + 1.0 / 19.0
    p = p * s + 1.0 / 17.0
    p = p * s + 1.0 / 15.0
    p = p * s + 1.0 / 13.0
    p = p * s + 1.0 / 11.0
    p = p * s + 1.0 / 9.0
    p = p * s + 1.0 / 7.0
    p = p * s + 1.0 / 5.0
    p = p * s + 1.0 / 3.0
    p = p * s + 1.0
    return k * LN2_HIGH + (2.0 * f * p + k * LN2_LOW)
