"""Where thresholds may stand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class Borders:
    """Numbers between which scores are taken to be equal: every 2^bits-th float, and 0.

    >>> borders = Borders()
    >>> below = borders.below([0.3, 0.3 + 1e-15, 0.3 + 1e-9, 0.0, np.inf])
    >>> bool(below[0] == below[1] < 0.3 < borders.above(0.3) <= below[2]), below[3:].tolist()
    (True, [0.0, inf])
    """

    bits: int = 20

    @classmethod
    def of(cls, scores: NDArray[Any]) -> Borders:
        """Return those for scores of this type; 32-bit floats differ in earlier bits."""
        return cls(20 if scores.dtype.itemsize >= 8 else 38)

    def below(self, scores: ArrayLike) -> NDArray[np.float64]:
        """Return the largest border that is at most each score; infinities stay."""
        own = np.array(scores, dtype=np.float64)
        found = _floats(np.maximum(self._floor(_places(own)), -_LAST))
        found = np.where(own >= 0, np.maximum(found, 0.0), found)
        return np.where(np.isfinite(own), found, own)

    def above(self, score: float) -> float:
        """Return the smallest border that is larger than a score."""
        place = np.maximum(_places(np.array([score])), -_LAST - 1)
        found = np.minimum(self._floor(place) + (1 << self.bits), _LAST + 1)
        return float(_floats(found)[0]) if score >= 0 else float(min(_floats(found)[0], 0.0))

    def _floor(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        start = int(0.6180339887498949 * 2**self.bits)
        return ((places - start) >> self.bits << self.bits) + start


_LAST = int(np.array(np.finfo(np.float64).max).view(np.int64))


def _places(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Number all floats in their order, 0 being number 0."""
    bits = values.view(np.int64)
    return np.where(bits < 0, -(bits & np.int64(2**63 - 1)), bits)


def _floats(places: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.where(places < 0, -np.abs(places).view(np.float64), np.abs(places).view(np.float64))
