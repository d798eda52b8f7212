"""Columns of text, dates and categories in sources of any size: as in a table in memory."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pacboost import BoostClassifier, FilterBoostClassifier, load
from pacboost.errors import PacboostError
from pacboost.sources.oracles.choose import as_oracle, open_source
from pacboost.sources.oracles.learned_columns import rows_to_learn
from pacboost.sources.oracles.oracle import AbstractOracle
from pacboost.training.filtering.candidates import APART, RESERVED, ArrayRows
from pacboost.training.filtering.stream import BlockRows

ROWS = 2000


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    """Numbers, names, dates and truths; each of them matters for the label."""
    generator = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "size": generator.normal(size=ROWS).astype(np.float32),
            "colour": generator.choice(["red", "green", "blue"], ROWS),
            "day": pd.Timestamp("2024-01-01")
            + pd.to_timedelta(generator.integers(0, 365, ROWS), "D"),
            "new": generator.random(ROWS) < 0.5,
        }
    )
    is_late, is_red = frame["day"].dt.month > 6, frame["colour"] == "red"
    return frame.assign(y=np.where((frame["size"] > 0) ^ is_red ^ is_late, "yes", "no"))


def csv(frame: pd.DataFrame, folder: Path) -> AbstractOracle:
    frame.to_csv(folder / "rows.csv", index=False)
    return as_oracle(folder / "rows.csv", "y")


def parquet(frame: pd.DataFrame, folder: Path) -> AbstractOracle:
    frame.to_parquet(folder / "rows.parquet", row_group_size=300)
    return as_oracle(folder / "rows.parquet", "y")


def database(frame: pd.DataFrame, folder: Path, **what: Any) -> AbstractOracle:
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(folder / "rows.duckdb") as connection:
        connection.execute("CREATE TABLE rows AS SELECT * FROM frame")
    return as_oracle(folder / "rows.duckdb", "y", **what)


def table(frame: pd.DataFrame, folder: Path) -> AbstractOracle:
    return database(frame, folder, table="rows")


def query(frame: pd.DataFrame, folder: Path) -> AbstractOracle:
    return database(frame, folder, query="SELECT * FROM rows")


def dask(frame: pd.DataFrame, folder: Path) -> AbstractOracle:
    dataframe = pytest.importorskip("dask.dataframe")
    return open_source(dataframe.from_pandas(frame, npartitions=4), "y", 0, client=False)


def frames(frame: pd.DataFrame, folder: Path) -> AbstractOracle:
    return as_oracle([frame.iloc[k : k + 500] for k in range(0, ROWS, 500)], "y")


def memory(frame: pd.DataFrame, folder: Path) -> AbstractOracle:
    return as_oracle(frame, "y")


FORMS = [csv, parquet, table, query, dask, frames, memory]
Form = Callable[[pd.DataFrame, Path], AbstractOracle]


@pytest.mark.parametrize("form", FORMS)
def test_columns_are_those_of_a_table_in_memory(
    form: Form, frame: pd.DataFrame, tmp_path: Path
) -> None:
    """Names, levels, parts of dates and every value of every row."""
    oracle, X = form(frame, tmp_path), frame.drop(columns="y")
    schema = BoostClassifier(n_estimators=1, random_state=0).fit(X, frame["y"]).schema_
    assert oracle.names == schema.names
    assert oracle.learned is not None
    assert oracle.learned.levels.columns == schema.levels.columns
    drawn = [oracle.draw(ROWS) for _ in range(8)]
    values = np.concatenate([b.table.rows() for b in drawn if b.lap == 0])
    expected = schema.read(X).rows()
    in_order = [a[np.lexsort(a.T)] for a in (values, np.asarray(expected, values.dtype))]
    assert np.allclose(in_order[0], in_order[1])


@pytest.mark.parametrize("form", FORMS)
def test_rows_by_which_columns_were_learned_certify_nothing(
    form: Form, frame: pd.DataFrame, tmp_path: Path
) -> None:
    """A level that only a certifying row has would be known, and in new rows it would not."""
    apart: list[Any] = []
    oracle = form(frame, tmp_path)

    def kept(self: Any, *arguments: Any, **told: Any) -> Any:
        apart.append(original(self, *arguments, **told))
        return apart[-1]

    original = ArrayRows.apart if form is memory else type(candidates_of(oracle)).apart
    owner = ArrayRows if form is memory else type(candidates_of(oracle))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(owner, "apart", kept)
        model = FilterBoostClassifier(n_estimators=5, sample_rows=400, random_state=0)
        model.fit_source(oracle)
    rows = apart[-1].rows
    assert rows.size == model.certificate_.size >= 60
    assert oracle.n_looked_at > 0
    assert not oracle.looked_at(rows).any()


def candidates_of(oracle: AbstractOracle) -> Any:
    from pacboost.training.filtering.stream import Stream

    return BlockRows(oracle, 0, 1, 1) if oracle.in_blocks else Stream(oracle, 0, 1)


@pytest.mark.parametrize("form", FORMS)
def test_a_model_knows_its_columns(form: Form, frame: pd.DataFrame, tmp_path: Path) -> None:
    X = frame.drop(columns="y")
    model = FilterBoostClassifier(n_estimators=20, sample_rows=1000, random_state=0)
    model.fit_source(form(frame, tmp_path))
    assert (model.predict(X) != frame["y"]).mean() < 0.1
    assert any("colour" in rule for rule in model.rules())
    model.save(tmp_path / "model.pacb")
    again = load(tmp_path / "model.pacb")
    assert (again.predict(X) == model.predict(X)).all()
    unknown = X.assign(colour="violet")
    assert (model.predict(unknown) == model.predict(X.assign(colour=None))).all()


def test_a_frame_that_is_fitted_learns_its_columns_from_some_rows(frame: pd.DataFrame) -> None:
    X, y = frame.drop(columns="y"), frame["y"]
    model = FilterBoostClassifier(n_estimators=20, sample_rows=1000, random_state=0).fit(X, y)
    assert (model.predict(X) != y).mean() < 0.1
    assert model.certificate_.size == ROWS // 10


def test_reserved_rows_were_not_looked_at(frame: pd.DataFrame) -> None:
    oracle: Any = as_oracle(frame, "y")
    kinds = ArrayRows(oracle, 0, 100, oracle.classes(), 0.5).kinds
    special = np.flatnonzero((kinds == APART) | (kinds == RESERVED)).astype(np.uint64)
    assert special.size == 300
    assert not oracle.looked_at(special).any()


def test_half_of_the_rows_of_a_block_are_left_to_certify() -> None:
    assert rows_to_learn(7).size == 4
    assert rows_to_learn(10**6, block=3, blocks=16).size == 3125
    assert np.unique(rows_to_learn(10**6)).size == 50_000


@pytest.mark.parametrize("form", [csv, parquet, memory])
def test_numbers_are_read_as_before(form: Form, frame: pd.DataFrame, tmp_path: Path) -> None:
    oracle = form(frame[["size", "y"]], tmp_path)
    assert oracle.learned is None
    assert oracle.n_looked_at == 0


def test_a_text_among_numbers_is_named(frame: pd.DataFrame, tmp_path: Path) -> None:
    """Where a block was not looked at, a cell of another kind is refused with its column."""
    text = frame.astype({"size": str})
    text.loc[ROWS - 1, "size"] = "large"
    text.to_csv(tmp_path / "rows.csv", index=False)
    with pytest.raises(PacboostError, match=r"line 2001: .* size \('large'\)"):
        as_oracle(tmp_path / "rows.csv", "y").draw(ROWS)
