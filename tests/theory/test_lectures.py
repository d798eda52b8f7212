"""Everything that docs/lectures.md tells a reader to type runs, and what it names exists."""

import contextlib
import io
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
    assert len(TRIED) == 64
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


SHOWN = {
    CODE.findall(tried)[0]: CODE.findall(shows)
    for head, *rows in tables(TEXT)
    if "it shows" in head
    for *_, tried, shows, _ in rows
    if CODE.search(tried)
}
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
        printed = result.output
    else:
        with contextlib.redirect_stdout(io.StringIO()) as out:
            value = eval(code, names)
        printed = out.getvalue() or str(value)
        assert value is not None or printed
    assert missing(SHOWN.get(code, []), printed) == []


NUMBER = re.compile(r"\d[\d,]*\.?\d*")


def missing(shown: list[str], printed: str) -> list[str]:
    """Return what the page says is shown and is not: numbers up to the digits given, and words."""
    numbers = [number.replace(",", "") for number in NUMBER.findall(printed)]
    words = " ".join(printed.split())
    return [
        each
        for each in shown
        if not (
            any(agree(each.replace(",", ""), number) for number in numbers)
            if NUMBER.fullmatch(each)
            else each in words
        )
    ]


def agree(shown: str, number: str) -> bool:
    """Compare a number with as many decimals as the page gives, one unit of the last allowed."""
    decimals = len(shown.partition(".")[2])
    return abs(float(shown) - float(number)) <= 1.01 * 10.0**-decimals * (decimals > 0)


def test_wrong_numbers_are_found() -> None:
    assert missing(["11,681", "0.1797", "by Z"], "11,681 rows by\nZ: 0.179665") == []
    assert missing(["11,682", "0.1815", "by X"], "11,681 rows by Z: 0.179665") == [
        "11,682", "0.1815", "by X",
    ]  # fmt: skip


def test_numbers_are_compared_on_most_lines() -> None:
    assert sum(bool(NUMBER.search(" ".join(shown))) for shown in SHOWN.values()) >= 40
