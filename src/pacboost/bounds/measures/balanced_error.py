"""The mean of the error rates of all classes, so that rare classes count as much as others."""

from __future__ import annotations

from pacboost.bounds.counting import Count, Counting
from pacboost.bounds.quantity import Example, Measure
from pacboost.bounds.rates import balanced_lower, balanced_upper
from pacboost.bounds.registry import Ends


class BalancedError(Measure):
    """Mean of the error rates of all classes."""

    name = "balanced_error"
    aliases = ("balanced_accuracy", "balanced_accuracy_score", "balanced_error_rate")
    words = "the mean of the error rates of {classes} is {at} {value} on {new}"
    ends = Ends.of(balanced_lower, balanced_upper)
    is_share = False  # a mean of shares of different examples
    example = Example(parts=[[3, 100], [5, 50]])

    def count(self, counting: Counting) -> Count:
        """Count the mistakes on each class that the model knows or that is among the labels."""
        rows, parts = counting.rows, []
        names = [*dict.fromkeys([*rows.classes.tolist(), *rows.labels.tolist()])]
        wrong = rows.predictions != rows.labels
        for label in names:
            k, n = counting.counts(rows.labels == label, wrong)
            # every class has to be seen: the mean of those that were would say nothing of the
            # others
            counting.need(n, f"rows of class {label!r}", len(names))
            parts.append([k, n])
        estimate = sum(k / n for k, n in parts) / len(parts)
        size = sum(n for _, n in parts)
        details = {"classes": [*map(str, names)]}
        return Count(self.ends[counting.side], {"parts": parts}, size, estimate, details)
