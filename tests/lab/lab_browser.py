"""A server of the lab, and its page in a real browser: open, wait, click, drag and read."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pacboost.lab.app import Lab, Server
from pacboost.lab.server import listening
from tests.reports.browser import Browser

LOADED = (
    "window.lab && lab.runs().every(run => run.error"
    " || run.start && (run.ended || run.done >= lab.state.rounds))"
)


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


class LabBrowser(Browser):
    """A browser that visits the lab."""

    def visit(
        self, address: str, *, width: int = 1280, height: int = 900, dark: bool = False
    ) -> None:
        """Open an address on a screen of this size, and wait until all rounds are there."""
        self.ask("Page.navigate", url="about:blank")
        self.until("location.protocol === 'about:'")
        self.complaints, self.requests = [], []
        self.ask(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=width < 600,
        )  # fmt: skip
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.ask("Emulation.setEmulatedMedia", features=[scheme])
        self.ask("Page.navigate", url=address)
        self.loaded()

    def loaded(self) -> None:
        self.until(LOADED)

    def until(self, condition: str, patience: float = 600.0) -> None:
        end = time.monotonic() + patience
        while not self.run(f"Boolean({condition})"):
            if time.monotonic() > end:
                raise TimeoutError(f"{condition}; complaints: {self.complaints}")
            time.sleep(0.02)

    def click(self, selector: str) -> None:
        """Press the button that a selector finds, as soon as it is there and can be pressed."""
        element = f"document.querySelector({selector!r})"
        self.until(f"{element} && !{element}.disabled")
        self.run(f"{element}.click()")

    def choose(self, selector: str, value: str) -> None:
        """Choose an entry of a menu."""
        self.run(f"window.menu = document.querySelector({selector!r}); menu.value = {value!r}")
        self.run("menu.dispatchEvent(new Event('change'))")

    def text(self, selector: str) -> str:
        return str(self.run(f"document.querySelector({selector!r}).innerText"))

    def wait_frames(self) -> None:
        twice = "requestAnimationFrame(() => requestAnimationFrame(done))"
        self.ask("Runtime.evaluate", awaitPromise=True, expression=f"new Promise(done => {twice})")

    def settle(self, seconds: float) -> None:
        """Wait until the engine has answered, and then so long."""
        self.loaded()
        time.sleep(seconds)
        self.wait_frames()

    def start(self, lab: Lab, state: str = "{}", **screen: Any) -> None:
        """Open the lab, and give it a state of lanes, rounds and more."""
        self.visit(lab.address, **screen)
        self.run("document.querySelector('#story').hidden = true")
        self.take(state)

    def take(self, state: str) -> None:
        self.run(f"lab.take({state})")
        self.loaded()
        self.wait_frames()

    def point(self, x: float, y: float, lane: int = 0) -> tuple[float, float]:
        """Return the place on the screen of a point of a lane's picture."""
        self.run(f"document.querySelectorAll('canvas.stage')[{lane}].scrollIntoView()")
        self.wait_frames()
        across, down = self.run(f"labLanes()[{lane}].picture.at({x}, {y})")
        return across, down

    def drag(self, *places: tuple[float, float]) -> None:
        """Press the mouse at the first place, move over the others, and let go at the last."""
        self._mouse("mouseMoved", places[0])
        self._mouse("mousePressed", places[0])
        for place in places[1:]:
            self._mouse("mouseMoved", place)
        self._mouse("mouseReleased", places[-1])
        self.wait_frames()

    def _mouse(self, kind: str, place: tuple[float, float]) -> None:
        button = {} if kind == "mouseMoved" else {"button": "left", "clickCount": 1}
        self.ask("Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], **button)

    def choose_file(self, selector: str, path: Path) -> None:
        root = self.ask("DOM.getDocument")["root"]["nodeId"]
        node = self.ask("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self.ask("DOM.setFileInputFiles", nodeId=node, files=[str(path)])
