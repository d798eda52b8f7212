"""``pacboost predict`` as a user runs it."""

import csv
import gzip
from pathlib import Path

import numpy as np
import pytest

import pacboost
from pacboost.sources import file_rows
from pacboost.sources.file_rows import read_csv
from tests.cli.running import answer, people, refused, requests, run, well, write_csv


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model, rows to learn from and rows to predict."""
    folder: Path = tmp_path_factory.mktemp("predict")
    write_csv(folder / "train.csv", people(300, 0))
    write_csv(folder / "rows.csv", people(150, 1))
    fit = ["--booster", "logit", "--learner", "tree", "--rounds", "9", "--output"]
    well("fit", folder / "train.csv", "--target", "label", *fit, folder / "m.pacb")
    return folder


def predicted(folder: Path) -> list[str]:
    rows = read_csv(folder / "rows.csv", "label", categories=True)
    answers: list[str] = pacboost.load(folder / "m.pacb").predict(rows.table).tolist()
    return answers


def test_one_line_a_row_on_the_output_and_a_summary_on_the_error_stream(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = run("predict", folder / "m.pacb", folder / "rows.csv")
    assert result.stdout.splitlines() == ["prediction", *predicted(folder)]
    assert "150 rows: " in result.stderr
    monkeypatch.setattr(file_rows, "ROWS_PER_BLOCK", 7)  # blocks of any size give the same
    other_way = run("predict", folder / "rows.csv", folder / "m.pacb")
    assert other_way.stdout == result.stdout


def test_probabilities_columns_kept_and_errors_in_a_file(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    asked = ["--proba", "--keep", "weight", "--target", "label", "--output", out]
    said = well("predict", folder / "m.pacb", folder / "rows.csv", *asked)
    with out.open(newline="") as file:
        header, *rows = csv.reader(file)
    assert header == ["weight", "prediction", "probability of no", "probability of yes"]
    read = read_csv(folder / "rows.csv", "label", categories=True)
    chances = pacboost.load(folder / "m.pacb").predict_proba(read.table)
    assert [[float(cell) for cell in row[2:]] for row in rows] == chances.tolist()
    assert [float(row[0]) for row in rows] == people(150, 1)["weight"]
    wrong = sum(a != b for a, b in zip(predicted(folder), read.labels, strict=True))
    assert f"{wrong} of 150 predictions" in said
    assert str(out) in said
    assert list(tmp_path.iterdir()) == [out]


def test_columns_are_found_by_name_and_others_do_not_matter(folder: Path, tmp_path: Path) -> None:
    columns = people(150, 1)
    del columns["label"]
    mixed = {"id": range(150), **dict(reversed(columns.items()))}
    path = write_csv(tmp_path / "mixed.csv", mixed)
    assert run("predict", folder / "m.pacb", path).stdout.splitlines()[1:] == predicted(folder)
    packed = tmp_path / "mixed.csv.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert run("predict", folder / "m.pacb", packed).stdout.splitlines()[1:] == predicted(folder)


def test_no_answer_where_the_model_is_not_sure(folder: Path) -> None:
    asked = ["--abstain-below", "0.9", "--target", "label"]
    found = answer("predict", folder / "m.pacb", folder / "rows.csv", *asked)
    read = read_csv(folder / "rows.csv", "label", categories=True)
    sure = pacboost.load(folder / "m.pacb").predict_proba(read.table).max(axis=1) >= 0.9
    given = [row["prediction"] is not None for row in found["predictions"]]
    assert given == sure.tolist()
    assert found["counts"]["no answer"] == 150 - sure.sum() > 0


def test_a_model_that_knows_no_names_takes_columns_in_order(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(100, 2))
    model = pacboost.AdaBoostClassifier(n_estimators=3).fit(X, (X[:, 0] > 0).astype(int))
    model.save(tmp_path / "m.pacb")
    columns = {"a": X[:, 0].tolist(), "y": [0] * 100, "b": X[:, 1].tolist()}
    path = write_csv(tmp_path / "rows.csv", columns)
    found = answer("predict", tmp_path / "m.pacb", path, "--target", "y")
    assert [row["prediction"] for row in found["predictions"]] == model.predict(X).tolist()
    assert "has 3 feature columns, but" in refused("predict", tmp_path / "m.pacb", path)


def test_numbers(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(200, 2))
    model = pacboost.BoostRegressor(n_estimators=3, random_state=0).fit(X, X[:, 0])
    model.save(tmp_path / "m.pacb")
    path = write_csv(tmp_path / "rows.csv", {"a": X[:, 0].tolist(), "b": X[:, 1].tolist()})
    lines = run("predict", tmp_path / "m.pacb", path).stdout.splitlines()
    assert [float(line) for line in lines[1:]] == model.predict(X).tolist()
    assert "predicts numbers" in refused("predict", tmp_path / "m.pacb", path, "--proba")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"size": None}, "has no column 'size'"),
        ({"size": ["1"] * 149 + ["1o"]}, "'size' held numbers in fit; line 151 holds '1o'"),
        ({"size": ["inf"] * 150}, "'size' holds inf in line 2"),
    ],
)
def test_bad_rows(
    folder: Path, tmp_path: Path, change: dict[str, list[str] | None], message: str
) -> None:
    columns = {**people(150, 1), **change}
    kept = {name: cells for name, cells in columns.items() if cells is not None}
    path, out = write_csv(tmp_path / "bad.csv", kept), tmp_path / "out.csv"
    assert message in refused("predict", folder / "m.pacb", path, "--output", out)
    assert not out.exists()


def test_labels_of_another_kind_are_an_error_not_a_rate(folder: Path, tmp_path: Path) -> None:
    path = write_csv(tmp_path / "other.csv", people(150, 1, (0, 1)))
    assert "holds none of the" in refused("predict", folder / "m.pacb", path, "--target", "label")


def test_texts(tmp_path: Path) -> None:
    model = pacboost.TextBoostClassifier(n_estimators=10, random_state=0)
    rows = requests(5)
    model.fit(rows["utterance"], rows["intent"]).save(tmp_path / "m.pacb")
    path = write_csv(tmp_path / "rows.csv", rows)
    found = answer("predict", tmp_path / "m.pacb", path, "--target", "intent")
    assert [row["prediction"] for row in found["predictions"]] == rows["intent"]
    assert "name the column of" in refused("predict", tmp_path / "m.pacb", path)
    named = run("predict", tmp_path / "m.pacb", path, "--text", "utterance")
    assert named.stdout.splitlines()[1:] == rows["intent"]


def test_what_is_read_is_never_written_over(folder: Path) -> None:
    before = {name: (folder / name).read_bytes() for name in ("rows.csv", "m.pacb")}
    model, rows = folder / "m.pacb", folder / "rows.csv"
    for asked in (
        ["predict", model, rows, "--output", rows],
        ["predict", model, rows, "--output", model],
        ["export", model, "--to", "python", "--output", model],
        ["report", model, "--output", model],
        ["fit", rows, "--target", "label", "--output", rows],
    ):
        assert "would be overwritten" in refused(*asked)
    assert before == {name: (folder / name).read_bytes() for name in before}


# ``pacboost ask`` as a user runs it.


@pytest.fixture(scope="module")
def intents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = requests(5)
    model = pacboost.TextBoostClassifier(n_estimators=20, random_state=0)
    path: Path = tmp_path_factory.mktemp("ask") / "intents.pacb"
    model.fit(rows["utterance"], rows["intent"]).save(path)
    return path


@pytest.fixture(scope="module", params=["stump", "tree"])
def people_model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ask")
    path: Path = folder / "people.pacb"
    data = write_csv(folder / "people.csv", people(300, 0))
    asked = ["--learner", request.param, "--booster", "logit", "--rounds", "30", "--output", path]
    well("fit", data, "--target", "label", *asked)
    return path


def test_a_text_gets_an_answer_a_confidence_and_grounds(intents: Path) -> None:
    shown = run("ask", intents, "They took my card!").stdout
    first, second, *grounds = shown.splitlines()
    assert first == "lost card"
    assert second.startswith("  confidence ")
    assert any("'card'" in line for line in grounds)


def test_several_texts_and_lines_of_the_input(intents: Path) -> None:
    asked = ["I lost my card", "top up"]
    found = answer("ask", intents, *asked)["answers"]
    assert [one["answer"] for one in found] == ["lost card", "top-up"]
    again = answer("ask", intents, stdin="I lost my card\n\ntop up\n")["answers"]
    assert again == found
    model = pacboost.load(intents)
    assert [one["confidence"] for one in found] == model.predict_proba(asked).max(axis=1).tolist()


def test_no_answer_where_it_is_not_sure(intents: Path) -> None:
    found = answer("ask", intents, "xyzzy", "lost card", "--abstain-below", "0.7")["answers"]
    assert [one["answer"] for one in found] == [None, "lost card"]
    assert found[0]["guess"] in ("lost card", "top-up")
    assert "no answer (a guess: " in well("ask", intents, "xyzzy", "--abstain-below", "0.7")


def test_a_row_by_the_names_of_its_columns(people_model: Path) -> None:
    asked = ["size=1.5", "colour=red", "weight=0"]
    found = answer("ask", people_model, *asked)["answers"][0]
    assert found["answer"] == "yes"
    path = people_model.with_name("row.csv")
    write_csv(path, {"size": [1.5], "colour": ["red"], "weight": [0], "label": ["yes"]})
    table = read_csv(path, "label", categories=True).table
    model = pacboost.load(people_model)
    assert found["confidence"] == model.predict_proba(table)[0, 1]
    told = " ".join(ground["words"] for ground in found["why"])
    assert "size" in told
    lines = answer("ask", people_model, stdin="size=1.5 colour=red weight=0\n")["answers"]
    assert lines[0]["answer"] == "yes"


def test_what_is_not_named_is_missing(people_model: Path) -> None:
    found = answer("ask", people_model, "size=-2")["answers"][0]
    assert found["answer"] == "no"
    model = pacboost.load(people_model)
    row = [{"size": -2.0, "colour": None, "weight": float("nan")}]
    pandas = pytest.importorskip("pandas")
    assert found["confidence"] == model.predict_proba(pandas.DataFrame(row))[0, 0]


@pytest.mark.parametrize("part", ["height=2", "size", "=3"])
def test_no_such_column(people_model: Path, part: str) -> None:
    assert "its columns are size" in refused("ask", people_model, part)


def test_a_similar_column_is_named(people_model: Path) -> None:
    assert "did you mean 'colour'?" in refused("ask", people_model, "color=red")


def test_values_stand_in_the_reasons_as_they_were_asked(people_model: Path) -> None:
    for value, words in (("blue", "blue, one of the others"), ("red", "red")):
        found = answer("ask", people_model, "size=1,000.0", f"colour={value}", "--top", "9")
        told = {ground["words"] for ground in found["answers"][0]["why"]}
        assert {"size = 1,000.0", f"colour = {words}"} <= told


def test_the_share_of_the_answer_among_the_held_out_rows(people_model: Path) -> None:
    found = answer("ask", people_model, "size=1.5")["answers"][0]
    model = pacboost.load(people_model)
    held_out = model.model_.held_out
    place = model.classes_.tolist().index(found["answer"])
    assert found["base_rate"] == held_out.count[held_out.own == place].sum() / held_out.rows
    assert "not given: colour, weight" in well("ask", people_model, "size=1.5")


def test_rows_without_a_label_are_predicted_and_not_certified(
    people_model: Path, tmp_path: Path
) -> None:
    columns = people(100, 5)
    counts = []
    for labels in (columns["label"][10:], [*[""] * 10, *columns["label"][10:]]):
        cut = {name: cells[-len(labels) :] for name, cells in columns.items()}
        path = write_csv(tmp_path / "rows.csv", {**cut, "label": labels})
        certificate = answer("certify", people_model, path, "--target", "label")["certificate"]
        wrong = answer("predict", people_model, path, "--target", "label")["wrong"]
        counts.append((certificate["inputs"]["k"], certificate["inputs"]["n"], wrong))
        page = tmp_path / "page.html"
        well("report", people_model, "--data", path, "--target", "label", "--output", page)
    assert counts[0] == counts[1]
    assert counts[0][1] == 90
    assert answer("predict", people_model, path, "--target", "label")["rows"] == 100


def test_a_model_of_true_and_false_keeps_booleans(tmp_path: Path) -> None:
    data = write_csv(tmp_path / "rows.csv", people(300, 0, (False, True)))
    options = ("--learner", "stump", "--rounds", "5", "--output", tmp_path / "m.pacb")
    well("fit", data, "--target", "label", *options)
    model, pandas = pacboost.load(tmp_path / "m.pacb"), pytest.importorskip("pandas")
    frame = pandas.read_csv(data)
    assert model.classes_.dtype == bool
    right = model.predict(frame.drop(columns="label")) == frame["label"]
    new = write_csv(tmp_path / "new.csv", people(100, 1, ("false", "true")))
    certify = ["certify", tmp_path / "m.pacb", new, "--target", "label"]
    assert right.mean() > 0.8
    assert answer(*certify)["certificate"]["value"] < 0.5
    assert answer(*certify, "--of", "recall", "--positive", "true")["of_what"]
    other = write_csv(tmp_path / "other.csv", people(100, 1, ("false", "maybe")))
    assert "'maybe'" in refused("certify", tmp_path / "m.pacb", other, "--target", "label")


def test_a_threshold_that_was_certified_is_kept_to(tmp_path: Path) -> None:
    """Unless another one is asked for."""
    rows = requests(40)
    model = pacboost.TextBoostClassifier(n_estimators=20, random_state=0, certify="holdout")
    model.fit(rows["utterance"], rows["intent"])
    fresh, known = ["my card", "top up"] * 60, ["lost card", "top-up"] * 60
    sure = pacboost.choose_threshold(model, fresh, known, abstain_below=0.99, copies="draws")
    sure.save(tmp_path / "m.pacb")
    assert answer("ask", tmp_path / "m.pacb", "hello")["answers"][0]["answer"] is None
    free = answer("ask", tmp_path / "m.pacb", "hello", "--abstain-below", "0")["answers"][0]
    assert free["answer"] is not None
