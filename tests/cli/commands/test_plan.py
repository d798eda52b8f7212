"""``pacboost plan`` as a user runs it."""

from __future__ import annotations

import inspect
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pacboost.cli.commands.plan import EXAMPLES
from pacboost.cli.main import main
from pacboost.theory import plan
from pacboost.theory.plan import QUESTIONS

ASKED = EXAMPLES
MORE = {
    "finite": "--epsilon 0.1 --delta 0.05 --log-size 1e30",
    "rounds": "--edge 0.4 --error 0.01",
    "confidence": "--failure 0.9 --delta 0.05",
    "holdout": "--epsilon 0.1 --delta 0.05",
}


def run(name: str, options: str, *more: str) -> Result:
    return CliRunner().invoke(main, ["plan", name, *options.split(), *more])


def test_every_question_is_a_command_with_an_example() -> None:
    assert set(ASKED) == set(QUESTIONS) == set(EXAMPLES)
    result = CliRunner().invoke(main, ["plan", "--help"])
    assert result.exit_code == 0
    for name in QUESTIONS:
        assert name in result.output


@pytest.mark.parametrize("name", ASKED)
def test_help_names_every_option(name: str) -> None:
    result = run(name, "--help")
    assert result.exit_code == 0
    for parameter in inspect.signature(getattr(plan, name)).parameters:
        assert f"--{parameter.replace('_', '-')}" in result.output
    assert "--json" in result.output
    assert "--plot" in result.output


@pytest.mark.parametrize(("name", "options"), [*ASKED.items(), *MORE.items()])
def test_json_and_table_say_the_same(name: str, options: str) -> None:
    result = run(name, options, "--json")
    assert result.exit_code == 0, result.output
    answer = json.loads(result.output)
    table = run(name, options)
    assert table.exit_code == 0, table.output
    fields = ["examples", "rounds", "draws", "runs", "lower"]
    if answer["simulated"] is not None and answer["simulated"] >= (answer["lower"] or 0):
        fields.append("simulated")  # one that is below the worst case is left out of the table
    for field in fields:
        if answer[field] is not None:
            assert f"{answer[field]:,}" in table.output
    assert max(len(line) for line in table.output.splitlines()) <= 80


def test_known_numbers() -> None:
    assert json.loads(run("rectangle", ASKED["rectangle"], "--json").output)["examples"] == 76
    assert json.loads(run("confidence", MORE["confidence"], "--json").output)["runs"] == 36
    assert "299" in run("holdout", "--epsilon 0.01 --delta 0.05").output


@pytest.mark.thinned(3)
@pytest.mark.parametrize("name", [name for name in ASKED if name != "no_free_lunch"])
def test_plot_writes_a_file(name: str, tmp_path: Path) -> None:
    path = tmp_path / "curve.png"
    result = run(name, ASKED[name], "--plot", str(path))
    assert result.exit_code == 0, result.output
    assert path.read_bytes().startswith(b"\x89PNG")


def test_plot_and_json_go_together(tmp_path: Path) -> None:
    path = tmp_path / "curve.svg"
    result = run("vc", ASKED["vc"], "--json", "--plot", str(path))
    assert json.loads(result.stdout)["lower"] == 27
    assert "<svg" in path.read_text()


def test_nothing_to_draw(tmp_path: Path) -> None:
    result = run("no_free_lunch", ASKED["no_free_lunch"], "--plot", str(tmp_path / "x.png"))
    assert result.exit_code == 2
    assert "Leave --plot out" in result.output
    assert "1,024" not in result.output  # the question is refused before it is answered
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("path", ["/nowhere/at/all/curve.png", "curve.nonsense"])
def test_where_nothing_can_be_written(path: str, tmp_path: Path) -> None:
    place = path if path.startswith("/") else str(tmp_path / path)
    result = run("rectangle", ASKED["rectangle"], "--plot", place)
    assert result.exit_code == 2
    assert "cannot be written" in result.output
    assert isinstance(result.exception, SystemExit)


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("finite", "--epsilon 0.1 --delta 0.05", "size"),
        ("finite", "--epsilon 0.1 --delta 0.05 --size 0", "size"),
        ("finite", "--epsilon 1.5 --delta 0.05 --size 10", "epsilon"),
        ("vc", "--epsilon 0.1 --delta 0 --dimension 4", "delta"),
        ("rounds", "--edge 0.2", "rows"),
        ("confidence", "--failure 1 --delta 0.05", "failure"),
        ("resample", "--edge 0.2 --delta 0.05 --rounds 10 --log-size inf", "log_size"),
    ],
)
def test_bad_parameters_end_in_one_sentence(name: str, options: str, words: str) -> None:
    result = run(name, options)
    assert result.exit_code == 2
    assert isinstance(result.exception, SystemExit)
    assert result.output.startswith("Error: ")
    assert words in result.output


def test_what_no_number_of_rows_can_do_is_a_no() -> None:
    result = run("holdout", "--epsilon 0.1 --delta 0.05 --error 0.2")
    assert result.exit_code == 1
    assert "no number of rows" in result.stderr


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("vc", "--epsilon 0.1 --delta 0.05"),
        ("vc", "--epsilon 0.1 --delta 0.05 --dimension 2.5"),
        ("vc", "--epsilon x --delta 0.05 --dimension 2"),
        ("nonsense", "--epsilon 0.1"),
    ],
)
def test_wrong_usage(name: str, options: str) -> None:
    assert run(name, options).exit_code == 2
