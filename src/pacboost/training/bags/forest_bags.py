"""Bags of a forest: the same whatever order rows come in, and a weight stands for copies of a row.

Given the rows, every draw is uniform, as in any other order. So which rows are in a bag is
independent of what they hold, and certificates out of bag hold, with probability over the seed too
(docs/proofs/out_of_bag.md).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.forest_rows import count_drawn
from pacboost.training.bags.bags import Bag, Bags

WEIGHT_BITS = 16
DRAWS_WORTH_A_KERNEL = 50_000


class ForestBags(Bags):
    """Bags that follow from what rows hold, whatever order they come in.

    Draws go by place in ``order``, which content alone decides. A row of weight w has w places,
    so it is drawn as w copies of it would be. Without replacement, ``drawn`` rows are taken.
    """

    def __init__(
        self,
        order: NDArray[np.intp],
        columns: int,
        seed: int,
        drawn: int,
        *,
        replacement: bool,
        weights: NDArray[np.int64] | None = None,
    ) -> None:
        super().__init__(order.size, drawn, columns, columns, seed, replacement)
        ends = None if weights is None else np.cumsum(weights[order])
        object.__setattr__(self, "_held", (order, ends))

    def bag(self, number: int) -> Bag:
        """Draw the bag of this number."""
        order, ends = self._held  # type: ignore[attr-defined]
        generator = np.random.default_rng((self.seed, number))
        if not self.replacement:
            counts = np.ones(self.rows, np.int64)
            if self.drawn < self.rows:
                counts[order[generator.permutation(self.rows)[self.drawn :]]] = 0
        else:
            total = self.rows if ends is None else int(ends[-1])
            places = generator.integers(total, size=self.drawn)
            places = places if ends is None else np.searchsorted(ends, places, side="right")
            counts = _counted(order, places)
        return Bag(counts, None, int(generator.integers(2**31)))


def _counted(order: NDArray[np.intp], places: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count how often each row was drawn; NumPy counts under the interpreter's lock."""
    if places.size < DRAWS_WORTH_A_KERNEL:
        return np.bincount(order[places], minlength=order.size)
    counts = np.zeros(order.size, np.int64)
    count_drawn(order, places, counts)
    return counts


def content_order(codes: NDArray[np.uint8], targets: NDArray[Any]) -> NDArray[np.intp]:
    """Sort rows by a hash of their codes (features, rows) and targets; equal rows stay together.

    >>> codes = np.array([[1, 0, 1]], np.uint8)
    >>> content_order(codes, np.array([1, 1, 1])).tolist() in ([0, 2, 1], [1, 0, 2])
    True
    """
    total = np.ascontiguousarray(targets, np.float64).view(np.uint64).copy()
    held = words(codes).view(np.uint64)
    for j in range(held.shape[1]):
        total += held[:, j]
        total ^= total >> np.uint64(30)
        total *= np.uint64(0xBF58476D1CE4E5B9)
        total ^= total >> np.uint64(27)
        total *= np.uint64(0x94D049BB133111EB)
    return np.argsort(total, kind="stable")


def words(codes: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Give rows of codes, filled up to whole words of eight."""
    features, rows = codes.shape
    lines = np.zeros((rows, -(-features // 8) * 8), np.uint8)
    lines[:, :features] = codes.T
    return lines


def whole_weights(weights: NDArray[np.float64]) -> NDArray[np.int64]:
    """Turn weights into whole numbers: as they are if they have a common measure.

    >>> whole_weights(np.array([0.2, 0.6, 1.0])).tolist(), whole_weights(np.array([1.0, 0.5**0.5]))
    ([1, 3, 5], array([65536, 46341]))
    """
    least = float(weights.min())
    for part in range(1, 7):
        ratios = weights / least * part
        whole = np.rint(ratios)
        if whole.max() <= 2**WEIGHT_BITS and np.abs(ratios - whole).max() < 1e-9 * part:
            return np.asarray(whole, np.int64)
    scaled = np.rint(weights * (2**WEIGHT_BITS / float(weights.max())))
    return np.asarray(np.maximum(1, scaled), np.int64)
