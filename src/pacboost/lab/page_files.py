"""The files of the page: plain HTML, CSS and modules, as they lie in the package."""

from __future__ import annotations

import base64
import json
import re
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

TYPES = {
    ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml",
}  # fmt: skip
NAME = re.compile(r"[a-z0-9_-]+\.(js|css|svg)")
IMPORT_MAP = "<!-- importmap -->"
STYLE = re.compile(r'<link rel="stylesheet" href="page/([a-z0-9_-]+\.css)"\s*/?>')
MAIN = '<script type="module" src="page/main.js"></script>'


def _folder() -> Traversable:
    return files("pacboost.lab") / "page"


def asset(name: str) -> tuple[bytes, str] | None:
    """Give a file of the page and its type; None if there is none of that name.

    >>> asset("../app.py") is None
    True
    """
    file = _folder() / name
    if NAME.fullmatch(name) is None or not file.is_file():
        return None
    return file.read_bytes(), TYPES[f".{name.rpartition('.')[2]}"]


def _modules() -> list[str]:
    return sorted(file.name for file in _folder().iterdir() if file.name.endswith(".js"))


def _template() -> str:
    return (_folder() / "index.html").read_text(encoding="utf-8")


def import_map(addresses: dict[str, str], nonce: str = "") -> str:
    """Write the map from the names of modules, lab/<file>, to where they are."""
    mark = f' nonce="{nonce}"' if nonce else ""
    named = {f"lab/{name}": address for name, address in addresses.items()}
    return f'<script type="importmap"{mark}>{json.dumps({"imports": named})}</script>'


def html_page(nonce: str) -> str:
    """Give the page, with the map of its modules."""
    addresses = {name: f"/page/{name}" for name in _modules()}
    return _template().replace(IMPORT_MAP, import_map(addresses, nonce))


@cache
def _inline_script(name: str) -> str:
    content = (_folder() / name).read_bytes()
    return "data:text/javascript;base64," + base64.b64encode(content).decode()


def whole_page(recording: object) -> str:
    """Give the page as a single file that needs no server, with a recording inside.

    Modules become addresses that hold their own text; ``<`` is written as an escape, so that
    nothing in the recording can end the script.
    """
    text = _template()
    held = json.dumps(recording, ensure_ascii=False, allow_nan=False).replace("<", "\\u003c")
    script = f'<script type="application/json" id="recording">{held}</script>'
    addresses = {name: _inline_script(name) for name in _modules()}
    text = text.replace(IMPORT_MAP, import_map(addresses) + script)
    text = STYLE.sub(lambda found: f"<style>{_style(found.group(1))}</style>", text)
    return text.replace(MAIN, '<script type="module">import "lab/main.js";</script>')


def _style(name: str) -> str:
    return (_folder() / name).read_text(encoding="utf-8")
