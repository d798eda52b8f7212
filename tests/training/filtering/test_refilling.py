"""What the filter keeps is a sample of D_M, and what it measures is what there is."""

from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from pacboost.boosters.bounded_weights import FilteringBooster
from pacboost.boosters.filtering import FilterBoost, Mada
from pacboost.boosters.logit import Logit
from pacboost.numerics.sequences import kt_upper
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.oracles.arrays import ArrayOracle
from pacboost.theory.world_oracle import WorldOracle
from pacboost.training.filtering.candidates import FRESH, ArrayRows, key_of
from pacboost.training.filtering.refilling import Refilling
from pacboost.training.filtering.rows import ScoredBatch, VoteSoFar
from pacboost.training.filtering.stream import Stream
from tests.grids import each_value
from tests.training.filtering.setups import (
    BITS,
    EACH_BOOSTER,
    Choppy,
    coded,
    cube,
    encoder,
    numbers_of,
    vote_so_far,
    weights_of,
)

Floats = NDArray[np.float64]
DELTA = 1e-4


@dataclass(frozen=True)
class Squared(FilterBoost):
    """A broken twin: keeps rows with the square of their weight."""

    def chances(self, margins: Floats, rounds: int, signs: Any = None) -> Floats:
        return super().chances(margins, rounds, signs) ** 2


def filled(
    made: VoteSoFar, groups: int = 2, seed: int = 0, scale: float = 1.0
) -> tuple[Refilling, ScoredBatch]:
    oracle = WorldOracle(cube(), seed)
    refilling = Refilling(
        Stream(oracle, seed, 0), encoder(oracle), made, key_of(seed), scale, DELTA
    )
    list(islice(refilling.groups(), groups))
    kept = refilling.kept()
    assert kept is not None
    return refilling, kept


def p_value(kept: ScoredBatch, weights: Floats) -> float:
    """Compare how often each point of the cube was kept with D_M, by chi-square."""
    seen = np.bincount(numbers_of(kept.table), minlength=2**BITS)
    assert seen[weights == 0].sum() == 0
    there = weights > 0
    expected = weights[there] / weights.sum() * kept.n_rows
    return float(stats.chisquare(seen[there], expected).pvalue)


@each_value
@EACH_BOOSTER
@pytest.mark.parametrize("seed", [0, 1])
def test_kept_rows_are_drawn_by_weight(booster: FilteringBooster[Any], seed: int) -> None:
    made = vote_so_far(booster, seed=seed)
    refilling, kept = filled(made, seed=seed)
    weights = weights_of(made)
    assert p_value(kept, weights) > 1e-4
    mean = float(weights.mean())
    assert stats.binomtest(refilling.accepted, refilling.draws, mean).pvalue > 1e-4
    assert refilling.test.lower <= mean <= refilling.test.upper
    assert refilling.test.lower <= refilling.accepted / refilling.draws <= refilling.test.upper


@EACH_BOOSTER
def test_chances_may_be_scaled_and_capped(booster: FilteringBooster[Any]) -> None:
    """With a scale below some weights, those rows are all kept and weigh more than others."""
    made = vote_so_far(booster)
    weights = weights_of(made)
    scale = float(np.median(weights))
    _, kept = filled(made, scale=scale)
    capped = np.minimum(1.0, weights / scale)
    assert p_value(kept, capped) > 1e-4
    np.testing.assert_allclose(kept.odds, capped[numbers_of(kept.table)])
    np.testing.assert_allclose(kept.chances, weights[numbers_of(kept.table)])


def test_keeping_by_the_square_of_the_weight_is_caught() -> None:
    honest, twin = vote_so_far(FilterBoost()), vote_so_far(Squared())
    _, kept = filled(twin)
    assert p_value(kept, weights_of(honest)) < 1e-9
    _, kept = filled(honest)
    assert p_value(kept, weights_of(twin)) < 1e-9


@pytest.mark.parametrize("sizes", [[1000], [7, 300, 1], [4096]])
def test_batches_change_nothing(sizes: list[int]) -> None:
    made = vote_so_far(Logit())
    records, rows = [], []
    for oracle in (WorldOracle(cube(), 3), Choppy(WorldOracle(cube(), 3), sizes)):
        refilling = Refilling(Stream(oracle, 3, 50), encoder(oracle), made, key_of(1), 0.5, DELTA)
        next(refilling.groups())
        kept = refilling.kept()
        assert kept is not None
        rows.append(kept.rows)
        records.append(replace(refilling.record(0), seconds=0.0))
    np.testing.assert_array_equal(rows[0], rows[1])
    assert records[0] == records[1]


def test_the_record_counts_what_was_drawn() -> None:
    made, world = vote_so_far(Logit()), cube()
    refilling, kept = filled(made)
    X = world.domain()
    stands = made.score(coded(ArrayTable(X), world.truth(X)[:, None]))
    error = stands.wrong.mean()
    record = refilling.record(4)
    assert (record.number, record.rounds) == (4, len(made))
    assert record.draws == record.fresh == refilling.draws
    assert record.accepted == kept.n_rows
    assert record.acceptance == record.accepted / record.draws
    assert record.mean == pytest.approx(weights_of(made).mean(), abs=0.01)
    assert record.error == pytest.approx(error, abs=0.01)
    assert record.loss == pytest.approx(-np.log(1 - weights_of(made)).mean(), abs=0.02)
    assert record.smoothness == pytest.approx(1 / record.mean)
    assert record.mistakes == round(record.error * record.fresh)
    assert record.upper == kt_upper(record.mean * record.fresh, record.fresh, DELTA / 2)
    counted = kt_upper(float(record.mistakes), record.fresh, DELTA / 2)
    assert record.error_upper == pytest.approx(min(2 * record.upper, counted))
    assert record.delta == DELTA
    assert kept.mass / refilling.draws == pytest.approx(record.mean, abs=0.01)


# -- arrays, of which easy rows are seldom looked at


def pool_of(seed: int, rows: int = 4000) -> tuple[ArrayRows, NDArray[np.int64], ArrayOracle]:
    world = cube()
    X, y = world.draw(rows, seed)
    oracle = ArrayOracle(X, y, seed)
    made = ArrayRows(oracle, seed, 100, np.array([-1, 1], dtype=np.int8), 0.5)
    return made, X.astype(np.int64) @ (1 << np.arange(BITS)), oracle


def fill_pool(
    pool: ArrayRows, oracle: ArrayOracle, made: VoteSoFar, key: int, scale: float
) -> ScoredBatch:
    refilling = Refilling(pool, encoder(oracle), made, key_of(9, key), scale, DELTA)
    for _ in refilling.groups():
        pass
    kept = refilling.kept()
    assert kept is not None
    return kept


def mass_of_points(importance: bool, seed: int = 0, keys: int = 250) -> tuple[Floats, Floats]:
    """Estimate the weight on each point from many refills that know an older vote's weights.

    Returns the estimates, and by how many standard errors they are off what they should be.
    """
    before, now = (
        vote_so_far(FilterBoost(), rounds=16, seed=1),
        vote_so_far(FilterBoost(), rounds=3, seed=2),
    )
    pool, points, oracle = pool_of(seed)
    for key in range(8):  # until the rows kept back are used up
        fill_pool(pool, oracle, before, key, 0.4)
    state = pool.state()
    weights = weights_of(now)
    sums = np.zeros((keys, 2**BITS))
    scale = 0.9
    for key in range(keys):
        pool.restore(state, encoder(oracle))
        kept = fill_pool(pool, oracle, now, 100 + key, scale)
        odds = kept.odds if importance else np.minimum(1.0, kept.chances / scale)
        seen = numbers_of(kept.table)
        sums[key] = np.bincount(seen, kept.chances / odds, minlength=2**BITS)
    pool.restore(state, encoder(oracle))
    there = looked_at(pool)
    own = weights[points[there]]
    odds = np.minimum(1.0, np.minimum(own, pool._bounds()[pool.kinds[there]]) / scale)
    wanted = np.bincount(points[there], own, minlength=2**BITS)
    variance = np.bincount(points[there], own**2 * (1 - odds) / odds, minlength=2**BITS)
    error = np.sqrt(variance / keys) + 1e-9
    return sums.mean(axis=0), (sums.mean(axis=0) - wanted) / error


def looked_at(pool: ArrayRows) -> NDArray[np.int64]:
    """Rows that a refill may look at now: all but those that are set apart or kept back."""
    fresh = pool._fresh(key_of(9, 100))
    able = pool._bounds()[pool.kinds] > 0
    able[fresh] = True
    assert fresh.size == 0, "the tests below count on all kept back rows being used up"
    return np.flatnonzero(able)


def test_sums_over_kept_rows_are_unbiased_whatever_is_known_of_them() -> None:
    _, off = mass_of_points(importance=True)
    assert np.abs(off).max() < 4.5


def test_forgetting_how_rows_came_is_caught() -> None:
    _, off = mass_of_points(importance=False)
    assert np.abs(off).max() > 8


def test_rows_set_apart_are_never_offered() -> None:
    pool, _, oracle = pool_of(3)
    apart = pool.apart(encoder(oracle))
    assert apart is not None
    assert apart.n_rows == 100
    made = vote_so_far(Logit())
    for key in range(6):
        kept = fill_pool(pool, oracle, made, key, 0.01)
        assert not np.isin(kept.rows, apart.rows).any()
    again = pool.apart(encoder(oracle))
    assert again is not None
    np.testing.assert_array_equal(again.rows, apart.rows)


def test_rows_apart_are_not_shown_to_the_bins() -> None:
    X = np.arange(5000.0)[:, None]
    oracle = ArrayOracle(X, np.where(np.arange(5000) % 2, 1, -1), 0)
    pool = ArrayRows(oracle, 0, 700, np.array([-1, 1]), 0.5)
    shown = pool.some(10_000).rows()[:, 0]
    apart = pool.apart(encoder(oracle, 1))
    assert apart is not None
    assert apart.n_rows == 700
    assert not np.isin(shown, apart.rows).any()
    fresh = next(iter(next(pool.offer(key_of(0), 1.0))))
    assert (fresh.kinds == FRESH).all()
    assert not np.isin(shown, fresh.batch.rows).any()


def test_easy_rows_cost_next_to_nothing() -> None:
    """Once rows are known to be easy, a refill looks at few more than it keeps."""
    pool, points, oracle = pool_of(5, rows=20_000)
    made = vote_so_far(Mada(), rounds=40)
    for key in range(3):
        kept = fill_pool(pool, oracle, made, key, 1.0)
    refilling = Refilling(pool, encoder(oracle), made, key_of(8), 1.0, DELTA)
    for _ in refilling.groups():
        pass
    assert points.size == 20_000
    assert refilling.draws < 20_000 * 0.6
    assert refilling.accepted == pytest.approx(kept.n_rows, rel=0.2)
