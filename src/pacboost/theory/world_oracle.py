"""Independent draws from a world as an oracle."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from pacboost.numerics.checks import whole
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.oracles.oracle import INDEPENDENT, AbstractOracle, Batch, read_position
from pacboost.sources.oracles.shuffle import key

Rows = NDArray[np.float64]
Signs = NDArray[np.int8]
Seed = int | np.random.Generator


class DrawnWorld(Protocol):
    """Whatever draws rows with signs."""

    @property
    def features(self) -> int:
        """The number of features."""

    def draw(self, n: int, seed: Seed) -> tuple[Rows, Signs]:
        """Draw n examples; a generator continues after its last draw."""


# Rows follow from seed and number alone, whatever batches were asked for, so that a run goes on
# from a checkpoint with the rows it would have drawn.
ROWS_PER_KEY = 2**12
FINGERPRINT_ROWS = 64


class WorldOracle(AbstractOracle):
    """Independent draws from a world, which do not depend on the sizes of the batches.

    Each block of ``ROWS_PER_KEY`` rows has its own key. The identity of a row is its number in the
    sequence.

    >>> from pacboost.theory.worlds import hastie
    >>> oracle = WorldOracle(hastie(), seed=1)
    >>> oracle.draw(5000).rows[-1], oracle.draw(1).rows[0]
    (np.uint64(4999), np.uint64(5000))
    """

    order = INDEPENDENT

    def __init__(self, world: DrawnWorld, seed: int = 0) -> None:
        self._world = world
        self._seed = whole("seed", seed)
        self.n_columns = world.features
        self._row = 0
        self._block: tuple[int, NDArray[np.float64], NDArray[np.int8]] | None = None

    def _upcoming(self, n: int) -> Batch:
        first, last = self._row, self._row + whole("n", n, 1)
        blocks = range(first // ROWS_PER_KEY, -(-last // ROWS_PER_KEY))
        drawn = slice(first % ROWS_PER_KEY, first % ROWS_PER_KEY + last - first)
        parts = zip(*(self._drawn_block(block) for block in blocks), strict=True)
        X, y = (np.concatenate(part)[drawn] for part in parts)
        self._row = last
        return Batch((ArrayTable(X), y), np.arange(first, last, dtype=np.uint64), 0, self.place)

    def _drawn_block(self, block: int) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
        """Draw one block, or return the last one again, since draws may be small."""
        if self._block is None or self._block[0] != block:
            generator = np.random.default_rng(key(self._seed, block))
            self._block = (block, *self._world.draw(ROWS_PER_KEY, generator))
        return self._block[1:]

    def classes(self) -> NDArray[np.int8]:
        return np.array([-1, 1], dtype=np.int8)

    def position(self) -> dict[str, Any]:
        return {"row": self._row}

    def seek(self, position: Mapping[str, Any]) -> None:
        (self._row,) = read_position(position, "row")

    def fingerprint(self) -> str:
        """Hash some rows: a world may be a function, which has no name."""
        X, y = self._world.draw(FINGERPRINT_ROWS, 0)
        return sha256(X.tobytes() + y.tobytes()).hexdigest()

    def place(self, row: int) -> str:
        return f"row {row} of the world"
