"""Where candidates come from: the next rows of an oracle (stream.py), or any of an array.

A row is looked at only if its number under the key of the refill is below what its weight may be;
it is kept if the same number is below what its weight is. So rows that were easy when they were
last looked at cost next to nothing, and what is kept is the same whatever is known of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import NotCertified
from pacboost.kernels import hashing
from pacboost.kernels.runtime.threads import ROWS_FOR_CHEAP_KERNELS, each_rows
from pacboost.learners.learner import Learner
from pacboost.samples.bins import Bins
from pacboost.samples.content_sample import (
    CHOSEN,
    ContentKeys,
    ContentSample,
    EqualRowsOfSource,
    joined,
    rows_chosen,
)
from pacboost.samples.equal_rows import Examples
from pacboost.samples.gathering import Gathering
from pacboost.sources.oracles.arrays import ArrayOracle
from pacboost.sources.oracles.oracle import AbstractOracle, Drawn
from pacboost.sources.table import Table
from pacboost.training.filtering.row_encoder import EncodedRows, RowEncoder

# Rows that are offered to the filter, and what is known of each before it is looked at.

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Offer:
    """Rows to be looked at."""

    batch: Drawn
    ids: NDArray[np.uint64]
    """What identifies each row, on every pass: its number or, in a stream, its content."""
    new: NDArray[np.bool_]
    """Which rows were never learned from."""
    fresh: NDArray[np.bool_]
    """Which of those had no part in anything, not even in the choice of bins."""
    tickets: NDArray[np.uint64]
    """What each row's number is drawn by. A row that comes twice in a refill has two."""
    bounds: Floats | None = None
    """What the chance of each row to be looked at followed; None where all are."""
    tells: bool = True
    """Whether the rows came whatever they weigh, so that their mean weight tells something."""


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
        """Return where a run has come to, in values that JSON can hold."""
        return {"oracle": self.oracle.position()}

    def seek(self, position: Mapping[str, Any]) -> None:
        """Go on from a position."""
        self.oracle.seek(position["oracle"])

    @abstractmethod
    def offer(self, key: np.uint64, scale: float) -> Iterator[Iterable[Offer]]:
        """Return groups of candidates, as long as they are asked for and there are any.

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
        """Return the rows that were set apart, which nothing has looked at."""

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


# Chance that is keyed: the same for the same seed, purpose and row, whenever the row comes.

UNIT = 2.0**-hashing.BITS


def key_of(*parts: int) -> np.uint64:
    """Make a key from a seed and what it is for; their number counts, since NumPy drops zeros."""
    entropy = (len(parts), *parts)
    return np.uint64(np.random.SeedSequence(entropy).generate_state(1, np.uint64)[0])


def numbers(rows: NDArray[np.uint64], key: np.uint64) -> NDArray[np.float64]:
    """Return each row its number in [0, 1).

    >>> numbers(np.array([7, 8], dtype=np.uint64), key_of(0, 1)).round(4).tolist()
    [0.9412, 0.904]
    """
    out = np.empty(rows.size, dtype=np.uint64)

    def task(start: int, stop: int) -> None:
        hashing.numbers(rows[start:stop], key, out[start:stop])

    each_rows(task, rows.size, at_least=ROWS_FOR_CHEAP_KERNELS)
    return out.astype(np.float64) * UNIT


def row_numbers(rows: int) -> NDArray[np.uint64]:
    """Number rows, for a choice among them that does not ask which they are."""
    return np.arange(rows, dtype=np.uint64)


# What a fit by filtering holds in memory besides the blocks of its source and its sample.


def bytes_of_work(
    oracle: AbstractOracle, learner: Learner, outputs: int, apart: int, bins: int
) -> int:
    """Estimate the bytes of the rows that are set ``apart``, and of the step that needs most.

    The steps follow each other: the bins are found from ``bins`` rows, some rows are compared to
    find copies, and a rule is learned. Sparse rows take little memory, and count as none.
    """
    if oracle.sparse:
        return 0
    columns = oracle.n_columns
    held = apart * columns * 9  # as read, and codes
    found = 3 * bins * columns * 8  # rows that wait, those that may be looked at, and all together
    compared = 6 * rows_chosen(columns) * columns * 4  # twice half more than expected, of 8 bytes
    return held + max(found, compared, learner.bytes_of_work(columns, outputs))


# Arrays of a checkpoint: of the kind and shape that the run has, or the checkpoint is refused.
#
# Kernels do not check their indices, and rows that certify must stay those that the seed chose.

Arrays = Mapping[str, NDArray[Any]]


def like(state: Arrays, name: str, own: NDArray[Any]) -> NDArray[Any]:
    """Return an array that has to look like one of the run.

    >>> like({"kinds": np.zeros(2, dtype=np.uint8)}, "kinds", np.ones(2, dtype=np.uint8)).tolist()
    [0, 0]
    """
    return of_kind(state, name, own.dtype, *own.shape)


def of_kind(state: Arrays, name: str, dtype: Any, *shape: int) -> NDArray[Any]:
    """Return an array of a type and shape; -1 stands for any length."""
    if name not in state:
        raise ValueError(f"it has no array {name!r}")
    found = state[name]
    same = len(shape) == found.ndim and all(
        wanted in (-1, size) for wanted, size in zip(shape, found.shape, strict=True)
    )
    if not same or found.dtype != np.dtype(dtype):
        raise ValueError(
            f"the array {name!r} is {found.dtype} of shape {found.shape}, and the run has "
            f"{np.dtype(dtype)} of shape {shape}"
        )
    return found


def check_rows(state: Arrays, bins: Bins, outputs: int) -> None:
    """Check codes, signs, labels and numbers of rows set apart."""
    rows = of_kind(state, "apart_rows", np.uint64, -1).size
    of_kind(state, "apart_ids", np.uint64, rows)
    codes = of_kind(state, "apart_codes", bins.dtype, len(bins.thresholds), rows)
    signs = of_kind(state, "apart_signs", np.int8, rows, outputs)
    if codes.size and int(codes.max()) > bins.missing:
        raise ValueError("a code of a row set apart is of no bin")
    if not (np.abs(signs) == 1).all():
        raise ValueError("signs of rows set apart are not -1 and +1")
    if (outputs > 1) != ("apart_labels" in state):
        raise ValueError("labels of rows set apart go with more than two classes only")
    if outputs > 1:
        labels = of_kind(state, "apart_labels", np.int64, rows)
        if labels.size and not 0 <= int(labels.min()) <= int(labels.max()) < outputs:
            raise ValueError("a label of a row set apart is of no class")
