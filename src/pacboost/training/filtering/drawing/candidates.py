"""Where candidates come from: the next rows of an oracle (stream.py), or any of an array.

A row is looked at only if its number under the key of the refill is below what its weight may be;
it is kept if the same number is below what its weight is. So rows that were easy when they were
last looked at cost next to nothing, and what is kept is the same whatever is known of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.samples.content_sample import ContentSample
from pacboost.samples.gathering import Gathering
from pacboost.samples.known_rows import KnownRows
from pacboost.sources.oracles.arrays import ArrayOracle
from pacboost.sources.oracles.oracle import REPLACED, AbstractOracle
from pacboost.sources.table import Table
from pacboost.training.filtering.drawing.offer import Offer
from pacboost.training.filtering.drawing.row_encoder import EncodedRows, RowEncoder
from pacboost.training.filtering.drawing.saved_arrays import like

Floats = NDArray[np.float64]

CELLS_AT_ONCE = 2**21
MOST_AT_ONCE = 65_536
LEAST_AT_ONCE = 1_024


class Candidates(ABC):
    """A source of candidates."""

    whole: bool
    """Whether one refill sees all rows there are."""

    def __init__(self, oracle: AbstractOracle, seed: int) -> None:
        self.oracle = oracle
        self.seed = seed
        room = CELLS_AT_ONCE // max(1, oracle.n_columns)
        self.at_once = min(MOST_AT_ONCE, max(LEAST_AT_ONCE, room))
        self.ended = False
        self.learned = Gathering()
        """A sketch of the rows that were kept to learn from."""
        self.testing: EncodedRows | None = None
        """Rows that test every vote of the run and are never learned from, where there are some."""
        self.known_testing: KnownRows | None = None
        """Which of these equal rows that were learned from."""
        self.known_apart: KnownRows | None = None
        """Which of the rows set apart equal rows that were learned from, where copies may hide."""

    def position(self) -> dict[str, Any]:
        """Say where a run has come to, in values that JSON can hold."""
        return {"oracle": self.oracle.position()}

    def seek(self, position: Mapping[str, Any]) -> None:
        """Go on from a position."""
        self.oracle.seek(position["oracle"])

    @abstractmethod
    def offer(self, key: np.uint64, scale: float) -> Iterator[Iterable[Offer]]:
        """Give groups of candidates, as long as they are asked for and there are any.

        Groups end where they do whatever the sizes of the oracle's batches: only between them
        may anything be decided. The offers of a group are made one after the other, and all of
        them before the next group: a block is let go before the next one is asked for.
        """

    def seen(self, rows: NDArray[np.uint64], chances: Floats) -> None:  # noqa: B027 - streams forget
        """Take note of what rows weigh."""

    @property
    def known(self) -> list[KnownRows]:
        """The rows for which it matters whether equal ones were learned from."""
        return [known for known in (self.known_testing, self.known_apart) if known is not None]

    def learn(self, table: Table, rows: NDArray[np.uint64]) -> None:
        """Take note of rows that are kept to learn from; ``rows`` identifies them."""
        self.learned.add(table, rows)
        for known in self.known:
            known.learn(table)

    def copies(self) -> str:
        """Say that rows of an array are copies of others, if that is sure.

        A stream recognises rows that come again, and worlds draw every row anew.
        """
        return copies_in(self.oracle)

    def set_apart(self, encoder: RowEncoder, offer: Offer) -> NDArray[np.bool_] | None:
        """Set some rows apart for the certificate; tell which are left, None for all."""
        return None

    @abstractmethod
    def apart(self, encoder: RowEncoder) -> EncodedRows | None:
        """Give the rows that were set apart, which nothing has looked at."""

    def apart_as_read(self) -> list[Table]:
        """Give the rows that were set apart as the source holds them, where copies may be hidden.

        A stream gives none: copies of rows that it sets apart are never learned from.
        """
        return []

    def state(self) -> dict[str, NDArray[Any]]:
        """Give what a checkpoint needs besides the position."""
        known = {"known_testing": self.known_testing, "known_apart": self.known_apart}
        return {name: own.equal.copy() for name, own in known.items() if own is not None}

    def restore(self, state: dict[str, NDArray[Any]], encoder: RowEncoder) -> None:
        """Go on from what ``state`` gave; older checkpoints do not hold which rows are known."""
        known = {"known_testing": self.known_testing, "known_apart": self.known_apart}
        for name, own in known.items():
            if own is not None and name in state:
                own.equal |= like(state, name, own.equal)


def copies_in(oracle: AbstractOracle) -> str:
    """Say that rows of an array are copies of others, if that is sure."""
    if not isinstance(oracle, ArrayOracle) or oracle.order is REPLACED:
        return ""
    sample = ContentSample(oracle.n_rows)
    for batch in oracle.select(lambda _, held: sample.choose(held)):
        sample.keep(batch.table)
    return sample.copies()
