"""The command as a user runs it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import pacboost
from pacboost.boosters.choose import BOOSTERS
from pacboost.cli.filter_options import FILTERING_ALONE
from pacboost.cli.main import IN_MEMORY, main
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.csv import read_csv
from tests.worlds import noisy


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


def test_demo_shows_both_parts() -> None:
    result = CliRunner().invoke(main, ["demo", "--rounds", "5"])
    assert result.exit_code == 0, result.output
    for part in ("0.4236", "0.6496", "0.9229", "0.5162", "malignant", "certificate", "never seen"):
        assert part in result.output


def test_fit_prints_and_writes_nothing(data: Path) -> None:
    before = sorted(data.parent.iterdir())
    result = CliRunner().invoke(main, ["fit", str(data), "--target", "label", "--rounds", "7"])
    assert result.exit_code == 0, result.output
    assert "certificate" in result.output
    assert "→ yes" in result.output
    assert sorted(data.parent.iterdir()) == before


def test_fit_writes_a_model_that_predicts(data: Path, tmp_path: Path) -> None:
    model = tmp_path / "model.json"
    arguments = ["fit", str(data), "--target", "label", "--rounds", "9", "--output", str(model)]
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
    result = CliRunner().invoke(main, ["fit", str(data), *arguments])
    assert result.exit_code == 1
    assert message in result.output
    assert "Traceback" not in result.output


def test_early_stopping_shows_validation(data: Path) -> None:
    arguments = ["fit", str(data), "--target", "label", "--rounds", "80", "--validation", "0.3"]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    assert "valid." in result.output


def test_missing_file() -> None:
    result = CliRunner().invoke(main, ["fit", "absent.csv", "--target", "y"])
    assert result.exit_code == 1
    assert "absent.csv: cannot be read" in result.output


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
    arguments += ["--categories", "--rounds", "8", "--leaves", "4", "--output", str(model)]
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
    assert checked.output.count("holds") == 3


def test_the_command_knows_every_booster() -> None:
    """Logistic filtering is what `--booster logit --filter` does."""
    assert {*IN_MEMORY, *FILTERING_ALONE, "filter_boost"} == set(BOOSTERS)


@pytest.mark.parametrize("booster", IN_MEMORY)
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


def test_text_needs_to_be_called_a_category(coloured: Path) -> None:
    result = CliRunner().invoke(main, ["fit", str(coloured), "--target", "y", "--learner", "tree"])
    assert result.exit_code == 1
    assert "hold text, not numbers: colour" in result.output


@pytest.mark.parametrize(
    "other", [["--learner", "tree"], ["--booster", "logit"], ["--leaves", "4"]]
)
def test_resampling_is_for_adaboost_with_stumps(data: Path, other: list[str]) -> None:
    result = CliRunner().invoke(main, ["fit", str(data), "--target", "label", "--resample", *other])
    assert result.exit_code == 2
    assert "--resample goes with --booster adaboost --learner stump" in result.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--learner", "tree", "--leaves", "1"], "max_leaves is 1; it may be 2"),
        (["--leaves", "4"], "Stump has no parameter 'max_leaves'"),
        (["--learner", "tree", "--certify", "train"], "certify='train' counts stumps"),
    ],
)
def test_errors_with_trees_are_one_sentence(data: Path, arguments: list[str], message: str) -> None:
    result = CliRunner().invoke(main, ["fit", str(data), "--target", "label", *arguments])
    assert result.exit_code == 1
    assert message in result.output
    assert "Traceback" not in result.output
