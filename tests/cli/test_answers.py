"""Files of answers on the command line: certified, compared and watched without a model."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pacboost import answers, certify, certify_all, compare_models, measures
from tests.cli.running import answer, refused, well


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    generator = np.random.default_rng(0)
    truth = generator.choice(["bad", "ok"], size=800, p=[0.3, 0.7])
    other = np.where(truth == "ok", "bad", "ok")
    first, second, third = (
        np.where(generator.random(800) < p, truth, other) for p in (0.9, 0.8, 0.7)
    )
    first = np.where(generator.random(800) < 0.05, "", first)
    risk = np.where(truth == "bad", 0.6, 0.3) + 0.3 * generator.random(800)
    where, who = generator.choice(["north", "south"], size=800), generator.permutation(800) // 4
    columns = {"id": np.arange(800), "a": first, "b": second, "c": third, "risk": risk.round(4)}
    table = pd.DataFrame({**columns, "who": who, "where": where, "label": truth})
    return table.sample(frac=1, random_state=0).reset_index(drop=True)


@pytest.fixture(scope="module")
def file(frame: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path: Path = tmp_path_factory.mktemp("answers") / "answers.csv"
    frame.to_csv(path, index=False)
    return path


def asked(file: object, *options: object) -> list[object]:
    return ["certify", file, "--said", "a", "--truth", "label", *options]


def test_the_numbers_are_those_of_python(file: Path, frame: pd.DataFrame) -> None:
    said, truth = frame["a"], frame["label"]
    value = certify(answers(said), y=truth).value
    found = answer(*asked(file))
    assert found["certificate"]["value"] == value
    assert found["sentence"].startswith("If these rows are new: ")
    assert "do not count" in found["sentence"]
    wrong = answer(*asked(file, "--missing", "wrong", "--models", "5"))
    python = certify(answers(said, missing="wrong"), y=truth, models=5)
    assert wrong["certificate"]["value"] == python.value
    groups = answer(*asked(file, "--groups", "who"))["certificate"]
    assert groups["value"] == certify(answers(said), y=truth, groups=frame["who"]).value
    judge = answers(said, frame["risk"], positive="bad")
    of = [measures.recall("bad"), measures.auc("bad"), measures.cost({("bad", "ok"): 5})]
    family = certify_all(judge, y=truth, of=of, by=frame["where"])
    table = answer(*asked(file, "--of", "recall,auc", "--cost", "bad:ok=5", "--by", "where",
                             "--score", "risk", "--positive", "bad"))  # fmt: skip
    assert [own["value"] for own in table["certificates"]] == [own.value for own in family]


def test_parquet_and_standard_input(file: Path, frame: pd.DataFrame, tmp_path: Path) -> None:
    said = well(*asked(file))
    frame.to_parquet(tmp_path / "answers.parquet")
    assert well(*asked(tmp_path / "answers.parquet")) == said
    assert well(*asked("-"), stdin=file.read_text()) == said


def test_answers_that_are_numbers(tmp_path: Path) -> None:
    generator = np.random.default_rng(1)
    truth = generator.integers(2, size=300)
    said = np.where(generator.random(300) < 0.8, truth, 1 - truth)
    table = pd.DataFrame({"id": np.arange(300), "said": said, "y": truth}).astype({"said": object})
    table.loc[:9, "said"] = None
    table.loc[10:11, "said"] = "maybe"  # no class, so it is wrong
    path, price = tmp_path / "numbers.csv", tmp_path / "prices.csv"
    table.to_csv(path, index=False)
    options = ["--said", "said", "--truth", "y"]
    found = answer("certify", path, *options)["certificate"]["inputs"]
    assert (found["n"], found["k"]) == (290, 2 + int((said != truth)[12:].sum()))
    one = answer("certify", path, *options, "--of", "recall", "--positive", "1")
    assert one["details"]["class"] == "1"
    pd.DataFrame({"said": said + truth / 4 + 0.5, "y": said}).to_csv(price, index=False)
    off = answer("certify", price, *options, "--of", "large_errors", "--larger-than", "0.6")
    assert off["details"]["seen"] == truth.mean()


def test_the_page(file: Path, tmp_path: Path) -> None:
    for number, options in enumerate(([], ["--by", "where"])):
        page = tmp_path / f"{number}.html"
        well(*asked(file, *options, "--report", page))
        text = page.read_text()
        assert "If these rows are" in text
        assert 'id="confusion"' in text
    assert "Worst group" in text


def test_all_pairs_share_delta(file: Path, frame: pd.DataFrame) -> None:
    found = answer("compare", file, "--said", "a", "--said", "b", "--said", "c", "--truth", "label",
                   "--missing", "wrong")["differences"]  # fmt: skip
    assert [(own["one"], own["other"]) for own in found] == [("a", "b"), ("a", "c"), ("b", "c")]
    a, b = (answers(frame[name], missing="wrong") for name in "ab")
    python = compare_models(a, b, None, frame["label"], models=3)
    assert (found[0]["lower"], found[0]["upper"]) == python.interval
    more = answer("compare", file, "--said", "a", "--said", "b", "--truth", "label", "--models", 9)
    assert more["differences"][0]["pairs"] == 36
    assert more["differences"][0]["rows"] == int((frame["a"] != "").sum())
    assert "two columns" in refused("compare", file, "--said", "a", "--truth", "label")


def test_thresholds_and_confident_answers(file: Path) -> None:
    found = answer("threshold", file, "--score", "risk", "--truth", "label", "--positive", "bad",
                   "--recall", "0.9")  # fmt: skip
    assert found["certificate"]["value"] >= 0.9
    assert found["certificate"]["claim"].startswith("If these rows are new")
    sure = answer(*asked(file, "--score", "risk", "--positive", "bad", "--target-error", "0.1"))
    assert sure["certificate"]["value"] <= 0.1
    assert "it answers" in sure["sentence"]


def test_a_stream_is_watched(file: Path, tmp_path: Path) -> None:
    watch = ["watch", file, "--said", "a", "--truth", "label", "--state", tmp_path / "a.watch"]
    first = answer(*watch, "--error", "0.2")
    assert (first["rows"], first["alarm"]) == (answer(*asked(file))["certificate"]["size"], False)
    refused(*watch)
    assert answer(*watch, "--again")["rows"] == 2 * first["rows"]
    low = ["watch", file, "--said", "a", "--truth", "label", "--error", "0.03"]
    assert answer(*low, "--reference", file, code=3)["drift"]["drifted_at"] is None
    assert "has no certificate" in refused(*low[:-2])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["certify", "{file}", "--truth", "label"], "name the column of answers by --said"),
        (["certify", "{file}", "--said", "d", "--truth", "label"], "no column 'd'"),
        (["certify", "{file}", "--said", "a", "--truth", "d"], "has no column 'd'"),
        (["certify", "{file}", "{file}", "--said", "a", "--truth", "label"], "but two were given"),
        (["watch", "{file}", "--said", "a", "--error", "0.1"], "nothing can be watched"),
        (["watch", "{file}", "--truth", "label"], "name the column of answers by --said"),
    ],
)
def test_refusals(file: Path, arguments: list[str], words: str) -> None:
    assert words in refused(*(own.format(file=file) for own in arguments))
