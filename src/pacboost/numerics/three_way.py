"""The map g of Schapire's majority of three, g(x) = 3x² - 2x³, and its inverse.

If three rules have an error of at most x < 1/2, each under a distribution of its own (those of
theory/three_oracles.py), their majority is wrong on at most g(x) < x;
docs/proofs/three_way.md proves it. g is a bijection of [0, 1/2].
"""

from __future__ import annotations

import math

from pacboost.errors import ParameterError


def majority_error(part: float) -> float:
    """Bound the error of a majority of three by that of its parts: g(x) = 3x² - 2x³.

    (Schapire 1990, theorem 2.)

    >>> [round(majority_error(x), 4) for x in (0.4, 0.352, 0.1)]
    [0.352, 0.2845, 0.028]
    """
    return part * part * (3 - 2 * part)


def part_error(whole: float) -> float:
    """Return the error that the parts may have for a majority of three to have error ``whole``.

    g⁻¹(y) = 1/2 - sin(asin(1 - 2y)/3), because sin(3u) = 3 sin u - 4 sin³u.

    >>> round(part_error(0.352), 10), part_error(0.5)
    (0.4, 0.5)
    """
    return 0.5 - math.sin(math.asin(1 - 2 * whole) / 3)


def targets(epsilon: float, weak: float) -> list[float]:
    """Return the errors that every level of the recursion aims at: leaves first, epsilon last.

    The leaves may err as much as a weak rule does, ``weak`` < 1/2, and a bit more.

    >>> [round(x, 4) for x in targets(0.1, 0.4)]
    [0.4327, 0.3996, 0.3514, 0.2837, 0.1958, 0.1]
    """
    if not (0 < epsilon < 0.5 and 0 < weak < 0.5):
        raise ParameterError(
            f"epsilon is {epsilon} and the error of a weak rule {weak:g}; both must lie in (0, 1/2)"
        )
    part, levels = epsilon, 0
    while part < weak:
        part, levels = part_error(part), levels + 1
    errors = [part]
    for _ in range(levels):  # by g itself, so that what rounds off on the way back does not count
        errors.append(majority_error(errors[-1]))
    return errors
