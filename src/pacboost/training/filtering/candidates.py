"""Candidates of a filter: rows of an array (array_rows.py), or the next of an oracle (stream.py).

Every row has a random number under the key of a refill. It is scored only if the number is below a
bound on its weight, and accepted if the same number is below its weight. So rows that were easy at
the last look take almost no time, and the accepted rows do not depend on the bounds.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels import hashing
from pacboost.kernels.runtime.threads import ROWS_FOR_CHEAP_KERNELS, each_rows
from pacboost.learners.learner import Learner
from pacboost.samples.gathering import Gathering
from pacboost.samples.row_hashes import row_hashes
from pacboost.sources.oracles.held import BadCell, Held
from pacboost.sources.oracles.oracle import AbstractOracle, Drawn
from pacboost.training.filtering.rows import EncodedRows, Floats, RowEncoder

FRESH, NEW, AGAIN = range(3)
"""Kinds of rows: never used before, not even to choose bins; not used for learning; all others."""


def kinds_of(new: NDArray[np.bool_], fresh: NDArray[np.bool_] | None = None) -> NDArray[np.int8]:
    """Return the kind of each row."""
    kinds = np.where(new, NEW, AGAIN) if fresh is None else np.where(fresh, FRESH, kinds_of(new))
    return kinds.astype(np.int8)


@dataclass(frozen=True, eq=False)
class Offer:
    """Rows to be scored."""

    batch: Drawn
    ids: NDArray[np.uint64]
    """The identity of each row on every pass: its number or, in a stream, a hash of its content."""
    kinds: NDArray[np.int8]
    tickets: NDArray[np.uint64]
    """The seeds of the rows' random numbers; a row that comes twice in a refill has two."""
    bounds: Floats | None = None
    """Bounds on the weights, which selected the rows; None if all rows are scored."""
    is_unbiased: bool = True
    """True if rows were drawn independently of their weights, so that their mean is unbiased."""
    last: bool = True
    """Whether this is the last piece of an offer."""

    def pieces(self, usable: NDArray[np.bool_] | None, max_rows: int) -> Iterator[Offer]:
        """Divide the usable rows (None: all) into equal pieces of at most ``max_rows`` rows."""
        places = np.arange(self.ids.size) if usable is None else np.flatnonzero(usable)
        size = -(-places.size // max(1, -(-places.size // max_rows))) or 1
        for first in range(0, max(1, places.size), size):
            chosen, last = places[first : first + size], first + size >= places.size
            batch = self.batch if chosen.size == self.ids.size else self.batch.take(chosen)
            bounds = None if self.bounds is None else self.bounds[chosen]
            columns = self.ids[chosen], self.kinds[chosen], self.tickets[chosen]
            yield Offer(batch, *columns, bounds, self.is_unbiased, last)


MAX_CELLS_PER_OFFER = 2**21
MAX_ROWS_PER_OFFER = 65_536
MIN_ROWS_PER_OFFER = 1_024


class Candidates(ABC):
    """A source of candidates."""

    whole: bool
    """Whether one refill considers all rows of the source."""

    def __init__(self, oracle: AbstractOracle, seed: int) -> None:
        self.oracle = oracle
        self.seed = seed
        rows = MAX_CELLS_PER_OFFER // max(1, oracle.n_columns)
        self.at_once = min(MAX_ROWS_PER_OFFER, max(MIN_ROWS_PER_OFFER, rows))
        self.ended = False
        self.learned = Gathering()
        """A sketch of the rows used for learning."""
        self.testing: EncodedRows | None = None
        """Rows that test every vote of the run and are never used for learning, if any."""
        self.distinct = False
        """Whether equal rows are one example, which counts once."""

    def position(self) -> dict[str, Any]:
        """Return the position of a run in the source, as values that JSON supports."""
        return {"oracle": self.oracle.position()}

    def seek(self, position: Mapping[str, Any]) -> None:
        self.oracle.seek(position["oracle"])

    @abstractmethod
    def offer(self, key: np.uint64, scale: float) -> Iterator[Iterable[Offer]]:
        """Yield groups of candidates until the source ends.

        The groups do not depend on the sizes of the oracle's batches, and a run decides only
        between groups. All offers of a group are consumed in order before the next group, so that
        a block is released before the next one is read.
        """

    def seen(self, rows: NDArray[np.uint64], chances: Floats) -> None:  # noqa: B027 - streams forget
        """Store the weights of rows that were scored."""

    @property
    def problem(self) -> str:
        """The reason why nothing can be certified, if any: rows of a stream came again."""
        return ""

    def set_apart(self, encoder: RowEncoder, offer: Offer) -> NDArray[np.bool_] | None:
        """Set some rows apart for the certificate; return which others are usable, None for all."""
        return None

    @abstractmethod
    def apart(self, encoder: RowEncoder) -> EncodedRows | None:
        """Return the rows set apart, which nothing has used."""

    def state(self) -> dict[str, NDArray[Any]]:
        """Return the arrays of a checkpoint, besides the position."""
        return {}

    def restore(  # noqa: B027 - not all have a state
        self, state: dict[str, NDArray[Any]], encoder: RowEncoder
    ) -> None:
        """Continue from the arrays of ``state``."""


UNIT = 2.0**-hashing.BITS


def key_of(*parts: int) -> np.uint64:
    """Return a key for random numbers, from a seed and numbers that stand for the purpose.

    The length is part of the key, because NumPy ignores trailing zeros.
    """
    entropy = (len(parts), *parts)
    return np.uint64(np.random.SeedSequence(entropy).generate_state(1, np.uint64)[0])


def numbers(rows: NDArray[np.uint64], key: np.uint64) -> NDArray[np.float64]:
    """Return a random number in [0, 1) for each row: always the same for a row and a key.

    >>> numbers(np.array([7, 8], dtype=np.uint64), key_of(0, 1)).round(4).tolist()
    [0.9412, 0.904]
    """
    out = np.empty(rows.size, dtype=np.uint64)

    def task(start: int, stop: int) -> None:
        hashing.numbers(rows[start:stop], key, out[start:stop])

    each_rows(task, rows.size, at_least=ROWS_FOR_CHEAP_KERNELS)
    return out.astype(np.float64) * UNIT


@dataclass(frozen=True, eq=False)
class Coins:
    """A number for every row, the same on any worker; those below ``share`` are set apart."""

    key: np.uint64
    share: float
    salt: np.uint64 | None = None
    """The salt of hashes, if the content of a row identifies it; None if its place does."""

    def ids(self, batch: Drawn) -> NDArray[np.uint64]:
        return (
            batch.rows if self.salt is None else row_hashes(batch.read().table, salt=int(self.salt))
        )

    def low(self, ids: NDArray[np.uint64]) -> NDArray[np.bool_]:
        return np.asarray(numbers(ids, self.key) < self.share)

    def choose(self, rows: NDArray[np.uint64], held: Held) -> NDArray[np.bool_]:
        """Return a mask of the rows of a block that may be set apart."""
        if self.salt is None:
            return self.low(rows)
        try:
            table = held.table(np.arange(held.n_rows))
        except BadCell:  # reading all rows raises an error that names the cell
            return np.ones(held.n_rows, dtype=np.bool_)
        return self.low(row_hashes(table, salt=int(self.salt)))


def bytes_of_work(
    oracle: AbstractOracle, learner: Learner, outputs: int, apart: int, bins: int
) -> int:
    """Estimate the memory of a fit by filtering, besides the blocks of its source and its sample.

    It consists of the rows set ``apart`` and the larger of two steps: finding bins from ``bins``
    rows, and learning a rule. Sparse rows take little memory and count as 0.
    """
    if oracle.sparse:
        return 0
    columns = oracle.n_columns
    certifying = apart * columns * 9  # 8 bytes for each value and 1 for its code
    binning = (
        3 * bins * columns * 8
    )  # rows read ahead, those that bins may use, and a copy of these
    return certifying + max(binning, learner.bytes_of_work(columns, outputs))
