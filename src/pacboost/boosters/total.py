"""TotalBoost (Warmuth, Liao and Rätsch 2006): the largest margin, by entropy projections.

SoftBoost without a cap on the weights: the margin of the worst row counts. With n equal rows,

    T ≤ 1 + 2 ln(n)/ε² · 16/15      rounds to a margin within ε of the largest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pacboost.boosters.soft import Projecting


@dataclass(frozen=True)
class Total(Projecting):
    """The rules of TotalBoost, to within ``tolerance``.

    >>> import math
    >>> round(Total(tolerance=0.1).most_rounds(math.log(1000)), 1)
    1474.7
    """

    name: ClassVar[str] = "total"
    title: ClassVar[str] = "TotalBoost"

    share: ClassVar[float] = 0.0  # type: ignore[misc]
    tolerance: float = 0.01
