"""``pacboost fit`` by a booster and a learner that were named."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import pacboost
from pacboost.boosters.registry import BOOSTERS
from pacboost.cli.main import main
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.csv import read_csv
from pacboost.training.run.loop import Run
from pacboost.training.run.rounds import FinishedRound
from tests.cli.running import answer, run, write_csv
from tests.worlds import noisy

STUMPS = ["--booster", "adaboost"]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    X, signs = noisy(200, 3, seed=1)
    lines = ["a,b,c,label"]
    lines += [
        f"{row[0]!r},{row[1]!r},{row[2]!r},{'yes' if s > 0 else 'no'}"
        for row, s in zip(X.tolist(), signs, strict=True)
    ]
    path = tmp_path / "data.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_fit_prints_and_writes_nothing(data: Path) -> None:
    before = sorted(data.parent.iterdir())
    result = CliRunner().invoke(
        main, ["fit", str(data), "--target", "label", *STUMPS, "--rounds", "7"]
    )
    assert result.exit_code == 0, result.output
    assert "certificate" in result.output
    assert "→ yes" in result.output
    assert sorted(data.parent.iterdir()) == before


def test_fit_writes_a_model_that_predicts(data: Path, tmp_path: Path) -> None:
    model = tmp_path / "model.json"
    arguments = [
        "fit",
        str(data),
        "--target",
        "label",
        *STUMPS,
        "--rounds",
        "9",
        "--certify",
        "train-error",
        "--output",
        str(model),
    ]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    loaded = pacboost.load(model)
    X, signs = noisy(200, 3, seed=1)
    table = ArrayTable(X, ("a", "b", "c"))
    direct = pacboost.AdaBoostClassifier(n_estimators=9).fit(X, np.where(signs > 0, "yes", "no"))
    assert loaded.decision_function(table).tolist() == direct.decision_function(X).tolist()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--target", "nope"], "its columns are 'a', 'b', 'c', 'label'"),
        (["--target", "label", "--rounds", "0"], "n_estimators is 0"),
        (["--target", "label", "--learning-rate", "-1"], "learning_rate is -1"),
        (["--target", "label", "--output", "no/such/folder/m.json"], "folder does not exist"),
    ],
)
def test_errors_are_one_sentence(data: Path, arguments: list[str], message: str) -> None:
    result = CliRunner().invoke(main, ["fit", str(data), *STUMPS, *arguments])
    assert result.exit_code == 2
    assert message in result.output
    assert "Traceback" not in result.output


def test_early_stopping_shows_validation(data: Path) -> None:
    arguments = ["fit", str(data), "--target", "label", *STUMPS, "--rounds", "80"]
    arguments += ["--validation", "0.3"]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    assert "valid." in result.output


@pytest.fixture
def coloured(tmp_path: Path) -> Path:
    generator = np.random.default_rng(0)
    colour, size = generator.choice(["red", "green", ""], size=200), generator.normal(size=200)
    labels = np.where(size + (colour == "red") > 0.3, "yes", "no")
    lines = [f"{c},{s!r},{y}" for c, s, y in zip(colour, size.tolist(), labels, strict=True)]
    path = tmp_path / "coloured.csv"
    path.write_text("\n".join(["colour,size,y", *lines]) + "\n")
    return path


@pytest.mark.parametrize("booster", ["adaboost", "logit", "gentle", "mada"])
def test_fit_boosts_trees_on_categories_and_verify_holds(
    coloured: Path, tmp_path: Path, booster: str
) -> None:
    model = tmp_path / "m.json"
    arguments = ["fit", str(coloured), "--target", "y", "--booster", booster, "--learner", "tree"]
    arguments += ["--rounds", "8", "--leaves", "4", "--output", str(model)]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    assert "certificate" in result.output
    loaded = pacboost.load(model)
    assert isinstance(loaded, pacboost.BoostClassifier)
    assert (loaded.booster, loaded.learner, len(loaded.ledger_)) == (booster, "tree", 8)
    assert loaded.levels_.to_dict() == {"0": ["green", "red"]}
    read = read_csv(coloured, "y", categories=True)
    assert loaded.score(read.table, read.labels) > 0.85
    checked = CliRunner().invoke(main, ["verify", str(model)])
    assert checked.exit_code == 0, checked.output
    assert checked.output.count("holds  ") == 5
    assert "held-out rows" in checked.output


@pytest.mark.thinned(2)
@pytest.mark.parametrize("booster", BOOSTERS)
@pytest.mark.parametrize("learner", ["stump", "tree"])
def test_every_booster_is_fitted_saved_and_verified(
    data: Path, tmp_path: Path, booster: str, learner: str
) -> None:
    model = tmp_path / "m.json"
    arguments = ["fit", str(data), "--target", "label", "--booster", booster]
    arguments += ["--learner", learner, "--rounds", "7", "--output", str(model)]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    checked = CliRunner().invoke(main, ["verify", str(model)])
    assert checked.exit_code == 0, checked.output


def test_text_is_a_category_unless_that_is_refused(coloured: Path) -> None:
    common = ["fit", str(coloured), "--target", "y", "--learner", "tree"]
    result = CliRunner().invoke(main, common)
    assert result.exit_code == 0, result.output
    assert "2 columns, 1 of numbers and 1 of categories ('colour')" in " ".join(
        result.output.split()
    )
    refused = CliRunner().invoke(main, [*common, "--no-categories"])
    assert refused.exit_code == 2
    assert "hold text, not numbers: colour" in refused.output
    without = CliRunner().invoke(main, [*common, "--no-categories", "--drop", "colour"])
    assert without.exit_code == 0, without.output
    assert "1 column, 1 of numbers" in without.output


def test_a_category_with_a_level_for_every_row_is_no_use(tmp_path: Path) -> None:
    columns = {"note": [f"text {k}" for k in range(400)], "y": ["a", "b"] * 200}
    path = write_csv(tmp_path / "notes.csv", columns)
    result = CliRunner().invoke(main, ["fit", str(path), "--target", "y", "--learner", "tree"])
    assert result.exit_code == 2
    assert "levels, more than 254: every row has another one" in result.output


def test_a_column_to_drop_that_is_not_there(coloured: Path) -> None:
    result = CliRunner().invoke(main, ["fit", str(coloured), "--target", "y", "--drop", "shape"])
    assert result.exit_code == 2
    assert (
        "--drop names 'shape', which is no column; the columns are 'colour', 'size'"
        in result.output
    )


@pytest.mark.parametrize(
    "other", [["--learner", "tree"], ["--booster", "logit"], [*STUMPS, "--leaves", "4"]]
)
def test_resampling_is_for_adaboost_with_stumps(data: Path, other: list[str]) -> None:
    result = CliRunner().invoke(main, ["fit", str(data), "--target", "label", "--resample", *other])
    assert result.exit_code == 2
    assert "--resample requires --booster adaboost and --learner stump" in result.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--learner", "tree", "--leaves", "1"], "max_leaves is 1; it may be 2"),
        ([*STUMPS, "--leaves", "4"], "Stump has no parameter 'max_leaves'"),
        (["--learner", "tree", "--delta", "2", "--certify", "holdout"], "delta is 2"),
    ],
)
def test_errors_with_trees_are_one_sentence(data: Path, arguments: list[str], message: str) -> None:
    result = CliRunner().invoke(main, ["fit", str(data), "--target", "label", *arguments])
    assert result.exit_code == 2
    assert message in result.output
    assert "Traceback" not in result.output


def test_a_certificate_that_is_refused_is_a_no(data: Path) -> None:
    asked = ["--learner", "tree", "--certify", "train"]
    result = run("fit", data, "--target", "label", *asked)
    assert result.exit_code == 1
    assert "certify='train' counts stumps" in result.stderr


def test_json_is_all_that_is_printed(data: Path, tmp_path: Path) -> None:
    model = tmp_path / "m.pacb"
    asked = [*STUMPS, "--rounds", "5", "--certify", "holdout", "--output", model]
    found = answer("fit", data, "--target", "label", *asked)
    loaded = pacboost.load(model)
    assert found["certificate"] == loaded.certificate_.to_dict()
    assert found["sentence"].startswith("At most ")
    assert (found["booster"], found["learner"], found["rounds"]) == ("adaboost", "stump", 5)
    assert found["classes"] == ["no", "yes"]
    assert found["model"] == str(model)
    assert found["training_error"] == loaded.ledger_.rounds[-1].training_error


@pytest.mark.parametrize(
    "other", [["--text", "a"], ["--epsilon", "0.1"], ["--groups", "a"], ["--time-column", "a"]]
)
def test_what_goes_with_a_choice_of_ours_alone(data: Path, other: list[str]) -> None:
    result = run("fit", data, "--target", "label", *STUMPS, *other)
    assert result.exit_code == 2
    assert f"{other[0]} cannot be combined with --booster or --learner" in result.stderr


def test_ctrl_c_keeps_and_shows_what_is_done(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    up_to = Run.up_to

    def interrupted(self: Run, rounds: int) -> Iterator[FinishedRound]:
        yield from islice(up_to(self, rounds), 3)
        raise KeyboardInterrupt

    monkeypatch.setattr(Run, "up_to", interrupted)
    result = run("fit", data, "--target", "label", *STUMPS, "--output", tmp_path / "m.pacb")
    assert result.exit_code == 130
    assert "interrupted" in result.stdout
    assert len(pacboost.load(tmp_path / "m.pacb").ledger_) == 3
