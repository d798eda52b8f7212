"""Exported ONNX agrees with predict on 10,000 rows, in the runtime and by the reference."""

from __future__ import annotations

import json
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from pacboost.models.export.onnx import to_onnx
from pacboost.models.export.program import program_of
from tests.models.export.cases import FITS, NAMES, case

onnx = pytest.importorskip("onnx", reason="needs onnx: pip install 'pacboost[onnx]'")
runtime = pytest.importorskip("onnxruntime", reason="needs onnxruntime, which runs exported graphs")


def ask(content: bytes, numbers: Any) -> dict[str, Any]:
    session = runtime.InferenceSession(content, providers=["CPUExecutionProvider"])
    with np.errstate(over="ignore"):
        rows = numbers.astype(np.float32)
    names = [own.name for own in session.get_outputs()]
    return dict(zip(names, session.run(names, {"X": rows}), strict=True))


@pytest.mark.parametrize("name", FITS)
def test_it_answers_as_the_model_does(name: str) -> None:
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
    with np.errstate(over="ignore"):
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
