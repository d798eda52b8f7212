"""Everything that docs/lectures.md tells a reader to type runs, and what it names exists."""

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from pacboost.cli.main import main
from tests.markdown import DOCS, HOUSE, python_blocks, tables

TEXT = (DOCS / "lectures.md").read_text(encoding="utf-8")
PAGE = HOUSE / "src" / "pacboost" / "lab" / "page"
CODE, TITLE = re.compile(r"`([^`]+)`"), re.compile(r"(story|challenge) “([^”]+)”")
FILES = {"story": "stories.js", "challenge": "challenges.js"}


def lines(column: str) -> list[tuple[str, str]]:
    """Return the first cell and the cell of a column of every row of the tables that have it."""
    return [
        (row[0], row[head.index(column)])
        for head, *rows in tables(TEXT)
        if column in head
        for row in rows
    ]


TRIED = lines("try it")
SLIDES = [line for column in ("picture", "command") for line in lines(column)]


def test_every_line_has_one_thing_to_try() -> None:
    assert len(TRIED) == 61
    assert [row for row, cell in TRIED if len(CODE.findall(cell) + TITLE.findall(cell)) != 1] == []


def test_stories_and_challenges_exist() -> None:
    cells = [cell for _, cell in [*TRIED, *lines("story in the lab")]]
    named = {title for cell in cells for title in TITLE.findall(cell)}
    assert len(named) >= 6
    for kind, title in named:
        assert f'title: "{title}"' in (PAGE / FILES[kind]).read_text(encoding="utf-8")


def test_the_booster_of_the_lectures_is_named_once() -> None:
    assert TEXT.count("`boosters/adaboost.py`") == 1


@pytest.fixture(scope="module")
def names() -> dict[str, object]:
    (block,) = python_blocks(TEXT)
    names: dict[str, object] = {}
    exec(block.code, names)
    return names


CODES = sorted({code for _, cell in [*TRIED, *SLIDES] for code in CODE.findall(cell)})


@pytest.mark.parametrize("code", CODES)
def test_what_the_page_says_to_type_runs(
    code: str, names: dict[str, object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if code.startswith("pacboost "):
        (tmp_path / "examples").symlink_to(HOUSE / "examples")
        result = CliRunner().invoke(main, shlex.split(code)[1:], catch_exceptions=False)
        assert result.exit_code == 0, result.output
        assert result.output
    else:
        assert eval(code, names) is not None or code.startswith("print(")
