"""On real tables with default settings, all three exports agree with predict on every row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pacboost as pb
from pacboost.models.export.export import export
from pacboost.models.export.onnx import to_onnx
from pacboost.models.export.program import program_of
from tests.data import real_data
from tests.models.export.cases import Case
from tests.models.export.test_c import COMPILER, answers, compiled
from tests.models.export.test_onnx import ask
from tests.models.export.test_python import exported


def _forest(random_state: int) -> Any:
    return pb.ExtraTreesClassifier(20, random_state=random_state)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["letter", "nursery", "credit_approval", "magic_telescope"])
@pytest.mark.parametrize("make", [pb.BoostClassifier, pb.AdaBoostClassifier, _forest])
def test_every_row_of_a_real_table(name: str, make: Any, tmp_path: Path) -> None:
    labelled = real_data(name, "class", categories=True)
    table = labelled.table
    estimator = make(random_state=0).fit(table, labelled.labels)
    predicted, numbers = estimator.predict(table), table.rows().astype(np.float64)
    columns = [table.cells(j)[:2_000].tolist() for j in range(table.n_columns)]
    found = exported(estimator).predict(zip(*columns, strict=True))
    assert np.array_equal(found, predicted[:2_000])
    assert np.array_equal(ask(to_onnx(program_of(estimator)), numbers)["label"], predicted)
    if COMPILER is None:
        pytest.skip("needs a C compiler named cc")
    export(estimator, tmp_path / "real.c")
    library = compiled(tmp_path / "real.c")
    nothing: Any = None
    rows: Any = Case(estimator, nothing, np.ascontiguousarray(numbers))
    assert np.array_equal(answers(library, "real", rows), predicted)
