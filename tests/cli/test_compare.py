"""``pacboost compare`` as a user runs it."""

import json
import re
from importlib.metadata import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import Result

import pacboost
from pacboost.boosters.registry import BOOSTERS
from pacboost.cli.commands import doctor
from pacboost.estimators.compare import compare
from pacboost.estimators.contest import Contest
from pacboost.questions.diagnose import diagnose
from pacboost.sources.file_rows import read_csv
from tests.cli.running import answer, people, refused, run, well, write_csv
from tests.worlds import noisy


@pytest.fixture
def data(tmp_path: Path) -> Path:
    X, signs = noisy(200, 3, seed=1)
    columns = {"a": X[:, 0].tolist(), "b": X[:, 1].tolist()}
    columns["colour"] = np.where(X[:, 2] > 0, "red", "green").tolist()
    columns["label"] = np.where(signs > 0, "yes", "no").tolist()
    return write_csv(tmp_path / "data.csv", columns)


def compared(data: Path, *arguments: str) -> Result:
    common = ["compare", str(data), "--target", "label", "--rounds", "6"]
    return run(*common, *arguments)


def test_prints_a_table_and_writes_nothing(data: Path) -> None:
    before = sorted(data.parent.iterdir())
    result = compared(data, "--boosters", "adaboost,mada", "--learner", "tree")
    assert result.exit_code == 0, result.output
    for part in ("150 rows to learn from, 50 to test on", "adaboost", "mada", "between", "all 6"):
        assert part in result.output
    assert "…" not in result.output
    assert sorted(data.parent.iterdir()) == before


def test_says_in_json_what_python_says(data: Path) -> None:
    result = compared(
        data, "--boosters", "adaboost,logit", "--json", "--learner", "tree", "--seed", "3"
    )
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
    result = compared(
        data, "--boosters", "adaboost,logit", "--learner", "tree", "--leaves", "2", "--json",
        "--test", "0", "--learning-rate", "0.5", "--share", "0.2", "--delta", "0.1",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    found = json.loads(result.output)
    assert (found["share"], found["delta"], found["test_rows"]) == (0.2, 0.1, 0)
    assert found["train_rows"] == 200


def test_all_and_the_usual_ones(data: Path) -> None:
    asked = ("--json", "--learner", "tree", "--rounds", "3")
    everyone = json.loads(compared(data, "--boosters", "all", *asked).output)
    assert [entry["name"] for entry in everyone["boosters"]] == list(BOOSTERS)
    usual = compared(data, *asked)
    assert usual.exit_code == 0, usual.output
    assert not any(entry["failed"] for entry in json.loads(usual.output)["boosters"])


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
    result = compared(data, *arguments)
    assert result.exit_code == 2
    assert message in result.output


def test_ctrl_c_shows_what_is_done(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Contest._one

    def one(self: Contest, name: str, choice: Any) -> Any:
        if name == "mada":
            raise KeyboardInterrupt
        return whole(self, name, choice)

    monkeypatch.setattr(Contest, "_one", one)
    result = compared(data, "--boosters", "adaboost,mada,logit", "--learner", "tree")
    assert result.exit_code == 130
    assert "adaboost" in result.output
    assert "logit" not in result.output


def test_fit_shows_the_hardest_rows(data: Path) -> None:
    common = ["fit", str(data), "--target", "label", "--learner", "tree"]
    assert "hardest rows" in well(*common, "--rounds", "5", "--hardest", "3")
    assert "hardest rows" not in well(*common, "--rounds", "5")
    assert "--hardest cannot be combined" in refused(*common[:4], "--filter", "--hardest", "3")


# ``pacboost diagnose`` as a user runs it.


@pytest.fixture(scope="module")
def two_classes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_csv(tmp_path_factory.mktemp("diagnose") / "people.csv", people(600, 0))


def test_it_says_what_python_says(two_classes: Path) -> None:
    found = answer("diagnose", two_classes, "--target", "label", "--delta", "0.1", "--seed", "2")
    read = read_csv(two_classes, "label", categories=True)
    direct = diagnose(read.table, read.labels, delta=0.1, seed=2)
    assert found["sentence"] == direct.sentence
    assert [stage["edge"] for stage in found["stages"]] == [s.edge for s in direct.stages]
    assert found["sentence"] in well("diagnose", two_classes, "--target", "label", "--delta", "0.1",
                                     "--seed", "2")  # fmt: skip


def test_one_class_against_the_others(tmp_path: Path) -> None:
    x = np.random.default_rng(0).normal(size=400)
    path = write_csv(tmp_path / "three.csv", {"x": x.tolist(), "y": np.digitize(x, [-1, 1])})
    assert "3 classes" in refused("diagnose", path, "--target", "y")
    assert answer("diagnose", path, "--target", "y", "--label", "0")["stages"][0]["lower"] > 0
    assert "the labels are 0, 1, 2" in refused("diagnose", path, "--target", "y", "--label", "9")


def test_a_learner_that_is_worse_than_guessing_is_a_no(tmp_path: Path) -> None:
    """Labels alternate along x in the rows learned from, and the other way in the rest."""
    rows = 2000
    half = np.random.default_rng(0).permutation(rows)[: rows // 2]
    x = np.random.default_rng(1).integers(0, 2, size=rows)
    learned = np.isin(np.arange(rows), half)
    path = write_csv(tmp_path / "liar.csv", {"x": x, "y": np.where(learned, x, 1 - x)})
    assert "no better than guessing" in refused("diagnose", path, "--target", "y", code=1)


# ``pacboost demo`` as a user runs it.


def test_demo_sells_the_product(tmp_path: Path) -> None:
    shown = well("demo", "--folder", tmp_path)
    assert re.search(r"At most \d+\.\d % wrong.*At most \d+\.\d % wrong on future", shown)
    assert "has seen in its" in shown or "was trained on" in shown
    assert "recall" in shown
    assert "distance_km = 900" in shown
    assert (tmp_path / "parcels.html").stat().st_size > 10_000
    assert "0.3000 0.2143 0.1364" in shown
    here = Path(__file__).parents[2] / "examples"
    assert "CallingCard" in shown
    assert "contains 'charge'" in shown
    for name in ("parcels.csv", "parcels_new.csv", "calls.csv"):
        assert (here / name).read_bytes() == (tmp_path / name).read_bytes()


def test_demo_of_theory() -> None:
    shown = well("demo", "--theory")
    assert "0.5162" in shown
    assert "parcels" not in shown


# ``pacboost doctor`` as a user runs it.


def test_all_is_well_here() -> None:
    shown = well("doctor")
    assert "Everything works." in shown
    found = answer("doctor")
    assert found["well"] is True
    named = {one["name"]: one for one in found["findings"]}
    assert pacboost.__version__ in named["pacboost"]["words"]
    assert "compiled for" in named["compiled code"]["words"]
    assert {"numpy", "pandas", "onnx"} <= set(named)


def test_the_extras_that_it_names_are_those_of_the_package() -> None:
    provided = metadata("pacboost").get_all("Provides-Extra") or []
    assert {extra for extra, _ in doctor.EXTRAS.values()} <= {*provided}


def test_what_is_missing_and_needed_is_a_no(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "REQUIRED", ("no-such-library",))
    assert "FAILS" in refused("doctor", code=1)
    assert answer("doctor", code=1)["well"] is False


def test_compiled_code_that_does_not_work_is_a_no(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pacboost.sources.toy.lecture_points", lambda: ([], []))
    assert "FAILS compiled code" in refused("doctor", code=1)
    X, y = np.arange(4.0)[:, None], np.array([-1, 1, -1, 1])
    monkeypatch.setattr("pacboost.sources.toy.lecture_points", lambda: (X, y))
    assert "a known fit gave" in run("doctor").stdout
