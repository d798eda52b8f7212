"""Candidates of a stream: groups, rows set apart, and what counts as fresh."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from pacboost.boosters.logit import Logit
from pacboost.sources.oracles.arrays import ArrayOracle
from pacboost.sources.oracles.stream import StreamOracle
from pacboost.theory.sampling import WorldOracle
from pacboost.training.filtering import candidates
from pacboost.training.filtering.candidates import AGAIN, FRESH, Offer, key_of
from pacboost.training.filtering.refilling import Refilling
from pacboost.training.filtering.rows import EncodedRows, RowEncoder
from pacboost.training.filtering.stream import Stream
from tests.training.filtering.setups import Choppy, cube, encoder, numbers_of, vote_so_far

KEY = key_of(0)


def array(rows: int, seed: int = 0, *, replace: bool = False) -> ArrayOracle:
    X, y = cube().draw(rows, 1)
    return ArrayOracle(X, y, seed, replace=replace)


@pytest.fixture(autouse=True)
def small_helpings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidates, "MOST_AT_ONCE", 500)
    monkeypatch.setattr(candidates, "LEAST_AT_ONCE", 100)


def groups(stream: Stream, count: int) -> list[list[Offer]]:
    offered = stream.offer(KEY, 1.0)
    return [list(group) for _, group in zip(range(count), offered, strict=False)]


def rows_of(group: list[Offer]) -> list[int]:
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
    for _ in zip(range(8), refilling.groups(), strict=False):
        pass
    kept = refilling.kept()
    assert kept is not None
    seen = np.bincount(kept.rows.astype(np.int64), minlength=16)
    assert stats.chisquare(seen).pvalue > 1e-4  # all weigh 1/2, so all come as often


def test_a_row_drawn_again_is_decided_again() -> None:
    oracle = array(16, replace=True)
    refilling = Refilling(
        Stream(oracle, 0, 0), encoder(oracle), vote_so_far(Logit(), 0), KEY, 1.0, 0.01
    )
    for _ in zip(range(8), refilling.groups(), strict=False):
        pass
    assert 0.4 < refilling.accepted / refilling.draws < 0.6
    kept = refilling.kept()
    assert kept is not None
    assert (np.bincount(kept.rows.astype(np.int64), minlength=16) > 50).all()


# -- rows set apart


def drawn(
    stream: Stream, own: RowEncoder, count: int
) -> tuple[NDArray[np.uint64], EncodedRows | None]:
    """Fill with every row there is, then ask for those that were set apart."""
    refilling = Refilling(stream, own, vote_so_far(Logit(), 0), KEY, 1e-9, 0.01)
    for _ in zip(range(count), refilling.groups(), strict=False):
        pass
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
    assert stream._kept_back(apart.rows)[early].all()


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


def test_none_are_set_apart_of_draws_with_replacement() -> None:
    oracle = array(1000, replace=True)
    assert drawn(Stream(oracle, 0, 100), encoder(oracle), 3)[1] is None


def test_none_are_set_apart_if_none_are_wanted() -> None:
    oracle = array(1000)
    learned, apart = drawn(Stream(oracle, 0, 0), encoder(oracle), 2)
    assert apart is None
    assert np.unique(learned).size == 1000
