"""The page is small, and names no other place."""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path

PAGE = Path(str(resources.files("pacboost.lab"))) / "page"
FILES = sorted(path for path in PAGE.iterdir() if path.suffix in {".js", ".css", ".html"})


def test_the_page_is_small_and_names_no_other_place() -> None:
    assert len(FILES) > 20
    assert sum(path.stat().st_size for path in FILES) < 300_000
    for path in FILES:
        text = path.read_text(encoding="utf-8")
        assert set(re.findall(r"https?://[^\"'` ]+", text)) <= {"http://www.w3.org/2000/svg"}
        assert len(text.splitlines()) <= 330
