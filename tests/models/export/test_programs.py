"""Exported C compiles without a warning and agrees with predict on 10,000 rows."""

import ctypes
import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pacboost as pb
from pacboost.errors import NoEdgeWarning
from pacboost.models.export.c import to_c
from pacboost.models.export.export import export
from pacboost.models.export.onnx import to_onnx
from pacboost.models.export.program import program_of
from pacboost.models.export.python import to_python
from tests.data import real_data
from tests.grids import one_in
from tests.models.export.cases import (
    COMPILER,
    FITS,
    NAMES,
    Case,
    agree,
    case,
    compiled,
    each,
    exported,
    run,
)

pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs a C compiler named cc")


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


@one_in(2)
@pytest.mark.parametrize("name", FITS)
def test_c_answers_as_the_model_does(name: str, tmp_path: Path) -> None:
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


# Exported ONNX agrees with predict on 10,000 rows, in the runtime and by the reference.

onnx = pytest.importorskip("onnx", reason="needs onnx: pip install 'pacboost[onnx]'")
runtime = pytest.importorskip("onnxruntime", reason="needs onnxruntime, which runs exported graphs")


def ask(content: bytes, numbers: Any) -> dict[str, Any]:
    session = runtime.InferenceSession(content, providers=["CPUExecutionProvider"])
    with np.errstate(over="ignore"):
        rows = numbers.astype(np.float32)
    names = [own.name for own in session.get_outputs()]
    return dict(zip(names, session.run(names, {"X": rows}), strict=True))


@pytest.mark.parametrize("name", FITS)
def test_onnx_answers_as_the_model_does(name: str) -> None:
    model = case(name)
    found = ask(to_onnx(program_of(model.estimator)), model.numbers)
    expected = model.estimator.predict(model.frame)
    if "number" in found:
        np.testing.assert_allclose(found["number"][:, 0], expected, rtol=1e-12, atol=1e-12)
        return
    assert np.array_equal(found["label"], expected)
    known = model.estimator.predict_proba(model.frame)
    np.testing.assert_allclose(found["probabilities"], known, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", ["stumps, many", "trees", "trees, many", "several"])
def test_the_reference_reads_it_alike(name: str) -> None:
    """Other runtimes go by the standard: no answer may hang on one reading of it."""
    model = case(name)
    made = onnx.load_from_string(to_onnx(program_of(model.estimator)))
    reference = import_module("onnx.reference").ReferenceEvaluator(made)
    with np.errstate(all="ignore"):
        rows = model.numbers[:100].astype(np.float32)
        label, probabilities = reference.run(None, {"X": rows})
    assert np.array_equal(label, model.estimator.predict(model.frame[:100]))
    known = model.estimator.predict_proba(model.frame[:100])
    np.testing.assert_allclose(probabilities, known, rtol=1e-12, atol=1e-14)


def test_a_single_row_and_none_at_all_are_answered() -> None:
    model = case("trees, many")
    content = to_onnx(program_of(model.estimator))
    assert ask(content, model.numbers[:1])["label"].tolist() == [
        model.estimator.predict(model.frame[:1])[0]
    ]
    assert ask(content, model.numbers[:0])["label"].shape == (0,)


def test_the_file_says_what_it_is() -> None:
    model = case("forest, many")
    content = to_onnx(program_of(model.estimator))
    assert content == to_onnx(program_of(model.estimator))
    made = onnx.load_from_string(content)
    about = {own.key: json.loads(own.value) for own in made.metadata_props}
    assert about["columns"] == NAMES
    assert about["classes"] == model.estimator.classes_.tolist()
    assert about["levels"] == model.estimator.levels_.to_dict()
    assert "4 columns in, 3 classes out" in made.doc_string


# Exported Python agrees with predict on 2,000 rows, alone; they tell it from a wrong twin.

SOME = 2_000


def scores(model: Case) -> Any:
    """What the sums of a program must be, bit for bit."""
    found = model.estimator.model_.vote.scores(model.estimator._open(model.frame[:SOME]))
    return found.reshape(SOME, -1)


@one_in(2)
@pytest.mark.parametrize("name", FITS)
def test_python_answers_as_the_model_does(name: str) -> None:
    model = case(name)
    program, cells = exported(model.estimator), model.cells[:SOME]
    assert agree(name, program.predict(cells), model.estimator.predict(model.frame[:SOME]))
    if hasattr(model.estimator, "predict_proba"):
        found, known = program.predict_proba(cells), model.estimator.predict_proba
        np.testing.assert_allclose(found, known(model.frame[:SOME]), rtol=1e-12, atol=1e-15)
    if not model.estimator.model_.forest and name != "one":
        assert np.array_equal(program._MODEL.scores(cells), scores(model))


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("goes_left = value <= self.cut[at]", "goes_left = value < self.cut[at]"),
        ('x = array("f", cells)', 'x = array("d", cells)'),
        ("goes_left = self.missing_left[at] == 1", "goes_left = self.missing_left[at] == 0"),
        ("self.places.get(cell, math.nan)", "self.places.get(cell, 0.0)"),
    ],
)
def test_the_rows_tell_wrong_programs_apart(right: str, wrong: str) -> None:
    model = case("trees")
    text = to_python(program_of(model.estimator))
    assert text.count(right) == 1
    broken = run(text.replace(right, wrong))
    assert not np.array_equal(broken._MODEL.scores(model.cells[:SOME]), scores(model))


def test_rows_may_be_dictionaries() -> None:
    model = case("trees")
    some = model.cells[:50]
    named = [dict(zip(NAMES, row, strict=True)) for row in some]
    assert exported(model.estimator).predict(named) == exported(model.estimator).predict(some)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ([1.0, 2.0], "2 cells, and 4 are needed"),
        ({"a": 1.0}, "no column 'b'"),
        (["x", 1.0, 1.0, "colour 1"], "not a number"),
    ],
)
def test_bad_rows_are_refused(row: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        exported(case("trees").estimator).predict([row])


def test_it_needs_nothing_but_python(tmp_path: Path) -> None:
    model = case("trees, many")
    export(model.estimator, tmp_path / "alone.py")
    program = "import alone, sys; print(alone.predict([[1, 2, 3, None]]), 'numpy' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-S", "-c", program],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    expected = exported(model.estimator).predict([[1, 2, 3, None]])
    assert done.stdout == f"{expected} False\n"


def test_a_vote_without_rules_can_be_exported() -> None:
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 5)
    y = X[:, 0] ^ X[:, 1]
    with pytest.warns(NoEdgeWarning):
        model = pb.AdaBoostClassifier().fit(X, y)
    assert exported(model).predict(X.tolist()) == model.predict(X).tolist()


# On real tables with default settings, all three exports agree with predict on every row.


def _forest(random_state: int) -> Any:
    return pb.ExtraTreesClassifier(20, random_state=random_state)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:the model never predicts:pacboost.errors.RareClassWarning")
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
