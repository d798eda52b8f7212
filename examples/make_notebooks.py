"""Write the notebooks of ``examples/notebooks`` from pages of the docs.

    python examples/make_notebooks.py

Every block of Python becomes a cell, with the output that the page shows; the tests of the docs run
the same blocks and compare their output.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

HOUSE = Path(__file__).parents[1]
SITE = "https://pacboost.readthedocs.io/en/latest/"
PAGES = {
    "first_steps": "tasks/everyday",
    "certify_a_model_you_have": "tasks/certify_any_model",
    "messy_data": "tasks/messy_data",
    "decisions_with_a_recall": "tasks/recall",
    "monitoring": "monitoring",
    "several_judges": "jury",
    "slices": "audit",
    "student_and_teacher": "cascade",
}
"""The name of each notebook, and the page that it is written from."""
FENCE = re.compile(r"^```(\w*)\n(.*?)^```\n", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\((?!https?:)([^)#]*)(#[^)]*)?\)")


def notebook(page: str) -> dict[str, Any]:
    """Return the notebook of a page, in the format of Jupyter."""
    text = (HOUSE / "docs" / f"{page}.md").read_text(encoding="utf-8")
    cells: list[dict[str, Any]] = []
    place = 0
    for fence in FENCE.finditer(text):
        between = text[place : fence.start()].strip()
        kind, body = fence.groups()
        if kind in ("", "text") and not between and cells and cells[-1]["cell_type"] == "code":
            cells[-1]["outputs"] = [{"name": "stdout", "output_type": "stream", "text": [body]}]
        elif kind == "python":
            cells += [_markdown(between, page)] if between else []
            cells.append(
                {"cell_type": "code", "metadata": {}, "source": [body.rstrip("\n")]}
                | {"execution_count": None, "outputs": []}
            )
        else:
            cells.append(_markdown(text[place : fence.end()].strip(), page))
        place = fence.end()
    if text[place:].strip():
        cells.append(_markdown(text[place:].strip(), page))
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def written(page: str) -> str:
    """Return the notebook of a page as the text of its file."""
    return json.dumps(notebook(page), indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def _markdown(text: str, page: str) -> dict[str, Any]:
    """Return a cell of text whose links lead to the site."""

    def absolute(link: re.Match[str]) -> str:
        path, anchor = link[1], link[2] or ""
        there = (HOUSE / "docs" / page).parent / path if path else HOUSE / "docs" / f"{page}.md"
        name = there.resolve().relative_to(HOUSE / "docs").with_suffix(".html")
        return f"]({SITE}{name}{anchor})"

    return {"cell_type": "markdown", "metadata": {}, "source": [LINK.sub(absolute, text)]}


if __name__ == "__main__":
    for name, page in PAGES.items():
        path = HOUSE / "examples" / "notebooks" / f"{name}.ipynb"
        path.write_text(written(page), encoding="utf-8")
