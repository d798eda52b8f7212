"""``pacboost ask`` as a user runs it."""

from __future__ import annotations

from pathlib import Path

import pytest

import pacboost
from pacboost.sources.csv import read_csv
from tests.cli.running import answer, people, requests, run, well, write_csv


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


def test_a_text_without_a_known_word(intents: Path) -> None:
    assert "no known word" in well("ask", intents, "xyzzy")


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
    result = run("ask", people_model, part)
    assert result.exit_code == 2
    assert "its columns are size, colour, weight" in result.stderr


def test_no_number(people_model: Path) -> None:
    result = run("ask", people_model, "size=tall")
    assert result.exit_code == 2
    assert "size" in result.stderr


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
