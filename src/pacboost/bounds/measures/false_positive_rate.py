"""False alarms: the share of the examples of other classes that are predicted as this one."""

from __future__ import annotations

import numpy as np

from pacboost.bounds.measure import RateOfClass
from pacboost.bounds.scored_rows import Mask, ScoredRows


class FalsePositiveRate(RateOfClass):
    """Share of the examples of other classes that are predicted as this one; see ``recall``."""

    name = "false_positive_rate"
    aliases = ("fall_out", "false_alarm_rate", "fpr")
    words = "false alarms for {c}: {at} {value} of the {new} of other classes"
    among = "rows of other classes than {label!r}"

    def event(self, rows: ScoredRows, label: object) -> tuple[Mask, Mask]:
        """Count rows of other classes, and those predicted as this one."""
        others = rows.labels != label
        # No answer is never the right one, so it counts against negatives, too.
        unanswered = np.array([answer is None for answer in rows.predictions.tolist()])
        return others, others & ((rows.predictions == label) | unanswered)
