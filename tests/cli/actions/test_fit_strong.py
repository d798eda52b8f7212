"""``pacboost fit`` that chooses by itself, as a newcomer runs it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pacboost
from pacboost.estimators.strong.classifier import StrongClassifier
from pacboost.sources.csv import read_csv
from tests.cli.running import answer, people, run, well, write_csv

QUICK = ["--rounds", "12"]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_csv(tmp_path_factory.mktemp("chosen") / "people.csv", people(400, 0))


def test_the_sentence_comes_first_and_all_is_said(data: Path, tmp_path: Path) -> None:
    model = tmp_path / "m.pacb"
    result = run("fit", data, "--target", "label", "--output", model)
    assert result.exit_code == 0, result.output
    first = result.stdout.splitlines()[0]
    assert first.startswith("At most ")
    shown = " ".join(result.stdout.split())
    for part in (
        "people.csv: 400 rows of 3 columns, 2 of numbers and 1 of categories ('colour')",
        "no, yes",
        "80 to certify",
        "chosen ",
        "rows are drawn independently",
        f"The model is in {model}. For a report on it: pacboost report {model}",
    ):
        assert part in shown
    assert max(len(line) for line in result.stdout.splitlines() if "/" not in line) <= 80


def test_it_is_the_strong_classifier(data: Path, tmp_path: Path) -> None:
    model = tmp_path / "m.pacb"
    asked = [*QUICK, "--delta", "0.1", "--seed", "3", "--output", model]
    found = answer("fit", data, "--target", "label", *asked)
    read = read_csv(data, "label", categories=True)
    direct = StrongClassifier(delta=0.1, n_estimators=12, random_state=3).fit(
        read.table, read.labels
    )
    assert found["sentence"] == direct.sentence_
    assert found["certificate"] == direct.certificate_.to_dict()
    again = pacboost.load(model)
    assert again.predict_proba(read.table).tolist() == direct.predict_proba(read.table).tolist()
    assert again.certificate_ == direct.certificate_


def test_nothing_is_written_unless_asked(data: Path) -> None:
    before = sorted(data.parent.iterdir())
    assert "The model was not saved" in well("fit", data, "--target", "label", *QUICK)
    assert sorted(data.parent.iterdir()) == before


@pytest.mark.parametrize(("epsilon", "code"), [("0.4", 0), ("0.001", 1)])
def test_an_error_that_is_wanted(data: Path, tmp_path: Path, epsilon: str, code: int) -> None:
    model = tmp_path / "m.pacb"
    asked = [*QUICK, "--epsilon", epsilon, "--output", model]
    found = answer("fit", data, "--target", "label", *asked, code=code)
    assert found["verdict"]["reached"] is (code == 0)
    assert model.exists()  # a model that is not good enough is kept all the same


@pytest.mark.parametrize("wish", [["--recall", "0.8"], ["--precision", "0.7"]])
def test_a_recall_or_precision_that_is_wanted(tmp_path: Path, wish: list[str]) -> None:
    data, model = write_csv(tmp_path / "p.csv", people(900, 3)), tmp_path / "m.pacb"
    asked = ["fit", data, "--target", "label", *QUICK, *wish, "--positive", "yes", "-o", model]
    found = answer(*asked)
    assert found["certificate"]["of_what"] == wish[0][2:]
    assert found["certificate"]["value"] >= float(wish[1])
    loaded = pacboost.load(model)
    assert loaded.positive == "yes"
    assert loaded.sentence_.split(" (")[0] == found["sentence"].split(" (")[0]
    assert found["sentence"] in well(*asked)
    assert "of that class" in well("verify", model) or "finds at least" in well("verify", model)
    many = run("fit", data, "--target", "label", *QUICK, "--recall", "0.9999")
    assert many.exit_code == 1
    assert "No threshold is certified for recall 0.9999" in many.output


def test_groups_and_times_are_no_features(data: Path, tmp_path: Path) -> None:
    columns: dict[str, Any] = {**people(400, 0), "who": [f"p{k % 90}" for k in range(400)]}
    path = write_csv(tmp_path / "grouped.csv", columns)
    grouped = answer("fit", path, "--target", "label", *QUICK, "--groups", "who")
    assert "groups" in grouped["sentence"]
    day = [f"2024-{1 + k // 40:02}-01" for k in range(400)]
    path = write_csv(tmp_path / "timed.csv", {**people(400, 0), "day": day})
    model = tmp_path / "m.pacb"
    asked = [*QUICK, "--time-column", "day", "--output", model]
    timed = answer("fit", path, "--target", "label", *asked)
    assert "latest" in timed["sentence"]
    assert pacboost.load(model).model_.names == ("size", "colour", "weight")


def test_a_column_that_is_not_there(data: Path) -> None:
    for option in ("--groups", "--time-column", "--drop"):
        result = run("fit", data, "--target", "label", option, "nobody")
        assert result.exit_code == 2
        assert "'nobody'" in result.stderr


def test_few_rows_are_fitted_and_it_says_what_is_missing(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "few.csv", people(20, 0))
    shown = well("fit", path, "--target", "label", *QUICK)
    assert shown.startswith("Nothing is certified about future examples: 20 rows are too few")


def test_many_classes(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(300, 2))
    number = (X[:, 0] > 0).astype(int) + 2 * (X[:, 1] > 0)
    columns = {"a": X[:, 0].tolist(), "b": X[:, 1].tolist(), "y": number}
    path = write_csv(tmp_path / "four.csv", columns)
    found = answer("fit", path, "--target", "y", *QUICK, "--output", tmp_path / "m.pacb")
    assert found["classes"] == [0, 1, 2, 3]
    table = read_csv(path, "y").table
    assert pacboost.load(tmp_path / "m.pacb").score(table, number) > 0.8


@pytest.mark.parametrize(
    "other",
    [["--leaves", "4"], ["--certify", "holdout"], ["--validation", "0.1"], ["--max-bins", "9"]],
)
def test_what_is_for_whoever_chooses(data: Path, other: list[str]) -> None:
    result = run("fit", data, "--target", "label", *other)
    assert result.exit_code == 2
    assert f"{other[0]} requires --booster or --learner" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--target", "nope"], "has no column 'nope'"),
        (["--target", "label", "--epsilon", "2"], "epsilon is 2"),
        (["--target", "label", "--delta", "0"], "delta is 0"),
        (["--target", "label", "--rounds", "0"], "n_estimators is 0"),
        (["--target", "label", "--output", "no/such/folder/m.pacb"], "folder does not exist"),
        ([], "Missing option '--target'"),
    ],
)
def test_errors_are_one_sentence(data: Path, arguments: list[str], message: str) -> None:
    result = run("fit", data, *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
