"""``pacboost fit --text`` as a user runs it, alone and beside other columns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pacboost
from pacboost.sources.columns import Columns
from tests.cli.running import answer, requests, run, well, write_csv

QUICK = ["--rounds", "8"]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
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


def test_the_sentence_comes_first(data: Path) -> None:
    shown = well("fit", data, "--text", "utterance", "--target", "intent", *QUICK)
    assert shown.startswith("At most ")
    assert "requests.csv: 160 rows of 1 column, 1 of texts ('utterance')" in shown
    assert "32 to certify" in shown
    assert "lists of words" in shown


def test_texts_beside_numbers_and_categories(tmp_path: Path) -> None:
    path, model = write_csv(tmp_path / "mixed.csv", mixed()), tmp_path / "m.pacb"
    asked = ["--text", "said", "--target", "kind", "--drop", "id", "--rounds", "60"]
    found = answer("fit", path, *asked, "--output", model)
    read = "3 columns, 1 of numbers and 1 of categories ('city') and 1 of texts ('said')"
    assert found["data"].endswith(read)
    predicted = answer("predict", model, path, "--target", "kind")
    assert predicted["wrong"] <= 2
    columns = {n: np.array(list(own)) for n, own in mixed().items() if n in ("said", "age", "city")}
    rows = Columns(
        {n: own.astype(object) if own.dtype.kind == "U" else own for n, own in columns.items()}
    )
    direct = pacboost.load(model).predict(rows).tolist()
    assert [row["prediction"] for row in predicted["predictions"]] == direct
    reply = answer("ask", model, "said=card lost", "age=61", "city=Rome", "--top", "50")["answers"][
        0
    ]
    assert reply["answer"] == "lost"
    told = " ".join(ground["words"] for ground in reply["why"])
    assert "said contains" in told
    assert "age >" in told


def test_an_error_that_is_wanted(data: Path, tmp_path: Path) -> None:
    asked = ["fit", data, "--text", "utterance", "--target", "intent", *QUICK]
    assert answer(*asked, "--epsilon", "0.2")["verdict"]["reached"] is True
    missed = answer(*asked, "--epsilon", "0.001", "--output", tmp_path / "m.pacb", code=1)
    assert missed["verdict"]["reached"] is False
    assert (tmp_path / "m.pacb").exists()


def test_few_texts(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "few.csv", requests(2))
    shown = well("fit", path, "--text", "utterance", "--target", "intent", *QUICK)
    assert shown.startswith("Nothing is certified about future examples: 16 rows are too few")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--text", "nope", "--target", "intent"], "--text names 'nope'"),
        (["--text", "utterance", "--target", "nope"], "has no column 'nope'"),
        (["--text", "intent", "--target", "intent"], "--text names 'intent'"),
        (["--text", "utterance", "--target", "intent", "--groups", "g"], "'g'"),
        (["--text", "utterance", "--target", "intent", "--rounds", "0"], "n_estimators is 0"),
        (["--text", "utterance", "--target", "intent", "--drop", "x"], "--drop names 'x'"),
        (
            ["--text", "utterance", "--target", "intent", "--booster", "logit"],
            "--text cannot be combined",
        ),
    ],
)
def test_errors_are_one_sentence(data: Path, options: list[str], message: str) -> None:
    result = run("fit", data, *options)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr


def test_text_that_is_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "latin.csv"
    path.write_bytes(b"utterance,intent\nlost card,a\ncaf\xe9,b\n")
    options = ("--text", "utterance", "--target", "intent", "--encoding", "utf-8")
    result = run("fit", path, *options)
    assert result.exit_code == 2
    assert "latin.csv, line 3" in result.stderr
