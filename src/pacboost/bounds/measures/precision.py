"""Precision: of the examples predicted as a class, the share that is of this class."""

from __future__ import annotations

from pacboost.bounds.measure import RateOfClass
from pacboost.bounds.quantity import Example
from pacboost.bounds.scored_rows import Mask, ScoredRows


class Precision(RateOfClass):
    """Share of the examples predicted as a class that are of this class; see ``recall``."""

    name = "precision"
    aliases = ("positive_predictive_value", "ppv")
    words = "of the {new} that the classifier calls {c}, {at} {value} are of that class"
    among = "rows predicted as {label!r}"
    higher_is_better = True
    example = Example(k=97, n=100)

    def event(self, rows: ScoredRows, label: object) -> tuple[Mask, Mask]:
        """Count rows predicted as the class, and those that are of it."""
        is_predicted = rows.predictions == label
        # A doubtful row may be predicted as the class or not, so it is counted as predicted.
        return is_predicted | rows.doubtful, (rows.labels == label) & is_predicted
