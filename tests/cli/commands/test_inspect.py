"""``pacboost inspect``, ``report`` and ``export`` as a user runs them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import pacboost
from pacboost.sources.csv import read_csv
from tests.cli.running import answer, people, requests, run, well, write_csv


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


def test_inspect_loads_no_compiler(folder: Path) -> None:
    program = (
        "import sys\nfrom pacboost.cli.main import main\n"
        "main(['inspect', sys.argv[1]], standalone_mode=False)\n"
        "sys.exit('numba' in sys.modules or 'sklearn' in sys.modules)"
    )
    asked = [sys.executable, "-c", program, str(folder / "people.pacb")]
    subprocess.run(asked, check=True, capture_output=True)


@pytest.mark.parametrize("name", ["people", "requests"])
def test_report_writes_a_page(folder: Path, tmp_path: Path, name: str) -> None:
    model = tmp_path / f"{name}.pacb"
    model.write_bytes((folder / f"{name}.pacb").read_bytes())
    assert f"The report is in {tmp_path / name}.html" in well("report", model)
    page = (tmp_path / f"{name}.html").read_text(encoding="utf-8")
    assert page.lower().startswith("<!doctype html>")
    assert "wrong on future examples like these" in " ".join(page.split())


def test_report_with_rows(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    asked = ["--data", folder / "people.csv", "--target", "label", "--output", out]
    found = answer("report", folder / "people.pacb", *asked)
    assert found == {"model": str(folder / "people.pacb"), "output": str(out),
                     "bytes": out.stat().st_size}  # fmt: skip
    plain = tmp_path / "plain.html"
    well("report", folder / "people.pacb", "--output", plain)
    assert out.stat().st_size > plain.stat().st_size


def test_rows_of_a_report_need_labels(folder: Path) -> None:
    result = run("report", folder / "people.pacb", "--data", folder / "people.csv")
    assert result.exit_code == 2
    assert "--data and --target have to be given together" in result.stderr


def test_export_writes_a_program_that_predicts_the_same(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "alone.py"
    assert str(out) in well("export", folder / "people.pacb", "--output", out)
    compile(out.read_text(encoding="utf-8"), str(out), "exec")
    named = tmp_path / "alone.txt"
    found = answer("export", folder / "people.pacb", "--to", "python", "--output", named)
    assert found["bytes"] == named.stat().st_size
    assert named.read_bytes() == out.read_bytes()


def test_export_to_what_the_ending_does_not_say(folder: Path, tmp_path: Path) -> None:
    result = run("export", folder / "people.pacb", "--output", tmp_path / "alone.rs")
    assert result.exit_code == 2
    assert "'alone.rs'" in result.stderr


def test_texts_are_fitted_asked_predicted_and_certified(folder: Path) -> None:
    model, data = folder / "requests.pacb", folder / "requests.csv"
    first = run("ask", model, "They took my card!").stdout.splitlines()[0]
    assert first == "lost card"
    found = answer("predict", model, data, "--target", "intent")
    assert found["wrong"] == 0
    texts = requests(20)
    texts["utterance"] = [f"hello {text} 7{text[-3:]}" for text in texts["utterance"]]
    new = write_csv(folder / "new_requests.csv", texts)
    assert answer("certify", model, new, "--target", "intent")["certificate"]["inputs"]["k"] == 0
    rows = read_csv(folder / "people.csv", "label", categories=True).table
    assert rows.n_rows == 300
    result = run("predict", model, folder / "people.csv")
    assert result.exit_code == 2
    assert "has no column 'utterance'" in result.stderr
