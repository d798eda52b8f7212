"""Compare bins."""

import numpy as np

from pacboost.samples.bins import Bins


def equal_bins(first: Bins, second: Bins) -> bool:
    """Check whether bins have the same thresholds and levels."""
    pairs = zip(first.thresholds, second.thresholds, strict=True)
    return np.array_equal(first.levels, second.levels) and all(
        np.array_equal(a, b) for a, b in pairs
    )
