"""What every oracle has to keep, whatever it draws from."""

import json
from collections.abc import Callable, Iterator
from threading import Lock
from typing import Any
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray

from pacboost.sources.oracles.oracle import AbstractOracle, Batch
from pacboost.sources.oracles.row_block import RowBlock

Make = Callable[[], AbstractOracle]


def batches(oracle: AbstractOracle, sizes: Iterator[int], laps: int = 1) -> Iterator[Batch]:
    """The batches of so many passes; a last one may belong to the pass after."""
    while True:
        batch = oracle.draw(next(sizes))
        if batch.n_rows == 0 or batch.lap >= laps:
            return
        yield batch


def of_size(n: int) -> Iterator[int]:
    while True:
        yield n


def of_random_sizes(seed: int, most: int) -> Iterator[int]:
    generator = np.random.default_rng(seed)
    while True:
        yield int(generator.integers(1, most, endpoint=True))


def sequence(
    oracle: AbstractOracle, sizes: Iterator[int], laps: int = 1
) -> tuple[list[int], NDArray[np.floating], list[object]]:
    """All rows of so many passes: identities, values, labels."""
    got = list(batches(oracle, sizes, laps))
    rows = [int(row) for batch in got for row in batch.rows]
    values = np.concatenate([batch.table.rows() for batch in got])
    return rows, values, [label for batch in got for label in batch.labels.tolist()]


def check_draws(make: Make, n_rows: int, *, shuffled: bool = True, laps: int = 2) -> None:
    """Check all that draws have to keep."""
    check_passes(make, n_rows, shuffled=shuffled)
    check_same_for_any_size(make, laps)
    check_goes_on(make, laps)


def check_same_for_any_size(make: Make, laps: int = 2) -> None:
    """The rows do not depend on how many are asked for at once."""
    first = sequence(make(), of_size(1_000_000), laps)
    for sizes in (of_size(1), of_size(7), of_random_sizes(0, 50)):
        rows, values, labels = sequence(make(), sizes, laps)
        assert rows == first[0]
        np.testing.assert_array_equal(values, first[1])
        assert labels == first[2]


def check_passes(make: Make, n_rows: int, *, shuffled: bool = True) -> None:
    """Each pass holds every row once; where it is shuffled the next has another order."""
    rows, values, labels = sequence(make(), of_size(50), laps=3)
    passes = np.array(rows).reshape(3, n_rows)
    once = {row: (tuple(v), label) for row, v, label in zip(rows, values, labels, strict=True)}
    assert len(once) == n_rows
    for k, own in enumerate(passes):
        assert len(set(own)) == n_rows
        if shuffled and k and n_rows > 20:
            assert own.tolist() != passes[k - 1].tolist()
    for row, v, label in zip(rows, values, labels, strict=True):
        np.testing.assert_array_equal(once[row][0], tuple(v))
        assert once[row][1] == label


def check_goes_on(make: Make, laps: int = 2, size: int = 7) -> None:
    """From any position, through JSON, a new oracle goes on with the very same rows."""
    oracle = make()
    positions: list[tuple[dict[str, int], int]] = []
    rows: list[int] = []
    while True:
        position = json.loads(json.dumps(oracle.position()))
        batch = oracle.draw(size)
        if batch.n_rows == 0 or batch.lap >= laps:
            break
        positions.append((position, len(rows)))
        rows += batch.rows.tolist()
    chosen = positions[:: max(1, len(positions) // 12)]
    for position, so_far in chosen:
        other = make()
        other.seek(position)
        going = sequence(other, of_size(5), laps)
        assert going[0] == rows[so_far:]
        other.seek(chosen[0][0])
        again = other.draw(3).rows.tolist()
        assert again == rows[: len(again)] != []
        other.close()


class BytesHeld:
    """The bytes of all blocks that an oracle reads from now on, and of those alive at a time."""

    def __init__(self, oracle: Any) -> None:
        self.read = self.most = 0
        self._alive: WeakSet[RowBlock] = WeakSet()
        self._lock, self._reads = Lock(), oracle.read
        oracle.read = self._counted

    def _counted(self, block: int) -> RowBlock | None:
        held: RowBlock | None = self._reads(block)
        if held is not None:
            with self._lock:
                self._alive.add(held)
                self.read += held.nbytes
                self.most = max(self.most, sum(one.nbytes for one in self._alive))
        return held
