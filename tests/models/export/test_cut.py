"""Exported models with a threshold decide as predict does, on the threshold itself, too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pacboost as pb
from pacboost.errors import ParameterError
from pacboost.estimators.decisions.threshold import ThresholdClassifier
from pacboost.models.export.export import export
from pacboost.models.export.onnx import to_onnx
from pacboost.models.export.program import cut_of_score, program_of
from pacboost.models.export.python import to_python
from tests.models.export.cases import case
from tests.models.export.test_c import COMPILER, compiled, each
from tests.models.export.test_python import run

EXACT = ["stumps", "trees", "sigmoid", "isotonic", "temperature", "forest", "forest, many"]
ROUNDED = ["trees, many", "isotonic, many"]
SOME = 2_000


def cautious(name: str, place: int) -> tuple[Any, Any, Any]:
    """A model whose threshold is the probability of one of the rows, and rows to be decided."""
    model = case(name)
    frame, numbers = model.frame[:SOME], np.ascontiguousarray(model.numbers[:SOME])
    chances = model.estimator.predict_proba(frame)[:, place]
    at = float(np.sort(chances)[int(0.6 * SOME)])
    label = model.estimator.classes_.tolist()[place]
    made = ThresholdClassifier(model.estimator, at, label)
    made._start(model.estimator)
    if name in ROUNDED:  # probabilities are rounded elsewhere in other ways
        apart = np.abs(chances - at) > 1e-12
        frame, numbers = frame[apart], np.ascontiguousarray(numbers[apart])
    else:
        assert (chances == at).any()
    expected = made.predict(frame)
    assert (expected != model.estimator.predict(frame)).any()
    return made, (model.cells, frame, numbers), expected


@pytest.mark.thinned(2)
@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("name", [*EXACT, *ROUNDED])
def test_every_program_uses_the_threshold(name: str, place: int, tmp_path: Path) -> None:
    made, (cells, frame, numbers), expected = cautious(name, place)
    program = run(to_python(program_of(made)))
    rows = [cells[k] for k in frame.index]
    assert program.predict(rows) == expected.tolist()
    onnx = pytest.importorskip("onnxruntime", reason="needs onnxruntime, which runs graphs")
    session = onnx.InferenceSession(to_onnx(program_of(made)), providers=["CPUExecutionProvider"])
    with np.errstate(over="ignore"):
        (found,) = session.run(["label"], {"X": numbers.astype(np.float32)})
    assert np.array_equal(found, expected)
    if COMPILER is not None:
        export(made, tmp_path / "m.c")
        library = compiled(tmp_path / "m.c")
        assert np.array_equal(made.classes_[each(library.m_predict, numbers)], expected)


def test_the_certificate_comes_along(tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    X = generator.normal(size=(3000, 3))
    y = X[:, 0] + generator.normal(size=3000) > 1
    model = pb.BoostClassifier(n_estimators=10, random_state=0).fit(X[:1000], y[:1000])
    careful = pb.choose_threshold(model, X[1000:], y[1000:], recall=0.9)
    text = to_python(program_of(careful))
    assert "finds at least" in " ".join(text.split())
    rows = generator.normal(size=(500, 3)).astype(np.float32).astype(np.float64)
    assert run(text).predict(rows.tolist()) == careful.predict(rows).tolist()
    careful.save(tmp_path / "m.pacb")
    again = to_python(program_of(pb.load(tmp_path / "m.pacb")))
    assert run(again).predict(rows.tolist()) == careful.predict(rows).tolist()
    strong = pb.StrongClassifier(recall=0.8, random_state=0, n_estimators=20).fit(X, y)
    assert "finds at least" in " ".join(program_of(strong).about)
    assert (
        run(to_python(program_of(strong))).predict(rows.tolist()) == strong.predict(rows).tolist()
    )


def test_thresholds_that_all_or_none_reach() -> None:
    model = case("trees").estimator.model_
    assert cut_of_score(model, 0.0, 1).at == -1e200
    assert cut_of_score(model, 0.0, 0).at == 1e200
    with pytest.raises(ValueError, match="no score"):
        cut_of_score(model, 1.5, 1)
    several = ThresholdClassifier(case("several").estimator, 0.5)
    several._start(case("several").estimator)
    with pytest.raises(ParameterError, match="knows no threshold"):
        program_of(several)
