"""A server of the lab in a thread."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from pacboost.lab.app import Lab, Server
from pacboost.lab.server import listening


@contextmanager
def serving() -> Iterator[Lab]:
    """Serve the lab on any free port; ``address`` holds the token, ``origin`` does not."""
    with listening(0) as listener:
        lab = Lab(listener.getsockname()[1])
        server = Server(lab)
        thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
        thread.start()
        until = time.monotonic() + 600
        while not server.started:
            assert time.monotonic() < until, "the server did not start"
            time.sleep(0.01)
        yield lab
        server.should_exit = True
        thread.join(timeout=600)
