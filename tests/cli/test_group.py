"""What every command has: help with an example, --json, exit codes, errors in one sentence."""

from __future__ import annotations

import errno
import subprocess
import sys
import warnings
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import pacboost
from pacboost.cli.group import DEBUG, Commands
from pacboost.cli.main import COMMANDS, main
from pacboost.errors import FileError, NoEdgeWarning, NotCertified, PacboostError
from tests.cli.running import run


def test_every_command_is_listed_in_order_with_help_and_an_example() -> None:
    listed = run("--help").stdout
    places = [listed.index(f"\n  {name} ") for name in COMMANDS]
    assert places == sorted(places)
    for name in COMMANDS:
        shown = run(name, "--help")
        assert shown.exit_code == 0
        assert f"pacboost {name}" in shown.stdout.partition("Example")[2]
        assert name == "plan" or "--json" in shown.stdout  # its questions have it


def test_help_and_version_load_nothing_heavy() -> None:
    program = (
        "import sys\nfrom pacboost.cli.main import main\n"
        "try:\n    main(sys.argv[1:])\nexcept SystemExit:\n    pass\n"
        "heavy = {'numpy', 'scipy', 'numba', 'sklearn', 'rich', 'narwhals'} & set(sys.modules)\n"
        "sys.exit(f'loaded {heavy}' if heavy else 0)"
    )
    for ask in (["--help"], ["--version"], ["fit", "--help"], ["predict", "--help"]):
        subprocess.run([sys.executable, "-c", program, *ask], check=True, capture_output=True)


def test_the_version() -> None:
    assert run("--version").stdout == f"pacboost, version {pacboost.__version__}\n"


def test_tab_completes_commands_and_options() -> None:
    def completed(*words: str) -> str:
        line = {"COMP_WORDS": " ".join(["pacboost", *words]), "COMP_CWORD": str(len(words))}
        asked = {**line, "_PACBOOST_COMPLETE": "bash_complete"}
        return CliRunner().invoke(main, env=asked, prog_name="pacboost").stdout

    assert completed("pre") == "plain,predict\n"
    assert "--target" in completed("fit", "--t")
    assert "plain,adaboost" in completed("fit", "--booster", "ada")


@pytest.mark.parametrize(
    "name", [name for name in COMMANDS if name not in ("demo", "doctor", "lab")]
)
def test_without_what_it_needs_a_command_says_so(name: str) -> None:
    result = run(name)
    if name == "plan":  # a group of commands; before click 8.2 it shows its help and ends with 0
        assert "Usage: " in result.output
        return
    assert result.exit_code == 2
    assert "Missing argument" in result.stderr


def test_an_unknown_command() -> None:
    result = run("boost")
    assert result.exit_code == 2
    assert "No such command 'boost'" in result.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["fit", "absent.csv", "--target", "y"],
        ["fit", "absent.csv", "--target", "y", "--booster", "logit"],
        ["predict", "absent.pacb", "rows.csv"],
        ["certify", "absent.pacb", "rows.csv", "--target", "y"],
        ["verify", "absent.pacb"],
        ["diagnose", "absent.csv", "--target", "y"],
        ["compare", "absent.csv", "--target", "y"],
        ["inspect", "absent.pacb"],
        ["report", "absent.pacb"],
        ["export", "absent.pacb", "--output", "m.py"],
        ["ask", "absent.pacb", "hello"],
    ],
)
def test_a_file_that_is_not_there(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # which can be written to
    for more in ([], ["--json"]):
        result = run(*arguments, *more)
        assert result.exit_code == 2
        assert result.stdout == ""
        assert result.stderr.startswith("Error: absent.")
        assert result.stderr.count("\n") == 1


def group(
    problem: BaseException | None = None, *, noted: type[Warning] | None = None
) -> click.Group:
    """A group whose only command does what it is told."""

    def do() -> None:
        if noted:
            warnings.warn("no rule is better than guessing", noted, stacklevel=1)
        if problem is not None:
            raise problem

    class Own(Commands):
        def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
            return click.Command("do", callback=do)

    return Own("own", homes={"do": ""})


@pytest.mark.parametrize(
    ("problem", "code", "said"),
    [
        (FileError("m.pacb: is damaged"), 2, "Error: m.pacb: is damaged"),
        (PacboostError("no"), 2, "Error: no"),
        (NotCertified("rows were seen"), 1, "Error: rows were seen"),
        (MemoryError(), 2, "Error: there is not enough memory"),
        (PermissionError(13, "Permission denied", "m.pacb"), 2, "Permission denied: 'm.pacb'"),
        (KeyboardInterrupt(), 130, "Interrupted;"),
        (BrokenPipeError(errno.EPIPE, "nobody reads any more"), 1, ""),
        (click.UsageError("both"), 2, "Error: both"),
        (TypeError("oops"), 4, "This is a bug in pacboost. Set PACBOOST_DEBUG=1"),
        (None, 0, ""),
    ],
)
def test_exit_codes(
    problem: BaseException | None, code: int, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(DEBUG, raising=False)
    result = CliRunner().invoke(group(problem), ["do"])
    assert (result.exit_code, result.stdout) == (code, "")
    assert said in result.stderr
    assert "Traceback" not in result.output


def test_a_mistake_of_ours_can_be_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(DEBUG, "1")
    result = CliRunner().invoke(group(TypeError("oops")), ["do"])
    assert isinstance(result.exception, TypeError)


def test_warnings_are_notes_and_go_to_the_error_stream() -> None:
    result = CliRunner().invoke(group(noted=NoEdgeWarning), ["do"])
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "Note: no rule is better than guessing.\n"


@pytest.mark.filterwarnings("error")
def test_other_warnings_are_not_silenced() -> None:
    """Under the tests they are errors; whatever is not ours stays what it was."""
    assert CliRunner().invoke(group(noted=UserWarning), ["do"]).exit_code == 4
