"""Rows that certify and are validation rows, too: refused, or left out if they are copies."""

from __future__ import annotations

from typing import Any

import numpy as np

from pacboost.errors import ParameterError
from pacboost.fit.division import Apart
from pacboost.models.schema import Schema
from pacboost.samples.row_hashes import row_hashes
from pacboost.samples.same_example import warn_uncounted
from pacboost.samples.sketch import HashCounts


def without_shared(schema: Schema, apart: Apart, X_val: Any) -> Apart:
    """Raise if rows both certify and validate; with copies="distinct", leave them out.

    Independent rows may equal each other by chance: they are refused only if they do so more often
    than rows of either set equal each other. Few validation rows among many that certify show in
    one direction of the test, all certifying rows among many validation rows in the other.
    """
    hashes = row_hashes(schema.comparable(apart.X, X_val))
    validation_hashes = row_hashes(schema.comparable(X_val, apart.X))
    certifying, validation = map(HashCounts.from_hashes, (hashes, validation_hashes))
    shared = validation.contains(hashes)
    if apart.examples.distinct and not shared.all():
        count = int(np.count_nonzero(shared))
        warn_uncounted(count, shared.size, "they are validation rows, which have a part in the fit")
        return apart.without(shared)
    if validation.overlap(hashes).suspicious or certifying.overlap(validation_hashes).suspicious:
        raise ParameterError(
            f"{np.count_nonzero(shared):,} of the {shared.size:,} rows that certify='holdout' sets "
            "apart are among the rows of X_val or eval_set, so they would have a part in the fit. "
            "Give validation rows that are not in X, or leave them out and set "
            "early_stopping=True, which takes them from the training rows",
            parameter="X_val",
        )
    return apart
