"""``pacboost certify`` as a user runs it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import pacboost
from pacboost.questions.certify import certify
from pacboost.questions.selective import certify_answers
from pacboost.sources.csv import read_csv
from tests.cli.running import answer, people, run, well, write_csv


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("certify")
    write_csv(folder / "train.csv", people(300, 0))
    write_csv(folder / "fresh.csv", {**people(500, 1), "who": [k // 5 for k in range(500)]})
    fit = ["--booster", "logit", "--learner", "tree", "--rounds", "9", "--output"]
    well("fit", folder / "train.csv", "--target", "label", *fit, folder / "m.pacb")
    return folder


def asked(folder: Path, *options: str) -> list[object]:
    return ["certify", folder / "m.pacb", folder / "fresh.csv", "--target", "label", *options]


def test_it_says_what_python_says(folder: Path) -> None:
    columns = ["size", "colour", "weight"]
    read = read_csv(folder / "fresh.csv", "label", categories=True)
    assert read.table.names == (*columns, "who")
    read = read_csv(write_csv(folder / "same.csv", people(500, 1)), "label", categories=True)
    direct = certify(pacboost.load(folder / "m.pacb"), read.table, read.labels, delta=0.1)
    found = answer(*asked(folder, "--delta", "0.1"))
    assert found["certificate"] == direct.to_dict()
    assert found["met"] is None
    shown = well(*asked(folder, "--delta", "0.1"))
    assert shown.startswith(found["sentence"])
    assert f"{direct.inputs['k']} mistakes on 500 rows" in shown


@pytest.mark.parametrize(("epsilon", "code"), [("0.5", 0), ("0.01", 1)])
def test_an_error_that_is_wanted(folder: Path, epsilon: str, code: int) -> None:
    found = answer(*asked(folder, "--epsilon", epsilon), code=code)
    assert found["met"] is (code == 0)
    result = run(*asked(folder, "--epsilon", epsilon))
    assert result.exit_code == code
    assert ("NO." in result.stdout) is (code == 1)


def test_groups_order_and_several_models(folder: Path) -> None:
    plain = answer(*asked(folder))["certificate"]
    grouped = answer(*asked(folder, "--groups", "who"))["certificate"]
    assert (grouped["bound"], grouped["size"]) == ("dependent.group_bets", 100)
    ordered = answer(*asked(folder, "--ordered"))["certificate"]
    assert ordered["bound"] == "dependent.ordered_mixture"
    several = answer(*asked(folder, "--models", "20"))["certificate"]
    assert several["value"] > plain["value"]


def test_answers_of_which_it_is_confident(folder: Path) -> None:
    read = read_csv(write_csv(folder / "same.csv", people(500, 1)), "label", categories=True)
    model = pacboost.load(folder / "m.pacb")
    direct = certify_answers(model, read.table, read.labels, target_error=0.1)
    found = answer(*asked(folder, "--target-error", "0.1"))
    assert found["certificate"] == direct.certificate.to_dict()
    assert found["answering"]["chosen"] == direct.chosen
    shown = run(*asked(folder, "--abstain-below", "0.9")).stdout
    said = " ".join(shown.split())
    assert "is certified for the new examples it answers (confidence 0.9 or more)" in said
    for part in ("answered held-out rows", "Always saying '", "It answers between", "Next: "):
        assert part in found["sentence"]
    impossible = run(*asked(folder, "--target-error", "0.0001"))
    assert impossible.exit_code == 1
    both = run(*asked(folder, "--target-error", "0.1", "--ordered"))
    assert both.exit_code == 2


def test_labels_that_are_numbers(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(400, 1))
    number = (X[:, 0] > 0).astype(int)
    pacboost.AdaBoostClassifier(n_estimators=2).fit(X, number).save(tmp_path / "m.pacb")
    fresh = np.random.default_rng(1).normal(size=100)
    for written in (fresh > 0).astype(int), (fresh > 0).astype(float):
        path = write_csv(tmp_path / "rows.csv", {"x": fresh.tolist(), "y": written.tolist()})
        found = answer("certify", tmp_path / "m.pacb", path, "--target", "y")
        assert found["certificate"]["inputs"]["k"] <= 2
    strange = [7, *(fresh > 0).astype(int).tolist()[1:]]
    path = write_csv(tmp_path / "rows.csv", {"x": fresh.tolist(), "y": strange})
    more = answer("certify", tmp_path / "m.pacb", path, "--target", "y")
    assert more["certificate"]["inputs"]["k"] == found["certificate"]["inputs"]["k"] + 1


def test_numbers_have_no_error_to_certify(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(200, 1))
    pacboost.BoostRegressor(n_estimators=2).fit(X, X[:, 0]).save(tmp_path / "m.pacb")
    path = write_csv(tmp_path / "rows.csv", {"x": X[:, 0].tolist(), "y": X[:, 0].tolist()})
    result = run("certify", tmp_path / "m.pacb", path, "--target", "y")
    assert result.exit_code == 2
    assert "predicts numbers; certify --of absolute_error" in result.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--target", "nope"], "has no column 'nope'"),
        (["--target", "label", "--groups", "nope"], "has no column 'nope'"),
        (["--target", "label", "--delta", "0"], "delta is 0"),
        (["--target", "label", "--epsilon", "1.5"], "epsilon is 1.5"),
        (["--target", "label", "--models", "0"], "models is 0"),
        (["--target", "weight"], "holds none of the classes"),
    ],
)
def test_errors_are_one_sentence(folder: Path, options: list[str], message: str) -> None:
    result = run("certify", folder / "m.pacb", folder / "fresh.csv", *options)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
