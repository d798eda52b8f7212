"""``pacboost threshold``: what Python says, a file that keeps it, and refusals."""

from __future__ import annotations

from pathlib import Path

import pytest

import pacboost
from tests.cli.running import answer, people, run, well, write_csv


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("threshold")
    write_csv(folder / "train.csv", people(300, 0))
    write_csv(folder / "fresh.csv", people(700, 1))
    write_csv(folder / "later.csv", people(500, 2))
    well(
        "fit", folder / "train.csv", "--target", "label", "--booster", "logit", "--learner", "tree",
        "--rounds", "9", "--output", folder / "m.pacb",
    )  # fmt: skip
    return folder


def asked(folder: Path, *options: object) -> list[object]:
    return ["threshold", folder / "m.pacb", folder / "fresh.csv", "--target", "label", *options]


def test_the_file_keeps_the_threshold(folder: Path) -> None:
    careful = folder / "careful.pacb"
    found = answer(*asked(folder, "--recall", "0.9", "--output", careful))
    assert found["certificate"]["of_what"] == "recall"
    assert found["certificate"]["value"] >= 0.9
    model = pacboost.load(careful)
    assert model.threshold_ == found["threshold"]
    said = well("verify", careful)
    assert "finds at least" in said
    rows = well("predict", careful, folder / "later.csv", "--target", "label")
    assert "yes" in rows
    later = answer(
        "certify", careful, folder / "later.csv", "--target", "label", "--of", "recall",
    )  # fmt: skip
    assert later["value"] > 0.8
    assert run("certify", careful, folder / "fresh.csv", "--target", "label").exit_code == 1
    well("report", careful, "--output", folder / "page.html")
    assert "finds at least" in (folder / "page.html").read_text(encoding="utf-8")
    assert "finds at least" in well("inspect", careful)


def test_answers_that_are_right(folder: Path) -> None:
    modest = folder / "modest.pacb"
    found = answer(*asked(folder, "--target-error", "0.08", "--output", modest))
    assert found["certificate"]["value"] <= 0.08
    assert pacboost.choose_threshold(pacboost.load(modest)).threshold_ == found["threshold"]
    assert "of the new examples it answers" in well(*asked(folder, "--target-error", "0.08"))


def test_words(folder: Path) -> None:
    said = well(*asked(folder, "--false-positive-rate", "0.1", "--positive", "no"))
    assert "Of the new examples of other classes than 'no', the classifier calls at most" in said
    assert "The threshold is" in said
    said = well(*asked(folder, "--cost", "5,1"))
    assert "The mean cost on new examples, where one costs at most 5, is at most" in said


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        ((), 2, "exactly one of recall, precision"),
        (("--recall", "0.9", "--precision", "0.9"), 2, "exactly one"),
        (("--recall", "0.9999"), 1, "needs at least 29,956 rows"),
        (("--cost", "much"), 2, "MISS,ALARM"),
        (("--recall", "0.9", "--positive", "perhaps"), 2, "the classes are no, yes"),
    ],
)
def test_bad_input(folder: Path, options: tuple[str, ...], code: int, words: str) -> None:
    result = run(*asked(folder, *options))
    assert result.exit_code == code
    assert words in " ".join(result.output.split())
