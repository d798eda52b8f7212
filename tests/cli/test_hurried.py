"""What a hurried analyst types and hands over: each is understood, or answered with the fix."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pacboost
from pacboost import BoostClassifier
from pacboost.errors import DataError, DataTypeError, NotCertified, ParameterError
from pacboost.estimators.strong.row_roles import ordered
from tests.cli.running import run, well

QUICK = ("--booster", "adaboost", "--rounds", "3")


@pytest.fixture(scope="module")
def houses(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Prices with commas between thousands, dates in a German form, and numbers of rows."""
    generator = np.random.default_rng(0)
    folder = tmp_path_factory.mktemp("houses")
    area, day = generator.normal(90, 20, 240), generator.integers(1, 29, (240, 3))
    for name, part in (("old", slice(0, 160)), ("new", slice(160, 240))):
        lines = ["house_id,area,sold,town,price,dear"]
        for k in range(240)[part]:
            price = 3000 * area[k] + 1000 * (k % 5)
            sold = f"{day[k, 0]:02}.{day[k, 1] % 12 + 1:02}.{2000 + day[k, 2]}"
            town = ["", "a", "b"][k % 3]
            dear = "yes" if price > 270_000 else "no"
            lines.append(f'{k + 5000},{area[k]:.1f},{sold},{town},"{price:,.0f}",{dear}')
        (folder / f"{name}.csv").write_text("\n".join(lines))
    return folder


def said(result: object) -> str:
    return " ".join(result.stderr.replace("│", "").split())  # type: ignore[attr-defined]


def test_a_target_with_commas_between_thousands_holds_numbers(houses: Path) -> None:
    old, new, model = houses / "old.csv", houses / "new.csv", houses / "m.pacb"
    numbers = ("--target", "price", "--drop", "dear", "--drop", "house_id")
    well("fit", old, *numbers, "--loss", "absolute_error", "--rounds", "20", "--output", model)
    shown = well(
        "certify", model, new, "--target", "price", "--of", "absolute_error", "--clip", "500000"
    )
    assert "at most" in shown.lower()
    refused = run("certify", model, new, "--target", "town", "--of", "absolute_error")
    assert refused.exit_code == 2


def test_more_than_200_of_them_ask_for_regression(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(["a,y", *(f'{k % 7},"{1000 + k:,}"' for k in range(300))]))
    refused = run("fit", path, "--target", "y")
    assert refused.exit_code == 2
    assert "holds 300 different numbers. Is this regression?" in said(refused)


def test_few_of_them_are_classes_as_they_are_written(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(["a,y", *(f'{k},"{(1 + k % 2) * 1000:,}"' for k in range(60))]))
    assert "1,000" in well("fit", path, "--target", "y", *QUICK, "--json")


def test_numbers_of_rows_are_advised_against(houses: Path) -> None:
    asked = ("fit", houses / "old.csv", "--target", "dear", "--drop", "price", *QUICK)
    found = run(*asked)
    assert found.exit_code == 0
    assert "'house_id' looks like the number of a row" in said(found)
    assert said(found).count("'house_id' looks like") == 1
    assert "looks like the number of a row" not in said(run(*asked, "--drop", "house_id"))


def test_times_are_read_as_dates_of_files_are(houses: Path) -> None:
    asked = ("--target", "dear", "--drop", "price", "--drop", "house_id", "--rounds", "3")
    shown = well("fit", houses / "old.csv", *asked, "--time-column", "sold")
    assert "over the latest" in " ".join(shown.split())
    assert ordered(np.array(["2.1.2024", "1.2.2024", "31.12.2023"]), 3).tolist() == [1, 2, 0]
    assert ordered(np.array(["13/1/2024", "1/2/2024"]), 2).tolist() == [0, 1]
    refused = run("fit", houses / "old.csv", *asked, "--time-column", "town")
    assert refused.exit_code == 2
    assert "time holds missing values in 54 of 160 rows" in said(refused)


def test_groups_that_are_missing_are_counted(houses: Path) -> None:
    refused = run("fit", houses / "old.csv", "--target", "dear", "--groups", "town")
    assert refused.exit_code == 2
    assert "groups holds missing values in 54 of 160 rows" in said(refused)


def test_a_file_without_the_columns_of_the_model_names_them_all(houses: Path) -> None:
    model, other = houses / "dear.pacb", houses / "other.csv"
    well(
        "fit", houses / "old.csv", "--target", "dear", "--drop", "price", *QUICK, "--output", model
    )
    other.write_text("house_id,areas\n1,2\n")
    refused = run("predict", model, other)
    assert refused.exit_code == 2
    assert refused.stdout == ""
    assert "has no columns 'area', 'sold', 'town', which the model was fitted on" in said(refused)


@pytest.mark.parametrize(
    ("typed", "meant"), [("predit", "predict"), ("train", "fit"), ("explain", "report")]
)
def test_a_command_that_does_not_exist_is_guessed(typed: str, meant: str) -> None:
    refused = run(typed, "m.pacb")
    assert refused.exit_code == 2
    assert f"No such command '{typed}'. Did you mean '{meant}'?" in said(refused)


def test_a_column_that_does_not_exist_is_guessed(houses: Path) -> None:
    refused = run("fit", houses / "old.csv", "--target", "prise")
    assert refused.exit_code == 2
    assert "Did you mean 'price'?" in said(refused)


def test_python_runs_the_command() -> None:
    asked = [sys.executable, "-m", "pacboost", "--version"]
    shown = subprocess.run(asked, capture_output=True, text=True, check=True)
    assert shown.stdout.startswith("pacboost, version ")


X = np.random.default_rng(0).normal(size=(60, 3))
Y = (X[:, 0] > 0).astype(int)


@pytest.mark.parametrize(
    ("parameters", "answer"),
    [
        ({"min_leaf_rows": 1.5}, "min_leaf_rows is 1.5; it may be a whole number of rows, or a"),
        ({"booster": "adabost"}, "booster is 'adabost'; did you mean 'adaboost'?"),
    ],
)
def test_values_that_make_no_sense_are_explained(parameters: dict[str, Any], answer: str) -> None:
    with pytest.raises(ParameterError, match=re.escape(answer)):
        BoostClassifier(**parameters).fit(X, Y)


def test_whole_floats_and_shares_of_rows_are_understood() -> None:
    for least in (0.1, 1.0, 3.0, 3):
        BoostClassifier(n_estimators=2, min_leaf_rows=least).fit(X, Y)
    assert BoostClassifier(bagging_fraction=0.5).subsample == 0.5


def test_numbers_as_labels_point_to_the_regressor() -> None:
    with pytest.raises(DataError, match=r"To predict numbers, use pacboost\.BoostRegressor"):
        BoostClassifier().fit(X, X[:, 0])


def test_training_rows_are_refused_without_a_number_that_means_nothing() -> None:
    model = BoostClassifier(n_estimators=2).fit(X, Y)
    with pytest.raises(NotCertified, match=r"60 of 60 rows .*, more than chance explains\."):
        pacboost.certify(model, X, Y)


def test_an_argument_that_came_twice_is_named() -> None:
    with pytest.raises(DataTypeError, match=r"compare got 'boosters' twice.*in this order"):
        pacboost.compare(X, Y, "logit", boosters=["adaboost"])  # type: ignore[call-arg, misc]
