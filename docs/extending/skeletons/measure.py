"""Specificity: of the examples of other classes, the share that is not predicted as this one."""

from __future__ import annotations

from pacboost.bounds.measure import RateOfClass
from pacboost.bounds.quantity import Example
from pacboost.bounds.scored_rows import Mask, ScoredRows


# Other bases: ``RateOfAll`` for a share of all rows, ``MeanLoss`` for a mean of losses up to a
# largest one, ``Measure`` for what needs a theorem of its own (bounds/measures/auc.py).
class Specificity(RateOfClass):
    """Share of the examples of other classes that are predicted as another one; see ``recall``."""

    name = "specificity"  # the name of this file
    aliases = ("true_negative_rate", "tnr")  # who asks for these is told the name above
    words = "of the {new} of other classes than {c}, the classifier leaves out {at} {value}"
    among = "rows of other classes than {label!r}"  # for the message that they are too few
    higher_is_better = True  # so the lower end is certified unless the upper is asked for
    example = Example(k=97, n=100)  # counts that tests certify
    # An option is a field, as in bounds/measures/top_k_error.py.

    def event(self, rows: ScoredRows, label: object) -> tuple[Mask, Mask]:
        """Count rows of other classes, and those that are not predicted as this one."""
        others = rows.labels != label
        return others, others & (rows.predictions != label)
