"""The complementary error function, with the same bits on every build of SciPy.

For x ≥ 0, exp(x²)·erfc(x) is smooth in t = 1/(1 + x/2), from 0 at infinity to 1 at t = 1. Divided
by t it is a series of Chebyshev polynomials in 2t - 1, whose coefficients were computed with 50
digits from the definition.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pacboost.numerics.same_bits import exp

Floats = NDArray[np.float64]

COEFFICIENTS = (
    1.1540674772329393, 0.3554369212704985, 0.06509515882878653, 0.003671142395836639,
    -0.0011128447433526325, -0.0001607582991537808, 3.278031574173137e-05, 5.442441645505016e-06,
    -1.5154665553171482e-06, -1.4297608181169865e-07, 8.234608827419493e-08,
    -1.2962846852306563e-09, -4.154721631015199e-09, 6.347058278362811e-10, 1.4320822712256225e-10,
    -6.160390105204585e-11, 2.0612138554721698e-12, 3.5714931488477042e-12, -8.586422843251796e-13,
    -6.14560021379063e-14, 7.418725748596617e-14, -1.2895042755032325e-14, -2.358726385710632e-15,
    1.5729349381685912e-15, -2.2782966239546465e-16, -6.31233045075643e-17, 3.5916763531814925e-17,
    -5.049809149847729e-18,
)  # fmt: skip


def erfc(values: Floats | float) -> Floats:
    """Return 1 - erf(x), with a small relative error for large x too.

    >>> erfc(np.array([0.0, 1.0, 5.0, -3.0])).round(9).tolist()
    [1.0, 0.157299207, 0.0, 1.99997791]
    """
    x = np.asarray(values, dtype=np.float64)
    size = np.abs(x)
    t = 1.0 / (1.0 + 0.5 * size)
    double = 2.0 * (2.0 * t - 1.0)
    last = before = np.zeros(x.shape)
    for coefficient in COEFFICIENTS[:0:-1]:  # Clenshaw's recurrence
        last, before = double * last - before + coefficient, last
    scaled = t * (0.5 * double * last - before + 0.5 * COEFFICIENTS[0])
    near = np.minimum(np.rint(size * 16.0) / 16.0, 64.0)  # its square is exact
    small = scaled * (exp(-near * near) * exp(-(size - near) * (size + near)))
    return np.asarray(np.where(x >= 0, small, 2.0 - small))
