"""Exported C compiles without a warning and agrees with predict on 10,000 rows."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pacboost.models.export.c import to_c
from pacboost.models.export.export import export
from pacboost.models.export.program import program_of
from tests.models.export.cases import FITS, NAMES, agree, case

COMPILER = shutil.which("cc")
pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs a C compiler named cc")
FLAGS = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Wmissing-prototypes", "-pedantic", "-Werror"]


def compiled(source: Path) -> Any:
    """Compile a file and load it."""
    out = source.with_suffix(".so")
    assert COMPILER is not None
    subprocess.run(
        [COMPILER, *FLAGS, "-shared", "-fPIC", str(source), "-o", str(out), "-lm"], check=True
    )
    return ctypes.CDLL(str(out))


def each(function: Any, numbers: NDArray[np.float64], out: NDArray[Any] | None = None) -> list[Any]:
    """Call a function of C on every row, and perhaps on what is to be written for it."""
    arrays = [numbers] if out is None else [numbers, out]
    function.argtypes = [ctypes.c_void_p] * len(arrays)
    starts = [own.ctypes.data + own.strides[0] * np.arange(len(own)) for own in arrays]
    return list(map(function, *(own.tolist() for own in starts)))


def answers(library: Any, name: str, model: Any) -> Any:
    """Ask for the answer on every row."""
    estimator, count = model.estimator, len(model.numbers)
    predict = getattr(library, f"{name}_predict")
    if not hasattr(estimator, "classes_"):
        predict.restype = ctypes.c_double
        return each(predict, model.numbers)
    if getattr(estimator, "several_labels_", False):
        labels = np.full((count, estimator.classes_.size), -1, dtype=np.intc)
        each(predict, model.numbers, labels)
        return labels
    return estimator.classes_[each(predict, model.numbers)]


@pytest.mark.thinned(2)
@pytest.mark.parametrize("name", FITS)
def test_it_answers_as_the_model_does(name: str, tmp_path: Path) -> None:
    model = case(name)
    export(model.estimator, tmp_path / "rich-2.0.c")
    library = compiled(tmp_path / "rich-2.0.c")
    expected = model.estimator.predict(model.frame)
    assert agree(name, answers(library, "rich_2_0", model), expected)
    if hasattr(model.estimator, "predict_proba"):
        shares = np.full((len(expected), model.estimator.classes_.size), np.nan)
        each(library.rich_2_0_probabilities, model.numbers, shares)
        known = model.estimator.predict_proba(model.frame)
        np.testing.assert_allclose(shares, known, rtol=1e-12, atol=1e-15)


def strings(library: Any, name: str, count: int) -> list[str]:
    found = (ctypes.c_char_p * count).in_dll(library, name)
    return [(own or b"").decode() for own in found]


def test_names_and_categories_come_along(tmp_path: Path) -> None:
    model = case("forest, many")
    path = tmp_path / "m.c"
    path.write_text(to_c(program_of(model.estimator), "m"))
    library = compiled(path)
    assert strings(library, "m_columns", 4) == NAMES
    assert strings(library, "m_classes", 3) == model.estimator.classes_.tolist()
    library.m_level.restype = ctypes.c_double
    levels = model.estimator.levels_.columns[3]
    assert [library.m_level(3, own.encode()) for own in levels] == list(range(len(levels)))
    assert np.isnan(library.m_level(3, b"never seen"))
    assert np.isnan(library.m_level(2, levels[0].encode()))


def test_two_models_fit_into_one_program(tmp_path: Path) -> None:
    both = ["trees", "forest"]
    for name in both:
        (tmp_path / f"{name}.c").write_text(to_c(program_of(case(name).estimator), name))
    whole = tmp_path / "both.c"
    whole.write_text("".join(f'#include "{name}.c"\n' for name in both))
    library = compiled(whole)
    for name in both:
        model = case(name)
        assert np.array_equal(answers(library, name, model), model.estimator.predict(model.frame))
