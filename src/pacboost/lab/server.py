"""Start the lab on this machine."""

from __future__ import annotations

import socket
import threading
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from pacboost.errors import DataError, FileError, PacboostError, ParameterError
from pacboost.lab.files import MAX_BYTES, Shelf, read_file, too_large

PORT = 8642
MISSING = "the lab needs starlette and uvicorn: pip install 'pacboost[lab]'"


def serve(
    data: Path | None = None,
    target: str | None = None,
    port: int | None = None,
    *,
    story: str | None = None,
    browser: bool = True,
    say: Callable[[str], None] = lambda words: None,
) -> None:
    """Serve the lab until Ctrl-C."""
    try:
        from pacboost.lab.app import Lab, Server
    except ImportError as problem:
        raise PacboostError(MISSING) from problem

    files, boot = opened(data, target)
    if story is not None:
        boot = {**(boot or {}), "story": story}
    with listening(port) as listener:
        lab = Lab(listener.getsockname()[1], files, boot)
        say(lab.address)
        threading.Thread(target=warm_up, daemon=True).start()
        with ExitStack() as stack:
            if browser:
                page = stack.enter_context(lab.redirect_file()).as_uri()
                # a browser in the terminal returns when it is closed, and first waits for answers
                threading.Thread(target=webbrowser.open, args=(page,), daemon=True).start()
            stack.enter_context(suppress(KeyboardInterrupt))  # the server has shut down by then
            Server(lab).run(sockets=[listener])


def opened(data: Path | None, target: str | None) -> tuple[Shelf, dict[str, Any] | None]:
    """Read a file, if any, and return the first choice of data."""
    files = Shelf()
    if data is None:
        return files, None
    size = data.stat().st_size
    if size > MAX_BYTES:
        raise FileError(too_large(str(data), size))
    file = files.add(read_file(data.name, data.read_bytes()))
    try:
        suggestion = file.suggestion(target)
    except (DataError, ParameterError) as problem:
        raise FileError(str(problem)) from problem
    return files, {"data": suggestion}


@contextmanager
def listening(port: int | None) -> Iterator[socket.socket]:
    """Listen on the loopback interface; without a port, use the default or any free one."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        try:
            listener.bind(("127.0.0.1", PORT if port is None else port))
        except OSError as problem:
            if port is not None:
                raise PacboostError(
                    f"port {port} cannot be used ({problem.strerror}); choose another --port, or "
                    "omit it"
                ) from problem
            listener.bind(("127.0.0.1", 0))
        listener.listen()  # the browser may ask before the server has started
        yield listener
    finally:
        listener.close()


def warm_up() -> None:
    """Run a few rounds, so that the first run on the page need not wait for imports."""
    from pacboost.lab.answers import rounds
    from pacboost.lab.session import LabSession

    rounds(LabSession(), {"run": {"data": {"kind": "lecture"}}, "from": 1, "to": 3, "surface": 16})
