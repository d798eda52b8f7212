"""Draw from a world: every row is fresh, and there is no end to them."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.sources.arrays import ArrayTable
from pacboost.sources.oracles.oracle import (
    INDEPENDENT,
    AbstractOracle,
    Batch,
    read_position,
    whole,
)
from pacboost.sources.oracles.shuffle import key
from pacboost.sources.plane import Plane
from pacboost.sources.worlds import World

ROWS_PER_KEY = 2**12
ROWS_LOOKED_AT = 64


class WorldOracle(AbstractOracle):
    """Independent draws; each few thousand rows have a key of their own, so that n has no part.

    The identity of a row is its number in the sequence.

    >>> from pacboost.sources.worlds import hastie
    >>> oracle = WorldOracle(hastie(), seed=1)
    >>> oracle.draw(5000).rows[-1], oracle.draw(1).rows[0]
    (np.uint64(4999), np.uint64(5000))
    """

    order = INDEPENDENT
    endless = True

    def __init__(self, world: World | Plane, seed: int = 0) -> None:
        self._world = world
        self._seed = whole("seed", seed)
        self.n_columns = world.features
        self._row = 0
        self._block: tuple[int, NDArray[np.float64], NDArray[np.int8]] | None = None

    def draw(self, n: int) -> Batch:
        """Make the next n rows."""
        first, last = self._row, self._row + whole("n", n, 1)
        parts = [self._made(b) for b in range(first // ROWS_PER_KEY, -(-last // ROWS_PER_KEY))]
        start = first % ROWS_PER_KEY
        X = np.concatenate([rows for rows, _ in parts])[start : start + last - first]
        y = np.concatenate([labels for _, labels in parts])[start : start + last - first]
        self._row = last
        return Batch(ArrayTable(X), y, np.arange(first, last, dtype=np.uint64), 0)

    def _made(self, block: int) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
        """Make one block, or give it again if it was the last one made: draws may be small."""
        if self._block is None or self._block[0] != block:
            generator = np.random.default_rng(key(self._seed, block))
            self._block = (block, *self._world.draw(ROWS_PER_KEY, generator))
        return self._block[1:]

    def classes(self) -> NDArray[np.int8]:
        """Give the two signs."""
        return np.array([-1, 1], dtype=np.int8)

    def position(self) -> dict[str, Any]:
        """Give the number of the next row."""
        return {"row": self._row}

    def seek(self, position: Mapping[str, Any]) -> None:
        """Go on from a position."""
        (self._row,) = read_position(position, "row")

    def fingerprint(self) -> str:
        """Hash some rows: a world that is a function has no other name."""
        X, y = self._world.draw(ROWS_LOOKED_AT, 0)
        return sha256(X.tobytes() + y.tobytes()).hexdigest()

    def place(self, row: int) -> str:
        """Name the row by its number."""
        return f"row {row} of the world"
