"""The same seed and source give the same model, whatever has no part in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from pacboost.estimators.filtering import filter_setup
from pacboost.models.file.format import model_bytes
from pacboost.sources.oracles.arrow import ParquetOracle
from pacboost.sources.oracles.stream import StreamOracle
from pacboost.theory.sampling import WorldOracle
from pacboost.theory.worlds import Halfspaces, LabelNoise, hastie
from pacboost.training.filtering import candidates
from tests.estimators.filter_sources import noisy, small, write_parquet
from tests.training.filtering.setups import Choppy

WAYS: dict[str, dict[str, Any]] = {
    "trees": {"n_estimators": 25},
    "stumps": {"booster": "mada", "learner": "stump", "n_estimators": 25},
    "path": {"booster": "projection", "n_estimators": 10},
    "tested": {
        "booster": "mada",
        "learner": "stump",
        "edge": 0.2,
        "epsilon": 0.4,
        "n_estimators": 3,
    },
}
EACH = pytest.mark.parametrize("told", WAYS.values(), ids=WAYS)


@pytest.fixture(autouse=True)
def small_helpings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidates, "MOST_AT_ONCE", 2000)
    monkeypatch.setattr(filter_setup, "ROWS_FOR_BINS", 1500)


def bytes_of(source: Any, target: str | None = None, **told: Any) -> bytes:
    model = small(**told).fit_source(source, target)
    return model_bytes(model.model_) + model.certificate_.to_json().encode()


@EACH
def test_threads_and_repetition_change_nothing(told: dict[str, Any]) -> None:
    X, y = noisy(70_000)  # more than one span of rows
    told = {**told, "n_estimators": 6, "sample_rows": 40_000}
    first = bytes_of((X, y), n_jobs=1, **told)
    assert bytes_of((X, y), n_jobs=2, **told) == first
    assert bytes_of((X, y), n_jobs=1, **told) == first
    assert bytes_of((X, y), n_jobs=1, **{**told, "random_state": 1}) != first


def test_threads_change_nothing_with_three_classes() -> None:
    X, y = noisy(70_000, classes=3)
    told: dict[str, Any] = {"n_estimators": 5, "sample_rows": 40_000}
    assert bytes_of((X, y), n_jobs=2, **told) == bytes_of((X, y), n_jobs=1, **told)


@EACH
def test_sizes_of_batches_change_nothing(told: dict[str, Any], tmp_path: Path) -> None:
    X, y = noisy(6000)
    folder = write_parquet(tmp_path / "data", X, y)

    def oracle() -> ParquetOracle:
        return ParquetOracle(folder, "y", 0)

    first = bytes_of(oracle(), **told)
    for sizes in ([100], [1999, 1], [13, 700]):
        assert bytes_of(Choppy(oracle(), sizes), **told) == first


def test_sizes_of_batches_of_a_world_change_nothing() -> None:
    world = LabelNoise(hastie(4), 0.1)
    first = bytes_of(WorldOracle(world, 3), n_certify=200)
    for sizes in ([64], [5000, 3]):
        assert bytes_of(Choppy(WorldOracle(world, 3), sizes), n_certify=200) == first


@EACH
def test_the_order_in_which_files_are_listed_changes_nothing(
    told: dict[str, Any], tmp_path: Path
) -> None:
    X, y = noisy(5000)
    folder = write_parquet(tmp_path / "data", X, y, files=4)
    files = sorted(folder.glob("*.parquet"))
    first = bytes_of(folder, "y", **told)
    assert bytes_of(files, "y", **told) == first
    assert bytes_of(files[::-1], "y", **told) == first
    assert bytes_of(f"{folder}/*.parquet", "y", **told) == first


def test_other_seeds_draw_other_rows(tmp_path: Path) -> None:
    X, y = noisy(5000)
    folder = write_parquet(tmp_path / "data", X, y)
    models = {bytes_of(folder, "y", random_state=seed) for seed in range(4)}
    assert len(models) == 4
    worlds = {bytes_of(Halfspaces((1.0, 2.0)), n_certify=99, random_state=k) for k in range(4)}
    assert len(worlds) == 4


def test_kinds_of_arrays_change_nothing() -> None:
    X, y = noisy(4000)
    names = [f"x{j}" for j in range(4)]
    first = small(n_estimators=20).fit(X, y)
    for other in (
        X.astype(np.float32),
        np.asfortranarray(X),
        pd.DataFrame(X, columns=names),
        pl.DataFrame(X, schema=names),
    ):
        assert model_bytes(small(n_estimators=20).fit(other, y).model_) == model_bytes(first.model_)
    assert bytes_of((X, y), n_estimators=20).startswith(model_bytes(first.model_))


def test_an_iterator_is_a_list_that_ends() -> None:
    X, y = noisy(9000)
    batches = [(X[k : k + 700], y[k : k + 700]) for k in range(0, 9000, 700)]
    told: dict[str, Any] = {"n_estimators": 3}  # which the first pass has rows enough for
    assert bytes_of(iter(batches), **told) == bytes_of(StreamOracle(batches), **told)


def test_clocks_have_no_part_in_it() -> None:
    X, y = noisy(3000)
    slow = small(callbacks=[lambda event: bool(sum(range(20_000)) < 0)]).fit(X, y)
    assert model_bytes(slow.model_) == model_bytes(small().fit(X, y).model_)
