"""Recall: of the examples of a class, the share that is predicted as this class."""

from __future__ import annotations

from pacboost.bounds.measure import RateOfClass
from pacboost.bounds.quantity import Example
from pacboost.bounds.scored_rows import Mask, ScoredRows


class Recall(RateOfClass):
    """Share of the examples of a class that are predicted as this class.

    Parameters
    ----------
    positive : label or list of labels, default=None
        The class; ``certify_all`` makes a claim for each class of a list. None: the second of two
        classes, or each of several.
    """

    name = "recall"
    aliases = ("sensitivity", "true_positive_rate", "tpr")
    words = "of the {new} of class {c}, the classifier finds {at} {value}"
    among = "rows of class {label!r}"
    higher_is_better = True
    example = Example(k=97, n=100)

    def event(self, rows: ScoredRows, label: object) -> tuple[Mask, Mask]:
        """Count rows of the class, and those that are found."""
        is_class = rows.labels == label
        return is_class, is_class & (rows.predictions == label)
