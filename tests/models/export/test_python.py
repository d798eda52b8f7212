"""Exported Python agrees with predict on 10,000 rows, alone, and can be told from a wrong twin."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import pacboost as pb
from pacboost.errors import NoEdgeWarning
from pacboost.models.export.export import export
from pacboost.models.export.program import program_of
from pacboost.models.export.python import to_python
from tests.models.export.cases import FITS, NAMES, Case, agree, case

SOME = 2_000


def run(text: str) -> Any:
    """Run the text of a module."""
    module = ModuleType("exported")
    exec(compile(text, "exported.py", "exec", dont_inherit=True), module.__dict__)
    return module


def exported(model: Any) -> Any:
    return run(to_python(program_of(model)))


def scores(model: Case) -> Any:
    """What the sums of a program must be, bit for bit."""
    found = model.estimator.model_.vote.scores(model.estimator._open(model.frame[:SOME]))
    return found.reshape(SOME, -1)


@pytest.mark.thinned(2)
@pytest.mark.parametrize("name", FITS)
def test_it_answers_as_the_model_does(name: str) -> None:
    model = case(name)
    program, cells = exported(model.estimator), model.cells
    assert agree(name, program.predict(cells), model.estimator.predict(model.frame))
    if hasattr(model.estimator, "predict_proba"):
        found, known = program.predict_proba(cells[:SOME]), model.estimator.predict_proba
        np.testing.assert_allclose(found, known(model.frame[:SOME]), rtol=1e-12, atol=1e-15)
    if hasattr(model.estimator.model_, "vote") and name != "one":
        assert np.array_equal(program._MODEL.scores(cells[:SOME]), scores(model))


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("goes_left = value <= self.cut[at]", "goes_left = value < self.cut[at]"),
        ('return array("f", cells)', 'return array("d", cells)'),
        ("goes_left = self.missing_left[at] == 1", "goes_left = self.missing_left[at] == 0"),
        ("cells[j] = known.get(cells[j])", "cells[j] = known.get(cells[j], 0)"),
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
        (["x", 1.0, 1.0, "colour 1"], "no number"),
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


def test_equal_fits_give_equal_files() -> None:
    X, y = np.random.default_rng(0).normal(size=(2, 200)).T, np.arange(200) % 2
    fits = [pb.BoostClassifier(n_estimators=3, random_state=0).fit(X, y) for _ in range(2)]
    assert len({to_python(program_of(fit)) for fit in fits}) == 1


def test_a_vote_without_rules_can_be_exported() -> None:
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 5)
    y = X[:, 0] ^ X[:, 1]
    with pytest.warns(NoEdgeWarning):
        model = pb.AdaBoostClassifier().fit(X, y)
    assert exported(model).predict(X.tolist()) == model.predict(X).tolist()
