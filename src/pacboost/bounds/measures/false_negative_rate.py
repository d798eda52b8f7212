"""The share of the examples of a class that are predicted as another one."""

from __future__ import annotations

from pacboost.bounds.measure import RateOfClass
from pacboost.bounds.scored_rows import Mask, ScoredRows


class FalseNegativeRate(RateOfClass):
    """Share of the examples of a class that are predicted as another one; see ``recall``."""

    name = "false_negative_rate"
    aliases = ("miss_rate", "fnr")
    words = "of the {new} of class {c}, the classifier misses {at} {value}"
    among = "rows of class {label!r}"

    def event(self, rows: ScoredRows, label: object) -> tuple[Mask, Mask]:
        """Count rows of the class, and those that are missed."""
        is_class = rows.labels == label
        return is_class, is_class & (rows.predictions != label)
