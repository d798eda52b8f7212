"""A real browser without a window: chromium, driven through a pipe by its own protocol."""

import base64
import fcntl
import json
import os
import select
import shutil
import signal
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pytest

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage", "--remote-debugging-pipe",
)  # fmt: skip
PATIENCE = 600.0


class Browser:
    """One page of chromium; remembers what it complained of and what it wanted to load."""

    def __init__(self, home: Path) -> None:
        program = shutil.which("chromium") or shutil.which("chromium-browser")
        if program is None:
            pytest.skip("needs chromium to look at pages: install the package chromium")
        commands, self._send = os.pipe()
        self._receive, answers = os.pipe()
        high = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 10) for fd in (commands, answers)]
        null = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in (0, 1, 2)]
        self._process = os.posix_spawn(
            program,
            [program, *FLAGS, f"--user-data-dir={home}", "about:blank"],
            os.environ,
            file_actions=[  # it listens to 3 and speaks on 4
                *null, (os.POSIX_SPAWN_DUP2, high[0], 3), (os.POSIX_SPAWN_DUP2, high[1], 4),
            ],
            setpgroup=0,
        )  # fmt: skip
        for fd in (commands, answers, *high):
            os.close(fd)
        self._rest, self._number, self._session = b"", 0, ""
        self.complaints: list[str] = []
        self.requests: list[str] = []

    def __enter__(self) -> Self:
        try:
            pages = self.ask("Target.getTargets")["targetInfos"]
            page = next(target for target in pages if target["type"] == "page")
            attached = self.ask("Target.attachToTarget", targetId=page["targetId"], flatten=True)
            self._session = attached["sessionId"]
            for domain in ("Page", "Runtime", "Log", "Network"):
                self.ask(f"{domain}.enable")
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._close()

    def _close(self) -> None:
        os.close(self._send)
        os.close(self._receive)
        os.killpg(self._process, signal.SIGKILL)  # the whole process group
        os.waitpid(self._process, 0)

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command, and wait for its answer."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._send, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                result: dict[str, Any] = answer["result"]
                return result

    def open(self, path: Path, *, width: int = 1280, height: int = 900, dark: bool = False) -> None:
        """Open a file on a screen of this size, and wait until it is there."""
        self.complaints, self.requests = [], []
        self.ask(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=width < 600,
        )  # fmt: skip
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.ask("Emulation.setEmulatedMedia", features=[scheme])
        self.ask("Page.navigate", url=path.as_uri())
        until = time.monotonic() + PATIENCE
        while (
            self.run("document.readyState") != "complete"
            or self.run("location.protocol") != "file:"
        ):
            if time.monotonic() > until:
                raise TimeoutError(f"{path} did not load")

    def run(self, script: str) -> Any:
        """Return what an expression of JavaScript comes to on the page."""
        answer = self.ask("Runtime.evaluate", expression=script, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(str(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def press(self, key: str) -> None:
        """Press a key, such as ArrowLeft or Home."""
        codes = {"End": 35, "Home": 36, "ArrowLeft": 37, "ArrowRight": 39, " ": 32}
        for kind in ("keyDown", "keyUp"):
            self.ask(
                "Input.dispatchKeyEvent", type=kind, key=key, code=key,
                windowsVirtualKeyCode=codes[key],
            )  # fmt: skip

    def picture(self, path: Path) -> None:
        """Take a picture of the whole page."""
        size = self.ask("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        taken = self.ask("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)
        path.write_bytes(base64.b64decode(taken["data"]))

    def _next(self) -> dict[str, Any]:
        """Read a message; remember it if it is a complaint or a request."""
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._receive], [], [], PATIENCE)
            part = os.read(self._receive, 2**20) if ready else b""
            if not part:
                raise RuntimeError("chromium does not answer")
            self._rest += part
        text, _, self._rest = self._rest.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        given = message.get("params", {})
        match message.get("method"):
            case "Runtime.exceptionThrown":
                self.complaints.append(str(given["exceptionDetails"]))
            case "Runtime.consoleAPICalled":
                self.complaints.append(str(given["args"]))
            case "Log.entryAdded":
                self.complaints.append(given["entry"]["text"])
            case "Network.requestWillBeSent":
                self.requests.append(given["request"]["url"])
            case _:
                pass
        return message
