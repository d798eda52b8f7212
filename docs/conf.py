"""How the site is built: `make docs`, whose first page is then docs/_build/index.html."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pacboost

project = "pacboost"
author = "the pacboost authors"
copyright = "the pacboost authors, BSD-3-Clause"  # noqa: A001
release = version = pacboost.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_design",
]
exclude_patterns = ["_build"]
templates_path = ["_templates"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

html_theme = "pydata_sphinx_theme"
html_title = "pacboost"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_search_scorer = str(Path(__file__).parent / "_static" / "search.js")
html_show_sourcelink = False
html_sidebars = {"**": ["pages.html"]}
html_theme_options = {
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "navbar_center": [],
    "navbar_end": ["theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "use_edit_page_button": False,
}
toc_object_entries_show_parents = "hide"

autosummary_generate = True
autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_class_signature = "mixed"
napoleon_numpy_docstring = True
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_attr_annotations = False
napoleon_custom_sections = [("Attributes", "params_style")]


def plain(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Docstrings are written as text: what only looks like markup is said as it is.

    A parameter that is told in one line, ``names : words``, is told by these words.
    """
    session = fields = False
    told: list[str] = []
    for line, after in zip(lines, [*lines[1:], ""], strict=True):
        session = bool(line.strip()) and (session or line.lstrip().startswith(">>>"))
        if set(after) == {"-"}:
            fields = line in {"Parameters", "Attributes"}
        if session:
            told.append(line)
        elif fields and line[:1].strip():
            names, _, words = line.partition(" : ")
            short = words and not after.startswith(" ")
            told += [names, "    " + escaped(words[0].upper() + words[1:])] if short else [line]
        else:
            told.append(escaped(line))
    lines[:] = told


def escaped(line: str) -> str:
    """Keep stars, bars and last underscores from being markup, except in code."""
    parts = re.split(r"(``[^`]*``)", line)
    parts[::2] = [
        re.sub(r"(?<=\w)_(?=\W|$)", r"\\_", part.replace("|", r"\|").replace("*", r"\*"))
        for part in parts[::2]
    ]
    return "".join(parts)


def ours(app: Any, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:
    """Leave out what scikit-learn adds to a class: it describes that itself."""
    return True if (getattr(obj, "__module__", None) or "").startswith("sklearn.") else None


def record(app: Any, problem: Exception | None) -> None:
    """Write recorded runs of the lab beside the pages that link to them."""
    if problem is None and app.builder.format == "html":
        sys.path.insert(0, str(app.confdir))
        from recordings import write_recordings

        write_recordings(Path(app.outdir) / "lab")


def setup(app: Any) -> None:
    """Hook in."""
    app.connect("build-finished", record)
    app.connect("autodoc-process-docstring", plain, priority=100)
    app.connect("autodoc-skip-member", ours)
