"""Dates in data frames become the same columns as dates in files."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from pacboost import BoostClassifier, StrongClassifier, load
from pacboost.sources.csv import read_csv
from pacboost.sources.dataframe import FrameTable, with_dates
from pacboost.sources.mixed import MixedFeatures

TIMES = pd.to_datetime(["2024-01-31 08:30", "1999-12-31 00:00", None, "2024-02-29 23:59"])
FRAME = pd.DataFrame(
    {
        "when": TIMES,
        "wait": pd.to_timedelta(["1 days", "90 s", None, "0 s"]),
        "label": ["x", "y", "x", "y"],
    }
)
KINDS: list[Callable[[Any], Any]] = [lambda f: f, pl.from_pandas, pa.Table.from_pandas]


@pytest.mark.parametrize("make", KINDS, ids=["pandas", "polars", "arrow"])
def test_frames_read_as_files_do(tmp_path: Path, make: Callable[[Any], Any]) -> None:
    path = tmp_path / "rows.parquet"
    FRAME.to_parquet(path)
    read = read_csv(path, "label").table
    table = FrameTable(with_dates(make(FRAME.drop(columns="label"))))
    assert table.names == read.names
    np.testing.assert_allclose(table.rows(), read.rows())
    np.testing.assert_array_equal(table.rows()[:, -1], [86_400, 90, np.nan, 0])


def test_a_frame_without_dates_is_given_back() -> None:
    frame = pd.DataFrame({"a": [1]})
    assert with_dates(frame) is frame


def test_local_clocks_are_taken_as_they_read() -> None:
    frame = pd.DataFrame({"when": TIMES[:2].tz_localize("Asia/Tokyo")})
    np.testing.assert_array_equal(FrameTable(with_dates(frame)).rows()[:, 3], [8, 0])


def test_estimators_learn_from_dates() -> None:
    generator = np.random.default_rng(0)
    hours = generator.integers(0, 17_000, 400)
    when = np.datetime64("2023-01-01T00:00", "s") + hours.astype("timedelta64[h]")
    frame = pd.DataFrame({"when": when, "x": generator.normal(size=400)})
    y = np.where(hours % 24 > 12, "late", "early")
    for model in (BoostClassifier(random_state=0), StrongClassifier(random_state=0)):
        model.fit(frame, y)
        assert "when (hour)" in model.feature_names_in_.tolist()
        assert model.score(frame, y) > 0.95
        assert (model.predict(pl.from_pandas(frame)) == model.predict(frame)).all()


def test_a_fit_on_days_predicts_times() -> None:
    frame = pl.DataFrame({"when": [date(2024, 1, 1) + timedelta(k) for k in range(60)]})
    model = BoostClassifier(random_state=0).fit(frame, [0] * 30 + [1] * 30)
    times = frame.with_columns(pl.col("when").cast(pl.Datetime))
    assert (model.predict(times) == model.predict(frame)).all()


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_dates_stand_beside_texts(kind: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    days = np.datetime64("2024-01-01") + rng.integers(0, 366, 300)
    late = days >= np.datetime64("2024-07-01")
    said = [f"please look at order number {k}" for k in range(300)]
    rows = kind({"bought": days.astype("datetime64[ms]"), "said": said})
    model = StrongClassifier(n_estimators=20, text_columns=["said"], random_state=0)
    model.fit(rows, np.where(late, "late", "early"))
    assert (model.predict(rows) == np.where(late, "late", "early")).mean() > 0.95
    assert isinstance(model.model_.text, MixedFeatures)
    assert "bought (month)" in model.model_.text.names
    model.save(tmp_path / "m.pacb")
    again = load(tmp_path / "m.pacb")
    assert (again.predict(rows) == model.predict(rows)).all()
