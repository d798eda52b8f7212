"""Rows that certify and are validation rows, too: refused, or left out if they are copies."""

from __future__ import annotations

from typing import Any

import numpy as np

from pacboost.errors import ParameterError
from pacboost.fit.division import Apart
from pacboost.models.schema import Schema
from pacboost.samples.overlap import ValueCounts
from pacboost.samples.row_hashes import row_hashes
from pacboost.samples.same_example import warn_uncounted


def without_shared(schema: Schema, apart: Apart, X_val: Any) -> Apart:
    """Raise if rows both certify and validate; with copies="distinct", leave them out.

    Independent rows may equal each other by chance: they are refused only if more rows do so than
    chance explains (samples/overlap.py). Rows are left out by their exact values.
    """
    certifying, validation = schema.comparable(apart.X, X_val), schema.comparable(X_val, apart.X)
    if apart.examples.distinct:
        exact = row_hashes(validation, exact=True)
        equal = np.isin(row_hashes(certifying, exact=True), exact)
        if not equal.all():
            count = int(np.count_nonzero(equal))
            why = "they are validation rows, which have a part in the fit"
            warn_uncounted(count, equal.size, why)
            apart = apart.without(equal)
            certifying = certifying.take(np.flatnonzero(~equal))
    hashes = row_hashes(certifying)
    known = ValueCounts.of(row_hashes(validation))
    overlap = known.overlap(ValueCounts.of(hashes))
    if overlap.suspicious:
        raise ParameterError(
            f"{overlap.shared:,} of the {overlap.compared:,} rows that certify='holdout' sets "
            "apart are among the rows of X_val or eval_set, so they would have a part in the fit. "
            "Give validation rows that are not in X, or leave them out and set "
            "early_stopping=True, which takes them from the training rows",
            parameter="X_val",
        )
    return apart
