"""Dask collections: models fitted on them, and predictions and certificates for them."""

from pathlib import Path
from typing import Any

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client

import pacboost
from pacboost.errors import DataError, ParameterError
from pacboost.estimators.inputs import gathering
from pacboost.questions import fetched_rows
from tests.cluster.clusters import bytes_of, forgets
from tests.estimators.filter_sources import noisy, small, write_parquet
from tests.grids import each_value

ROWS, GROUP = 4000, 1000


def frame(rows: int = ROWS, **more: Any) -> Any:
    X, y = noisy(rows)
    columns = {f"x{j}": X[:, j] for j in range(X.shape[1])}
    return dd.from_pandas(pd.DataFrame({**columns, "y": y, **more}), chunksize=GROUP, sort=False)


def test_a_data_frame_gives_the_model_of_its_parquet_files(
    tmp_path: Path, threads: Client, processes: Client
) -> None:
    X, y = noisy(ROWS)
    folder = write_parquet(tmp_path / "rows", X, y, files=2, group=GROUP)
    files = bytes_of(small().fit_source(folder, "y", client=False))
    for client in (False, threads, processes):
        model = small().fit_source(frame(), "y", client=client)
        assert bytes_of(model) == files
    assert forgets(threads)


def test_a_pair_and_fit_give_the_same_model(threads: Client) -> None:
    whole = frame()
    X, y = whole.drop(columns="y"), whole["y"]
    first = bytes_of(small().fit_source(whole, "y", client=False))
    assert bytes_of(small().fit(X, y)) == first
    with threads.as_current():
        assert bytes_of(small().fit(X, y)) == first


def test_arrays(threads: Client) -> None:
    X, y = noisy(ROWS)
    chunked = da.from_array(X, chunks=(GROUP, -1)), da.from_array(y, chunks=GROUP)
    alone = small().fit_source(chunked, client=False)
    assert bytes_of(small().fit_source(chunked, client=threads)) == bytes_of(alone)
    with pytest.raises(DataError, match=r"2 chunks of columns; rechunk"):
        small().fit_source((da.from_array(X, chunks=(GROUP, 2)), chunked[1]))
    with pytest.raises(DataError, match="4 partitions but y has 2"):
        small().fit_source((chunked[0], da.from_array(y, chunks=ROWS // 2)))
    with pytest.raises(TypeError, match="Dask collection"):
        small().fit(chunked[0], y)


def test_empty_partitions_are_passed_over(threads: Client) -> None:
    some = frame()
    holes = dd.concat([some.partitions[:2], some[some["x0"] > 99], some.partitions[2:]])
    model = small().fit_source(holes, "y", client=threads)
    assert bytes_of(model) == bytes_of(small().fit_source(some, "y", client=False))


def test_bad_frames_are_refused(threads: Client) -> None:
    with pytest.raises(ParameterError, match="target is None"):
        small().fit_source(frame(), client=threads)
    with pytest.raises(DataError, match=r"has no column 'z'"):
        small().fit_source(frame(), "z", client=threads)
    labels = np.arange(ROWS) % 2 + 0.0
    labels[2 * GROUP + 7] = np.nan
    with pytest.raises(DataError, match=r"partition 2, row 7:"):
        small().fit_source(frame(z=labels), "z", client=threads)


def test_partitions_that_change_are_refused() -> None:
    def shrinking(part: pd.DataFrame, seen: list[int]) -> pd.DataFrame:
        seen.append(1)
        return part[: max(1, len(part) - len(seen) // 20)]

    seen: list[int] = []
    with pytest.raises(DataError, match="whenever it is computed"):
        small(n_estimators=60).fit_source(
            frame().map_partitions(shrinking, seen), "y", client=False
        )


def pandas_frame(rows: int, seed: int) -> pd.DataFrame:
    X, y = noisy(rows, seed)
    return pd.DataFrame({f"x{j}": X[:, j] for j in range(X.shape[1])} | {"y": y})


@pytest.fixture(scope="module")
def model() -> pacboost.FilterBoostClassifier:
    known = pandas_frame(3000, 0)
    return small().fit(known.drop(columns="y"), np.array(["no", "yes"])[known["y"]])


LARGE = 10**9
"""Rows that no machine has the memory for."""


def large_frame() -> Any:
    """A frame whose partitions are made when they are computed, and counted."""
    part = pd.DataFrame({"a": np.zeros(1000), "word": ["a long word of no use"] * 1000, "y": 0.0})
    computed: list[int] = []

    def make(number: int) -> pd.DataFrame:
        computed.append(number)
        assert len(computed) < 20, "all of it is read"
        return pd.concat([part] * 200)

    return dd.from_map(make, range(LARGE // 200_000), meta=part)


def large_arrays() -> tuple[Any, Any]:
    return da.zeros((LARGE, 20), chunks=(10**6, -1)), da.zeros(LARGE, chunks=10**6)


@each_value
@pytest.mark.parametrize("lies_in", ["frame", "arrays"])
@pytest.mark.parametrize(
    ("name", "reads_blocks"),
    [
        ("BoostClassifier", True),
        ("StrongClassifier", True),
        ("RandomForestClassifier", True),
        ("BoostRegressor", False),
        ("compare", False),
    ],
)
def test_collections_larger_than_memory_are_refused_before_they_are_gathered(
    lies_in: str, name: str, reads_blocks: bool
) -> None:
    if lies_in == "frame":
        frame = large_frame()
        X, y = frame.drop(columns="y"), frame["y"]
    else:
        X, y = large_arrays()
    named = getattr(pacboost, name)
    with pytest.raises(DataError, match=rf"Dask {type(X).__name__}.* GB.*{name}") as refused:
        named(X, y) if name == "compare" else named().fit(X, y)
    assert ("FilterBoostClassifier" in str(refused.value)) == reads_blocks


def test_the_size_of_a_collection_is_estimated_from_few_partitions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = frame()
    sizes = rows.memory_usage(deep=True, index=False).sum().compute()
    assert gathering.nbytes(rows) == pytest.approx(sizes, rel=0.15)
    assert gathering.nbytes(rows.to_dask_array()) == pytest.approx(sizes, rel=0.05)
    X, y = rows.drop(columns="y"), rows["y"]
    for available in (2.5 * sizes, 1.5 * sizes, None):
        monkeypatch.setattr(gathering, "available_bytes", lambda room=available: room)
        if available == 1.5 * sizes:
            with pytest.raises(DataError):
                pacboost.BoostClassifier(n_estimators=2).fit(X, y)
        else:
            model = pacboost.BoostClassifier(n_estimators=2, random_state=0).fit(X, y)
            assert model.score(X.compute(), y.compute()) > 0.5


def test_predictions_are_lazy_and_equal(
    model: pacboost.FilterBoostClassifier, threads: Client
) -> None:
    rows = pandas_frame(900, 1).drop(columns="y")
    lazy = dd.from_pandas(rows, npartitions=3)
    for method in ("predict", "predict_proba", "decision_function"):
        answers = getattr(model, method)(lazy)
        assert hasattr(answers, "dask")
        with threads.as_current():
            computed = answers.compute()
        assert np.array_equal(np.asarray(computed), getattr(model, method)(rows))
        assert computed.index.equals(rows.index)
    none: Any = model.predict(lazy[lazy["x0"] > 99])
    assert len(none.compute()) == 0


def test_predictions_for_arrays() -> None:
    X, y = noisy(2000)
    model = small().fit(X, y)
    lazy = da.from_array(X, chunks=(300, 2))
    answers: Any = model.predict(lazy)
    assert np.array_equal(answers.compute(scheduler="sync"), model.predict(X))
    shares: Any = model.predict_proba(lazy)
    assert shares.shape == (2000, 2)
    assert np.array_equal(shares.compute(scheduler="sync"), model.predict_proba(X))
    with pytest.raises(TypeError, match="in memory"):
        model.score(lazy, y)


def test_a_later_fit_does_not_change_lazy_predictions() -> None:
    X, y = noisy(500)
    model = small().fit(X, y)
    before = model.predict(X)
    lazy: Any = model.predict(da.from_array(X, chunks=(100, -1)))
    model.fit(X, 1 - y)
    assert np.array_equal(lazy.compute(scheduler="sync"), before)


def test_certify_a_data_frame(
    threads: Client, processes: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    known, new = pandas_frame(3000, 0), pandas_frame(1200, 5)
    model = small().fit(known.drop(columns="y"), known["y"])
    alone = pacboost.certify(model, new.drop(columns="y"), new["y"])
    lazy = dd.from_pandas(new, npartitions=4, sort=False)
    for client in (threads, processes):
        with client.as_current():
            assert pacboost.certify(model, lazy, "y") == alone
    assert pacboost.certify(model, lazy.drop(columns="y"), lazy["y"]) == alone
    assert pacboost.certify(model, new, "y") == alone
    monkeypatch.setattr(fetched_rows, "MAX_ROWS_TO_FETCH", 600)
    assert 500 < int(pacboost.certify(model, lazy, "y").inputs["n"]) < 700
    with pytest.raises(pacboost.PacboostError, match="trained on"):
        pacboost.certify(model, dd.from_pandas(known, npartitions=2), "y")


def test_what_certify_refuses(model: pacboost.FilterBoostClassifier) -> None:
    X, y = noisy(100)
    lazy = da.from_array(X, chunks=(50, -1)), da.from_array(y, chunks=50)
    with pytest.raises(ParameterError, match="groups="):
        pacboost.certify(model, *lazy, groups=y)
    with pytest.raises(DataError, match="y is None"):
        pacboost.certify(model, X)
    with pytest.raises(ParameterError, match="X is no data frame"):
        pacboost.certify(model, X, "y")
