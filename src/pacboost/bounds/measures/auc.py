"""The area under the ROC curve: the chance that a row of a class scores above another row."""

from __future__ import annotations

from typing import Any

import numpy as np

from pacboost.bounds.counting import Count, Counting
from pacboost.bounds.losses import (
    auc_lower,
    auc_upper,
    counted_losses,
    halves_of_pairs,
    ranks_lower,
    ranks_upper,
    wrong_shares,
)
from pacboost.bounds.measure import OfClass
from pacboost.bounds.quantity import Example
from pacboost.bounds.registry import Ends

RANKS = Ends.of(ranks_lower, ranks_upper)
MIN_RATIO_FOR_RANKS = 40
"""The AUC is bounded by ranks if one side has at least this many times the rows of the other."""


class AUC(OfClass):
    """Area under the ROC curve of the scores of a class; see ``recall``."""

    name = "auc"
    aliases = ("roc_auc", "roc_auc_score", "auroc")
    words = "the AUC of class {c} on {new} is {at} {value}"
    ends = Ends.of(auc_lower, auc_upper)
    higher_is_better = True
    is_share = in_per_cent = False
    example = Example(halves=73_600, positives=200, negatives=200)

    @classmethod
    def bounds(cls) -> set[str]:
        """Return the names of all bounds that may certify this measure."""
        return super().bounds() | {RANKS["lower"], RANKS["upper"]}

    def count(self, counting: Counting) -> Count:
        """Count the pairs in the right order, or the ranks of the smaller side."""
        rows, label, lower = counting.rows, counting.label, counting.side == "lower"
        score, is_positive = rows.score(label), rows.labels == label
        bad = -np.inf if lower else np.inf
        # a doubtful row is put where it weakens the claim: below all others, or above them
        positives = np.where(rows.doubtful, bad, score)[is_positive & counting.chosen]
        negatives = np.where(rows.doubtful, -bad, score)[~is_positive & counting.chosen]
        counting.need(positives.size, f"rows of class {label!r}")
        counting.need(negatives.size, "rows of other classes")
        halves = halves_of_pairs(positives, negatives)
        size = positives.size + negatives.size
        estimate = halves / (2 * positives.size * negatives.size)
        n_smaller, n_larger = sorted((positives.size, negatives.size))
        # The larger side is nearly known then, and bets on ranks are shorter: 200 scores shifted by
        # 2.035 among 10,000 give .881, pairs .871 (docs/proofs/rates.md).
        if n_larger < MIN_RATIO_FOR_RANKS * n_smaller:
            inputs = {"halves": halves, "positives": positives.size, "negatives": negatives.size}
            return Count(self.ends[counting.side], inputs, size, estimate)
        # Turned round, a negative is as far above the positives as it was below.
        turned = n_smaller != positives.size
        wrong = wrong_shares(*((-negatives, -positives) if turned else (positives, negatives)))
        shares: dict[str, Any] = (
            {"losses": counted_losses(wrong, rare=False)}
            if lower
            else {"savings": counted_losses(1 - wrong, rare=False)}
        )
        return Count(RANKS[counting.side], {**shares, "others": n_larger}, size, estimate)
