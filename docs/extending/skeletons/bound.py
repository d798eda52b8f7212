"""n rows without a mistake: (1 - R)^n ≤ exp(-nR), so R ≤ ln(1/delta)/n."""

from __future__ import annotations

import math

from pacboost.bounds.certificate import certified, from_inputs
from pacboost.bounds.registry import bound
from pacboost.bounds.rounding import outward
from pacboost.numerics.checks import positive_whole, probability


@bound(
    "rule_of_three.upper",
    theorem="R ≤ ln(1/δ)/n where none of n rows is wrong",
    reference="Hanley and Lippman-Hand 1983",
    sample="held-out rows, none of them wrong",
    independent_of="every choice made in training the classifier",
    assumptions=("rows are drawn independently from the distribution it will be used on",),
    again=from_inputs,
)
def upper(n: int, delta: float) -> float:
    """Bound the risk of a classifier that is right on n rows.

    >>> round(upper(100, 0.05), 4)
    0.03
    """
    return outward(-math.log(probability("delta", delta)) / positive_whole("n", n))


certificate = certified(upper)
"""Certify a classifier that is right on n held-out rows."""
