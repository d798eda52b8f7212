"""An opening for texts: a linear function of all words, as one list of words.

A linear support vector machine is hard to beat on texts, and lists of words need many rounds to
match it (docs/decisions/0026-a-linear-start-for-texts.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pacboost.hypotheses.word_list import GRID, WordList
from pacboost.kernels.native import native
from pacboost.kernels.threads import each_columns
from pacboost.numerics.same_bits import log, row_totals, total
from pacboost.samples.sample import Sample
from pacboost.sources.sparse import words_of
from pacboost.training.run.openings import Opening

Floats = NDArray[np.float64]
COST, PASSES = 2.0, 20
"""The cost C of a row inside the margin, and the number of passes over all rows."""
HEIGHTS = 4.0, 6.0
"""The score at the margin of a text of median length, for two classes and for more."""
INTERCEPT_SHARE = 1 / 3
"""The share of the intercept that every text has; its words have the same share together."""
MAX_VALUES = 9_000_000
"""Maximum number of values; beyond it, the words of the fewest rows have none."""


@dataclass(frozen=True)
class LinearWords(Opening):
    """The linear function of words of a support vector machine for each output."""

    def rules(self, sample: Sample, start: Floats, unit: float) -> Sequence[WordList]:
        rule = all_words(sample, start)
        return [rule] if rule.asked.size else []


def all_words(sample: Sample, prior: Floats) -> WordList:
    """Return the linear function of words of a support vector machine for each output.

    Words are weighted by their inverse document frequency, and rows are normalised, so that texts
    of any length count alike. Part of the intercept replaces the ``prior`` scores of every text,
    and the words of a text share an equal part by their squares: together they are two thirds of
    it in a text of median length, since slopes are smaller on new rows than on training rows, and
    classes of few rows would never win. Words of a single row are one column of the optimisation:
    their slopes follow from the dual variable of that row.
    """
    table, outputs = words_of(sample.table), sample.signs.shape[1]
    rows = np.repeat(np.arange(table.n_rows, dtype=np.int32), np.diff(table.starts))
    counts = np.bincount(table.words, minlength=table.n_columns)
    several = counts > 1
    rarities = 1.0 + log((1.0 + table.n_rows) / (1.0 + counts))
    values = rarities[table.words]
    lengths = np.sqrt(np.bincount(rows, values * values, table.n_rows))
    values /= lengths[rows]
    alone = ~several[table.words]
    weights = np.broadcast_to(sample.base, table.n_rows) / (total(sample.base) / sample.base.size)
    generator = np.random.default_rng(0)
    orders = [generator.permutation(table.n_rows).astype(np.int32) for _ in range(PASSES)]
    slopes, pushes = np.zeros((int(several.sum()) + 1, outputs)), np.zeros(sample.signs.shape)
    arguments = (
        np.searchsorted(rows[~alone], np.arange(table.n_rows + 1)),
        (np.cumsum(several, dtype=np.int32) - 1)[table.words[~alone]],
        values[~alone],
        np.bincount(rows[alone], values[alone] ** 2, table.n_rows).astype(np.float64),
        np.ascontiguousarray(sample.signs, dtype=np.int8),
        COST * weights,
        np.stack(orders),
    )
    each_columns(
        lambda first, last: native.separate(*arguments, first, last, slopes, pushes),
        outputs,
        rows.size,
    )
    height = HEIGHTS[outputs > 1]
    heights = np.zeros((table.n_columns + 1, outputs))
    heights[:-1][several] = slopes[:-1]
    pushed = pushes[rows[alone]]
    pushed *= sample.signs[rows[alone]]
    pushed *= values[alone][:, None]
    heights[table.words[alone]] = pushed
    typical = rarities / max(1.0, float(np.median(lengths)))
    heights[-1] = intercepts = INTERCEPT_SHARE * height * slopes[-1]
    heights[-1] -= prior
    for output, intercept in enumerate(intercepts):
        heights[:-1, output] *= height * typical
        heights[:-1, output] += intercept * (typical * typical)
    if outputs > 1:
        heights -= (row_totals(heights) / outputs)[:, None]
    heights /= GRID
    np.rint(heights, out=heights)
    heights *= GRID
    heights += 0.0
    sizes = np.maximum(heights.max(axis=1), -heights.min(axis=1))
    words = np.argsort(-counts, kind="stable")[: MAX_VALUES // outputs]
    words = words[(sizes[words] > 0) & (counts[words] > 0)]
    asked = words[np.argsort(-sizes[words], kind="stable")]
    chosen = np.append(asked, table.n_columns)
    return WordList(asked.astype(np.int32), heights[chosen], abstains=False, every=True)
