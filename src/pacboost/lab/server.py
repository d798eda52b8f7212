"""Start the lab on this machine, and say where it is."""

from __future__ import annotations

import base64
import json
import re
import socket
import threading
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from pacboost.errors import DataError, FileError, PacboostError, ParameterError
from pacboost.lab.files import MOST_BYTES, Shelf, read_file, too_large

PORT = 8642
MISSING = "the lab needs starlette and uvicorn: pip install 'pacboost[lab]'"


def serve(
    data: Path | None = None,
    target: str | None = None,
    port: int | None = None,
    *,
    browser: bool = True,
    say: Callable[[str], None] = lambda words: None,
) -> None:
    """Serve the lab until Ctrl-C."""
    try:
        from pacboost.lab.app import Lab, Server
    except ImportError as problem:
        raise PacboostError(MISSING) from problem

    files, boot = opened(data, target)
    with listening(port) as listener:
        lab = Lab(listener.getsockname()[1], files, boot)
        say(lab.address)
        threading.Thread(target=warm_up, daemon=True).start()
        if browser:
            webbrowser.open(lab.address_for_once())
        with suppress(KeyboardInterrupt):  # it has ended in good order by then
            Server(lab).run(sockets=[listener])


def opened(data: Path | None, target: str | None) -> tuple[Shelf, dict[str, Any] | None]:
    """Read the file that was named, and say what to begin with."""
    files = Shelf()
    if data is None:
        return files, None
    size = data.stat().st_size
    if size > MOST_BYTES:
        raise FileError(too_large(str(data), size))
    file = files.add(read_file(data.name, data.read_bytes()))
    try:
        suggestion = file.suggestion(target)
    except (DataError, ParameterError) as problem:
        raise FileError(str(problem)) from problem
    return files, {"data": suggestion}


@contextmanager
def listening(port: int | None) -> Iterator[socket.socket]:
    """Listen on the loopback only; without a port, take the usual one or any that is free."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        try:
            listener.bind(("127.0.0.1", PORT if port is None else port))
        except OSError as problem:
            if port is not None:
                raise PacboostError(
                    f"port {port} cannot be used ({problem.strerror}); name another by --port, or "
                    "leave it out"
                ) from problem
            listener.bind(("127.0.0.1", 0))
        yield listener
    finally:
        listener.close()


def warm_up() -> None:
    """Do a short run, so that the first one on the page does not have to wait for compilation."""
    from pacboost.lab.answers import rounds
    from pacboost.lab.session import LabSession

    rounds(LabSession(), {"run": {"data": {"kind": "lecture"}}, "from": 1, "to": 3, "surface": 16})


# The files of the page: plain HTML, CSS and modules, as they lie in the package.

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
    """Return a file of the page and its type; None if there is none of that name.

    >>> asset("../app.py") is None
    True
    """
    if NAME.fullmatch(name) is None or name not in _names():
        return None
    return (_folder() / name).read_bytes(), TYPES[f".{name.rpartition('.')[2]}"]


def _names() -> list[str]:
    return sorted(file.name for file in _folder().iterdir())


def _modules() -> list[str]:
    return [name for name in _names() if name.endswith(".js")]


def _text(name: str) -> str:
    return (_folder() / name).read_text(encoding="utf-8")


def import_map(addresses: dict[str, str], nonce: str = "") -> str:
    """Write the map from the names of modules, lab/<file>, to where they are."""
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

    Modules become addresses that hold their own text; ``<`` is written as an escape, so that
    nothing in the recording can end the script.
    """
    text = _text("index.html")
    held = json.dumps(recording, ensure_ascii=False, allow_nan=False).replace("<", "\\u003c")
    script = f'<script type="application/json" id="recording">{held}</script>'
    addresses = {name: _inline_script(name) for name in _modules()}
    text = text.replace(IMPORT_MAP, import_map(addresses) + script)
    text = STYLE.sub(lambda found: f"<style>{_text(found.group(1))}</style>", text)
    return text.replace(MAIN, '<script type="module">import "lab/main.js";</script>')
