"""Rows asked at random: the record, what it refuses, and that every row has the same chance."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pacboost import draw
from pacboost.errors import DataError, FileError, ParameterError
from pacboost.studies.draw import Draw

POOL = pd.DataFrame({"id": range(50), "text": [f"row {k % 7}" for k in range(50)]})


def test_the_same_seed_draws_the_same_rows() -> None:
    one, other = draw(POOL, 9, seed=4), draw(POOL, 9, seed=4)
    assert one == other != draw(POOL, 9, seed=5)
    assert len(set(one.rows)) == 9
    assert one.probability == 9 / 50
    assert one.take(POOL)["id"].tolist() == list(one.rows)


def test_more_rows_begin_with_the_same() -> None:
    assert draw(POOL, 20).rows[:9] == draw(POOL, 9).rows


def test_every_row_has_the_same_chance() -> None:
    counts = np.zeros(50)
    for seed in range(1_000):
        counts[list(draw(POOL, 10, seed=seed).rows)] += 1
    deviation = np.sqrt(1_000 * 0.2 * 0.8)
    assert abs(counts - 200).max() < 4.5 * deviation


def test_labelled_rows_are_found_in_any_order_and_spelling() -> None:
    drawn = draw(POOL, 12)
    labelled = drawn.take(POOL).assign(human="ok")[::-1]
    assert drawn.order(labelled).tolist() == list(range(12))[::-1]
    assert drawn.order(labelled.assign(id=labelled["id"].astype(float))).size == 12


def test_equal_rows_are_told_apart_by_their_number() -> None:
    pool = pd.DataFrame({"text": ["a", "a", "b", "a"]})
    drawn = draw(pool, 3)
    labelled = drawn.take(pool)
    assert drawn.order(labelled).tolist() == [0, 1, 2]
    with pytest.raises(DataError, match="were not drawn"):
        drawn.order(pool)


def test_rows_that_nobody_drew_and_gaps_are_refused() -> None:
    drawn = draw(POOL, 12)
    asked = drawn.take(POOL)
    assert drawn.order(asked[:5]).size == 5  # labelling has ended early
    others = POOL[~POOL["id"].isin(asked["id"])]
    with pytest.raises(DataError, match="1 of 13 rows were not drawn"):
        drawn.order(pd.concat([asked, others[:1]]))
    with pytest.raises(DataError, match="were not drawn"):
        drawn.order(asked.assign(text="another"))
    with pytest.raises(DataError, match="1 rows of the draw have no label"):
        drawn.order(asked.drop(asked.index[3]))
    with pytest.raises(DataError, match="'text'"):
        drawn.order(asked[["id"]])


def test_a_record_is_saved_and_checked(tmp_path: Path) -> None:
    drawn, path = draw(POOL, 12), tmp_path / "ask.draw.json"
    drawn.save(path)
    assert Draw.load(path) == drawn
    replace(drawn, seed=1).save(path)
    with pytest.raises(FileError, match="contradicts itself"):
        Draw.load(path)
    path.write_text("[]")
    with pytest.raises(FileError, match="not the record of a draw"):
        Draw.load(path)


def test_another_pool_is_refused() -> None:
    drawn = draw(POOL, 12)
    with pytest.raises(DataError, match="not the pool"):
        drawn.take(POOL.assign(id=POOL["id"] + 1))
    with pytest.raises(ParameterError, match="the pool has 50"):
        draw(POOL, 51)
