"""Write anew what the examples of pages print: ``python -m tests.record_pages docs/start.md``.

Python runs as in ``test_docs.py``, and commands in a folder with the files of ``examples``. Read
the changes before you commit them: a page has to say what its example shows.
"""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import shutil
import sys
import tempfile
from pathlib import Path

from click.testing import CliRunner

from pacboost.cli.main import main
from tests.markdown import FENCE, HOUSE, Shown, python_blocks, shown_commands

CUT = "…"
"""A last line of this shows that more is printed."""


def folder_of_commands(folder: Path) -> None:
    """Copy the files that commands of pages read."""
    for path in (HOUSE / "examples").glob("*.csv"):
        shutil.copy(path, folder)


def output_of(command: str) -> str:
    """Run a command of a page in this folder, and return what it prints."""
    name, *words = shlex.split(command)
    if name == "head":
        count, path = int(words[0][1:]), Path(words[1])
        return "\n".join(path.read_text(encoding="utf-8").splitlines()[:count]) + "\n"
    result = CliRunner(env={"COLUMNS": "80"}).invoke(main, words)
    assert isinstance(result.exception, SystemExit | None), result.exception
    assert result.exit_code in (0, 1), result.output
    return result.stdout


def as_shown(shown: Shown, output: str) -> str:
    """Return an output as the page shows it: cut after as many lines, if it was cut there."""
    lines, before = output.strip("\n").splitlines(), shown.printed.strip("\n").splitlines()
    if before and before[-1].strip() == CUT:
        lines = [*lines[: len(before) - 1], before[-1]]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _commands(text: str) -> str:
    for shown in shown_commands(text):
        output = output_of(shown.command)
        if shown.printed.strip():
            old = f"$ {shown.command}\n{shown.printed.rstrip()}\n"
            assert old in text, shown.command
            text = text.replace(old, f"$ {shown.command}\n{as_shown(shown, output)}", 1)
    return text


def _python(text: str, place: str) -> str:
    names: dict[str, object] = {"__name__": "example"}
    for block in python_blocks(text):
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            exec(compile(block.code, place, "exec"), names)
        fences = [fence for fence in FENCE.finditer(text) if fence[4] == block.code]
        if block.printed is not None and output.getvalue().split() != block.printed.split():
            after = FENCE.search(text, fences[0].end())
            assert after is not None
            text = (
                text[: after.start(4)]
                + output.getvalue().rstrip("\n")
                + "\n"
                + text[after.end(4) :]
            )
    return text


def record(page: Path) -> None:
    """Write one page anew."""
    text, home = page.read_text(encoding="utf-8"), Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        folder_of_commands(Path(folder))
        os.chdir(folder)
        text = _python(_commands(text), page.name)
        os.chdir(home)
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        record(Path(name).resolve())
