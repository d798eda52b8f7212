"""The F1 score of a class: F1 = 2J/(1 + J) grows with the Jaccard index J."""

from __future__ import annotations

from pacboost.bounds.measures.jaccard import Jaccard
from pacboost.bounds.rates import f1_lower, f1_upper
from pacboost.bounds.registry import Ends


class F1(Jaccard):
    """F1 score of a class; see ``recall``."""

    name = "f1"
    aliases = ("f1_score", "dice")
    words = "the F1 score of class {c} on {new} is {at} {value}"
    ends = Ends.of(f1_lower, f1_upper)
    pooled = None

    def seen(self, k: int, n: int) -> float:
        """Return the estimate."""
        return 2 * k / (n + k)
