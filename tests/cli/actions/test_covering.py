"""``pacboost sets`` and ``pacboost intervals``: kept in files, and used by predict."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pacboost
from tests.cli.running import answer, people, run, well, write_csv


def houses(rows: int, seed: int) -> dict[str, Any]:
    generator = np.random.default_rng(seed)
    size, age = generator.random((2, rows))
    price = 3 * size - age + 0.3 * generator.normal(size=rows)
    return {"size": size.tolist(), "age": age.tolist(), "price": price.tolist()}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("covering")
    write_csv(folder / "train.csv", people(300, 0))
    part = np.random.default_rng(5).choice(["north", "south"], size=600)
    write_csv(folder / "fresh.csv", {**people(600, 1), "part": part})
    write_csv(folder / "new.csv", {**people(400, 2), "part": ["north", "south"] * 200})
    fit = ["--booster", "logit", "--learner", "tree", "--rounds", "5", "--output"]
    well("fit", folder / "train.csv", "--target", "label", *fit, folder / "m.pacb")
    write_csv(folder / "houses.csv", houses(400, 0))
    write_csv(folder / "sold.csv", houses(500, 1))
    well("fit", folder / "houses.csv", "--target", "price", "--loss", "squared_error", "--rounds",
         "20", "--output", folder / "n.pacb")  # fmt: skip
    return folder


def asked(folder: Path, *options: object) -> list[object]:
    return ["sets", folder / "m.pacb", folder / "fresh.csv", "--target", "label", "--drop", "part",
            *options]  # fmt: skip


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_sets_are_kept_and_used(folder: Path) -> None:
    kept, out = folder / "sure.pacb", folder / "out.csv"
    found = answer(*asked(folder, "--coverage", "0.85", "--output", kept))
    assert found["value"] >= 0.85
    assert found["order"]["by_chance"] is True
    made: Any = pacboost.sets(pacboost.load(kept)).certificate_
    assert made.value == found["value"]
    well("predict", kept, folder / "new.csv", "--sets", "--proba", "--output", out)
    rows = table(out)
    held = [set(row["set"].split("|")) for row in rows]
    assert all(row["prediction"] in own for row, own in zip(rows, held, strict=True))
    truth = people(400, 2)["label"]
    assert np.mean([own in sets for own, sets in zip(truth, held, strict=True)]) > 0.8
    assert "calibration of sets or intervals was made for these" in well("verify", kept)
    assert "prediction set holds the true class" in well(*asked(folder))


def test_sets_of_groups_and_classes(folder: Path) -> None:
    kept, out = folder / "groups.pacb", folder / "out.csv"
    found = answer(*asked(folder, "--by", "part", "--output", kept))
    assert [own["details"]["group"] for own in found["certificates"]] == ["north", "south"]
    assert pacboost.sets(pacboost.load(kept)).rule.groups == ("north", "south")
    well("predict", kept, folder / "new.csv", "--sets", "--by", "part", "--output", out)
    result = run("predict", kept, folder / "new.csv", "--sets")
    assert result.exit_code == 2
    assert "give the group of every row" in result.output
    said = well(*asked(folder, "--by-class", "--method", "raps"))
    assert "Of the new examples of class 'no', at least" in said


def test_intervals_are_kept_and_used(folder: Path) -> None:
    kept, out = folder / "wide.pacb", folder / "out.csv"
    command = ["intervals", folder / "n.pacb", folder / "sold.csv", "--target", "price"]
    found = answer(*command, "--output", kept)
    assert found["value"] >= 0.9
    write_csv(folder / "market.csv", houses(300, 2))
    well("predict", kept, folder / "market.csv", "--intervals", "--output", out)
    inside = [
        float(row["low"]) <= price <= float(row["high"])
        for row, price in zip(table(out), houses(300, 2)["price"], strict=True)
    ]
    assert np.mean(inside) > 0.85
    assert "The prediction interval holds the true number" in well(*command)


@pytest.mark.parametrize(
    ("command", "code", "words"),
    [
        (["sets", "n.pacb", "sold.csv", "--target", "price"], 2, "for those there is pacboost int"),
        (["intervals", "m.pacb", "new.csv", "--target", "label", "--drop", "part"], 2,
         "for those there is pacboost sets"),
        (["sets", "m.pacb", "train.csv", "--target", "label"], 1, "trained"),
        (["sets", "m.pacb", "fresh.csv", "--target", "label", "--drop", "part", "--coverage",
          "0.999"], 1, "needs at least 2,995 rows"),
        (["predict", "m.pacb", "new.csv", "--sets"], 2, "holds no sets; calibrate them"),
        (["predict", "n.pacb", "houses.csv", "--intervals"], 2, "holds no intervals"),
    ],
)  # fmt: skip
def test_refusals(folder: Path, command: list[str], code: int, words: str) -> None:
    names = [folder / own if own.endswith((".pacb", ".csv")) else own for own in command]
    result = run(*names)
    assert result.exit_code == code, result.output
    assert words in " ".join(result.output.split())
