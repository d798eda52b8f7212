"""``pacboost fit`` that chooses by itself, as a newcomer runs it."""

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import pacboost
from pacboost import StrongClassifier
from pacboost.errors import InputWarning, ParameterError
from pacboost.sources.columns import Columns
from pacboost.sources.data_file import DataFile
from pacboost.sources.file_rows import read_csv
from pacboost.sources.kinds.dates import Dates, DayOrder
from tests.cli.running import answer, people, refused, requests, run, well, write_csv

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
        "counted on ",
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
    impossible = ["fit", data, "--target", "label", *QUICK, "--recall", "0.9999"]
    assert "No threshold is certified" in refused(*impossible, code=1)


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
        assert "'nobody'" in refused("fit", data, "--target", "label", option, "nobody")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--target", "nope"], "has no column 'nope'"),
        (["--target", "label", "--epsilon", "2"], "epsilon is 2"),
        (["--target", "label", "--output", "no/such/folder/m.pacb"], "folder does not exist"),
        ([], "Missing option '--target'"),
        *(
            (["--target=label", option], f"{option.split('=')[0]} requires --booster or --learner")
            for option in ("--leaves=4", "--certify=holdout", "--validation=0.1", "--max-bins=9")
        ),
    ],
)
def test_errors_are_one_sentence(data: Path, arguments: list[str], message: str) -> None:
    assert message in refused("fit", data, *arguments)


# ``pacboost fit --text`` as a user runs it, alone and beside other columns.


@pytest.fixture(scope="module")
def intents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_csv(tmp_path_factory.mktemp("texts") / "requests.csv", requests(20))


def mixed(rows: int = 160) -> dict[str, Any]:
    """The intent is told by a word, a number and a category, each for a third of the rows."""
    generator = np.random.default_rng(0)
    kind = generator.choice(["lost", "other"], size=rows)
    part = np.arange(rows) % 3
    said = np.where(part == 0, np.where(kind == "lost", "card lost", "top up"), "hello there")
    age = np.where(part == 1, np.where(kind == "lost", 60, 20), 40) + generator.normal(size=rows)
    city = np.where(part == 2, np.where(kind == "lost", "Rome", "Bern"), "Oslo")
    return {"said": said, "age": age.tolist(), "city": city, "id": range(rows), "kind": kind}


def test_texts_beside_numbers_and_categories(tmp_path: Path) -> None:
    path, model = write_csv(tmp_path / "mixed.csv", mixed()), tmp_path / "m.pacb"
    asked = ["--text", "said", "--target", "kind", "--drop", "id", "--rounds", "60"]
    found = answer("fit", path, *asked, "--output", model)
    read = "3 columns, 1 of numbers, 1 of categories ('city') and 1 of texts ('said')"
    assert found["data"].endswith(read)
    predicted = answer("predict", model, path, "--target", "kind")
    assert predicted["wrong"] <= 2
    columns = {n: np.array(list(own)) for n, own in mixed().items() if n in ("said", "age", "city")}
    rows = Columns(
        {n: own.astype(object) if own.dtype.kind == "U" else own for n, own in columns.items()}
    )
    direct = pacboost.load(model).predict(rows).tolist()
    assert [row["prediction"] for row in predicted["predictions"]] == direct
    row = ["said=card lost", "age=61", "city=Rome"]
    reply = answer("ask", model, *row, "--top", "50")["answers"][0]
    assert reply["answer"] == "lost"
    told = " ".join(ground["words"] for ground in reply["why"])
    assert "said contains" in told
    assert "age >" in told


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--text", "nope", "--target", "intent"], "--text names 'nope'"),
        (["--text", "utterance", "--target", "nope"], "has no column 'nope'"),
        (["--text", "intent", "--target", "intent"], "--text names 'intent'"),
        (["--text", "utterance", "--target", "intent", "--groups", "g"], "'g'"),
        (["--text", "utterance", "--target", "intent", "--rounds", "0"], "n_estimators is 0"),
        (["--text", "utterance", "--target", "intent", "--drop", "x"], "--drop names 'x'"),
        (["--text", "utterance", "--target", "intent", "--booster", "logit"], "--text cannot be"),
    ],
)
def test_errors_about_texts_are_one_sentence(
    intents: Path, options: list[str], message: str
) -> None:
    assert message in refused("fit", intents, *options)


def test_text_that_is_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "latin.csv"
    path.write_bytes(b"utterance,intent\nlost card,a\ncaf\xe9,b\n")
    options = ("--text", "utterance", "--target", "intent", "--encoding", "utf-8")
    assert "latin.csv, line 3" in refused("fit", path, *options)


# Dates with slashes: read if the column shows which number is the day, else asked about.


DAYS = np.datetime64("2024-01-01") + np.random.default_rng(0).integers(0, 366, 300)


def written(path: Path, form: str, days: np.ndarray = DAYS) -> Path:
    """Write a label that the month decides, and dates in this form."""
    with path.open("w", newline="") as stream:
        lines = csv.writer(stream)
        lines.writerow(["when", "size", "y"])
        for k, day in enumerate(days.astype(object)):
            said = form.format(d=day.day, m=day.month, y=day.year)
            lines.writerow([said, k % 97, "late" if day.month > 6 else "early"])
    return path


@pytest.mark.parametrize(("form", "order"), [
    ("{d}/{m}/{y}", "day/month/year"), ("{m:02}/{d:02}/{y}", "month/day/year"),
    ("{d}/{m}/{y} 08:30", "day/month/year"),
])  # fmt: skip
def test_a_column_that_shows_the_order_is_read(tmp_path: Path, form: str, order: str) -> None:
    table = read_csv(written(tmp_path / "rows.csv", form), "y").table
    assert (table.names[2], table.levels.kind(2).held) == (
        "when: month",
        f"dates written as {order}",
    )
    months = table.column(2)
    assert months.tolist() == [day.month for day in DAYS.astype(object)]


def test_an_ambiguous_column_is_asked_about(tmp_path: Path) -> None:
    few = DAYS[[day.day <= 12 for day in DAYS.astype(object)]]
    path = written(tmp_path / "rows.csv", "{d}/{m}/{y}", few)
    with pytest.warns(InputWarning, match=r"ambiguous dates.*--dayfirst"):
        table = read_csv(path, "y", categories=True).table
    assert table.names == ("when", "size")
    for day_first, order in ((True, "day/month/year"), (False, "month/day/year")):
        levels = read_csv(DataFile(path, day_first=day_first), "y").table.levels
        assert levels.kind(2) == Dates("month", DayOrder(order))


def test_the_option_does_not_overrule_what_a_column_shows(tmp_path: Path) -> None:
    path = written(tmp_path / "rows.csv", "{m}/{d}/{y}")
    levels = read_csv(DataFile(path, day_first=True), "y").table.levels
    assert levels.kind(2) == Dates("month", DayOrder.MONTH_DAY)


def test_new_rows_are_read_in_the_order_of_the_fit(tmp_path: Path) -> None:
    few = DAYS[[day.day <= 12 for day in DAYS.astype(object)]]
    old, model = written(tmp_path / "old.csv", "{d}/{m}/{y}", few), tmp_path / "m.pacb"
    asked = ["fit", old, "--target", "y", "--booster", "adaboost", "--output", model]
    assert "Give --dayfirst" in refused(*asked, code=0)
    assert "1 of dates ('when')" in well(*asked, "--dayfirst")
    assert pacboost.load(model).levels_.kind(0) == Dates(order=DayOrder.DAY_MONTH)
    for form in ("{d}/{m}/{y}", "{y}-{m:02}-{d:02}"):  # one row each: it shows no order
        one = written(tmp_path / "new.csv", form, np.array(["2024-02-09"], dtype="datetime64[D]"))
        assert "early" in well("predict", model, one, "--drop", "y")
    wrong = written(tmp_path / "new.csv", "{m}/{d}/{y}", np.array(["2024-02-29"], "datetime64[D]"))
    assert "held dates written as" in refused("predict", model, wrong, "--drop", "y")


def test_python_says_the_order_too(tmp_path: Path) -> None:
    few = DAYS[[day.day <= 12 for day in DAYS.astype(object)]]
    path = written(tmp_path / "rows.csv", "{d}/{m}/{y}", few)
    quick: dict[str, Any] = {"n_estimators": 2, "random_state": 0, "verbose": 0}
    with pytest.warns(InputWarning, match="in Python dates="):
        StrongClassifier(**quick).fit(path, "y")
    for dates, order in (("day-first", "day/month/year"), ("month-first", "month/day/year")):
        model = StrongClassifier(dates=dates, **quick).fit(path, "y")
        assert model.levels_.kind(2) == Dates("month", DayOrder(order))
        frame = StrongClassifier(dates=dates, **quick)
        with pytest.warns(InputWarning, match="'when' as dates written"):
            frame.fit(pd.read_csv(path).drop(columns="y"), pd.read_csv(path)["y"])
        assert frame.levels_ == model.levels_
    with pytest.raises(ParameterError, match="'auto', 'day-first'"):
        StrongClassifier(dates="european").fit(path, "y")
    with pytest.raises(ParameterError, match="X is neither"):
        StrongClassifier(dates="day-first").fit(np.zeros((50, 1)), np.arange(50) % 2)
    with pytest.raises(ParameterError, match="leave dates at 'auto'"):
        StrongClassifier(dates="day-first").fit_source(path, "y")
