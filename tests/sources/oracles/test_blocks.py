"""Blocks read in random order, one ahead, never more than two held."""

import gc
import threading
import weakref

import numpy as np
import pytest
from scipy.stats import chisquare

from pacboost.errors import DataError
from pacboost.sources.oracles.blocks import BlockOracle
from pacboost.sources.oracles.oracle import SHUFFLED, STREAM
from pacboost.sources.oracles.row_block import RowBlock
from tests.grids import each_value
from tests.sources.oracles.passes import check_draws, of_size, sequence


class Blocks(BlockOracle):
    """Blocks of the given sizes, whose rows hold their identity."""

    n_columns = 2

    def __init__(self, sizes: list[int], seed: int = 0, *, known: bool = True) -> None:
        super().__init__(seed, len(sizes) if known else None)
        self.sizes = sizes
        self.reads: list[int] = []
        self.alive: weakref.WeakSet[RowBlock] = weakref.WeakSet()
        self.most_alive = 0
        self.threads: set[int] = set()
        self.broken: int | None = None

    def read(self, block: int) -> RowBlock | None:
        if block >= len(self.sizes):
            return None
        self.reads.append(block)
        self.threads.add(threading.get_ident())
        if block == self.broken:
            raise DataError(f"block {block} is broken")
        rows = np.arange(self.sizes[block])
        X = np.stack([np.full(rows.size, block), rows], axis=1).astype(np.float64)
        held = RowBlock(X, rows % 2)
        self.alive.add(held)
        self.most_alive = max(self.most_alive, len(self.alive))
        return held

    def fingerprint(self) -> str:
        return str(self.sizes)

    def place(self, row: int) -> str:
        return f"block {row >> 32}, row {row & 0xFFFFFFFF}"


SIZES = [10, 0, 3, 25, 1, 7, 12]


@each_value
@pytest.mark.parametrize(
    ("known", "ahead"),
    [(True, 0), (False, 0), (True, 1), (False, 1), (True, 2), (True, 3), (True, 9)],
)
@pytest.mark.parametrize("sizes", [SIZES, [30], [1], [0, 5, 0], [5] * 9])
def test_passes(known: bool, ahead: int, sizes: list[int]) -> None:
    def make() -> Blocks:
        oracle = Blocks(sizes, 3, known=known)
        oracle.reads_ahead, oracle.largest_block = ahead > 0, 2**18
        oracle.read_ahead_on(max(1, ahead))
        return oracle

    assert make().blocks_ahead == max(1, min(ahead, len(sizes)))
    check_draws(make, sum(sizes), laps=3)


def test_the_identity_says_which_row_it_is() -> None:
    rows, values, _ = sequence(Blocks(SIZES), of_size(4), laps=2)
    assert [[row >> 32, row & 0xFFFFFFFF] for row in rows] == values.tolist()


def test_blocks_then_rows_are_shuffled() -> None:
    assert Blocks([9] * 40).order is SHUFFLED
    rows, _, _ = sequence(Blocks([9] * 40), of_size(50), laps=2)
    turns = [row >> 32 for row in rows]
    first, second = turns[: 9 * 40 : 9], turns[9 * 40 :: 9]
    assert turns[: 9 * 40] == np.repeat(first, 9).tolist()
    assert first != second != sorted(first)
    inside = [row & 0xFFFFFFFF for row in rows[:9]]
    assert sorted(inside) == list(range(9)) != inside


def test_blocks_that_are_not_known_come_in_order() -> None:
    oracle = Blocks(SIZES, known=False)
    assert oracle.order is STREAM
    rows, _, _ = sequence(oracle, of_size(50))
    assert np.all(np.diff([row >> 32 for row in rows]) >= 0)
    oracle = Blocks(SIZES, known=False)
    oracle.shuffles_rows = False
    rows, _, _ = sequence(oracle, of_size(4))
    assert rows == sorted(rows)


def test_any_row_may_come_first() -> None:
    sizes = [5] * 4
    first = [int(Blocks(sizes, seed).draw(1).rows[0]) for seed in range(600)]
    counts = np.zeros((4, 5))
    for row in first:
        counts[row >> 32, row & 0xFFFFFFFF] += 1
    assert chisquare(counts.ravel()).pvalue > 1e-4


@pytest.mark.parametrize("known", [True, False])
def test_never_more_than_two_blocks_are_held(known: bool) -> None:
    sizes = [100, 400, 100, 300, 200, 400]
    oracle = Blocks(sizes, known=known)
    gc.disable()
    try:
        for _ in range(100):
            batch = oracle.draw(64)
            assert len(oracle.alive) <= 2
            if batch.lap == 2:
                break
    finally:
        gc.enable()
    assert oracle.most_alive <= 2
    oracle.close()
    assert len(oracle.alive) == 0


def test_blocks_read_ahead_are_few_and_forgotten() -> None:
    oracle = Blocks([50] * 20)
    oracle.largest_block = 2**20
    oracle.read_ahead_on(3)
    assert oracle.blocks_ahead == 3
    sequence(oracle, of_size(20))
    assert oracle.most_alive <= 4
    oracle.close()
    assert len(oracle.alive) == 0


@pytest.mark.parametrize("ahead", [1, 3])
def test_chosen_rows_of_all_blocks_come_in_order(ahead: int) -> None:
    oracle = Blocks([5, 0, 7, 6, 8])
    oracle.largest_block = 1
    oracle.read_ahead_on(ahead)
    found = oracle.select(lambda rows, held: rows % 2 == 0)
    rows = [int(row) for batch in found for row in batch.rows]
    assert rows == [b << 32 | i for b, n in enumerate(oracle.sizes) for i in range(0, n, 2)]
    assert oracle.most_alive <= 1 + ahead
    next(oracle.select(lambda rows, held: rows >= 0))
    assert len(oracle.alive) == 0
    assert oracle.draw(3).n_rows == 3


@pytest.mark.parametrize("ahead", [1, 4])
def test_an_error_of_a_reader_ahead_comes_in_its_turn(ahead: int) -> None:
    sizes = [5] * 6
    order = [row >> 32 for row in sequence(Blocks(sizes), of_size(5))[0][::5]]
    oracle = Blocks(sizes)
    oracle.blocks_ahead = ahead
    oracle.broken = order[2]
    oracle.draw(5)
    oracle.draw(5)
    for _ in range(2):
        with pytest.raises(DataError, match=f"block {order[2]} is broken"):
            oracle.draw(5)
    oracle.broken = None
    assert [int(oracle.draw(5).rows[0]) >> 32 for _ in range(4)] == order[2:]


def test_a_single_block_is_read_once() -> None:
    oracle = Blocks([30])
    sequence(oracle, of_size(7), laps=4)
    assert oracle.reads == [0]


def test_the_next_block_is_read_by_another_thread() -> None:
    oracle = Blocks(SIZES)
    sequence(oracle, of_size(7))
    assert threading.get_ident() not in oracle.threads
    assert len(oracle.threads) == 1


def test_seek_and_close_forget_a_block_that_broke() -> None:
    oracle = Blocks([5, 5])
    oracle.broken = int(oracle.draw(1).rows[0] >> np.uint64(32)) ^ 1
    oracle.seek({"lap": 0, "turn": 0, "row": 0})
    oracle.draw(1)
    oracle.close()
    oracle.close()
    assert oracle.draw(1).n_rows == 1


def test_a_source_without_rows_is_refused_and_a_stream_has_ended() -> None:
    with pytest.raises(DataError, match="holds no rows"):
        Blocks([0, 0, 0]).draw(1)
    oracle = Blocks([0, 0], known=False)
    for _ in range(2):
        assert oracle.draw(5).table.rows().shape == (0, 2)


def test_a_stream_that_cannot_be_read_again_ends_after_one_pass() -> None:
    oracle = Blocks(SIZES, known=False)
    oracle.repeats = False
    assert len(sequence(oracle, of_size(7), laps=3)[0]) == sum(SIZES)
    assert oracle.draw(5).n_rows == 0


def test_blocks_too_large_for_the_limit_are_refused() -> None:
    oracle = Blocks(SIZES)
    oracle.largest_block, oracle.largest_block_place = 3_000_000, "block 3"
    oracle.check_memory(6_000_000)
    with pytest.raises(DataError, match="block 3: takes 3 MB"):
        oracle.check_memory(5_000_000)
