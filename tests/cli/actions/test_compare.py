"""``pacboost compare`` as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from pacboost.boosters.registry import BOOSTERS
from pacboost.cli.main import main
from pacboost.estimators.compare import Contest, compare
from pacboost.sources.csv import read_csv
from tests.worlds import noisy


@pytest.fixture
def data(tmp_path: Path) -> Path:
    X, signs = noisy(200, 3, seed=1)
    colour = np.where(X[:, 2] > 0, "red", "green")
    rows = zip(X.tolist(), colour, signs, strict=True)
    lines = [f"{x[0]!r},{x[1]!r},{c},{'yes' if s > 0 else 'no'}" for x, c, s in rows]
    path = tmp_path / "data.csv"
    path.write_text("\n".join(["a,b,colour,label", *lines]) + "\n")
    return path


def run(data: Path, *arguments: str) -> Result:
    common = ["compare", str(data), "--target", "label", "--rounds", "6"]
    return CliRunner().invoke(main, [*common, *arguments])


def test_prints_a_table_and_writes_nothing(data: Path) -> None:
    before = sorted(data.parent.iterdir())
    result = run(data, "--boosters", "adaboost,mada", "--learner", "tree")
    assert result.exit_code == 0, result.output
    for part in ("150 rows to learn from, 50 to test on", "adaboost", "mada", "between", "all 6"):
        assert part in result.output
    assert "…" not in result.output
    assert sorted(data.parent.iterdir()) == before


def test_says_in_json_what_python_says(data: Path) -> None:
    result = run(data, "--boosters", "adaboost,logit", "--json", "--learner", "tree", "--seed", "3")
    assert result.exit_code == 0, result.output
    read = read_csv(data, "label", categories=True)
    expected = compare(
        read.table, read.labels, "adaboost,logit", "tree", n_estimators=6, random_state=3
    ).to_dict()
    found = json.loads(result.output)
    for entry in [*found["boosters"], *expected["boosters"]]:
        del entry["seconds"]
    assert found == expected


def test_options_reach_every_booster(data: Path) -> None:
    result = run(
        data, "--boosters", "adaboost,logit", "--learner", "tree", "--leaves", "2", "--json",
        "--test", "0", "--learning-rate", "0.5", "--share", "0.2", "--delta", "0.1",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    found = json.loads(result.output)
    assert (found["share"], found["delta"], found["test_rows"]) == (0.2, 0.1, 0)
    assert found["train_rows"] == 200


def test_all_and_the_usual_ones(data: Path) -> None:
    everyone = json.loads(run(data, "--boosters", "all", "--json", "--learner", "tree").output)
    assert [entry["name"] for entry in everyone["boosters"]] == list(BOOSTERS)
    usual = run(data, "--json", "--learner", "tree")
    assert usual.exit_code == 0, usual.output
    assert not any(entry["failed"] for entry in json.loads(usual.output)["boosters"])


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_draws(data: Path, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"picture.{suffix}"
    result = run(data, "--boosters", "adaboost,mada", "--learner", "tree", "--plot", str(path))
    assert result.exit_code == 0, result.output
    assert path.stat().st_size > 1000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--boosters", "adaboost,oak"], "booster is 'oak'; it may be 'adaboost'"),
        (["--leaves", "4"], "--leaves applies to trees only; add --learner tree"),
        (["--learner", "tree", "--plot", "no/such/folder/p.png"], "folder does not exist"),
        (["--learner", "tree", "--delta", "2"], "delta is 2"),
        (
            ["--learner", "tree", "--boosters", "adaboost", "--max-bins", "1"],
            "every booster failed",
        ),
    ],
)
def test_errors_are_one_sentence(data: Path, arguments: list[str], message: str) -> None:
    result = run(data, *arguments)
    assert result.exit_code == 2
    assert message in result.output
    assert "Traceback" not in result.output


def test_ctrl_c_shows_what_is_done(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Contest._one

    def one(self: Contest, name: str, choice: Any) -> Any:
        if name == "mada":
            raise KeyboardInterrupt
        return whole(self, name, choice)

    monkeypatch.setattr(Contest, "_one", one)
    result = run(data, "--boosters", "adaboost,mada,logit", "--learner", "tree")
    assert result.exit_code == 130
    assert "adaboost" in result.output
    assert "logit" not in result.output


def test_fit_shows_the_hardest_rows(data: Path) -> None:
    common = ["fit", str(data), "--target", "label", "--learner", "tree"]
    result = CliRunner().invoke(main, [*common, "--rounds", "5", "--hardest", "3"])
    assert result.exit_code == 0, result.output
    assert "hardest rows" in result.output
    plain = CliRunner().invoke(main, [*common, "--rounds", "5"])
    assert "hardest rows" not in plain.output
    filtered = CliRunner().invoke(main, [*common[:4], "--filter", "--hardest", "3"])
    assert filtered.exit_code == 2
    assert "--hardest cannot be combined with boosting by filtering" in filtered.output
