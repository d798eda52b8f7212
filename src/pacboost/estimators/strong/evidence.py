"""Why an error is larger than was asked for: edge, noise and progress on certifying rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.models.model import Model
from pacboost.numerics.same_bits import mean, total
from pacboost.sources.table import Table

LAST = 20
"""The reported edge is the mean over so many of the last rounds."""


def measured(
    model: Model, table: Table, labels: NDArray[Any], rounds: int | None
) -> dict[str, Any]:
    """Measure why the error is large, on rows that were not learned from.

    What a round adds to the scores is h. Under the weights |r| that the vote before it gave, its
    edge is Σ r·h / Σ |r|·|h| (r is label minus probability): when it has vanished, more rounds of
    this learner do not help.
    """
    known = labels if labels.ndim > 1 else labels[:, None] == model.classes
    edges, losses, before, chances = [], [], None, None
    for scores in model.vote.staged(table):
        if before is not None and chances is not None:
            added = scores - before
            pulled = (known - chances) * (added if added.ndim > 1 else added[:, None] * (-1, 1))
            whole = total(np.abs(pulled))
            edges.append(total(pulled) / whole if whole else 0.0)
        before, chances = scores.copy(), model.probabilities(scores)
        losses.append(-total(np.where(known, model.log_probabilities(scores), 0.0)))
    if chances is None:
        return {}
    doubt = np.minimum(chances, 1 - chances) if labels.ndim > 1 else 1 - chances.max(axis=1)
    return {
        "watching": len(labels),
        "edge": mean(np.array(edges[-LAST:])) if edges else 0.0,
        "expected_error": mean(doubt),
        "improving": rounds is not None and int(np.argmin(losses)) + 1 == len(losses) >= rounds,
    }
