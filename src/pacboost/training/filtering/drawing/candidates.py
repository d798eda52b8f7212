"""Where candidates come from: the next rows of an oracle (stream.py), or any of an array.

A row is looked at only if its number under the key of the refill is below what its weight may be;
it is kept if the same number is below what its weight is. So rows that were easy when they were
last looked at cost next to nothing, and what is kept is the same whatever is known of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import NotCertified
from pacboost.samples.content_sample import (
    CHOSEN,
    ContentKeys,
    ContentSample,
    EqualRowsOfSource,
    joined,
)
from pacboost.samples.equal_rows import Examples
from pacboost.samples.gathering import Gathering
from pacboost.sources.oracles.arrays import ArrayOracle
from pacboost.sources.oracles.oracle import AbstractOracle
from pacboost.sources.table import Table
from pacboost.training.filtering.drawing.offer import Offer
from pacboost.training.filtering.drawing.row_encoder import EncodedRows, RowEncoder

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
        self.equal_rows = EqualRowsOfSource()
        """What equal rows are, where that was looked for."""

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

    def learn(self, table: Table, rows: NDArray[np.uint64]) -> None:
        """Take note of rows that are kept to learn from; ``rows`` identifies them."""
        self.learned.add(table, rows)

    @property
    def problem(self) -> str:
        """Why nothing can be certified, if that is so: rows are copies of others."""
        return self.equal_rows.problem

    def set_apart(self, encoder: RowEncoder, offer: Offer) -> NDArray[np.bool_] | None:
        """Set some rows apart for the certificate; tell which are left, None for all."""
        return None

    @abstractmethod
    def apart(self, encoder: RowEncoder) -> EncodedRows | None:
        """Give the rows that were set apart, which nothing has looked at."""

    def state(self) -> dict[str, NDArray[Any]]:
        """Return what a checkpoint needs besides the position."""
        return {}

    def restore(  # noqa: B027 - not all have a state
        self, state: dict[str, NDArray[Any]], encoder: RowEncoder
    ) -> None:
        """Go on from what ``state`` gave."""


def without_copies(oracle: ArrayOracle, copies: str) -> tuple[ArrayOracle, EqualRowsOfSource]:
    """Leave one row of every example of an array, where equal rows are copies.

    A few rows are judged as any table in memory, many by samples of them.
    """
    every = np.arange(oracle.n_rows)
    if oracle.n_rows <= CHOSEN:
        batch = oracle.take(every)
        try:
            examples = Examples.of(joined([batch.table]), copies, batch.labels)
        except NotCertified as refusal:
            return oracle, EqualRowsOfSource(True, problems=(str(refusal), ""))
        drawn = examples.drawn is not None
        verdict = EqualRowsOfSource(examples.repeated, examples.copied, drawn=drawn)
        return oracle.only(examples.once(every)) if examples.copied else oracle, verdict
    (sample,) = _sampled(oracle, [ContentSample(oracle.n_rows)])
    verdict = sample.judge(copies)
    if verdict.distinct and not verdict.judged:
        by = [ContentSample(oracle.n_rows, by=columns) for columns in verdict.fine]
        verdict = verdict.by_values(_sampled(oracle, by))
    if not verdict.distinct:
        return oracle, verdict
    some = np.random.default_rng(0).choice(oracle.n_rows, CHOSEN, replace=False)
    content = ContentKeys.of(np.uint64(0), verdict.fine, [oracle.take(np.sort(some)).table])
    parts = (oracle.take(every[a : a + MOST_AT_ONCE]) for a in range(0, every.size, MOST_AT_ONCE))
    ids = np.concatenate([content.ids(batch.table, batch.rows) for batch in parts])
    number = np.unique(ids, return_inverse=True)[1].astype(np.intp)
    once = Examples(every.size, number, True).once(every)
    return oracle.only(once), replace(verdict, drawn=bool(content.popular))


def _sampled(oracle: ArrayOracle, samples: list[ContentSample]) -> list[ContentSample]:
    """Fill samples with rows of an array."""
    for sample in samples:
        for batch in oracle.select(lambda _, held, sample=sample: sample.choose(held)):  # type: ignore[misc]
            sample.keep(batch.table)
    return samples
