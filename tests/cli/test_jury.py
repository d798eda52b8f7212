"""``pacboost draw`` and ``pacboost jury``, from a pool to votes in a file."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from tests.cli.running import answer, refused, well


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    generator = np.random.default_rng(1)
    truth = generator.integers(0, 2, 900)
    path = tmp_path / "pool.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "one", "two", "three", "risk", "human"])
        judges = [np.where(generator.random(900) < error, 1 - truth, truth) for error in (0.1, 0.2)]
        third = np.where(generator.random(900) < 0.03, 1 - judges[0], judges[0])
        risk = (truth + generator.normal(0, 0.6, 900)).round(3)
        said = [np.array(["ok", "bad"])[judge] for judge in (*judges, third)]
        writer.writerows(zip(range(900), *said, risk, np.array(["ok", "bad"])[truth], strict=True))
    return path


def test_from_a_pool_to_votes(pool: Path, tmp_path: Path) -> None:
    ask, record = tmp_path / "ask.csv", tmp_path / "ask.draw.json"
    drawn = answer("draw", pool, "--rows", 500, "-o", ask, "--drop", "human", "--label", "truth")
    assert (drawn["rows"], drawn["pool"]) == (500, 900)
    with pool.open() as file:
        truth = {row["id"]: row["human"] for row in csv.DictReader(file)}
    with ask.open() as file:
        rows = [{**row, "truth": truth[row["id"]]} for row in csv.DictReader(file)]
    with ask.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
    judges = ("--judges", "one,two,three,risk", "--truth", "truth")
    found = answer("jury", ask, *judges, "--draw", record)
    certificates = found["certificates"]
    assert certificates["jury"]["value"] < certificates["one"]["value"] < 0.25
    assert certificates["jury"]["rows_checked"]
    assert found["of_pool"]["inputs"]["rows"] == 650
    votes = {judge["judge"]: judge["votes"] for judge in found["judges"]}
    assert min(votes["one"], votes["three"]) == 0
    saved = tmp_path / "jury.json"
    assert "says nothing new" in well("jury", ask, *judges, "--draw", record, "-o", saved)
    assert json.loads(saved.read_text())["judges"] == found["judges"]
    assert "were not drawn" in refused(
        "jury", pool, "--judges", "one,two", "--truth", "human", "--draw", record
    )


def test_what_cannot_be_drawn_or_asked_is_refused(pool: Path, tmp_path: Path) -> None:
    assert "the pool has 900" in refused("draw", pool, "--rows", 901, "-o", tmp_path / "a.csv")
    assert "--judges" in refused("jury", pool, "--judges", "one", "--truth", "human")
