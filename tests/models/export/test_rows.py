"""Rows as they come at serving time: dictionaries, series and texts, in every export and door."""

from __future__ import annotations

import ctypes
import datetime
import json
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import pacboost as pb
from pacboost.errors import DataError, InputWarning
from pacboost.models.export import alone_cells
from pacboost.models.export.program import program_of
from pacboost.models.export.python import to_python
from pacboost.sources.data_file import MISSING
from pacboost.sources.kinds.categories import Categories
from pacboost.sources.kinds.order import KINDS
from pacboost.sources.kinds.texts import Unused
from tests.models.export.cases import COMPILER, compiled, each, run

ROWS = 600


def table() -> pd.DataFrame:
    generator = np.random.default_rng(0)
    hours = generator.integers(0, 3 * 365 * 24, ROWS)
    when = pd.Timestamp("2022-01-01") + pd.to_timedelta(hours, unit="h")
    price = generator.normal(size=ROWS).round(2)
    return pd.DataFrame(
        {
            "when": when,
            "due": when.strftime("%d/%m/%Y"),
            "insured": generator.choice(["yes", "no"], ROWS),
            "late": generator.random(ROWS) < 0.5,
            "price": [f"{value:.2f}".replace(".", ",") for value in price],
            "stay": pd.to_timedelta(generator.integers(1, 90, ROWS), unit="min"),
            "carrier": generator.choice(["UA", "DL", "HA"], ROWS),
            "class": generator.choice([1, 2, 3], ROWS),
        }
    )


@cache
def fitted() -> Any:
    X = table()
    hour, insured = X["when"].dt.hour.to_numpy(), (X["insured"] == "yes").to_numpy()
    score = (hour > 12) + 1.0 * insured * X["late"] + X["price"].str.replace(",", ".").astype(float)
    score = score + (X["carrier"] == "UA") + (X["class"] == 2) * (X["stay"].dt.seconds > 2000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InputWarning)
        model = pb.BoostClassifier(
            n_estimators=60, max_depth=4, categorical_features=["carrier", "class"], random_state=0
        )
        return model.fit(X, (score > score.median()).to_numpy())


def as_texts(X: pd.DataFrame) -> list[dict[str, str]]:
    """The rows as a web service would get them: every cell but durations is text."""
    return [
        {name: cell if name == "stay" else str(cell) for name, cell in row.items()}
        for row in X.to_dict("records")
    ]


def test_every_form_of_a_row_gives_the_same_answer() -> None:
    model, X = fitted(), table()
    program = run(to_python(program_of(model)))
    expected = model.predict_proba(X)
    for answer in (model.predict_proba, program.predict_proba):
        for rows in (X, X.to_dict("records"), as_texts(X)):
            np.testing.assert_allclose(answer(rows), expected, rtol=1e-12)
        for one in (X.iloc[5], dict(X.iloc[5]), as_texts(X)[5]):
            np.testing.assert_allclose(answer(one), expected[5:6], rtol=1e-12)
    row = dict(X.iloc[5])
    assert model.predict(row).tolist() == program.predict(row) == [model.predict(X)[5]]
    assert str(model.explain(row)) == str(model.explain([row]))
    assert model.explain(row).score == model.explain(X[5:6]).score
    # a missing cell in any of its spellings, and parts of dates that were read elsewhere
    for gone in (None, float("nan"), pd.NaT, pd.NA, "n/a", " "):
        holed = row | {"when": gone, "price": gone, "carrier": gone}
        frame = X[5:6].assign(when=pd.NaT, price=None, carrier=None)
        for answer in (model.predict_proba, program.predict_proba):
            np.testing.assert_allclose(answer(holed), model.predict_proba(frame), rtol=1e-12)
    assert program.predict([list(row.values())]) == program.predict(row)


def test_encoded_rows_are_those_of_c_and_onnx(tmp_path: Path) -> None:
    model, X = fitted(), table()
    program = run(to_python(program_of(model)))
    rows, expected = np.array(program.encode(as_texts(X))), model.predict_proba(X)
    names = list(model.schema_.names)
    pb.export(model, tmp_path / "m.onnx")
    runtime = pytest.importorskip("onnxruntime", reason="needs onnxruntime, which runs graphs")
    session = runtime.InferenceSession(tmp_path / "m.onnx", providers=["CPUExecutionProvider"])
    (found,) = session.run(["probabilities"], {"X": rows.astype(np.float32)})
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    about = session.get_modelmeta().custom_metadata_map
    meanings = dict(zip(json.loads(about["columns"]), json.loads(about["meanings"]), strict=True))
    assert list(meanings) == names
    assert "2000-01-01" in meanings["due"]
    assert "Monday" in meanings["when: weekday"]
    assert meanings["insured"] == "1 for yes, 0 for no"
    if COMPILER is not None:
        pb.export(model, tmp_path / "m.c")
        library = compiled(tmp_path / "m.c")
        assert np.array_equal(model.classes_[each(library.m_predict, rows)], model.predict(X))
        held = (ctypes.c_char_p * len(names)).in_dll(library, "m_meanings")
        assert [(text or b"").decode() for text in held] == list(meanings.values())


def test_what_is_no_row_says_so() -> None:
    model, row = fitted(), dict(table().iloc[5])
    program = run(to_python(program_of(model)))
    lacking = {name: cell for name, cell in row.items() if name != "carrier"}
    with pytest.raises(DataError, match="lacks the column 'carrier'"):
        model.predict(lacking)
    with pytest.raises(ValueError, match="no column 'carrier'"):
        program.predict(lacking)
    for changes in (
        {"when": "soon"},
        {"price": "much"},
        {"insured": "maybe"},
        {"due": "1/31/2024"},
    ):
        for answer in (model.predict, program.predict):
            with pytest.raises(ValueError, match=next(iter(changes))):
                answer(row | changes)
    with pytest.raises(DataError, match="holds a list; a dictionary is one row"):
        model.predict({name: [cell] for name, cell in row.items()})
    X = np.random.default_rng(0).normal(size=(60, 2))
    nameless = pb.AdaBoostClassifier(n_estimators=2).fit(X, X[:, 0] > 0)
    with pytest.raises(DataError, match="was fitted to rows without names"):
        nameless.predict({"a": 1, "b": 2})
    with pytest.raises(ValueError, match="is a list of cells or a dictionary"):
        program.predict([1, 2])


def test_zones_are_left_out_as_in_frames() -> None:
    model, row = fitted(), dict(table().iloc[5])
    program = run(to_python(program_of(model)))
    zone = datetime.timezone(datetime.timedelta(hours=5))
    zoned = row | {"when": row["when"].to_pydatetime().replace(tzinfo=zone)}
    assert program.predict_proba(zoned) == program.predict_proba(row)
    assert np.array_equal(model.predict_proba(zoned), model.predict_proba(row))


def test_texts_beside_dates(tmp_path: Path) -> None:
    X = table()[["when", "insured"]]
    X["said"] = np.where(X["when"].dt.hour > 11, "it was late", "it was early today")
    y = (X["when"].dt.hour > 11) ^ (X["insured"] == "yes")
    model = pb.TextBoostClassifier(text_columns=["said"], n_estimators=20, random_state=0).fit(X, y)
    program = run(to_python(program_of(model)))
    for rows in (X, as_texts(X)):
        np.testing.assert_allclose(program.predict_proba(rows), model.predict_proba(X), rtol=1e-9)
    np.testing.assert_allclose(program.predict_proba(dict(X.iloc[1])), model.predict_proba(X)[1:2])
    np.testing.assert_allclose(model.predict_proba(dict(X.iloc[1])), model.predict_proba(X)[1:2])


def test_the_copied_code_knows_every_kind_and_word() -> None:
    assert {*alone_cells._MISSING} == MISSING
    kinds = {kind for kind in KINDS if kind is not Unused} | {Categories}
    assert all(hasattr(alone_cells, f"_{kind.__name__}") for kind in kinds)
