"""Every file and folder of the repository that the pages name exists."""

import re
from pathlib import Path

import pytest

from tests.markdown import DOCS, HOUSE

SOURCE = HOUSE / "src" / "pacboost"
PAGES = [HOUSE / "README.md", HOUSE / "CONTRIBUTING.md", *sorted(DOCS.glob("*.md"))]
PATH = re.compile(r"`([\w.-]+(?:/[\w.-]+)+)/?`")
"""A path in backticks, without patterns such as ``*.py``."""
FOLDERS = {"src", "tests", "docs", "benchmarks", "examples"}
ROOMS = {folder.name for folder in SOURCE.iterdir() if folder.is_dir()}
TAUGHT = {"boosters/halfway.py", "bounds/rule_of_three.py", "cli/commands/edges.py"}
"""Files that the pages of docs/extending write."""


def paths_of(page: Path) -> set[str]:
    """List the paths that begin at the root, or with a folder of ``src/pacboost``."""
    named = set(PATH.findall(page.read_text(encoding="utf-8")))
    return {path for path in named if path.split("/")[0] in FOLDERS | ROOMS}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_path_exists(page: Path) -> None:
    absent = {
        path
        for path in paths_of(page)
        if not any((root / path).exists() for root in (HOUSE, SOURCE, HOUSE / "tests"))
    }
    assert not {path for path in absent if path.removeprefix("src/pacboost/") not in TAUGHT}


def test_contributing_names_the_path_of_a_fit() -> None:
    assert len(paths_of(HOUSE / "CONTRIBUTING.md")) > 10
