"""Start the lab on this machine, and say where it is."""

from __future__ import annotations

import socket
import threading
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
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
    uvicorn = _uvicorn()
    from pacboost.lab.app import Lab

    files, boot = opened(data, target)
    with listening(port) as listener:
        lab = Lab(listener.getsockname()[1], files, boot)
        config = uvicorn.Config(
            lab.app(), log_level="warning", access_log=False, lifespan="off", server_header=False
        )
        say(lab.address)
        threading.Thread(target=warm_up, daemon=True).start()
        if browser:
            webbrowser.open(lab.address_for_once())
        with suppress(KeyboardInterrupt):  # it has ended in good order by then
            uvicorn.Server(config).run(sockets=[listener])


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


def _uvicorn() -> Any:
    try:
        import starlette
        import uvicorn
    except ImportError as problem:
        raise PacboostError(MISSING) from problem
    assert starlette
    return uvicorn
