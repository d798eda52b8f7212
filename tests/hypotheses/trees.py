"""Random trees."""

import numpy as np
from numpy.typing import NDArray

from pacboost.hypotheses.tree import TreeRule
from pacboost.numerics.exact import VOTE_UNIT
from pacboost.samples.bins import Bins


def random_rule(
    generator: np.random.Generator,
    bins: Bins,
    splits: int,
    slopes: NDArray[np.int8] | None = None,
    outputs: int = 1,
    empty: float = 0.0,
) -> TreeRule:
    """Split a random leaf again and again; no weight reached the share ``empty`` of leaves."""
    features = len(bins.thresholds)
    feature = generator.integers(features, size=splits).astype(np.int32)
    remaining, right = np.empty(splits, dtype=np.int32), np.empty(splits, dtype=np.int32)
    ends: list[tuple[int, NDArray[np.int32]]] = [(-1, remaining)]
    for t in range(splits):
        leaf = int(generator.integers(len(ends)))
        parent, side = ends[leaf]
        if parent >= 0:
            side[parent] = t
        ends[leaf] = t, remaining
        ends.append((t, right))
    for leaf, (parent, side) in enumerate(ends):
        if parent >= 0:
            side[parent] = ~leaf
    category = bins.levels[feature] > 0
    cover = np.zeros(2 * splits + 1)
    cover[splits:] = generator.exponential(size=splits + 1) * (
        generator.random(splits + 1) >= empty
    )
    for t in reversed(range(splits)):
        cover[t] = sum(cover[c if c >= 0 else splits + ~c] for c in (remaining[t], right[t]))
    return TreeRule(
        bins=bins,
        feature=feature,
        cut=np.array([generator.integers(bins.thresholds[j].size + 1) for j in feature], np.int32),
        missing_left=generator.random(splits) < 0.5,
        left=remaining,
        right=right,
        member=np.where(category, np.cumsum(category) - 1, -1).astype(np.int32),
        members=generator.integers(0, 2, (int(category.sum()), 256)).astype(np.uint8),
        gain=np.ones(splits),
        cover=cover,
        values=generator.integers(-(2**30), 2**30, (splits + 1, outputs)).astype(float) * VOTE_UNIT,
        slope=None if slopes is None else slopes[feature],
    )
