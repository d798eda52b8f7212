"""The first day of a new user: files as they come, through every command that reads them."""

import csv
import json
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import pacboost
from pacboost import BoostClassifier
from pacboost.cli.main import main
from pacboost.errors import DataError
from pacboost.estimators.strong.reading import ordered
from tests.cli.running import answer, refused, run, well

TARGET = "kauft?"
SMALL = ("--target", TARGET, "--seed", "1", "--rounds", "40")
TOWNS = ["Köln", "Zürich", "São Paulo", "東京"]


def customers(rows: int, seed: int) -> dict[str, list[Any]]:
    """Rows with words for missing values, thousands, booleans, times, ids and idle columns."""
    generator = np.random.default_rng(seed)
    age, hours = generator.integers(18, 80, rows), generator.integers(0, 17_000, rows)
    price = generator.normal(2000, 800, rows)
    times = np.datetime64("2023-01-01T00:00") + hours.astype("timedelta64[h]")
    buys = (age > 45) ^ (hours % 24 > 12)
    every = np.arange(rows)
    return {
        "id": [f"kunde {number}" for number in generator.integers(0, 5000, rows)],
        "Alter": np.where(every % 17 == 0, "NA", age.astype(str)).tolist(),
        "price": ["N/A" if i % 13 == 0 else f"{own:,.1f}" for i, own in enumerate(price)],
        "Stadt": np.where(every % 11 == 0, "-", generator.choice(TOWNS, rows)).tolist(),
        "member": generator.choice(["true", "false"], rows).tolist(),
        "when": [str(time) for time in times],
        "nothing": [""] * rows,
        "constant": ["same"] * rows,
        TARGET: np.where(buys, "ja", "nein").tolist(),
    }


def write(path: Path, columns: dict[str, list[Any]]) -> Path:
    """Write semicolons, with a byte order mark."""
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file, delimiter=";")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path


def frame(columns: dict[str, list[Any]]) -> pd.DataFrame:
    """The same rows as another program would hold them."""
    found = pd.DataFrame(columns).replace({"NA": None, "N/A": None, "-": None, "": None})
    found["Alter"] = found["Alter"].astype("float64")
    found["price"] = found["price"].str.replace(",", "").astype("float64")
    found["member"] = found["member"] == "true"
    found["when"] = pd.to_datetime(found["when"])
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("first day")
    for name, seed in (("train", 1), ("fresh", 2)):
        columns = customers(1200, seed)
        write(folder / f"{name}.csv", columns)
        rows = frame(columns)
        rows.to_parquet(folder / f"{name}.parquet")
        rows.to_feather(folder / f"{name}.feather")
        rows.to_json(folder / f"{name}.jsonl", orient="records", lines=True, date_format="iso")
        rows.to_csv(folder / f"{name}.tsv.bz2", sep="\t", index=False)
    for kind in ("csv", "parquet"):
        result = run("fit", folder / f"train.{kind}", *SMALL, "--output", folder / f"{kind}.pacb")
        assert result.exit_code == 0, result.output
        (folder / f"{kind}.txt").write_text(result.output, encoding="utf-8")
    return folder


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_fit_says_what_was_read(folder: Path, kind: str) -> None:
    said = " ".join((folder / f"{kind}.txt").read_text(encoding="utf-8").split())
    assert "1,200 rows of 6 columns, 2 of" in said
    assert "columns that hold no" in said
    assert "columns that hold the" in said
    assert said.count("more than 254: the") == 1
    assert "column 'id' has" in said


FILES = ["fresh.csv", "fresh.parquet", "fresh.feather", "fresh.jsonl", "fresh.tsv.bz2"]


def test_a_model_of_one_kind_of_file_predicts_every_other(folder: Path) -> None:
    found = [
        answer("predict", folder / model, folder / file, "--target", TARGET)
        for model in ("csv.pacb", "parquet.pacb")
        for file in FILES
    ]
    assert all(own == found[0] for own in found)
    assert found[0]["wrong"] < 200


def test_a_file_and_the_same_file_read_by_pandas_give_one_model(folder: Path) -> None:
    rows, new = (pd.read_csv(folder / f"{own}.csv", sep=";") for own in ("train", "fresh"))
    model = pacboost.load(folder / "csv.pacb")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # notes on columns, which fit has printed
        made = pacboost.StrongClassifier(n_estimators=40, random_state=1).fit(rows, TARGET)
    assert made.levels_ == model.levels_
    assert made.certificate_.value == model.certificate_.value
    found = answer("predict", folder / "csv.pacb", folder / "fresh.csv", "--target", TARGET)
    for own in (model, made):
        wrong = own.predict(new.drop(columns=TARGET)) != new[TARGET]
        assert np.count_nonzero(wrong) == found["wrong"]
    X = new.drop(columns=TARGET)
    assert np.array_equal(model.predict_proba(X), made.predict_proba(X))
    with pytest.raises(DataError, match="'Alter' held numbers in"):
        model.predict(X.assign(Alter=[*X["Alter"][:3], "abc", *X["Alter"][4:]]))


@pytest.mark.filterwarnings("ignore::pacboost.errors.InputWarning")
def test_categories_that_are_chosen_are_the_same_however_the_file_is_read(folder: Path) -> None:
    rows = pd.read_csv(folder / "train.csv", sep=";")
    named = ["Alter", "member", "Stadt", "id", "constant"]
    choice: dict[str, Any] = {"random_state": 1, "n_estimators": 5, "categorical_features": named}
    made = [
        pacboost.StrongClassifier(**choice, dates=dates).fit(data, TARGET)
        for data, dates in ((rows, "auto"), (folder / "train.csv", "auto"), (rows, "day-first"))
    ]
    assert {(made[0].schema_.names or ())[j] for j in made[0].levels_.columns} == {*named}
    new = pd.read_csv(folder / "fresh.csv", sep=";").drop(columns=TARGET)
    for model in made[1:]:
        assert model.levels_ == made[0].levels_
        assert np.array_equal(model.predict_proba(new), made[0].predict_proba(new))


@pytest.mark.filterwarnings("ignore::pacboost.errors.InputWarning")
def test_rows_to_validate_on_may_hold_dates_and_other_categories(folder: Path) -> None:
    rows, new = (pd.read_csv(folder / f"{own}.csv", sep=";") for own in ("train", "fresh"))
    model = pacboost.BoostClassifier(n_estimators=5, certify="holdout", random_state=0)
    model.fit(
        rows.drop(columns=TARGET), rows[TARGET], X_val=new.drop(columns=TARGET), y_val=new[TARGET]
    )
    assert 0 < model.certificate_.value < 1


def test_the_standard_input(folder: Path) -> None:
    for file in ("fresh.csv", "fresh.parquet", "fresh.jsonl", "fresh.tsv.bz2"):
        content = (folder / file).read_bytes()
        arguments = ["predict", str(folder / "csv.pacb"), "-", "--target", TARGET, "--json"]
        result = CliRunner().invoke(main, arguments, input=content)
        assert result.exit_code == 0, result.output
        named = answer("predict", folder / "csv.pacb", folder / file, "--target", TARGET)
        assert json.loads(result.stdout) == named
    content = (folder / "train.csv").read_bytes()
    options = ["--target", TARGET, "--learner", "stump", "--rounds", "3"]
    result = CliRunner().invoke(main, ["fit", "-", *options], input=content)
    assert result.exit_code == 0, result.output
    assert "standard input: 1,200 rows" in result.output


@pytest.mark.parametrize("file", FILES[:2])
def test_certify_and_report_read_files(folder: Path, file: str) -> None:
    model = folder / "csv.pacb"
    certified = answer("certify", model, folder / file, "--target", TARGET)
    assert 0 < certified["certificate"]["value"] < 0.3
    page = folder / "page.html"
    well("report", model, "--data", folder / file, "--target", TARGET, "--output", page)
    assert "when: hour" in page.read_text(encoding="utf-8")


def test_verify_and_export_and_ask(folder: Path) -> None:
    well("verify", folder / "csv.pacb")
    well("export", folder / "csv.pacb", "--output", folder / "m.py")
    said = well("ask", folder / "csv.pacb", "Alter=30", "when=2024-05-01 20:00", "--top", "20")
    assert "when: hour = 20" in said


def test_unknown_levels_are_named(folder: Path, tmp_path: Path) -> None:
    columns = customers(30, 3) | {"Stadt": ["Atlantis"] * 30}
    result = run("predict", folder / "csv.pacb", write(tmp_path / "new.csv", columns))
    assert result.exit_code == 0
    assert "column 'Stadt' holds levels" in result.stderr
    assert "such as 'Atlantis'" in result.stderr


def test_groups_and_times_may_be_ids_and_dates(folder: Path) -> None:
    for option in (("--groups", "id"), ("--time-column", "when")):
        well("fit", folder / "train.csv", *SMALL, *option, "--rounds", "5")


def test_weights(folder: Path) -> None:
    options = ("--target", TARGET, "--learner", "stump", "--rounds", "3")
    plain = answer("fit", folder / "train.csv", *options, "--drop", "Alter")
    assert "without weights" not in plain["sentence"]
    weights = write(folder / "w.csv", customers(300, 4) | {"Alter": list(range(300))})
    well("fit", weights, *options, "--weight", "Alter")
    for way in (options, ("--target", TARGET, "--rounds", "3")):
        for weighted in (("--weight", "Alter"), ("--class-weight", "balanced")):
            found = answer("fit", weights, *way, *weighted)
            assert "60 held-out rows" in found["sentence"]
            assert "wrong, counted without weights)" in found["sentence"]
    rows = answer("fit", weights, *options, "--weight", "Alter", "--certify", "train-error")
    assert "counted by their weights" in rows["certificate"]["claim"]
    shown = well("fit", weights, "--target", TARGET, "--rounds", "3", "--weight", "Alter")
    assert "of the training rows" in shown


NUMBERS = "a,price\n" + "".join(f'{k % 7},"{1000 + k:,}"\n' for k in range(300))


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("a,y\n1,0\n2\n", (), "bad.csv, line 3: has 1 cells, but the header has 2, separated by"),
        (NUMBERS, ("--target", "price"), "holds 300 different numbers. Is this regression?"),
        ("a,y\n1,0\n", ("--sep", ";;"), "--sep is ';;'; it has to be one character, or tab"),
        ("a,y\n1,0\n", ("--encoding", "klingon"), "'klingon' is not an encoding"),
        ("a,b,y\n1,x,0\n2,y,1\n", ("--weight", "b"), "column 'b' holds text or missing values"),
        (
            "a,y\n1,0\n2,1\n",
            ("--weight", "b", "--learner", "stump"),
            "--weight names 'b', which is not a column; the columns are 'a'",
        ),
    ],
)
def test_bad_input_is_one_line(
    tmp_path: Path, content: str, options: tuple[str, ...], message: str
) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(content)
    assert message in refused("fit", path, "--target", "y", *options)


def test_rows_without_labels_and_words_for_missing_values(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    rows = "".join(f"{k % 7},{'xy'[k % 7 > 3]}\n" for k in range(60))
    path.write_text(f"a,y\n{rows}unknown,x\n1,\n2,None\n")
    options = ("--target", "y", "--learner", "stump", "--rounds", "3")
    result = run("fit", path, *options, "--skip-unlabelled", "--missing", "unknown")
    assert result.exit_code == 0, result.output
    assert "1 of 63 rows have no 'y" in result.stderr
    assert "1 of numbers" in result.stdout
    found = answer("fit", path, *options, "--skip-unlabelled")
    assert found["classes"] == ["x", "y"]


# What a hurried analyst types and hands over: each is understood, or answered with the fix.


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
    measured = ("certify", model, new, "--of", "absolute_error", "--target")
    assert "at most" in well(*measured, "price", "--clip", "500000").lower()
    refused(*measured, "town")


def test_few_of_them_are_classes_as_they_are_written(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(["a,y", *(f'{k},"{(1 + k % 2) * 1000:,}"' for k in range(60))]))
    assert "1,000" in well("fit", path, "--target", "y", *QUICK, "--json")


def test_ids_are_not_used(houses: Path) -> None:
    asked = ("fit", houses / "old.csv", "--target", "dear", "--drop", "price", *QUICK)
    found = run(*asked)
    assert found.exit_code == 0
    assert said(found).count("'house_id' is unique in every row") == 1
    assert "unique in every row" not in said(run(*asked, "--drop", "house_id"))


def test_times_are_read_as_dates_of_files_are(houses: Path) -> None:
    asked = ("--target", "dear", "--drop", "price", "--drop", "house_id", "--rounds", "3")
    shown = well("fit", houses / "old.csv", *asked, "--time-column", "sold")
    assert "over the latest" in shown
    assert ordered(np.array(["2.1.2024", "1.2.2024", "31.12.2023"]), 3).tolist() == [1, 2, 0]
    assert ordered(np.array(["13/1/2024", "1/2/2024"]), 2).tolist() == [0, 1]
    assert "time holds missing values" in refused(
        "fit", houses / "old.csv", *asked, "--time-column", "town"
    )


def test_rows_without_a_group_are_a_group(houses: Path) -> None:
    result = run("fit", houses / "old.csv", "--target", "dear", "--groups", "town", "--rounds", "3")
    assert "groups is missing in 54" in said(result)


def test_a_file_without_the_columns_of_the_model_names_them_all(houses: Path) -> None:
    model, other = houses / "dear.pacb", houses / "other.csv"
    well(
        "fit", houses / "old.csv", "--target", "dear", "--drop", "price", *QUICK, "--output", model
    )
    other.write_text("house_id,areas\n1,2\n")
    assert "has no columns 'area" in refused("predict", model, other)


@pytest.mark.parametrize(
    ("typed", "meant"), [("predit", "predict"), ("train", "fit"), ("explain", "report")]
)
def test_a_command_that_does_not_exist_is_guessed(typed: str, meant: str) -> None:
    assert f"'{typed}'. Did you mean '{meant}'?" in refused(typed, "m.pacb")


def test_python_runs_the_command() -> None:
    asked = [sys.executable, "-m", "pacboost", "--version"]
    shown = subprocess.run(asked, capture_output=True, text=True, check=True)
    assert shown.stdout.startswith("pacboost, version ")


X = np.random.default_rng(0).normal(size=(60, 3))


def test_numbers_as_labels_point_to_the_regressor() -> None:
    with pytest.raises(DataError, match="To predict numbers, use"):
        BoostClassifier().fit(X, X[:, 0])
