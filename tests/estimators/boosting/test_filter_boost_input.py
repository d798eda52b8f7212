"""What goes wrong, and what FilterBoostClassifier says about it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pacboost.errors import DataError, FileError, OneClassWarning, ParameterError
from pacboost.estimators.filtering import filter_setup
from pacboost.sources.oracles.arrow import ParquetOracle
from pacboost.theory.sampling import WorldOracle
from pacboost.theory.worlds import Halfspaces
from pacboost.training.filtering import candidates
from tests.estimators.filter_sources import noisy, small, write_parquet


@pytest.fixture(autouse=True)
def small_helpings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidates, "MOST_AT_ONCE", 1000)
    monkeypatch.setattr(filter_setup, "ROWS_FOR_BINS", 1000)


# -- parameters


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ({"epsilon": 0}, "epsilon is 0"),
        ({"epsilon": 1.0}, "epsilon is 1.0; it must lie between 0 and 1"),
        ({"epsilon": "much"}, "epsilon is 'much'; it must be a number"),
        ({"epsilon": float("nan")}, "epsilon is nan"),
        ({"delta": 0.0}, "delta"),
        ({"delta": 1}, "delta"),
        ({"delta": None}, "delta is None; it must be a number"),
        ({"edge": 0.0}, "edge is 0.0"),
        ({"edge": 1.5}, "edge is 1.5"),
        ({"edge": -0.2}, "edge is -0.2"),
        ({"edge": "big"}, "edge is 'big'; it must be a number"),
        ({"edge": 0.0, "booster": "measure"}, "edge is 0.0"),
        ({"epsilon": 2.0, "booster": "smooth"}, "epsilon is 2.0"),
        ({"n_estimators": 0}, "n_estimators is 0"),
        ({"n_estimators": 2.5}, "n_estimators is 2.5"),
        ({"sample_rows": 0}, "sample_rows is 0"),
        ({"n_certify": -1}, "n_certify is -1"),
        ({"n_certify": 3000}, "n_certify is 3000; it must be 0 or more, and leave rows"),
        ({"n_certify": 0.1}, "n_certify is 0.1; it must be a whole number"),
        ({"memory": "lots"}, "memory is 'lots'"),
        ({"memory": "200MB"}, "memory is 200 MB, but this process takes"),
        ({"time_limit": "soon"}, "time_limit is 'soon'"),
        ({"time_limit": 0}, "time_limit is 0"),
        ({"booster": "adaboost"}, "whose weights are no chances; it may be .*'logit'"),
        ({"booster": "nobody"}, "nobody"),
        ({"learner": "nobody"}, "nobody"),
        ({"max_bins": 1}, "max_bins is 1"),
        ({"learning_rate": 0}, "learning_rate is 0"),
        ({"learning_rate": 0.5, "booster": "measure"}, "no parameter 'learning_rate'"),
        ({"max_leaves": 4, "learner": "stump"}, "no parameter 'max_leaves'"),
        ({"callbacks": 3}, "callbacks is 3"),
        ({"n_jobs": 0}, "n_jobs is 0"),
    ],
)
def test_parameters_out_of_range(wrong: dict[str, Any], complaint: str) -> None:
    model = small(**wrong)
    with pytest.raises(ParameterError, match=complaint):
        model.fit(*noisy(3000))
    assert not hasattr(model, "model_")


@pytest.mark.parametrize("booster", ["mada", "measure", "smooth", "projection"])
def test_three_classes_need_logit(booster: str) -> None:
    X, y = noisy(2000, classes=3)
    with pytest.raises(ParameterError, match=r"3 classes.*booster='logit' with edge=None"):
        small(booster).fit(X, y)
    with pytest.raises(ParameterError, match="3 classes"):
        small(edge=0.1).fit(X, y)
    assert not small(booster).__sklearn_tags__().classifier_tags.multi_class


def test_a_checkpoint_of_black_boxes_is_refused(tmp_path: Path) -> None:
    def nothing(X: Any, y: Any, weights: Any) -> Any:
        return lambda rows: rows[:, 0]

    with pytest.raises(ParameterError, match="black boxes are not written"):
        small("mada", nothing, checkpoint=tmp_path / "run").fit(*noisy(1000))


def test_a_checkpoint_in_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="there is no folder"):
        small(checkpoint=tmp_path / "not" / "there").fit(*noisy(1000))


# -- rows


def test_a_label_that_comes_late() -> None:
    X, y = noisy(4000)
    y = y.astype(str)
    y[3999] = "new"
    stream = [(X[:2000], y[:2000]), (X[2000:], y[2000:])]
    with pytest.raises(DataError, match=r"batch 1 of the stream, row 1999: has the label 'new'"):
        small(n_estimators=200).fit_source(stream)
    model = small(n_estimators=30).fit_source(stream, classes=["0", "1", "new"])
    assert model.classes_.tolist() == ["0", "1", "new"]


@pytest.mark.filterwarnings("ignore::pacboost.errors.OneClassWarning")
def test_classes_that_never_come_are_no_harm() -> None:
    X, y = noisy(2000)
    model = small().fit_source((X, y), classes=[0, 1, 2])
    assert model.predict_proba(X).shape == (2000, 3)
    assert (model.predict(X) == y).mean() > 0.7


def test_labels_of_another_kind_than_the_classes() -> None:
    X, y = noisy(1000)
    with pytest.raises(DataError, match=r"has the label \d, which is not among the classes"):
        small().fit_source([(X, y)], classes=["0", "1"])


def test_one_row_at_a_time() -> None:
    X, y = noisy(500)
    for told in ({}, {"booster": "mada"}, {"learner": "stump"}):
        model = small(sample_rows=1, n_estimators=5, **told).fit(X, y)
        assert model.predict(X).shape == y.shape
        assert 0 < model.certificate_.value <= 1


@pytest.mark.parametrize("told", [{}, {"booster": "mada"}, {"edge": 0.2, "learner": "stump"}])
def test_one_class_only(told: dict[str, Any]) -> None:
    X = noisy(500)[0]
    model = small(**told)
    with pytest.warns(OneClassWarning, match="one class only"):
        model.fit(X, np.full(500, "a"))
    assert (model.predict(X) == "a").all()
    assert model.predict_proba(X).shape == (500, 1)
    assert model.ledger_.stopped == "there is one class only"


@pytest.mark.filterwarnings("ignore::pacboost.errors.NoEdgeWarning")
@pytest.mark.parametrize(
    "told", [{}, {"booster": "mada", "learner": "stump"}, {"booster": "measure"}]
)
def test_constant_features(told: dict[str, Any]) -> None:
    y = np.arange(900) % 3 == 0
    model = small(**told).fit(np.ones((900, 2)), y)
    assert model.predict(np.ones((3, 2))).shape == (3,)
    assert model.certificate_.value > 0.25


def test_some_constant_and_missing_features() -> None:
    X, y = noisy(3000)
    X[:, 3] = np.nan
    X[::7, 0] = np.nan
    model = small().fit(np.column_stack([X, np.ones(3000)]), y)
    assert model.score(np.column_stack([X, np.ones(3000)]), y) > 0.7


def test_text_columns_are_refused() -> None:
    X, y = noisy(300)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(word="yes")
    with pytest.raises(DataError, match="word"):
        small().fit(frame, y)
    with pytest.raises(DataError, match="text"):
        small().fit(X.astype(str).astype(object) + "x", y)


def test_infinite_values_name_their_place() -> None:
    X, y = noisy(300)
    X[17, 2] = np.inf
    with pytest.raises(DataError, match="infin"):
        small().fit(X, y)
    with pytest.raises(DataError, match=r"row 17.*column 2"):
        small(n_certify=0).fit_source((X, y))


def test_large_arrays_are_checked_as_they_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(filter_setup, "CELLS_TO_CHECK", 1000)
    X, y = noisy(3000)
    checked = small().fit(X, y)
    assert checked.n_features_in_ == 4
    X[:, 1] = np.inf
    with pytest.raises(DataError, match=r"row \d+.*column 1"):
        small().fit(X, y)
    with pytest.raises(DataError, match="one for each"):
        small().fit(X, y[:-1])
    with pytest.raises(DataError, match="NaN"):
        small().fit(X, np.full(3000, np.nan))


@pytest.mark.filterwarnings("ignore::pacboost.errors.NoEdgeWarning")  # two rows, one of each
@pytest.mark.parametrize("rows", [1, 2, 3, 9])
def test_hardly_any_rows(rows: int) -> None:
    X, y = noisy(rows)
    y[0] = 1 - y[-1] if rows > 1 else y[0]
    if np.unique(y).size == 1:
        with pytest.warns(OneClassWarning):
            model = small().fit(X, y)
    else:
        model = small().fit(X, y)
    assert model.predict(X).shape == (rows,)


# -- sources


def test_an_empty_folder(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=str(tmp_path)):
        small().fit_source(tmp_path, "y")


def test_files_without_rows(tmp_path: Path) -> None:
    pq.write_table(pa.table({"x": [1.0], "y": [1]}).slice(0, 0), tmp_path / "a.parquet")
    with pytest.raises(DataError, match="no rows"):
        small().fit_source(tmp_path, "y")


def test_a_target_that_is_missing_in_one_file(tmp_path: Path) -> None:
    X, y = noisy(600)
    folder = write_parquet(tmp_path / "data", X, y)
    pq.write_table(pa.table({f"x{j}": X[:, j] for j in range(4)}), folder / "part9.parquet")
    with pytest.raises(DataError, match=r"part9.parquet.*'y'"):
        small().fit_source(folder, "y")


def test_a_stream_that_ends_early_keeps_what_it_has() -> None:
    X, y = noisy(2500)
    model = small(n_estimators=500).fit_source(iter([(X[:1500], y[:1500]), (X[1500:], y[1500:])]))
    assert model.ledger_.stopped == "the stream has ended"
    assert model.score(X, y) > 0.7
    assert model.certificate_.value < 0.5


def test_a_stream_that_raises_names_the_batch() -> None:
    X, y = noisy(3000)

    def broken() -> Iterator[Any]:
        yield X[:1500], y[:1500]
        raise OSError("the line is dead")

    with pytest.raises(DataError, match=r"batch 1 of the stream.*the line is dead") as caught:
        small(n_estimators=500).fit_source(broken())
    assert isinstance(caught.value.__cause__, OSError)


def test_a_stream_of_nothing() -> None:
    with pytest.raises(DataError, match="no batch at all"):
        small().fit_source(iter([]))


def test_blocks_that_memory_has_no_room_for(tmp_path: Path) -> None:
    X, y = noisy(3000)
    folder = write_parquet(tmp_path / "data", X, y)
    oracle = ParquetOracle(folder, "y", 0)
    oracle.largest_block = 10**9
    with pytest.raises(ParameterError, match=r"row group.*Allow at least.*smaller blocks"):
        small(memory="1GB").fit_source(oracle)


def test_memory_bounds_the_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(filter_setup, "rows_in", lambda *_, **__: 2500)
    X, y = noisy(20_000)
    for told in (None, 10_000):
        model = small(memory="9GB", sample_rows=told, n_estimators=40).fit(X, y)
        assert max(r.accepted for r in model.ledger_.refills) < 2500 * 1.4
    model = small(memory="9GB", sample_rows=500).fit(X, y)
    assert max(r.accepted for r in model.ledger_.refills) < 500 * 1.4


def test_a_world_that_was_drawn_from_goes_on_where_it_is() -> None:
    oracle = WorldOracle(Halfspaces((1.0, 2.0)), 0)
    oracle.draw(777)
    model = small(n_certify=100).fit_source(oracle)
    assert model.certificate_.value < 0.5
