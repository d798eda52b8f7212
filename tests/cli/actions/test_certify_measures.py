"""``pacboost certify --of``: what Python says, for saved classifiers and regressors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import pacboost
from pacboost.bounds.family import Family
from tests.cli.running import answer, people, run, well, write_csv


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("measures")
    write_csv(folder / "train.csv", people(300, 0))
    region = np.random.default_rng(3).choice(["north", "south"], size=500)
    write_csv(folder / "fresh.csv", {**people(500, 1), "region": region})
    well(
        "fit", folder / "train.csv", "--target", "label", "--booster", "logit", "--learner", "tree",
        "--rounds", "9", "--output", folder / "m.pacb",
    )  # fmt: skip
    return folder


def asked(folder: Path, *options: str) -> list[object]:
    return ["certify", folder / "m.pacb", folder / "fresh.csv", "--target", "label", *options]


def test_one_measure(folder: Path) -> None:
    found = answer(*asked(folder, "--of", "recall", "--drop", "region"))
    assert found["of_what"] == "recall"
    assert found["details"]["class"] == "yes"
    said = well(*asked(folder, "--of", "recall", "--positive", "no", "--drop", "region"))
    assert said.startswith("Of the new examples of class 'no', the classifier finds at least")
    assert "95 % confidence" in said


def test_a_family_by_groups(folder: Path) -> None:
    found = answer(*asked(folder, "--of", "recall", "--by", "region", "--end", "both"))
    family = Family.from_dict(found)
    assert {own.details["group"] for own in family} == {"north", "south"}
    assert all(check.holds for check in pacboost.verify(family))
    said = well(*asked(folder, "--of", "recall", "--by", "region", "--end", "both"))
    assert f"Worst group: {family.worst_group}." in said
    assert "percentage points between any two groups" in said


def test_costs(folder: Path) -> None:
    options = ("--cost", "yes:no=5", "--cost", "no:yes=1", "--drop", "region")
    found = answer(*asked(folder, *options))
    assert found["of_what"] == "cost"
    assert found["inputs"]["scale"] == 5
    both = answer(*asked(folder, "--of", "error,auc", *options))
    assert [own["of_what"] for own in both["certificates"]] == ["error", "auc", "cost"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--of", "recal"), "of is 'recal'"),
        (("--of", "recall", "--positive", "maybe"), "the classes are no, yes"),
        (("--cost", "yes-no"), "TRUE:SAID=NUMBER"),
        (("--of", "recall", "--epsilon", "0.1"), "--epsilon speaks of the error alone"),
        (("--of", "recall", "--groups", "region"), "cannot be certified with groups"),
    ],
)
def test_bad_input(folder: Path, options: tuple[str, ...], words: str) -> None:
    result = run(*asked(folder, *options, "--drop", "region"))
    assert result.exit_code in (1, 2)
    assert words in " ".join(result.output.split())


def test_regressors(tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    rows = generator.normal(size=(700, 2))
    target = rows[:, 0] + generator.normal(size=700) / 4
    model = pacboost.BoostRegressor(n_estimators=20).fit(rows[:400], target[:400])
    model.save(tmp_path / "m.pacb")
    held = {"a": rows[400:, 0].tolist(), "b": rows[400:, 1].tolist(), "y": target[400:].tolist()}
    data = write_csv(tmp_path / "fresh.csv", held)
    common = ["certify", tmp_path / "m.pacb", data, "--target", "y"]
    found = answer(*common, "--of", "large_errors", "--larger-than", "1")
    direct = pacboost.certify(model, rows[400:], target[400:], of="large_errors", larger_than=1.0)
    assert found["value"] == direct.value
    assert run(*common).exit_code == 2
    assert "--of absolute_error" in run(*common).output
