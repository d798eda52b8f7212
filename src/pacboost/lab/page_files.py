"""The page of the lab: its files, and the page with all of them in one."""

from __future__ import annotations

import base64
import json
import re
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

TYPES = {"js": "text/javascript", "css": "text/css"}
NAME = re.compile(r"[a-z0-9_-]+\.(js|css)")
IMPORT_MAP = "<!-- importmap -->"
STYLE = re.compile(r'<link rel="stylesheet" href="page/([a-z0-9_-]+\.css)"\s*/?>')
STORY = re.compile(r'^ +id: "(\w+)", title: "', re.MULTILINE)
MAIN = '<script type="module" src="page/main.js"></script>'


def _folder() -> Traversable:
    return files("pacboost.lab") / "page"


def asset(name: str) -> tuple[bytes, str] | None:
    """Return a file of the page and its type; None if it does not exist.

    >>> asset("../app.py") is None
    True
    """
    if NAME.fullmatch(name) is None or name not in {file.name for file in _folder().iterdir()}:
        return None
    return (_folder() / name).read_bytes(), TYPES[name.rpartition(".")[2]]


def _modules() -> list[str]:
    return sorted(file.name for file in _folder().iterdir() if file.name.endswith(".js"))


def _text(name: str) -> str:
    return (_folder() / name).read_text(encoding="utf-8")


def stories() -> list[str]:
    """Return the names of the stories that the page tells.

    >>> "elevator" in stories()
    True
    """
    return STORY.findall(_text("stories.js"))


def import_map(addresses: dict[str, str], nonce: str = "") -> str:
    """Return the import map from module names, lab/<file>, to addresses."""
    mark = f' nonce="{nonce}"' if nonce else ""
    named = {f"lab/{name}": address for name, address in addresses.items()}
    return f'<script type="importmap"{mark}>{json.dumps({"imports": named})}</script>'


def html_page(nonce: str) -> str:
    """Return the page, with the map of its modules."""
    addresses = {name: f"/page/{name}" for name in _modules()}
    return _text("index.html").replace(IMPORT_MAP, import_map(addresses, nonce))


@cache
def _inline_script(name: str) -> str:
    content = (_folder() / name).read_bytes()
    return "data:text/javascript;base64," + base64.b64encode(content).decode()


def whole_page(recording: object) -> str:
    """Return the page as a single file that needs no server, with a recording inside.

    Modules become data addresses; ``<`` is escaped, so that nothing in the recording can close the
    script.
    """
    text = _text("index.html")
    content = json.dumps(recording, ensure_ascii=False, allow_nan=False).replace("<", "\\u003c")
    script = f'<script type="application/json" id="recording">{content}</script>'
    addresses = {name: _inline_script(name) for name in _modules()}
    text = text.replace(IMPORT_MAP, import_map(addresses) + script)
    text = STYLE.sub(lambda match: f"<style>{_text(match.group(1))}</style>", text)
    return text.replace(MAIN, '<script type="module">import "lab/main.js";</script>')
