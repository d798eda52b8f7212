"""Candidates of a stream: groups, rows set apart, and what counts as fresh."""

from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray
from scipy import sparse, stats

from pacboost.boosters.logit import Logit
from pacboost.errors import InputWarning
from pacboost.sources.oracles.arrays import ArrayOracle
from pacboost.sources.oracles.arrow import ParquetOracle
from pacboost.sources.oracles.stream import StreamOracle
from pacboost.theory.world_oracle import WorldOracle
from pacboost.training.filtering import arrivals, candidates
from pacboost.training.filtering.arrivals import Arrivals, RepeatAlarm
from pacboost.training.filtering.candidates import AGAIN, FRESH, FilterBatch, key_of
from pacboost.training.filtering.refilling import Refilling
from pacboost.training.filtering.rows import CodedBatch, RowEncoder
from pacboost.training.filtering.stream import BlockRows, Stream
from tests.estimators.filter_sources import noisy, write_parquet
from tests.grids import each_value
from tests.runs import several_runs
from tests.sources.oracles.passes import BytesHeld
from tests.training.filtering.setups import Choppy, cube, encoder, numbers_of, vote_so_far

KEY = key_of(0)


def array(rows: int, seed: int = 0, *, replace: bool = False) -> ArrayOracle:
    X, y = cube().draw(rows, 1)
    return ArrayOracle(X, y, seed, replace=replace)


@pytest.fixture(autouse=True)
def small_helpings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidates, "MAX_ROWS_PER_OFFER", 500)
    monkeypatch.setattr(candidates, "MIN_ROWS_PER_OFFER", 100)


def groups(stream: Stream, count: int) -> list[list[FilterBatch]]:
    offered = stream.offer(KEY, 1.0)
    return [list(group) for _, group in zip(range(count), offered, strict=False)]


def rows_of(group: list[FilterBatch]) -> list[int]:
    return [int(row) for offer in group for row in offer.batch.rows]


@pytest.mark.parametrize("sizes", [[1], [499, 3], [77], [500], [10_000]])
def test_helpings_have_their_size_whatever_the_batches(sizes: list[int]) -> None:
    wanted = [rows_of(h) for h in groups(Stream(array(1200), 0, 0), 4)]
    got = [rows_of(h) for h in groups(Stream(Choppy(array(1200), sizes), 0, 0), 4)]
    assert got == wanted
    assert [len(rows) for rows in got] == [500] * 4


def test_rows_read_ahead_are_offered_all_the_same() -> None:
    wanted = [rows_of(h) for h in groups(Stream(array(3000), 0, 0), 4)]
    stream = Stream(array(3000), 0, 0)
    stream.peek(1100)
    assert "ahead" in stream.position()
    assert [rows_of(h) for h in groups(stream, 4)] == wanted
    assert "ahead" not in stream.position()


def test_reading_ahead_ends_with_the_first_pass() -> None:
    stream = Stream(array(700), 0, 0)
    shown = stream.peek(50_000)
    assert sum(table.n_rows for table in shown) == 700
    assert stream.labels_ahead().size < 700 + 500 + 1


def test_rows_that_chose_the_bins_are_new_but_not_fresh() -> None:
    stream = Stream(array(3000), 0, 0)
    stream.peek(600)
    offers = [offer for group in groups(stream, 3) for offer in group]
    new = np.concatenate([offer.kinds != AGAIN for offer in offers])
    fresh = np.concatenate([offer.kinds == FRESH for offer in offers])
    assert new.all()
    assert not fresh[:600].any()
    assert fresh[600:].all()


def test_the_second_pass_is_neither() -> None:
    offers = [offer for group in groups(Stream(array(600), 0, 0), 3) for offer in group]
    laps = np.concatenate([np.full(o.batch.n_rows, o.batch.lap) for o in offers])
    new = np.concatenate([offer.kinds != AGAIN for offer in offers])
    np.testing.assert_array_equal(new, laps == 0)
    assert (laps == 1).any()


def test_draws_with_replacement_are_never_new() -> None:
    for group in groups(Stream(array(600, replace=True), 0, 50), 3):
        assert all((offer.kinds == AGAIN).all() for offer in group)


def test_a_row_that_comes_twice_is_decided_twice() -> None:
    """Of a short array the filter sees every row many times in a refill; each time has its luck."""
    oracle = array(16)
    refilling = Refilling(
        Stream(oracle, 0, 0), encoder(oracle), vote_so_far(Logit(), 0), KEY, 1.0, 0.01
    )
    list(islice(refilling.groups(), 8))
    kept = refilling.kept()
    assert kept is not None
    seen = np.bincount(kept.rows.astype(np.int64), minlength=16)
    assert stats.chisquare(seen).pvalue > 1e-4  # all weigh 1/2, so all come as often


# -- rows set apart


def drawn(
    stream: Stream, own: RowEncoder, count: int
) -> tuple[NDArray[np.uint64], CodedBatch | None]:
    """Fill with every row there is, then ask for those that were set apart."""
    refilling = Refilling(stream, own, vote_so_far(Logit(), 0), KEY, 1e-9, 0.01)
    list(islice(refilling.groups(), count))
    kept = refilling.kept()
    assert kept is not None
    return kept.rows, stream.apart(own)


def test_rows_apart_are_not_learned_from_on_any_pass() -> None:
    oracle = array(2000)
    learned, apart = drawn(Stream(oracle, 0, 120), encoder(oracle), 12)
    assert apart is not None
    assert apart.n_rows == 120
    assert np.unique(learned).size == 1880
    assert not np.isin(apart.rows, learned).any()


def test_rows_apart_are_chosen_by_identity_not_by_what_they_hold() -> None:
    counts = np.zeros(16)
    for seed in range(30):
        oracle = WorldOracle(cube(), seed)
        stream, own = Stream(oracle, seed, 100), encoder(oracle)
        apart = drawn(stream, own, 3)[1]
        assert apart is not None
        counts += np.bincount(numbers_of(apart.table), minlength=16)
    assert stats.chisquare(counts).pvalue > 1e-4


def test_rows_apart_had_no_part_in_the_bins() -> None:
    oracle = array(3000)
    stream, own = Stream(oracle, 0, 200), encoder(oracle)
    shown = sum(table.n_rows for table in stream.peek(2000))
    assert 1700 < shown < 1900
    seen = {int(row) for batch in stream._waiting for row in batch.rows}
    apart = stream.apart(own)  # at once: before anything was offered
    assert apart is not None
    assert apart.n_rows == 200
    early = np.isin(apart.rows, np.array(sorted(seen), dtype=np.uint64))
    assert early.any()
    assert stream._may_set_apart(apart.rows)[early].all()


def test_more_are_drawn_in_the_end_if_they_are_too_few() -> None:
    oracle = WorldOracle(cube(), 0)
    learned, apart = drawn(Stream(oracle, 0, 900), encoder(oracle), 2)
    assert apart is not None
    assert apart.n_rows == 900
    assert not np.isin(apart.rows, learned).any()
    assert np.unique(apart.rows).size == 900


def test_a_source_that_ends_gives_what_it_has() -> None:
    generator = np.random.default_rng(0)
    X, y = generator.random((400, 4)), generator.choice([-1, 1], size=400)
    oracle = StreamOracle(iter([(X, y)]))
    stream = Stream(oracle, 0, 1000)
    _, apart = drawn(stream, encoder(oracle), 9)
    assert stream.ended
    assert apart is not None
    assert 15 < apart.n_rows < 80  # a tenth, since nobody knew that it would end


def test_many_are_set_apart_where_many_are_wanted() -> None:
    oracle = array(1000)
    learned, apart = drawn(Stream(oracle, 0, 600), encoder(oracle), 6)
    assert apart is not None
    assert 550 < apart.n_rows <= 600
    assert np.unique(learned).size + apart.n_rows == 1000


# Sources in blocks: rows that certify and rows that test are drawn from all of them.

ROWS, CLASSES = 4000, np.array([0, 1])


def divided(folder: Path, apart: int, testing: int, seed: int = 3) -> tuple[BlockRows, RowEncoder]:
    X, y = noisy(ROWS)
    oracle = ParquetOracle(write_parquet(folder / "data", X, y, group=100), "y", seed)
    made, encoder = BlockRows(oracle, seed, apart, testing), RowEncoder(CLASSES, None)
    made.divide()
    made.encode(encoder)
    return made, encoder


def test_both_kinds_of_rows_come_from_all_blocks(tmp_path: Path) -> None:
    made, encoder = divided(tmp_path, 400, 200)
    certifying, testing = made.apart(encoder), made.testing
    assert certifying is not None
    assert testing is not None
    for part, wanted in ((certifying, 400), (testing, 200)):
        assert abs(part.n_rows - wanted) < 5 * wanted**0.5
        blocks = np.bincount((part.rows >> np.uint64(32)).astype(np.int64), minlength=42)
        assert stats.chisquare(blocks).pvalue > 1e-4
    assert not np.isin(certifying.rows, testing.rows).any()


def test_neither_kind_is_offered_or_shown_to_the_bins(tmp_path: Path) -> None:
    made, encoder = divided(tmp_path, 400, 200)
    apart = np.concatenate([made.apart(encoder).rows, made.testing.rows])  # type: ignore[union-attr]
    shown = sum(table.n_rows for table in made.peek(ROWS))
    assert shown == ROWS - apart.size
    offered = made.offer(np.uint64(5), 1.0)
    seen = 0
    while seen < 2 * ROWS:
        for offer in next(offered):
            seen += offer.batch.n_rows
            left = made.set_apart(encoder, offer)
            assert left is not None
            assert not np.isin(offer.batch.rows[left], apart).any()
            assert np.isin(offer.batch.rows[~left], apart).all()
            assert not (offer.kinds == FRESH).any()


def test_reading_them_does_not_move_the_source(tmp_path: Path) -> None:
    X, y = noisy(ROWS)
    oracle = ParquetOracle(write_parquet(tmp_path / "data", X, y, group=100), "y", 1)
    held = BytesHeld(oracle)
    oracle.draw(130)
    expected = ParquetOracle(tmp_path / "data", "y", 1)
    expected.draw(130)
    BlockRows(oracle, 0, 100, 100).divide()
    np.testing.assert_array_equal(oracle.draw(50).rows, expected.draw(50).rows)
    assert held.most <= 3 * oracle.largest_block


@pytest.mark.parametrize("apart", [0, 3999])
def test_some_rows_are_always_left_to_learn_from(apart: int, tmp_path: Path) -> None:
    made, _ = divided(tmp_path, apart, 400)
    rows = np.arange(ROWS * 10, dtype=np.uint64)
    assert np.count_nonzero(~made._may_set_apart(rows)) > 0


# Rows of a stream are recognised by their content.


@pytest.mark.parametrize("sizes", [[1], [7, 2], [30]])
def test_parts_change_nothing(sizes: list[int]) -> None:
    rows = np.array([*range(20), 5, *range(20, 29)], dtype=np.uint64)
    seen, made, at = [], Arrivals(), 0
    for size in sizes * 30:
        seen.append(made.first_time(rows[at : at + size]))
        at += size
    np.testing.assert_array_equal(np.concatenate(seen), np.arange(rows.size) < 20)
    assert made.repeated


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrivals, "MAX_HASHES", 10)
    made = Arrivals()
    assert made.first_time(np.arange(50, dtype=np.uint64)).all()
    assert made.known.size == 10
    assert made.first_time(np.array([45], dtype=np.uint64)).all()
    assert not made.first_time(np.array([60, 46], dtype=np.uint64), np.array([60], np.uint64)).any()


@pytest.mark.parametrize("sizes", [[1], [7, 90], [5000]])
def test_the_alarm_does_not_depend_on_batches_or_checkpoints(sizes: list[int]) -> None:
    generator = np.random.default_rng(0)
    rows = generator.permutation(np.tile(np.arange(600, dtype=np.uint64), 3))
    whole, made, at = RepeatAlarm(), RepeatAlarm(), 0
    whole.look(rows)
    for size in sizes * (rows.size // sum(sizes) + 1):
        made.look(rows[at : at + size])
        at += size
        state, made = made.state(), RepeatAlarm()
        made.restore(state)
    assert vars(made.overlap) == vars(whole.overlap)
    assert made.suspicious == whole.suspicious
    for name, values in whole.state().items():
        np.testing.assert_array_equal(made.state()[name], values)


@each_value
@pytest.mark.parametrize("epoch", [130, 300, 3000, 100_000])
@pytest.mark.parametrize("shuffled", [True, False])
def test_the_alarm_of_rows_that_come_again(epoch: int, shuffled: bool) -> None:
    for seed in range(min(10, 2 + 10_000 // epoch)):
        generator = np.random.default_rng(seed)
        rows = generator.integers(2**40, size=epoch).astype(np.uint64)
        once = RepeatAlarm()
        once.look(rows)
        assert not once.suspicious
        for share, times in ((0.3, 1), (1.0, 1), (1.0, 5)):
            made = RepeatAlarm()
            made.look(rows)
            for _ in range(times):
                order = generator.permutation(epoch) if shuffled else np.arange(epoch)
                made.look(rows[order[: int(share * epoch)]])
            assert made.suspicious, (seed, share, times)


def test_the_alarm_stays_on_when_other_rows_follow() -> None:
    generator, made = np.random.default_rng(0), RepeatAlarm()
    rows = np.arange(200, dtype=np.uint64)
    for batch in (rows, rows, generator.integers(2**40, size=100_000).astype(np.uint64)):
        made.look(batch)
    assert made.suspicious
    assert not made.overlap.suspicious  # the last rows alone are all new


@several_runs(40, 400)
@pytest.mark.parametrize("kind", ["uniform", "zipf", "atom", "clumps"])
def test_no_alarm_for_draws_that_repeat_by_themselves(kind: str, runs: int) -> None:
    for seed in range(runs):
        generator = np.random.default_rng(seed)
        count = int(10 ** generator.uniform(2, 4))
        if kind == "uniform":
            rows = generator.integers(int(count ** generator.uniform(0.5, 2)), size=count)
        elif kind == "zipf":
            rows = generator.zipf(generator.uniform(1.1, 3), size=count)
        elif kind == "atom":
            heavy = generator.random(count) < generator.random()
            rows = np.where(heavy, 0, generator.integers(2**40, size=count))
        else:  # each row is sent again at once, as by a client that tries twice
            rows = generator.integers(2**40, size=count).repeat(2)
        made = RepeatAlarm()
        made.look(rows.astype(np.uint64))
        assert not made.suspicious, seed


@pytest.mark.parametrize("counts", [[-1, 0, 0, 0], [40, 9, 0, 0], [40, 8, 9, 0], [40, 8, -1, 0]])
def test_counts_of_an_alarm_that_cannot_be_are_refused(counts: list[int]) -> None:
    made = RepeatAlarm()
    made.look(np.arange(40, dtype=np.uint64))
    state = made.state() | {"rows_compared": np.array(counts, dtype=np.int64)}
    with pytest.raises(ValueError, match="rows"):
        RepeatAlarm().restore(state)


# Equal rows of an array and of blocks: one of them, where they are one example.


@pytest.mark.parametrize("kind", ["array", "float32", "csr", "frame"])
def test_one_row_of_every_example_of_an_array_is_left(kind: str) -> None:
    generator = np.random.default_rng(0)
    X = generator.integers(3, size=(1300, 3)).astype(np.float64)
    X[5] = np.nan
    X[6] = np.nan
    X[700:, 0] += np.nextafter(1.0, 2.0)  # another double, but the same 32-bit float
    X[690, 0], X[691, 0] = 0.0, -0.0
    convert: dict[str, Callable[[Any], Any]] = {
        "array": np.asarray,
        "float32": lambda X: X.astype(np.float32),
        "csr": sparse.csr_array,
        "frame": lambda X: pa.table({f"x{j}": X[:, j] for j in range(3)}),
    }
    oracle = ArrayOracle(convert[kind](X), np.arange(1300))
    with pytest.warns(InputWarning, match="rows are not counted"):
        left = arrivals.without_copies(oracle)
    kept = left.take(np.arange(left.n_rows)).labels
    values: NDArray[Any] = np.where(np.isnan(X), -9.0, X) + 0.0
    values = values.astype(np.float32) if kind == "float32" else values
    distinct = np.unique(values, axis=0)
    assert left.n_rows == len(distinct)
    np.testing.assert_array_equal(np.unique(values[kept], axis=0), distinct)


def test_blocks_set_one_copy_apart_and_learn_from_none(tmp_path: Path) -> None:
    X, y = noisy(500)
    rows = np.random.default_rng(0).integers(500, size=ROWS)
    oracle = ParquetOracle(write_parquet(tmp_path / "data", X[rows], y[rows], group=100), "y", 3)
    made, encoder = BlockRows(oracle, 3, 800, 400, "distinct"), RowEncoder(CLASSES, None)
    made.divide()
    made.encode(encoder)
    certifying, testing = made.apart(encoder), made.testing
    assert made.distinct
    assert certifying is not None
    assert testing is not None
    apart = [part.table.rows() for part in (certifying, testing)]
    assert all(len(np.unique(part, axis=0)) == len(part) for part in apart)
    assert 60 < len(apart[0]) < 140  # a fifth of 500 examples
    assert 30 < len(apart[1]) < 80
    seen = {tuple(row) for part in apart for row in part}
    assert len(seen) == len(apart[0]) + len(apart[1])
    offered = made.offer(np.uint64(5), 1.0)
    learned = 0
    while learned < ROWS:
        for offer in next(offered):
            left = made.set_apart(encoder, offer)
            assert left is not None
            taught = offer.batch.take(np.flatnonzero(left)).read().table.rows()
            assert not seen & {tuple(row) for row in taught}
            learned += len(taught)
