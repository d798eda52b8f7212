"""Rare classes that a vote never predicts, which a high accuracy can hide."""

from __future__ import annotations

import numpy as np

from pacboost.training.run.loop import Run


def never_named(run: Run, share: float) -> list[int]:
    """Return the classes that the vote predicts for no row of the sample, the rarest first.

    Only classes with less than ``share`` times the mean size of a class are considered.
    """
    signs, labels = run.sample.signs, run.sample.labels
    if signs.shape[1] > 1 and labels is None:  # a row may have several labels, or none
        return []
    if labels is not None:
        rows = np.bincount(labels, minlength=max(2, signs.shape[1]))
    else:
        positive = np.count_nonzero(signs > 0)
        rows = np.array([len(signs) - positive, positive])
    rare = np.flatnonzero((rows > 0) & (rows < share * len(signs) / rows.size))
    if not rare.size:
        return []
    scores = run.scores()
    named = scores.argmax(axis=1) if scores.shape[1] > 1 else scores[:, 0] > 0
    never = rare[~np.isin(rare, named.astype(np.int64))]
    return sorted(never.tolist(), key=rows.__getitem__)
