"""``fit``, ``verify``, ``report`` and ``certify`` say what is certified in the same words."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import pacboost
from pacboost.cli.main import main

STUMPS = ("--booster", "adaboost", "--learner", "stump", "--rounds", "5")
MISSED = re.compile(
    r"It misses at most [\d.]+ % of the rare class 'ill' \(95 % confidence for this by itself; "
    r"\d+ of \d+ rows missed\)\."
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two files of rows from one distribution, in which one class of two is rare."""
    made = tmp_path_factory.mktemp("words")
    rng = np.random.default_rng(5)
    for name, rows in (("old", 1000), ("new", 600)):
        X = rng.normal(size=(rows, 3))
        y = np.where(X[:, 0] + 0.2 * rng.normal(size=rows) > 1.1, "ill", "well")
        lines = [",".join([*map(repr, map(float, x)), own]) for x, own in zip(X, y, strict=True)]
        (made / f"{name}.csv").write_text("\n".join(["a,b,c,state", *lines]))
    return made


def asked(*arguments: Any) -> Any:
    result = CliRunner().invoke(main, [str(part) for part in (*arguments, "--json")])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.mark.parametrize("options", [(), STUMPS], ids=["chosen", "stumps"])
def test_every_command_speaks_the_same_way(folder: Path, options: tuple[str, ...]) -> None:
    model, page = folder / "m.pacb", folder / "m.html"
    fitted = asked("fit", folder / "old.csv", "--target", "state", "--output", model, *options)
    said = fitted["sentence"]
    assert said.startswith("At most ")
    assert "(95 % confidence; 200 held-out rows, " in said
    assert "Always saying 'well' would be " in said
    assert MISSED.search(said), said
    assert "Next: " in said
    assert asked("verify", model)["sentence"] == said
    assert asked("inspect", model)["sentence"] == said
    asked("report", model, "--output", page)
    head, *rest = said.split(". ")
    text = html.unescape(page.read_text(encoding="utf-8"))
    assert f"{head}." in text
    assert all(part.removesuffix(".") in text for part in rest)
    fresh = asked("certify", model, folder / "new.csv", "--target", "state")["sentence"]
    assert "(95 % confidence; 600 held-out rows, " in fresh
    assert "Always saying 'well' would be " in fresh
    assert MISSED.search(fresh), fresh


def test_a_named_booster_keeps_the_certificate_by_held_out_rows(folder: Path) -> None:
    old = folder / "old.csv"
    made = asked("fit", old, "--target", "state", *STUMPS)["certificate"]
    assert (made["bound"], made["size"]) == ("holdout.clopper_pearson", 200)
    trained = asked("fit", old, "--target", "state", *STUMPS, "--certify", "train-error")
    assert trained["certificate"]["bound"] == "training.product_bound"
    assert (
        "of the rows it learned from. Nothing is proved about new examples" in trained["sentence"]
    )
    shown = CliRunner().invoke(main, ["fit", str(old), "--target", "state", *STUMPS])
    assert " ".join(shown.output.split()).startswith("At most ")


def test_few_rows_are_all_learned_from(folder: Path, tmp_path: Path) -> None:
    lines = (folder / "old.csv").read_text().splitlines()
    few = [lines[0], *[line for line in lines[1:] if line.endswith("well")][:20]]
    few += [line for line in lines if line.endswith("ill")][:19]
    (tmp_path / "few.csv").write_text("\n".join(few))
    made = asked("fit", tmp_path / "few.csv", "--target", "state", *STUMPS)["certificate"]
    assert made["bound"] == "training.product_bound"


def test_forests_and_filtering_count_their_held_out_rows_too(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 3))
    y = np.where(X[:, 0] > 0.5, "a", "b")
    for model in (
        pacboost.RandomForestClassifier(10, certify="holdout", random_state=0),
        pacboost.FilterBoostClassifier(n_estimators=3, n_certify=200, random_state=0),
        pacboost.theory.MajorityOfBoosters(3, certify="holdout", random_state=0),
    ):
        model.fit(X, y).save(tmp_path / "m.pacb")
        again = pacboost.load(tmp_path / "m.pacb").model_.held_out
        assert again is not None
        assert again.rows == model.certificate_.size
        assert again.matrix(2).sum() == again.rows
        assert all(check.holds for check in pacboost.verify(tmp_path / "m.pacb"))
