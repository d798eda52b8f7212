"""The Jaccard index of a class: examples of it that are predicted so, among both kinds."""

from __future__ import annotations

from typing import ClassVar

from pacboost.bounds.measure import RateOfClass
from pacboost.bounds.quantity import Example
from pacboost.bounds.scored_rows import Mask, ScoredRows


class Jaccard(RateOfClass):
    """Jaccard index of a class; see ``recall``."""

    name = "jaccard"
    aliases: ClassVar[tuple[str, ...]] = ("jaccard_score", "iou", "critical_success_index")
    words = "the Jaccard index of class {c} on {new} is {at} {value}"
    among = "rows of class {label!r} or predicted as such"
    higher_is_better = True
    is_share = in_per_cent = False
    example = Example(k=80, n=110)

    def event(self, rows: ScoredRows, label: object) -> tuple[Mask, Mask]:
        """Count rows of the class or predicted as such, and those that are both."""
        is_class, is_predicted = rows.labels == label, rows.predictions == label
        # A doubtful row may be predicted as the class or not, so it is counted as predicted.
        return is_class | is_predicted | rows.doubtful, is_class & is_predicted
