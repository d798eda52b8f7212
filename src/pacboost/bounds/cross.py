"""x"""

from __future__ import annotations

from collections.abc import Callable

from scipy.optimize import brentq


def crossing(difference: Callable[[float], float], low: float, high: float) -> float:
    """Return the t between ``low`` and ``high`` at which a rising difference is 0.

    >>> round(crossing(lambda t: t * t - 2, 0.0, 2.0), 9)
    1.414213562
    """
    return float(brentq(difference, low, high, xtol=1e-15, rtol=1e-14))
