"""Sources in blocks: rows that certify and rows that test are drawn from all of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from pacboost.sources.oracles.arrow import ParquetOracle
from pacboost.training.filtering.block_rows import BlockRows, rows_for_tests
from pacboost.training.filtering.row_encoder import RowEncoder
from tests.estimators.filter_sources import noisy, write_parquet

ROWS, CLASSES = 4000, np.array([0, 1])


def divided(folder: Path, apart: int, testing: int, seed: int = 3) -> tuple[BlockRows, RowEncoder]:
    X, y = noisy(ROWS)
    oracle = ParquetOracle(write_parquet(folder / "data", X, y, group=100), "y", seed)
    made, encoder = BlockRows(oracle, seed, apart, testing), RowEncoder(oracle, CLASSES, None)
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
            assert not offer.fresh.any()


def test_reading_them_does_not_move_the_source(tmp_path: Path) -> None:
    X, y = noisy(ROWS)
    oracle = ParquetOracle(write_parquet(tmp_path / "data", X, y, group=100), "y", 1)
    oracle.draw(130)
    expected = ParquetOracle(tmp_path / "data", "y", 1)
    expected.draw(130)
    BlockRows(oracle, 0, 100, 100).divide()
    np.testing.assert_array_equal(oracle.draw(50).rows, expected.draw(50).rows)
    assert oracle.most_bytes_held <= 3 * oracle.largest_block


@pytest.mark.parametrize("apart", [0, 3999])
def test_some_rows_are_always_left_to_learn_from(apart: int, tmp_path: Path) -> None:
    made, _ = divided(tmp_path, apart, 400)
    rows = np.arange(ROWS * 10, dtype=np.uint64)
    assert np.count_nonzero(~made._kept_back(rows)) > 0


def test_how_many_rows_test() -> None:
    assert rows_for_tests(50, None) == 5
    assert rows_for_tests(10**6, 0.5) == 10_000
    assert rows_for_tests(10**6, 1e-6) == 100_000
