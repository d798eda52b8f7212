"""``pacboost diagnose`` as a user runs it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pacboost.questions.diagnose import diagnose
from pacboost.sources.csv import read_csv
from tests.cli.running import answer, people, run, well, write_csv


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_csv(tmp_path_factory.mktemp("diagnose") / "people.csv", people(600, 0))


def test_it_says_what_python_says(data: Path) -> None:
    found = answer("diagnose", data, "--target", "label", "--delta", "0.1", "--seed", "2")
    read = read_csv(data, "label", categories=True)
    direct = diagnose(read.table, read.labels, delta=0.1, seed=2)
    assert found["sentence"] == direct.sentence
    assert [stage["edge"] for stage in found["stages"]] == [s.edge for s in direct.stages]
    assert found["sentence"] in well("diagnose", data, "--target", "label", "--delta", "0.1",
                                     "--seed", "2")  # fmt: skip


def test_one_class_against_the_others(tmp_path: Path) -> None:
    x = np.random.default_rng(0).normal(size=400)
    path = write_csv(tmp_path / "three.csv", {"x": x.tolist(), "y": np.digitize(x, [-1, 1])})
    many = run("diagnose", path, "--target", "y")
    assert many.exit_code == 2
    assert "3 classes" in many.stderr
    assert answer("diagnose", path, "--target", "y", "--label", "0")["stages"][0]["lower"] > 0
    unknown = run("diagnose", path, "--target", "y", "--label", "9")
    assert unknown.exit_code == 2
    assert "the labels are 0, 1, 2" in unknown.stderr


def test_a_learner_that_is_worse_than_guessing_is_a_no(tmp_path: Path) -> None:
    """Labels alternate along x in the rows learned from, and the other way in the rest."""
    rows = 2000
    half = np.random.default_rng(0).permutation(rows)[: rows // 2]
    x = np.random.default_rng(1).integers(0, 2, size=rows)
    learned = np.isin(np.arange(rows), half)
    path = write_csv(tmp_path / "liar.csv", {"x": x, "y": np.where(learned, x, 1 - x)})
    result = run("diagnose", path, "--target", "y")
    assert result.exit_code == 1
    assert "no better than guessing" in " ".join(result.stdout.split())
