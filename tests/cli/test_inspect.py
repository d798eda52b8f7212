"""``pacboost inspect``, ``report`` and ``export`` as a user runs them."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import pacboost
from pacboost import AdaBoostClassifier
from pacboost.questions.verify import of_training
from tests.cli.running import answer, people, refused, requests, well, write_csv
from tests.worlds import noisy


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of a table, a model of texts, and the rows of both."""
    folder: Path = tmp_path_factory.mktemp("inspect")
    write_csv(folder / "people.csv", people(300, 0))
    write_csv(folder / "requests.csv", requests(20))
    model = ["--rounds", "8", "--output"]
    well("fit", folder / "people.csv", "--target", "label", *model, folder / "people.pacb")
    text = ["--text", "utterance", "--target", "intent", *model, folder / "requests.pacb"]
    well("fit", folder / "requests.csv", *text)
    return folder


def test_inspect_says_what_is_certified_and_what_is_inside(folder: Path) -> None:
    found = answer("inspect", folder / "people.pacb")
    loaded = pacboost.load(folder / "people.pacb")
    assert found["classes"] == ["no", "yes"]
    assert found["names"] == ["size", "colour", "weight"]
    assert found["rounds"] == len(loaded.ledger_)
    assert found["certificate"] == loaded.certificate_.to_dict()
    shown = well("inspect", folder / "people.pacb")
    assert shown.startswith(answer("verify", folder / "people.pacb")["sentence"])
    assert "Always saying '" in found["sentence"]
    assert "held_out" not in found
    assert "size, colour, weight" in shown


def test_inspect_loads_no_kernels(folder: Path) -> None:
    program = (
        "import sys\nfrom pacboost.cli.main import main\n"
        "main(['inspect', sys.argv[1]], standalone_mode=False)\n"
        "sys.exit('pacboost.kernels.native' in sys.modules or 'sklearn' in sys.modules)"
    )
    asked = [sys.executable, "-c", program, str(folder / "people.pacb")]
    subprocess.run(asked, check=True, capture_output=True)


@pytest.mark.parametrize("name", ["people", "requests"])
def test_report_writes_a_page(folder: Path, tmp_path: Path, name: str) -> None:
    model = tmp_path / f"{name}.pacb"
    model.write_bytes((folder / f"{name}.pacb").read_bytes())
    assert f"{tmp_path / name}.html" in well("report", model)
    page = (tmp_path / f"{name}.html").read_text(encoding="utf-8")
    assert page.lower().startswith("<!doctype html>")
    assert "wrong on future examples" in " ".join(page.split())


def test_report_with_rows(folder: Path, tmp_path: Path) -> None:
    model, out, plain = folder / "people.pacb", tmp_path / "page.html", tmp_path / "plain.html"
    asked = ["--data", folder / "people.csv", "--target", "label", "--output", out]
    found = answer("report", model, *asked)
    about = {"model": str(model), "output": str(out), "bytes": out.stat().st_size}
    assert found == {**about, "certificate": None}  # they are rows of the fit
    well("report", model, "--output", plain)
    assert out.stat().st_size > plain.stat().st_size


def test_export_writes_a_program_that_predicts_the_same(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "alone.py"
    assert str(out) in well("export", folder / "people.pacb", "--output", out)
    compile(out.read_text(encoding="utf-8"), str(out), "exec")
    named = tmp_path / "alone.txt"
    found = answer("export", folder / "people.pacb", "--to", "python", "--output", named)
    assert found["bytes"] == named.stat().st_size
    assert named.read_bytes() == out.read_bytes()


# ``pacboost verify`` as a user runs it.


@pytest.fixture(params=[None, "holdout"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    X, y = noisy(300, 3, seed=5)
    path = tmp_path / "run.pacb"
    AdaBoostClassifier(n_estimators=5, random_state=0, certify=request.param).fit(X, y).save(path)
    return path


def test_an_intact_file(path: Path) -> None:
    shown = well("verify", path)
    lines = [line.split() for line in shown.splitlines()]
    assert all(line[0] == "holds" for line in lines[:4])
    says = "no certificate about new" if of_training(path) else "the certificate holds"
    assert says in shown
    found = answer("verify", path)
    assert found["stands"] is True
    names = [check["name"] for check in found["checks"]]
    assert names[:4] == ["model", "ledger", "rounds", "bound"]


# ``pacboost watch`` as a nightly job runs it.


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("watch")
    old = write_csv(made / "old.csv", people(1200, 0))
    options = ("--booster", "logit", "--learner", "stump", "--rounds", "30")
    well("fit", old, "--target", "label", "--output", made / "m.pacb", *options)
    write_csv(made / "reference.csv", people(1500, 1))
    for night in (1, 2):
        write_csv(made / f"night{night}.csv", people(300, 10 + night))
    changed: dict[str, Any] = people(700, 20)
    changed["size"] = [own + 1.5 for own in changed["size"]]
    write_csv(made / "changed.csv", changed)
    return made


def test_nights_that_are_quiet_and_one_that_is_not(watched: Path, tmp_path: Path) -> None:
    state, model = tmp_path / "m.watch", watched / "m.pacb"
    options = ("--target", "label", "--state", state, "--reference", watched / "reference.csv")
    for night in (1, 2):
        found = answer("watch", model, watched / f"night{night}.csv", *options)
        assert found["alarm"] is False
        assert found["rows"] == found["drift"]["rows"] == 300 * night
    known = state.read_bytes()
    found = answer("watch", watched / "changed.csv", model, *options, code=3)
    assert found["drift"]["drifted_at"] > 600
    assert next(iter(found["drift"]["columns"])) == "size"
    again = ["watch", model, watched / "night1.csv", *options]
    assert "--again" in refused(*again)
    assert answer(*again, "--again", code=3)["rows"] == 1600
    state.write_bytes(known)
    assert "was begun with --delta 0.05" in refused(*again, "--delta", "0.01")
    assert state.read_bytes() == known


def test_labels_alone_and_rows_alone(watched: Path, tmp_path: Path) -> None:
    model, night = watched / "m.pacb", watched / "night1.csv"
    said = well("watch", model, night, "--target", "label")
    assert "mistakes on 300 labelled rows" in said
    strict = ["watch", model, watched / "changed.csv", "--target", "label", "--error", "0.001"]
    assert "ALARM: the certificate (error" in refused(*strict, code=3)
    found = answer("watch", model, night, "--reference", watched / "reference.csv")
    assert (found["rows"], found["drift"]["compared"]) == (0, 300)
    pytest.importorskip("matplotlib")
    well("watch", model, night, "--target", "label", "--plot", tmp_path / "curves.png")
    assert (tmp_path / "curves.png").stat().st_size > 1000


def test_labels_and_rows_of_a_file_are_each_counted_once(watched: Path, tmp_path: Path) -> None:
    watch = ["watch", watched / "m.pacb", watched / "night1.csv", "--state", tmp_path / "w"]
    reference, labels = ["--reference", watched / "reference.csv"], ["--target", "label"]
    answer(*watch, *reference)
    assert answer(*watch, *labels)["rows"] == 300
    known = (tmp_path / "w").read_bytes()
    for options in (labels, reference, labels + reference):
        refused(*watch, *options)
    assert (tmp_path / "w").read_bytes() == known
    copy = tmp_path / "copy.csv"
    copy.write_bytes((watched / "night1.csv").read_bytes())
    watch[2] = copy
    assert "counted before" in refused(*watch, *labels)
    assert answer(*watch, *labels, "--again")["rows"] == 600


def test_bad_input(watched: Path, tmp_path: Path) -> None:
    model, night = watched / "m.pacb", watched / "night1.csv"
    assert "without --target" in refused("watch", model, night)
    (tmp_path / "m.watch").write_text("{}")
    watch = ["watch", model, night, "--target", "label", "--state"]
    assert "not the file of a" in refused(*watch, tmp_path / "m.watch")
    assert "would be overwritten" in refused(*watch, night)
